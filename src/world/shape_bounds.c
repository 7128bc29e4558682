// SPDX-License-Identifier: Apache-2.0
// Boxes around shapes, now and for all times, and how fast they move inside a box.
#include "world/shape_leaf.h"

enum { PATH_SAMPLES = 64 };    // poses looked at between two key frames

ty_box ty_box_infinite(void)
{
    return (ty_box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
}

bool ty_box_is_finite(const ty_box* b)
{
    for (int axis = 0; axis < 3; ++axis)
        if (!isfinite(b->lo[axis]) || !isfinite(b->hi[axis])) return false;
    return true;
}

bool ty_box_is_empty(const ty_box* b)
{
    return b->lo[0] > b->hi[0] || b->lo[1] > b->hi[1] || b->lo[2] > b->hi[2];
}

ty_box ty_box_intersect(const ty_box* a, const ty_box* b)
{
    ty_box r;
    ty_store3(r.lo, ty_max3(ty_load3(a->lo), ty_load3(b->lo)));
    ty_store3(r.hi, ty_min3(ty_load3(a->hi), ty_load3(b->hi)));
    return r;
}

ty_box ty_box_unite(const ty_box* a, const ty_box* b)
{
    ty_box r;
    ty_store3(r.lo, ty_min3(ty_load3(a->lo), ty_load3(b->lo)));
    ty_store3(r.hi, ty_max3(ty_load3(a->hi), ty_load3(b->hi)));
    return r;
}

static ty_vec3 corner(const ty_box* b, int k)
{
    return ty_vec(k & 1 ? b->hi[0] : b->lo[0], k & 2 ? b->hi[1] : b->lo[1],
                  k & 4 ? b->hi[2] : b->lo[2]);
}

static ty_box posed(const ty_pose* pose, const ty_box* b)
{
    if (pose->identity || ty_box_is_empty(b)) return *b;
    if (!ty_box_is_finite(b)) return ty_box_infinite();
    ty_box r = ty_box_empty();
    for (int k = 0; k < 8; ++k) {
        double x[3];
        ty_store3(x, ty_pose_apply(pose, corner(b, k)));
        ty_box_add(&r, x);
    }
    return r;
}

// The box swept over all key frames: sampled poses, widened by how far a corner gets from the chord
// between two.
static ty_box swept(const ty_shape_def* def, const ty_box* b)
{
    if (def->n_keys < 2 || !ty_box_is_finite(b)) {
        ty_pose only = ty_pose_at(def->n_keys, def->keys, def->linear, 0.0, true);
        return posed(&only, b);
    }
    ty_box all = ty_box_empty();
    double widen = 0.0;
    for (int k = 0; k + 1 < def->n_keys; ++k) {
        double span = def->keys[k + 1].time - def->keys[k].time, step = span / PATH_SAMPLES;
        for (int i = 0; i <= PATH_SAMPLES; ++i) {
            ty_pose pose = ty_pose_at(def->n_keys, def->keys, def->linear,
                                      def->keys[k].time + i * step, i == 0);
            ty_box at = posed(&pose, b);
            all = ty_box_unite(&all, &at);
            for (int c = 0; c < 8; ++c) {
                double speed = ty_norm(ty_pose_velocity(&pose, ty_pose_apply(&pose, corner(b, c))));
                widen = fmax(widen, 0.5 * step * speed * (step * ty_norm(pose.spin)));
            }
        }
    }
    ty_store3(all.lo, ty_load3(all.lo) - widen);
    ty_store3(all.hi, ty_load3(all.hi) + widen);
    return all;
}

static ty_box bounds(const ty_shape* s, bool ever);

static ty_box local_bounds(const ty_shape* s, bool ever)
{
    if (s->def->invert) return ty_box_infinite();
    if (s->n_children == 0) return ty_leaf_bounds(s, ever);
    ty_box all = bounds(&s->children[0], ever);
    for (int i = 1; i < s->n_children; ++i) {
        ty_box b = bounds(&s->children[i], ever);
        if (s->def->kind == TY_SHAPE_UNION) all = ty_box_unite(&all, &b);
        if (s->def->kind == TY_SHAPE_INTERSECTION) all = ty_box_intersect(&all, &b);
    }
    return all;
}

static ty_box bounds(const ty_shape* s, bool ever)
{
    ty_box local = local_bounds(s, ever);
    return ever ? swept(s->def, &local) : posed(&s->pose, &local);
}

ty_box ty_shape_bounds(const ty_shape* s) { return bounds(s, false); }
ty_box ty_shape_bounds_ever(const ty_shape* s) { return bounds(s, true); }

static ty_box unposed(const ty_pose* pose, const ty_box* b)
{
    if (pose->identity) return *b;
    ty_box r = ty_box_empty();
    for (int k = 0; k < 8; ++k) {
        double x[3];
        ty_store3(x, ty_pose_undo(pose, corner(b, k)));
        ty_box_add(&r, x);
    }
    return r;
}

// The velocity of a pose is linear in space, so its size is largest at a corner.
double ty_shape_speed(const ty_shape* s, const ty_box* within)
{
    ty_box own = ty_shape_bounds(s), box = ty_box_intersect(&own, within);
    if (!s->moves || ty_box_is_empty(&box) || !ty_box_is_finite(&box)) return 0.0;
    double outer = 0.0, inner = 0.0;
    for (int k = 0; k < 8; ++k)
        outer = fmax(outer, ty_norm(ty_pose_velocity(&s->pose, corner(&box, k))));
    ty_box local = unposed(&s->pose, &box);
    if (s->n_children == 0) inner = ty_leaf_speed(s, &local);
    for (int i = 0; i < s->n_children; ++i)
        inner = fmax(inner, ty_shape_speed(&s->children[i], &local));
    return outer + s->pose.scale * inner;
}
