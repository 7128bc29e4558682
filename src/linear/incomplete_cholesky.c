// SPDX-License-Identifier: Apache-2.0
#include "linear/incomplete_cholesky.h"

#include <math.h>

// Below this part of a_ii a pivot is taken for lost.
static const double SMALLEST_PIVOT = 1e-8;

void ty_ic_free(ty_ic* ic)
{
    ty_csr_free(&ic->lower);
    ty_array_free(&ic->inverse);
}

// Sum over common columns of two rows of L, columns below `end_col`.
static double sparse_dot(const ty_csr* l, int i, int j, int end_col)
{
    int p = l->row_start[i], q = l->row_start[j], p_end = l->row_start[i + 1],
        q_end = l->row_start[j + 1];
    double sum = 0.0;
    while (p < p_end && q < q_end && l->col[p] < end_col) {
        if (l->col[p] == l->col[q]) sum += l->val[p++] * l->val[q++];
        else if (l->col[p] < l->col[q]) ++p;
        else ++q;
    }
    return sum;
}

ty_status ty_ic_setup(ty_ic* ic, const ty_csr* a)
{
    ty_csr* l = &ic->lower;
    TY_TRY(ty_csr_reserve(l, a->n, a->n, ty_csr_entries(a)));
    if (!ty_array_resize(&ic->inverse, a->n)) return ty_no_memory("incomplete Cholesky");
    int at = 0;
    for (int i = 0; i < a->n; ++i) {
        int first = l->row_start[i] = at;
        double diagonal = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && a->col[k] <= i; ++k) {
            if (a->col[k] == i) diagonal = a->val[k];
            if (a->col[k] == i || a->val[k] == 0.0) continue;
            l->col[at] = a->col[k];
            l->val[at++] = a->val[k];
        }
        l->row_start[i + 1] = at;
        double pivot = diagonal;
        for (int k = first; k < at; ++k) {
            int j = l->col[k];
            l->val[k] = (l->val[k] - sparse_dot(l, i, j, j)) * ic->inverse.at[j];
            pivot -= l->val[k] * l->val[k];
        }
        if (pivot <= SMALLEST_PIVOT * diagonal) pivot = diagonal;
        ic->inverse.at[i] = pivot > 0.0 ? 1.0 / sqrt(pivot) : 0.0;
    }
    return ty_ok();
}

void ty_ic_apply(void* self, const double* r, double norm, double* z)
{
    (void)norm;
    const ty_ic* ic = self;
    const ty_csr* l = &ic->lower;
    for (int i = 0; i < l->n; ++i) {
        double sum = r[i];
        for (int k = l->row_start[i]; k < l->row_start[i + 1]; ++k) sum -= l->val[k] * z[l->col[k]];
        z[i] = sum * ic->inverse.at[i];
    }
    for (int i = l->n - 1; i >= 0; --i) {
        double x = z[i] *= ic->inverse.at[i];
        for (int k = l->row_start[i]; k < l->row_start[i + 1]; ++k) z[l->col[k]] -= l->val[k] * x;
    }
}
