// SPDX-License-Identifier: Apache-2.0
// Loops over long vectors, parallel, with sums in a fixed order.
#ifndef TY_LINEAR_VECTOR_H
#define TY_LINEAR_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/parallel.h"

enum {
    TY_VECTOR_BLOCK = 8192
};    // elements of one parallel piece of work, and of one partial sum

void ty_vector_zero(int64_t n, double* x);
double ty_vector_dot(int64_t n, const double* x, const double* y);
// y = x + s y.
void ty_vector_xpsy(int64_t n, const double* x, double s, double* y);
// x += s p, r -= s q; returns r . r of the new r.
double ty_vector_step(int64_t n, double s, const double* p, const double* q, double* x, double* r);
// The largest |x_i|, 0 where there is none.
double ty_vector_largest(int64_t n, const double* x);
bool ty_vector_is_finite(int64_t n, const double* x);

// One block's x . y in eight lanes: a fixed order that the compiler turns into vector instructions.
static inline double ty_vector_dot_block(const double* x, const double* y, int64_t n)
{
    double lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) lane[k] += x[i + k] * y[i + k];
    for (int k = 0; i < n; ++i, ++k) lane[k] += x[i] * y[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

#endif
