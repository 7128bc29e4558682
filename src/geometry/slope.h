// SPDX-License-Identifier: Apache-2.0
// A sampler of width 1 at single points: its value and its slope.
#ifndef TY_GEOMETRY_SLOPE_H
#define TY_GEOMETRY_SLOPE_H

#include "core/vec.h"
#include "geometry/sampler.h"

// Corners of a tetrahedron: differences at four points give a gradient.
static const double TY_TETRA[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

static inline double ty_value_at(const ty_sampler* f, ty_vec3 x)
{
    double at[1][3], value;
    ty_store3(at[0], x);
    ty_sample(f, 1, (const double(*)[3])at, &value);
    return value;
}

// By differences over `step` along each axis.
static inline ty_vec3 ty_slope_at(const ty_sampler* f, ty_vec3 x, double step)
{
    double at[4][3], d[4];
    ty_vec3 g = ty_vec(0, 0, 0);
    for (int c = 0; c < 4; ++c) ty_store3(at[c], x + step * ty_load3(TY_TETRA[c]));
    ty_sample(f, 4, (const double(*)[3])at, d);
    for (int c = 0; c < 4; ++c) g += d[c] * ty_load3(TY_TETRA[c]);
    return g / (4.0 * step);
}

#endif
