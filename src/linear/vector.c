// SPDX-License-Identifier: Apache-2.0
#include "linear/vector.h"

#include <math.h>
#include <string.h>

typedef struct vectors {
    const double *p, *q;
    double *x, *r;
    double s;
} vectors;

static void zero_block(void* ctx, ty_range r)
{
    double* x = ctx;
    memset(x + r.begin, 0, (size_t)(r.end - r.begin) * sizeof *x);
}

void ty_vector_zero(int64_t n, double* x) { ty_parallel_for(n, TY_VECTOR_BLOCK, zero_block, x); }

static double dot_block(void* ctx, ty_range r)
{
    vectors* v = ctx;
    return ty_vector_dot_block(v->p + r.begin, v->q + r.begin, r.end - r.begin);
}

double ty_vector_dot(int64_t n, const double* x, const double* y)
{
    vectors v = {.p = x, .q = y};
    return ty_parallel_sum(n, TY_VECTOR_BLOCK, dot_block, &v);
}

static void xpsy_block(void* ctx, ty_range r)
{
    vectors* v = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) v->x[i] = v->p[i] + v->s * v->x[i];
}

void ty_vector_xpsy(int64_t n, const double* x, double s, double* y)
{
    vectors v = {.p = x, .x = y, .s = s};
    ty_parallel_for(n, TY_VECTOR_BLOCK, xpsy_block, &v);
}

static double step_block(void* ctx, ty_range range)
{
    vectors* v = ctx;
    const double* restrict p = v->p, * restrict q = v->q;
    double* restrict x = v->x, * restrict r = v->r, s = v->s;
    for (int64_t i = range.begin; i < range.end; ++i) {
        x[i] += s * p[i];
        r[i] -= s * q[i];
    }
    return ty_vector_dot_block(r + range.begin, r + range.begin, range.end - range.begin);
}

double ty_vector_step(int64_t n, double s, const double* p, const double* q, double* x, double* r)
{
    vectors v = {p, q, x, r, s};
    return ty_parallel_sum(n, TY_VECTOR_BLOCK, step_block, &v);
}

static double largest_block(void* ctx, ty_range r)
{
    const double* x = ctx;
    double lane[8] = {0}, largest = 0.0;
    int64_t i = r.begin;
    for (; i + 8 <= r.end; i += 8)
        for (int k = 0; k < 8; ++k) {
            double size = fabs(x[i + k]);
            lane[k] = size > lane[k] ? size : lane[k];
        }
    for (; i < r.end; ++i) largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    for (int k = 0; k < 8; ++k) largest = lane[k] > largest ? lane[k] : largest;
    return largest;
}

double ty_vector_largest(int64_t n, const double* x)
{
    return n > 0 ? ty_parallel_max(n, TY_VECTOR_BLOCK, largest_block, (void*)x) : 0.0;
}

// Not finite times zero is not a number, so the sum tells.
static double finite_block(void* ctx, ty_range r)
{
    const double* x = ctx;
    double sum = 0.0;
    for (int64_t i = r.begin; i < r.end; ++i) sum += x[i] * 0.0;
    return sum;
}

bool ty_vector_is_finite(int64_t n, const double* x)
{
    return ty_parallel_sum(n, TY_VECTOR_BLOCK, finite_block, (void*)x) == 0.0;
}
