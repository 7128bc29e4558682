// SPDX-License-Identifier: Apache-2.0
// Light at a smooth surface between two clear media, and directions drawn at random. Directions
// have length one; `normal` is on the side the light comes from.
#ifndef TY_RENDER_OPTICS_H
#define TY_RENDER_OPTICS_H

#include <stdbool.h>

#include "core/vec.h"

#define TY_WATER_INDEX 1.333
#define TY_GLASS_INDEX 1.5
#define TY_PI          3.14159265358979323846

// Share of unpolarised light that is reflected; `cosine` of the angle before, `eta` index after
// over index before. 1 beyond the critical angle.
static inline double ty_fresnel(double cosine, double eta)
{
    double sine2 = (1.0 - cosine * cosine) / (eta * eta);
    if (sine2 >= 1.0) return 1.0;
    double after = sqrt(1.0 - sine2);
    double parallel = (eta * cosine - after) / (eta * cosine + after);
    double across = (cosine - eta * after) / (cosine + eta * after);
    return 0.5 * (parallel * parallel + across * across);
}

// Share that a thin pane of glass reflects, between its two faces to and fro.
static inline double ty_pane_reflects(double cosine)
{
    double once = ty_fresnel(cosine, TY_GLASS_INDEX);
    return 2.0 * once / (1.0 + once);
}

static inline ty_vec3 ty_reflect(ty_vec3 dir, ty_vec3 normal)
{
    return dir - 2.0 * ty_dot(dir, normal) * normal;
}

// The direction after the surface; false when all light is reflected.
static inline bool ty_refract(ty_vec3 dir, ty_vec3 normal, double eta, ty_vec3* out)
{
    double cosine = -ty_dot(dir, normal);
    double sine2 = (1.0 - cosine * cosine) / (eta * eta);
    if (sine2 >= 1.0) return false;
    *out = dir / eta + (cosine / eta - sqrt(1.0 - sine2)) * normal;
    return true;
}

// Two directions across n.
static inline void ty_frame(ty_vec3 n, ty_vec3* s, ty_vec3* t)
{
    ty_vec3 helper = fabs(n[0]) < 0.6 ? ty_vec(1, 0, 0) : ty_vec(0, 1, 0);
    *s = ty_normalize(ty_cross(n, helper));
    *t = ty_cross(n, *s);
}

// Around n with density cosine / pi.
static inline ty_vec3 ty_cosine_direction(ty_vec3 n, const double u[2])
{
    ty_vec3 s, t;
    ty_frame(n, &s, &t);
    double r = sqrt(u[0]), angle = 2.0 * TY_PI * u[1];
    return r * cos(angle) * s + r * sin(angle) * t + sqrt(ty_max(0.0, 1.0 - u[0])) * n;
}

// Evenly in the cone around `axis` whose half angle has this cosine.
static inline ty_vec3 ty_cone_direction(ty_vec3 axis, double min_cosine, const double u[2])
{
    ty_vec3 s, t;
    ty_frame(axis, &s, &t);
    double cosine = 1.0 - u[0] * (1.0 - min_cosine),
           sine = sqrt(ty_max(0.0, 1.0 - cosine * cosine));
    double angle = 2.0 * TY_PI * u[1];
    return sine * cos(angle) * s + sine * sin(angle) * t + cosine * axis;
}

#endif
