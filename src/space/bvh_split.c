// SPDX-License-Identifier: Apache-2.0
// Where to cut a set of triangles in two: binned surface area heuristic [Wald2007] on the longest
// axis of the centroids for large sets, the median in multiples of a leaf for small ones (so that
// leaves are full). Passes over large sets run block by block; minima and counts do not depend on
// who did which block.
#include <limits.h>

#include "space/bvh_build.h"

enum {
    N_BINS = 16,
    SMALL = 128,    // at most: cut at the median
    LARGE = 4 * TY_BVH_BLOCK,
    MIN_PART = 8    // a side has at least 1 / MIN_PART
};

typedef struct bins {
    ty_f8 box[N_BINS];
    int n[N_BINS];
} bins;

typedef struct block_result {
    ty_f8 centroids;
    bins bins;
    int n_left, n_right;    // then: where they go
} block_result;

typedef struct pass {
    ty_bvh_ref *ref, *spare;
    block_result* result;
    int axis, cut;    // references in bins below `cut` go left
    float origin, factor;
} pass;

int64_t ty_bvh_split_scratch(int n_refs)
{
    return (int64_t)sizeof(block_result) * (n_refs / TY_BVH_BLOCK + 1);
}

static ty_f8 nothing(void) { return ty_f8_all(INFINITY); }

// Twice the centroid in lanes 0..2, its negative in 4..6.
static ty_f8 centroid(const ty_bvh_ref* r)
{
    static const ty_i8 numbers = {-1, -1, -1, 0, -1, -1, -1, 0};
    ty_f8 box = (ty_f8)((ty_i8)r->box & numbers);
    return box - __builtin_shufflevector(box, box, 4, 5, 6, 7, 0, 1, 2, 3);
}

static float centroid_on(const ty_bvh_ref* r, int axis) { return r->lo[axis] - r->minus_hi[axis]; }

static int bin_of(const pass* p, const ty_bvh_ref* r)
{
    int bin = (int)((centroid_on(r, p->axis) - p->origin) * p->factor);
    return bin < N_BINS ? bin : N_BINS - 1;
}

static void bound_block(void* ctx, ty_range r)
{
    pass* p = ctx;
    ty_f8 box = nothing();
    for (int64_t i = r.begin; i < r.end; ++i) box = ty_f8_min(box, centroid(&p->ref[i]));
    p->result[r.block].centroids = box;
}

static void bin_block(void* ctx, ty_range r)
{
    pass* p = ctx;
    bins b;
    for (int k = 0; k < N_BINS; ++k) {
        b.box[k] = nothing();
        b.n[k] = 0;
    }
    for (int64_t i = r.begin; i < r.end; ++i) {
        int k = bin_of(p, &p->ref[i]);
        b.box[k] = ty_f8_min(b.box[k], p->ref[i].box);
        ++b.n[k];
    }
    p->result[r.block].bins = b;
}

static void count_block(void* ctx, ty_range r)
{
    pass* p = ctx;
    int n_left = 0;
    for (int64_t i = r.begin; i < r.end; ++i) n_left += bin_of(p, &p->ref[i]) < p->cut;
    p->result[r.block].n_left = n_left;
    p->result[r.block].n_right = (int)(r.end - r.begin) - n_left;
}

static void scatter_block(void* ctx, ty_range r)
{
    pass* p = ctx;
    int left = p->result[r.block].n_left, right = p->result[r.block].n_right;
    for (int64_t i = r.begin; i < r.end; ++i)
        p->spare[bin_of(p, &p->ref[i]) < p->cut ? left++ : right++] = p->ref[i];
}

static void copy_block(void* ctx, ty_range r)
{
    pass* p = ctx;
    memcpy(p->ref + r.begin, p->spare + r.begin, (size_t)(r.end - r.begin) * sizeof *p->ref);
}

static void run(pass* p, int n, void (*body)(void*, ty_range))
{
    if (n > TY_BVH_BLOCK) ty_parallel_for(n, TY_BVH_BLOCK, body, p);
    else body(p, (ty_range){0, n, 0, 0});
}

static double half_area(ty_f8 box)
{
    double d[3];
    for (int axis = 0; axis < 3; ++axis)
        d[axis] = ty_max(-(double)box[axis] - (double)box[axis + 4], 0.0);
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

// A side's cost: its area times the leaves it fills.
static double cost(ty_f8 box, int n) { return half_area(box) * (double)((n + 7) / 8); }

// The best bin to cut before, among those that leave enough on both sides; 0 when there is none.
static int best_cut(const bins* b, int n)
{
    double right_cost[N_BINS];
    ty_f8 box = nothing();
    int count = 0, best = 0;
    for (int k = N_BINS - 1; k > 0; --k) {
        box = ty_f8_min(box, b->box[k]);
        count += b->n[k];
        right_cost[k] = count > 0 ? cost(box, count) : 0.0;
    }
    double least = INFINITY;
    box = nothing();
    count = 0;
    for (int k = 1; k < N_BINS; ++k) {
        box = ty_f8_min(box, b->box[k - 1]);
        count += b->n[k - 1];
        if (count < n / MIN_PART + 1 || n - count < n / MIN_PART + 1) continue;
        double total = cost(box, count) + right_cost[k];
        if (total < least) {
            least = total;
            best = k;
        }
    }
    return best;
}

static bool before(const ty_bvh_ref* a, const ty_bvh_ref* b, int axis)
{
    float ca = centroid_on(a, axis), cb = centroid_on(b, axis);
    return ca < cb || (ca == cb && a->id < b->id);
}

static void swap(ty_bvh_ref* a, ty_bvh_ref* b)
{
    ty_bvh_ref t = *a;
    *a = *b;
    *b = t;
}

// Quickselect: afterwards ref[0, k) come before ref[k, n). The order is total (ids), so the parts
// are unique.
static void select_lowest(ty_bvh_ref* ref, int n, int k, int axis)
{
    int lo = 0, hi = n - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (before(&ref[mid], &ref[lo], axis)) swap(&ref[mid], &ref[lo]);
        if (before(&ref[hi], &ref[lo], axis)) swap(&ref[hi], &ref[lo]);
        if (before(&ref[hi], &ref[mid], axis)) swap(&ref[hi], &ref[mid]);
        ty_bvh_ref pivot = ref[mid];
        int i = lo, j = hi;
        while (i <= j) {
            while (before(&ref[i], &pivot, axis)) ++i;
            while (before(&pivot, &ref[j], axis)) --j;
            if (i <= j) swap(&ref[i++], &ref[j--]);
        }
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else return;
    }
}

static int partition_in_place(const pass* p, int n)
{
    int i = 0, j = n - 1;
    for (;;) {
        while (i <= j && bin_of(p, &p->ref[i]) < p->cut) ++i;
        while (i <= j && bin_of(p, &p->ref[j]) >= p->cut) --j;
        if (i >= j) return i;
        swap(&p->ref[i], &p->ref[j]);
    }
}

static int partition_in_blocks(pass* p, int n)
{
    run(p, n, count_block);
    int n_blocks = (n + TY_BVH_BLOCK - 1) / TY_BVH_BLOCK, left = 0, right = 0;
    for (int b = 0; b < n_blocks; ++b) right += p->result[b].n_left;
    int middle = right;
    for (int b = 0; b < n_blocks; ++b) {
        int l = p->result[b].n_left, r = p->result[b].n_right;
        p->result[b].n_left = left;
        p->result[b].n_right = right;
        left += l;
        right += r;
    }
    run(p, n, scatter_block);
    run(p, n, copy_block);
    return middle;
}

static int widest(ty_f8 centroids)
{
    int axis = 0;
    float extent[3];
    for (int k = 0; k < 3; ++k) extent[k] = -centroids[k + 4] - centroids[k];
    for (int k = 1; k < 3; ++k)
        if (extent[k] > extent[axis]) axis = k;
    return axis;
}

int ty_bvh_split(ty_bvh* bvh, int begin, int end)
{
    int n = end - begin, n_blocks = (n + TY_BVH_BLOCK - 1) / TY_BVH_BLOCK;
    block_result local[LARGE / TY_BVH_BLOCK];
    pass p = {.ref = bvh->ref + begin,
              .spare = bvh->spare + begin,
              .result = n > LARGE ? bvh->block : local};
    run(&p, n, bound_block);
    ty_f8 centroids = nothing();
    for (int b = 0; b < n_blocks; ++b) centroids = ty_f8_min(centroids, p.result[b].centroids);
    p.axis = widest(centroids);
    p.origin = centroids[p.axis];
    float extent = -centroids[p.axis + 4] - p.origin;
    p.factor = (float)N_BINS / extent;
    if (n > SMALL && extent > 0.0f && isfinite(p.factor)) {
        run(&p, n, bin_block);
        bins all = p.result[0].bins;
        for (int b = 1; b < n_blocks; ++b)
            for (int k = 0; k < N_BINS; ++k) {
                all.box[k] = ty_f8_min(all.box[k], p.result[b].bins.box[k]);
                all.n[k] += p.result[b].bins.n[k];
            }
        p.cut = best_cut(&all, n);
        if (p.cut > 0)
            return begin + (n > LARGE ? partition_in_blocks(&p, n) : partition_in_place(&p, n));
    }
    int middle = (n / 2 + TY_BVH_WIDTH / 2) / TY_BVH_WIDTH * TY_BVH_WIDTH;
    if (middle < TY_BVH_WIDTH) middle = TY_BVH_WIDTH;
    select_lowest(p.ref, n, middle, p.axis);
    return begin + middle;
}
