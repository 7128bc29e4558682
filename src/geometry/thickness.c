// SPDX-License-Identifier: Apache-2.0
#include "geometry/thickness.h"

// Cells: step of differences, what counts as on a face, and the least width of an opening.
static const double PROBE = 0.125, ON_FACE = 0.05, OPENING = 0.2;
// Steps of differences from the middle to one of its sides; along no wall that follows the axes.
static const double ASIDE[3] = {2.0, 1.3, 1.6};

static double sample(const ty_sampler* solid, ty_vec3 x)
{
    double at[1][3], d;
    ty_store3(at[0], x);
    ty_sample(solid, 1, (const double(*)[3])at, &d);
    return d;
}

static ty_vec3 slope(const ty_sampler* solid, double step, ty_vec3 x)
{
    static const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    double at[4][3], d[4];
    ty_vec3 g = ty_vec(0, 0, 0);
    for (int c = 0; c < 4; ++c) ty_store3(at[c], x + step * ty_load3(corner[c]));
    ty_sample(solid, 4, (const double(*)[3])at, d);
    for (int c = 0; c < 4; ++c) g += d[c] * ty_load3(corner[c]);
    return g / (4.0 * step);
}

ty_vec3 ty_solid_way_out(const ty_sampler* solid, double cell, ty_vec3 x)
{
    double step = PROBE * cell;
    ty_vec3 g = slope(solid, step, x);
    if (ty_norm(g) < TY_SOLID_MIDDLE) g = slope(solid, step, x + step * ty_load3(ASIDE));
    return ty_normalize(g);
}

bool ty_solid_is_thin(const ty_sampler* solid, double cell, ty_vec3 face, ty_vec3 out, double from,
                      double most, double* thickness)
{
    for (double t = from; t < most;) {
        double d = sample(solid, face - t * out);
        bool on_face = d > -ON_FACE * cell;
        if (on_face && sample(solid, face - (t + OPENING * cell) * out) > 0.0) {
            *thickness = t;
            return true;
        }
        t += on_face ? OPENING * cell : -d;
    }
    return false;
}
