// SPDX-License-Identifier: Apache-2.0
#include "core/archive.h"
#include "core/parallel.h"
#include "test.h"
#include "track/contour/slc.h"
#include "track/kinds.h"
#include "track/tank.h"

static void eval_turn(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_vec3* spin = self;    // about the middle of the unit box
    for (int i = 0; i < n; ++i)
        ty_store3(out + 3 * i, ty_cross(*spin, ty_load3(x[i]) - ty_vec(0.5, 0.5, 0.5)));
}

static ty_slc* open_slc(const tank* t, double cell, bool thicken)
{
    ty_track_def def = ty_track_default();
    void* self;
    def.cell = cell;
    def.thicken_surface = thicken;
    assert_ok(ty_tracker_contour.create(&self, &def, t->world));
    return self;
}

// `steps` of a turn of n_steps about a skew axis.
static void turn(ty_slc* s, const tank* t, int steps, int n_steps)
{
    ty_vec3 spin = 2.0 * M_PI * ty_normalize(ty_vec(0.3, 1.0, 0.5));
    double dt = 1.0 / n_steps;
    ty_flow flow = {.velocity = {.self = &spin, .width = 3, .eval = eval_turn},
                    .cell = s->def.cell,
                    .dt_limit = INFINITY,
                    .max_speed = ty_norm(spin)};
    for (int i = 0; i < steps; ++i)
        assert_ok(ty_tracker_contour.advance(s, &flow, t->world, i * dt, dt));
}

// The outline of an L, and whether its corners are convex; it is as high as 0.35 to 0.65.
static const double outline[6][2] = {{0.25, 0.3},  {0.75, 0.3}, {0.75, 0.45},
                                     {0.45, 0.45}, {0.45, 0.7}, {0.25, 0.7}};
static const int inward[6][2] = {{1, 1}, {-1, 1}, {-1, -1}, {-1, -1}, {-1, -1}, {1, -1}};
enum { CONCAVE = 3 };

static void open_angle(tank* t, double h)
{
    tank_begin(t, 1, 1, 1);
    tank_liquid(t, block(0.25, 0.3, 0.35, 0.75, 0.45, 0.65));
    tank_liquid(t, block(0.25, 0.3, 0.35, 0.45, 0.7, 0.65));
    tank_open(t, h);
}

// Points `cells` from the edges, inside at convex ones, outside at the concave one: how many of 6 * 20 are on
// the wrong side.
static int worn(const ty_slc* s, double cells)
{
    int wrong = 0;
    for (int corner = 0; corner < 6; ++corner)
        for (int i = 0; i < 20; ++i) {
            double x[3], d, by = corner == CONCAVE ? -cells : cells;
            for (int axis = 0; axis < 2; ++axis)
                x[axis] = outline[corner][axis] + by * s->def.cell * inward[corner][axis];
            x[2] = 0.41 + 0.18 * i / 19;
            ty_slc_distance(&s->now, 1, (const double(*)[3])x, &d, NULL, NULL);
            wrong += corner == CONCAVE ? d < 0.0 : d > 0.0;
        }
    return wrong;
}

static void edges_do_not_wear_off(void** state)
{
    (void)state;
    const double h = 1.0 / 32, volume = 0.3 * (0.5 * 0.15 + 0.2 * 0.25);
    for (int thicken = 0; thicken < 2; ++thicken) {
        tank t;
        open_angle(&t, h);
        ty_slc* s = open_slc(&t, h, thicken);
        turn(s, &t, 100, 100);
        assert_true(worn(s, 0.3) <= 6);    // without edges of their own: 120
        assert_near(ty_tri_mesh_volume(ty_slc_shown(s)), volume, 0.02 * volume);
        ty_tracker_contour.destroy(s);
        tank_close(&t);
    }
}

// Drops of a few cells have normals as far apart as those beside an edge.
static void what_is_round_stays_round(void** state)
{
    (void)state;
    const double h = 1.0 / 32;
    for (int k = 0; k < 4; ++k) {
        double radius = (2.4 + 0.6 * k) * h, most = 0.0;
        tank t;
        tank_begin(&t, 1, 1, 1);
        tank_liquid(&t, ball(0.31, 0.52, 0.47, radius));
        tank_open(&t, h);
        ty_slc* s = open_slc(&t, h, false);
        double volume = ty_tri_mesh_volume(&s->now.mesh);
        turn(s, &t, 60, 60);
        for (int v = 0; v < s->now.mesh.n_verts; ++v) {
            ty_vec3 r = ty_load3(s->now.mesh.vert[v]) - ty_vec(0.31, 0.52, 0.47);
            most = fmax(most, fabs(ty_norm(r) - radius));
        }
        assert_true(most < 0.08 * h);    // smooth everywhere, that of 2.4 cells: 0.14
        double left = ty_tri_mesh_volume(&s->now.mesh) / volume;
        assert_true(left > 0.95 && left < 1.0);
        ty_tracker_contour.destroy(s);
        tank_close(&t);
    }
}

static void edges_go_on_from_an_archive_to_the_bit(void** state)
{
    (void)state;
    const double h = 1.0 / 32;
    tank t;
    open_angle(&t, h);
    ty_slc *whole = open_slc(&t, h, true), *loaded = open_slc(&t, h, true);
    turn(whole, &t, 5, 100);
    assert_true(whole->now.sharp_vert.n > 100);
    tank_reload(&ty_tracker_contour, whole, loaded);
    ty_threads_set(3);
    turn(loaded, &t, 3, 100);
    ty_threads_set(1);
    turn(whole, &t, 3, 100);
    const ty_slc_surface *a = &whole->now, *b = &loaded->now;
    assert_int_equal(a->mesh.n_verts, b->mesh.n_verts);
    assert_memory_equal(a->mesh.vert, b->mesh.vert, sizeof *a->mesh.vert * (size_t)a->mesh.n_verts);
    assert_int_equal(a->sharp.n, b->sharp.n);
    assert_memory_equal(a->sharp.at, b->sharp.at, sizeof(float) * (size_t)a->sharp.n);
    ty_tracker_contour.destroy(whole);
    ty_tracker_contour.destroy(loaded);
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_do_not_wear_off),
        cmocka_unit_test(what_is_round_stays_round),
        cmocka_unit_test(edges_go_on_from_an_archive_to_the_bit),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
