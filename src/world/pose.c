// SPDX-License-Identifier: Apache-2.0
#include "world/pose.h"

// Axes whose directions differ by less (radians) count as the same.
static const double SAME_AXIS = 1e-9;

// x y z are the vector part, w the real one.
typedef struct quat {
    ty_vec3 v;
    double w;
} quat;

static quat quat_turn(ty_vec3 axis, double angle)
{
    return (quat){sin(0.5 * angle) * axis, cos(0.5 * angle)};
}

static quat quat_times(quat a, quat b)
{
    return (quat){a.w * b.v + b.w * a.v + ty_cross(a.v, b.v), a.w * b.w - ty_dot(a.v, b.v)};
}

static ty_vec3 quat_apply(quat q, ty_vec3 x)
{
    ty_vec3 t = 2.0 * ty_cross(q.v, x);
    return x + q.w * t + ty_cross(q.v, t);
}

static double radians(const ty_pose_key* k) { return k->degrees * (M_PI / 180.0); }
static bool has_turn(const ty_pose_key* k) { return k->degrees != 0.0; }
static bool has_pivot(const ty_pose_key* k) { return has_turn(k) || k->scale != 1.0; }

// The turn between two keys: start, then w * angle about axis.
typedef struct arc {
    quat start;
    ty_vec3 axis;
    double angle;
} arc;

static arc arc_between(const ty_pose_key* a, const ty_pose_key* b)
{
    ty_vec3 axis_a = ty_normalize(ty_load3(has_turn(a) ? a->axis : b->axis));
    ty_vec3 axis_b = ty_normalize(ty_load3(has_turn(b) ? b->axis : a->axis));
    double angle_b = radians(b);
    if (ty_dot(axis_a, axis_b) < 0.0) axis_b = -axis_b, angle_b = -angle_b;
    arc r = {quat_turn(axis_a, radians(a)), axis_a, angle_b - radians(a)};
    if (ty_norm(ty_cross(axis_a, axis_b)) <= SAME_AXIS) return r;
    quat back = {-r.start.v, r.start.w};
    quat q = quat_times(quat_turn(axis_b, angle_b), back);
    if (q.w < 0.0) q = (quat){-q.v, -q.w};
    double s = ty_norm(q.v);
    r.axis = s > 0.0 ? q.v / s : axis_a;
    r.angle = 2.0 * atan2(s, q.w);
    return r;
}

static void set_turn(ty_pose* pose, quat q)
{
    ty_vec3 column[3];
    for (int i = 0; i < 3; ++i) column[i] = quat_apply(q, ty_vec(i == 0, i == 1, i == 2));
    for (int i = 0; i < 3; ++i) pose->turn[i] = ty_vec(column[0][i], column[1][i], column[2][i]);
}

// Between keys a and b with weight w that changes at w_rate per second.
static ty_pose between(const ty_pose_key* a, const ty_pose_key* b, double w, double w_rate)
{
    arc turn = arc_between(a, b);
    ty_vec3 pivot_a = ty_load3(has_pivot(a) ? a->about : b->about);
    ty_vec3 pivot_b = ty_load3(has_pivot(b) ? b->about : a->about);
    ty_vec3 move_a = ty_load3(a->move), move_b = ty_load3(b->move);
    ty_pose pose = {0};
    set_turn(&pose, quat_times(quat_turn(turn.axis, w * turn.angle), turn.start));
    pose.pivot = ty_lerp3(pivot_a, pivot_b, w);
    pose.shift = ty_lerp3(move_a, move_b, w);
    pose.scale = a->scale + w * (b->scale - a->scale);
    pose.spin = w_rate * turn.angle * turn.axis;
    pose.pivot_rate = w_rate * (pivot_b - pivot_a);
    pose.shift_rate = w_rate * (move_b - move_a);
    pose.scale_rate = w_rate * (b->scale - a->scale);
    pose.moves = w_rate != 0.0;
    return pose;
}

ty_pose ty_pose_at(int n_keys, const ty_pose_key* keys, bool linear, double t, bool starting)
{
    if (n_keys == 0) {
        ty_pose still = {.identity = true, .scale = 1.0};
        set_turn(&still, (quat){ty_vec(0, 0, 0), 1.0});
        return still;
    }
    int k = 0;    // keys before t, or at t when starting
    while (k < n_keys && (starting ? keys[k].time <= t : keys[k].time < t)) ++k;
    if (k == 0) return between(&keys[0], &keys[0], 0.0, 0.0);
    if (k == n_keys) return between(&keys[n_keys - 1], &keys[n_keys - 1], 0.0, 0.0);
    const ty_pose_key *a = &keys[k - 1], *b = &keys[k];
    double span = b->time - a->time, u = (t - a->time) / span;
    return between(a, b, ty_ease(linear, u), ty_ease_rate(linear, u) / span);
}

ty_vec3 ty_pose_turn(const ty_pose* pose, ty_vec3 d)
{
    return ty_vec(ty_dot(pose->turn[0], d), ty_dot(pose->turn[1], d), ty_dot(pose->turn[2], d));
}

ty_vec3 ty_pose_apply(const ty_pose* pose, ty_vec3 p)
{
    return pose->pivot + pose->shift + pose->scale * ty_pose_turn(pose, p - pose->pivot);
}

ty_vec3 ty_pose_undo(const ty_pose* pose, ty_vec3 x)
{
    ty_vec3 r = (x - pose->pivot - pose->shift) / pose->scale;
    return pose->pivot + r[0] * pose->turn[0] + r[1] * pose->turn[1] + r[2] * pose->turn[2];
}

// With r = x - pivot - shift = scale R (p - pivot):
//   x' = pivot' + shift' + spin x r + (scale'/scale) r - scale R pivot'
ty_vec3 ty_pose_velocity(const ty_pose* pose, ty_vec3 x)
{
    ty_vec3 r = x - pose->pivot - pose->shift;
    ty_vec3 v = pose->pivot_rate + pose->shift_rate + ty_cross(pose->spin, r);
    v += (pose->scale_rate / pose->scale) * r;
    return v - pose->scale * ty_pose_turn(pose, pose->pivot_rate);
}
