// SPDX-License-Identifier: Apache-2.0
#include "mesh/contour.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "mesh/contour_table.h"
#include "test.h"

static void sphere_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // centre, radius
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(s)) - s[3];
}

static ty_contour_lattice make_lattice(int n, double* values, const ty_sampler* phi)
{
    ty_contour_lattice l = {{-1.0, -1.0, -1.0}, 2.0 / (n - 1), {n, n, n}, values, NULL, 0.0};
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                double x[1][3] = {{-1.0 + l.cell * i, -1.0 + l.cell * j, -1.0 + l.cell * k}};
                ty_sample(phi, 1, x, &values[i + n * (j + n * k)]);
            }
    return l;
}

// Area of the smallest triangle over the square of the cell.
static double smallest(const ty_tri_mesh* m, double cell)
{
    double least = INFINITY;
    for (int t = 0; t < m->n_tris; ++t) {
        ty_vec3 a = ty_load3(m->vert[m->tri[t][0]]);
        ty_vec3 b = ty_load3(m->vert[m->tri[t][1]]), c = ty_load3(m->vert[m->tri[t][2]]);
        least = fmin(least, 0.5 * ty_norm(ty_cross(b - a, c - a)));
    }
    return least / (cell * cell);
}

static void sphere_is_closed_outward_and_on_the_surface(void** state)
{
    (void)state;
    double s[4] = {0.03, -0.02, 0.01, 0.7}, error[2];
    ty_sampler phi = {s, 1, 10.0, sphere_eval};
    ty_contour c = {0};
    ty_tri_mesh m = {0};
    for (int pass = 0; pass < 2; ++pass) {
        int n = pass ? 65 : 33;
        double* values = malloc(sizeof *values * (size_t)(n * n * n));
        ty_contour_lattice l = make_lattice(n, values, &phi);
        assert_ok(ty_contour_grid(&c, &l, &phi, TY_CONTOUR_REFINE, &m));
        assert_ok(ty_tri_mesh_validate(&m));
        ty_tri_mesh_report report;
        assert_ok(ty_tri_mesh_inspect(&m, &report));
        assert_int_equal(report.euler, 2);
        assert_int_equal(report.degenerate, 0);
        int off = 0;
        for (int v = 0; v < m.n_verts; ++v) {
            double d;
            sphere_eval(s, 1, (const double(*)[3]) & m.vert[v], &d);
            off += fabs(d) > 1e-6 * l.cell;
            assert_true(fabs(d) <= TY_CONTOUR_MIN_CUT * l.cell);
        }
        assert_true(off < m.n_verts / 100);    // only where the cut was kept away from a node
        error[pass] = ty_tri_mesh_volume(&m) / (4.0 / 3.0 * M_PI * 0.343) - 1.0;
        free(values);
    }
    assert_true(fabs(error[1]) < 2e-3);
    assert_near(error[0] / error[1], 4.0, 0.3);    // second order
    ty_contour_free(&c);
    ty_tri_mesh_free(&m);
}

// Random values: every case next to every other, liquid at every border.
static void noise_gives_a_manifold_without_degenerate_triangles(void** state)
{
    (void)state;
    int n[3] = {70, 23, 31};
    float* values = malloc(sizeof *values * 70 * 23 * 31);
    ty_contour c = {0};
    ty_tri_mesh m = {0};
    for (uint64_t seed = 0; seed < 6; ++seed) {
        for (int i = 0; i < 70 * 23 * 31; ++i) {
            double u = ty_unit(ty_mix2(seed, (uint64_t)i)) - 0.2 - 0.1 * (double)seed;
            values[i] = (float)(i % 7 == 0 ? u * 1e-9 : u);
        }
        ty_contour_lattice l = {{0, 0, 0}, 0.5, {n[0], n[1], n[2]}, NULL, values, 0.0};
        assert_ok(ty_contour_grid(&c, &l, NULL, 0, &m));
        assert_true(m.n_tris > 1000);
        assert_ok(ty_tri_mesh_validate(&m));
        assert_true(smallest(&m, 0.5) > 4e-7);
        assert_true(ty_tri_mesh_volume(&m) > 0.0);
    }
    free(values);
    ty_contour_free(&c);
    ty_tri_mesh_free(&m);
}

static void liquid_that_fills_the_lattice_is_closed_outside(void** state)
{
    (void)state;
    double values[4 * 3 * 2];
    for (int i = 0; i < 24; ++i) values[i] = -1.0;
    ty_contour c = {0};
    ty_tri_mesh m = {0};
    ty_contour_lattice l = {{1, 2, 3}, 2.0, {4, 3, 2}, values, NULL, 0.5};
    assert_ok(ty_contour_grid(&c, &l, NULL, 0, &m));
    assert_ok(ty_tri_mesh_validate(&m));
    ty_box box = ty_tri_mesh_bounds(&m);
    const double lo[3] = {0, 1, 2}, hi[3] = {8, 7, 6};
    for (int axis = 0; axis < 3; ++axis) {
        assert_near(box.lo[axis], lo[axis], 1e-12);
        assert_near(box.hi[axis], hi[axis], 1e-12);
    }
    l.n[2] = 0;
    assert_ok(ty_contour_grid(&c, &l, NULL, 0, &m));
    assert_int_equal(m.n_tris, 0);
    ty_contour_free(&c);
    ty_tri_mesh_free(&m);
}

static void same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    enum { N = 67 };
    double* values = malloc(sizeof *values * N * N * N);
    double s[4] = {0.1, 0.2, -0.1, 0.6};
    ty_sampler phi = {s, 1, 10.0, sphere_eval};
    ty_contour_lattice l = make_lattice(N, values, &phi);
    ty_contour c = {0};
    ty_tri_mesh one = {0}, many = {0};
    ty_threads_set(1);
    assert_ok(ty_contour_grid(&c, &l, &phi, 2, &one));
    ty_threads_set(5);
    assert_ok(ty_contour_grid(&c, &l, &phi, 2, &many));
    int64_t before = ty_memory_count();
    assert_ok(ty_contour_grid(&c, &l, &phi, 2, &many));
    assert_int_equal(ty_memory_count(), before);
    assert_int_equal(one.n_verts, many.n_verts);
    assert_int_equal(one.n_tris, many.n_tris);
    assert_memory_equal(one.vert, many.vert, sizeof *one.vert * (size_t)one.n_verts);
    assert_memory_equal(one.tri, many.tri, sizeof *one.tri * (size_t)one.n_tris);
    free(values);
    ty_contour_free(&c);
    ty_tri_mesh_free(&one);
    ty_tri_mesh_free(&many);
}

static void every_failed_allocation_is_reported(void** state)
{
    (void)state;
    enum { N = 9 };
    double values[N * N * N], s[4] = {0, 0, 0, 0.6};
    ty_sampler phi = {s, 1, 10.0, sphere_eval};
    ty_contour_lattice l = make_lattice(N, values, &phi);
    int64_t alive = ty_memory_alive();
    for (int k = 1; k < 20; ++k) {
        ty_contour c = {0};
        ty_tri_mesh m = {0};
        ty_memory_fail_after(k);
        ty_status status = ty_contour_grid(&c, &l, &phi, 2, &m);
        ty_memory_fail_after(0);
        assert_true(status.code == (k <= 10 ? TY_NO_MEMORY : TY_OK));
        ty_contour_free(&c);
        ty_tri_mesh_free(&m);
        assert_int_equal(ty_memory_alive(), alive);
    }
}

static void zeros_are_found_between_the_ends(void** state)
{
    (void)state;
    double s[4] = {0, 0, 0, 1.0};
    ty_sampler phi = {s, 1, 10.0, sphere_eval};
    double a[1][3] = {{0.9, 0.3, 0.1}}, b[1][3] = {{1.0, 0.25, 0.2}}, fa, fb, t;
    sphere_eval(s, 1, a, &fa);
    sphere_eval(s, 1, b, &fb);
    assert_true(fa < 0.0 && fb > 0.0);
    double last = 1.0;
    for (int refine = 0; refine < 5; ++refine) {
        ty_find_zeros(&phi, refine, 1, a, b, &fa, &fb, &t);
        double x[1][3], f;
        ty_store3(x[0], ty_lerp3(ty_load3(a[0]), ty_load3(b[0]), t));
        sphere_eval(s, 1, x, &f);
        assert_true(fabs(f) <= 0.2 * last || fabs(f) < 1e-14);
        last = fabs(f);
    }
}

static void octree_gives_the_surface_of_the_full_lattice(void** state)
{
    (void)state;
    enum { N = 49 };
    double* values = malloc(sizeof *values * N * N * N);
    double s[4] = {0.03, -0.02, 0.01, 0.7};
    ty_sampler phi = {s, 1, 10.0, sphere_eval};
    ty_contour_lattice l = make_lattice(N, values, &phi);
    ty_octree tree = {0};
    ty_octree_def def = ty_octree_default();
    def.cell = l.cell;
    memcpy(def.origin, l.origin, sizeof def.origin);
    def.box = (ty_box){{-1, -1, -1}, {1, 1, 1}};
    def.rule = TY_OCTREE_CONTOUR;
    assert_ok(ty_octree_build(&tree, &phi, &def));
    ty_contour c = {0};
    ty_tri_mesh dense = {0}, sparse = {0};
    assert_ok(ty_contour_grid(&c, &l, &phi, 2, &dense));
    assert_ok(ty_contour_octree(&c, &tree, &phi, 2, &sparse));
    assert_ok(ty_tri_mesh_validate(&sparse));
    assert_int_equal(sparse.n_verts, dense.n_verts);
    assert_int_equal(sparse.n_tris, dense.n_tris);
    assert_near(ty_tri_mesh_volume(&sparse), ty_tri_mesh_volume(&dense), 1e-12);
    free(values);
    ty_octree_free(&tree);
    ty_contour_free(&c);
    ty_tri_mesh_free(&dense);
    ty_tri_mesh_free(&sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_is_closed_outward_and_on_the_surface),
        cmocka_unit_test(noise_gives_a_manifold_without_degenerate_triangles),
        cmocka_unit_test(liquid_that_fills_the_lattice_is_closed_outside),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(octree_gives_the_surface_of_the_full_lattice),
        cmocka_unit_test(zeros_are_found_between_the_ends),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
