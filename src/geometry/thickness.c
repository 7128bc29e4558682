// SPDX-License-Identifier: Apache-2.0
#include "geometry/thickness.h"

#include "geometry/slope.h"

// Cells: step of differences, what counts as on a face, and the least width of an opening.
static const double PROBE = 0.125, ON_FACE = 0.05, OPENING = 0.2;
// Steps of differences from the middle to one of its sides; along no wall that follows the axes.
static const double ASIDE[3] = {2.0, 1.3, 1.6};
// A surface that passes a wall: least sine of their angle, and cells beyond its lines on the faces
// where the other side must be found; cells of its distance that bends and waves may make.
static const double LEAST_SINE = 0.25, BEYOND = 0.5, BENT = 0.25;

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

// In the open at x the distance is on the side of the surface that `expected` is.
static bool is_side(const ty_sampler* solid, const ty_sampler* liquid, ty_vec3 x, double expected)
{
    return ty_value_at(solid, x) < 0.0 || ty_value_at(liquid, x) * expected > 0.0;
}

bool ty_solid_is_passed(const ty_sampler* solid, const ty_sampler* liquid, double cell,
                        ty_vec3 face, ty_vec3 out, double thickness, double near, ty_vec3 slope)
{
    ty_vec3 along = slope - ty_dot(slope, out) * out, behind = face - thickness * out;
    double sine = ty_norm(along), far = near - thickness * ty_dot(slope, out);
    if (sine < LEAST_SINE || fabs(ty_value_at(liquid, behind) - far) > BENT * cell) return false;
    double value[2] = {near, far}, margin = BEYOND * cell;
    ty_vec3 place[2] = {face, behind};
    for (int side = 0; side < 2; ++side) {
        double other = value[side] > 0.0 ? -margin : margin;
        ty_vec3 x = place[side] + (other - value[side]) / (sine * sine) * along;
        if (!is_side(solid, liquid, x, other)) return false;
    }
    return true;
}
