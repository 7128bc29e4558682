// SPDX-License-Identifier: Apache-2.0
#include "space/hash_grid.h"

#include <assert.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "space/simd.h"

enum { POINT_BLOCK = 8192, LANES = 4 };

static const double MOST_CELLS = 4e18;    // cells farther out, in either direction, count as one
static const unsigned LEFT_OUT = 0xffffffffu;

static int64_t cell_on(const ty_hash_grid* g, double x)
{
    return (int64_t)ty_clamp(floor(x / g->cell), -MOST_CELLS, MOST_CELLS);
}

static unsigned bucket_of(const ty_hash_grid* g, const int64_t cell[3])
{
    uint64_t h = ty_mix2(ty_mix2((uint64_t)cell[0], (uint64_t)cell[1]), (uint64_t)cell[2]);
    return (unsigned)h & (g->n_buckets - 1);
}

static void find_buckets(void* ctx, ty_range r)
{
    ty_hash_grid* g = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        const double* x = g->x[i];
        bool finite = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
        int64_t cell[3] = {0};
        for (int axis = 0; finite && axis < 3; ++axis) cell[axis] = cell_on(g, x[axis]);
        g->bucket[i] = finite ? bucket_of(g, cell) : LEFT_OUT;
    }
}

static void fill_entries(void* ctx, ty_range r)
{
    ty_hash_grid* g = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_hash_entry* e = &g->entry[i];
        for (int axis = 0; axis < 3; ++axis) {
            g->place[axis][i] = g->x[e->id][axis];
            e->cell[axis] = cell_on(g, g->x[e->id][axis]);
        }
    }
}

static bool is_of(const ty_hash_entry* e, const int64_t cell[3])
{
    return e->cell[0] == cell[0] && e->cell[1] == cell[1] && e->cell[2] == cell[2];
}

static void find_shared(void* ctx, ty_range r)
{
    ty_hash_grid* g = ctx;
    for (int64_t b = r.begin; b < r.end; ++b) {
        bool shared = false;
        for (int k = g->start[b] + 1; k < g->start[b + 1] && !shared; ++k)
            shared = !is_of(&g->entry[k], g->entry[k - 1].cell);
        g->shared[b] = shared;
    }
}

static void free_points(ty_hash_grid* g)
{
    ty_free(g->entry);
    ty_free(g->bucket);
    g->entry = NULL;
    g->bucket = NULL;
    for (int axis = 0; axis < 3; ++axis) {
        ty_free(g->place[axis]);
        g->place[axis] = NULL;
    }
}

static void free_buckets(ty_hash_grid* g)
{
    ty_free(g->start);
    ty_free(g->shared);
    g->start = NULL;
    g->shared = NULL;
}

static bool reserve(ty_hash_grid* g, int n)
{
    unsigned n_buckets = 64;
    while (n_buckets < (unsigned)n && n_buckets < 1u << 30) n_buckets *= 2;
    if (n > g->capacity || !g->entry) {
        int capacity = n + n / 4 + 1;
        g->capacity = 0;
        free_points(g);
        g->entry = ty_alloc((size_t)capacity, sizeof *g->entry);
        g->bucket = ty_alloc((size_t)capacity, sizeof *g->bucket);
        bool good = g->entry && g->bucket;
        for (int axis = 0; axis < 3; ++axis) {
            g->place[axis] = ty_alloc((size_t)capacity + LANES, sizeof *g->place[axis]);
            good = good && g->place[axis];
        }
        if (!good) return false;
        g->capacity = capacity;
    }
    if (n_buckets > g->bucket_capacity) {
        g->bucket_capacity = 0;
        free_buckets(g);
        g->start = ty_alloc((size_t)n_buckets + 1, sizeof *g->start);
        g->shared = ty_alloc((size_t)n_buckets, sizeof *g->shared);
        if (!g->start || !g->shared) return false;
        g->bucket_capacity = n_buckets;
    }
    g->n_buckets = n_buckets;    // of n alone, so that a larger past leaves no trace
    return true;
}

ty_status ty_hash_grid_build(ty_hash_grid* g, int n, const double (*x)[3], double radius)
{
    assert(radius > 0.0);
    g->n = 0;
    if (!reserve(g, n)) return ty_no_memory("grid of points");
    g->n = n;
    g->x = x;
    g->cell = radius;
    ty_parallel_for(n, POINT_BLOCK, find_buckets, g);
    memset(g->start, 0, ((size_t)g->n_buckets + 1) * sizeof *g->start);
    for (int i = 0; i < n; ++i)
        if (g->bucket[i] != LEFT_OUT) ++g->start[g->bucket[i] + 1];
    for (unsigned b = 0; b < g->n_buckets; ++b) g->start[b + 1] += g->start[b];
    for (int i = n - 1; i >= 0; --i)
        if (g->bucket[i] != LEFT_OUT) g->entry[--g->start[g->bucket[i] + 1]].id = i;
    // Each start moved to its bucket's first place, one entry too far right: shift them back.
    for (unsigned b = 0; b < g->n_buckets; ++b) g->start[b] = g->start[b + 1];
    int kept = 0;
    for (int i = 0; i < n; ++i) kept += g->bucket[i] != LEFT_OUT;
    g->start[g->n_buckets] = kept;
    ty_parallel_for(kept, POINT_BLOCK, fill_entries, g);
    ty_parallel_for(g->n_buckets, POINT_BLOCK, find_shared, g);
    return ty_ok();
}

void ty_hash_grid_free(ty_hash_grid* g)
{
    free_points(g);
    free_buckets(g);
    *g = (ty_hash_grid){0};
}

// Squared distances to four points.
static ty_vec3 distances2(const ty_hash_grid* g, int first, ty_vec3 p)
{
    ty_vec3 d[3];
    for (int axis = 0; axis < 3; ++axis) d[axis] = ty_load4(g->place[axis] + first) - p[axis];
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

// The points of a cell, and whether others are among them, which are met in their own cell only.
static void add_range(const ty_hash_grid* g, const int64_t cell[3], ty_hash_cursor* c)
{
    unsigned bucket = bucket_of(g, cell);
    int begin = g->start[bucket], end = g->start[bucket + 1];
    bool shared = g->shared[bucket];
    if (begin == end || (!shared && !is_of(&g->entry[begin], cell))) return;
    memcpy(c->range[c->n].cell, cell, sizeof c->range[0].cell);
    c->range[c->n].begin = begin;
    c->range[c->n].end = end;
    c->range[c->n++].shared = shared;
}

static void find_ranges(const ty_hash_grid* g, const int64_t lo[3], const int64_t hi[3],
                        ty_hash_cursor* c)
{
    int64_t cell[3];
    if (c->n >= 0 && memcmp(c->lo, lo, sizeof c->lo) == 0 && memcmp(c->hi, hi, sizeof c->hi) == 0)
        return;
    memcpy(c->lo, lo, sizeof c->lo);
    memcpy(c->hi, hi, sizeof c->hi);
    c->n = 0;
    for (cell[2] = lo[2]; cell[2] <= hi[2]; ++cell[2])
        for (cell[1] = lo[1]; cell[1] <= hi[1]; ++cell[1])
            for (cell[0] = lo[0]; cell[0] <= hi[0]; ++cell[0]) add_range(g, cell, c);
}

static void visit_range(const ty_hash_grid* g, const ty_hash_cursor* c, int range, ty_vec3 p,
                        double radius2, void (*visit)(void*, int, double), void* ctx)
{
    int begin = c->range[range].begin, end = c->range[range].end;
    for (int first = begin; first < end; first += LANES) {
        ty_vec3 d2 = distances2(g, first, p);
        unsigned near = ty_i4_bits((ty_i4)(d2 <= radius2));
        if (end - first < LANES) near &= (1u << (end - first)) - 1u;
        for (; near; near &= near - 1) {
            int k = __builtin_ctz(near);
            const ty_hash_entry* e = &g->entry[first + k];
            if (!c->range[range].shared || is_of(e, c->range[range].cell)) visit(ctx, e->id, d2[k]);
        }
    }
}

void ty_hash_grid_near_last(const ty_hash_grid* g, ty_hash_cursor* c, const double p[3],
                            double radius, void (*visit)(void* ctx, int id, double distance2),
                            void* ctx)
{
    if (g->n == 0 || !isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) return;
    assert(radius <= g->cell);
    int64_t lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = cell_on(g, p[axis] - radius);
        hi[axis] = cell_on(g, p[axis] + radius);
    }
    find_ranges(g, lo, hi, c);
    for (int k = 0; k < c->n; ++k) visit_range(g, c, k, ty_load3(p), radius * radius, visit, ctx);
}

void ty_hash_grid_near(const ty_hash_grid* g, const double p[3], double radius,
                       void (*visit)(void* ctx, int id, double distance2), void* ctx)
{
    ty_hash_cursor c = ty_hash_cursor_start();
    ty_hash_grid_near_last(g, &c, p, radius, visit, ctx);
}

typedef struct nearest {
    int id;
    double d2;
} nearest;

static void keep_nearest(void* ctx, int id, double d2)
{
    nearest* best = ctx;
    if (best->id >= 0 && (d2 > best->d2 || (d2 == best->d2 && id > best->id))) return;
    *best = (nearest){id, d2};
}

int ty_hash_grid_closest(const ty_hash_grid* g, const double p[3], double radius, double* distance2)
{
    nearest best = {-1, INFINITY};
    ty_hash_grid_near(g, p, radius, keep_nearest, &best);
    if (distance2) *distance2 = best.d2;
    return best.id;
}
