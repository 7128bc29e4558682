// SPDX-License-Identifier: Apache-2.0
#include "linear/smoothed_prolongation.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { ROW_BLOCK = 4096 };

static const double OMEGA = 4.0 / 3.0;

// When the weak entries are positive and large, D without them may vanish; this much of a_ii stays.
static const double SMALLEST_FILTERED = 0.1;

typedef struct smoothing {
    const ty_csr* a;
    const double* diagonal;
    const int* agg;
    ty_csrf* p;
    double theta2, omega;
} smoothing;

// Diagonal of A_F, and the row's sum of magnitudes of D^-1 A_F.
static double filtered_diagonal(const smoothing* s, int64_t i, double* magnitude)
{
    const ty_csr* a = s->a;
    double limit = s->theta2 * s->diagonal[i], d = s->diagonal[i], sum = 0.0;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
        int j = a->col[k];
        if (j == i) continue;
        if (ty_is_strong(a->val[k], limit, s->diagonal[j]))
            sum += fabs(a->val[k]);
        else
            d += a->val[k];
    }
    d = fmax(d, SMALLEST_FILTERED * s->diagonal[i]);
    *magnitude = d > 0.0 ? 1.0 + sum / d : 1.0;
    return d;
}

static double row_bound(void* ctx, ty_range r)
{
    smoothing* s = ctx;
    double largest = 0.0, magnitude;
    for (int64_t i = r.begin; i < r.end; ++i) {
        filtered_diagonal(s, i, &magnitude);
        largest = fmax(largest, magnitude);
    }
    return largest;
}

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

// One row of P at col, val; returns its length, at most that of A's row.
static int build_row(const smoothing* s, int64_t i, int* col, float* val)
{
    const ty_csr* a = s->a;
    double limit = s->theta2 * s->diagonal[i], magnitude;
    double d = filtered_diagonal(s, i, &magnitude), scale = d > 0.0 ? s->omega / d : 0.0;
    int n = 0;
    if (s->agg[i] >= 0) n = add(col, val, n, s->agg[i], (float)(1.0 - s->omega));
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
        int j = a->col[k];
        if (j != i && s->agg[j] >= 0 && ty_is_strong(a->val[k], limit, s->diagonal[j]))
            n = add(col, val, n, s->agg[j], (float)(-scale * a->val[k]));
    }
    return n;
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
    smoothing s = {a, diagonal, agg->of.at, p, theta * theta, 0.0};
    s.omega = OMEGA / fmax(1.0, ty_parallel_max(a->n, ROW_BLOCK, row_bound, &s));
    ty_parallel_for(a->n, ROW_BLOCK, build_rows, &s);
    close_gaps(a, p);
    return ty_ok();
}
