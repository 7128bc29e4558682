// SPDX-License-Identifier: Apache-2.0
// The liquid inside solids beside concave edges, where two solids meet: a point's mirror image lies
// in the other one, or its wall point does. There the linear function fitted to the distance in the
// open around is continued; a constant would bend the surface, and a still pool would move. Where
// no way leads to the open (a ball that touches a wall) the surface stays as it is.
#include <stdlib.h>

#include "geometry/slope.h"
#include "geometry/thickness.h"
#include "track/contour/slc.h"

enum { MOST = 48, MARCH = 16, LEAST_FIT = 5, TRIES = 3 };
static const double WIDER = 1.5;
static const double OPEN = 1e-6;      // cells: a point so little inside a solid is on its face
static const double AHEAD = 0.02;     // cells: beyond a face, or two of them are never reached
static const double PROBE = 0.125;    // cells: differences of a distance
// Cells below a face, and how deep in a solid that is at least: the corner of a wall of two cells
// has no place deeper than 1.5.
static const double BELOW = 2.0, DEEP = 1.6;
static const double THIN = 2.0 * TY_SLC_OVERLAP;    // cells: as in walls.c
static const double REACH = 0.75;    // of the way out: where the distance is asked around its end
static const double SIDE = 0.3;      // cells: points farther back are behind the wall
// Of the cube of the mean square: below this, open points do not tell a slope.
static const double FLAT = 1e-3;

// Out of all solids, from face to face. False where that leads nowhere.
static bool way_out(const ty_sampler* solid, double cell, ty_vec3* x)
{
    for (int step = 0; step < MARCH; ++step) {
        double d = ty_value_at(solid, *x);
        if (d >= -OPEN * cell) return true;
        *x += ((1 << step / 4) * AHEAD * cell - d) *
              ty_normalize(ty_slope_at(solid, *x, PROBE * cell));
    }
    return false;
}

// Directions to every other of the lattice points on a cube of 2 n edges, and how many they are.
static int directions(int n, ty_vec3* out)
{
    int count = 0;
    for (int i = -n; i <= n; ++i)
        for (int j = -n; j <= n; ++j)
            for (int k = -n; k <= n; ++k)
                if ((i + j + k) % 2 != 0 && (abs(i) == n || abs(j) == n || abs(k) == n))
                    out[count++] = ty_normalize(ty_vec(i, j, k));
    return count;
}

// Points in the open around `end` and the distance there; the first is `end` itself.
static int ask_around(const ty_slc_walled* w, ty_vec3 end, ty_vec3 out, double reach, int fineness,
                      double (*at)[3], double* value)
{
    double x[MOST + 1][3], d[MOST + 1];
    ty_vec3 way[MOST];
    int n = 0, tried = directions(fineness, way);
    ty_store3(x[0], end);
    for (int k = 0; k < tried; ++k) ty_store3(x[k + 1], end + reach * way[k]);
    ty_sample(&w->solid, tried + 1, (const double(*)[3])x, d);
    for (int k = 0; k <= tried; ++k) {
        ty_vec3 y = ty_load3(x[k]);
        if (k > 0 && (d[k] < 0.0 || ty_dot(y - end, out) < -SIDE * w->slc->def.cell)) continue;
        ty_store3(at[n++], y);
    }
    ty_sample(&w->inner, n, (const double(*)[3])at, value);
    return n;
}

// Least squares. False when the points lie in a plane.
static bool fit_slope(int n, const double (*at)[3], const double* value, ty_vec3 middle,
                      double mean, ty_vec3* slope)
{
    ty_vec3 a[3] = {{0}}, rhs = {0};
    for (int k = 0; k < n; ++k) {
        ty_vec3 e = ty_load3(at[k]) - middle;
        for (int d = 0; d < 3; ++d) a[d] += e[d] * e;
        rhs += (value[k] - mean) * e;
    }
    ty_vec3 c = ty_cross(a[1], a[2]);
    double det = ty_dot(a[0], c), trace = (a[0][0] + a[1][1] + a[2][2]) / 3.0;
    if (!(det > FLAT * trace * trace * trace)) return false;
    *slope = (rhs[0] * c + rhs[1] * ty_cross(a[2], a[0]) + rhs[2] * ty_cross(a[0], a[1])) / det;
    return true;
}

// A linear function.
typedef struct linear {
    ty_vec3 middle, slope;
    double mean, at_end;
} linear;

static double linear_value(const linear* f, ty_vec3 x)
{
    return f->mean + ty_dot(f->slope, x - f->middle);
}

// That of the open around `end`, the way out of x. False when too little is open.
static bool fit_linear(const ty_slc_walled* w, ty_vec3 x, ty_vec3 end, double reach, int fineness,
                       linear* f)
{
    double at[MOST + 1][3], value[MOST + 1];
    int n = ask_around(w, end, ty_normalize(end - x), reach, fineness, at, value);
    *f = (linear){.at_end = value[0]};
    if (n < LEAST_FIT) return false;
    for (int k = 0; k < n; ++k) f->middle += ty_load3(at[k]) / n, f->mean += value[k] / n;
    return fit_slope(n, (const double(*)[3])at, value, f->middle, f->mean, &f->slope);
}

// For slits, that have no room: that of the surface which there is at the way out.
static linear tangent(const ty_slc_walled* w, ty_vec3 end, double value)
{
    return (linear){end, ty_slope_at(&w->inner, end, PROBE * w->slc->def.cell), value, value};
}

// Continued through a thin wall the liquid would be behind it, where it need not be.
static bool may_continue(const ty_slc_walled* w, ty_vec3 x, ty_vec3 end, const linear* f)
{
    double cell = w->slc->def.cell, thickness;
    ty_vec3 out = ty_normalize(end - x), below = end - BELOW * cell * out;
    if (ty_value_at(&w->solid, below) <= -DEEP * cell) return true;
    if (!ty_solid_is_thin(&w->solid, cell, end, out, ty_norm(end - x), THIN * cell, &thickness))
        return true;
    double near = linear_value(f, end), far = ty_value_at(&w->inner, end - thickness * out);
    return ty_solid_parting(near, far, thickness, cell) == 0.0 ||
           ty_solid_is_passed(&w->solid, &w->inner, cell, end, out, thickness, near, f->slope);
}

bool ty_slc_crease(const ty_slc_walled* w, ty_vec3 x, double* out)
{
    double cell = w->slc->def.cell;
    ty_vec3 end = x;
    if (!way_out(&w->solid, cell, &end)) {
        *out = ty_value_at(&w->inner, x);
        return true;
    }
    double depth = ty_norm(end - x), reach = ty_max(cell, REACH * depth);
    linear f;
    bool told = fit_linear(w, x, end, reach, 1, &f);
    for (int try = 1; try < TRIES && !told; ++try)
        told = fit_linear(w, x, end, reach *= WIDER, 2, &f);
    if (!told) f = tangent(w, end, f.at_end);
    if (!may_continue(w, x, end, &f)) return false;
    *out = ty_clamp(linear_value(&f, x), f.at_end - depth, f.at_end + depth);
    return true;
}
