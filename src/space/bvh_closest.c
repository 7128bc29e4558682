// SPDX-License-Identifier: Apache-2.0
// Closest points. A block of queries is visited in order of place (bvh_order.h), in packs where they
// lie close together (bvh_pack.c), else each starting with the leaf of the one before: its distance
// there prunes nearly all of the tree. None of this can change an answer, as nothing is ruled out
// that could tie.
#include <assert.h>
#include <string.h>

#include "core/parallel.h"
#include "space/bvh_order.h"
#include "space/bvh_search.h"

enum {
    WALKS = 4,    // taken side by side
    POINT_BLOCK = TY_BVH_ORDER_MOST,
    ORDER_MIN = 32    // fewer points are not worth ordering
};

void ty_bvh_search_begin(const ty_bvh* b, ty_bvh_search* q, const double x[3])
{
    begin_query(b, q, ty_load3(x), INFINITY, RELATIVE_MARGIN);
}

void ty_bvh_search_leaves(const ty_bvh* b, ty_bvh_search* q, int first, int last)
{
    for (int leaf = first; leaf <= last; ++leaf) visit_leaf(b, leaf, q);
}

void ty_bvh_search_end(const ty_bvh* b, ty_bvh_search* q) { decide(b, q); }

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

static void answer(const points* p, walk* w) { store(p->job->out, answer_at(p, w->at++), &w->q); }

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

static inline void push_children(walk* w, const ty_bvh_node* n, unsigned near, const float* d)
{
    entry* out = w->stack + w->top;
    int count = 0;
    for (; near; near &= near - 1, ++count) {
        int lane = __builtin_ctz(near);
        push_entry(out, count, (entry){d[lane], n->child[lane]});
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
    float d[WALKS][TY_BVH_WIDTH];
    unsigned near[WALKS];
    leaf_distances m[WALKS];
    int leaf[WALKS], n_nodes = 0, n_leaves = 0, left = 0, place;
    for (int i = 0; i < n; ++i) {
        walk* w = going[i];
        if (!next_place(p, w, &place)) continue;
        going[left++] = w;
        if (place >= 0) at_node[n_nodes] = w, node[n_nodes++] = &b->node[place];
        else at_leaf[n_leaves] = w, leaf[n_leaves++] = ~place;
    }
    for (int i = 0; i < n_nodes; ++i) {
        const query* q = &at_node[i]->q;
        near[i] = lanes_within(node[i], q->p, q->bound, d[i]);
    }
    for (int i = 0; i < n_leaves; ++i) m[i] = measure_leaf(&b->leaf[leaf[i]], &at_leaf[i]->q);
    for (int i = 0; i < n_nodes; ++i) push_children(at_node[i], node[i], near[i], d[i]);
    for (int i = 0; i < n_leaves; ++i) take_leaf(b, leaf[i], &m[i], &at_leaf[i]->q);
    return left;
}

static void closest_block(void* ctx, ty_range r)
{
    const batch* job = ctx;
    uint16_t order[POINT_BLOCK], rest[POINT_BLOCK];
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
    // Who asks for a triangle that is nearly the closest gets better ones point by point: there each
    // starts from its neighbour's leaf.
    if (n >= ORDER_MIN && job->keen >= 1.0f) {
        n = ty_bvh_closest_packs(&p, n, rest);
        p.order = rest;
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
