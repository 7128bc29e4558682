// SPDX-License-Identifier: Apache-2.0
// Row I of R A P is the sum over i of r_Ii times the sum over j of a_ij times row j of P: three nested
// loops without A P in between, since its rows would be read only two or three times. The row is summed in
// a dense accumulator; a worker appends finished rows to its own buffer, and a second loop copies the
// blocks to their places.
#include "linear/galerkin.h"

#include <string.h>

#include "core/parallel.h"

enum { COARSE_BLOCK = 512 };    // rows of the product in one piece of work

typedef struct ty_galerkin_worker {
    TY_ARRAY(int) slot;       // of each coarse column: its entry in the current row, + 1 + base
    TY_ARRAY(int) col;
    TY_ARRAY(double) val;
    bool failed;
} worker;

typedef struct product {
    ty_galerkin* g;
    ty_csr* coarse;
    const ty_csrf *r, *p;
    const ty_csr* a;
    int64_t longest;    // row of P
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
    *g = (ty_galerkin){0};
}

// slot[J] >= first means that J already stands in this row. Rows only ever append, so old slots are stale.
static void multiply_row(const product* q, worker* w, int64_t row)
{
    const int *r_start = q->r->start.at, *r_col = q->r->col.at;
    const int *p_start = q->p->start.at, *p_col = q->p->col.at;
    const int *a_start = q->a->row_start, *a_col = q->a->col;
    const float *r_val = q->r->val.at, *p_val = q->p->val.at;
    const double* a_val = q->a->val;
    int first = (int)w->col.n, n = first;
    int *slot = w->slot.at, *col = w->col.at;
    double* val = w->val.at;
    for (int s = r_start[row]; s < r_start[row + 1]; ++s) {
        int i = r_col[s];
        double r = r_val[s];
        for (int k = a_start[i]; k < a_start[i + 1]; ++k) {
            int j = a_col[k];
            double ra = r * a_val[k];
            for (int t = p_start[j]; t < p_start[j + 1]; ++t) {
                int c = p_col[t], at = slot[c];
                if (at < first) {
                    slot[c] = at = n++;
                    col[at] = c;
                    val[at] = 0.0;
                }
                val[at] += ra * p_val[t];
            }
        }
    }
    w->col.n = w->val.n = n;
}

// An upper bound of the entries of a row: it has no more than there are columns, nor than products.
static int64_t row_bound(const product* q, int64_t row)
{
    int64_t bound = 0;
    for (int s = q->r->start.at[row]; s < q->r->start.at[row + 1]; ++s) {
        int i = q->r->col.at[s];
        bound += q->a->row_start[i + 1] - q->a->row_start[i];
    }
    bound *= q->longest;
    return bound < q->p->n_cols ? bound : q->p->n_cols;
}

static double longest_block(void* ctx, ty_range r)
{
    const int* start = ctx;
    int longest = 0;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    return longest;
}

static bool prepare_worker(worker* w, int n_cols)
{
    if (w->slot.n == n_cols) return true;    // set -1 since the product began
    if (!ty_array_fresh(&w->slot, n_cols)) return false;
    for (int c = 0; c < n_cols; ++c) w->slot.at[c] = -1;
    return true;
}

static void multiply_block(void* ctx, ty_range r)
{
    product* q = ctx;
    worker* w = &q->g->worker[r.worker];
    q->g->owner.at[r.block] = r.worker;
    q->g->piece.at[r.block] = w->col.n;
    if (w->failed || !prepare_worker(w, q->p->n_cols)) w->failed = true;
    for (int64_t i = r.begin; i < r.end && !w->failed; ++i) {
        int64_t room = w->col.n + row_bound(q, i);
        if (room > w->col.capacity || room > w->val.capacity) {
            room += room / 2;
            w->failed = room > INT32_MAX || !ty_array_reserve(&w->col, room) || !ty_array_reserve(&w->val, room);
            if (w->failed) break;
        }
        int64_t before = w->col.n;
        multiply_row(q, w, i);
        q->coarse->row_start[i + 1] = (int)(w->col.n - before);
    }
}

static void copy_block(void* ctx, ty_range r)
{
    product* q = ctx;
    const worker* w = &q->g->worker[q->g->owner.at[r.block]];
    int to = q->coarse->row_start[r.begin], n = q->coarse->row_start[r.end] - to;
    int64_t from = q->g->piece.at[r.block];
    memcpy(q->coarse->col + to, w->col.at + from, (size_t)n * sizeof(int));
    memcpy(q->coarse->val + to, w->val.at + from, (size_t)n * sizeof(double));
}

static ty_status prepare(ty_galerkin* g, int n)
{
    int wanted = ty_threads(), n_blocks = n / COARSE_BLOCK + 1;
    if (g->n_workers < wanted) {
        worker* grown = ty_realloc(g->worker, (size_t)g->n_workers, (size_t)wanted, sizeof *grown);
        if (!grown) return ty_no_memory("matrix product");
        memset(grown + g->n_workers, 0, (size_t)(wanted - g->n_workers) * sizeof *grown);
        g->worker = grown;
        g->n_workers = wanted;
    }
    for (int w = 0; w < g->n_workers; ++w) {
        g->worker[w].slot.n = -1;
        g->worker[w].col.n = g->worker[w].val.n = 0;
        g->worker[w].failed = false;
    }
    bool ok = ty_array_fresh(&g->piece, n_blocks) && ty_array_fresh(&g->owner, n_blocks);
    return ok ? ty_ok() : ty_no_memory("matrix product");
}

ty_status ty_galerkin_product(ty_galerkin* g, ty_csr* coarse, const ty_csrf* r, const ty_csr* a, const ty_csrf* p)
{
    TY_TRY(prepare(g, r->n));
    TY_TRY(ty_csr_reserve(coarse, r->n, r->n, coarse->entry_capacity));
    product q = {g, coarse, r, p, a, (int64_t)ty_parallel_max(p->n, 65536, longest_block, p->start.at)};
    ty_parallel_for(r->n, COARSE_BLOCK, multiply_block, &q);
    for (int w = 0; w < g->n_workers; ++w)
        if (g->worker[w].failed) return ty_no_memory("matrix product");
    coarse->row_start[0] = 0;
    int64_t entries = 0;
    for (int i = 0; i < r->n; ++i) entries += coarse->row_start[i + 1];
    if (entries > coarse->entry_capacity) {
        ty_csr grown = {0};
        TY_TRY(ty_csr_reserve(&grown, r->n, r->n, entries));
        memcpy(grown.row_start, coarse->row_start, ((size_t)r->n + 1) * sizeof(int));
        ty_csr_free(coarse);
        *coarse = grown;
    }
    for (int i = 0; i < r->n; ++i) coarse->row_start[i + 1] += coarse->row_start[i];
    ty_parallel_for(r->n, COARSE_BLOCK, copy_block, &q);
    return ty_ok();
}
