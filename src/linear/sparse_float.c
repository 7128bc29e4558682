// SPDX-License-Identifier: Apache-2.0
#include "linear/sparse_float.h"

#include <string.h>

#include "core/parallel.h"

enum { ROW_BLOCK = 4096 };

bool ty_csrf_reserve(ty_csrf* a, int n, int n_cols, int64_t entries)
{
    a->n = n;
    a->n_cols = n_cols;
    return ty_array_fresh(&a->start, n + 1) && ty_array_fresh(&a->col, entries) &&
           ty_array_fresh(&a->val, entries);
}

void ty_csrf_free(ty_csrf* a)
{
    ty_array_free(&a->start);
    ty_array_free(&a->col);
    ty_array_free(&a->val);
    a->n = a->n_cols = 0;
}

typedef struct conversion {
    const ty_csr* from;
    ty_csrf* to;
} conversion;

static void convert_rows(void* ctx, ty_range r)
{
    conversion* c = ctx;
    const int* start = c->from->row_start;
    for (int64_t i = r.begin; i < r.end; ++i) c->to->start.at[i + 1] = start[i + 1];
    for (int k = start[r.begin]; k < start[r.end]; ++k) {
        c->to->col.at[k] = c->from->col[k];
        c->to->val.at[k] = (float)c->from->val[k];
    }
}

bool ty_csrf_from_csr(ty_csrf* to, const ty_csr* from)
{
    int64_t entries = ty_csr_entries(from);
    if (!ty_csrf_reserve(to, from->n, from->n_cols, entries)) return false;
    to->start.at[0] = 0;
    conversion c = {from, to};
    ty_parallel_for(from->n, ROW_BLOCK, convert_rows, &c);
    return true;
}

typedef struct transposition {
    const ty_csrf* a;
    ty_csrf* to;
    int share;    // rows of the result that one piece of work fills
} transposition;

static void count_share(void* ctx, ty_range r)
{
    transposition* t = ctx;
    unsigned begin = (unsigned)(r.begin * t->share), count = (unsigned)t->share;
    int *start = t->to->start.at, n = t->to->n, entries = t->a->start.at[t->a->n];
    const int* col = t->a->col.at;
    for (unsigned i = begin; i < begin + count && i < (unsigned)n; ++i) start[i] = 0;
    for (int k = 0; k < entries; ++k)
        if ((unsigned)col[k] - begin < count) ++start[col[k]];
}

// From the back, so that `start` ends at the starts and the columns of each row rise.
static void fill_share(void* ctx, ty_range r)
{
    transposition* t = ctx;
    const ty_csrf* a = t->a;
    unsigned begin = (unsigned)(r.begin * t->share), count = (unsigned)t->share;
    int *start = t->to->start.at, *to_col = t->to->col.at;
    float* to_val = t->to->val.at;
    for (int i = a->n - 1; i >= 0; --i) {
        for (int k = a->start.at[i + 1] - 1; k >= a->start.at[i]; --k) {
            unsigned c = (unsigned)a->col.at[k];
            if (c - begin >= count) continue;
            int at = --start[c];
            to_col[at] = i;
            to_val[at] = a->val.at[k];
        }
    }
}

// Every worker reads all of `a` and fills its own share of rows: no atomics, and the result does
// not depend on how many shares there are.
bool ty_csrf_transpose(ty_csrf* to, const ty_csrf* a)
{
    if (!ty_csrf_reserve(to, a->n_cols, a->n, a->start.at[a->n])) return false;
    int shares = ty_threads();
    transposition t = {a, to, to->n / shares + 1};
    ty_parallel_for(shares, 1, count_share, &t);
    int end = 0;
    for (int i = 0; i < to->n; ++i) to->start.at[i] = end += to->start.at[i];
    to->start.at[to->n] = end;
    ty_parallel_for(shares, 1, fill_share, &t);
    return true;
}

typedef struct product {
    const int *start, *col;
    const float *val, *x;
    float* y;
} product;

static inline float row_times(const product* p, int64_t i)
{
    float sum = 0.0f;
    for (int k = p->start[i]; k < p->start[i + 1]; ++k) sum += p->val[k] * p->x[p->col[k]];
    return sum;
}

static void apply_rows(void* ctx, ty_range r)
{
    product p = *(product*)ctx;
    for (int64_t i = r.begin; i < r.end; ++i) p.y[i] = row_times(&p, i);
}

static void apply_add_rows(void* ctx, ty_range r)
{
    product p = *(product*)ctx;
    for (int64_t i = r.begin; i < r.end; ++i) p.y[i] += row_times(&p, i);
}

void ty_csrf_apply(const ty_csrf* a, const float* x, float* y)
{
    product p = {a->start.at, a->col.at, a->val.at, x, y};
    ty_parallel_for(a->n, ROW_BLOCK, apply_rows, &p);
}

void ty_csrf_apply_add(const ty_csrf* a, const float* x, float* y)
{
    product p = {a->start.at, a->col.at, a->val.at, x, y};
    ty_parallel_for(a->n, ROW_BLOCK, apply_add_rows, &p);
}
