// SPDX-License-Identifier: Apache-2.0
// Three-vectors. In memory a vector is double[3]; in registers it is ty_vec3, a compiler vector
// that has + - * / with vectors and scalars, so no formula is written three times. The fourth lane
// is zero.
//
//   double (*pos)[3] = ...;
//   ty_vec3 edge = ty_load3(pos[b]) - ty_load3(pos[a]);
//   ty_store3(pos[c], ty_load3(pos[a]) + 0.5 * edge);
#ifndef TY_CORE_VEC_H
#define TY_CORE_VEC_H

#include <math.h>
#include <stdint.h>

// Aligned to 8 so that it may be a field of any struct.
typedef double ty_vec3 __attribute__((vector_size(32), aligned(8)));

static inline ty_vec3 ty_vec(double x, double y, double z) { return (ty_vec3){x, y, z, 0.0}; }
static inline ty_vec3 ty_load3(const double x[3]) { return (ty_vec3){x[0], x[1], x[2], 0.0}; }
static inline void ty_store3(double out[3], ty_vec3 a)
{
    for (int axis = 0; axis < 3; ++axis) out[axis] = a[axis];
}
static inline double ty_dot(ty_vec3 a, ty_vec3 b)
{
    ty_vec3 p = a * b;
    return p[0] + p[1] + p[2];
}
static inline ty_vec3 ty_cross(ty_vec3 a, ty_vec3 b)
{
    return ty_vec(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
}
static inline double ty_norm(ty_vec3 a) { return sqrt(ty_dot(a, a)); }
// Zero stays zero.
static inline ty_vec3 ty_normalize(ty_vec3 a)
{
    double n = ty_norm(a);
    return n > 0.0 ? a / n : a;
}
static inline ty_vec3 ty_min3(ty_vec3 a, ty_vec3 b)
{
    return ty_vec(fmin(a[0], b[0]), fmin(a[1], b[1]), fmin(a[2], b[2]));
}
static inline ty_vec3 ty_max3(ty_vec3 a, ty_vec3 b)
{
    return ty_vec(fmax(a[0], b[0]), fmax(a[1], b[1]), fmax(a[2], b[2]));
}
static inline ty_vec3 ty_lerp3(ty_vec3 a, ty_vec3 b, double t) { return a + t * (b - a); }

// One instruction each, where fmin and fmax are calls; b when either is not a number.
static inline double ty_min(double a, double b) { return a < b ? a : b; }
static inline double ty_max(double a, double b) { return a > b ? a : b; }
static inline double ty_clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

// The same in every lane.
typedef int64_t ty_lane_mask __attribute__((vector_size(32), aligned(8)));
static inline ty_vec3 ty_pick(ty_lane_mask m, ty_vec3 yes, ty_vec3 no)
{
    return (ty_vec3)(((ty_lane_mask)yes & m) | ((ty_lane_mask)no & ~m));
}
#if defined(__AVX__)
static inline ty_vec3 ty_lower(ty_vec3 a, ty_vec3 b) { return __builtin_ia32_minpd256(a, b); }
static inline ty_vec3 ty_higher(ty_vec3 a, ty_vec3 b) { return __builtin_ia32_maxpd256(a, b); }
#else
static inline ty_vec3 ty_lower(ty_vec3 a, ty_vec3 b) { return ty_pick(a < b, a, b); }
static inline ty_vec3 ty_higher(ty_vec3 a, ty_vec3 b) { return ty_pick(a > b, a, b); }
#endif

// Two neighbours in memory.
typedef double ty_vec2 __attribute__((vector_size(16), aligned(8)));
static inline ty_vec2 ty_load2(const double x[2]) { return (ty_vec2){x[0], x[1]}; }

// Four neighbours in memory, in one load: memcpy goes by the stack in two halves and waits for them.
typedef double ty_four __attribute__((vector_size(32), aligned(8), may_alias));
static inline ty_vec3 ty_load4(const double x[4]) { return (ty_vec3) * (const ty_four*)x; }

// An axis-aligned box. Value. Empty when lo > hi in some axis.
typedef struct ty_box {
    double lo[3], hi[3];
} ty_box;

static inline ty_box ty_box_empty(void)
{
    return (ty_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}
static inline void ty_box_add(ty_box* b, const double x[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        b->lo[axis] = ty_min(x[axis], b->lo[axis]);
        b->hi[axis] = ty_max(x[axis], b->hi[axis]);
    }
}

#endif
