// SPDX-License-Identifier: Apache-2.0
// Three passes:
//   1. in row order, a row none of whose strong neighbours is taken becomes a root and takes them all (and,
//      for wide aggregates, their free strong neighbours);
//   2. a row left over joins its strongest neighbour's aggregate of pass 1;
//   3. what is left forms aggregates of its own.
#include "linear/aggregate.h"

#include "core/parallel.h"
#include "linear/sparse_float.h"

enum {
    AGGREGATE_BLOCK = 8192,    // rows among which pass 1 chooses; the seams cost 1 in 20 aggregates
    FREE = -1,                 // no aggregate (yet)
    ALONE = -2                 // none for good: left to the smoother
};

// A row whose off-diagonal entries sum to less than this part of its diagonal converges by
// smoothing.
static const double DOMINATED = 0.25;

typedef struct grouping {
    const ty_csr* a;
    const double* diagonal;
    double theta2;
    bool wide;
    int *of, *first;                // result; result of pass 1 (numbers within a block)
    int *block_start, *has_rest;    // of each block
} grouping;

// Whether the row can do without a coarse level.
static bool is_alone(const grouping* g, int64_t i)
{
    const ty_csr* a = g->a;
    double sum = 0.0;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
        if (a->col[k] != i) sum += fabs(a->val[k]);
    return sum <= DOMINATED * g->diagonal[i];
}

// 1 when row i may be a root, 0 when a neighbour is taken, -1 when it has no strong neighbour in
// the block.
static int root_test(const grouping* g, int64_t i, ty_range r)
{
    const ty_csr* a = g->a;
    double limit = g->theta2 * g->diagonal[i];
    int result = -1;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
        int j = a->col[k];
        if (j == i || j < r.begin || j >= r.end || !ty_is_strong(a->val[k], limit, g->diagonal[j]))
            continue;
        if (g->first[j] >= 0) return 0;
        result = 1;
    }
    return result;
}

// Gives the free strong neighbours of row i in the block to aggregate n.
static void take_neighbours(const grouping* g, int64_t i, int n, ty_range r)
{
    const ty_csr* a = g->a;
    double limit = g->theta2 * g->diagonal[i];
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
        int j = a->col[k];
        if (j >= r.begin && j < r.end && g->first[j] == FREE &&
            ty_is_strong(a->val[k], limit, g->diagonal[j]))
            g->first[j] = n;
    }
}

static void take_second_neighbours(const grouping* g, int64_t i, int n, ty_range r)
{
    const ty_csr* a = g->a;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
        int j = a->col[k];
        if (j >= r.begin && j < r.end && j != i && g->first[j] == n) take_neighbours(g, j, n, r);
    }
}

static void choose_roots(void* ctx, ty_range r)
{
    grouping* g = ctx;
    int n = 0;
    for (int64_t i = r.begin; i < r.end; ++i) g->first[i] = FREE;
    for (int64_t i = r.begin; i < r.end; ++i) {
        if (g->first[i] != FREE) continue;
        int test = root_test(g, i, r);
        if (test < 0 && is_alone(g, i)) g->first[i] = ALONE;
        if (test <= 0) continue;
        g->first[i] = n;
        take_neighbours(g, i, n, r);
        if (g->wide) take_second_neighbours(g, i, n, r);
        ++n;
    }
    g->block_start[r.block + 1] = n;
}

// Pass 2, which also makes the numbers of pass 1 global.
static void join_strongest(void* ctx, ty_range r)
{
    grouping* g = ctx;
    const ty_csr* a = g->a;
    g->has_rest[r.block] = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        g->of[i] = g->first[i] >= 0 ? g->first[i] + g->block_start[r.block] : g->first[i];
        if (g->first[i] != FREE) continue;
        double strongest = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            int j = a->col[k];
            if (j == i || g->first[j] < 0) continue;
            double strength = a->val[k] * a->val[k] / g->diagonal[j];
            if (strength <= strongest) continue;
            strongest = strength;
            g->of[i] = g->first[j] + g->block_start[j / AGGREGATE_BLOCK];
        }
        if (g->of[i] == FREE) g->has_rest[r.block] = 1;
    }
}

// Pass 3, in the blocks that have such rows.
static int group_rest(grouping* g, int n_blocks, int n)
{
    const ty_csr* a = g->a;
    for (int b = 0; b < n_blocks; ++b) {
        int end = (b + 1) * AGGREGATE_BLOCK < a->n ? (b + 1) * AGGREGATE_BLOCK : a->n;
        for (int i = b * AGGREGATE_BLOCK; i < end && g->has_rest[b]; ++i) {
            if (g->of[i] != FREE) continue;
            for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
                if (g->of[a->col[k]] == FREE && a->col[k] > i && a->val[k] != 0.0)
                    g->of[a->col[k]] = n;
            g->of[i] = n++;
        }
    }
    return n;
}

ty_status ty_aggregate(ty_aggregates* agg, const ty_csr* a, const double* diagonal, double theta,
                       bool wide)
{
    int n_blocks = (a->n + AGGREGATE_BLOCK - 1) / AGGREGATE_BLOCK;
    if (!ty_array_fresh(&agg->of, a->n) || !ty_array_fresh(&agg->scratch, a->n) ||
        !ty_array_fresh(&agg->block_start, 2 * n_blocks + 1))
        return ty_no_memory("aggregates");
    grouping g = {
        a,          diagonal,        theta * theta,       wide,
        agg->of.at, agg->scratch.at, agg->block_start.at, agg->block_start.at + n_blocks + 1};
    g.block_start[0] = 0;
    ty_parallel_for(a->n, AGGREGATE_BLOCK, choose_roots, &g);
    for (int b = 0; b < n_blocks; ++b) g.block_start[b + 1] += g.block_start[b];
    ty_parallel_for(a->n, AGGREGATE_BLOCK, join_strongest, &g);
    agg->n = group_rest(&g, n_blocks, g.block_start[n_blocks]);
    return ty_ok();
}

void ty_aggregates_free(ty_aggregates* agg)
{
    ty_array_free(&agg->of);
    ty_array_free(&agg->scratch);
    ty_array_free(&agg->block_start);
    agg->n = 0;
}
