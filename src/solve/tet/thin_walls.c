// SPDX-License-Identifier: Apache-2.0
// Walls that tets do not resolve: with liquid of both sides in one tet, or with a mesh that ends in
// their middle, because the liquid's continuation does (track/contour/walls.c).
#include "solve/tet/thin_walls.h"

#include <math.h>

#include "geometry/slope.h"
#include "geometry/thickness.h"
#include "solve/tet/tetflow.h"

// Of an edge: the shortest step along it, and the distance that counts as a wall in its way.
static const double STEP = 0.02;
// Of an edge: differences of a solid's distance.
static const double ASIDE = 0.02;
// Cosine of normals of the two faces of a wall; those of a corner's sides have 0.
static const double OPPOSITE = -0.3;
// Cells before a face: the liquid's slope there, and its differences
static const double AHEAD = 0.25, PROBE = 0.125;
// Cells between a vertex's distances from both faces
static const double ON_MIDDLE = 0.2;

// Whether a wall passes between two open points.
static bool is_crossed(const ty_sampler* solid, ty_vec3 a, ty_vec3 b, double da, double db)
{
    double length = ty_norm(b - a), least = STEP * length;
    bool near = false;
    for (double t = da; t < length - db && !near;) {
        double d = ty_value_at(solid, a + t / length * (b - a));
        near = d < least;
        t += d;
    }
    if (!near) return false;
    ty_vec3 na = ty_normalize(ty_slope_at(solid, a, ASIDE * length));
    ty_vec3 nb = ty_normalize(ty_slope_at(solid, b, ASIDE * length));
    return ty_dot(na, nb) < OPPOSITE;
}

bool ty_tet_wall_between(const ty_sampler* solid, const ty_vec3 x[4], const double d[4])
{
    int open = 0, reached;
    uint8_t joined[4] = {1, 2, 4, 8};
    for (int i = 0; i < 4; ++i) {
        if (!(d[i] > 0.0)) continue;
        open |= 1 << i;
        for (int j = 0; j < i; ++j)
            if (d[j] > 0.0 && !is_crossed(solid, x[i], x[j], d[i], d[j]))
                joined[i] |= (uint8_t)(1 << j), joined[j] |= (uint8_t)(1 << i);
    }
    reached = open & -open;
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < 4; ++i)
            if (reached >> i & 1) reached |= joined[i];
    return reached != open;
}

bool ty_tet_ends_in_wall(const ty_sampler* solid, const ty_sampler* liquid, ty_vec3 x, double depth,
                         double cell)
{
    ty_vec3 out = ty_solid_way_out(solid, cell, x), face = x + depth * out;
    double thickness;
    if (!ty_solid_is_thin(solid, cell, face, out, depth, 2.0 * TY_TET_DEPTH * cell, &thickness))
        return false;
    double near = ty_value_at(liquid, face), far = ty_value_at(liquid, face - thickness * out);
    // On the middle either side is the near one.
    bool wet = near < 0.0 || (far < 0.0 && thickness - depth < depth + ON_MIDDLE * cell);
    if (!wet || ty_solid_parting(near, far, thickness, cell) <= 0.5) return false;
    ty_vec3 slope = ty_slope_at(liquid, face + AHEAD * cell * out, PROBE * cell);
    return !ty_solid_is_passed(solid, liquid, cell, face, out, thickness, near, slope);
}
