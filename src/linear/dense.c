// SPDX-License-Identifier: Apache-2.0
#include "linear/dense.h"

#include <math.h>
#include <string.h>

#include "linear/sparse_float.h"

// Cancellation leaves about n eps of the diagonal of a singular row; a real pivot is larger than
// this part.
static const double SMALLEST_PIVOT = 1e-11;

void ty_dense_free(ty_dense* d)
{
    ty_array_free(&d->factor);
    ty_array_free(&d->x);
    d->n = 0;
}

// Marks in `last` (one per row) the last row of every piece without a tied row. Rows reach each
// other through entries: labels sink until nothing changes.
static void mark_loose(const ty_csr* a, const unsigned char* tied, double* label, double* is_loose)
{
    for (int i = 0; i < a->n; ++i) label[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < a->n; ++i)
            for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
                int j = a->col[k];
                if (a->val[k] == 0.0 || label[j] == label[i]) continue;
                label[i] = label[j] = fmin(label[i], label[j]);
                changed = true;
            }
    }
    for (int i = 0; i < a->n; ++i) is_loose[i] = 0.0;
    for (int i = a->n - 1; i >= 0; --i) {
        bool last = true, any_tied = false;
        for (int j = 0; j < a->n; ++j) {
            if (label[j] != label[i]) continue;
            last = last && j <= i;
            any_tied = any_tied || tied[j];
        }
        is_loose[i] = last && !any_tied;
    }
}

static void factor(ty_dense* d, const double* is_loose)
{
    int n = d->n;
    for (int i = 0; i < n; ++i) {
        double* row = d->factor.at + (size_t)i * (size_t)n;
        double diagonal = row[i];
        for (int j = 0; j <= i; ++j) {
            const double* other = d->factor.at + (size_t)j * (size_t)n;
            double sum = row[j];
            for (int k = 0; k < j; ++k) sum -= row[k] * other[k];
            if (j < i) row[j] = sum * other[j];    // the diagonal holds 1 / l_jj
            else
                row[i] = sum > SMALLEST_PIVOT * diagonal && is_loose[i] == 0.0 ? 1.0 / sqrt(sum)
                                                                               : 0.0;
        }
    }
}

ty_status ty_dense_factor(ty_dense* d, const ty_csr* a, const unsigned char* tied)
{
    size_t n = (size_t)a->n;
    d->n = a->n;
    if (!ty_array_fresh(&d->factor, a->n * (int64_t)a->n) ||
        !ty_array_fresh(&d->x, 2 * (int64_t)a->n))
        return ty_no_memory("coarsest level");
    if (n == 0) return ty_ok();
    memset(d->factor.at, 0, n * n * sizeof(double));
    memset(d->x.at, 0, 2 * n * sizeof(double));
    for (int i = 0; i < a->n; ++i)
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
            d->factor.at[(size_t)i * n + (size_t)a->col[k]] += a->val[k];
    if (tied) mark_loose(a, tied, d->x.at, d->x.at + n);
    factor(d, d->x.at + n);
    return ty_ok();
}

void ty_dense_solve(ty_dense* d)
{
    int n = d->n;
    double* x = d->x.at;
    for (int i = 0; i < n; ++i) {
        const double* row = d->factor.at + (size_t)i * (size_t)n;
        for (int k = 0; k < i; ++k) x[i] -= row[k] * x[k];
        x[i] *= row[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        const double* row = d->factor.at + (size_t)i * (size_t)n;
        x[i] *= row[i];
        for (int k = 0; k < i; ++k) x[k] -= row[k] * x[i];
    }
}
