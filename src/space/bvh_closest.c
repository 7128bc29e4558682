// SPDX-License-Identifier: Apache-2.0
// Closest points. A block of queries is visited in order of place (bvh_order.h), each starting with
// the leaf of the one before: its distance there prunes nearly all of the tree. Neither can change
// an answer, as nothing is ruled out that could tie.
#include <assert.h>
#include <string.h>

#include "core/parallel.h"
#include "space/bvh.h"
#include "space/bvh_order.h"
#include "space/simd.h"

enum {
    WALKS = 4,    // taken side by side
    POINT_BLOCK = TY_BVH_ORDER_MOST,
    ORDER_MIN = 32    // fewer points are not worth ordering
};

// Distances in floats are right to a few 1e-7 of themselves and LEAF_MARGIN (of a float query
// against a float triangle, both within [-1, 1]); boxes are grown by as much (bvh_fit.c).
static const float RELATIVE_MARGIN = 1.0f + 0x1p-18f;
static const float LEAF_RELATIVE = 0x1p-20f;
static const float LEAF_MARGIN = 0x1p-21f;
static const double FARTHEST = 1e15;    // queries beyond are pulled in to here: a lower bound still

typedef ty_bvh_search query;

static void set_reach(query* q, float reach)
{
    q->reach = reach;
    q->bound = reach * reach * q->keen;
}

static void try_triangle(const ty_bvh* b, query* q, int t)
{
    const int* v = b->tri[t];
    ty_closest c = ty_closest_on_triangle(q->x, ty_load3(b->vert[v[0]]), ty_load3(b->vert[v[1]]),
                                          ty_load3(b->vert[v[2]]));
    if (c.distance2 > q->best.distance2) return;
    if (c.distance2 == q->best.distance2 && q->triangle >= 0 && t > q->triangle) return;
    q->best = c;
    q->triangle = t;
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

// Candidates that are out of reach by now are dropped; the rest is asked in doubles.
static void decide(const ty_bvh* b, query* q)
{
    for (int k = 0; k < q->n_candidates; ++k)
        if (q->candidate[k].least <= q->reach) try_triangle(b, q, q->candidate[k].triangle);
    q->n_candidates = 0;
}

static inline float least_lane(ty_f8 a)
{
    a = ty_f8_min(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = ty_f8_min(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
    a = ty_f8_min(a, __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6));
    return a[0];
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
    return (leaf_distances){d - error, least_lane(d + error)};    // unused lanes are far away
}

static inline void take_leaf(const ty_bvh* b, const ty_bvh_leaf* l, const leaf_distances* m,
                             query* q)
{
    unsigned near = ty_i8_bits(m->least <= ty_f8_all(q->reach)) & ((1u << l->n) - 1u);
    if (!near) return;
    if (m->most < q->reach) set_reach(q, m->most);
    float at_least[TY_BVH_WIDTH];
    ty_f8_store(at_least, m->least);
    for (near &= ty_i8_bits(m->least <= ty_f8_all(q->reach)); near; near &= near - 1) {
        int lane = __builtin_ctz(near);
        q->candidate[q->n_candidates++] = (ty_bvh_candidate){at_least[lane], l->id[lane]};
    }
    if (q->n_candidates > TY_BVH_CANDIDATES) decide(b, q);
}

static inline void visit_leaf(const ty_bvh* b, int leaf, query* q)
{
    leaf_distances m = measure_leaf(&b->leaf[leaf], q);
    take_leaf(b, &b->leaf[leaf], &m, q);
}

typedef struct entry {
    float d2;
    int child;
} entry;

// Which children of a node are within the bound, and the least squared distances to all.
static inline unsigned lanes_within(const ty_bvh_node* n, const query* q, float d[TY_BVH_WIDTH])
{
    ty_f8 box = ty_f8_all(0.0f), zero = box, height = zero, v2 = zero;
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 p = ty_f8_all(q->p[axis]);
        ty_f8 out = ty_f8_max(ty_f8_max(ty_f8_load(n->lo[axis]) - p, p - ty_f8_load(n->hi[axis])),
                              zero);
        box = ty_f8_fma(out, out, box);
        ty_f8 v = p - ty_f8_load(n->middle[axis]);
        height = ty_f8_fma(v, ty_f8_load(n->normal[axis]), height);
        v2 = ty_f8_fma(v, v, v2);
    }
    // The part along the coin; rounding may only make it smaller.
    ty_f8 along = ty_f8_sqrt(ty_f8_max(v2 * (1.0f - 0x1p-20f) - height * height, zero));
    ty_f8 above = ty_f8_max(ty_f8_max(height, -height) - ty_f8_load(n->half_thickness), zero);
    ty_f8 beside = ty_f8_max(along - ty_f8_load(n->radius), zero);
    ty_f8 d2 = ty_f8_max(box, above * above + beside * beside);
    ty_f8_store(d, d2);
    return ty_i8_bits(d2 <= ty_f8_all(q->bound)) & ((1u << n->n_children) - 1u);
}

static void begin_query(const ty_bvh* b, query* q, ty_vec3 x, double limit2, float keen)
{
    q->keen = keen;
    q->x = x;
    q->triangle = -1;
    q->best.distance2 = limit2;
    q->n_candidates = 0;
    for (int axis = 0; axis < 3; ++axis)
        q->p[axis] = (float)ty_clamp((x[axis] - b->centre[axis]) * b->inverse_scale, -FARTHEST,
                                     FARTHEST);
    set_reach(q, (float)ty_clamp(sqrt(limit2) * b->inverse_scale, 0.0, 4.0 * FARTHEST) *
                     RELATIVE_MARGIN);
}

void ty_bvh_search_begin(const ty_bvh* b, ty_bvh_search* q, const double x[3])
{
    begin_query(b, q, ty_load3(x), INFINITY, RELATIVE_MARGIN);
}

void ty_bvh_search_leaves(const ty_bvh* b, ty_bvh_search* q, int first, int last)
{
    for (int leaf = first; leaf <= last; ++leaf) visit_leaf(b, leaf, q);
}

void ty_bvh_search_end(const ty_bvh* b, ty_bvh_search* q) { decide(b, q); }

typedef struct batch {
    const ty_bvh* bvh;
    const double (*x)[3];
    double limit2;
    float keen;
    const ty_closest_points* out;
    const int* order;    // in which points are cut into blocks; NULL: as they are listed
} batch;

static void store(const ty_closest_points* out, int64_t i, const query* q)
{
    bool found = q->triangle >= 0;
    if (out->distance2) out->distance2[i] = found ? q->best.distance2 : INFINITY;
    if (out->triangle) out->triangle[i] = q->triangle;
    if (found && out->point) ty_store3(out->point[i], q->best.point);
    if (found && out->feature) out->feature[i] = (unsigned char)q->best.feature;
}

static bool finite3(ty_vec3 x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

// A walk through the tree, for one point after the other of a stretch. Several are taken step by
// step side by side: a step is a long chain of dependent numbers and ends with branches that no
// processor foresees (points of a lattice near the surface: 12 % more a second).
typedef struct walk {
    query q;
    int at, end;    // of the block's points, in order
    int hint;       // the leaf of the point before: visited first, and not again; or -1
    int top;
    entry stack[TY_BVH_STACK];
} walk;

// The points of a block.
typedef struct points {
    const batch* job;
    const double (*x)[3];
    const uint16_t* order;    // NULL: as they are
    int64_t first;            // of the batch
} points;

static int point_at(const points* p, int k) { return p->order ? p->order[k] : k; }

static void answer(const points* p, walk* w)
{
    int64_t i = p->first + point_at(p, w->at++);
    store(p->job->out, p->job->order ? p->job->order[i] : i, &w->q);
}

// The walk's next point. False when none is left.
static bool begin_point(const points* p, walk* w)
{
    const ty_bvh* b = p->job->bvh;
    while (w->at < w->end) {
        ty_vec3 x = ty_load3(p->x[point_at(p, w->at)]);
        if (b->n_nodes > 0 && finite3(x)) {
            begin_query(b, &w->q, x, p->job->limit2, p->job->keen);
            w->stack[0] = (entry){0.0f, 0};
            w->top = 1;
            if (w->hint >= 0) visit_leaf(b, w->hint, &w->q);
            return true;
        }
        w->q.triangle = -1;
        answer(p, w);
    }
    return false;
}

// What the walk comes to next: a node, or ~leaf. False when it has come to its end.
static bool next_place(const points* p, walk* w, int* place)
{
    for (;;) {
        while (w->top > 0) {
            entry e = w->stack[--w->top];
            if (e.d2 > w->q.bound || (e.child < 0 && ~e.child == w->hint)) continue;
            *place = e.child;
            return true;
        }
        decide(p->job->bvh, &w->q);
        if (w->q.triangle >= 0) w->hint = p->job->bvh->leaf_of[w->q.triangle];
        answer(p, w);
        if (!begin_point(p, w)) return false;
    }
}

// The nearest child last, the others in any order.
static inline void push_children(walk* w, const ty_bvh_node* n, unsigned near, const float* d)
{
    entry* out = w->stack + w->top;
    int count = 0;
    for (; near; near &= near - 1, ++count) {
        int lane = __builtin_ctz(near), before = count ? count - 1 : 0;
        entry e = {d[lane], n->child[lane]}, last = out[before];
        bool nearest = count == 0 || e.d2 < last.d2;
        out[before] = nearest ? last : e;
        out[count] = nearest ? e : last;
    }
    w->top += count;
}

// A step of each walk that has one to go: first all numbers, then all branches. Returns how many are
// left.
static int step(const points* p, walk** going, int n)
{
    const ty_bvh* b = p->job->bvh;
    walk *at_node[WALKS], *at_leaf[WALKS];
    const ty_bvh_node* node[WALKS];
    const ty_bvh_leaf* leaf[WALKS];
    float d[WALKS][TY_BVH_WIDTH];
    unsigned near[WALKS];
    leaf_distances m[WALKS];
    int n_nodes = 0, n_leaves = 0, left = 0, place;
    for (int i = 0; i < n; ++i) {
        walk* w = going[i];
        if (!next_place(p, w, &place)) continue;
        going[left++] = w;
        if (place >= 0) at_node[n_nodes] = w, node[n_nodes++] = &b->node[place];
        else at_leaf[n_leaves] = w, leaf[n_leaves++] = &b->leaf[~place];
    }
    for (int i = 0; i < n_nodes; ++i) near[i] = lanes_within(node[i], &at_node[i]->q, d[i]);
    for (int i = 0; i < n_leaves; ++i) m[i] = measure_leaf(leaf[i], &at_leaf[i]->q);
    for (int i = 0; i < n_nodes; ++i) push_children(at_node[i], node[i], near[i], d[i]);
    for (int i = 0; i < n_leaves; ++i) take_leaf(b, leaf[i], &m[i], &at_leaf[i]->q);
    return left;
}

static void closest_block(void* ctx, ty_range r)
{
    const batch* job = ctx;
    uint16_t order[POINT_BLOCK];
    double gathered[POINT_BLOCK][3];
    points p = {job, job->order ? (const double(*)[3])gathered : job->x + r.begin, NULL, r.begin};
    int n = (int)(r.end - r.begin), left = 0;
    walk w[WALKS], *going[WALKS];
    assert(n <= POINT_BLOCK);
    for (int k = 0; job->order && k < n; ++k)
        memcpy(gathered[k], job->x[job->order[r.begin + k]], sizeof gathered[k]);
    if (n >= ORDER_MIN) {
        ty_bvh_order(n, p.x, order);
        p.order = order;
    }
    for (int i = 0; i < WALKS; ++i) {
        w[i].at = n * i / WALKS;
        w[i].end = n * (i + 1) / WALKS;
        w[i].hint = -1;
        if (begin_point(&p, &w[i])) going[left++] = &w[i];
    }
    while (left > 0) left = step(&p, going, left);
}

void ty_bvh_closest(const ty_bvh* b, int n, const double (*x)[3], double max_distance,
                    const ty_closest_points* out)
{
    int* order = n > POINT_BLOCK ? ty_bvh_order_scattered(n, x) : NULL;
    batch job = {b, x, max_distance * max_distance, RELATIVE_MARGIN, out, order};
    ty_parallel_for(n, POINT_BLOCK, closest_block, &job);
    ty_free(order);
}

void ty_bvh_nearly_closest(const ty_bvh* b, int n, const double (*x)[3], double tolerance,
                           const ty_closest_points* out)
{
    double keen = 1.0 / (1.0 + tolerance);
    batch job = {b, x, INFINITY, (float)(keen * keen), out, NULL};
    ty_parallel_for(n, POINT_BLOCK, closest_block, &job);
}
