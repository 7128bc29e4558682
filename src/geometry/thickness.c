// SPDX-License-Identifier: Apache-2.0
#include "geometry/thickness.h"

#include "geometry/slope.h"

// Cells: step of differences, what counts as on a face, and the least width of an opening.
static const double PROBE = 0.125, ON_FACE = 0.05, OPENING = 0.2;
// Steps of differences from the middle to one of its sides; along no wall that follows the axes.
static const double ASIDE[3] = {2.0, 1.3, 1.6};

ty_vec3 ty_solid_way_out(const ty_sampler* solid, double cell, ty_vec3 x)
{
    double step = PROBE * cell;
    ty_vec3 g = ty_slope_at(solid, x, step);
    if (ty_norm(g) < TY_SOLID_MIDDLE) g = ty_slope_at(solid, x + step * ty_load3(ASIDE), step);
    return ty_normalize(g);
}

bool ty_solid_is_thin(const ty_sampler* solid, double cell, ty_vec3 face, ty_vec3 out, double from,
                      double most, double* thickness)
{
    for (double t = from; t < most;) {
        double d = ty_value_at(solid, face - t * out);
        bool on_face = d > -ON_FACE * cell;
        if (on_face && ty_value_at(solid, face - (t + OPENING * cell) * out) > 0.0) {
            *thickness = t;
            return true;
        }
        t += on_face ? OPENING * cell : -d;
    }
    return false;
}
