// SPDX-License-Identifier: Apache-2.0
#include "space/few.h"

#include "core/hash.h"
#include "space/bvh.h"
#include "test.h"

enum { N_TRIS = 3000, N_POINTS = 400 };

static double unit(uint64_t a, uint64_t b) { return ty_unit(ty_mix2(a, b)); }

// Triangles of all sizes, and points of which some are far from all of them.
static void as_a_hierarchy_says(void** state)
{
    (void)state;
    static double vert[3 * N_TRIS][3], x[N_POINTS][3], d2[N_POINTS], d2_few[N_POINTS];
    static int tri[N_TRIS][3], found[N_POINTS], found_few[N_POINTS];
    for (int t = 0; t < N_TRIS; ++t)
        for (int c = 0; c < 3; ++c) {
            double size = t % 50 == 0 ? 0.5 : 0.01;
            tri[t][c] = 3 * t + c;
            for (int axis = 0; axis < 3; ++axis) {
                uint64_t key = (uint64_t)(3 * (3 * t + c) + axis);
                vert[3 * t + c][axis] = unit((uint64_t)(3 * t + axis), 1) + size * unit(key, 2);
            }
        }
    for (int i = 0; i < N_POINTS; ++i)
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = (i % 7 ? 1.0 : 3.0) * unit((uint64_t)(3 * i + axis), 3);
    ty_bvh bvh = {0};
    assert_ok(
        ty_bvh_build(&bvh, 3 * N_TRIS, (const double(*)[3])vert, N_TRIS, (const int(*)[3])tri));
    for (int k = 0; k < 3; ++k) {
        double reach = 0.004 * pow(6.0, k);
        for (int n = N_POINTS; n > 0; n /= 10) {
            ty_closest_points out = {.distance2 = d2, .triangle = found};
            ty_bvh_closest(&bvh, n, (const double(*)[3])x, reach, &out);
            assert_ok(ty_few_closest(N_TRIS, (const int(*)[3])tri, (const double(*)[3])vert, n,
                                     (const double(*)[3])x, reach, found_few, d2_few));
            int near = 0;
            for (int i = 0; i < n; ++i) {
                assert_int_equal(found_few[i], found[i]);
                assert_true(d2_few[i] == d2[i]);
                near += found[i] >= 0;
            }
            assert_true(n < N_POINTS || (near > 0 && near < n));
        }
    }
    ty_bvh_free(&bvh);
}

static void one_point_and_nothing(void** state)
{
    (void)state;
    const double vert[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, x[1][3] = {{0.2, 0.2, 0.3}};
    const int tri[1][3] = {{0, 1, 2}};
    int found;
    double d2;
    assert_ok(ty_few_closest(1, tri, vert, 1, x, 0.5, &found, &d2));
    assert_int_equal(found, 0);
    assert_near(d2, 0.09, 1e-15);
    assert_ok(ty_few_closest(1, tri, vert, 1, x, 0.2, &found, &d2));
    assert_int_equal(found, -1);
    assert_ok(ty_few_closest(0, NULL, NULL, 1, x, 0.2, &found, &d2));
    assert_int_equal(found, -1);
    assert_ok(ty_few_closest(1, tri, vert, 0, NULL, 0.2, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_hierarchy_says),
        cmocka_unit_test(one_point_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
