// SPDX-License-Identifier: Apache-2.0
#include "track/cut_film.h"

#include <string.h>

#include "geometry/slope.h"
#include "mesh/contour.h"

enum { BATCH = TY_SAMPLE_BATCH };
// Cells below an obstacle's surface: along every line of nodes that crosses it there is one, and where it
// is oblique two layers are joined by edges
static const double DEEP = 1.2;
// Cells: thicker liquid has nodes in it
static const double THIN = 1.0;
static const double ON = 0.02;    // cells: on an obstacle's surface
// Cells: twice as thick are walls through which the liquid of the other side does not run on
static const double SOLID = 2.2, NEARLY = 0.95;
static const double PROBE = 0.125;    // cells: differences of an obstacle's distance

static ty_vec3 normal_at(const ty_sampler* obstacles, double cell, ty_vec3 x)
{
    return ty_normalize(ty_slope_at(obstacles, x, PROBE * cell));
}

// The place on an obstacle's surface that is closest to one below it.
static ty_vec3 surface_above(const ty_sampler* obstacles, ty_vec3 x, double depth, ty_vec3 normal)
{
    ty_vec3 at = x + depth * normal;
    return at - ty_value_at(obstacles, at) * normal;
}

static bool in_lattice(const ty_cut_part* p, const double x[3])
{
    bool in = true;
    for (int axis = 0; axis < 3; ++axis) in &= x[axis] >= p->lo[axis] && x[axis] <= p->hi[axis];
    return in;
}

void ty_cut_below_film(const ty_cut_part* p, int n, const double (*x)[3], const double* solid,
                       bool* below)
{
    ty_sampler obstacles = ty_world_obstacles(p->world);
    double at[2 * BATCH][3], liquid[2 * BATCH], h = p->cell;
    int id[BATCH], m = 0;
    for (int i = 0; i < n; ++i) {
        below[i] = false;
        if (!(solid[i] < 0.0 && solid[i] > -DEEP * h)) continue;
        ty_vec3 normal = normal_at(&obstacles, h, ty_load3(x[i]));
        ty_vec3 on = surface_above(&obstacles, ty_load3(x[i]), -solid[i], normal);
        ty_store3(at[2 * m], on);
        ty_store3(at[2 * m + 1], on + THIN * h * normal);
        bool thick = ty_value_at(&obstacles, on - SOLID * h * normal) < -NEARLY * SOLID * h;
        if (thick && fabs(ty_value_at(&obstacles, on)) < ON * h && in_lattice(p, at[2 * m]))
            id[m++] = i;
    }
    for (int first = 0; first < 2 * m; first += BATCH)
        ty_cut_distance(p, 2 * m - first < BATCH ? 2 * m - first : BATCH,
                        (const double(*)[3])at + first, liquid + first);
    for (int i = 0; i < m; ++i) below[id[i]] = liquid[2 * i] < 0.0 && liquid[2 * i + 1] > 0.0;
}

static double zero_between(const ty_sampler* f, const double a[3], const double b[3], double fa,
                           double fb)
{
    double from[1][3], to[1][3], t;
    if (fb == 0.0) return 1.0;
    memcpy(from[0], a, sizeof from[0]);
    memcpy(to[0], b, sizeof to[0]);
    ty_find_zeros(f, TY_CONTOUR_REFINE_KINKS, 1, (const double(*)[3])from, (const double(*)[3])to,
                  &fa, &fb, &t);
    return ty_clamp(t, 0.0, 1.0);
}

// Along a way that leads from below a film into the air: to the end of the liquid, or to the obstacle's
// surface where the liquid ends below it.
static ty_vec3 end_in_air(const ty_cut_part* p, const ty_sampler* obstacles, const double below[3],
                          const double other[3], const double liquid[2], const double solid[2])
{
    ty_vec3 a = ty_load3(below), way = ty_load3(other) - a;
    ty_vec3 normal = normal_at(obstacles, p->cell, a);
    if (!(ty_dot(normal, way) > 0.0)) return surface_above(obstacles, a, -solid[0], normal);
    double out = zero_between(obstacles, below, other, solid[0], solid[1]);
    double end = zero_between(&p->distance, below, other, liquid[0], liquid[1]);
    return a + ty_max(out, end) * way;
}

void ty_cut_film(const ty_cut_part* p, const double below[3], const double other[3], double x[3])
{
    ty_sampler obstacles = ty_world_obstacles(p->world);
    double ends[2][3], liquid[2], solid[2];
    memcpy(ends[0], below, sizeof ends[0]);
    memcpy(ends[1], other, sizeof ends[1]);
    ty_sample(&p->distance, 2, (const double(*)[3])ends, liquid);
    ty_sample(&obstacles, 2, (const double(*)[3])ends, solid);
    bool ends_between = liquid[0] < 0.0 && liquid[1] >= 0.0;
    if (solid[1] > 0.0 && ends_between) {
        ty_store3(x, end_in_air(p, &obstacles, below, other, liquid, solid));
    } else {
        double t = ends_between ? zero_between(&p->distance, below, other, liquid[0], liquid[1])
                                : 0.5;
        ty_vec3 at = ty_load3(below) + t * (ty_load3(other) - ty_load3(below));
        double depth = -ty_value_at(&obstacles, at);
        ty_store3(x, surface_above(&obstacles, at, depth, normal_at(&obstacles, p->cell, at)));
    }
    for (int axis = 0; axis < 3; ++axis) x[axis] = ty_clamp(x[axis], p->lo[axis], p->hi[axis]);
}
