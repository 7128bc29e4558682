// SPDX-License-Identifier: Apache-2.0
// Numbers into the tree: triangles of leaves, boxes bottom up; and the check of every invariant.
#include "space/bvh_build.h"

enum { LEAF_BLOCK = 256, NODE_BLOCK = 32 };

// Boxes are grown by this part of the mesh's size: more than the rounding of a query point to
// float, and than any error of the double-precision distance.
static const float BOX_MARGIN = 0x1p-21f;
static const float BRICK_MARGIN =
    0x1p-19f;    // per level, of bricks whose axes are rounded to float
// Sin^2 of the smallest angle: below, rounding would decide too much
static const float THIN = 1e-3f;
static const float NEVER_INSIDE = -1e30f;    // for ab_ab and ab_ac: fails the test of edge bc
// Of an edge; shorter ones are points, far below every margin
static const float LEAST_SQUARE = 1e-36f;
static const float FAR_AWAY = 1e15f;    // where unused lanes are; its square is finite

void ty_bvh_set_frame(ty_bvh* b, const ty_box* box)
{
    b->scale = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        bool empty = !(box->lo[axis] <= box->hi[axis]);
        b->centre[axis] = empty ? 0.0 : 0.5 * box->lo[axis] + 0.5 * box->hi[axis];
        if (!empty) b->scale = fmax(b->scale, 0.5 * box->hi[axis] - 0.5 * box->lo[axis]);
    }
    // A mesh of one point: any unit will do that is not lost in rounding there.
    for (int axis = 0; axis < 3; ++axis) b->scale = fmax(b->scale, 1e-12 * fabs(b->centre[axis]));
    if (!(b->scale > 1e-150)) b->scale = 1.0;
    b->inverse_scale = 1.0 / b->scale;
}

static ty_f8 dot8(const ty_f8 u[3], const ty_f8 v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

// Triangles of a leaf side by side: edges from corner a, and their cross product.
typedef struct eight {
    ty_f8 a[3], ab[3], ac[3], area[3];
} eight;

static eight load_eight(const ty_bvh_leaf* l)
{
    eight e;
    for (int axis = 0; axis < 3; ++axis) {
        e.a[axis] = ty_f8_load(l->a[axis]);
        e.ab[axis] = ty_f8_load(l->ab[axis]);
        e.ac[axis] = ty_f8_load(l->ac[axis]);
    }
    for (int axis = 0; axis < 3; ++axis) {
        int u = (axis + 1) % 3, v = (axis + 2) % 3;
        e.area[axis] = e.ab[u] * e.ac[v] - e.ab[v] * e.ac[u];
    }
    return e;
}

// By how much a float distance may be wrong, besides rounding of the distance itself. Whether the
// foot of the perpendicular is inside is misjudged only within 64 eps / sin^2 of the smallest
// altitude. Thin triangles are taken as their edges: all of a triangle is within the smallest
// altitude of its longest edge.
static ty_f8 slack_of(ty_f8 longest2, ty_f8 area, ty_i8* thin)
{
    ty_f8 altitude = area / ty_f8_sqrt(longest2), sine2 = altitude * altitude / longest2;
    *thin = ~(sine2 > ty_f8_all(THIN));
    ty_f8 part = ty_f8_pick(*thin, ty_f8_all(1.0f), ty_f8_all(64.0f * 0x1p-24f) / sine2);
    return ty_f8_all(1.0001f) * altitude * part;
}

static void derive(ty_bvh_leaf* l)
{
    eight e = load_eight(l);
    ty_f8 bc[3], zero = ty_f8_all(0.0f), least = ty_f8_all(LEAST_SQUARE);
    for (int axis = 0; axis < 3; ++axis) bc[axis] = e.ac[axis] - e.ab[axis];
    ty_f8 square[3] = {ty_f8_max(dot8(e.ab, e.ab), least), ty_f8_max(dot8(e.ac, e.ac), least),
                       ty_f8_max(dot8(bc, bc), least)};
    ty_f8 area = ty_f8_sqrt(dot8(e.area, e.area));
    ty_i8 thin, flat = ~(area > zero);
    ty_f8 longest2 = ty_f8_max(square[0], ty_f8_max(square[1], square[2]));
    ty_f8_store(l->slack, slack_of(longest2, area, &thin));
    for (int k = 0; k < 3; ++k) {
        ty_f8_store(l->normal[k], ty_f8_pick(flat, zero, e.area[k] / area));
        ty_f8_store(l->inverse[k], ty_f8_all(1.0f) / square[k]);
    }
    ty_f8_store(l->ab_ab, ty_f8_pick(thin, ty_f8_all(NEVER_INSIDE), dot8(e.ab, e.ab)));
    ty_f8_store(l->ab_ac, ty_f8_pick(thin, ty_f8_all(NEVER_INSIDE), dot8(e.ab, e.ac)));
}

static void fill_lane(const ty_bvh* b, ty_bvh_leaf* l, int k)
{
    ty_vec3 x[3];
    for (int i = 0; i < 3; ++i) x[i] = ty_load3(b->vert[b->tri[l->id[k]][i]]);
    ty_vec3 a = (x[0] - ty_load3(b->centre)) * b->inverse_scale,
            ab = (x[1] - x[0]) * b->inverse_scale, ac = (x[2] - x[0]) * b->inverse_scale;
    for (int axis = 0; axis < 3; ++axis) {
        l->a[axis][k] = (float)a[axis];
        l->ab[axis][k] = (float)ab[axis];
        l->ac[axis][k] = (float)ac[axis];
    }
}

static void fill_leaves(void* ctx, ty_range r)
{
    ty_bvh* b = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_bvh_leaf* l = &b->leaf[i];
        for (int k = 0; k < l->n; ++k) fill_lane(b, l, k);
        for (int k = l->n; k < TY_BVH_WIDTH; ++k)
            for (int axis = 0; axis < 3; ++axis) {
                l->a[axis][k] = FAR_AWAY;
                l->ab[axis][k] = l->ac[axis][k] = 0.0f;
            }
        derive(l);
    }
}

// Lanes from n on count as the first.
static ty_f8 used_lanes(ty_f8 v, int n)
{
    ty_i8 lane = {0, 1, 2, 3, 4, 5, 6, 7}, used = lane < (ty_i8){n, n, n, n, n, n, n, n};
    return ty_f8_pick(used, v, ty_f8_all(v[0]));
}

static void repeat_first(eight* e, int n)
{
    for (int axis = 0; axis < 3; ++axis) {
        e->a[axis] = used_lanes(e->a[axis], n);
        e->ab[axis] = used_lanes(e->ab[axis], n);
        e->ac[axis] = used_lanes(e->ac[axis], n);
    }
}

static void leaf_bounds(const eight* e, float lo[3], float hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 zero = ty_f8_all(0.0f);
        ty_f8 below = ty_f8_min(zero, ty_f8_min(e->ab[axis], e->ac[axis]));
        ty_f8 above = ty_f8_max(zero, ty_f8_max(e->ab[axis], e->ac[axis]));
        lo[axis] = ty_f8_least(e->a[axis] + below) - BOX_MARGIN;
        hi[axis] = -ty_f8_least(-(e->a[axis] + above)) + BOX_MARGIN;
    }
}

static void node_bounds(const ty_bvh_node* n, float lo[3], float hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = FAR_AWAY;
        hi[axis] = -FAR_AWAY;
        for (int k = 0; k < n->n_children; ++k) {
            lo[axis] = n->lo[axis][k] < lo[axis] ? n->lo[axis][k] : lo[axis];
            hi[axis] = n->hi[axis][k] > hi[axis] ? n->hi[axis][k] : hi[axis];
        }
    }
}

static ty_vec3 unit_or_x(ty_vec3 v)
{
    return ty_norm(v) > 0.0 ? ty_normalize(v) : ty_vec(1.0, 0.0, 0.0);
}

// What a brick is laid around: points of eight lanes, each with arms to both sides.
typedef struct contents {
    int n_points, n_arms;
    ty_f8 at[3][3], arm[3][3];
} contents;

// How far the contents go along a direction.
static void reach_along(const contents* c, const float way[3], float* lo, float* hi)
{
    ty_f8 t[3] = {ty_f8_all(way[0]), ty_f8_all(way[1]), ty_f8_all(way[2])}, arms = ty_f8_all(0.0f);
    for (int k = 0; k < c->n_arms; ++k) {
        ty_f8 along = dot8(c->arm[k], t);
        arms += ty_f8_max(along, -along);
    }
    ty_f8 least = ty_f8_all(FAR_AWAY), most = -least;
    for (int k = 0; k < c->n_points; ++k) {
        ty_f8 along = dot8(c->at[k], t);
        least = ty_f8_min(least, along - arms);
        most = ty_f8_max(most, along + arms);
    }
    *lo = ty_f8_least(least);
    *hi = -ty_f8_least(-most);
}

typedef struct brick {
    float axis[3][3], lo[3], hi[3];
} brick;

static float surface_of(const brick* b)
{
    float a = b->hi[0] - b->lo[0], c = b->hi[1] - b->lo[1], d = b->hi[2] - b->lo[2];
    return a * c + c * d + d * a;
}

// The box as a brick whose last axis is the one closest to the normal.
static brick plain_brick(const ty_bvh_node* n, int lane, ty_vec3 normal)
{
    brick b = {0};
    int along = fabs(normal[0]) > fabs(normal[1]) ? 0 : 1;
    if (fabs(normal[2]) > fabs(normal[along])) along = 2;
    for (int k = 0; k < 3; ++k) {
        int axis = (along + 1 + k) % 3;
        float sign = k == 2 && normal[axis] < 0.0 ? -1.0f : 1.0f, a = sign * n->lo[axis][lane],
              c = sign * n->hi[axis][lane];
        b.axis[k][axis] = sign;
        b.lo[k] = a < c ? a : c;
        b.hi[k] = a < c ? c : a;
    }
    return b;
}

static void set_axis(brick* b, int k, const contents* c, ty_vec3 way)
{
    for (int axis = 0; axis < 3; ++axis) b->axis[k][axis] = (float)way[axis];
    reach_along(c, b->axis[k], &b->lo[k], &b->hi[k]);
}

// The brick of least surface among the box and two that lie flat, one turned by 45 degrees.
static void set_brick(ty_bvh_node* n, int lane, const contents* c, ty_vec3 normal)
{
    ty_vec3 other = fabs(normal[0]) < 0.7 ? ty_vec(1.0, 0.0, 0.0) : ty_vec(0.0, 1.0, 0.0),
            e1 = unit_or_x(ty_cross(normal, other)), e2 = ty_cross(normal, e1);
    ty_vec3 way[2][2] = {{e1, e2}, {M_SQRT1_2 * (e1 + e2), M_SQRT1_2 * (e2 - e1)}};
    brick best = plain_brick(n, lane, normal), flat;
    set_axis(&flat, 2, c, normal);
    for (int turn = 0; turn < 2; ++turn) {
        set_axis(&flat, 0, c, way[turn][0]);
        set_axis(&flat, 1, c, way[turn][1]);
        if (surface_of(&flat) < surface_of(&best)) best = flat;
    }
    for (int axis = 0; axis < 3; ++axis) {
        float middle = 0.0f;
        for (int k = 0; k < 3; ++k) {
            middle += 0.5f * (best.lo[k] + best.hi[k]) * best.axis[k][axis];
            n->axis[k][axis][lane] = best.axis[k][axis];
        }
        n->middle[axis][lane] = middle;
        n->half[axis][lane] = 0.5f * (best.hi[axis] - best.lo[axis]) + BRICK_MARGIN;
    }
}

static void brick_of_leaf(const eight* e, ty_bvh_node* n, int lane)
{
    contents c = {.n_points = 3};
    ty_vec3 area = {0};
    for (int axis = 0; axis < 3; ++axis) {
        for (int k = 0; k < TY_BVH_WIDTH; ++k) area[axis] += (double)e->area[axis][k];
        c.at[0][axis] = e->a[axis];
        c.at[1][axis] = e->a[axis] + e->ab[axis];
        c.at[2][axis] = e->a[axis] + e->ac[axis];
    }
    set_brick(n, lane, &c, unit_or_x(area));
}

static void brick_of_node(const ty_bvh_node* child, ty_bvh_node* n, int lane)
{
    contents c = {.n_points = 1, .n_arms = 3};
    ty_vec3 area = {0};
    for (int k = 0; k < child->n_children; ++k)
        area += ty_vec(child->axis[2][0][k], child->axis[2][1][k], child->axis[2][2][k]) *
                ((double)child->half[0][k] * (double)child->half[1][k]);
    for (int axis = 0; axis < 3; ++axis) {
        c.at[0][axis] = used_lanes(ty_f8_load(child->middle[axis]), child->n_children);
        for (int k = 0; k < 3; ++k)
            c.arm[k][axis] = used_lanes(
                ty_f8_load(child->axis[k][axis]) * ty_f8_load(child->half[k]), child->n_children);
    }
    set_brick(n, lane, &c, unit_or_x(area));
}

static void set_box(ty_bvh_node* n, int lane, const float lo[3], const float hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        n->lo[axis][lane] = lo[axis];
        n->hi[axis][lane] = hi[axis];
    }
}

// Of a lane without a child: where nothing looks for it.
static void set_nothing(ty_bvh_node* n, int lane)
{
    n->child[lane] = -1;
    for (int axis = 0; axis < 3; ++axis) {
        n->lo[axis][lane] = n->middle[axis][lane] = FAR_AWAY;
        n->hi[axis][lane] = -FAR_AWAY;
        n->half[axis][lane] = 0.0f;
        for (int k = 0; k < 3; ++k) n->axis[k][axis][lane] = k == axis ? 1.0f : 0.0f;
    }
}

static void fit_node(ty_bvh* b, int i)
{
    ty_bvh_node* n = &b->node[i];
    for (int k = 0; k < TY_BVH_WIDTH; ++k) {
        float lo[3], hi[3];
        if (k >= n->n_children) {
            set_nothing(n, k);
        } else if (n->child[k] < 0) {
            const ty_bvh_leaf* leaf = &b->leaf[~n->child[k]];
            eight e = load_eight(leaf);
            repeat_first(&e, leaf->n);
            leaf_bounds(&e, lo, hi);
            set_box(n, k, lo, hi);
            brick_of_leaf(&e, n, k);
        } else {
            const ty_bvh_node* child = &b->node[n->child[k]];
            node_bounds(child, lo, hi);
            set_box(n, k, lo, hi);
            brick_of_node(child, n, k);
        }
    }
}

static void fit_tasks(void* ctx, ty_range r)
{
    ty_bvh* b = ctx;
    for (int64_t t = r.begin; t < r.end; ++t)
        for (int i = b->task[t].n_nodes - 1; i >= 0; --i) fit_node(b, b->task[t].first_node + i);
}

typedef struct level_args {
    ty_bvh* bvh;
    int first;
} level_args;

static void fit_level(void* ctx, ty_range r)
{
    const level_args* k = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) fit_node(k->bvh, k->first + (int)i);
}

void ty_bvh_fit(ty_bvh* b)
{
    ty_parallel_for(b->n_leaves, LEAF_BLOCK, fill_leaves, b);
    for (int l = b->n_levels - 1; l >= 0; --l) {
        level_args k = {b, b->level_first[l]};
        ty_parallel_for(b->level_first[l + 1] - k.first, NODE_BLOCK, fit_level, &k);
    }
    ty_parallel_for(b->n_tasks, 1, fit_tasks, b);
    for (int i = b->n_top - 1; i >= 0; --i) fit_node(b, i);
}

static double bound_value(const ty_bvh* b, ty_range r, int axis, double sign)
{
    double most = -INFINITY;
    for (int64_t i = r.begin; i < r.end; ++i)
        for (int k = 0; k < b->leaf[i].n; ++k)
            for (int c = 0; c < 3; ++c)
                most = fmax(most, sign * b->vert[b->tri[b->leaf[i].id[k]][c]][axis]);
    return most;
}

typedef struct side {
    const ty_bvh* bvh;
    int axis;
    double sign;
} side;

static double bound_block(void* ctx, ty_range r)
{
    const side* s = ctx;
    return bound_value(s->bvh, r, s->axis, s->sign);
}

void ty_bvh_refit(ty_bvh* b, const double (*vert)[3])
{
    b->vert = vert;
    ty_box box;
    for (int axis = 0; axis < 3; ++axis) {
        side low = {b, axis, -1.0}, high = {b, axis, 1.0};
        box.lo[axis] = -ty_parallel_max(b->n_leaves, LEAF_BLOCK, bound_block, &low);
        box.hi[axis] = ty_parallel_max(b->n_leaves, LEAF_BLOCK, bound_block, &high);
    }
    ty_bvh_set_frame(b, &box);
    ty_bvh_fit(b);
}

static void corner_bounds(const ty_bvh* b, const ty_bvh_leaf* l, float lo[3], float hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = FAR_AWAY;
        hi[axis] = -FAR_AWAY;
        for (int k = 0; k < 3 * l->n; ++k) {
            const double* x = b->vert[b->tri[l->id[k / 3]][k % 3]];
            float at = (float)ty_bvh_unit(b, x, axis);
            lo[axis] = at < lo[axis] ? at : lo[axis];
            hi[axis] = at > hi[axis] ? at : hi[axis];
        }
    }
}

static ty_status check_node(const ty_bvh* b, int i, int* n_leaves, int* n_nodes)
{
    const ty_bvh_node* n = &b->node[i];
    if (n->n_children < 1 || n->n_children > TY_BVH_WIDTH)
        return ty_fail(TY_DAMAGED, "node %d: children", i);
    for (int k = 0; k < n->n_children; ++k) {
        float lo[3], hi[3];
        if (n->child[k] >= 0) {
            if (n->child[k] <= i || n->child[k] >= b->n_nodes)
                return ty_fail(TY_DAMAGED, "node %d: order", i);
            node_bounds(&b->node[n->child[k]], lo, hi);
            ++*n_nodes;
        } else {
            if (~n->child[k] >= b->n_leaves) return ty_fail(TY_DAMAGED, "node %d: leaf", i);
            corner_bounds(b, &b->leaf[~n->child[k]], lo, hi);
            ++*n_leaves;
        }
        for (int axis = 0; axis < 3; ++axis)
            if (n->lo[axis][k] > lo[axis] || n->hi[axis][k] < hi[axis])
                return ty_fail(TY_DAMAGED, "node %d: box %d is too small", i, k);
    }
    return ty_ok();
}

ty_status ty_bvh_validate(const ty_bvh* b)
{
    int n_leaves = 0, n_nodes = b->n_nodes > 0, n_tris = 0, n_usable = 0;
    for (int i = 0; i < b->n_nodes; ++i) TY_TRY(check_node(b, i, &n_leaves, &n_nodes));
    if (n_leaves != b->n_leaves || n_nodes != b->n_nodes) return ty_fail(TY_DAMAGED, "not a tree");
    for (int i = 0; i < b->n_leaves; ++i)
        for (int k = 0; k < b->leaf[i].n; ++k, ++n_tris)
            if (b->leaf_of[b->leaf[i].id[k]] != i)
                return ty_fail(TY_DAMAGED, "leaf %d is not its triangle's", i);
    for (int t = 0; t < b->n_tris; ++t) n_usable += ty_bvh_usable(b, t);
    if (n_tris != n_usable)
        return ty_fail(TY_DAMAGED, "%d triangles in leaves, %d usable", n_tris, n_usable);
    return ty_ok();
}
