// SPDX-License-Identifier: Apache-2.0
#include "geometry/predicates.h"

#include <math.h>

#include "core/hash.h"
#include "test.h"
#ifdef TY_TEST_GTS
#include <gts.h>
#endif

static int sign_of(__int128 x) { return (x > 0) - (x < 0); }

static long pick(uint64_t seed, long range)
{
    return (long)(ty_unit(ty_mix(seed)) * (double)(2 * range + 1)) - range;
}

// Integers below 2^30 are exact doubles, and the determinant fits into 128 bits.
static int integer_orient3d(long p[4][3])
{
    __int128 m[3][3];
    for (int i = 0; i < 3; ++i)
        for (int axis = 0; axis < 3; ++axis) m[i][axis] = p[i + 1][axis] - p[0][axis];
    return sign_of((m[0][1] * m[1][2] - m[0][2] * m[1][1]) * m[2][0] +
                   (m[0][2] * m[1][0] - m[0][0] * m[1][2]) * m[2][1] +
                   (m[0][0] * m[1][1] - m[0][1] * m[1][0]) * m[2][2]);
}

static void orient3d_agrees_with_integers_near_a_plane(void** state)
{
    (void)state;
    int zeros = 0;
    for (uint64_t n = 0; n < 20000; ++n) {
        long p[4][3], i = pick(4 * n, 3), j = pick(4 * n + 1, 3);
        for (int k = 0; k < 3; ++k)
            for (int axis = 0; axis < 3; ++axis)
                p[k][axis] = pick(ty_mix2(n, (uint64_t)(3 * k + axis)), 1L << 28);
        for (int axis = 0; axis < 3; ++axis)    // in the plane, or one unit off it
            p[3][axis] = p[0][axis] + i * (p[1][axis] - p[0][axis]) + j * (p[2][axis] - p[0][axis]);
        p[3][n % 3] += pick(4 * n + 2, 1);
        double x[4][3];
        for (int k = 0; k < 4; ++k)
            for (int axis = 0; axis < 3; ++axis) x[k][axis] = (double)p[k][axis];
        int expected = integer_orient3d(p);
        zeros += expected == 0;
        assert_int_equal(ty_orient3d(x[0], x[1], x[2], x[3]), expected);
        assert_int_equal(ty_orient3d(x[1], x[0], x[2], x[3]), -expected);
        assert_int_equal(ty_orient3d(x[1], x[2], x[0], x[3]), expected);
    }
    assert_true(zeros > 1000 && zeros < 19000);
}

static void orient2d_agrees_with_integers_near_a_line(void** state)
{
    (void)state;
    for (uint64_t n = 0; n < 20000; ++n) {
        long a[2], b[2], c[2], i = pick(n, 5);
        for (int axis = 0; axis < 2; ++axis) {
            a[axis] = pick(ty_mix2(n, (uint64_t)axis), 1L << 48);
            b[axis] = pick(ty_mix2(n, (uint64_t)axis + 2), 1L << 48);
            c[axis] = a[axis] + i * (b[axis] - a[axis]);
        }
        c[0] += pick(~n, 1);
        double x[3][2] = {{(double)a[0], (double)a[1]},
                          {(double)b[0], (double)b[1]},
                          {(double)c[0], (double)c[1]}};
        __int128 det = (__int128)(b[0] - a[0]) * (c[1] - a[1]) -
                       (__int128)(b[1] - a[1]) * (c[0] - a[0]);
        assert_int_equal(ty_orient2d(x[0], x[1], x[2]), sign_of(det));
    }
}

static void rounding_does_not_decide(void** state)
{
    (void)state;
    // 0.1 and 0.3 are not what they say: the exact sign is that of the doubles.
    double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0}, d[3] = {0.1, 0.3, 0};
    assert_int_equal(ty_orient3d(a, b, c, d), 0);
    d[2] = 0x1p-1000;
    assert_int_equal(ty_orient3d(a, b, c, d), 1);
    d[2] = -0x1p-1000;
    assert_int_equal(ty_orient3d(a, b, c, d), -1);
}

#ifdef TY_TEST_GTS
static void orient3d_agrees_with_gts(void** state)
{
    (void)state;
    for (uint64_t n = 0; n < 2000; ++n) {
        double x[4][3];
        for (int k = 0; k < 3; ++k)
            for (int axis = 0; axis < 3; ++axis)
                x[k][axis] = ty_unit(ty_mix2(n, (uint64_t)(3 * k + axis))) - 0.5;
        double s = ty_unit(ty_mix(3 * n)), t = ty_unit(ty_mix(3 * n + 1));
        for (int axis = 0; axis < 3; ++axis)
            x[3][axis] = x[0][axis] + s * (x[1][axis] - x[0][axis]) + t * (x[2][axis] - x[0][axis]);
        GtsPoint* p[4];
        for (int k = 0; k < 4; ++k)
            p[k] = gts_point_new(gts_point_class(), x[k][0], x[k][1], x[k][2]);
        double oracle = -gts_point_orientation_3d(p[0], p[1], p[2],
                                                  p[3]);    // theirs is positive below the plane
        assert_int_equal(ty_orient3d(x[0], x[1], x[2], x[3]), (oracle > 0) - (oracle < 0));
        for (int k = 0; k < 4; ++k) gts_object_destroy(GTS_OBJECT(p[k]));
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orient3d_agrees_with_integers_near_a_plane),
        cmocka_unit_test(orient2d_agrees_with_integers_near_a_line),
        cmocka_unit_test(rounding_does_not_decide),
#ifdef TY_TEST_GTS
        cmocka_unit_test(orient3d_agrees_with_gts),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
