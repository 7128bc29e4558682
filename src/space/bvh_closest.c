// SPDX-License-Identifier: Apache-2.0
// Closest points. A block of queries is visited in order of place (Morton code within the block's box), each
// starting with the leaf of the one before: its distance there prunes nearly all of the tree. Neither can
// change an answer, as nothing is ruled out that could tie.
#include <assert.h>

#include "core/parallel.h"
#include "space/bvh.h"
#include "space/simd.h"

enum {
    POINT_BLOCK = 4096,
    ORDER_BITS = 4,                       // per axis
    N_CELLS = 1 << (3 * ORDER_BITS),
    ORDER_MIN = 32                        // fewer points are not worth ordering
};

// Squared distances in floats are right to a few 1e-7; boxes are grown by BOX_MARGIN besides (bvh_fit.c).
static const double RELATIVE_MARGIN = 1.0 + 0x1p-18;
static const float LEAF_MARGIN = 0x1p-21f;      // of a float query against a float triangle, both within [-1, 1]
static const double FARTHEST = 1e15;            // queries beyond are pulled in to here: a lower bound still

typedef struct query {
    ty_vec3 x;
    float p[3];           // x in units of the mesh
    float bound, reach;   // nothing beyond this squared distance (boxes), distance (triangles) counts
    int triangle;
    ty_closest best;
} query;

static void set_bound(const ty_bvh* b, query* q)
{
    q->bound = (float)(q->best.distance2 * b->inverse_scale * b->inverse_scale * RELATIVE_MARGIN);
    q->reach = sqrtf(q->bound) + LEAF_MARGIN;
}

static void try_triangle(const ty_bvh* b, query* q, int t)
{
    const int* v = b->tri[t];
    ty_closest c = ty_closest_on_triangle(q->x, ty_load3(b->vert[v[0]]), ty_load3(b->vert[v[1]]),
                                          ty_load3(b->vert[v[2]]));
    if (c.distance2 > q->best.distance2) return;
    if (c.distance2 == q->best.distance2 && q->triangle >= 0 && t > q->triangle) return;
    bool closer = c.distance2 < q->best.distance2;
    q->best = c;
    q->triangle = t;
    if (closer) set_bound(b, q);
}

static inline ty_f8 dot8(const ty_f8 u[3], const ty_f8 v[3]) { return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]; }

// Squared distance of u to the segment from 0 to e, given u.e and 1 / e.e.
static inline ty_f8 segment8(const ty_f8 u[3], const ty_f8 e[3], ty_f8 ue, ty_f8 inverse_ee)
{
    ty_f8 t = ty_f8_min(ty_f8_max(ue * inverse_ee, ty_f8_all(0.0f)), ty_f8_all(1.0f)), sum = ty_f8_all(0.0f);
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 d = u[axis] - t * e[axis];
        sum += d * d;
    }
    return sum;
}

// Squared distances of the query to the leaf's triangles, in floats: the plane's where the foot of the
// perpendicular is inside, else the nearest edge's.
static inline ty_f8 leaf_distances(const ty_bvh_leaf* l, const float p[3])
{
    const ty_f8 tiny = ty_f8_all(1e-36f), one = ty_f8_all(1.0f);
    ty_f8 ab[3], ac[3], bc[3], ap[3], bp[3], n[3];
    for (int axis = 0; axis < 3; ++axis) {
        ab[axis] = ty_f8_load(l->ab[axis]);
        ac[axis] = ty_f8_load(l->ac[axis]);
        ap[axis] = ty_f8_all(p[axis]) - ty_f8_load(l->a[axis]);
        bc[axis] = ac[axis] - ab[axis];
        bp[axis] = ap[axis] - ab[axis];
    }
    ty_f8 d00 = dot8(ab, ab), d01 = dot8(ab, ac), d11 = dot8(ac, ac), d1 = dot8(ab, ap), d2 = dot8(ac, ap);
    ty_f8 edges = segment8(ap, ab, d1, one / ty_f8_max(d00, tiny));
    edges = ty_f8_min(edges, segment8(ap, ac, d2, one / ty_f8_max(d11, tiny)));
    edges = ty_f8_min(edges, segment8(bp, bc, dot8(bp, bc), one / ty_f8_max(dot8(bc, bc), tiny)));
    for (int axis = 0; axis < 3; ++axis) {
        int y = axis == 2 ? 0 : axis + 1, z = axis == 0 ? 2 : axis - 1;
        n[axis] = ab[y] * ac[z] - ab[z] * ac[y];
    }
    ty_f8 v = d11 * d1 - d01 * d2, w = d00 * d2 - d01 * d1, det = d00 * d11 - d01 * d01;
    ty_f8 h = dot8(n, ap);
    ty_f8 plane = h * h / ty_f8_max(dot8(n, n), tiny), zero = ty_f8_all(0.0f);
    return ty_f8_pick((v > zero) & (w > zero) & (v + w < det), plane, edges);
}

// Nearest lane first, so that its exact distance rules out the others.
static void visit_leaf(const ty_bvh* b, int leaf, query* q)
{
    const ty_bvh_leaf* l = &b->leaf[leaf];
    ty_f8 d2 = leaf_distances(l, q->p), slack = ty_f8_load(l->slack);
    unsigned used = (1u << l->n) - 1u;
    for (;;) {
        ty_f8 reach = ty_f8_all(q->reach) + slack;
        unsigned left = ty_i8_bits(d2 <= reach * reach) & used;
        if (!left) return;
        int lane = __builtin_ctz(left);
        if (left & (left - 1)) {
            float d[8];
            ty_f8_store(d, d2);
            for (unsigned m = left & (left - 1); m; m &= m - 1)
                if (d[__builtin_ctz(m)] < d[lane]) lane = __builtin_ctz(m);
        }
        used &= ~(1u << lane);
        try_triangle(b, q, l->id[lane]);
    }
}

typedef struct entry {
    float d2;
    int child;
} entry;

// Children of a node within the bound, farthest first; returns how many.
static inline int children_within(const ty_bvh_node* n, const query* q, entry* out)
{
    ty_f8 d2 = ty_f8_all(0.0f), zero = d2;
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 p = ty_f8_all(q->p[axis]);
        ty_f8 d = ty_f8_max(ty_f8_max(ty_f8_load(n->lo[axis]) - p, p - ty_f8_load(n->hi[axis])), zero);
        d2 += d * d;
    }
    unsigned near = ty_i8_bits(d2 <= ty_f8_all(q->bound)) & ((1u << n->n_children) - 1u);
    float d[8];
    ty_f8_store(d, d2);
    int count = 0;
    for (; near; near &= near - 1) {
        int lane = __builtin_ctz(near), k = count++;
        entry e = {d[lane], n->child[lane]};
        for (; k > 0 && out[k - 1].d2 < e.d2; --k) out[k] = out[k - 1];
        out[k] = e;
    }
    return count;
}

static void search(const ty_bvh* b, query* q, int known_leaf)
{
    entry stack[TY_BVH_STACK];
    int top = 0;
    stack[top++] = (entry){0.0f, 0};
    while (top > 0) {
        entry e = stack[--top];
        if (e.d2 > q->bound) continue;
        if (e.child >= 0)
            top += children_within(&b->node[e.child], q, &stack[top]);
        else if (~e.child != known_leaf)
            visit_leaf(b, ~e.child, q);
    }
}

static void closest_to(const ty_bvh* b, query* q, double limit2, int hint)
{
    q->triangle = -1;
    q->best.distance2 = limit2;
    for (int axis = 0; axis < 3; ++axis) {
        double u = (q->x[axis] - b->centre[axis]) * b->inverse_scale;
        if (!isfinite(u)) return;
        q->p[axis] = (float)ty_clamp(u, -FARTHEST, FARTHEST);
    }
    set_bound(b, q);
    if (hint >= 0) visit_leaf(b, hint, q);
    search(b, q, hint);
}

// Points of a block by Morton cell of the block's own box; stable.
static void order_block(int n, const double (*x)[3], uint16_t order[POINT_BLOCK])
{
    uint16_t cell[POINT_BLOCK], start[N_CELLS + 1] = {0};
    ty_vec3 lo = ty_load3(x[0]), hi = lo;
    for (int i = 1; i < n; ++i) {
        lo = ty_min3(lo, ty_load3(x[i]));
        hi = ty_max3(hi, ty_load3(x[i]));
    }
    double extent = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
    double factor = extent > 0.0 && isfinite(extent) ? 0.999 * (1 << ORDER_BITS) / extent : 0.0;
    for (int i = 0; i < n; ++i) {
        unsigned code = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double u = (x[i][axis] - lo[axis]) * factor;
            unsigned k = u > 0.0 ? (unsigned)u : 0u;
            code |= ((k & 1) | (k & 2) << 2 | (k & 4) << 4 | (k & 8) << 6) << axis;
        }
        cell[i] = (uint16_t)(code & (N_CELLS - 1));
        ++start[cell[i] + 1];
    }
    for (int c = 0; c < N_CELLS; ++c) start[c + 1] = (uint16_t)(start[c + 1] + start[c]);
    for (int i = 0; i < n; ++i) order[start[cell[i]]++] = (uint16_t)i;
}

typedef struct batch {
    const ty_bvh* bvh;
    const double (*x)[3];
    double limit2;
    const ty_closest_points* out;
} batch;

static void store(const ty_closest_points* out, int64_t i, const query* q)
{
    bool found = q->triangle >= 0;
    if (out->distance2) out->distance2[i] = found ? q->best.distance2 : INFINITY;
    if (out->triangle) out->triangle[i] = q->triangle;
    if (found && out->point) ty_store3(out->point[i], q->best.point);
    if (found && out->feature) out->feature[i] = (unsigned char)q->best.feature;
}

static void closest_block(void* ctx, ty_range r)
{
    const batch* job = ctx;
    const ty_bvh* b = job->bvh;
    uint16_t order[POINT_BLOCK];
    int n = (int)(r.end - r.begin), hint = -1;
    assert(n <= POINT_BLOCK);
    if (n >= ORDER_MIN) order_block(n, job->x + r.begin, order);
    for (int k = 0; k < n; ++k) {
        int64_t i = r.begin + (n >= ORDER_MIN ? order[k] : k);
        query q = {.x = ty_load3(job->x[i])};
        q.triangle = -1;
        if (b->n_nodes > 0) closest_to(b, &q, job->limit2, hint);
        store(job->out, i, &q);
        if (q.triangle >= 0) hint = b->leaf_of[q.triangle];
    }
}

void ty_bvh_closest(const ty_bvh* b, int n, const double (*x)[3], double max_distance,
                    const ty_closest_points* out)
{
    batch job = {b, x, max_distance * max_distance, out};
    ty_parallel_for(n, POINT_BLOCK, closest_block, &job);
}
