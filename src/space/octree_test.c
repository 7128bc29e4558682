// SPDX-License-Identifier: Apache-2.0
#include "space/octree.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "test.h"

static void sphere_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // centre, radius, factor
    for (int i = 0; i < n; ++i) out[i] = s[4] * (ty_norm(ty_load3(x[i]) - ty_load3(s)) - s[3]);
}

// Bumps of two cells' wave length: no distance at all.
static void noise_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]);
        out[i] = ty_norm(p) - 0.5 +
                 s[0] * sin(s[1] * p[0]) * sin(s[1] * p[1] + 1.0) * sin(s[1] * p[2] + 2.0);
    }
}

static ty_octree_def unit_def(double cell)
{
    ty_octree_def def = ty_octree_default();
    def.cell = cell;
    def.box = (ty_box){{-1, -1, -1}, {1, 1, 1}};
    return def;
}

static void keeps_its_invariants(void** state)
{
    (void)state;
    double sphere[5] = {0.1, 0.02, -0.03, 0.7, 1.0}, steep[5] = {0, 0, 0, 0.7, 30.0},
           noise[2] = {0.1, 60.0};
    ty_sampler phi[3] = {
        {sphere, 1, 10.0, sphere_eval}, {steep, 1, 0.0, sphere_eval}, {noise, 1, 0.0, noise_eval}};
    ty_octree t = {0};
    for (int which = 0; which < 3; ++which)
        for (int rule = 0; rule < 2; ++rule)
            for (int uniform = 0; uniform < 2; ++uniform) {
                ty_octree_def def = unit_def(1.0 / 24);
                def.rule = rule ? TY_OCTREE_STUFF : TY_OCTREE_CONTOUR;
                def.uniform = uniform;
                if (which == 1) def.levels = 4;    // finds the steep one by the signs alone
                assert_ok(ty_octree_build(&t, &phi[which], &def));
                assert_ok(ty_octree_validate(&t, def.rule));
                assert_true(t.level[0].octants.n > 4 * 3.14 * 0.25 * 24 * 24);
            }
    ty_octree_free(&t);
}

static void graded_tree_is_small_and_follows_the_surface_out_of_the_box(void** state)
{
    (void)state;
    double sphere[5] = {0, 0, 0, 0.9, 1.0};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_octree t = {0};
    ty_octree_def def = unit_def(1.0 / 64);
    assert_ok(ty_octree_build(&t, &phi, &def));
    int whole = t.level[0].octants.n;
    assert_true(whole < 10 * 4 * 3.15 * 0.81 * 64 * 64);
    def.box = (ty_box){{0.5, -0.5, -0.5}, {0.95, 0.5, 0.5}};    // only a cap
    assert_ok(ty_octree_build(&t, &phi, &def));
    assert_ok(ty_octree_validate(&t, def.rule));
    assert_true(t.level[0].octants.n > whole * 9 / 10);
    double middle[3] = {0.0, 0.0, 0.0};    // its inside is there too
    int leaf;
    ty_octree_locate(&t, 1, (const double(*)[3]) & middle, &leaf);
    assert_true(leaf >= 0);
    sphere[4] = -1.0;    // everything outside the sphere is liquid
    assert_code(ty_octree_build(&t, &phi, &def), TY_BAD_INPUT);
    ty_octree_free(&t);
}

// A sphere and, far from it, a small one in a function five times as steep.
static void two_eval(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self;
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]);
        out[i] = fmin(ty_norm(p) - 0.5, 5.0 * (ty_norm(p - ty_vec(0.8, 0.8, 0.8)) - 0.03));
    }
}

static void a_steep_place_is_found_and_widens_the_tree_only_there(void** state)
{
    (void)state;
    double sphere[5] = {0, 0, 0, 0.5, 1.0}, middle[3] = {0.8, 0.8, 0.8};
    ty_sampler one = {sphere, 1, 10.0, sphere_eval}, two = {NULL, 1, 0.0, two_eval};
    ty_octree t = {0};
    ty_octree_def def = unit_def(1.0 / 48);
    def.rule = TY_OCTREE_CONTOUR;
    assert_ok(ty_octree_build(&t, &one, &def));
    int alone = t.n_octants, leaf;
    def.lipschitz = 5.0;
    assert_ok(ty_octree_build(&t, &two, &def));
    assert_ok(ty_octree_validate(&t, def.rule));
    ty_octree_locate(&t, 1, (const double(*)[3]) & middle, &leaf);
    assert_true(leaf >= 0 && leaf < t.level[0].octants.n && t.inside.at[leaf]);
    assert_true(t.n_octants < 2 * alone);
    ty_octree_free(&t);
}

static void points_are_found_in_their_leaf(void** state)
{
    (void)state;
    double sphere[5] = {0, 0, 0, 0.7, 1.0};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_octree t = {0};
    ty_octree_def def = unit_def(1.0 / 32);
    assert_ok(ty_octree_build(&t, &phi, &def));
    enum { N = 5000 };
    double(*point)[3] = malloc(sizeof *point * N), *value = malloc(sizeof *value * N);
    double* linear = malloc(sizeof *linear * (size_t)t.corners.n);
    int* leaf = malloc(sizeof *leaf * N);
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis)
            point[i][axis] = 2.0 * ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis)) - 1.0;
    ty_octree_locate(&t, N, point, leaf);
    for (int i = 0; i < t.corners.n; ++i) {
        int x[1][3];
        ty_lattice_set_points(&t.corners, i, i + 1, x);
        linear[i] = t.cell * (x[0][0] + 2.0 * x[0][1] - 3.0 * x[0][2]);
    }
    ty_octree_interpolate(&t, 1, linear, N, point, value);
    for (int i = 0; i < N; ++i) {
        assert_true(leaf[i] >= 0 && ty_octree_is_leaf(&t, leaf[i]));
        assert_near(value[i], point[i][0] + 2.0 * point[i][1] - 3.0 * point[i][2], 1e-12);
    }
    free(point);
    free(value);
    free(linear);
    free(leaf);
    ty_octree_free(&t);
}

static void constants_extrapolate_exactly_and_everywhere(void** state)
{
    (void)state;
    double sphere[5] = {0, 0, 0, 0.4, 1.0};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_octree t = {0};
    ty_octree_def def = unit_def(1.0 / 16);
    assert_ok(ty_octree_build(&t, &phi, &def));
    double* v = calloc((size_t)t.corners.n * 2, sizeof *v);
    uint8_t* known = calloc((size_t)t.corners.n, 1);
    for (int i = 0; i < t.corners.n; ++i)
        if (t.corner_value.at[i] < 0.0) {
            v[2 * i] = 3.0;
            v[2 * i + 1] = -1.5;
            known[i] = 1;
        }
    assert_ok(ty_octree_extrapolate(&t, 2, v, known));
    for (int i = 0; i < t.corners.n; ++i) {
        assert_true(known[i]);
        assert_near(v[2 * i], 3.0, 1e-13);
        assert_near(v[2 * i + 1], -1.5, 1e-13);
    }
    free(v);
    free(known);
    ty_octree_free(&t);
}

static void same_tree_for_any_number_of_threads_without_new_memory(void** state)
{
    (void)state;
    double noise[2] = {0.1, 60.0};
    ty_sampler phi = {noise, 1, 0.0, noise_eval};
    ty_octree one = {0}, many = {0};
    ty_octree_def def = unit_def(1.0 / 24);
    ty_threads_set(1);
    assert_ok(ty_octree_build(&one, &phi, &def));
    ty_threads_set(4);
    assert_ok(ty_octree_build(&many, &phi, &def));
    assert_ok(ty_octree_build(&many, &phi, &def));
    int64_t before = ty_memory_count();
    assert_ok(ty_octree_build(&many, &phi, &def));
    assert_int_equal(ty_memory_count(), before);
    assert_int_equal(one.n_octants, many.n_octants);
    assert_int_equal(one.corners.n, many.corners.n);
    assert_memory_equal(one.corner_value.at, many.corner_value.at,
                        sizeof(double) * (size_t)one.corners.n);
    assert_int_equal(one.corner.n, many.corner.n);
    assert_memory_equal(one.corner.at, many.corner.at, sizeof(int) * (size_t)one.corner.n);
    ty_octree_free(&one);
    ty_octree_free(&many);
}

static void bad_cells_and_failed_allocations_are_reported(void** state)
{
    (void)state;
    double sphere[5] = {0, 0, 0, 0.7, 1.0};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_octree_def def = unit_def(0.0);
    ty_octree t = {0};
    assert_code(ty_octree_build(&t, &phi, &def), TY_BAD_INPUT);
    def.cell = 1e-9;
    assert_code(ty_octree_build(&t, &phi, &def), TY_BAD_INPUT);
    def.cell = 1.0 / 8;
    int64_t alive = ty_memory_alive();
    bool done = false;
    for (int k = 1; !done; ++k) {
        ty_memory_fail_after(k);
        ty_status status = ty_octree_build(&t, &phi, &def);
        ty_memory_fail_after(0);
        done = status.code == TY_OK;
        assert_true(done || status.code == TY_NO_MEMORY);
        ty_octree_free(&t);
        assert_int_equal(ty_memory_alive(), alive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_its_invariants),
        cmocka_unit_test(graded_tree_is_small_and_follows_the_surface_out_of_the_box),
        cmocka_unit_test(a_steep_place_is_found_and_widens_the_tree_only_there),
        cmocka_unit_test(points_are_found_in_their_leaf),
        cmocka_unit_test(constants_extrapolate_exactly_and_everywhere),
        cmocka_unit_test(same_tree_for_any_number_of_threads_without_new_memory),
        cmocka_unit_test(bad_cells_and_failed_allocations_are_reported),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
