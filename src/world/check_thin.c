// SPDX-License-Identifier: Apache-2.0
// Walls thinner than a cell. Rays along the axes pass through the obstacle; where one enters and
// leaves through faces that look away from each other, the way between is a wall, and its thickness
// the way times the cosine.
#include "world/check_parts.h"

enum { RAYS = 48, MAX_MARCH = 4000 };       // a side of each lattice of rays; steps of a ray
static const double SHORTEST_STEP = 0.1;    // cells: thinner walls may be missed
static const double OPPOSITE = -0.7;        // cosine between the two faces' normals

typedef struct ray {
    double t, entered;    // metres along; where it last went in
    ty_vec3 normal;       // of the face it went in through
    bool inside, done;
} ray;

typedef struct thinnest {
    double thickness, at[3];
} thinnest;

static ty_vec3 normal_at(const ty_shape* s, ty_vec3 x, double h)
{
    double at[6][3], d[6];
    for (int k = 0; k < 6; ++k) {
        ty_store3(at[k], x);
        at[k][k / 2] += k % 2 ? h : -h;
    }
    ty_shape_distance(s, 6, (const double(*)[3])at, d);
    return ty_normalize(ty_vec(d[1] - d[0], d[3] - d[2], d[5] - d[4]));
}

// The ray crosses the surface between t and t + step.
static void cross(const ty_shape* s, ray* r, ty_vec3 from, int axis, double t, double h,
                  thinnest* best)
{
    ty_vec3 x = from;
    x[axis] += t;
    ty_vec3 normal = normal_at(s, x, h);
    r->inside = !r->inside;
    if (r->inside) {
        r->entered = t;
        r->normal = normal;
    } else if (ty_dot(r->normal, normal) < OPPOSITE) {
        double thickness = (t - r->entered) * ty_max(fabs(normal[axis]), fabs(r->normal[axis]));
        if (thickness >= best->thickness) return;
        best->thickness = thickness;
        x[axis] -= 0.5 * (t - r->entered);
        ty_store3(best->at, x);
    }
}

// The zero between two points of the ray, by regula falsi on values that are nearly distances.
static double zero_between(double t0, double d0, double t1, double d1)
{
    return t0 + (t1 - t0) * (d0 == d1 ? 0.5 : ty_clamp(d0 / (d0 - d1), 0.0, 1.0));
}

// One row of rays, from the low side of the box along `axis`; all march together so that distances
// come in batches.
static void march_row(const ty_shape* s, const ty_box* box, int axis, int row, double cell,
                      thinnest* best)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double from[RAYS][3], x[RAYS][3], d[RAYS], last[RAYS], length = box->hi[axis] - box->lo[axis];
    ray rays[RAYS] = {{0}};
    for (int i = 0; i < RAYS; ++i) {
        from[i][axis] = box->lo[axis];
        from[i][b] = box->lo[b] + (box->hi[b] - box->lo[b]) * (i + 0.5) / RAYS;
        from[i][c] = box->lo[c] + (box->hi[c] - box->lo[c]) * (row + 0.5) / RAYS;
    }
    double step[RAYS] = {0};
    int left = RAYS;
    for (int k = 0; k < MAX_MARCH && left > 0; ++k) {
        for (int i = 0; i < RAYS; ++i) {
            ty_store3(x[i], ty_load3(from[i]));
            x[i][axis] += rays[i].t;
        }
        ty_shape_distance(s, RAYS, (const double(*)[3])x, d);
        for (int i = 0; i < RAYS; ++i) {
            ray* r = &rays[i];
            if (r->done) continue;
            if (k == 0) r->inside = d[i] < 0.0, r->normal = ty_vec(0, 0, 0);
            else if ((d[i] < 0.0) != r->inside)
                cross(s, r, ty_load3(from[i]), axis,
                      zero_between(r->t - step[i], last[i], r->t, d[i]), 1e-3 * cell, best);
            last[i] = d[i];
            step[i] = ty_max(fabs(d[i]), SHORTEST_STEP * cell);
            r->t += step[i];
            if (r->t > length + cell) r->done = true, --left;
        }
    }
}

static thinnest find_thinnest(const ty_world* w, const ty_shape* s, double cell)
{
    thinnest best = {.thickness = INFINITY};
    ty_box own = ty_shape_bounds(s), box = own;
    if (!ty_box_is_finite(&own)) box = ty_box_intersect(&own, &w->bounds);
    if (!ty_box_is_finite(&box) || ty_box_is_empty(&box)) return best;
    for (int axis = 0; axis < 3; ++axis) {
        ty_box longer = box;
        longer.lo[axis] -= cell;
        for (int row = 0; row < RAYS; ++row) march_row(s, &longer, axis, row, cell, &best);
    }
    return best;
}

ty_status ty_check_thin_walls(const ty_world* w, double cell, ty_warnings* found)
{
    for (int i = 0; i < w->n_obstacles; ++i) {
        const ty_shape* s = &w->obstacles[i].shape;
        thinnest t = find_thinnest(w, s, cell);
        if (t.thickness >= cell) continue;
        ty_warning warning = {
            .kind = TY_WARN_THIN_WALL, .index = i, .amount = t.thickness, .place = s->def->place};
        ty_store3(warning.at, ty_load3(t.at));
        TY_TRY(ty_warn(
            found, warning,
            "obstacle %d has a wall of %.3g m near (%.4g, %.4g, %.4g), thinner than a cell of "
            "%.3g m; it is widened to a cell inside the solve: make it thicker or the cells "
            "smaller",
            i + 1, t.thickness, t.at[0], t.at[1], t.at[2], cell));
    }
    return ty_ok();
}
