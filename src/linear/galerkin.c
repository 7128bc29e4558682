// SPDX-License-Identifier: Apache-2.0
// Row I of R A P is the sum over i of r_Ii times row i of A P, and that is the sum over j of a_ij
// times row j of P; both are summed in accumulators indexed by column [Gustavson1978].
//
// A P as a whole would be as large as A. Only the rows that a block of coarse rows reads are made,
// when first read, and stay in the cache until the block is done; rows at the edge of a block are
// made more than once. A worker appends finished coarse rows to its own buffer, from which blocks
// are copied to their places.
#include "linear/galerkin.h"

#include <string.h>

#include "core/parallel.h"

enum {
    COARSE_BLOCK =
        512,    // rows of R A P in one piece of work: their rows of A P take half a megabyte
    STRIDE = TY_GALERKIN_BLOCKS *
             COARSE_BLOCK,    // rows made before they are copied to their places: a few megabytes
    ROW_BLOCK = 65536
};

// Rows one after the other. slot[c] is the place of column c; it is stale when before the current
// row.
typedef struct buffer {
    TY_ARRAY(int) slot;
    TY_ARRAY(int) col;
    TY_ARRAY(double) val;
} buffer;

typedef struct ty_galerkin_worker {
    buffer ap, rap;
    TY_ARRAY(int)
    known;    // of each row of A: its number among the rows of A P of this block; -1 = not made
    TY_ARRAY(int) made;    // rows of A P of this block: rows of A
    TY_ARRAY(int) end;     // where each ends in `ap`
    int64_t clean_rows,
        clean_cols;    // entries of `known` and of ap.slot that are -1 between blocks
    bool ready, failed, stride_begins;
} worker;

typedef struct product {
    ty_galerkin* g;
    const ty_csrf *r, *p;
    const ty_csr* a;
    ty_csr* out;
    int first;    // row of the stride
    int64_t longest_a, longest_p;
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
        ty_array_free(&g->worker[w].known);
        ty_array_free(&g->worker[w].made);
        ty_array_free(&g->worker[w].end);
    }
    ty_free(g->worker);
    *g = (ty_galerkin){0};
}

// Room for a row of at most `longest` entries.
static bool make_room(buffer* b, int64_t longest, int n_cols)
{
    int64_t room = b->col.n + (longest < n_cols ? longest : n_cols);
    if (room <= b->col.capacity && room <= b->val.capacity) return true;
    room += room / 4;
    return room <= INT32_MAX && ty_array_reserve(&b->col, room) && ty_array_reserve(&b->val, room);
}

static void fill(int* at, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) at[i] = -1;
}

// Once per product and worker.
static bool prepare_worker(const product* q, worker* w)
{
    if (w->ready) return true;
    int n_cols = q->p->n_cols;
    if (!ty_array_fresh(&w->known, q->a->n) || !ty_array_fresh(&w->ap.slot, n_cols) ||
        !ty_array_fresh(&w->rap.slot, n_cols))
        return false;
    if (w->clean_rows < q->a->n) fill(w->known.at, w->clean_rows = q->a->n);
    if (w->clean_cols < n_cols) fill(w->ap.slot.at, w->clean_cols = n_cols);
    return w->ready = true;
}

// Places in the buffer of finished rows begin again with every stride, so stale slots must go.
static void begin_stride(const product* q, worker* w)
{
    if (w->stride_begins) fill(w->rap.slot.at, q->p->n_cols);
    if (w->stride_begins) w->rap.col.n = w->rap.val.n = 0;
    w->stride_begins = false;
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

// Makes row i of A P; false when out of memory.
static bool make_ap_row(const product* q, worker* w, int i)
{
    if (!make_room(&w->ap, q->longest_a * q->longest_p, q->p->n_cols)) return false;
    const int *p_start = q->p->start.at, *p_col = q->p->col.at;
    const float* p_val = q->p->val.at;
    accumulator s = begin_row(&w->ap);
    for (int k = q->a->row_start[i]; k < q->a->row_start[i + 1]; ++k) {
        int j = q->a->col[k];
        double factor = q->a->val[k];
        for (int t = p_start[j]; t < p_start[j + 1]; ++t) add(&s, p_col[t], factor * p_val[t]);
    }
    w->ap.col.n = w->ap.val.n = s.n;
    w->known.at[i] = (int)w->made.n;
    return ty_array_push(&w->made, i) && ty_array_push(&w->end, s.n);
}

// The rows of A P that a coarse row reads, and how many entries they have.
static bool make_ap_rows(const product* q, worker* w, int64_t row, int64_t* entries)
{
    *entries = 0;
    for (int k = q->r->start.at[row]; k < q->r->start.at[row + 1]; ++k) {
        int i = q->r->col.at[k];
        if (w->known.at[i] < 0 && !make_ap_row(q, w, i)) return false;
        int m = w->known.at[i];
        *entries += w->end.at[m] - (m > 0 ? w->end.at[m - 1] : 0);
    }
    return true;
}

static bool make_row(const product* q, worker* w, int64_t row)
{
    int64_t entries;
    if (!make_ap_rows(q, w, row, &entries) || !make_room(&w->rap, entries, q->p->n_cols))
        return false;
    const int *ap_col = w->ap.col.at, *end = w->end.at;
    const double* ap_val = w->ap.val.at;
    accumulator s = begin_row(&w->rap);
    for (int k = q->r->start.at[row]; k < q->r->start.at[row + 1]; ++k) {
        int m = w->known.at[q->r->col.at[k]];
        double factor = q->r->val.at[k];
        for (int t = m > 0 ? end[m - 1] : 0; t < end[m]; ++t)
            add(&s, ap_col[t], factor * ap_val[t]);
    }
    q->out->row_start[row + 1] = s.n - s.first;
    w->rap.col.n = w->rap.val.n = s.n;
    return true;
}

// The next block's rows of A P start at the beginning of the buffer again, so stale slots must go.
static void forget_ap(worker* w)
{
    for (int64_t m = 0; m < w->made.n; ++m) w->known.at[w->made.at[m]] = -1;
    for (int64_t t = 0; t < w->ap.col.n; ++t) w->ap.slot.at[w->ap.col.at[t]] = -1;
    w->made.n = w->end.n = w->ap.col.n = w->ap.val.n = 0;
}

static void make_block(void* ctx, ty_range r)
{
    product* q = ctx;
    worker* w = &q->g->worker[r.worker];
    w->failed = w->failed || !prepare_worker(q, w);
    if (w->failed) return;
    begin_stride(q, w);
    q->g->owner[r.block] = r.worker;
    q->g->piece[r.block] = w->rap.col.n;
    for (int64_t i = r.begin; i < r.end && !w->failed; ++i)
        w->failed = !make_row(q, w, q->first + i);
    forget_ap(w);
}

static void copy_block(void* ctx, ty_range r)
{
    product* q = ctx;
    const buffer* b = &q->g->worker[q->g->owner[r.block]].rap;
    int to = q->out->row_start[q->first + r.begin], n = q->out->row_start[q->first + r.end] - to;
    int64_t from = q->g->piece[r.block];
    memcpy(q->out->col + to, b->col.at + from, (size_t)n * sizeof(int));
    memcpy(q->out->val + to, b->val.at + from, (size_t)n * sizeof(double));
}

static ty_status prepare(ty_galerkin* g)
{
    int wanted = ty_threads();
    if (g->n_workers < wanted) {
        worker* grown = ty_realloc(g->worker, (size_t)g->n_workers, (size_t)wanted, sizeof *grown);
        if (!grown) return ty_no_memory("matrix product");
        memset(grown + g->n_workers, 0, (size_t)(wanted - g->n_workers) * sizeof *grown);
        g->worker = grown;
        g->n_workers = wanted;
    }
    for (int k = 0; k < g->n_workers; ++k) {
        worker* w = &g->worker[k];
        w->ap.col.n = w->ap.val.n = w->rap.col.n = w->rap.val.n = w->made.n = w->end.n = 0;
        if (w->failed) w->clean_rows = w->clean_cols = 0;
        w->ready = w->failed = false;
    }
    return ty_ok();
}

static double longest_block(void* ctx, ty_range r)
{
    const int* start = ctx;
    int longest = 0;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    return longest;
}

static int64_t longest_row(int n, const int* start)
{
    return n > 0 ? (int64_t)ty_parallel_max(n, ROW_BLOCK, longest_block, (void*)start) : 0;
}

// Lengths of rows first .. first + n become starts; more room when it is needed.
static ty_status place_rows(ty_csr* out, int first, int n)
{
    int64_t end = out->row_start[first];
    for (int i = first; i < first + n; ++i) end += out->row_start[i + 1];
    if (end > out->entry_capacity) {
        ty_csr grown = {0};
        TY_TRY(ty_csr_reserve(&grown, out->n, out->n, end + end / 2));
        memcpy(grown.row_start, out->row_start, ((size_t)out->n + 1) * sizeof(int));
        memcpy(grown.col, out->col, (size_t)out->row_start[first] * sizeof(int));
        memcpy(grown.val, out->val, (size_t)out->row_start[first] * sizeof(double));
        ty_csr_free(out);
        *out = grown;
    }
    for (int i = first; i < first + n; ++i) out->row_start[i + 1] += out->row_start[i];
    return ty_ok();
}

// Blocks of rows are made in the workers' buffers, then copied to their places.
static ty_status make_stride(product* q, int n)
{
    ty_galerkin* g = q->g;
    for (int w = 0; w < g->n_workers; ++w) g->worker[w].stride_begins = true;
    ty_parallel_for(n, COARSE_BLOCK, make_block, q);
    for (int w = 0; w < g->n_workers; ++w)
        if (g->worker[w].failed) return ty_no_memory("matrix product");
    TY_TRY(place_rows(q->out, q->first, n));
    ty_parallel_for(n, COARSE_BLOCK, copy_block, q);
    return ty_ok();
}

ty_status ty_galerkin_product(ty_galerkin* g, ty_csr* coarse, const ty_csrf* r, const ty_csr* a,
                              const ty_csrf* p)
{
    TY_TRY(prepare(g));
    int64_t room = ty_csr_entries(a) > coarse->entry_capacity ? ty_csr_entries(a)
                                                              : coarse->entry_capacity;
    TY_TRY(ty_csr_reserve(coarse, r->n, r->n, room));    // A's size will do, almost always
    product q = {
        g, r, p, a, coarse, 0, longest_row(a->n, a->row_start), longest_row(p->n, p->start.at)};
    for (; q.first < r->n; q.first += STRIDE)
        TY_TRY(make_stride(&q, r->n - q.first < STRIDE ? r->n - q.first : STRIDE));
    return ty_ok();
}
