// SPDX-License-Identifier: Apache-2.0
// Two passes over at most MAX_BLOCKS blocks: their totals, and with the sum of the totals before,
// the result.
#include "linear/scan.h"

#include "core/parallel.h"

enum { MAX_BLOCKS = 256, LEAST_BLOCK = 4096 };

typedef struct scan {
    int* start;
    const unsigned char* flag;
    const int* order;
    int* out;
    int total[MAX_BLOCKS + 1];
} scan;

static int64_t block_size(int n)
{
    int64_t block = ((int64_t)n + MAX_BLOCKS - 1) / MAX_BLOCKS;
    return block < LEAST_BLOCK ? LEAST_BLOCK : block;
}

// Totals of blocks become the sums before them.
static int add_totals(scan* s, int n, int64_t block)
{
    int sum = 0;
    for (int64_t b = 0; b * block < n; ++b) {
        int total = s->total[b];
        s->total[b] = sum;
        sum += total;
    }
    return sum;
}

static void sum_block(void* ctx, ty_range r)
{
    scan* s = ctx;
    int sum = 0;
    for (int64_t i = r.begin; i < r.end; ++i) sum += s->start[i + 1];
    s->total[r.block] = sum;
}

static void place_block(void* ctx, ty_range r)
{
    scan* s = ctx;
    int sum = s->total[r.block];
    for (int64_t i = r.begin; i < r.end; ++i) s->start[i + 1] = sum += s->start[i + 1];
}

int ty_scan_rows(int n, int* start)
{
    scan s = {.start = start};
    int64_t block = block_size(n);
    start[0] = 0;
    ty_parallel_for(n, block, sum_block, &s);
    int sum = add_totals(&s, n, block);
    ty_parallel_for(n, block, place_block, &s);
    return sum;
}

static void count_block(void* ctx, ty_range r)
{
    scan* s = ctx;
    int sum = 0;
    for (int64_t k = r.begin; k < r.end; ++k) sum += s->flag[s->order ? s->order[k] : k] != 0;
    s->total[r.block] = sum;
}

static void write_block(void* ctx, ty_range r)
{
    scan* s = ctx;
    int at = s->total[r.block];
    for (int64_t k = r.begin; k < r.end; ++k)
        if (s->flag[s->order ? s->order[k] : k]) s->out[at++] = (int)k;
}

int ty_select(int n, const unsigned char* flag, const int* order, int* out)
{
    scan s = {.flag = flag, .order = order, .out = out};
    int64_t block = block_size(n);
    ty_parallel_for(n, block, count_block, &s);
    int sum = add_totals(&s, n, block);
    ty_parallel_for(n, block, write_block, &s);
    return sum;
}
