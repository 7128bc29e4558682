// SPDX-License-Identifier: Apache-2.0
// Rows: parts of the matrix are coloured in parallel without regard to each other; then the rows that have the
// colour of a neighbour in an earlier part choose again, in order.
#include "linear/colour.h"

#include <string.h>

#include "core/parallel.h"
#include "linear/sparse_float.h"

enum { PART = 16384 };

typedef struct painter {
    const ty_csr* a;
    int* colour;
    unsigned char* clash;
} painter;

static bool is_taken(const painter* p, int64_t i, int64_t begin, int64_t end, int colour)
{
    for (int k = p->a->row_start[i]; k < p->a->row_start[i + 1]; ++k) {
        int j = p->a->col[k];
        if (j != i && j >= begin && j < end && p->colour[j] == colour) return true;
    }
    return false;
}

// The smallest colour that no neighbour in begin..end has; uncoloured rows have -1. *crosses: the row has
// neighbours before `begin`.
static int first_fit(const painter* p, int64_t i, int64_t begin, int64_t end, unsigned char* crosses)
{
    uint64_t taken = 0;
    *crosses = 0;
    for (int k = p->a->row_start[i]; k < p->a->row_start[i + 1]; ++k) {
        int j = p->a->col[k];
        if (j < begin)
            *crosses = 1;
        else if (j != i && j < end && (unsigned)p->colour[j] < 64)
            taken |= (uint64_t)1 << p->colour[j];
    }
    if (~taken) return __builtin_ctzll(~taken);
    int colour = 64;
    while (is_taken(p, i, begin, end, colour)) ++colour;
    return colour;
}

static void colour_block(void* ctx, ty_range r)
{
    painter* p = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) p->colour[i] = -1;
    for (int64_t i = r.begin; i < r.end; ++i) p->colour[i] = first_fit(p, i, r.begin, r.end, &p->clash[i]);
}

static void find_clashes(void* ctx, ty_range r)
{
    painter* p = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (p->clash[i]) p->clash[i] = is_taken(p, i, 0, r.begin, p->colour[i]);
}

static void resolve_clashes(painter* p)
{
    unsigned char unused;
    for (int i = PART; i < p->a->n; ++i)
        if (p->clash[i]) p->colour[i] = first_fit(p, i, 0, p->a->n, &unused);
}

static ty_status sort_by_colour(ty_colouring* c, int n)
{
    int n_colours = 0;
    for (int i = 0; i < n; ++i)
        if (c->rank.at[i] >= n_colours) n_colours = c->rank.at[i] + 1;
    c->n_colours = n_colours;
    if (!ty_array_fresh(&c->start, n_colours + 2)) return ty_no_memory("colours");
    int* start = c->start.at;
    memset(start, 0, ((size_t)n_colours + 2) * sizeof *start);
    for (int i = 0; i < n; ++i) ++start[c->rank.at[i] + 2];
    for (int k = 0; k < n_colours; ++k) start[k + 2] += start[k + 1];
    for (int i = 0; i < n; ++i) c->order.at[start[c->rank.at[i] + 1]++] = i;
    return ty_ok();
}

ty_status ty_colour_rows(ty_colouring* c, const ty_csr* a)
{
    if (!ty_array_fresh(&c->order, a->n) || !ty_array_fresh(&c->rank, a->n) || !ty_array_fresh(&c->clash, a->n))
        return ty_no_memory("colours");
    painter p = {a, c->rank.at, c->clash.at};
    ty_parallel_for(a->n, PART, colour_block, &p);
    ty_parallel_for(a->n, PART, find_clashes, &p);
    resolve_clashes(&p);
    return sort_by_colour(c, a->n);
}

// The colour of block b, whose neighbours before it have theirs: taken[c] == b marks the colours they have.
static int block_colour(const ty_csr* a, int b, const int* colour, int* taken)
{
    int begin = b * TY_COLOUR_BLOCK, end = begin + TY_COLOUR_BLOCK < a->n ? begin + TY_COLOUR_BLOCK : a->n;
    for (int k = a->row_start[begin]; k < a->row_start[end]; ++k)
        if (a->col[k] < begin) taken[colour[a->col[k] / TY_COLOUR_BLOCK]] = b;
    int c = 0;
    while (taken[c] == b) ++c;
    return c;
}

static void order_blocks(ty_colouring* c, int n, int n_blocks, const int* colour)
{
    int at = 0;
    for (int k = 0; k < c->n_colours; ++k) {
        c->start.at[k] = at;
        for (int b = 0; b < n_blocks; ++b) {
            if (colour[b] != k) continue;
            for (int i = b * TY_COLOUR_BLOCK; i < (b + 1) * TY_COLOUR_BLOCK && i < n; ++i) {
                c->order.at[at] = i;
                c->rank.at[i] = at++;
            }
        }
    }
    c->start.at[c->n_colours] = at;
}

ty_status ty_colour_blocks(ty_colouring* c, const ty_csr* a)
{
    int n_blocks = (a->n + TY_COLOUR_BLOCK - 1) / TY_COLOUR_BLOCK;
    if (!ty_array_fresh(&c->order, a->n) || !ty_array_fresh(&c->rank, a->n) ||
        !ty_array_fresh(&c->scratch, 2 * n_blocks + 1) || !ty_array_fresh(&c->start, n_blocks + 1))
        return ty_no_memory("colours");
    int *colour = c->scratch.at, *taken = colour + n_blocks;
    c->n_colours = 0;
    for (int b = 0; b <= n_blocks; ++b) taken[b] = -1;
    for (int b = 0; b < n_blocks; ++b) {
        colour[b] = block_colour(a, b, colour, taken);
        if (colour[b] >= c->n_colours) c->n_colours = colour[b] + 1;
    }
    order_blocks(c, a->n, n_blocks, colour);
    return ty_ok();
}

void ty_colouring_free(ty_colouring* c)
{
    ty_array_free(&c->start);
    ty_array_free(&c->order);
    ty_array_free(&c->rank);
    ty_array_free(&c->scratch);
    ty_array_free(&c->clash);
    c->n_colours = 0;
}
