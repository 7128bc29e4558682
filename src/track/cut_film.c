// SPDX-License-Identifier: Apache-2.0
#include "track/cut_film.h"

#include <string.h>

#include "geometry/slope.h"
#include "geometry/thickness.h"
#include "mesh/contour.h"

enum { BATCH = TY_SAMPLE_BATCH, MAX_HALVED = 3 };
// Cells below an obstacle's surface: along every line of nodes that crosses it there is one, and where it
// is oblique two layers are joined by edges
static const double DEEP = 1.2;
// Cells: thicker liquid has nodes in it
static const double THIN = 1.0;
static const double ON = 0.02;    // cells: on an obstacle's surface
// Cells between places below films on both sides of a wall, or between one and the open: no edge is longer
static const double APART = 1.0;
// Cells: behind half of that nothing has to be cared for; how nearly as deep it has to be there
static const double THICK = 4.4, NEARLY = 0.95;
// Cells: thinner walls hold no node on half of the lines that cross them, and continuations come out of them
static const double LEAST_THICK = 1.5;
// Cosine of normals of one face of an obstacle, and cells by which it may be bent within one
static const double SAME_FACE = 0.3, BENT = 0.25;
static const double PROBE = 0.125;    // cells: differences of an obstacle's distance
// Cells behind a wall's other side, and the share of the way to the middle of the wall, where liquid may end
// that is on this side alone, that has to be dry there
static const double BEHIND = 0.25, DRY = 0.8;

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

// Whether there is nothing to care for behind a place on an obstacle.
static bool is_thick(const ty_sampler* obstacles, double cell, ty_vec3 on, ty_vec3 normal)
{
    double half = 0.5 * THICK * cell;
    return ty_value_at(obstacles, on - half * normal) < -NEARLY * half;
}

// Whether a place `depth` below an obstacle's surface may stand for a film on that: no edge leads from it to what
// stands for liquid behind the obstacle, or there is none. In a wall of 1.2 cells the level set's continuation came out
// by a quarter of a cell (tests/tumble), where no node saw it.
static bool is_apart(const ty_cut_part* p, const ty_sampler* obstacles, ty_vec3 on, ty_vec3 normal,
                     double depth)
{
    double h = p->cell, thickness, at[1][3], liquid;
    if (is_thick(obstacles, h, on, normal)) return true;
    if (!ty_solid_is_thin(obstacles, h, on, normal, depth, (2.0 * DEEP + APART) * h, &thickness))
        return true;
    if (thickness < LEAST_THICK * h) return false;
    if (2.0 * depth <= thickness - APART * h) return true;
    ty_store3(at[0], on - (thickness + BEHIND * h) * normal);
    ty_cut_distance(p, 1, (const double(*)[3])at, &liquid);
    return liquid > DRY * (0.5 * thickness + BEHIND * h);
}

void ty_cut_below_film(const ty_cut_part* p, int n, const double (*x)[3], const double* solid,
                       bool* below)
{
    ty_sampler obstacles = ty_world_obstacles(p->world);
    double at[2 * BATCH][3], liquid[2 * BATCH], h = p->cell;
    ty_vec3 normal[BATCH];
    int id[BATCH], m = 0;
    for (int i = 0; i < n; ++i) {
        below[i] = false;
        if (!(solid[i] < 0.0 && solid[i] > -DEEP * h)) continue;
        normal[m] = normal_at(&obstacles, h, ty_load3(x[i]));
        ty_vec3 on = surface_above(&obstacles, ty_load3(x[i]), -solid[i], normal[m]);
        ty_store3(at[2 * m], on);
        ty_store3(at[2 * m + 1], on + THIN * h * normal[m]);
        if (fabs(ty_value_at(&obstacles, on)) < ON * h && in_lattice(p, at[2 * m])) id[m++] = i;
    }
    for (int first = 0; first < 2 * m; first += BATCH)
        ty_cut_distance(p, 2 * m - first < BATCH ? 2 * m - first : BATCH,
                        (const double(*)[3])at + first, liquid + first);
    for (int i = 0; i < m; ++i)
        below[id[i]] = liquid[2 * i] < 0.0 && liquid[2 * i + 1] > 0.0 &&
                       is_apart(p, &obstacles, ty_load3(at[2 * i]), normal[i], -solid[id[i]]);
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

// Where a way of at most a cell leads from a film's place on an obstacle, on the same face of it: no farther than
// that goes, so not through a corner to another one.
static ty_vec3 surface_beside(const ty_sampler* obstacles, double cell, ty_vec3 on, ty_vec3 normal,
                              ty_vec3 way)
{
    ty_vec3 along = way - ty_dot(normal, way) * normal;
    for (int halved = 0; halved < MAX_HALVED; ++halved, along *= 0.5) {
        double height = ty_value_at(obstacles, on + along);
        if (fabs(height) > BENT * cell) continue;
        ty_vec3 at = on + along - height * normal_at(obstacles, cell, on + along);
        if (fabs(ty_value_at(obstacles, at)) < BENT * cell) return at;
    }
    return on;
}

// Where a way leaves the obstacle and the liquid, which ends on it; the film's place `on` the obstacle where that is not
// on its face.
static ty_vec3 end_in_air(const ty_cut_part* p, const ty_sampler* obstacles, const double below[3],
                          const double other[3], const double solid[2], double end, bool thick,
                          ty_vec3 on, ty_vec3 normal)
{
    ty_vec3 a = ty_load3(below), way = ty_load3(other) - a;
    if (!(ty_dot(normal, way) > 0.0)) return on;
    double out = zero_between(obstacles, below, other, solid[0], solid[1]);
    if (!thick && ty_dot(normal_at(obstacles, p->cell, a + out * way), normal) < SAME_FACE)
        return on;
    return a + ty_max(end, out) * way;
}

void ty_cut_film(const ty_cut_part* p, const double below[3], const double other[3], double x[3])
{
    ty_sampler obstacles = ty_world_obstacles(p->world);
    double ends[2][3], liquid[2], solid[2], h = p->cell;
    memcpy(ends[0], below, sizeof ends[0]);
    memcpy(ends[1], other, sizeof ends[1]);
    ty_sample(&p->distance, 2, (const double(*)[3])ends, liquid);
    ty_sample(&obstacles, 2, (const double(*)[3])ends, solid);
    ty_vec3 a = ty_load3(below), way = ty_load3(other) - a, normal = normal_at(&obstacles, h, a);
    ty_vec3 on = surface_above(&obstacles, a, -solid[0], normal);
    bool ends_between = liquid[0] < 0.0 && liquid[1] >= 0.0,
         thick = is_thick(&obstacles, h, on, normal);
    double end = 0.5;
    if (ends_between) end = zero_between(&p->distance, below, other, liquid[0], liquid[1]);
    ty_vec3 at = a + end * way;
    if (solid[1] > 0.0 && ends_between) {
        at = end_in_air(p, &obstacles, below, other, solid, end, thick, on, normal);
    } else if (thick) {
        at = surface_above(&obstacles, at, -ty_value_at(&obstacles, at),
                           normal_at(&obstacles, h, at));
    } else {
        at = surface_beside(&obstacles, h, on, normal, end * way);
    }
    ty_store3(x, at);
    for (int axis = 0; axis < 3; ++axis) x[axis] = ty_clamp(x[axis], p->lo[axis], p->hi[axis]);
}
