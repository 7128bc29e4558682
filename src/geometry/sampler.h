// SPDX-License-Identifier: Apache-2.0
// A function of space, asked at many points at a time. The only channel between trackers and
// solvers.
#ifndef TY_GEOMETRY_SAMPLER_H
#define TY_GEOMETRY_SAMPLER_H

#include <stddef.h>

// Value; borrows `self`. Re-entrant: may be called from several threads at once. A distance has
// width 1 and is negative inside; within `exact_band` metres of its surface it is a true distance
// (0: no promise, only the sign and the zero set count).
typedef struct ty_sampler {
    const void* self;
    int width;                                                                   // values per point
    double exact_band;                                                           // metres
    void (*eval)(const void* self, int n, const double (*x)[3], double* out);    // out: n x width
} ty_sampler;

static inline void ty_sample(const ty_sampler* s, int n, const double (*x)[3], double* out)
{
    s->eval(s->self, n, x, out);
}

enum { TY_SAMPLE_BATCH = 512 };    // points per call that keep buffers in the first-level cache

#endif
