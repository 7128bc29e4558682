// SPDX-License-Identifier: Apache-2.0
#include "linear/smoothed_prolongation.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum {
    ROW_BLOCK = 4096,
    STRIDE =
        16 *
        ROW_BLOCK    // rows built at a time: their entries stay in the cache until they are in place
};

static const double OMEGA = 0.82;    // flat between 0.65 and 0.85

// When the weak entries are positive and large, D without them may vanish; this much of a_ii stays.
static const double SMALLEST_FILTERED = 0.1;

typedef struct smoothing {
    const ty_csr* a;
    const double* diagonal;
    const int* agg;
    ty_csrf *p, *staging;
    double theta2;
    int64_t first;    // row of the stride
    int base;         // where its rows go
} smoothing;

// Adds `value` for column c to the row being built at col[0..n).
static inline int add(int* col, float* val, int n, int c, float value)
{
    for (int k = 0; k < n; ++k) {
        if (col[k] != c) continue;
        val[k] += value;
        return n;
    }
    col[n] = c;
    val[n] = value;
    return n + 1;
}

// Keeps the largest entries and the sum.
static int shorten(int* col, float* val, int n)
{
    float sum = 0.0f, kept = 0.0f;
    for (int k = 0; k < n; ++k) sum += val[k];
    for (int k = 0; k < TY_PROLONGATION_ROW; ++k) {
        int largest = k;
        for (int m = k + 1; m < n; ++m)
            if (fabsf(val[m]) > fabsf(val[largest])) largest = m;
        float v = val[largest];
        int c = col[largest];
        val[largest] = val[k], col[largest] = col[k];
        val[k] = v, col[k] = c;
        kept += v;
    }
    for (int k = 0; k < TY_PROLONGATION_ROW && kept > 0.0f; ++k) val[k] *= sum / kept;
    return TY_PROLONGATION_ROW;
}

// One row of P at col, val; returns its length, at most that of A's row. The strong entries are
// summed by aggregate in units of a_ii, then multiplied by -omega a_ii / d, d the diagonal of A_F.
static int build_row(const smoothing* s, int64_t i, int* col, float* val)
{
    const ty_csr* a = s->a;
    double diagonal = s->diagonal[i], limit = s->theta2 * diagonal, d = diagonal;
    if (!(diagonal > 0.0)) return 0;
    double unit = 1.0 / diagonal;
    int n = 0;
    if (s->agg[i] >= 0) n = add(col, val, n, s->agg[i], 0.0f);
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
        int j = a->col[k];
        if (j == i) continue;
        if (!ty_is_strong(a->val[k], limit, s->diagonal[j])) d += a->val[k];
        else if (s->agg[j] >= 0) n = add(col, val, n, s->agg[j], (float)(a->val[k] * unit));
    }
    double divisor = fmax(d, SMALLEST_FILTERED * diagonal);
    float scale = (float)(-OMEGA * diagonal / divisor);
    for (int k = 0; k < n; ++k) val[k] *= scale;
    if (s->agg[i] >= 0) val[0] += (float)(1.0 - OMEGA * d / divisor);
    return n > TY_PROLONGATION_ROW ? shorten(col, val, n) : n;
}

// Rows of a block lie one after the other in `staging`, from where A's would start; start[i + 1]
// holds the length.
static void build_rows(void* ctx, ty_range r)
{
    smoothing* s = ctx;
    const int* row_start = s->a->row_start + s->first;
    int at = row_start[r.begin] - row_start[0];
    for (int64_t i = r.begin; i < r.end; ++i) {
        int n = build_row(s, s->first + i, s->staging->col.at + at, s->staging->val.at + at);
        s->p->start.at[s->first + i + 1] = n;
        at += n;
    }
    s->staging->start.at[r.block] = at - (row_start[r.begin] - row_start[0]);
}

static void place_rows(void* ctx, ty_range r)
{
    smoothing* s = ctx;
    const int* row_start = s->a->row_start + s->first;
    int* start = s->p->start.at + s->first;
    int from = row_start[r.begin] - row_start[0], to = s->base, n = s->staging->start.at[r.block];
    for (int64_t b = 0; b < r.block; ++b) to += s->staging->start.at[b];
    memcpy(s->p->col.at + to, s->staging->col.at + from, (size_t)n * sizeof(int));
    memcpy(s->p->val.at + to, s->staging->val.at + from, (size_t)n * sizeof(float));
    for (int64_t i = r.begin; i < r.end; ++i) start[i + 1] = to += start[i + 1];
}

static ty_status reserve(ty_csrf* p, ty_csrf* staging, const ty_csr* a, int n_cols)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->n; i += STRIDE) {
        int64_t end = i + STRIDE < a->n ? i + STRIDE : a->n,
                entries = a->row_start[end] - a->row_start[i];
        if (entries > most) most = entries;
    }
    bool ok = ty_csrf_reserve(p, a->n, n_cols, ty_csr_entries(a)) &&
              ty_csrf_reserve(staging, STRIDE / ROW_BLOCK, n_cols, most);
    return ok ? ty_ok() : ty_no_memory("prolongation");
}

ty_status ty_smoothed_prolongation(ty_csrf* p, ty_csrf* staging, const ty_csr* a,
                                   const double* diagonal, const ty_aggregates* agg, double theta)
{
    TY_TRY(reserve(p, staging, a, agg->n));
    smoothing s = {a, diagonal, agg->of.at, p, staging, theta * theta, 0, 0};
    p->start.at[0] = 0;
    for (; s.first < a->n; s.first += STRIDE) {
        int64_t n = a->n - s.first < STRIDE ? a->n - s.first : STRIDE;
        ty_parallel_for(n, ROW_BLOCK, build_rows, &s);
        ty_parallel_for(n, ROW_BLOCK, place_rows, &s);
        s.base = p->start.at[s.first + n];
    }
    return ty_ok();
}
