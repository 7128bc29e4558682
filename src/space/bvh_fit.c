// SPDX-License-Identifier: Apache-2.0
// Numbers into the tree: triangles of leaves, boxes bottom up; and the check of every invariant.
#include "space/bvh_build.h"

enum { LEAF_BLOCK = 256, NODE_BLOCK = 32 };

// A coin while it is fitted; in units of the mesh.
typedef struct coin {
    ty_vec3 middle, normal;
    double radius, half_thickness;
} coin;

// Boxes are grown by this part of the mesh's size: more than the rounding of a query point to
// float, and than any error of the double-precision distance.
static const float BOX_MARGIN = 0x1p-21f;
static const float COIN_MARGIN = 0x1p-20f;
static const double ROUNDING = 1e-6;    // of sines from normals rounded to float
// Sin^2 of the smallest angle: below, rounding would decide too much
static const double THIN = 1e-3;
static const float NEVER_INSIDE = -1e30f;    // for ab_ab and ab_ac: fails the test of edge bc
// Of an edge; shorter ones are points, far below every margin
static const double LEAST_SQUARE = 1e-36;
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

// By how much a float distance may be wrong, besides rounding of the distance itself. Whether the
// foot of the perpendicular is inside is misjudged only within 64 eps / sin^2 of the smallest
// altitude. Thin triangles are taken as their edges: all of a triangle is within the smallest
// altitude of its longest edge.
static float slack_of(ty_vec3 ab, ty_vec3 ac, bool* thin)
{
    ty_vec3 bc = ac - ab;
    double longest2 = ty_max(ty_dot(bc, bc), ty_max(ty_dot(ab, ab), ty_dot(ac, ac)));
    double area = ty_norm(ty_cross(ab, ac));
    *thin = true;
    if (!(longest2 > 0.0)) return 0.0f;
    double altitude = area / sqrt(longest2), sine2 = altitude * altitude / longest2;
    *thin = !(sine2 > THIN);
    return (float)(1.0001 * altitude * (*thin ? 1.0 : 64.0 * 0x1p-24 / sine2));
}

static void fill_lane(const ty_bvh* b, ty_bvh_leaf* l, int k)
{
    ty_vec3 x[3];
    for (int i = 0; i < 3; ++i) x[i] = ty_load3(b->vert[b->tri[l->id[k]][i]]);
    ty_vec3 centre = ty_load3(b->centre);
    ty_vec3 a = (x[0] - centre) * b->inverse_scale, ab = (x[1] - x[0]) * b->inverse_scale,
            ac = (x[2] - x[0]) * b->inverse_scale;
    for (int axis = 0; axis < 3; ++axis) {
        l->a[axis][k] = (float)a[axis];
        l->ab[axis][k] = (float)ab[axis];
        l->ac[axis][k] = (float)ac[axis];
    }
    ty_vec3 normal = ty_normalize(ty_cross(ab, ac)), bc = ac - ab;
    for (int axis = 0; axis < 3; ++axis) l->normal[axis][k] = (float)normal[axis];
    l->inverse[0][k] = (float)(1.0 / ty_max(ty_dot(ab, ab), LEAST_SQUARE));
    l->inverse[1][k] = (float)(1.0 / ty_max(ty_dot(ac, ac), LEAST_SQUARE));
    l->inverse[2][k] = (float)(1.0 / ty_max(ty_dot(bc, bc), LEAST_SQUARE));
    bool thin;
    l->slack[k] = slack_of(ab, ac, &thin);
    l->ab_ab[k] = thin ? NEVER_INSIDE : (float)ty_dot(ab, ab);
    l->ab_ac[k] = thin ? NEVER_INSIDE : (float)ty_dot(ab, ac);
}

static void fill_leaves(void* ctx, ty_range r)
{
    ty_bvh* b = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_bvh_leaf* l = &b->leaf[i];
        for (int k = 0; k < l->n; ++k) fill_lane(b, l, k);
        for (int k = l->n; k < TY_BVH_WIDTH; ++k) {
            for (int axis = 0; axis < 3; ++axis) {
                l->a[axis][k] = FAR_AWAY;
                l->ab[axis][k] = l->ac[axis][k] = l->normal[axis][k] = l->inverse[axis][k] = 0.0f;
            }
            l->ab_ab[k] = l->ab_ac[k] = 0.0f;
            l->slack[k] = 0.0f;
        }
    }
}

static void leaf_bounds(const ty_bvh* b, const ty_bvh_leaf* l, float lo[3], float hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        double least = INFINITY, most = -INFINITY;
        for (int k = 0; k < l->n; ++k)
            for (int i = 0; i < 3; ++i) {
                double x = b->vert[b->tri[l->id[k]][i]][axis];
                least = x < least ? x : least;
                most = x > most ? x : most;
            }
        lo[axis] = (float)((least - b->centre[axis]) * b->inverse_scale) - BOX_MARGIN;
        hi[axis] = (float)((most - b->centre[axis]) * b->inverse_scale) + BOX_MARGIN;
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

static ty_vec3 middle_of(const float lo[3], const float hi[3])
{
    return 0.5 * (ty_vec(lo[0], lo[1], lo[2]) + ty_vec(hi[0], hi[1], hi[2]));
}

static ty_vec3 unit_or_x(ty_vec3 v)
{
    return ty_norm(v) > 0.0 ? ty_normalize(v) : ty_vec(1.0, 0.0, 0.0);
}

// The coin of a leaf: through the middle of its box, along its area vector, around all its corners.
static coin leaf_coin(const ty_bvh* b, const ty_bvh_leaf* l, ty_vec3 middle)
{
    coin c = {.middle = middle};
    ty_vec3 corner[3 * TY_BVH_WIDTH], area = {0}, centre = ty_load3(b->centre);
    for (int k = 0; k < l->n; ++k) {
        const int* v = b->tri[l->id[k]];
        for (int i = 0; i < 3; ++i)
            corner[3 * k + i] = (ty_load3(b->vert[v[i]]) - centre) * b->inverse_scale - middle;
        area += ty_cross(corner[3 * k + 1] - corner[3 * k], corner[3 * k + 2] - corner[3 * k]);
    }
    c.normal = unit_or_x(area);
    double radius2 = 0.0;
    for (int k = 0; k < 3 * l->n; ++k) {
        double h = ty_dot(corner[k], c.normal);
        ty_vec3 flat = corner[k] - h * c.normal;
        double r2 = ty_dot(flat, flat);
        c.half_thickness = fabs(h) > c.half_thickness ? fabs(h) : c.half_thickness;
        radius2 = r2 > radius2 ? r2 : radius2;
    }
    c.radius = sqrt(radius2);
    return c;
}

// The coin of a node, around the coins of its children.
static coin node_coin(const ty_bvh_node* n, ty_vec3 middle)
{
    coin c = {.middle = middle};
    ty_vec3 normal[TY_BVH_WIDTH], area = {0};
    for (int k = 0; k < n->n_children; ++k) {
        normal[k] = ty_vec(n->normal[0][k], n->normal[1][k], n->normal[2][k]);
        area += normal[k] * ((double)n->radius[k] * (double)n->radius[k]);
    }
    c.normal = unit_or_x(area);
    for (int k = 0; k < n->n_children; ++k) {
        ty_vec3 to = ty_vec(n->middle[0][k], n->middle[1][k], n->middle[2][k]) - middle;
        double h = ty_dot(to, c.normal), sine = ty_norm(ty_cross(normal[k], c.normal)) + ROUNDING;
        double r = n->radius[k], t = n->half_thickness[k];
        c.half_thickness = ty_max(c.half_thickness, fabs(h) + r * sine + t);
        c.radius = ty_max(c.radius, ty_norm(to - h * c.normal) + r + t * sine);
    }
    return c;
}

static void set_lane(ty_bvh_node* n, int k, const float lo[3], const float hi[3], const coin* c)
{
    for (int axis = 0; axis < 3; ++axis) {
        n->lo[axis][k] = lo[axis];
        n->hi[axis][k] = hi[axis];
        n->middle[axis][k] = (float)c->middle[axis];
        n->normal[axis][k] = (float)c->normal[axis];
    }
    n->radius[k] = (float)c->radius + COIN_MARGIN;
    n->half_thickness[k] = (float)c->half_thickness + COIN_MARGIN;
}

static void fit_node(ty_bvh* b, int i)
{
    ty_bvh_node* n = &b->node[i];
    for (int k = 0; k < TY_BVH_WIDTH; ++k) {
        float lo[3] = {FAR_AWAY, FAR_AWAY, FAR_AWAY}, hi[3] = {-FAR_AWAY, -FAR_AWAY, -FAR_AWAY};
        coin c = {0};
        if (k >= n->n_children) {
            n->child[k] = -1;
        } else if (n->child[k] < 0) {
            const ty_bvh_leaf* leaf = &b->leaf[~n->child[k]];
            leaf_bounds(b, leaf, lo, hi);
            c = leaf_coin(b, leaf, middle_of(lo, hi));
        } else {
            const ty_bvh_node* child = &b->node[n->child[k]];
            node_bounds(child, lo, hi);
            c = node_coin(child, middle_of(lo, hi));
        }
        set_lane(n, k, lo, hi, &c);
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
            leaf_bounds(b, &b->leaf[~n->child[k]], lo, hi);
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
