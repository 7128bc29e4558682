// SPDX-License-Identifier: Apache-2.0
// A search for the closest triangle, as single points (bvh_closest.c) and packs of them (bvh_pack.c)
// make it; nobody else includes this.
#ifndef TY_SPACE_BVH_SEARCH_H
#define TY_SPACE_BVH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "space/bvh.h"
#include "space/simd.h"

// Distances in floats are right to a few 1e-7 of themselves and LEAF_MARGIN (of a float query
// against a float triangle, both within [-1, 1]); boxes are grown by as much (bvh_fit.c).
static const float RELATIVE_MARGIN = 1.0f + 0x1p-18f;
static const float LEAF_RELATIVE = 0x1p-20f;
static const float LEAF_MARGIN = 0x1p-21f;
static const double FARTHEST = 1e15;    // queries beyond are pulled in to here: a lower bound still

typedef ty_bvh_search query;

static inline void set_reach(query* q, float reach)
{
    q->reach = reach;
    q->bound = reach * reach * q->keen;
}

static inline void take_triangle(query* q, int t, const ty_closest* c)
{
    if (c->distance2 > q->best.distance2) return;
    if (c->distance2 == q->best.distance2 && q->triangle >= 0 && t > q->triangle) return;
    q->best = *c;
    q->triangle = t;
}

static inline void try_triangle(const ty_bvh* b, query* q, int t)
{
    const int* v = b->tri[t];
    ty_closest c = ty_closest_on_triangle(q->x, ty_load3(b->vert[v[0]]), ty_load3(b->vert[v[1]]),
                                          ty_load3(b->vert[v[2]]));
    take_triangle(q, t, &c);
}

static inline ty_f8 dot8(const ty_f8 u[3], const ty_f8 v[3])
{
    return ty_f8_fma(u[0], v[0], ty_f8_fma(u[1], v[1], u[2] * v[2]));
}

// Squared distance of u to the segment from 0 to e whose nearest parameter is t before clamping.
static inline ty_f8 segment8(const ty_f8 u[3], const ty_f8 e[3], ty_f8 t)
{
    ty_f8 sum = ty_f8_all(0.0f);
    t = ty_f8_min(ty_f8_max(t, sum), ty_f8_all(1.0f));
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 d = ty_f8_fma(-t, e[axis], u[axis]);
        sum = ty_f8_fma(d, d, sum);
    }
    return sum;
}

// Eight pairs of point and triangle: from corner a to the point; edges; what the leaf keeps.
typedef struct eight {
    ty_f8 ap[3], ab[3], ac[3], normal[3], inverse[3], ab_ab, ab_ac;
} eight;

// Distances in floats: the plane's where the foot of the perpendicular is inside, else the nearest
// edge's.
static inline ty_f8 distances(const eight* e)
{
    const ty_f8 *ab = e->ab, *ac = e->ac, *ap = e->ap;
    ty_f8 bc[3], bp[3];
    for (int axis = 0; axis < 3; ++axis) {
        bc[axis] = ac[axis] - ab[axis];
        bp[axis] = ap[axis] - ab[axis];
    }
    ty_f8 d1 = dot8(ab, ap), d2 = dot8(ac, ap), h = dot8(e->normal, ap);
    ty_f8 t_ab = d1 * e->inverse[0], t_ac = d2 * e->inverse[1], t_bc = dot8(bp, bc) * e->inverse[2];
    ty_f8 edges = ty_f8_min(ty_f8_min(segment8(ap, ab, t_ab), segment8(ap, ac, t_ac)),
                            segment8(bp, bc, t_bc));
    ty_i8 inside = (d1 > e->ab_ac * t_ac) & (d2 > e->ab_ac * t_ab) &
                   (e->ab_ab - d1 > (e->ab_ab - e->ab_ac) * t_bc) & (h * h < edges);
    return ty_f8_sqrt(ty_f8_pick(inside, h * h, edges));
}

// Which triangles of a leaf that was asked are within reach by now.
static inline unsigned within_reach(const ty_bvh_asked* a, float reach)
{
    ty_f8 least;
    memcpy(&least, a->least, sizeof least);
    return ty_i8_bits(least <= ty_f8_all(reach)) & a->lanes;
}

// Triangles that are out of reach by now are dropped; the rest is asked in doubles.
static inline void decide(const ty_bvh* b, query* q)
{
    for (int k = 0; k < q->n_asked; ++k) {
        const ty_bvh_asked* a = &q->asked[k];
        for (unsigned near = within_reach(a, q->reach); near; near &= near - 1)
            try_triangle(b, q, b->leaf[a->leaf].id[__builtin_ctz(near)]);
    }
    q->n_asked = 0;
}

// What a leaf's triangles are to a query: a float distance d stands for d - error to d + error. The
// least of the latter shortens the reach, the former decides who is a candidate.
typedef struct leaf_distances {
    ty_f8 least;
    float most;
} leaf_distances;

static inline leaf_distances measure_leaf(const ty_bvh_leaf* l, const query* q)
{
    eight e = {.ab_ab = ty_f8_load(l->ab_ab), .ab_ac = ty_f8_load(l->ab_ac)};
    for (int axis = 0; axis < 3; ++axis) {
        e.ap[axis] = ty_f8_all(q->p[axis]) - ty_f8_load(l->a[axis]);
        e.ab[axis] = ty_f8_load(l->ab[axis]);
        e.ac[axis] = ty_f8_load(l->ac[axis]);
        e.normal[axis] = ty_f8_load(l->normal[axis]);
        e.inverse[axis] = ty_f8_load(l->inverse[axis]);
    }
    ty_f8 d = distances(&e);
    ty_f8 error = ty_f8_load(l->slack) + ty_f8_all(LEAF_MARGIN) + d * ty_f8_all(LEAF_RELATIVE);
    return (leaf_distances){d - error, ty_f8_least(d + error)};    // unused lanes are far away
}

// Without branches, as no processor foresees them: a leaf out of reach is written down and not kept.
static inline void take_leaf(const ty_bvh* b, int leaf, const leaf_distances* m, query* q)
{
    set_reach(q, m->most < q->reach ? m->most : q->reach);
    ty_bvh_asked* a = &q->asked[q->n_asked];
    ty_f8_store(a->least, m->least);
    a->leaf = leaf;
    a->lanes = ty_i8_bits(m->least <= ty_f8_all(q->reach)) & ((1u << b->leaf[leaf].n) - 1u);
    q->n_asked += a->lanes != 0;
    if (q->n_asked == TY_BVH_ASKED) decide(b, q);
}

static inline void visit_leaf(const ty_bvh* b, int leaf, query* q)
{
    leaf_distances m = measure_leaf(&b->leaf[leaf], q);
    take_leaf(b, leaf, &m, q);
}

typedef struct entry {
    float d2;
    int child;
} entry;

// A node's children side by side, or one of them in every lane.
typedef struct bricks {
    ty_f8 middle[3], axis[3][3], half[3];
} bricks;

static inline ty_f8 squared_distance(const ty_f8 p[3], const bricks* b)
{
    ty_f8 zero = ty_f8_all(0.0f), sum = zero, v[3];
    for (int axis = 0; axis < 3; ++axis) v[axis] = p[axis] - b->middle[axis];
    for (int k = 0; k < 3; ++k) {
        ty_f8 along = dot8(v, b->axis[k]);
        ty_f8 out = ty_f8_max(ty_f8_abs(along) - b->half[k], zero);
        sum = ty_f8_fma(out, out, sum);
    }
    return sum;
}

// Which children of a node are within the bound, and the least squared distances to all.
static inline unsigned lanes_within(const ty_bvh_node* n, const float p[3], float bound,
                                    float d[TY_BVH_WIDTH])
{
    bricks b;
    ty_f8 at[3];
    for (int k = 0; k < 3; ++k) {
        at[k] = ty_f8_all(p[k]);
        b.middle[k] = ty_f8_load(n->middle[k]);
        b.half[k] = ty_f8_load(n->half[k]);
        for (int axis = 0; axis < 3; ++axis) b.axis[k][axis] = ty_f8_load(n->axis[k][axis]);
    }
    ty_f8 d2 = squared_distance(at, &b);
    ty_f8_store(d, d2);
    return ty_i8_bits(d2 <= ty_f8_all(bound)) & ((1u << n->n_children) - 1u);
}

// One more entry after `count` others: the nearest last, the others in any order.
static inline void push_entry(entry* out, int count, entry e)
{
    int before = count ? count - 1 : 0;
    entry last = out[before];
    bool nearest = count == 0 || e.d2 < last.d2;
    out[before] = nearest ? last : e;
    out[count] = nearest ? e : last;
}

static inline void begin_query(const ty_bvh* b, query* q, ty_vec3 x, double limit2, float keen)
{
    q->keen = keen;
    q->x = x;
    q->triangle = -1;
    q->best.distance2 = limit2;
    q->n_asked = 0;
    for (int axis = 0; axis < 3; ++axis)
        q->p[axis] = (float)ty_clamp((x[axis] - b->centre[axis]) * b->inverse_scale, -FARTHEST,
                                     FARTHEST);
    set_reach(q, (float)ty_clamp(sqrt(limit2) * b->inverse_scale, 0.0, 4.0 * FARTHEST) *
                     RELATIVE_MARGIN);
}

typedef struct batch {
    const ty_bvh* bvh;
    const double (*x)[3];
    double limit2;
    float keen;
    const ty_closest_points* out;
    const int* order;    // in which points are cut into blocks; NULL: as they are listed
} batch;

static inline void store(const ty_closest_points* out, int64_t i, const query* q)
{
    bool found = q->triangle >= 0;
    if (out->distance2) out->distance2[i] = found ? q->best.distance2 : INFINITY;
    if (out->triangle) out->triangle[i] = q->triangle;
    if (found && out->point) ty_store3(out->point[i], q->best.point);
    if (found && out->feature) out->feature[i] = (unsigned char)q->best.feature;
}

static inline bool finite3(ty_vec3 x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

// The points of a block.
typedef struct points {
    const batch* job;
    const double (*x)[3];
    const uint16_t* order;    // NULL: as they are
    int64_t first;            // of the batch
} points;

static inline int point_at(const points* p, int k) { return p->order ? p->order[k] : k; }

// Where the answer to the block's k-th point goes.
static inline int64_t answer_at(const points* p, int k)
{
    int64_t i = p->first + point_at(p, k);
    return p->job->order ? p->job->order[i] : i;
}

// Answers points that lie close together, in packs; returns how many are left, listed in `rest`.
int ty_bvh_closest_packs(const points* p, int n, uint16_t* rest);

#endif
