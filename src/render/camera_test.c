// SPDX-License-Identifier: Apache-2.0
#include "render/camera.h"

#include "test.h"

static void the_target_is_in_the_middle_and_up_is_up(void** state)
{
    (void)state;
    const double eye[3] = {3, 1.5, 3}, target[3] = {1, 0.4, 0.5}, up[3] = {0, 1, 0},
                 above[3] = {1, 0.6, 0.5};
    ty_camera c = ty_camera_make(eye, target, up, 40.0, 16.0 / 9.0);
    double at[2];
    assert_true(ty_camera_project(&c, target, at));
    assert_near(at[0], 0.5, 1e-12);
    assert_near(at[1], 0.5, 1e-12);
    assert_true(ty_camera_project(&c, above, at));
    assert_near(at[0], 0.5, 1e-12);
    assert_true(at[1] < 0.5);
    const double behind[3] = {5, 2.6, 5.5};
    assert_false(ty_camera_project(&c, behind, at));
}

// The upper edge of the picture is half the angle of view above the middle.
static void the_angle_of_view_is_vertical(void** state)
{
    (void)state;
    const double eye[3] = {0, 0, 5}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    ty_camera c = ty_camera_make(eye, target, up, 40.0, 2.0);
    ty_vec3 top = ty_camera_ray(&c, 0.5, 0.0), right = ty_camera_ray(&c, 1.0, 0.5);
    double half = 20.0 * 3.14159265358979 / 180.0;
    assert_near(top[1] / -top[2], tan(half), 1e-12);
    assert_near(right[0] / -right[2], 2.0 * tan(half), 1e-12);
}

static void rays_and_projection_are_inverse(void** state)
{
    (void)state;
    const double eye[3] = {-2, 7, 1}, target[3] = {4, 0, -3}, up[3] = {0.1, 1, 0.2};
    ty_camera c = ty_camera_make(eye, target, up, 55.0, 1.3);
    for (int i = 0; i <= 10; ++i)
        for (int j = 0; j <= 10; ++j) {
            double point[3], at[2];
            ty_store3(point, c.eye + 3.7 * ty_camera_ray(&c, 0.1 * i, 0.1 * j));
            assert_true(ty_camera_project(&c, point, at));
            assert_near(at[0], 0.1 * i, 1e-12);
            assert_near(at[1], 0.1 * j, 1e-12);
        }
}

static void a_framing_camera_sees_the_whole_box_and_is_near(void** state)
{
    (void)state;
    const ty_box boxes[] = {
        {{0, 0, 0}, {2, 1, 1}}, {{-5, 2, 0}, {-4.9, 9, 0.3}}, {{0, 0, 0}, {1e-3, 1e-3, 1e-3}}};
    for (int b = 0; b < 3; ++b)
        for (int up = 1; up <= 2; ++up) {
            ty_camera c = ty_camera_framing(&boxes[b], up, 16.0 / 9.0);
            double widest = 0.0, at[2];
            for (int i = 0; i < 8; ++i) {
                double corner[3];
                for (int axis = 0; axis < 3; ++axis)
                    corner[axis] = i >> axis & 1 ? boxes[b].hi[axis] : boxes[b].lo[axis];
                assert_true(ty_camera_project(&c, corner, at));
                widest = fmax(widest, fmax(fabs(at[0] - 0.5), fabs(at[1] - 0.5)));
            }
            assert_true(widest < 0.5 && widest > 0.35);
        }
}

static void looking_straight_down_works(void** state)
{
    (void)state;
    const double eye[3] = {0, 5, 0}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    ty_camera c = ty_camera_make(eye, target, up, 40.0, 1.0);
    assert_near(ty_norm(c.right), 1.0, 1e-12);
    assert_near(ty_norm(c.up), 1.0, 1e-12);
    assert_near(ty_dot(c.right, c.forward), 0.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_target_is_in_the_middle_and_up_is_up),
        cmocka_unit_test(the_angle_of_view_is_vertical),
        cmocka_unit_test(rays_and_projection_are_inverse),
        cmocka_unit_test(a_framing_camera_sees_the_whole_box_and_is_near),
        cmocka_unit_test(looking_straight_down_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
