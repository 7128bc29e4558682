// SPDX-License-Identifier: Apache-2.0
// Liquid does not come through walls. The way back from a point to where its liquid was is a chord
// of the path, up to some cells long; where an obstacle's two faces lie across it, it ends at the
// first.
#include <string.h>

#include "geometry/slope.h"
#include "track/contour/slc.h"

enum { BATCH = TY_SAMPLE_BATCH, MAX_MARCH = 64 };
static const double STEP = 0.2;     // cells, the shortest of a march
static const double ASIDE = 0.1;    // cells: differences of a solid's distance
// Cosine of normals of the two faces of a wall; those of a corner's sides have 0.
static const double OPPOSITE = -0.3;

// Cells: ways that end less deep are as good as in the open; ways deeper than the second below a
// face that come to another one have gone through a wall's corner.
static const double SHALLOW = 0.1, DEEP = 0.4;
static const double SAME = 0.5;    // cosine of normals of one face, which may be bent

typedef struct stop {
    ty_sampler solid;
    double cell;
    bool moves;    // what is in a solid now may have been in the open
} stop;

static ty_vec3 normal_at(const ty_sampler* solid, ty_vec3 x, double step)
{
    double at[6][3], d[6];
    for (int k = 0; k < 6; ++k) {
        ty_store3(at[k], x);
        at[k][k / 2] += k % 2 ? step : -step;
    }
    ty_sample(solid, 6, (const double(*)[3])at, d);
    return ty_normalize(ty_vec(d[1] - d[0], d[3] - d[2], d[5] - d[4]));
}

// Whether the way that came in at a face ends below it, or has come out behind it.
static bool is_behind(const stop* k, ty_vec3 x, double d, bool ends, double deepest, ty_vec3 face)
{
    if (ends && d < -SHALLOW * k->cell && !k->moves) return true;
    double cosine = ty_dot(face, normal_at(&k->solid, x, ASIDE * k->cell));
    return cosine < OPPOSITE || (deepest > DEEP * k->cell && cosine < SAME);
}

// The last open point before a wall on the way from x by `length` along `way`, or where the way
// ends.
static ty_vec3 march(const stop* k, ty_vec3 x, ty_vec3 way, double length)
{
    ty_vec3 entered = x, face = {0};
    bool inside = false;
    double t = 0.0, before = 0.0, deepest = 0.0;
    for (int step = 0; step < MAX_MARCH && t <= length; ++step) {
        double d = ty_value_at(&k->solid, x + t * way);
        if (d < 0.0 && !inside) {
            entered = x + before * way;
            face = normal_at(&k->solid, entered, ASIDE * k->cell);
            deepest = 0.0;
        }
        deepest = ty_max(deepest, -d);
        bool out = (inside && d >= 0.0) || (d < 0.0 && t >= length);
        if (out && is_behind(k, x + t * way, d, t >= length, deepest, face)) return entered;
        inside = d < 0.0;
        if (t >= length) break;
        before = t;
        t = ty_min(length, t + ty_max(fabs(d), STEP * k->cell));
    }
    return x + length * way;
}

// Points in the open and on faces, from which the way goes towards a solid. What lies in solids
// follows from them (walls.c).
static bool may_be_behind(const stop* k, ty_vec3 x, double d, ty_vec3 way, double length)
{
    double step = ASIDE * k->cell;
    return d < length && d > -step && length > step && ty_value_at(&k->solid, x + step * way) < d;
}

// Whether a way of `length` from x is too short to come to the box.
static bool is_out_of_reach(const ty_box* box, ty_vec3 x, double length)
{
    ty_vec3 gap = ty_max3(ty_max3(ty_load3(box->lo) - x, x - ty_load3(box->hi)), ty_vec(0, 0, 0));
    return ty_dot(gap, gap) > length * length;
}

void ty_slc_stop_at_walls(const ty_slc* s, int n, const double (*x)[3], double (*from)[3])
{
    double near[BATCH][3], here[BATCH];
    int id[BATCH], n_near = 0;
    if (!ty_world_has_obstacles(s->world)) return;
    stop k = {ty_world_obstacles(s->world), s->def.cell, ty_world_solid_moves(s->world)};
    ty_box box = ty_world_obstacles_bounds(s->world);
    for (int i = 0; i < n; ++i) {
        ty_vec3 a = ty_load3(x[i]);
        if (is_out_of_reach(&box, a, ty_norm(ty_load3(from[i]) - a))) continue;
        memcpy(near[n_near], x[i], sizeof near[0]);
        id[n_near++] = i;
    }
    ty_sample(&k.solid, n_near, (const double(*)[3])near, here);
    for (int i = 0; i < n_near; ++i) {
        ty_vec3 a = ty_load3(near[i]), way = ty_load3(from[id[i]]) - a;
        double length = ty_norm(way);
        if (!may_be_behind(&k, a, here[i], way / length, length)) continue;
        ty_store3(from[id[i]], march(&k, a, way / length, length));
    }
}
