// SPDX-License-Identifier: Apache-2.0
#include "geometry/tet_quality.h"

#include "test.h"

static const double S = 0.70710678118654752;

static void regular_tetrahedron_is_perfect(void** state)
{
    (void)state;
    ty_vec3 a = ty_vec(1, 0, -S), b = ty_vec(-1, 0, -S), c = ty_vec(0, 1, S), d = ty_vec(0, -1, S);
    double angle[6], volume = ty_tet_volume(a, b, c, d);
    assert_near(fabs(volume), 8.0 / (6.0 * sqrt(2.0)), 1e-14);
    double sign = volume > 0 ? 1.0 : -1.0;
    assert_near(ty_tet_radius_ratio(a, b, c, d), sign, 1e-14);
    assert_near(ty_tet_volume_length(a, b, c, d), sign, 1e-14);
    assert_near(ty_tet_radius_ratio(b, a, c, d), -sign, 1e-14);
    ty_tet_dihedral_angles(a, b, c, d, angle);
    for (int k = 0; k < 6; ++k) assert_near(angle[k], acos(1.0 / 3.0), 1e-14);
}

static void corner_of_a_cube(void** state)
{
    (void)state;
    ty_vec3 o = ty_vec(0, 0, 0), x = ty_vec(1, 0, 0), y = ty_vec(0, 1, 0), z = ty_vec(0, 0, 1);
    double angle[6];
    ty_tet_dihedral_angles(o, x, y, z, angle);
    for (int k = 0; k < 3; ++k) assert_near(angle[k], M_PI / 2, 1e-15);
    for (int k = 3; k < 6; ++k) assert_near(angle[k], acos(1.0 / sqrt(3.0)), 1e-14);
    assert_near(ty_tet_volume(o, x, y, z), 1.0 / 6.0, 1e-16);
    // inradius (3 - sqrt 3) / 6, circumradius sqrt(3) / 2
    assert_near(ty_tet_radius_ratio(o, x, y, z), 3.0 * (3.0 - sqrt(3.0)) / 6.0 / (sqrt(3.0) / 2.0),
                1e-14);
}

static void flat_ones_are_worthless(void** state)
{
    (void)state;
    ty_vec3 a = ty_vec(0, 0, 0), b = ty_vec(1, 0, 0), c = ty_vec(1, 1, 0), d = ty_vec(0, 1, 1e-9);
    double angle[6];
    ty_tet_dihedral_angles(a, b, c, d, angle);
    assert_near(angle[1], M_PI, 1e-8);    // at the diagonal ac
    assert_near(angle[0], 1e-9, 1e-15);
    assert_near(ty_tet_radius_ratio(a, b, c, d), 0.0, 1e-8);
    assert_true(ty_tet_radius_ratio(a, a, a, a) == 0.0 && ty_tet_volume_length(a, a, a, a) == 0.0);
}

static void corner_angles_sum_to_pi(void** state)
{
    (void)state;
    double angle[3];
    ty_triangle_angles(ty_vec(0, 0, 0), ty_vec(3, 0, 0), ty_vec(0, 0, 4), angle);
    assert_near(angle[0], M_PI / 2, 1e-15);
    assert_near(angle[1], atan2(4, 3), 1e-15);
    assert_near(angle[0] + angle[1] + angle[2], M_PI, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_tetrahedron_is_perfect),
        cmocka_unit_test(corner_of_a_cube),
        cmocka_unit_test(flat_ones_are_worthless),
        cmocka_unit_test(corner_angles_sum_to_pi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
