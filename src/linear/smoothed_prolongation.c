// SPDX-License-Identifier: Apache-2.0
#include "linear/smoothed_prolongation.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { ROW_BLOCK = 4096 };

static const double OMEGA = 0.82;    // flat between 0.65 and 0.85

// When the weak entries are positive and large, D without them may vanish; this much of a_ii stays.
static const double SMALLEST_FILTERED = 0.1;

typedef struct smoothing {
    const ty_csr* a;
    const double* diagonal;
    const int* agg;
    ty_csrf* p;
    double theta2;
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

// One row of P at col, val; returns its length, at most that of A's row. The strong entries are summed by
// aggregate in units of a_ii, then multiplied by -omega a_ii / d, d the diagonal of A_F.
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
        if (!ty_is_strong(a->val[k], limit, s->diagonal[j]))
            d += a->val[k];
        else if (s->agg[j] >= 0)
            n = add(col, val, n, s->agg[j], (float)(a->val[k] * unit));
    }
    double divisor = fmax(d, SMALLEST_FILTERED * diagonal);
    float scale = (float)(-OMEGA * diagonal / divisor);
    for (int k = 0; k < n; ++k) val[k] *= scale;
    if (s->agg[i] >= 0) val[0] += (float)(1.0 - OMEGA * d / divisor);
    return n > TY_PROLONGATION_ROW ? shorten(col, val, n) : n;
}

// Rows go first to where A's rows start, which leaves gaps; start[i + 1] holds the length.
static void build_rows(void* ctx, ty_range r)
{
    smoothing* s = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int at = s->a->row_start[i];
        s->p->start.at[i + 1] = build_row(s, i, s->p->col.at + at, s->p->val.at + at);
    }
}

// Moves every row down to its place, in order, so that nothing unread is overwritten.
static void close_gaps(const ty_csr* a, ty_csrf* p)
{
    int end = 0;
    p->start.at[0] = 0;
    for (int i = 0; i < a->n; ++i) {
        int from = a->row_start[i], n = p->start.at[i + 1];
        for (int k = 0; k < n; ++k) {
            p->col.at[end + k] = p->col.at[from + k];
            p->val.at[end + k] = p->val.at[from + k];
        }
        p->start.at[i + 1] = end += n;
    }
}

ty_status ty_smoothed_prolongation(ty_csrf* p, const ty_csr* a, const double* diagonal,
                                   const ty_aggregates* agg, double theta)
{
    if (!ty_csrf_reserve(p, a->n, agg->n, ty_csr_entries(a))) return ty_no_memory("prolongation");
    smoothing s = {a, diagonal, agg->of.at, p, theta * theta};
    ty_parallel_for(a->n, ROW_BLOCK, build_rows, &s);
    close_gaps(a, p);
    return ty_ok();
}
