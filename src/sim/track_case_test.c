// SPDX-License-Identifier: Apache-2.0
#include "sim/track_case.h"

#include "core/config.h"
#include "core/parallel.h"
#include "format/mesh_io.h"
#include "format/test_files.h"
#include "format/vdb.h"
#include "mesh/contour.h"
#include "sim/track_flow.h"
#include "test.h"

typedef struct sphere {
    double center[3], radius;
} sphere;

static void eval_sphere(const void* self, int n, const double (*x)[3], double* out)
{
    const sphere* s = self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(s->center)) - s->radius;
}

static ty_sampler sampler_of(const sphere* s)
{
    return (ty_sampler){.self = s, .width = 1, .eval = eval_sphere};
}

static void mesh_of(const sphere* s, double cell, ty_tri_mesh* out)
{
    ty_octree tree = {0};
    ty_contour contour = {0};
    ty_octree_def def = ty_octree_default();
    ty_sampler phi = sampler_of(s);
    def.cell = cell;
    def.box = (ty_box){{0, 0, 0}, {1, 1, 1}};
    def.rule = TY_OCTREE_CONTOUR;
    assert_ok(ty_octree_build(&tree, &phi, &def));
    assert_ok(ty_contour_octree(&contour, &tree, &phi, TY_CONTOUR_REFINE, out));
    ty_octree_free(&tree);
    ty_contour_free(&contour);
}

// Two equal spheres a distance apart have a lens in common: pi (2 r - d)^2 (d^2 + 4 d r) / (12 d).
static void the_difference_of_two_spheres_is_measured(void** state)
{
    (void)state;
    sphere exact = {{0.45, 0.5, 0.5}, 0.25}, moved = {{0.51, 0.5, 0.5}, 0.25};
    const double d = 0.06, r = 0.25, cell = 1.0 / 40, volume = 4.0 / 3.0 * M_PI * r * r * r;
    double lens = M_PI * pow(2 * r - d, 2) * (d * d + 4 * d * r) / (12 * d);
    ty_tri_mesh before = {0}, after = {0};
    mesh_of(&exact, cell, &before);
    mesh_of(&moved, cell, &after);
    ty_track_case_result result = {0};
    ty_sampler phi = sampler_of(&exact);
    assert_ok(ty_track_measure(&after, &phi, &before, cell, volume, &result));
    assert_near(result.symmetric_difference, 2.0 * (volume - lens) / volume, 0.01);
    assert_near(result.max_distance, d, 0.01 * d);
    assert_near(result.mean_distance, 0.5 * d, 0.03 * d);    // mean of |cos| over a sphere
    ty_tri_mesh_free(&before);
    ty_tri_mesh_free(&after);
}

static void a_lost_surface_differs_by_all(void** state)
{
    (void)state;
    sphere exact = {{0.5, 0.5, 0.5}, 0.25};
    ty_tri_mesh before = {0}, after = {0};
    mesh_of(&exact, 0.05, &before);
    ty_track_case_result result = {0};
    ty_sampler phi = sampler_of(&exact);
    assert_ok(ty_track_measure(&after, &phi, &before, 0.05, 1.0, &result));
    assert_near(result.symmetric_difference, 1.0, 0.0);
    assert_true(isinf(result.mean_distance) && isinf(result.max_distance));
    ty_tri_mesh_free(&before);
}

static ty_track_case_def small_case(const char* name, const char* tracker)
{
    ty_track_case_def def = ty_track_case_default();
    def.name = name;
    def.track.kind = tracker;
    def.resolution = 24;
    def.cfl = 2.0;
    return def;
}

// Where the liquid does not change its shape every tracker keeps it.
static void rigid_motions_bring_the_liquid_where_it_belongs(void** state)
{
    (void)state;
    const char* const names[] = {"translate", "rotate"};
    for (int tracker = 0; ty_tracker_kinds()[tracker]; ++tracker)
        for (int i = 0; i < 2; ++i) {
            ty_track_case_def def = small_case(names[i], ty_tracker_kinds()[tracker]->name);
            ty_track_case_result r;
            assert_ok(ty_track_case_run(&def, &r));
            assert_true(fabs(r.volume_error) < 0.1);
            assert_true(r.symmetric_difference < 0.15);
            assert_true(r.mean_distance < 0.15 / 24);
            assert_int_equal(r.steps % 2, 0);
            assert_true(r.triangles_max > 300 && r.area_mid > 0.26 && r.area_mid < 0.3);
        }
}

static void the_ledger_gives_back_what_is_lost(void** state)
{
    (void)state;
    ty_track_case_def def = small_case("shear", "contour");
    ty_track_case_result without, with;
    def.track.thicken_surface = false;
    def.period = 2.0;
    assert_ok(ty_track_case_run(&def, &without));
    def.correct = true;
    assert_ok(ty_track_case_run(&def, &with));
    assert_near(without.volume_error, without.volume_error_uncorrected, 1e-12);
    assert_true(fabs(with.volume_error) < 0.5 * fabs(without.volume_error));
    assert_true(fabs(with.volume_error) < 0.02);
}

// The centre of what was written last, and how many surfaces there are.
static int read_centre(const char* folder, double centre[3])
{
    int n = 0;
    for (;; ++n) {
        char path[400];
        ty_tri_mesh mesh = {0};
        snprintf(path, sizeof path, "%s/surface/surface.%04d.ply", folder, n + 1);
        if (access(path, R_OK) != 0) return n;
        assert_ok(ty_mesh_read(&mesh, path));
        ty_box box = ty_tri_mesh_bounds(&mesh);
        for (int axis = 0; axis < 3; ++axis) centre[axis] = 0.5 * (box.lo[axis] + box.hi[axis]);
        ty_tri_mesh_free(&mesh);
    }
}

static void run_field(const char* folder, ty_varying* field)
{
    ty_track_case_def def = small_case("field", "contour");
    ty_track_case_result r;
    double centre[3];
    def.out = folder;
    def.field = field;
    def.surfaces = 4;
    assert_ok(ty_track_case_run(&def, &r));
    assert_int_equal(read_centre(folder, centre), 5);
    assert_near(centre[0], 0.5 + 0.25, 2e-3);
    assert_near(centre[1], 0.5 - 0.125, 2e-3);
    assert_near(centre[2], 0.5, 2e-3);
    assert_true(isnan(r.symmetric_difference) && fabs(r.volume_error) < 0.03);
}

// x(t) = x0 + t/4, y(t) = y0 - t^2/8.
static void expressions_move_the_liquid(void** state)
{
    const char* folder = test_path(*state, "expressions");
    ty_varying field = ty_varying_vector(0.0, 0.0, 0.0);
    const char* const text[3] = {"0.25", "-0.25 * t", "0"};
    field.kind = TY_VARY_EXPRESSION;
    for (int i = 0; i < 3; ++i) assert_ok(ty_expr_create(&field.expr[i], text[i]));
    run_field(folder, &field);
    ty_varying_free(&field);
}

static void volumes_move_the_liquid(void** state)
{
    enum { N = 12 };
    static float values[N * N * N][3];
    char folder[300], path[300];
    if (!TETHYS_HAVE_VDB) skip();
    snprintf(folder, sizeof folder, "%s", test_path(*state, "volumes"));
    snprintf(path, sizeof path, "%s", test_path(*state, "flow.vdb"));
    for (int i = 0; i < N * N * N; ++i) {
        values[i][0] = 0.25f;
        values[i][1] = -0.125f;
    }
    ty_vdb_grid grid = ty_vdb_grid_default();
    grid.name = "velocity";
    grid.class_ = TY_VDB_PLAIN;
    grid.width = 3;
    grid.values = values[0];
    for (int axis = 0; axis < 3; ++axis) {
        grid.n[axis] = N;
        grid.origin[axis] = -0.1;
    }
    grid.cell = 0.1;
    assert_ok(ty_vdb_write(path, 1, &grid, 0, NULL, TY_VDB_ZIP));
    ty_varying field = ty_varying_vector(0.0, 0.0, 0.0);
    field.kind = TY_VARY_VOLUME;
    field.volume_file = ty_strdup(path);
    field.volume_grid = ty_strdup("velocity");
    field.volume_rate = 24;
    field.volume_start = 1;
    run_field(folder, &field);
    ty_varying_free(&field);
}

static void what_makes_no_sense_is_refused(void** state)
{
    (void)state;
    ty_track_case_result r;
    ty_track_case_def def = small_case("nothing", "contour");
    assert_int_equal(ty_track_case_run(&def, &r).code, TY_BAD_INPUT);
    def = small_case("rotate", "nobody");
    assert_int_equal(ty_track_case_run(&def, &r).code, TY_BAD_INPUT);
    def = small_case("rotate", "contour");
    def.radius = -1.0;
    assert_int_equal(ty_track_case_run(&def, &r).code, TY_BAD_INPUT);
    def = small_case("rotate", "contour");
    def.cfl = 0.0;
    assert_int_equal(ty_track_case_run(&def, &r).code, TY_BAD_INPUT);
    def = small_case("enright", "contour");
    for (int i = 0; i < 3; ++i) def.axis[i] = 1.0;
    assert_int_equal(ty_track_case_run(&def, &r).code, TY_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_difference_of_two_spheres_is_measured),
        cmocka_unit_test(a_lost_surface_differs_by_all),
        cmocka_unit_test(rigid_motions_bring_the_liquid_where_it_belongs),
        cmocka_unit_test(the_ledger_gives_back_what_is_lost),
        cmocka_unit_test(expressions_move_the_liquid),
        cmocka_unit_test(volumes_move_the_liquid),
        cmocka_unit_test(what_makes_no_sense_is_refused)};
    int failed = cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
    ty_threads_stop();
    return failed;
}
