// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
#include "core/parallel.h"
#include "test.h"
#include "track/contour/slc.h"
#include "track/kinds.h"
#include "track/tank.h"

static const double CELL = 1.0 / 16;

static void eval_drift(const void* self, int n, const double (*x)[3], double* out)
{
    (void)x;
    for (int i = 0; i < n; ++i) memcpy(out + 3 * i, self, 3 * sizeof(double));
}

// A sheet of half a cell, its middle on a plane of nodes, 100 steps through free space. Returns its
// mean thickness in cells; *hole: the widest gap seen by rays through it, in cells.
static double drift(bool thicken, double cells_per_step, double* hole)
{
    tank t;
    tank_begin(&t, 1, 1, 1);
    t.def.has_domain = false;
    double middle = 8.5 * CELL, half = 0.25 * CELL;
    tank_liquid(&t, block(0.2, middle - half, 0.2, 0.9, middle + half, 0.9));
    tank_open(&t, CELL);
    ty_track_def def = ty_track_default();
    void* self;
    def.cell = CELL;
    def.thicken_surface = thicken;
    assert_ok(ty_tracker_contour.create(&self, &def, t.world));
    double v[3] = {0.3, 1.0, 0.2}, dt = cells_per_step * CELL;
    ty_flow flow = {
        .velocity = {.self = v, .width = 3, .eval = eval_drift}, .cell = CELL, .max_speed = 1.1};
    for (int i = 0; i < 100; ++i)
        assert_ok(ty_tracker_contour.advance(self, &flow, t.world, i * dt, dt));
    ty_slc* s = self;
    double shift = 100 * dt, gap = 0.0;
    for (int i = 0; i < 32;
         ++i) {    // along its middle, four rays a cell, two cells and more inside the rim
        ty_vec3 from = ty_vec(0.33 + 0.3 * shift + 0.25 * i * CELL, middle - 2.0 + shift,
                              0.55 + 0.2 * shift);
        bool hit = ty_bvh_any_hit(&s->now.exact.bvh, from, ty_vec(0, 1, 0), 0.0, 4.0);
        gap = hit ? 0.0 : gap + 0.25;
        *hole = fmax(*hole, gap);
    }
    double thickness = ty_tri_mesh_volume(ty_tracker_contour.liquid(s).surface) / (0.7 * 0.7) /
                       CELL;
    ty_tracker_contour.destroy(self);
    tank_close(&t);
    return thickness;
}

static void a_sheet_of_half_a_cell_survives(void** state)
{
    (void)state;
    const double speeds[] = {0.9, 0.45, 0.13};    // cells a step
    for (int i = 0; i < 3; ++i) {
        double hole = 0.0, thickness = drift(true, speeds[i], &hole);
        print_message("  %.3f cells thick, hole %.2f\n", thickness, hole);
        assert_true(thickness > 0.4 && thickness < 1.4);
        assert_true(hole <= 2.0);
    }
}

static void without_thickening_it_is_lost(void** state)
{
    (void)state;
    double hole = 0.0;
    assert_true(drift(false, 0.45, &hole) < 0.1);
}

static ty_slc* open_sheet(const tank* t)
{
    ty_track_def def = ty_track_default();
    void* self;
    def.cell = CELL;
    assert_ok(ty_tracker_contour.create(&self, &def, t->world));
    return self;
}

static void go_on(ty_slc* s, const tank* t, int first, int steps)
{
    const double v[3] = {0.3, 1.0, 0.2}, dt = 0.4 * CELL;
    ty_flow flow = {
        .velocity = {.self = v, .width = 3, .eval = eval_drift}, .cell = CELL, .max_speed = 1.1};
    for (int i = first; i < first + steps; ++i)
        assert_ok(ty_tracker_contour.advance(s, &flow, t->world, i * dt, dt));
}

static void thin_liquid_goes_on_from_an_archive_to_the_bit(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1, 1, 1);
    t.def.has_domain = false;
    tank_liquid(&t, block(0.2, 8.25 * CELL, 0.2, 0.6, 8.75 * CELL, 0.6));
    tank_open(&t, CELL);
    ty_slc *whole = open_sheet(&t), *loaded = open_sheet(&t);
    go_on(whole, &t, 0, 3);
    assert_true(whole->now.inset.n > 0 && whole->thin.radius.n > 0);
    tank_reload(&ty_tracker_contour, whole, loaded);
    ty_threads_set(3);
    go_on(loaded, &t, 3, 4);
    ty_threads_set(1);
    go_on(whole, &t, 3, 4);
    const ty_tri_mesh *a = ty_tracker_contour.liquid(whole).surface,
                      *b = ty_tracker_contour.liquid(loaded).surface;
    assert_int_equal(a->n_verts, b->n_verts);
    assert_memory_equal(a->vert, b->vert, sizeof *a->vert * (size_t)a->n_verts);
    assert_memory_equal(whole->now.inset.at, loaded->now.inset.at,
                        sizeof(double) * (size_t)whole->now.inset.n);
    ty_tracker_contour.destroy(whole);
    ty_tracker_contour.destroy(loaded);
    tank_close(&t);
}

// What is left of a thin sheet that flies 16 cells, perhaps over a pool that touches the walls.
static double sheet_left(bool pool)
{
    tank t;
    tank_begin(&t, 2, 3, 2);
    if (pool) tank_liquid(&t, block(0, 0, 0, 2, 0.3, 2));
    tank_liquid(&t, block(0.4, 16.25 * CELL, 0.4, 1.1, 16.75 * CELL, 1.1));
    tank_open(&t, CELL);
    ty_slc* s = open_sheet(&t);
    double left = 0.0;
    go_on(s, &t, 0, 40);
    const ty_tri_mesh* m = ty_tracker_contour.liquid(s).surface;
    for (int k = 0; k < m->n_tris; ++k) {    // the pool rises too, and stays below
        ty_vec3 a = ty_load3(m->vert[m->tri[k][0]]), b = ty_load3(m->vert[m->tri[k][1]]),
                c = ty_load3(m->vert[m->tri[k][2]]);
        if (a[1] > 1.7) left += ty_dot(a, ty_cross(b, c)) / 6.0;
    }
    ty_tracker_contour.destroy(s);
    tank_close(&t);
    return left / (0.7 * 0.7 * 0.5 * CELL);
}

// What contouring loses of the sheet comes back, and is not mistaken for the pool's.
static void a_sheet_over_a_pool_keeps_what_it_keeps_alone(void** state)
{
    (void)state;
    double alone = sheet_left(false), over = sheet_left(true);
    print_message("  alone %.3f, over a pool %.3f\n", alone, over);
    assert_near(over, alone, 0.03);
}

// One for each thin place, in the middle of the sheet, as large as it is thick.
static void particles_are_those_of_thin_places(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 2, 1, 1);
    t.def.has_domain = false;
    tank_liquid(&t, block(0.2, 8.25 * CELL, 0.2, 0.9, 8.75 * CELL, 0.9));
    tank_liquid(&t, ball(1.5, 0.5, 0.5, 0.3));
    tank_open(&t, CELL);
    ty_slc* s = open_sheet(&t);
    go_on(s, &t, 0, 1);
    ty_tri_mesh points = {0};
    assert_ok(ty_tracker_contour.particles(s, &points));
    const float *radius = ty_tri_mesh_attribute(&points, "radius", 1),
                *side = ty_tri_mesh_attribute(&points, "side", 1);
    assert_non_null(radius);
    assert_true(points.n_verts > 100 && points.n_tris == 0);
    for (int i = 0; i < points.n_verts; ++i) {
        assert_true(points.vert[i][0] < 1.0 && side[i] < 0.0f);
        assert_near(points.vert[i][1], 8.5 * CELL + 0.4 * CELL, 0.15 * CELL);
        assert_true((double)radius[i] > 0.1 * CELL &&
                    (double)radius[i] < 0.35 * CELL);    // most at the corners: they are round
    }
    ty_tri_mesh_free(&points);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

// A sheet of half a mesh cell: the mesh's function is inside out to offset around its middle, and
// unchanged far away.
static void the_mesh_encloses_thin_places(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 2, 1, 1);
    tank_liquid(&t, block(0.1, 0.5, 0.1, 0.5, 0.5 + CELL, 0.9));
    tank_liquid(&t, ball(1.6, 0.5, 0.5, 0.25));
    tank_open(&t, CELL);
    ty_track_def def = ty_track_default();
    void* self;
    def.cell = CELL;
    assert_ok(ty_tracker_contour.create(&self, &def, t.world));
    ty_slc* s = self;
    assert_null(ty_tracker_contour.liquid(self).filling.eval);
    s->mesh_cell = 2.0 * CELL;
    assert_ok(ty_slc_thicken_mesh(s));
    ty_sampler filling = ty_tracker_contour.liquid(self).filling;
    assert_non_null(filling.eval);
    double reach = def.thicken_offset * s->mesh_cell, middle = 0.5 + 0.5 * CELL, f[3], far[1];
    double x[3][3] = {
        {0.3, middle + 0.95 * reach, 0.5}, {0.3, middle + 1.1 * reach, 0.5}, {1.6, 0.8, 0.5}};
    ty_sample(&filling, 3, (const double(*)[3])x, f);
    ty_slc_distance(&s->now, 1, (const double(*)[3])x[2], far, NULL, NULL);
    assert_true(f[0] < 0.0 && f[1] > 0.0);
    assert_near(f[2], far[0], 0.0);
    ty_tracker_contour.destroy(self);
    tank_close(&t);
}

// The mean over every vertex's place, as the head of thicken_mesh.c has it.
static double mean_of_all(const ty_slc* s, const double x[3])
{
    double reach = s->def.thicken_kernel * s->mesh_cell, sum = 0.0, weight = 0.0;
    for (int64_t v = 0; v < s->thickness.n; ++v) {
        double d, m[1][3];
        if (!(s->thickness.at[v] <= s->def.thicken_gamma * s->mesh_cell)) continue;
        ty_store3(m[0], ty_slc_middle(s, v));
        ty_slc_distance(&s->now, 1, (const double(*)[3])m, &d, NULL, NULL);
        if (!(-d >= 0.5 * s->def.thicken_reject * s->thickness.at[v])) continue;
        ty_vec3 away = ty_load3(m[0]) - ty_load3(x);
        double k = ty_max(reach * reach - ty_dot(away, away), 0.0);
        sum += k * k * k * (s->def.thicken_offset * s->mesh_cell + d);
        weight += k * k * k;
    }
    return sum / weight;
}

// Around a step from a cell to 1.6.
static void places_that_stand_as_one_say_what_all_of_them_do(void** state)
{
    (void)state;
    tank t;
    void* self;
    ty_track_def def = ty_track_default();
    tank_begin(&t, 2, 1, 1);
    tank_liquid(&t, block(0.1, 0.5, 0.1, 0.9, 0.5 + CELL, 0.9));
    tank_liquid(&t, block(0.9, 0.5, 0.1, 1.7, 0.5 + 1.6 * CELL, 0.9));
    tank_open(&t, CELL);
    def.cell = CELL;
    assert_ok(ty_tracker_contour.create(&self, &def, t.world));
    ty_slc* s = self;
    s->mesh_cell = 2.0 * CELL;
    assert_ok(ty_slc_thicken_mesh(s));
    assert_ok(ty_slc_thickness(s, def.thicken_gamma * s->mesh_cell));
    assert_true(2 * s->mesh_thin.radius.n < s->now.mesh.n_verts);
    ty_sampler thickening = ty_tracker_contour.liquid(self).thickening;
    for (int i = 0; i < 20; ++i) {
        double x[1][3] = {{0.15 + 0.08 * i, 0.5 + 0.02 * i * CELL, 0.5}}, told;
        ty_sample(&thickening, 1, (const double(*)[3])x, &told);
        assert_near(told, mean_of_all(s, x[0]), 2e-3 * CELL);
    }
    ty_tracker_contour.destroy(self);
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_of_half_a_cell_survives),
        cmocka_unit_test(without_thickening_it_is_lost),
        cmocka_unit_test(thin_liquid_goes_on_from_an_archive_to_the_bit),
        cmocka_unit_test(a_sheet_over_a_pool_keeps_what_it_keeps_alone),
        cmocka_unit_test(particles_are_those_of_thin_places),
        cmocka_unit_test(the_mesh_encloses_thin_places),
        cmocka_unit_test(places_that_stand_as_one_say_what_all_of_them_do)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
