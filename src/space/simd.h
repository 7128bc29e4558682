// SPDX-License-Identifier: Apache-2.0
// Eight floats in a register: compiler vectors have + - * / and comparisons; here are the few
// operations they lack, with the machine's instructions where it has them. The plain versions give
// the same bits, but for ty_f8_fma.
#ifndef TY_SPACE_SIMD_H
#define TY_SPACE_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef float ty_f8 __attribute__((vector_size(32)));
typedef int32_t ty_i8 __attribute__((vector_size(32)));    // of comparisons: 0 or -1 in each lane

static inline ty_f8 ty_f8_all(float a) { return (ty_f8){a, a, a, a, a, a, a, a}; }
static inline ty_f8 ty_f8_load(const float a[8])
{
    ty_f8 v;
    memcpy(&v, __builtin_assume_aligned(a, 32), sizeof v);
    return v;
}
static inline void ty_f8_store(float out[8], ty_f8 a) { memcpy(out, &a, sizeof a); }

// mask ? a : b in each lane.
static inline ty_f8 ty_f8_pick(ty_i8 mask, ty_f8 a, ty_f8 b)
{
#if defined(__AVX2__)
    return (ty_f8)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (ty_f8)(((ty_i8)a & mask) | ((ty_i8)b & ~mask));
#endif
}
// Of two numbers; not meant for NaN.
static inline ty_f8 ty_f8_min(ty_f8 a, ty_f8 b)
{
#if defined(__AVX2__)
    return (ty_f8)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return ty_f8_pick(a < b, a, b);
#endif
}
static inline ty_f8 ty_f8_max(ty_f8 a, ty_f8 b)
{
#if defined(__AVX2__)
    return (ty_f8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return ty_f8_pick(a > b, a, b);
#endif
}
static inline ty_f8 ty_f8_abs(ty_f8 a)
{
    ty_i8 most = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
                  INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    return (ty_f8)((ty_i8)a & most);
}
// a * b + c, rounded once or twice: only for bounds that have a margin for it.
static inline ty_f8 ty_f8_fma(ty_f8 a, ty_f8 b, ty_f8 c)
{
#if defined(__AVX2__) && defined(__FMA__)
    return (ty_f8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}
static inline ty_f8 ty_f8_sqrt(ty_f8 a)
{
#if defined(__AVX2__)
    return (ty_f8)_mm256_sqrt_ps((__m256)a);
#else
    for (int k = 0; k < 8; ++k) a[k] = sqrtf(a[k]);
    return a;
#endif
}
// The least lane.
static inline float ty_f8_least(ty_f8 a)
{
    a = ty_f8_min(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = ty_f8_min(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
    a = ty_f8_min(a, __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6));
    return a[0];
}
// Bit k is set where lane k of the mask is.
static inline unsigned ty_i8_bits(ty_i8 mask)
{
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#else
    unsigned bits = 0;
    for (int k = 0; k < 8; ++k) bits |= (unsigned)(mask[k] & 1) << k;
    return bits;
#endif
}

typedef int64_t ty_i4 __attribute__((vector_size(32)));    // of comparisons of four doubles

// The same of four lanes.
static inline unsigned ty_i4_bits(ty_i4 mask)
{
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_pd((__m256d)mask);
#else
    return (unsigned)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
#endif
}

#endif
