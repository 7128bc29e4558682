// SPDX-License-Identifier: Apache-2.0
// What meets a box, and which triangles of the mesh meet each other.
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "space/bvh.h"
#include "space/simd.h"

enum { TRI_BLOCK = 1024 };

// Boxes reaching beyond, in units of the mesh, are cut off there
static const double FARTHEST = 1e15;

typedef struct window {
    ty_box box;            // metres
    float lo[3], hi[3];    // units of the mesh; the nodes' boxes have the margin for rounding
} window;

static window make_window(const ty_bvh* b, const ty_box* box)
{
    window w = {.box = *box};
    for (int axis = 0; axis < 3; ++axis) {
        double lo = (box->lo[axis] - b->centre[axis]) * b->inverse_scale;
        double hi = (box->hi[axis] - b->centre[axis]) * b->inverse_scale;
        w.lo[axis] = (float)ty_clamp(lo, -FARTHEST, FARTHEST);
        w.hi[axis] = (float)ty_clamp(hi, -FARTHEST, FARTHEST);
    }
    return w;
}

static unsigned lanes_met(const ty_bvh_node* n, const window* w)
{
    ty_i8 met = ty_f8_all(0.0f) == ty_f8_all(0.0f);
    for (int axis = 0; axis < 3; ++axis)
        met &= (ty_f8_load(n->lo[axis]) <= ty_f8_all(w->hi[axis])) &
               (ty_f8_load(n->hi[axis]) >= ty_f8_all(w->lo[axis]));
    return ty_i8_bits(met) & ((1u << n->n_children) - 1u);
}

static bool triangle_meets(const ty_bvh* b, int t, const ty_box* box)
{
    for (int axis = 0; axis < 3; ++axis) {
        double x[3];
        for (int k = 0; k < 3; ++k) x[k] = b->vert[b->tri[t][k]][axis];
        if (fmin(x[0], fmin(x[1], x[2])) > box->hi[axis] ||
            fmax(x[0], fmax(x[1], x[2])) < box->lo[axis])
            return false;
    }
    return true;
}

static void visit_met(const ty_bvh* b, const window* w, void (*visit)(void* ctx, int triangle),
                      void* ctx)
{
    int stack[TY_BVH_STACK], top = 0;
    if (b->n_nodes > 0) stack[top++] = 0;
    while (top > 0) {
        const ty_bvh_node* n = &b->node[stack[--top]];
        for (unsigned met = lanes_met(n, w); met; met &= met - 1) {
            int child = n->child[__builtin_ctz(met)];
            if (child >= 0) {
                stack[top++] = child;
                continue;
            }
            const ty_bvh_leaf* l = &b->leaf[~child];
            for (int k = 0; k < l->n; ++k)
                if (triangle_meets(b, l->id[k], &w->box)) visit(ctx, l->id[k]);
        }
    }
}

typedef struct id_list {
    int64_t n, limit;
    int* id;
} id_list;

static void add_id(void* ctx, int triangle)
{
    id_list* list = ctx;
    if (list->n < list->limit) list->id[list->n] = triangle;
    ++list->n;
}

static int by_id(const void* a, const void* b)
{
    return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}

int64_t ty_bvh_overlaps(const ty_bvh* b, const ty_box* box, int64_t limit, int* triangle)
{
    id_list list = {0, limit, triangle};
    window w = make_window(b, box);
    visit_met(b, &w, add_id, &list);
    int64_t kept = list.n < limit ? list.n : limit;
    if (kept > 1) qsort(triangle, (size_t)kept, sizeof *triangle, by_id);
    return list.n;
}

// One triangle's search for partners of higher id; `pair` NULL: counting only.
typedef struct partners {
    const ty_bvh* bvh;
    int first;
    int64_t n, limit;
    ty_bvh_pair* pair;
} partners;

static bool share_a_vertex(const ty_bvh* b, int s, int t)
{
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            int u = b->tri[s][i], v = b->tri[t][k];
            if (u == v || memcmp(b->vert[u], b->vert[v], sizeof *b->vert) == 0) return true;
        }
    return false;
}

// Into its place among those of lowest `second`.
static void keep_lowest(partners* p, const ty_bvh_pair* pair)
{
    int64_t k = p->n < p->limit ? p->n : p->limit - 1;
    if (k < 0 || (p->n >= p->limit && p->pair[k].second < pair->second)) return;
    for (; k > 0 && p->pair[k - 1].second > pair->second; --k) p->pair[k] = p->pair[k - 1];
    p->pair[k] = *pair;
}

static void try_partner(void* ctx, int other)
{
    partners* p = ctx;
    const ty_bvh* b = p->bvh;
    if (other <= p->first || share_a_vertex(b, p->first, other)) return;
    const double *s[3], *t[3];
    for (int k = 0; k < 3; ++k) {
        s[k] = b->vert[b->tri[p->first][k]];
        t[k] = b->vert[b->tri[other][k]];
    }
    ty_bvh_pair pair = {.first = p->first, .second = other};
    if (!ty_triangles_intersect(s, t, pair.place)) return;
    if (p->pair) keep_lowest(p, &pair);
    ++p->n;
}

static int64_t partners_of(const ty_bvh* b, int t, int64_t limit, ty_bvh_pair* pair)
{
    if (b->leaf_of[t] < 0) return 0;
    partners p = {.bvh = b, .first = t, .limit = limit, .pair = pair};
    ty_box box = ty_box_empty();
    for (int k = 0; k < 3; ++k) ty_box_add(&box, b->vert[b->tri[t][k]]);
    window w = make_window(b, &box);
    visit_met(b, &w, try_partner, &p);
    return p.n;
}

typedef struct crossing_search {
    const ty_bvh* bvh;
    int64_t* count;    // per block, then where its pairs go
    int64_t limit;
    ty_bvh_pair* pair;
} crossing_search;

static void count_block(void* ctx, ty_range r)
{
    crossing_search* s = ctx;
    int64_t n = 0;
    for (int64_t t = r.begin; t < r.end; ++t) n += partners_of(s->bvh, (int)t, 0, NULL);
    s->count[r.block] = n;
}

static void write_block(void* ctx, ty_range r)
{
    crossing_search* s = ctx;
    int64_t at = s->count[r.block], end = s->count[r.block + 1];
    for (int64_t t = r.begin; t < r.end && at < end && at < s->limit; ++t)
        at += partners_of(s->bvh, (int)t, s->limit - at, s->pair + at);
}

ty_status ty_bvh_self_intersections(const ty_bvh* b, int64_t limit, ty_bvh_pair* pair,
                                    int64_t* n_pairs)
{
    int64_t n_blocks = (b->n_tris + TRI_BLOCK - 1) / TRI_BLOCK, total = 0;
    *n_pairs = 0;
    if (b->n_nodes == 0) return ty_ok();
    crossing_search s = {b, ty_alloc((size_t)n_blocks + 1, sizeof *s.count), limit, pair};
    if (!s.count) return ty_no_memory("self-intersections");
    ty_parallel_for(b->n_tris, TRI_BLOCK, count_block, &s);
    for (int64_t i = 0; i < n_blocks; ++i) {
        int64_t here = s.count[i];
        s.count[i] = total;
        total += here;
    }
    s.count[n_blocks] = total;
    if (limit > 0) ty_parallel_for(b->n_tris, TRI_BLOCK, write_block, &s);
    ty_free(s.count);
    *n_pairs = total;
    return ty_ok();
}
