// SPDX-License-Identifier: Apache-2.0
#include "linear/smoother.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linear/scan.h"

enum {
    LANES = 8,    // rows done together where rows have slots
    ROW_BLOCK = 4096,
    MOSTLY_CLOSED = 4,    // a colour with fewer open rows than 1 / this does them one by one
    ZERO_BLOCK = 65536,
    SMALL_LEVEL = 4096    // rows of a level whose sweeps are not worth waking threads for
};

typedef struct packing {
    ty_smoother* s;
    const ty_csr* a;
    double scale;
    const unsigned char* singular;
} packing;

static void pack_diagonal(const packing* p, int64_t at, int row, double value)
{
    float d = (float)(value * p->scale);
    bool usable = d > 0.0f && isfinite(1.0f / d) && !(p->singular && p->singular[row]);
    p->s->inverse.at[at] = usable ? 1.0f / d : 0.0f;
}

static int rank_of(const ty_smoother* s, int row) { return s->colouring.rank.at[row]; }

static void pack_slots(void* ctx, ty_range r)
{
    packing* p = ctx;
    ty_smoother* s = p->s;
    const ty_csr* a = p->a;
    for (int64_t at = r.begin; at < r.end; ++at) {
        int row = s->colouring.order.at[at], c = rank_of(s, row), w = 0;
        int64_t first = s->colouring.start.at[c], count = s->colouring.start.at[c + 1] - first;
        int64_t slot = s->width * first + (at - first);
        double diagonal = 0.0;
        bool open = false;
        for (int k = a->row_start[row]; k < a->row_start[row + 1]; ++k) {
            if (a->col[k] == row) diagonal = a->val[k];
            if (a->col[k] == row || a->val[k] == 0.0) continue;
            open = open || rank_of(s, a->col[k]) > c;
            s->col.at[slot + count * w] = a->col[k];
            s->val.at[slot + count * w++] = (float)(a->val[k] * p->scale);
        }
        for (; w < s->width; ++w) {
            s->col.at[slot + count * w] = row;
            s->val.at[slot + count * w] = 0.0f;
        }
        pack_diagonal(p, at, row, diagonal);
        s->open.at[row] = open || s->inverse.at[at] == 0.0f;
    }
}

static void count_rows(void* ctx, ty_range r)
{
    packing* p = ctx;
    const ty_csr* a = p->a;
    for (int64_t at = r.begin; at < r.end; ++at) {
        int row = p->s->colouring.order.at[at], n = 0;
        for (int k = a->row_start[row]; k < a->row_start[row + 1]; ++k) n += a->col[k] != row;
        p->s->rows.start.at[at + 1] = n;
    }
}

static void pack_rows(void* ctx, ty_range r)
{
    packing* p = ctx;
    ty_smoother* s = p->s;
    const ty_csr* a = p->a;
    for (int64_t at = r.begin; at < r.end; ++at) {
        int row = s->colouring.order.at[at], to = s->rows.start.at[at];
        double diagonal = 0.0;
        bool open = false;
        for (int k = a->row_start[row]; k < a->row_start[row + 1]; ++k) {
            int j = a->col[k];
            if (j == row) diagonal = a->val[k];
            else {
                open |= rank_of(s, j) > at;
                s->rows.col.at[to] = j;
                s->rows.val.at[to++] = (float)(a->val[k] * p->scale);
            }
        }
        pack_diagonal(p, at, row, diagonal);
        s->open.at[row] = open || s->inverse.at[at] == 0.0f;
    }
}

static bool reserve_rows(ty_smoother* s, packing* p)
{
    int n = s->n;
    if (!ty_csrf_reserve(&s->rows, n, n, 0)) return false;
    ty_parallel_for(n, ROW_BLOCK, count_rows, p);
    int entries = ty_scan_rows(n, s->rows.start.at);
    return ty_array_fresh(&s->rows.col, entries) && ty_array_fresh(&s->rows.val, entries);
}

// How many of the rising places are before `at`.
static int places_before(const int* place, int n, int at)
{
    int lo = 0;
    while (lo < n) {
        int mid = lo + (n - lo) / 2;
        if (place[mid] < at) lo = mid + 1;
        else n = mid;
    }
    return lo;
}

static bool list_open(ty_smoother* s)
{
    const ty_colouring* c = &s->colouring;
    if (!ty_array_fresh(&s->open_start, c->n_colours + 1) || !ty_array_fresh(&s->open_at, s->n))
        return false;
    int n = ty_select(s->n, s->open.at, c->order.at, s->open_at.at);
    for (int colour = 0; colour < c->n_colours; ++colour)
        s->open_start.at[colour] = places_before(s->open_at.at, n, c->start.at[colour]);
    s->open_start.at[c->n_colours] = n;
    return true;
}

ty_status ty_smoother_setup(ty_smoother* s, const ty_csr* a, int most_neighbours, double scale,
                            const unsigned char* singular)
{
    s->n = a->n;
    s->width = most_neighbours <= 4 ? 4 : most_neighbours <= 6 ? 6 : 0;
    TY_TRY(s->width ? ty_colour_rows(&s->colouring, a) : ty_colour_blocks(&s->colouring, a));
    packing p = {s, a, scale, singular};
    int64_t slots = (int64_t)s->width * a->n;
    bool ok = ty_array_fresh(&s->inverse, a->n) && ty_array_fresh(&s->open, a->n) &&
              ty_array_fresh(&s->col, slots) && ty_array_fresh(&s->val, slots);
    if (ok && s->width == 0) ok = reserve_rows(s, &p);
    if (!ok) return ty_no_memory("smoother");
    ty_parallel_for(a->n, ROW_BLOCK, s->width ? pack_slots : pack_rows, &p);
    return list_open(s) ? ty_ok() : ty_no_memory("smoother");
}

// The ranks that colouring gave, from the order.
static void rank_rows(void* ctx, ty_range r)
{
    ty_smoother* s = ctx;
    const ty_colouring* c = &s->colouring;
    int colour = 0;
    for (int64_t at = r.begin; at < r.end; ++at) {
        while (at >= c->start.at[colour + 1]) ++colour;
        c->rank.at[c->order.at[at]] = s->width ? colour : (int)at;
    }
}

ty_status ty_smoother_refresh(ty_smoother* s, const ty_csr* a, double scale,
                              const unsigned char* singular)
{
    packing p = {s, a, scale, singular};
    if (!ty_array_fresh(&s->colouring.rank, a->n)) return ty_no_memory("smoother");
    ty_parallel_for(a->n, ROW_BLOCK, rank_rows, s);
    ty_parallel_for(a->n, ROW_BLOCK, s->width ? pack_slots : pack_rows, &p);
    return list_open(s) ? ty_ok() : ty_no_memory("smoother");
}

void ty_smoother_free(ty_smoother* s)
{
    ty_colouring_free(&s->colouring);
    ty_array_free(&s->inverse);
    ty_array_free(&s->open);
    ty_array_free(&s->open_start);
    ty_array_free(&s->open_at);
    ty_array_free(&s->col);
    ty_array_free(&s->val);
    ty_csrf_free(&s->rows);
}

// One colour of one sweep: row `order[at]` for at in first .. first + count.
typedef struct sweep {
    const ty_smoother* s;
    int64_t first, count, first_open;
    const float* b;
    float *x, *r;
} sweep;

static inline float over(float x, float inverse) { return inverse > 0.0f ? x / inverse : 0.0f; }

// sum[l] = b - A x without the diagonal, for LANES rows from `at`.
static inline void slot_sums(const sweep* t, int width, int64_t k, float sum[LANES])
{
    const int* restrict col = t->s->col.at + width * t->first + k,
                        *order = t->s->colouring.order.at + t->first + k;
    const float* restrict val = t->s->val.at + width * t->first + k, * restrict x = t->x, * restrict b = t->b;
    for (int l = 0; l < LANES; ++l) sum[l] = b[order[l]];
    for (int w = 0; w < width; ++w)
        for (int l = 0; l < LANES; ++l) sum[l] -= val[w * t->count + l] * x[col[w * t->count + l]];
}

static inline float slot_sum(const sweep* t, int width, int64_t k)
{
    int64_t base = width * t->first + k;
    float sum = t->b[t->s->colouring.order.at[t->first + k]];
    for (int w = 0; w < width; ++w)
        sum -= t->s->val.at[base + w * t->count] * t->x[t->s->col.at[base + w * t->count]];
    return sum;
}

static inline void relax_slots(const sweep* t, int width, ty_range r)
{
    const int* order = t->s->colouring.order.at + t->first;
    const float* inverse = t->s->inverse.at + t->first;
    int64_t k = r.begin;
    for (; k + LANES <= r.end; k += LANES) {
        float sum[LANES];
        slot_sums(t, width, k, sum);
        for (int l = 0; l < LANES; ++l) sum[l] *= inverse[k + l];
        for (int l = 0; l < LANES; ++l) t->x[order[k + l]] = sum[l];
    }
    for (; k < r.end; ++k) t->x[order[k]] = inverse[k] * slot_sum(t, width, k);
}

// The first colour of a sweep from zero.
static void relax_first(void* ctx, ty_range r)
{
    const sweep* t = ctx;
    const int* order = t->s->colouring.order.at;
    const float* inverse = t->s->inverse.at;
    for (int64_t at = t->first + r.begin; at < t->first + r.end; ++at)
        t->x[order[at]] = inverse[at] * t->b[order[at]];
}

static inline void residual_slots(const sweep* t, int width, ty_range r)
{
    const int* order = t->s->colouring.order.at + t->first;
    const float* inverse = t->s->inverse.at + t->first;
    int64_t k = r.begin;
    for (; k + LANES <= r.end; k += LANES) {
        float sum[LANES];
        slot_sums(t, width, k, sum);
        for (int l = 0; l < LANES; ++l) sum[l] -= over(t->x[order[k + l]], inverse[k + l]);
        for (int l = 0; l < LANES; ++l) t->r[order[k + l]] = sum[l];
    }
    for (; k < r.end; ++k)
        t->r[order[k]] = slot_sum(t, width, k) - over(t->x[order[k]], inverse[k]);
}

// Colours with few open rows, one by one: r counts open rows.
static void residual_open(void* ctx, ty_range r)
{
    const sweep* t = ctx;
    const ty_smoother* s = t->s;
    for (int64_t m = r.begin; m < r.end; ++m) {
        int at = s->open_at.at[t->first_open + m], row = s->colouring.order.at[at];
        t->r[row] = slot_sum(t, s->width, at - t->first) - over(t->x[row], s->inverse.at[at]);
    }
}

static void relax_4(void* ctx, ty_range r) { relax_slots(ctx, 4, r); }
static void relax_6(void* ctx, ty_range r) { relax_slots(ctx, 6, r); }
static void residual_4(void* ctx, ty_range r) { residual_slots(ctx, 4, r); }
static void residual_6(void* ctx, ty_range r) { residual_slots(ctx, 6, r); }

// Without the diagonal.
static inline float row_sum(const sweep* t, int64_t at)
{
    const int* start = t->s->rows.start.at + at;
    const int* restrict col = t->s->rows.col.at + start[0];
    const float* restrict val = t->s->rows.val.at + start[0], * restrict x = t->x;
    int n = start[1] - start[0];
    float even = 0.0f, odd = 0.0f;
    if (n == 6)    // most of scheme `face`: not a loop
        return (val[0] * x[col[0]] + val[2] * x[col[2]] + val[4] * x[col[4]]) +
               (val[1] * x[col[1]] + val[3] * x[col[3]] + val[5] * x[col[5]]);
    int k = 0;
    for (; k + 2 <= n; k += 2) {
        even += val[k] * x[col[k]];
        odd += val[k + 1] * x[col[k + 1]];
    }
    if (k < n) even += val[k] * x[col[k]];
    return even + odd;
}

static inline void relax_at(const sweep* t, int64_t at)
{
    int row = t->s->colouring.order.at[at];
    t->x[row] = t->s->inverse.at[at] * (t->b[row] - row_sum(t, at));
}

static void residual_rows(void* ctx, ty_range r)
{
    const sweep* t = ctx;
    for (int64_t m = t->first_open + r.begin; m < t->first_open + r.end; ++m) {
        int at = t->s->open_at.at[m], row = t->s->colouring.order.at[at];
        t->r[row] = t->b[row] - row_sum(t, at) - over(t->x[row], t->s->inverse.at[at]);
    }
}

static void relax_rows(void* ctx, ty_range r)
{
    const sweep* t = ctx;
    for (int64_t at = t->first + r.begin; at < t->first + r.end; ++at) relax_at(t, at);
}

static void relax_rows_backward(void* ctx, ty_range r)
{
    const sweep* t = ctx;
    for (int64_t at = t->first + r.end - 1; at >= t->first + r.begin; --at) relax_at(t, at);
}

// `body` over n rows of a colour. Where blocks are coloured they are the pieces of work: rows
// inside one depend on each other.
static void over_rows(const sweep* t, int64_t n, void (*body)(void*, ty_range))
{
    int64_t block = t->s->width ? ROW_BLOCK : TY_COLOUR_BLOCK;
    if (t->s->n > SMALL_LEVEL) ty_parallel_for(n, block, body, (void*)t);
    else if (t->s->width) body((void*)t, (ty_range){0, n, 0, 0});
    else
        for (int64_t k = 0; k < n; k += block)
            body((void*)t, (ty_range){k, k + block < n ? k + block : n, k / block, 0});
}

static void set_colour(sweep* t, int colour)
{
    t->first = t->s->colouring.start.at[colour];
    t->count = t->s->colouring.start.at[colour + 1] - t->first;
    t->first_open = t->s->open_start.at[colour];
}

static void zero(void* x, ty_range r)
{
    memset((float*)x + r.begin, 0, (size_t)(r.end - r.begin) * sizeof(float));
}

void ty_smoother_from_zero(const ty_smoother* s, const float* b, float* x)
{
    sweep t = {.s = s, .b = b, .x = x};
    void (*body)(void*, ty_range) = s->width == 4 ? relax_4 : s->width == 6 ? relax_6 : relax_rows;
    ty_parallel_for(s->n, ZERO_BLOCK, zero, x);
    for (int c = 0; c < s->colouring.n_colours; ++c) {
        set_colour(&t, c);
        over_rows(&t, t.count, c == 0 && s->width ? relax_first : body);
    }
}

void ty_smoother_residual(const ty_smoother* s, const float* b, const float* x, float* r)
{
    sweep t = {.s = s, .b = b, .x = (float*)x, .r = r};
    for (int c = 0; c < s->colouring.n_colours; ++c) {
        set_colour(&t, c);
        int n_open = s->open_start.at[c + 1] - s->open_start.at[c];
        if (s->width == 0) over_rows(&t, n_open, residual_rows);
        else if (n_open < t.count / MOSTLY_CLOSED) over_rows(&t, n_open, residual_open);
        else over_rows(&t, t.count, s->width == 4 ? residual_4 : residual_6);
    }
}

void ty_smoother_sweep(const ty_smoother* s, bool backward, const float* b, float* x)
{
    sweep t = {.s = s, .b = b, .x = x};
    void (*parts)(void*, ty_range) = backward ? relax_rows_backward : relax_rows;
    void (*body)(void*, ty_range) = s->width == 4 ? relax_4 : s->width == 6 ? relax_6 : parts;
    int last = s->colouring.n_colours - 1;
    for (int c = 0; c <= last; ++c) {
        set_colour(&t, backward ? last - c : c);
        over_rows(&t, t.count, body);
    }
}
