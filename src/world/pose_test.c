// SPDX-License-Identifier: Apache-2.0
#include "world/pose.h"

#include <string.h>

#include "test.h"

static ty_pose_key key(double time, ty_vec3 move, ty_vec3 axis, double degrees, ty_vec3 about,
                       double scale)
{
    ty_pose_key k = {.time = time, .degrees = degrees, .scale = scale};
    ty_store3(k.move, move);
    ty_store3(k.axis, axis);
    ty_store3(k.about, about);
    return k;
}

// A path with everything in it: turns about different axes and pivots, moves, scales.
static int wild_path(ty_pose_key keys[4])
{
    keys[0] = key(0.0, ty_vec(0, 0, 0), ty_vec(0, 1, 0), 0, ty_vec(0, 0, 0), 1.0);
    keys[1] = key(0.5, ty_vec(0.3, 0, 0.1), ty_vec(0, 0, 1), 450, ty_vec(1, 0, 0), 1.0);
    keys[2] = key(1.2, ty_vec(-0.2, 0.4, 0), ty_vec(1, 2, 0), -80, ty_vec(0, 1, 0.5), 1.7);
    keys[3] = key(2.0, ty_vec(0, 0.1, 0.2), ty_vec(0, -1, 0), 200, ty_vec(0.2, 0, 0), 0.6);
    return 4;
}

static void velocity_is_the_derivative_of_the_path(void** state)
{
    (void)state;
    ty_pose_key keys[4];
    int n = wild_path(keys);
    const double h = 1e-6;
    ty_vec3 p = ty_vec(0.3, -0.7, 0.45);
    for (int linear = 0; linear < 2; ++linear)
        for (double t = 0.013; t < 2.1; t += 0.05) {
            ty_pose before = ty_pose_at(n, keys, linear, t - h, false);
            ty_pose now = ty_pose_at(n, keys, linear, t, false),
                    after = ty_pose_at(n, keys, linear, t + h, false);
            ty_vec3 expected = (ty_pose_apply(&after, p) - ty_pose_apply(&before, p)) / (2.0 * h);
            ty_vec3 v = ty_pose_velocity(&now, ty_pose_apply(&now, p));
            assert_near(ty_norm(v - expected), 0.0, 1e-7 * (1.0 + ty_norm(v)));
        }
}

static void poses_keep_shape_and_return(void** state)
{
    (void)state;
    ty_pose_key keys[4];
    int n = wild_path(keys);
    ty_vec3 p = ty_vec(0.3, -0.7, 0.45), q = ty_vec(-1.1, 0.2, 0.0);
    for (double t = -0.1; t < 2.2; t += 0.07) {
        ty_pose pose = ty_pose_at(n, keys, false, t, false);
        assert_near(ty_norm(ty_pose_apply(&pose, p) - ty_pose_apply(&pose, q)),
                    pose.scale * ty_norm(p - q), 1e-12);
        assert_near(ty_norm(ty_pose_undo(&pose, ty_pose_apply(&pose, p)) - p), 0.0, 1e-12);
    }
}

static void keys_are_absolute_poses(void** state)
{
    (void)state;
    ty_pose_key k = key(1.0, ty_vec(0, 0.5, 0), ty_vec(0, 0, 1), 90, ty_vec(1, 0, 0), 2.0);
    ty_pose_key keys[2] = {ty_pose_key_default(), k};
    ty_pose pose = ty_pose_at(2, keys, false, 1.0, false);
    ty_vec3 x = ty_pose_apply(&pose, ty_vec(1.5, 0, 0));
    assert_near(ty_norm(x - ty_vec(1, 1.5, 0)), 0.0, 1e-14);
}

// Half way from no turn to 90 degrees about (1, 0, 0) is 45 degrees about (1, 0, 0), not about
// something between.
static void a_key_without_turn_takes_its_neighbours_pivot(void** state)
{
    (void)state;
    ty_pose_key keys[2] = {ty_pose_key_default(),
                           key(2, ty_vec(0, 0, 0), ty_vec(0, 0, 1), 90, ty_vec(1, 0, 0), 1)};
    ty_pose pose = ty_pose_at(2, keys, false, 1.0, false);
    assert_near(ty_norm(ty_pose_apply(&pose, ty_vec(1, 0, 0.3)) - ty_vec(1, 0, 0.3)), 0.0, 1e-15);
    assert_near(pose.turn[0][0], sqrt(0.5), 1e-15);
}

static void a_shared_axis_turns_through_the_whole_angle(void** state)
{
    (void)state;
    ty_pose_key keys[2] = {ty_pose_key_default(),
                           key(1, ty_vec(0, 0, 0), ty_vec(0, 2, 0), 720, ty_vec(0, 0, 0), 1)};
    ty_pose pose = ty_pose_at(2, keys, true, 0.125, false);    // a quarter turn
    assert_near(ty_norm(ty_pose_apply(&pose, ty_vec(0, 0, 1)) - ty_vec(1, 0, 0)), 0.0, 1e-14);
    assert_near(pose.spin[1], 4.0 * M_PI, 1e-12);
}

static void different_axes_take_the_shortest_way(void** state)
{
    (void)state;
    ty_pose_key keys[2] = {key(0, ty_vec(0, 0, 0), ty_vec(1, 0, 0), 170, ty_vec(0, 0, 0), 1),
                           key(1, ty_vec(0, 0, 0), ty_vec(0, 1, 0), 170, ty_vec(0, 0, 0), 1)};
    double turned = 0.0;
    for (int i = 0; i < 100; ++i)
        turned += 0.01 * ty_norm(ty_pose_at(2, keys, true, 0.005 + 0.01 * i, false).spin);
    assert_true(turned <= M_PI + 1e-9);
    for (int end = 0; end < 2; ++end) {    // and both ends are the keys'
        ty_pose at = ty_pose_at(2, keys, true, end, false),
                only = ty_pose_at(1, &keys[end], true, end, false);
        for (int i = 0; i < 3; ++i) assert_near(ty_norm(at.turn[i] - only.turn[i]), 0.0, 1e-14);
    }
}

static void rates_at_a_corner_are_of_the_side_asked_for(void** state)
{
    (void)state;
    ty_pose_key keys[2] = {ty_pose_key_default(),
                           key(1, ty_vec(2, 0, 0), ty_vec(0, 1, 0), 0, ty_vec(0, 0, 0), 1)};
    assert_near(ty_pose_at(2, keys, true, 0.0, true).shift_rate[0], 2.0, 1e-15);
    assert_near(ty_pose_at(2, keys, true, 0.0, false).shift_rate[0], 0.0, 0.0);
    assert_near(ty_pose_at(2, keys, true, 1.0, false).shift_rate[0], 2.0, 1e-15);
    assert_near(ty_pose_at(2, keys, true, 1.0, true).shift_rate[0], 0.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocity_is_the_derivative_of_the_path),
        cmocka_unit_test(poses_keep_shape_and_return),
        cmocka_unit_test(keys_are_absolute_poses),
        cmocka_unit_test(a_key_without_turn_takes_its_neighbours_pivot),
        cmocka_unit_test(a_shared_axis_turns_through_the_whole_angle),
        cmocka_unit_test(different_axes_take_the_shortest_way),
        cmocka_unit_test(rates_at_a_corner_are_of_the_side_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
