// SPDX-License-Identifier: Apache-2.0
// Two products of compressed rows, A P and then R (A P), row by row [Gustavson1978]: a row is summed in an
// accumulator indexed by column. A worker appends finished rows to its own buffer. A P stays there to be
// read by the second product; the blocks of R (A P) are copied to their places.
#include "linear/galerkin.h"

#include <string.h>

#include "core/parallel.h"

enum { ROW_BLOCK = 1024, COARSE_BLOCK = 256 };    // rows of A P and of R A P in one piece of work

// Rows one after the other. slot[c] is the place of column c; it is stale when before the current row.
typedef struct buffer {
    TY_ARRAY(int) slot;
    TY_ARRAY(int) col;
    TY_ARRAY(double) val;
    bool failed;
} buffer;

typedef struct ty_galerkin_worker {
    buffer ap, rap;
} worker;

typedef struct product {
    ty_galerkin* g;
    const ty_csrf *r, *p;
    const ty_csr* a;
    ty_csr* out;
    int64_t longest_p;
} product;

static void buffer_free(buffer* b)
{
    ty_array_free(&b->slot);
    ty_array_free(&b->col);
    ty_array_free(&b->val);
}

void ty_galerkin_free(ty_galerkin* g)
{
    for (int w = 0; w < g->n_workers; ++w) {
        buffer_free(&g->worker[w].ap);
        buffer_free(&g->worker[w].rap);
    }
    ty_free(g->worker);
    ty_array_free(&g->ap_begin);
    ty_array_free(&g->ap_end);
    ty_array_free(&g->ap_owner);
    ty_array_free(&g->piece);
    ty_array_free(&g->owner);
    *g = (ty_galerkin){0};
}

// Room for a row of at most `longest` entries.
static bool make_room(buffer* b, int64_t longest, int n_cols)
{
    int64_t room = b->col.n + (longest < n_cols ? longest : n_cols);
    if (room <= b->col.capacity && room <= b->val.capacity) return true;
    room += room / 2;
    return room <= INT32_MAX && ty_array_reserve(&b->col, room) && ty_array_reserve(&b->val, room);
}

static bool prepare_slots(buffer* b, int n_cols)
{
    if (b->slot.n == n_cols) return true;    // done for this product
    if (!ty_array_fresh(&b->slot, n_cols)) return false;
    for (int c = 0; c < n_cols; ++c) b->slot.at[c] = -1;
    return true;
}

// A row being summed: its entries are at first .. n.
typedef struct accumulator {
    int *slot, *col;
    double* val;
    int first, n;
} accumulator;

static accumulator begin_row(buffer* b)
{
    return (accumulator){b->slot.at, b->col.at, b->val.at, (int)b->col.n, (int)b->col.n};
}

// (Without the branch it was slower: every product then waits for the one before.)
static inline void add(accumulator* s, int c, double value)
{
    int at = s->slot[c];
    if (at < s->first) {
        s->slot[c] = s->n;
        s->col[s->n] = c;
        s->val[s->n++] = value;
    } else {
        s->val[at] += value;
    }
}

static void ap_row(const product* q, buffer* b, int64_t i)
{
    const int *a_col = q->a->col, *p_start = q->p->start.at, *p_col = q->p->col.at;
    const float* p_val = q->p->val.at;
    const double* a_val = q->a->val;
    accumulator s = begin_row(b);
    for (int k = q->a->row_start[i]; k < q->a->row_start[i + 1]; ++k) {
        int j = a_col[k];
        double factor = a_val[k];
        for (int t = p_start[j]; t < p_start[j + 1]; ++t) add(&s, p_col[t], factor * p_val[t]);
    }
    b->col.n = b->val.n = s.n;
}

static void ap_block(void* ctx, ty_range r)
{
    product* q = ctx;
    buffer* b = &q->g->worker[r.worker].ap;
    q->g->ap_owner.at[r.block] = r.worker;
    b->failed = b->failed || !prepare_slots(b, q->p->n_cols);
    for (int64_t i = r.begin; i < r.end && !b->failed; ++i) {
        b->failed = !make_room(b, (q->a->row_start[i + 1] - q->a->row_start[i]) * q->longest_p, q->p->n_cols);
        if (b->failed) return;
        q->g->ap_begin.at[i] = (int)b->col.n;
        ap_row(q, b, i);
        q->g->ap_end.at[i] = (int)b->col.n;
    }
}

static int64_t rap_bound(const product* q, int64_t row)
{
    int64_t bound = 0;
    for (int k = q->r->start.at[row]; k < q->r->start.at[row + 1]; ++k)
        bound += q->g->ap_end.at[q->r->col.at[k]] - q->g->ap_begin.at[q->r->col.at[k]];
    return bound;
}

static void rap_row(const product* q, buffer* b, int64_t row)
{
    const ty_galerkin* g = q->g;
    accumulator s = begin_row(b);
    for (int k = q->r->start.at[row]; k < q->r->start.at[row + 1]; ++k) {
        int i = q->r->col.at[k], end = g->ap_end.at[i];
        const buffer* ap = &g->worker[g->ap_owner.at[i / ROW_BLOCK]].ap;
        const int* ap_col = ap->col.at;
        const double* ap_val = ap->val.at;
        double factor = q->r->val.at[k];
        for (int t = g->ap_begin.at[i]; t < end; ++t) add(&s, ap_col[t], factor * ap_val[t]);
    }
    b->col.n = b->val.n = s.n;
}

static void rap_block(void* ctx, ty_range r)
{
    product* q = ctx;
    buffer* b = &q->g->worker[r.worker].rap;
    q->g->owner.at[r.block] = r.worker;
    q->g->piece.at[r.block] = b->col.n;
    b->failed = b->failed || !prepare_slots(b, q->p->n_cols);
    for (int64_t i = r.begin; i < r.end && !b->failed; ++i) {
        int64_t before = b->col.n;
        b->failed = !make_room(b, rap_bound(q, i), q->p->n_cols);
        if (b->failed) return;
        rap_row(q, b, i);
        q->out->row_start[i + 1] = (int)(b->col.n - before);
    }
}

static void copy_block(void* ctx, ty_range r)
{
    product* q = ctx;
    const buffer* b = &q->g->worker[q->g->owner.at[r.block]].rap;
    int to = q->out->row_start[r.begin], n = q->out->row_start[r.end] - to;
    int64_t from = q->g->piece.at[r.block];
    memcpy(q->out->col + to, b->col.at + from, (size_t)n * sizeof(int));
    memcpy(q->out->val + to, b->val.at + from, (size_t)n * sizeof(double));
}

static void empty(buffer* b)
{
    b->slot.n = b->col.n = b->val.n = 0;
    b->failed = false;
}

static ty_status prepare(ty_galerkin* g, int n, int n_coarse)
{
    int wanted = ty_threads();
    if (g->n_workers < wanted) {
        worker* grown = ty_realloc(g->worker, (size_t)g->n_workers, (size_t)wanted, sizeof *grown);
        if (!grown) return ty_no_memory("matrix product");
        memset(grown + g->n_workers, 0, (size_t)(wanted - g->n_workers) * sizeof *grown);
        g->worker = grown;
        g->n_workers = wanted;
    }
    for (int w = 0; w < g->n_workers; ++w) {
        empty(&g->worker[w].ap);
        empty(&g->worker[w].rap);
    }
    int n_blocks = n / ROW_BLOCK + 1, n_coarse_blocks = n_coarse / COARSE_BLOCK + 1;
    bool ok = ty_array_fresh(&g->ap_begin, n) && ty_array_fresh(&g->ap_end, n) &&
              ty_array_fresh(&g->ap_owner, n_blocks) && ty_array_fresh(&g->piece, n_coarse_blocks) &&
              ty_array_fresh(&g->owner, n_coarse_blocks);
    return ok ? ty_ok() : ty_no_memory("matrix product");
}

static double longest_block(void* ctx, ty_range r)
{
    const int* start = ctx;
    int longest = 0;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    return longest;
}

// Row lengths become row starts; more room when it is needed.
static ty_status place_rows(ty_csr* out, int n)
{
    int64_t entries = 0;
    for (int i = 0; i < n; ++i) entries += out->row_start[i + 1];
    if (entries > out->entry_capacity) {
        ty_csr grown = {0};
        TY_TRY(ty_csr_reserve(&grown, n, n, entries));
        memcpy(grown.row_start, out->row_start, ((size_t)n + 1) * sizeof(int));
        ty_csr_free(out);
        *out = grown;
    }
    out->row_start[0] = 0;
    for (int i = 0; i < n; ++i) out->row_start[i + 1] += out->row_start[i];
    return ty_ok();
}

static ty_status check(const ty_galerkin* g)
{
    for (int w = 0; w < g->n_workers; ++w)
        if (g->worker[w].ap.failed || g->worker[w].rap.failed) return ty_no_memory("matrix product");
    return ty_ok();
}

ty_status ty_galerkin_product(ty_galerkin* g, ty_csr* coarse, const ty_csrf* r, const ty_csr* a, const ty_csrf* p)
{
    TY_TRY(prepare(g, a->n, r->n));
    TY_TRY(ty_csr_reserve(coarse, r->n, r->n, coarse->entry_capacity));
    product q = {g, r, p, a, coarse, (int64_t)ty_parallel_max(p->n, 65536, longest_block, p->start.at)};
    ty_parallel_for(a->n, ROW_BLOCK, ap_block, &q);
    TY_TRY(check(g));
    ty_parallel_for(r->n, COARSE_BLOCK, rap_block, &q);
    TY_TRY(check(g));
    TY_TRY(place_rows(coarse, r->n));
    ty_parallel_for(r->n, COARSE_BLOCK, copy_block, &q);
    return ty_ok();
}
