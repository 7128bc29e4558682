// SPDX-License-Identifier: Apache-2.0
// Key-framed motion: a pose and how fast it changes, at a time.
//
//   world point   x = pivot + shift + scale * R (p - pivot)         p: the point of the shape as it was said
//
// Between two keys shift, pivot and scale go from one to the other with the weight w(t), and the
// shape turns about a fixed axis: the keys' own when they share it (so 720 degrees are two turns),
// else the axis of the shortest rotation, which is quaternion slerp. A key without a turn or scale
// takes pivot and axis from its neighbour.
#ifndef TY_WORLD_POSE_H
#define TY_WORLD_POSE_H

#include <stdbool.h>

#include "core/vec.h"
#include "world/world_def.h"

// Value.
typedef struct ty_pose {
    bool identity;    // x = p and nothing moves
    bool moves;
    ty_vec3 turn[3];    // rows of R
    ty_vec3 pivot, shift;
    double scale;
    ty_vec3 spin;                      // angular velocity, 1/s
    ty_vec3 pivot_rate, shift_rate;    // m/s
    double scale_rate;                 // 1/s
} ty_pose;

// Weight of the later of two values at u in [0, 1], and its derivative by u.
static inline double ty_ease(bool linear, double u) { return linear ? u : u * u * (3.0 - 2.0 * u); }
static inline double ty_ease_rate(bool linear, double u)
{
    return linear ? 1.0 : 6.0 * u * (1.0 - u);
}

// The pose at t. Where the path has a corner its rates are those of the side that leads to t; with
// `starting` those of the side that leaves t.
ty_pose ty_pose_at(int n_keys, const ty_pose_key* keys, bool linear, double t, bool starting);

ty_vec3 ty_pose_apply(const ty_pose* pose, ty_vec3 p);
ty_vec3 ty_pose_undo(const ty_pose* pose, ty_vec3 x);
// A direction, turned without scale.
ty_vec3 ty_pose_turn(const ty_pose* pose, ty_vec3 direction);
// Velocity of the material point that is at x now: the derivative of ty_pose_apply by time.
ty_vec3 ty_pose_velocity(const ty_pose* pose, ty_vec3 x);

#endif
