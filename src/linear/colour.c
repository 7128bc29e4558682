// SPDX-License-Identifier: Apache-2.0
// Rows: parts of the matrix are coloured in parallel without regard to each other; then the rows
// that have the colour of a neighbour in an earlier part choose again, in order.
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

// The smallest colour that no neighbour in begin..end has; uncoloured rows have -1. *crosses: the
// row has neighbours before `begin`.
static int first_fit(const painter* p, int64_t i, int64_t begin, int64_t end,
                     unsigned char* crosses)
{
    uint64_t taken = 0;
    *crosses = 0;
    for (int k = p->a->row_start[i]; k < p->a->row_start[i + 1]; ++k) {
        int j = p->a->col[k];
        if (j < begin) *crosses = 1;
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
    for (int64_t i = r.begin; i < r.end; ++i)
        p->colour[i] = first_fit(p, i, r.begin, r.end, &p->clash[i]);
}

static void find_clashes(void* ctx, ty_range r)
{
    painter* p = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (p->clash[i]) p->clash[i] = is_taken(p, i, 0, r.begin, p->colour[i]);
}

// Few rows clash, so their flags are looked at eight at a time.
static void resolve_clashes(painter* p)
{
    unsigned char unused;
    for (int i = PART; i < p->a->n;) {
        uint64_t eight = 1;
        if (i + 8 <= p->a->n) memcpy(&eight, p->clash + i, 8);
        int end = i + 8 < p->a->n ? i + 8 : p->a->n;
        if (eight == 0) {
            i += 8;
            continue;
        }
        for (; i < end; ++i)
            if (p->clash[i]) p->colour[i] = first_fit(p, i, 0, p->a->n, &unused);
    }
}

typedef struct sorting {
    const int* colour;
    int* order;
    int* count;    // n_colours of each part
    int n_colours;
} sorting;

static double last_colour(void* ctx, ty_range r)
{
    const sorting* s = ctx;
    int last = 0;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (s->colour[i] > last) last = s->colour[i];
    return last;
}

static void count_colours(void* ctx, ty_range r)
{
    sorting* s = ctx;
    int* count = s->count + r.block * s->n_colours;
    memset(count, 0, (size_t)s->n_colours * sizeof *count);
    for (int64_t i = r.begin; i < r.end; ++i) ++count[s->colour[i]];
}

static void place_colours(void* ctx, ty_range r)
{
    sorting* s = ctx;
    int* at = s->count + r.block * s->n_colours;
    for (int64_t i = r.begin; i < r.end; ++i) s->order[at[s->colour[i]]++] = (int)i;
}

static ty_status sort_by_colour(ty_colouring* c, int n)
{
    int n_parts = (n + PART - 1) / PART, at = 0;
    sorting s = {.colour = c->rank.at, .order = c->order.at};
    c->n_colours = s.n_colours = n > 0 ? (int)ty_parallel_max(n, PART, last_colour, &s) + 1 : 0;
    if (!ty_array_fresh(&c->start, s.n_colours + 1) ||
        !ty_array_fresh(&c->scratch, (int64_t)n_parts * s.n_colours))
        return ty_no_memory("colours");
    s.count = c->scratch.at;
    ty_parallel_for(n, PART, count_colours, &s);
    for (int colour = 0; colour < s.n_colours; ++colour) {
        c->start.at[colour] = at;
        for (int part = 0; part < n_parts; ++part) {
            int* count = &s.count[part * s.n_colours + colour];
            int size = *count;
            *count = at;
            at += size;
        }
    }
    c->start.at[s.n_colours] = at;
    ty_parallel_for(n, PART, place_colours, &s);
    return ty_ok();
}

ty_status ty_colour_rows(ty_colouring* c, const ty_csr* a)
{
    if (!ty_array_fresh(&c->order, a->n) || !ty_array_fresh(&c->rank, a->n) ||
        !ty_array_fresh(&c->clash, a->n))
        return ty_no_memory("colours");
    painter p = {a, c->rank.at, c->clash.at};
    ty_parallel_for(a->n, PART, colour_block, &p);
    ty_parallel_for(a->n, PART, find_clashes, &p);
    resolve_clashes(&p);
    return sort_by_colour(c, a->n);
}

// Blocks beside each block, before it: LISTED of them, -1 behind the last. A block with more has
// MANY first.
enum { LISTED = 64, MANY = -2 };

typedef struct blocks {
    const ty_csr* a;
    int* beside;
    const int *at, *colour;    // of each block: its first place in the order
    ty_colouring* c;
} blocks;

static bool list_block(int* list, int* n, int b)
{
    for (int k = *n - 1; k >= 0; --k)
        if (list[k] == b) return true;
    if (*n == LISTED) return false;
    list[(*n)++] = b;
    return true;
}

static void list_beside(void* ctx, ty_range r)
{
    const blocks* q = ctx;
    const ty_csr* a = q->a;
    int *list = q->beside + r.block * LISTED, n = 0;
    for (int k = a->row_start[r.begin]; k < a->row_start[r.end]; ++k) {
        if (a->col[k] >= r.begin || list_block(list, &n, a->col[k] / TY_COLOUR_BLOCK)) continue;
        list[0] = MANY;
        return;
    }
    if (n < LISTED) list[n] = -1;
}

// The colour of block b, whose neighbours before it have theirs: taken[c] == b marks the colours
// they have.
static int block_colour(const blocks* q, int b, const int* colour, int* taken)
{
    const int* list = q->beside + (int64_t)b * LISTED;
    const ty_csr* a = q->a;
    int begin = b * TY_COLOUR_BLOCK,
        end = begin + TY_COLOUR_BLOCK < a->n ? begin + TY_COLOUR_BLOCK : a->n, c = 0;
    for (int k = 0; k < LISTED && list[k] >= 0; ++k) taken[colour[list[k]]] = b;
    for (int k = a->row_start[begin]; k < a->row_start[end] && list[0] == MANY; ++k)
        if (a->col[k] < begin) taken[colour[a->col[k] / TY_COLOUR_BLOCK]] = b;
    while (taken[c] == b) ++c;
    return c;
}

static void order_rows(void* ctx, ty_range r)
{
    const blocks* q = ctx;
    int at = q->at[r.block];
    for (int64_t i = r.begin; i < r.end; ++i) {
        q->c->order.at[at] = (int)i;
        q->c->rank.at[i] = at++;
    }
}

// Where each block starts in the order, colour by colour.
static void order_blocks(ty_colouring* c, int n, int n_blocks, const int* colour, int* place)
{
    int at = 0;
    for (int k = 0; k < c->n_colours; ++k) {
        c->start.at[k] = at;
        for (int b = 0; b < n_blocks; ++b) {
            if (colour[b] != k) continue;
            place[b] = at;
            at += b == n_blocks - 1 ? n - b * TY_COLOUR_BLOCK : TY_COLOUR_BLOCK;
        }
    }
    c->start.at[c->n_colours] = at;
}

ty_status ty_colour_blocks(ty_colouring* c, const ty_csr* a)
{
    int n_blocks = (a->n + TY_COLOUR_BLOCK - 1) / TY_COLOUR_BLOCK;
    if (!ty_array_fresh(&c->order, a->n) || !ty_array_fresh(&c->rank, a->n) ||
        !ty_array_fresh(&c->scratch, (int64_t)(LISTED + 2) * n_blocks + 1) ||
        !ty_array_fresh(&c->start, n_blocks + 1))
        return ty_no_memory("colours");
    int *colour = c->scratch.at, *taken = colour + n_blocks, *beside = taken + n_blocks + 1;
    blocks q = {a, beside, taken, colour, c};
    c->n_colours = 0;
    for (int b = 0; b <= n_blocks; ++b) taken[b] = -1;
    ty_parallel_for(a->n, TY_COLOUR_BLOCK, list_beside, &q);
    for (int b = 0; b < n_blocks; ++b) {
        colour[b] = block_colour(&q, b, colour, taken);
        if (colour[b] >= c->n_colours) c->n_colours = colour[b] + 1;
    }
    order_blocks(c, a->n, n_blocks, colour, taken);
    ty_parallel_for(a->n, TY_COLOUR_BLOCK, order_rows, &q);
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
