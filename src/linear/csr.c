// SPDX-License-Identifier: Apache-2.0
#include "linear/csr.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"

enum { ROW_BLOCK = 4096 };    // rows of one parallel piece of work

static bool grow(void** p, int64_t* capacity, int64_t count, size_t size)
{
    if (count <= *capacity && *p) return true;
    ty_free(*p);
    int64_t wanted = count + count / 8;    // a slowly growing liquid must not allocate every step
    *p = ty_alloc((size_t)wanted, size);
    *capacity = *p ? wanted : 0;
    return *p != NULL;
}

ty_status ty_csr_reserve(ty_csr* a, int n, int n_cols, int64_t entries)
{
    assert(n >= 0 && n_cols >= 0 && entries >= 0);
    if (entries > INT_MAX)
        return ty_fail(TY_BAD_INPUT,
                       "a matrix with %lld entries; at most %d are possible, coarsen the cells",
                       (long long)entries, INT_MAX);
    a->n = a->n_cols = 0;
    int64_t rows = a->row_capacity, values = a->entry_capacity;
    bool ok = grow((void**)&a->row_start, &rows, (int64_t)n + 1, sizeof *a->row_start) &&
              grow((void**)&a->col, &a->entry_capacity, entries, sizeof *a->col) &&
              grow((void**)&a->val, &values, entries, sizeof *a->val);
    a->row_capacity = rows;
    if (!ok) {
        ty_csr_free(a);
        return ty_no_memory("sparse matrix");
    }
    a->row_start[0] = 0;
    a->row_start[n] = 0;
    a->n = n;
    a->n_cols = n_cols;
    return ty_ok();
}

void ty_csr_free(ty_csr* a)
{
    ty_free(a->row_start);
    ty_free(a->col);
    ty_free(a->val);
    *a = (ty_csr){0};
}

// Insertion sort: rows are short, and it keeps equal columns in their order.
static void sort_row(int* col, double* val, int n)
{
    for (int i = 1; i < n; ++i) {
        int c = col[i], k = i;
        double v = val[i];
        for (; k > 0 && col[k - 1] > c; --k) {
            col[k] = col[k - 1];
            val[k] = val[k - 1];
        }
        col[k] = c;
        val[k] = v;
    }
}

static void sort_rows(void* ctx, ty_range r)
{
    ty_csr* a = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        sort_row(a->col + a->row_start[i], a->val + a->row_start[i],
                 a->row_start[i + 1] - a->row_start[i]);
}

void ty_csr_sort(ty_csr* a) { ty_parallel_for(a->n, ROW_BLOCK, sort_rows, a); }

// Adds up neighbours of equal column and closes the gaps.
static void merge_rows(ty_csr* a)
{
    int out = 0, begin = 0;
    for (int i = 0; i < a->n; ++i) {
        int end = a->row_start[i + 1], first = out;
        for (int k = begin; k < end; ++k) {
            if (out > first && a->col[out - 1] == a->col[k]) {
                a->val[out - 1] += a->val[k];
                continue;
            }
            a->col[out] = a->col[k];
            a->val[out++] = a->val[k];
        }
        a->row_start[i + 1] = out;
        begin = end;
    }
}

ty_status ty_csr_from_entries(ty_csr* a, int n, int n_cols, int64_t n_entries,
                              const ty_entry* entries)
{
    TY_TRY(ty_csr_reserve(a, n, n_cols, n_entries));
    memset(a->row_start, 0, ((size_t)n + 1) * sizeof *a->row_start);
    for (int64_t e = 0; e < n_entries; ++e) {
        assert(entries[e].row >= 0 && entries[e].row < n && entries[e].col >= 0 &&
               entries[e].col < n_cols);
        ++a->row_start[entries[e].row];
    }
    int end = 0;
    for (int i = 0; i <= n; ++i) a->row_start[i] = end += a->row_start[i];
    // Filled from the back, so that row_start ends at the starts and equal places keep their order.
    for (int64_t e = n_entries - 1; e >= 0; --e) {
        int k = --a->row_start[entries[e].row];
        a->col[k] = entries[e].col;
        a->val[k] = entries[e].val;
    }
    ty_csr_sort(a);
    merge_rows(a);
    return ty_ok();
}

ty_status ty_csr_copy(ty_csr* to, const ty_csr* from)
{
    int64_t entries = ty_csr_entries(from);
    TY_TRY(ty_csr_reserve(to, from->n, from->n_cols, entries));
    if (!from->row_start) return ty_ok();
    memcpy(to->row_start, from->row_start, ((size_t)from->n + 1) * sizeof *to->row_start);
    memcpy(to->col, from->col, (size_t)entries * sizeof *to->col);
    memcpy(to->val, from->val, (size_t)entries * sizeof *to->val);
    return ty_ok();
}

ty_status ty_csr_transpose(ty_csr* to, const ty_csr* a)
{
    assert(to != a);
    int64_t entries = ty_csr_entries(a);
    TY_TRY(ty_csr_reserve(to, a->n_cols, a->n, entries));
    int* start = to->row_start;
    memset(start, 0, ((size_t)to->n + 1) * sizeof *start);
    for (int64_t k = 0; k < entries; ++k) ++start[a->col[k]];
    int end = 0;
    for (int i = 0; i <= to->n; ++i) start[i] = end += start[i];
    for (int i = a->n - 1; i >= 0; --i) {
        for (int k = a->row_start[i + 1] - 1; k >= a->row_start[i]; --k) {
            int at = --start[a->col[k]];
            to->col[at] = i;
            to->val[at] = a->val[k];
        }
    }
    return ty_ok();
}

typedef struct product {
    const ty_csr* a;
    const double *x, *b;
    double* y;
} product;

static inline double row_times(const ty_csr* a, const double* x, int64_t i)
{
    double sum = 0.0;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) sum += a->val[k] * x[a->col[k]];
    return sum;
}

static void apply_rows(void* ctx, ty_range r)
{
    product* p = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) p->y[i] = row_times(p->a, p->x, i);
}

static void residual_rows(void* ctx, ty_range r)
{
    product* p = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) p->y[i] = p->b[i] - row_times(p->a, p->x, i);
}

void ty_csr_apply(const ty_csr* a, const double* x, double* y)
{
    product p = {a, x, NULL, y};
    ty_parallel_for(a->n, ROW_BLOCK, apply_rows, &p);
}

void ty_csr_residual(const ty_csr* a, const double* x, const double* b, double* r)
{
    product p = {a, x, b, r};
    ty_parallel_for(a->n, ROW_BLOCK, residual_rows, &p);
}

double ty_csr_get(const ty_csr* a, int row, int col)
{
    int lo = a->row_start[row], hi = a->row_start[row + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (a->col[mid] < col) lo = mid + 1;
        else hi = mid;
    }
    return lo < a->row_start[row + 1] && a->col[lo] == col ? a->val[lo] : 0.0;
}

ty_status ty_csr_validate(const ty_csr* a)
{
    if (a->n == 0) return ty_ok();
    if (a->row_start[0] != 0)
        return ty_fail(TY_BAD_INPUT, "matrix: row 0 starts at %d", a->row_start[0]);
    for (int i = 0; i < a->n; ++i) {
        if (a->row_start[i + 1] < a->row_start[i] || a->row_start[i + 1] > a->entry_capacity)
            return ty_fail(TY_BAD_INPUT,
                           "matrix: row %d ends before it starts, or beyond the array", i);
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            if (a->col[k] < 0 || a->col[k] >= a->n_cols)
                return ty_fail(TY_BAD_INPUT, "matrix: row %d has column %d of %d", i, a->col[k],
                               a->n_cols);
            if (k > a->row_start[i] && a->col[k] <= a->col[k - 1])
                return ty_fail(TY_BAD_INPUT, "matrix: the columns of row %d do not rise", i);
            if (!isfinite(a->val[k]))
                return ty_fail(TY_BAD_INPUT, "matrix: row %d has a value %g", i, a->val[k]);
        }
    }
    return ty_ok();
}

ty_status ty_csr_validate_symmetric(const ty_csr* a, double tolerance)
{
    TY_TRY(ty_csr_validate(a));
    if (a->n != a->n_cols)
        return ty_fail(TY_BAD_INPUT, "matrix: %d rows but %d columns", a->n, a->n_cols);
    for (int i = 0; i < a->n; ++i) {
        double diagonal = ty_csr_get(a, i, i);
        if (diagonal < 0.0)
            return ty_fail(TY_BAD_INPUT, "matrix: the diagonal of row %d is %g", i, diagonal);
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            int j = a->col[k];
            double scale = sqrt(diagonal * ty_csr_get(a, j, j));
            if (!(fabs(a->val[k] - ty_csr_get(a, j, i)) <= tolerance * scale))
                return ty_fail(TY_BAD_INPUT, "matrix: entries (%d, %d) and (%d, %d) differ", i, j,
                               j, i);
        }
    }
    return ty_ok();
}
