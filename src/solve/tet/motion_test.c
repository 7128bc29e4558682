// SPDX-License-Identifier: Apache-2.0
// Interpolation and carrying: linear fields are exact, standing still changes nothing, points far
// outside ask the closest surface, a state goes through an archive.
#include "solve/tet/motion.h"

#include <string.h>

#include "core/hash.h"
#include "test.h"

typedef struct ball {
    double centre[3], radius;
} ball;

static void ball_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ball* b = self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(b->centre)) - b->radius;
}

static const double CELL = 0.1;
static const ball BALL = {{0.52, 0.47, 0.5}, 0.83};

// The ball without a slot of a cell that ends inside it: from one side to the other there is no straight way.
static void slotted_eval(const void* self, int n, const double (*x)[3], double* out)
{
    ball_eval(self, n, x, out);
    for (int i = 0; i < n; ++i)
        out[i] = fmax(out[i],
                      fmin(0.5 * CELL - fabs(x[i][0] - 0.5 - 0.3 * x[i][1]), x[i][2] - 0.5));
}

// A graded ball of liquid without solids; u and a are set by the caller.
static void fill_shape(ty_tet_motion* m,
                       void (*eval)(const void*, int, const double (*)[3], double*))
{
    ty_stuff stuff = {0};
    ty_stuff_def def = ty_stuff_default();
    ty_sampler phi = {&BALL, 1, 1e30, eval};
    def.cell = CELL;
    def.box = ty_box_empty();
    const double lo[3] = {-0.5, -0.5, -0.5}, hi[3] = {1.5, 1.5, 1.5};
    ty_box_add(&def.box, lo);
    ty_box_add(&def.box, hi);
    assert_ok(ty_stuff_mesh(&stuff, &phi, &def, &m->state.mesh));
    ty_stuff_free(&stuff);
    ty_tet_state* s = &m->state;
    int n = s->mesh.n_tets, v = s->mesh.n_verts;
    assert_true(ty_array_resize(&s->open, n) && ty_array_resize(&s->solid_velocity, n) &&
                ty_array_resize(&s->u, n) && ty_array_resize(&s->a, n) &&
                ty_array_resize(&s->vert_kind, v) && ty_array_resize(&s->solid, v) &&
                ty_array_resize(&s->pressure, v));
    for (int t = 0; t < n; ++t) s->open.at[t] = 1.0, s->solid_velocity.at[t] = ty_vec(0, 0, 0);
    for (int i = 0; i < v; ++i) {
        s->vert_kind.at[i] = (uint8_t)(TY_VERT_LIVE | (i >= s->mesh.n_inner ? TY_VERT_AIR : 0));
        s->solid.at[i] = 1.0;
        s->pressure.at[i] = ty_unit(ty_mix2((uint64_t)i, 5));
    }
    assert_ok(ty_tet_motion_measure(m));
}

static void fill(ty_tet_motion* m) { fill_shape(m, ball_eval); }

static ty_vec3
linear(ty_vec3 x)    // without divergence, so that fluxes through the surface are its own
{
    return ty_vec(1.0 + 0.7 * x[0] - 2.0 * x[1], 0.3 * x[2] - 0.5 * x[1],
                  0.4 - 1.1 * x[0] - 0.2 * x[2]);
}

static void random_point(uint64_t seed, double radius, double x[3])
{
    ty_vec3 d;
    do {
        for (int axis = 0; axis < 3; ++axis) x[axis] = 2.0 * ty_unit(seed = ty_mix2(seed, 3)) - 1.0;
        d = ty_load3(x);
    } while (ty_dot(d, d) > 1.0);
    ty_store3(x, ty_load3(BALL.centre) + radius * d);
}

static void linear_fields_are_exact(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        m.state.u.at[t] = linear(m.centre.at[t]);
        m.state.a.at[t] = 2.0 * linear(m.centre.at[t]);
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    int ridged = 0;
    for (int v = 0; v < m.state.mesh.n_verts; ++v)
        ridged += ty_norm(m.u.vert.at[v] - linear(ty_load3(m.state.mesh.vert[v]))) > 1e-9;
    // Fluxes through facets and a value at their corner differ where the surface is curved.
    assert_true(ridged <= m.state.mesh.n_verts - m.state.mesh.n_inner);
    double x[512][3], u[512][3], a[512][3];
    for (int i = 0; i < 512; ++i) random_point((uint64_t)i + 1, BALL.radius - 2.5 * CELL, x[i]);
    ty_tet_sample(&m, NULL, false, 512, (const double(*)[3])x, u[0], a[0]);
    for (int i = 0; i < 512; ++i) {
        assert_near(ty_norm(ty_load3(u[i]) - linear(ty_load3(x[i]))), 0.0, 1e-12);
        assert_near(ty_norm(ty_load3(a[i]) - 2.0 * linear(ty_load3(x[i]))), 0.0, 1e-12);
    }
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// Accelerations along paths have a divergence; of turning water they point to the axis. What the
// surface gets of them is what it lets through, not what tets do.
static void accelerations_need_not_balance(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        ty_vec3 x = m.centre.at[t] - ty_load3(BALL.centre);
        m.state.u.at[t] = ty_vec(x[2], 0.0, -x[0]);
        m.state.a.at[t] = ty_vec(-x[0], 0.0, -x[2]);
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    double sum = 0.0, most = 0.0;
    for (int v = m.state.mesh.n_inner; v < m.state.mesh.n_verts; ++v) {
        ty_vec3 x = ty_load3(m.state.mesh.vert[v]) - ty_load3(BALL.centre),
                off = m.a.vert.at[v] - ty_vec(-x[0], 0.0, -x[2]);
        sum += ty_dot(off, ty_normalize(x));
        most = fmax(most, ty_norm(off));
    }
    double mean = sum / (m.state.mesh.n_verts - m.state.mesh.n_inner);
    print_message("off by %.4f CELL in the mean, %.2f at most\n", mean / CELL, most / CELL);
    assert_true(fabs(mean) < 0.12 * CELL);    // 0.52 with fluxes through tets
    assert_true(most < 0.5 * CELL);           // 1.06
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// At its centre a tet gives back its own value, whatever it is.
static void standing_still_changes_nothing(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    int n = m.state.mesh.n_tets < 512 ? m.state.mesh.n_tets : 512, step = m.state.mesh.n_tets / n;
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        double r[3];
        for (int axis = 0; axis < 3; ++axis)
            r[axis] = ty_unit(ty_mix2((uint64_t)t, (uint64_t)axis));
        m.state.u.at[t] = ty_load3(r);
        m.state.a.at[t] = ty_vec(0, 0, 0);
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    double x[512][3], u[512][3];
    for (int i = 0; i < n; ++i) ty_store3(x[i], m.centre.at[i * step]);
    ty_tet_sample(&m, NULL, false, n, (const double(*)[3])x, u[0], NULL);
    for (int i = 0; i < n; ++i)
        assert_near(ty_norm(ty_load3(u[i]) - m.state.u.at[i * step]), 0.0, 1e-12);
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// Far outside, and everywhere under the surface as trackers see it, a uniform field is uniform; a
// walk never gets lost.
static void uniform_fields_hold_everywhere(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    m.sharpens = true;
    ty_vec3 w = ty_vec(0.3, -2.0, 1.0);
    for (int t = 0; t < m.state.mesh.n_tets; ++t)
        m.state.u.at[t] = w, m.state.a.at[t] = ty_vec(0, 0, 0);
    assert_ok(ty_tet_motion_finish(&m, &stars));
    double x[512][3], u[512][3];
    ty_tet_place place[512];
    for (int surface = 0; surface < 2; ++surface) {
        for (int i = 0; i < 512; ++i) random_point((uint64_t)i + 99, 2.0, x[i]);
        ty_tet_sample(&m, NULL, surface, 512, (const double(*)[3])x, u[0], NULL);
        for (int i = 0; i < 512; ++i) assert_near(ty_norm(ty_load3(u[i]) - w), 0.0, 1e-12);
    }
    ty_tet_locate(&m, 512, (const double(*)[3])x, place);
    for (int i = 0; i < 512; ++i) {
        double away = ty_norm(ty_load3(x[i]) - ty_load3(BALL.centre)) - BALL.radius;
        if (fabs(away) > 0.1 * CELL) assert_true((place[i].tet >= 0) == (away < 0.0));
    }
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// However far the skin: a walk may end at it on its way.
static void points_in_tets_are_found_within_any_reach(void** unused)
{
    (void)unused;
    enum { BATCHES = 100 };
    ty_tet_motion m = {0};
    fill_shape(&m, slotted_eval);
    assert_ok(ty_tet_motion_close(&m));
    int inside = 0;
    for (int b = 0; b < BATCHES; ++b) {
        double x[TY_SAMPLE_BATCH][3];
        ty_tet_place place[TY_SAMPLE_BATCH];
        int tet[TY_SAMPLE_BATCH];
        for (int i = 0; i < TY_SAMPLE_BATCH; ++i)
            random_point((uint64_t)(TY_SAMPLE_BATCH * b + i), 0.6, x[i]);
        ty_tet_locate_within(&m, 1e-3 * CELL, TY_SAMPLE_BATCH, (const double(*)[3])x, place);
        ty_tet_mesh_locate(&m.state.mesh, TY_SAMPLE_BATCH, (const double(*)[3])x, tet);
        for (int i = 0; i < TY_SAMPLE_BATCH; ++i) {
            assert_true((tet[i] >= 0) == (place[i].tet >= 0));
            inside += tet[i] >= 0;
        }
    }
    assert_true(inside > BATCHES * TY_SAMPLE_BATCH / 2);
    ty_tet_motion_free(&m);
}

static void an_archive_keeps_every_bit(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0}, back = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        m.state.u.at[t] = linear(m.centre.at[t]) * m.centre.at[t][0];
        m.state.a.at[t] = linear(m.centre.at[t]) * m.centre.at[t][1];
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    ty_archive out = ty_archive_save_begin("memory"), in;
    assert_ok(ty_tet_motion_archive(&m, &out, &stars));
    assert_ok(ty_archive_save_finish(&out));
    assert_ok(ty_archive_load_begin(&in, "memory", out.bytes.at, out.bytes.n));
    assert_ok(ty_tet_motion_archive(&back, &in, &stars));
    assert_ok(ty_archive_load_finish(&in));
    double x[512][3], u[2][512][3], a[2][512][3];
    for (int i = 0; i < 512; ++i) random_point((uint64_t)i + 7, 1.2, x[i]);
    ty_tet_sample(&m, NULL, true, 512, (const double(*)[3])x, u[0][0], a[0][0]);
    ty_tet_sample(&back, NULL, true, 512, (const double(*)[3])x, u[1][0], a[1][0]);
    assert_memory_equal(u[0], u[1], sizeof u[0]);
    assert_memory_equal(a[0], a[1], sizeof a[0]);
    ty_archive_free(&out);
    ty_archive_free(&in);
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
    ty_tet_motion_free(&back);
}

// Fits lead out of the tets around a vertex, but not far: rough fields do not run away at the
// surface.
static void vertices_stay_near_their_tets(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        uint64_t seed = ty_mix2((uint64_t)t, 11);
        for (int axis = 0; axis < 3; ++axis)
            m.state.u.at[t][axis] = ty_unit(seed = ty_mix2(seed, 3)) - 0.5;
        m.state.u.at[t][3] = 0.0;
        m.state.a.at[t] = ty_vec(0, 0, 0);
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    for (int v = 0; v < m.state.mesh.n_verts; ++v)
        assert_true(ty_norm(m.u.vert.at[v]) < 2.2);    // 2.5 of sqrt(3/4)
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// A wave on the ball gets higher where it is high; no liquid goes through the surface by it.
static void sharpening_keeps_fluxes(void** unused)
{
    (void)unused;
    ty_tet_motion m = {.sharpens = true};
    ty_tet_stars stars = {0};
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        ty_vec3 x = m.centre.at[t];
        m.state.u.at[t] = ty_vec(0, sin(8.0 * x[0]), 0);
        m.state.a.at[t] = ty_vec(0, 0, 3.0 * cos(8.0 * x[1]));
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    const ty_tri_mesh* skin = &m.skin;
    const ty_vec3 *told[2] = {m.u.skin.at, m.a.skin.at},
                  *own[2] = {m.u.vert.at + m.state.mesh.n_inner,
                             m.a.vert.at + m.state.mesh.n_inner};
    for (int f = 0; f < 2; ++f) {
        double more = 0.0, sum = 0.0, size = 0.0;
        for (int t = 0; t < skin->n_tris; ++t) {
            const int* v = skin->tri[t];
            ty_vec3 x = ty_load3(skin->vert[v[0]]);
            ty_vec3 third = ty_cross(ty_load3(skin->vert[v[1]]) - x,
                                     ty_load3(skin->vert[v[2]]) - x) /
                            6.0;
            for (int k = 0; k < 3; ++k) {
                double flux = ty_dot(third, told[f][v[k]] - own[f][v[k]]);
                sum += flux, size += fabs(flux);
                more += flux * ty_dot(third, own[f][v[k]]);
            }
        }
        assert_true(size > 1e-3);
        assert_true(fabs(sum) < 1e-12 * size);
        assert_true(more > 0.0);
    }
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// What is missing at a vertex with hardly any surface around it goes on to where there is some; none
// of them gets more than velocities around differ.
static void little_surface_is_not_hurled_away(void** unused)
{
    (void)unused;
    enum { AT = 7 };
    const double flux = 1e-4, range = 0.02;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t)
        m.state.u.at[t] = m.state.a.at[t] = ty_vec(0, 0, 0);
    assert_ok(ty_tet_motion_finish(&m, &stars));
    const ty_tri_mesh* skin = &m.skin;
    int n = m.state.mesh.n_verts - m.state.mesh.n_inner;
    ty_tet_missing* missing = ty_alloc_zero((size_t)n, sizeof *missing);
    double* takes = ty_alloc_zero((size_t)n, sizeof *takes);
    assert_non_null(missing);
    assert_non_null(takes);
    for (int v = 0; v < n; ++v) takes[v] = CELL * CELL;
    for (int t = 0; t < skin->n_tris; ++t) {
        const int* v = skin->tri[t];
        if (v[0] == AT || v[1] == AT || v[2] == AT)
            for (int k = 0; k < 3; ++k) takes[v[k]] = 1e-4 * CELL * CELL;
    }
    for (int v = 0; v < n; ++v)
        missing[v] = (ty_tet_missing){.normal = ty_vec(0, 1, 0),
                                      .flux = v == AT ? flux : 0.0,
                                      .takes = takes[v],
                                      .range = {range, range}};
    assert_ok(ty_tet_balance(&m, missing));
    double sum = 0.0;
    for (int v = 0; v < n; ++v) {
        double given = m.u.vert.at[m.state.mesh.n_inner + v][1];
        assert_true(fabs(given) <= range * (1.0 + 1e-12));
        sum += given * takes[v];
    }
    assert_true(fabs(sum - flux) < 1e-3 * flux);
    ty_free(missing);
    ty_free(takes);
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
}

// Trackers' tables: at nodes what ty_tet_sample says, between them close to it, and everywhere near
// the surface.
static void tables_say_what_is_there(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    ty_tet_stars stars = {0};
    ty_tet_band band = {0};
    ty_world_def def = ty_world_default();
    ty_world* world;
    assert_ok(ty_world_create(&world, &def, CELL));
    fill(&m);
    for (int t = 0; t < m.state.mesh.n_tets; ++t) {
        m.state.u.at[t] = linear(m.centre.at[t]);
        m.state.a.at[t] = ty_vec(0.25, -1.5, 3.0);
    }
    assert_ok(ty_tet_motion_finish(&m, &stars));
    assert_ok(ty_tet_band_make(&band, &m, world, 0.05));
    double x[512][3], u[512][3], most = 0.0;
    int nodes = 0;
    for (int i = 0; i < 512; ++i) {
        random_point((uint64_t)i + 41, 1.0, x[i]);
        ty_vec3 away = ty_normalize(ty_load3(x[i]) - ty_load3(BALL.centre));
        ty_store3(x[i], ty_load3(BALL.centre) + (BALL.radius + CELL * (i % 2 ? 0.3 : -0.3)) * away);
        for (int axis = 0; axis < 3 && i % 4 == 0; ++axis)
            x[i][axis] = 0.5 * CELL * nearbyint(x[i][axis] / (0.5 * CELL));
    }
    ty_band_value value[512];
    ty_band_missed missed;
    ty_tet_band_sample(&band, 512, (const double(*)[3])x, value, &missed);
    ty_tet_sample(&m, NULL, true, 512, (const double(*)[3])x, u[0], NULL);
    assert_int_equal(missed.n_far + missed.n_near, 0);
    for (int i = 0; i < 512; ++i) {
        ty_vec3 tabled = {(double)value[i][0], (double)value[i][1], (double)value[i][2]};
        double off = ty_norm(tabled - ty_load3(u[i]));
        double away = ty_norm(ty_load3(x[i]) - ty_load3(BALL.centre)) - BALL.radius;
        if (i % 4 == 0 && fabs(away) < 0.3 * CELL) {
            assert_near(off, 0.0, 1e-5);
            ++nodes;
        }
        most = fmax(most, off);
        for (int axis = 0; axis < 3; ++axis)
            assert_near(value[i][3 + axis], ty_vec(0.25, -1.5, 3.0)[axis], 1e-6);
    }
    assert_true(nodes > 20);
    assert_true(most < 0.1 * CELL * 2.5);    // a tenth of what the field changes by in a cell
    ty_tet_band_free(&band);
    ty_tet_stars_free(&stars);
    ty_tet_motion_free(&m);
    ty_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_fields_are_exact),
        cmocka_unit_test(accelerations_need_not_balance),
        cmocka_unit_test(standing_still_changes_nothing),
        cmocka_unit_test(uniform_fields_hold_everywhere),
        cmocka_unit_test(vertices_stay_near_their_tets),
        cmocka_unit_test(sharpening_keeps_fluxes),
        cmocka_unit_test(little_surface_is_not_hurled_away),
        cmocka_unit_test(points_in_tets_are_found_within_any_reach),
        cmocka_unit_test(an_archive_keeps_every_bit),
        cmocka_unit_test(tables_say_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
