// SPDX-License-Identifier: Apache-2.0
#include "sim/track_flow.h"

#include <math.h>
#include <string.h>

static const double TRANSLATION = 0.4;          // of the domain's side
static const double SLOT_WIDTH = 5.0 / 15.0;    // of the radius
static const double SLOTTED_VOLUME = 11014.0636 /
                                     (15.0 * 15.0 * 15.0);    // of radius^3, by quadrature
static const double SLOT_TOP = 10.0 / 15.0;                   // above the centre, of the radius
enum { SPEED_SAMPLES = 24, SPEED_TIMES = 9 };                 // of a field

static void velocity_turn(const ty_track_flow* f, int n, const double (*x)[3], double (*out)[3])
{
    double middle = 0.5 * f->size, w[3];
    ty_store3(w, (2.0 * M_PI / f->period) * ty_load3(f->axis));
    for (int i = 0; i < n; ++i) {
        double r[3] = {x[i][0] - middle, x[i][1] - middle, x[i][2] - middle};
        out[i][0] = w[1] * r[2] - w[2] * r[1];
        out[i][1] = w[2] * r[0] - w[0] * r[2];
        out[i][2] = w[0] * r[1] - w[1] * r[0];
    }
}

static void velocity_translate(const ty_track_flow* f, int n, const double (*x)[3],
                               double (*out)[3])
{
    (void)x;
    for (int i = 0; i < n; ++i)
        ty_store3(out[i], (TRANSLATION * f->size / f->period) * ty_load3(f->axis));
}

// The series of sin(y) / y and cos(y) in y^2, last term first: to the last bit up to y = pi / 4.
static const double SINE[] = {
    -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0,
    -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0,        1.0};
static const double COSINE[] = {1.0 / 20922789888000.0,
                                -1.0 / 87178291200.0,
                                1.0 / 479001600.0,
                                -1.0 / 3628800.0,
                                1.0 / 40320.0,
                                -1.0 / 720.0,
                                1.0 / 24.0,
                                -0.5,
                                1.0};
static const double ROUND = 0x1.8p52;    // added and taken away again: the nearest whole number
enum { N_SINE = sizeof SINE / sizeof *SINE, N_COSINE = sizeof COSINE / sizeof *COSINE };

// sin^2(pi a) and sin(2 pi a) of three numbers: both repeat with 1, and follow from the half angle.
// A third of the time of sin and cos, which was a quarter of that of a tracker.
static void sines(ty_vec3 a, ty_vec3* squared, ty_vec3* twice)
{
    ty_vec3 y = 0.5 * M_PI * (a - ((a + ROUND) - ROUND)), y2 = y * y, s = {0}, c = {0};
    for (int k = 0; k < N_SINE; ++k) s = s * y2 + SINE[k];
    for (int k = 0; k < N_COSINE; ++k) c = c * y2 + COSINE[k];
    s *= y;
    ty_vec3 sine = 2.0 * s * c, cosine = 1.0 - 2.0 * s * s;
    *squared = sine * sine;
    *twice = 2.0 * sine * cosine;
}

static void velocity_enright(const ty_track_flow* f, int n, const double (*x)[3], double (*out)[3])
{
    int a = f->turn, b = (a + 1) % 3, c = (a + 2) % 3;
    for (int i = 0; i < n; ++i) {
        ty_vec3 squared, twice;
        sines(ty_load3(x[i]), &squared, &twice);
        out[i][a] = f->scale * (2.0 * squared[a] * twice[b] * twice[c]);
        out[i][b] = f->scale * (-twice[a] * squared[b] * twice[c]);
        out[i][c] = f->scale * (-twice[a] * twice[b] * squared[c]);
    }
}

static void velocity_shear(const ty_track_flow* f, int n, const double (*x)[3], double (*out)[3])
{
    int a = f->turn, b = (a + 1) % 3, c = (a + 2) % 3;
    for (int i = 0; i < n; ++i) {
        ty_vec3 squared, twice;
        sines(ty_load3(x[i]), &squared, &twice);
        out[i][a] = -f->scale * squared[a] * twice[b];
        out[i][b] = f->scale * twice[a] * squared[b];
        out[i][c] = 0.0;
    }
}

static const ty_track_flow_case cases[] = {
    {.name = "zalesak",
     .size = 100,
     .center = {50, 75, 50},
     .radius = 15,
     .period = 628,
     .axis = {0, 0, 1},
     .slotted = true,
     .velocity = velocity_turn},
    {.name = "enright",
     .size = 1,
     .center = {0.35, 0.35, 0.35},
     .radius = 0.15,
     .period = 3,
     .axis = {1, 0, 0},
     .reverses = true,
     .speed = 2,
     .velocity = velocity_enright},
    {.name = "shear",
     .size = 1,
     .center = {0.5, 0.75, 0.5},
     .radius = 0.15,
     .period = 8,
     .axis = {0, 0, 1},
     .reverses = true,
     .speed = 1,
     .velocity = velocity_shear},
    {.name = "rotate",
     .size = 1,
     .center = {0.5, 0.75, 0.5},
     .radius = 0.15,
     .period = 1,
     .axis = {0, 0, 1},
     .any_axis = true,
     .velocity = velocity_turn},
    {.name = "translate",
     .size = 1,
     .center = {0.3, 0.5, 0.5},
     .radius = 0.15,
     .period = 1,
     .axis = {1, 0, 0},
     .any_axis = true,
     .velocity = velocity_translate},
    {.name = "field",
     .size = 1,
     .center = {0.5, 0.5, 0.5},
     .radius = 0.15,
     .period = 1,
     .axis = {1, 0, 0}},
};
enum { N_CASES = sizeof cases / sizeof *cases };

const char* ty_track_flow_names(void)
{
    return "zalesak, enright, shear, rotate, translate, field";
}

const ty_track_flow_case* ty_track_flow_find(const char* name)
{
    for (int i = 0; i < N_CASES; ++i)
        if (strcmp(cases[i].name, name) == 0) return &cases[i];
    return NULL;
}

// Which of x, y, z an axis is; -1 when it is oblique.
static int axis_letter(const double axis[3])
{
    for (int i = 0; i < 3; ++i)
        if (axis[i] > 0.0 && axis[(i + 1) % 3] == 0.0 && axis[(i + 2) % 3] == 0.0) return i;
    return -1;
}

static ty_status set_axis(ty_track_flow* f, const ty_track_case_def* def)
{
    const double* wanted = isnan(def->axis[0]) ? f->kind->axis : def->axis;
    double length = ty_norm(ty_load3(wanted));
    if (!(length > 0.0) || !isfinite(length)) return ty_fail(TY_BAD_INPUT, "axis must not be zero");
    ty_store3(f->axis, ty_load3(wanted) / length);
    if (f->kind->any_axis) return ty_ok();
    int letter = axis_letter(wanted);
    if (letter < 0) return ty_fail(TY_BAD_INPUT, "case %s takes axis x, y or z", f->kind->name);
    f->turn = (letter - axis_letter(f->kind->axis) + 3) % 3;
    return ty_ok();
}

static ty_status field_speed(ty_track_flow* f)
{
    TY_TRY(ty_varying_prepare(f->field, 0.0, f->period));
    int n = SPEED_SAMPLES * SPEED_SAMPLES;
    for (int time = 0; time < SPEED_TIMES; ++time)
        for (int k = 0; k < SPEED_SAMPLES; ++k) {
            double x[SPEED_SAMPLES * SPEED_SAMPLES][3], v[SPEED_SAMPLES * SPEED_SAMPLES][3];
            for (int i = 0; i < n; ++i) {
                int at[3] = {i % SPEED_SAMPLES, i / SPEED_SAMPLES, k};
                for (int axis = 0; axis < 3; ++axis)
                    x[i][axis] = f->size * (at[axis] + 0.5) / SPEED_SAMPLES;
            }
            TY_TRY(ty_varying_eval(f->field, f->period * time / (SPEED_TIMES - 1), n,
                                   (const double(*)[3])x, v[0]));
            for (int i = 0; i < n; ++i) f->max_speed = fmax(f->max_speed, ty_norm(ty_load3(v[i])));
        }
    return ty_ok();
}

// The largest speed during the run; that of a turn is the liquid's, not the domain's.
static ty_status set_speed(ty_track_flow* f)
{
    if (f->field) return field_speed(f);
    f->max_speed = f->kind->speed;
    if (f->kind->velocity == velocity_turn) {
        double middle = 0.5 * f->size;
        double arm = ty_norm(ty_load3(f->center) - ty_vec(middle, middle, middle)) + f->radius;
        f->max_speed = 2.0 * M_PI / f->period * arm;
    }
    if (f->kind->velocity == velocity_translate) f->max_speed = TRANSLATION * f->size / f->period;
    return ty_ok();
}

ty_status ty_track_flow_open(ty_track_flow* f, const ty_track_case_def* def)
{
    *f = (ty_track_flow){.kind = ty_track_flow_find(def->name), .scale = 1.0};
    if (!f->kind)
        return ty_fail(TY_BAD_INPUT, "there is no case '%s'; the cases are %s", def->name,
                       ty_track_flow_names());
    if (!f->kind->velocity && !def->field)
        return ty_fail(TY_BAD_INPUT, "case field needs velocity=X,Y,Z or velocity=FILE.vdb");
    f->field = f->kind->velocity ? NULL : def->field;
    f->size = f->field && def->size > 0.0 ? def->size : f->kind->size;
    f->period = isnan(def->period) ? f->kind->period : def->period;
    f->radius = isnan(def->radius) ? f->kind->radius * f->size / f->kind->size : def->radius;
    if (!(f->period > 0.0) || !(f->radius > 0.0))
        return ty_fail(TY_BAD_INPUT, "period and radius must be positive");
    TY_TRY(set_axis(f, def));
    for (int i = 0; i < 3; ++i) {
        int at = f->kind->any_axis ? i : (i + f->turn) % 3;
        f->center[at] = isnan(def->center[0]) ? f->kind->center[i] * f->size / f->kind->size
                                              : def->center[at];
    }
    return set_speed(f);
}

ty_status ty_track_flow_step(ty_track_flow* f, double t, double dt)
{
    f->time = t + 0.5 * dt;
    f->scale = f->kind->reverses ? cos(M_PI * f->time / f->period) : 1.0;
    return f->field ? ty_varying_prepare(f->field, t, t + dt) : ty_ok();
}

static void eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_track_flow* f = self;
    if (!f->field) {
        f->kind->velocity(f, n, x, (double(*)[3])out);
        return;
    }
    if (ty_varying_eval(f->field, f->time, n, x, out).code != TY_OK)
        for (int i = 0; i < 3 * n; ++i) out[i] = NAN;
}

ty_sampler ty_track_flow_velocity(const ty_track_flow* f)
{
    return (ty_sampler){.self = f, .width = 3, .eval = eval};
}

ty_shape_def ty_track_flow_shape(const ty_track_flow* f, ty_shape_def children[2])
{
    ty_shape_def ball = ty_shape_default(TY_SHAPE_SPHERE);
    memcpy(ball.center, f->center, sizeof ball.center);
    ball.radius = f->radius;
    if (!f->kind->slotted) return ball;
    ty_shape_def slot = ty_shape_default(TY_SHAPE_BOX);
    double half[3] = {0.5 * SLOT_WIDTH * f->radius, 0.0, 2.0 * f->radius};
    for (int i = 0; i < 3; ++i) {
        int at = (i + f->turn) % 3;
        slot.min[at] = f->center[at] - (i == 1 ? 2.0 * f->radius : half[i]);
        slot.max[at] = f->center[at] + (i == 1 ? SLOT_TOP * f->radius : half[i]);
    }
    children[0] = ball;
    children[1] = slot;
    ty_shape_def both = ty_shape_default(TY_SHAPE_DIFFERENCE);
    both.n_children = 2;
    both.children = children;
    return both;
}

double ty_track_flow_volume(const ty_track_flow* f)
{
    double cube = f->radius * f->radius * f->radius;
    return cube * (f->kind->slotted ? SLOTTED_VOLUME : 4.0 / 3.0 * M_PI);
}

void ty_track_flow_moved(const ty_track_flow* f, double by[3])
{
    double way = f->kind->velocity == velocity_translate ? TRANSLATION * f->size : 0.0;
    ty_store3(by, way * ty_load3(f->axis));
}
