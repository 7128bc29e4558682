// SPDX-License-Identifier: Apache-2.0
// Two products of compressed rows, A P and then R (A P), row by row [Gustavson1978]: a row is summed in an
// accumulator indexed by column. A worker appends finished rows to its own buffer, and a second loop copies
// blocks of rows to their places.
#include "linear/galerkin.h"

#include <string.h>

#include "core/parallel.h"

enum { ROW_BLOCK = 1024 };    // rows of a product in one piece of work

typedef struct ty_galerkin_worker {
    TY_ARRAY(int) slot;    // of each column: its place in the buffer; stale when before the current row
    TY_ARRAY(int) col;
    TY_ARRAY(double) val;
    bool failed;
} worker;

// out = left * right, one of which is in single precision.
typedef struct product {
    ty_galerkin* g;
    ty_csr* out;
    const ty_csr* a;
    const ty_csrf* p;       // right factor, or NULL
    const ty_csrf* r;       // left factor, or NULL
    int64_t longest;        // row of the right factor
} product;

void ty_galerkin_free(ty_galerkin* g)
{
    for (int w = 0; w < g->n_workers; ++w) {
        ty_array_free(&g->worker[w].slot);
        ty_array_free(&g->worker[w].col);
        ty_array_free(&g->worker[w].val);
    }
    ty_free(g->worker);
    ty_array_free(&g->piece);
    ty_array_free(&g->owner);
    ty_csr_free(&g->ap);
    *g = (ty_galerkin){0};
}

// The loop of both products; the types differ, so it is a macro over plain pointers.
#define MULTIPLY_ROW(l_start, l_col, l_val, r_start, r_col, r_val)                                 \
    for (int s = l_start[row]; s < l_start[row + 1]; ++s) {                                        \
        int j = l_col[s];                                                                          \
        double factor = l_val[s];                                                                  \
        for (int t = r_start[j]; t < r_start[j + 1]; ++t) {                                        \
            int c = r_col[t], at = slot[c];                                                        \
            if (at < first) {                                                                      \
                slot[c] = at = n++;                                                                \
                col[at] = c;                                                                       \
                val[at] = 0.0;                                                                     \
            }                                                                                      \
            val[at] += factor * r_val[t];                                                          \
        }                                                                                          \
    }

static void multiply_row(const product* q, worker* w, int64_t row)
{
    int first = (int)w->col.n, n = first;
    int *slot = w->slot.at, *col = w->col.at;
    double* val = w->val.at;
    const int *a_start = q->a->row_start, *a_col = q->a->col;
    const double* a_val = q->a->val;
    if (q->p) {
        const int *p_start = q->p->start.at, *p_col = q->p->col.at;
        const float* p_val = q->p->val.at;
        MULTIPLY_ROW(a_start, a_col, a_val, p_start, p_col, p_val)
    } else {
        const int *r_start = q->r->start.at, *r_col = q->r->col.at;
        const float* r_val = q->r->val.at;
        MULTIPLY_ROW(r_start, r_col, r_val, a_start, a_col, a_val)
    }
    w->col.n = w->val.n = n;
}

static int n_cols_of(const product* q) { return q->p ? q->p->n_cols : q->a->n_cols; }

static bool prepare_worker(worker* w, int n_cols)
{
    if (w->slot.n == n_cols) return true;    // done for this product
    if (!ty_array_fresh(&w->slot, n_cols)) return false;
    for (int c = 0; c < n_cols; ++c) w->slot.at[c] = -1;
    return true;
}

// Room for a row that is as long as it can be.
static bool make_room(const product* q, worker* w, int64_t row)
{
    const int* start = q->p ? q->a->row_start : q->r->start.at;
    int64_t most = (start[row + 1] - start[row]) * q->longest, room = w->col.n;
    room += most < n_cols_of(q) ? most : n_cols_of(q);
    if (room <= w->col.capacity && room <= w->val.capacity) return true;
    room += room / 2;
    return room <= INT32_MAX && ty_array_reserve(&w->col, room) && ty_array_reserve(&w->val, room);
}

static void multiply_block(void* ctx, ty_range r)
{
    product* q = ctx;
    worker* w = &q->g->worker[r.worker];
    q->g->owner.at[r.block] = r.worker;
    q->g->piece.at[r.block] = w->col.n;
    w->failed = w->failed || !prepare_worker(w, n_cols_of(q));
    for (int64_t i = r.begin; i < r.end && !w->failed; ++i) {
        int64_t before = w->col.n;
        if (!make_room(q, w, i)) {
            w->failed = true;
            return;
        }
        multiply_row(q, w, i);
        q->out->row_start[i + 1] = (int)(w->col.n - before);
    }
}

static void copy_block(void* ctx, ty_range r)
{
    product* q = ctx;
    const worker* w = &q->g->worker[q->g->owner.at[r.block]];
    int to = q->out->row_start[r.begin], n = q->out->row_start[r.end] - to;
    int64_t from = q->g->piece.at[r.block];
    memcpy(q->out->col + to, w->col.at + from, (size_t)n * sizeof(int));
    memcpy(q->out->val + to, w->val.at + from, (size_t)n * sizeof(double));
}

static ty_status prepare(ty_galerkin* g, int n)
{
    int wanted = ty_threads(), n_blocks = n / ROW_BLOCK + 1;
    if (g->n_workers < wanted) {
        worker* grown = ty_realloc(g->worker, (size_t)g->n_workers, (size_t)wanted, sizeof *grown);
        if (!grown) return ty_no_memory("matrix product");
        memset(grown + g->n_workers, 0, (size_t)(wanted - g->n_workers) * sizeof *grown);
        g->worker = grown;
        g->n_workers = wanted;
    }
    for (int w = 0; w < g->n_workers; ++w) {
        g->worker[w].slot.n = 0;
        g->worker[w].col.n = g->worker[w].val.n = 0;
        g->worker[w].failed = false;
    }
    bool ok = ty_array_fresh(&g->piece, n_blocks) && ty_array_fresh(&g->owner, n_blocks);
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
static ty_status place_rows(ty_csr* out, int n, int n_cols)
{
    int64_t entries = 0;
    for (int i = 0; i < n; ++i) entries += out->row_start[i + 1];
    if (entries > out->entry_capacity) {
        ty_csr grown = {0};
        TY_TRY(ty_csr_reserve(&grown, n, n_cols, entries));
        memcpy(grown.row_start, out->row_start, ((size_t)n + 1) * sizeof(int));
        ty_csr_free(out);
        *out = grown;
    }
    out->row_start[0] = 0;
    for (int i = 0; i < n; ++i) out->row_start[i + 1] += out->row_start[i];
    return ty_ok();
}

static ty_status multiply(product* q, int n)
{
    TY_TRY(prepare(q->g, n));
    TY_TRY(ty_csr_reserve(q->out, n, n_cols_of(q), q->out->entry_capacity));
    int* starts = q->p ? q->p->start.at : q->a->row_start;
    q->longest = (int64_t)ty_parallel_max(q->p ? q->p->n : q->a->n, 65536, longest_block, starts);
    ty_parallel_for(n, ROW_BLOCK, multiply_block, q);
    for (int w = 0; w < q->g->n_workers; ++w)
        if (q->g->worker[w].failed) return ty_no_memory("matrix product");
    TY_TRY(place_rows(q->out, n, n_cols_of(q)));
    ty_parallel_for(n, ROW_BLOCK, copy_block, q);
    return ty_ok();
}

ty_status ty_galerkin_product(ty_galerkin* g, ty_csr* coarse, const ty_csrf* r, const ty_csr* a, const ty_csrf* p)
{
    product ap = {.g = g, .out = &g->ap, .a = a, .p = p};
    TY_TRY(multiply(&ap, a->n));
    product rap = {.g = g, .out = coarse, .a = &g->ap, .r = r};
    return multiply(&rap, r->n);
}
