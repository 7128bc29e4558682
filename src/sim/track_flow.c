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

static void velocity_turn(const ty_track_flow* f, const double x[3], double out[3])
{
    double middle = 0.5 * f->size;
    ty_vec3 r = ty_load3(x) - ty_vec(middle, middle, middle);
    ty_store3(out, (2.0 * M_PI / f->period) * ty_cross(ty_load3(f->axis), r));
}

static void velocity_translate(const ty_track_flow* f, const double x[3], double out[3])
{
    (void)x;
    ty_store3(out, (TRANSLATION * f->size / f->period) * ty_load3(f->axis));
}

// sin^2(pi a) and sin(2 pi a).
static void sines(double a, double* squared, double* twice)
{
    double s = sin(M_PI * a), c = cos(M_PI * a);
    *squared = s * s;
    *twice = 2.0 * s * c;
}

static void velocity_enright(const ty_track_flow* f, const double x[3], double out[3])
{
    double squared[3], twice[3];
    for (int i = 0; i < 3; ++i) sines(x[(i + f->turn) % 3], &squared[i], &twice[i]);
    double v[3] = {2.0 * squared[0] * twice[1] * twice[2], -twice[0] * squared[1] * twice[2],
                   -twice[0] * twice[1] * squared[2]};
    for (int i = 0; i < 3; ++i) out[(i + f->turn) % 3] = f->scale * v[i];
}

static void velocity_shear(const ty_track_flow* f, const double x[3], double out[3])
{
    double squared[2], twice[2];
    for (int i = 0; i < 2; ++i) sines(x[(i + f->turn) % 3], &squared[i], &twice[i]);
    out[f->turn] = -f->scale * squared[0] * twice[1];
    out[(1 + f->turn) % 3] = f->scale * twice[0] * squared[1];
    out[(2 + f->turn) % 3] = 0.0;
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
        for (int i = 0; i < n; ++i) f->kind->velocity(f, x[i], out + 3 * i);
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
