// SPDX-License-Identifier: Apache-2.0
#include "space/mesh_distance.h"

#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "test.h"

// A cube of side 2 around `at`; quads split both ways, outward.
enum { MAX = 64 };
typedef struct shape {
    int n_verts, n_tris;
    double vert[MAX][3];
    int tri[MAX][3];
} shape;

static void add_cube(shape* s, double at)
{
    static const int quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int base = s->n_verts;
    for (int v = 0; v < 8; ++v)
        for (int axis = 0; axis < 3; ++axis)
            s->vert[base + v][axis] = at + (v >> axis & 1 ? 1.0 : -1.0);
    for (int f = 0; f < 6; ++f)
        for (int half = 0; half < 2; ++half) {
            int* t = s->tri[s->n_tris++];
            t[0] = base + quad[f][0];
            t[1] = base + quad[f][1 + half];
            t[2] = base + quad[f][2 + half];
        }
    s->n_verts += 8;
}

static double cube_distance(const double x[3], double at)
{
    double out2 = 0.0, in = -INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
        double q = fabs(x[axis] - at) - 1.0;
        out2 += q > 0.0 ? q * q : 0.0;
        in = fmax(in, q);
    }
    return out2 > 0.0 ? sqrt(out2) : in;
}

static ty_mesh_distance build(const shape* s, ty_sign_rule rule)
{
    ty_mesh_distance d = {0};
    ty_mesh_distance_def def = ty_mesh_distance_default();
    def.sign = rule;
    def.copy = true;
    assert_ok(ty_mesh_distance_build(&d, &def, s->n_verts, (const double(*)[3])s->vert, s->n_tris,
                                     (const int(*)[3])s->tri));
    return d;
}

enum { N = 3000 };
static double x[N][3], phi[N];

// Also on the planes and edges of the cube continued, where signs are hardest.
static void make_points(double size)
{
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            double u = ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis));
            x[i][axis] = i % 2 ? size * (2.0 * u - 1.0) : floor(13.0 * u) * 0.5 - 3.0;
        }
}

static void every_rule_gives_the_cube(void** state)
{
    (void)state;
    shape cube = {0};
    add_cube(&cube, 0.0);
    make_points(2.0);
    for (int rule = TY_SIGN_AUTO; rule <= TY_SIGN_WINDING; ++rule) {
        ty_mesh_distance d = build(&cube, (ty_sign_rule)rule);
        if (rule == TY_SIGN_AUTO) assert_int_equal(d.sign, TY_SIGN_NORMALS);
        ty_sampler s = ty_mesh_distance_sampler(&d);
        assert_true(s.exact_band == INFINITY && s.width == 1);
        ty_sample(&s, N, (const double(*)[3])x, phi);
        for (int i = 0; i < N; ++i) assert_near(phi[i], cube_distance(x[i], 0.0), 1e-14);
        ty_mesh_distance_free(&d);
    }
}

static void corners_apart_in_the_file_are_united(void** state)
{
    (void)state;
    shape cube = {0}, loose = {0};
    add_cube(&cube, 0.0);
    for (int t = 0; t < cube.n_tris; ++t, ++loose.n_tris)
        for (int k = 0; k < 3; ++k) {
            memcpy(loose.vert[loose.n_verts], cube.vert[cube.tri[t][k]], sizeof loose.vert[0]);
            loose.tri[t][k] = loose.n_verts++;
        }
    ty_mesh_distance d = build(&loose, TY_SIGN_AUTO);
    assert_int_equal(d.sign, TY_SIGN_NORMALS);
    ty_mesh_distance_free(&d);
}

static void overlapping_parts_are_one_inside(void** state)
{
    (void)state;
    shape two = {0};
    add_cube(&two, 0.0);
    add_cube(&two, 0.7);
    ty_mesh_distance d = build(&two, TY_SIGN_AUTO);
    assert_int_equal(d.sign, TY_SIGN_CROSSINGS);
    assert_true(d.n_self_intersections > 0);
    make_points(2.0);
    ty_mesh_distance_eval(&d, N, (const double(*)[3])x, phi, NULL);
    for (int i = 0; i < N; ++i) {
        double expected = fmin(cube_distance(x[i], 0.0), cube_distance(x[i], 0.7));
        if (fabs(phi[i]) > 1e-12) assert_int_equal(phi[i] < 0.0, expected < 0.0);
        if (expected > 0.0) assert_near(phi[i], expected, 1e-14);
    }
    ty_mesh_distance_free(&d);
}

static void a_hole_does_not_leak(void** state)
{
    (void)state;
    shape open = {0};
    add_cube(&open, 0.0);
    --open.n_tris;    // half a side is missing
    ty_mesh_distance d = build(&open, TY_SIGN_AUTO);
    assert_int_equal(d.sign, TY_SIGN_WINDING);
    make_points(2.0);
    ty_mesh_distance_eval(&d, N, (const double(*)[3])x, phi, NULL);
    int inside = 0;
    for (int i = 0; i < N; ++i) {
        double depth = cube_distance(x[i], 0.0);
        if (depth < 0.0 && x[i][0] < 0.0) {
            assert_true(phi[i] < 0.0 || phi[i] == 0.0);
            ++inside;
        }
        if (depth > 0.0) assert_true(phi[i] > 0.0);
    }
    assert_true(inside > 50);
    ty_mesh_distance_free(&d);
}

static void an_empty_mesh_is_infinitely_far(void** state)
{
    (void)state;
    shape none = {0};
    ty_mesh_distance d = build(&none, TY_SIGN_AUTO);
    ty_mesh_distance_eval(&d, 3, (const double(*)[3])x, phi, NULL);
    assert_true(phi[0] == INFINITY && phi[2] == INFINITY);
    ty_mesh_distance_free(&d);
}

enum { ROWS = 60, COLUMNS = 120 };
static double torus_vert[ROWS * COLUMNS][3];
static int torus_tri[2 * ROWS * COLUMNS][3];

static void make_torus(void)
{
    for (int i = 0; i < ROWS * COLUMNS; ++i) {
        double u = 2.0 * M_PI * (i % COLUMNS) / COLUMNS, v = 2.0 * M_PI * (i / COLUMNS) / ROWS,
               ring = 1.0 + 0.4 * cos(v);
        memcpy(torus_vert[i], (double[3]){ring * cos(u), 0.4 * sin(v), ring * sin(u)},
               sizeof torus_vert[i]);
        int right = i / COLUMNS * COLUMNS + (i + 1) % COLUMNS;
        int up = (i + COLUMNS) % (ROWS * COLUMNS), across = (right + COLUMNS) % (ROWS * COLUMNS);
        memcpy(torus_tri[2 * i], (int[3]){i, up, right}, sizeof torus_tri[i]);
        memcpy(torus_tri[2 * i + 1], (int[3]){right, up, across}, sizeof torus_tri[i]);
    }
}

static void winding_numbers_are_whole_on_a_closed_surface(void** state)
{
    (void)state;
    make_torus();
    ty_bvh bvh = {0};
    ty_winding w = {0};
    assert_ok(ty_bvh_build(&bvh, ROWS * COLUMNS, (const double(*)[3])torus_vert, 2 * ROWS * COLUMNS,
                           (const int(*)[3])torus_tri));
    assert_ok(ty_winding_build(&w, &bvh));
    make_points(1.5);
    double worst[2] = {0}, exact = 0.0;
    for (int i = 1; i < N; i += 2) {
        double ring = sqrt(x[i][0] * x[i][0] + x[i][2] * x[i][2]) - 1.0;
        double distance = sqrt(ring * ring + x[i][1] * x[i][1]) - 0.4;
        if (fabs(distance) < 0.005) continue;    // the facets' own error
        double expected = distance < 0.0;
        worst[0] = fmax(worst[0],
                        fabs(ty_winding_number(&w, &bvh, ty_load3(x[i]), 2.0) - expected));
        worst[1] = fmax(worst[1],
                        fabs(ty_winding_number(&w, &bvh, ty_load3(x[i]), 4.0) - expected));
        if (i < 100)
            exact = fmax(exact,
                         fabs(ty_winding_number(&w, &bvh, ty_load3(x[i]), INFINITY) - expected));
    }
    print_message("winding number errors: %.2e at accuracy 2, %.2e at 4, %.2e exact\n", worst[0],
                  worst[1], exact);
    assert_true(worst[0] < 0.05 && worst[1] < 0.4 * worst[0] && exact < 1e-12);
    ty_winding_free(&w);
    ty_bvh_free(&bvh);
}

static void signs_agree_on_a_torus(void** state)
{
    (void)state;
    make_torus();
    static double other[N];
    ty_mesh_distance d = {0};
    ty_mesh_distance_def def = ty_mesh_distance_default();
    make_points(1.5);
    double* result[3] = {phi, other, other};
    for (int k = 0; k < 3; ++k) {
        def.sign = (ty_sign_rule)(TY_SIGN_NORMALS + k);
        assert_ok(ty_mesh_distance_build(&d, &def, ROWS * COLUMNS, (const double(*)[3])torus_vert,
                                         2 * ROWS * COLUMNS, (const int(*)[3])torus_tri));
        ty_mesh_distance_eval(&d, N, (const double(*)[3])x, result[k], NULL);
        if (k > 0) assert_memory_equal(phi, other, sizeof phi);
    }
    ty_mesh_distance_free(&d);
}

// Of faces, edges and corners, to the bit.
static void normals_are_the_same_when_asked_for_one_by_one(void** state)
{
    (void)state;
    make_torus();
    const double(*vert)[3] = (const double(*)[3])torus_vert;
    const int(*tri)[3] = (const int(*)[3])torus_tri;
    ty_mesh_normals built = {0}, asked = {0};
    assert_ok(ty_mesh_normals_build(&built, ROWS * COLUMNS, vert, 2 * ROWS * COLUMNS, tri));
    assert_ok(ty_mesh_normals_prepare(&asked, ROWS * COLUMNS, vert, 2 * ROWS * COLUMNS, tri));
    for (int t = 0; t < 2 * ROWS * COLUMNS; ++t)
        for (int feature = TY_FACE; feature < TY_VERTEX + 3; ++feature) {
            ty_vec3 a = ty_mesh_normal(&built, tri, t, feature),
                    b = ty_mesh_normal(&asked, tri, t, feature);
            for (int axis = 0; axis < 3; ++axis) assert_true(a[axis] == b[axis]);
        }
    ty_mesh_normals_free(&built);
    ty_mesh_normals_free(&asked);
}

static void running_out_of_memory_is_survived(void** state)
{
    (void)state;
    shape cube = {0};
    add_cube(&cube, 0.0);
    ty_mesh_distance_def def = ty_mesh_distance_default();
    def.copy = true;
    int64_t alive = ty_memory_alive();
    int failures = 0;
    for (int k = 1; k < 20; ++k) {
        ty_mesh_distance d = {0};
        ty_memory_fail_after(k);
        ty_status s = ty_mesh_distance_build(&d, &def, 8, (const double(*)[3])cube.vert, 12,
                                             (const int(*)[3])cube.tri);
        ty_memory_fail_after(0);
        failures += s.code == TY_NO_MEMORY;
        assert_true(s.code == TY_OK || s.code == TY_NO_MEMORY);
        ty_mesh_distance_free(&d);
    }
    assert_true(failures >= 10 && failures < 19);
    assert_int_equal(ty_memory_alive(), alive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_gives_the_cube),
        cmocka_unit_test(corners_apart_in_the_file_are_united),
        cmocka_unit_test(overlapping_parts_are_one_inside),
        cmocka_unit_test(a_hole_does_not_leak),
        cmocka_unit_test(an_empty_mesh_is_infinitely_far),
        cmocka_unit_test(winding_numbers_are_whole_on_a_closed_surface),
        cmocka_unit_test(signs_agree_on_a_torus),
        cmocka_unit_test(normals_are_the_same_when_asked_for_one_by_one),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
