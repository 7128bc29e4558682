// SPDX-License-Identifier: Apache-2.0
// Solids: obstacles and the closed sides of the domain as one distance, one velocity, one slip.
#include <string.h>

#include "world/world_state.h"

// A conveyor's speed is looked at on a lattice of this many points a side over its bounds.
enum { SPEED_SAMPLES = 5, WALL = -1, NONE = -2 };
static const double ROUNDING = 1e-12;    // of a squared distance to a box

static int batch(int n, int at) { return n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH; }

// How far x is beyond a side, negative before it; -infinity for an open one.
static double beyond(const ty_world_def* def, int side, const double x[3])
{
    if (!def->wall[side].closed) return -INFINITY;
    int axis = side / 2;
    return side % 2 ? x[axis] - def->max[axis] : def->min[axis] - x[axis];
}

static bool has_walls(const ty_world_def* def)
{
    bool any = false;
    for (int side = 0; side < TY_N_SIDES; ++side) any |= def->wall[side].closed;
    return def->has_domain && any;
}

// The free space is a box without its open sides; its exact signed distance, turned round.
void ty_world_walls(const ty_world* w, int n, const double (*x)[3], double* out)
{
    bool any = has_walls(w->def);
    double lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = w->def->wall[2 * axis].closed ? w->def->min[axis] : -INFINITY;
        hi[axis] = w->def->wall[2 * axis + 1].closed ? w->def->max[axis] : INFINITY;
    }
    for (int i = 0; i < n; ++i) {
        double outside = 0.0, deepest = -INFINITY;
        for (int axis = 0; axis < 3; ++axis) {
            double q = ty_max(lo[axis] - x[i][axis], x[i][axis] - hi[axis]),
                   beyond_it = ty_max(q, 0.0);
            deepest = ty_max(deepest, q);
            outside += beyond_it * beyond_it;
        }
        out[i] = !any ? TY_FAR : deepest > 0.0 ? -sqrt(outside) : -deepest;
    }
}

static int nearest_wall(const ty_world_def* def, const double x[3])
{
    int best = 0;
    double largest = -INFINITY;
    for (int side = 0; side < TY_N_SIDES; ++side) {
        double q = beyond(def, side, x);
        if (q > largest) largest = q, best = side;
    }
    return best;
}

// No body whose bounds are farther from all m points than what they already know can be nearer, if its
// distance is one. Most points of a tank are nearer to its walls.
static bool is_farther(const ty_body* b, const ty_box* points, int m, const double* known)
{
    double most = 0.0, away2 = 0.0;
    if (b->shape.exact_band < INFINITY) return false;
    for (int axis = 0; axis < 3; ++axis) {
        double gap = ty_max(b->bounds.lo[axis] - points->hi[axis],
                            points->lo[axis] - b->bounds.hi[axis]);
        away2 += gap > 0.0 ? gap * gap : 0.0;
    }
    if (!(away2 > 0.0)) return false;
    for (int i = 0; i < m; ++i) most = ty_max(most, known[i]);
    return most * most < away2 * (1.0 - ROUNDING);
}

// Brings `known` down to the distances of the bodies. m <= TY_SAMPLE_BATCH.
static void come_nearer(const ty_body* bodies, int n_bodies, int m, const double (*x)[3],
                        double* known, int* which)
{
    double d[TY_SAMPLE_BATCH];
    ty_box points = ty_box_empty();
    for (int i = 0; i < m; ++i) ty_box_add(&points, x[i]);
    for (int k = 0; k < n_bodies; ++k) {
        if (is_farther(&bodies[k], &points, m, known)) continue;
        ty_shape_distance(&bodies[k].shape, m, x, d);
        for (int i = 0; i < m; ++i) {
            if (d[i] >= known[i]) continue;
            known[i] = d[i];
            if (which) which[i] = k;
        }
    }
}

void ty_bodies_distance(const ty_body* bodies, int n_bodies, int n, const double (*x)[3],
                        double* out, int* which)
{
    for (int i = 0; i < n; ++i) out[i] = TY_FAR;
    for (int i = 0; which && i < n; ++i) which[i] = NONE;
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH)
        come_nearer(bodies, n_bodies, batch(n, at), x + at, out + at, which ? which + at : NULL);
}

double ty_bodies_settle(ty_body* bodies, int n_bodies)
{
    double band = INFINITY;
    for (int k = 0; k < n_bodies; ++k) bodies[k].bounds = ty_shape_bounds(&bodies[k].shape);
    for (int k = 0; k < n_bodies; ++k) {
        band = ty_min(band, bodies[k].shape.exact_band);
        for (int j = 0; j < k; ++j) {
            ty_box both = ty_box_intersect(&bodies[k].bounds, &bodies[j].bounds);
            if (!ty_box_is_empty(&both)) return 0.0;
        }
    }
    return band;
}

static void obstacles_distance(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_world* w = self;
    ty_bodies_distance(w->obstacles, w->n_obstacles, n, x, out, NULL);
}

static void solid_distance(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_world* w = self;
    ty_world_walls(w, n, x, out);
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH)
        come_nearer(w->obstacles, w->n_obstacles, batch(n, at), x + at, out + at, NULL);
}

// Which solid is nearest: number of the obstacle, WALL or NONE. n <= TY_SAMPLE_BATCH.
static void nearest(const ty_world* w, int n, const double (*x)[3], int* which)
{
    double d[TY_SAMPLE_BATCH], wall[TY_SAMPLE_BATCH];
    ty_bodies_distance(w->obstacles, w->n_obstacles, n, x, d, which);
    ty_world_walls(w, n, x, wall);
    for (int i = 0; i < n; ++i)
        if (wall[i] < d[i]) which[i] = WALL;
}

static void body_velocity(const ty_body* b, int n, const double (*x)[3], double (*out)[3])
{
    ty_shape_velocity(&b->shape, n, x, out);
    if (!b->has_velocity) return;
    double extra[TY_SAMPLE_BATCH][3];
    ty_world_eval(b->world, &b->velocity, n, x, extra[0]);
    for (int i = 0; i < n; ++i) ty_store3(out[i], ty_load3(out[i]) + ty_load3(extra[i]));
}

static void wall_velocity(const ty_world* w, int n, const double (*x)[3], const int* which,
                          double (*out)[3])
{
    double v[TY_SAMPLE_BATCH][3];
    for (int side = 0; side < TY_N_SIDES; ++side) {
        if (!w->def->wall[side].closed) continue;
        ty_world_eval(w, &w->wall_velocity[side], n, x, v[0]);
        for (int i = 0; i < n; ++i) {
            if (which[i] != WALL || nearest_wall(w->def, x[i]) != side) continue;
            memcpy(out[i], v[i], sizeof v[i]);
            out[i][side / 2] = 0.0;
        }
    }
}

static void velocity_batch(const ty_world* w, int n, const double (*x)[3], double (*out)[3])
{
    int which[TY_SAMPLE_BATCH];
    double v[TY_SAMPLE_BATCH][3];
    nearest(w, n, x, which);
    memset(out, 0, (size_t)n * sizeof *out);
    wall_velocity(w, n, x, which, out);
    for (int k = 0; k < w->n_obstacles; ++k) {
        if (!w->obstacles[k].shape.moves && !w->obstacles[k].has_velocity) continue;
        body_velocity(&w->obstacles[k], n, x, v);
        for (int i = 0; i < n; ++i)
            if (which[i] == k) memcpy(out[i], v[i], sizeof v[i]);
    }
}

static void solid_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    double(*v)[3] = (double(*)[3])out;
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH)
        velocity_batch(self, batch(n, at), x + at, v + at);
}

static void solid_slip(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_world* w = self;
    int which[TY_SAMPLE_BATCH];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int m = batch(n, at);
        nearest(w, m, x + at, which);
        for (int i = 0; i < m; ++i)
            out[at + i] = which[i] >= 0      ? w->obstacles[which[i]].slip
                          : which[i] == WALL ? w->def->wall[nearest_wall(w->def, x[at + i])].slip
                                             : 1.0;
    }
}

// A conveyor's own speed, from samples over the part of its box that lies in `within`.
static double varying_speed(const ty_world* w, const ty_varying* v, const ty_box* box)
{
    enum { N = SPEED_SAMPLES };
    double x[N * N * N][3], u[N * N * N][3], largest = 0.0;
    if (ty_box_is_empty(box) || !ty_box_is_finite(box)) return 0.0;
    for (int i = 0; i < N * N * N; ++i) {
        int k[3] = {i % N, i / N % N, i / N / N};
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = box->lo[axis] + (box->hi[axis] - box->lo[axis]) * k[axis] / (N - 1);
    }
    ty_world_eval(w, v, N * N * N, (const double(*)[3])x, u[0]);
    for (int i = 0; i < N * N * N; ++i) largest = ty_max(largest, ty_norm(ty_load3(u[i])));
    return largest;
}

static double body_speed(const ty_body* b)
{
    ty_box own = ty_shape_bounds(&b->shape), box = ty_box_intersect(&own, &b->world->bounds);
    double speed = ty_shape_speed(&b->shape, &box);
    if (b->has_velocity) speed += varying_speed(b->world, &b->velocity, &box);
    return speed;
}

static double walls_speed(const ty_world* w)
{
    double largest = 0.0;
    for (int side = 0; w->def->has_domain && side < TY_N_SIDES; ++side) {
        if (!w->def->wall[side].closed) continue;
        ty_box box = w->bounds;
        int axis = side / 2;
        if (side % 2) box.lo[axis] = box.hi[axis];
        else box.hi[axis] = box.lo[axis];
        largest = ty_max(largest, varying_speed(w, &w->wall_velocity[side], &box));
    }
    return largest;
}

void ty_world_update_solids(ty_world* w, double dt)
{
    (void)dt;
    w->solid_moves = false;
    w->solid_speed = walls_speed(w);
    for (int k = 0; k < w->n_obstacles; ++k) {
        w->solid_moves |= w->obstacles[k].shape.moves;
        w->solid_speed = ty_max(w->solid_speed, body_speed(&w->obstacles[k]));
    }
    w->obstacles_band = ty_bodies_settle(w->obstacles, w->n_obstacles);
    w->solid_band = w->n_obstacles > 0 && has_walls(w->def) ? 0.0 : w->obstacles_band;
}

ty_sampler ty_world_solid(const ty_world* w)
{
    return (ty_sampler){w, 1, w->solid_band, solid_distance};
}
ty_sampler ty_world_obstacles(const ty_world* w)
{
    return (ty_sampler){w, 1, w->obstacles_band, obstacles_distance};
}
ty_sampler ty_world_solid_velocity(const ty_world* w)
{
    return (ty_sampler){w, 3, 0.0, solid_velocity};
}
ty_sampler ty_world_solid_slip(const ty_world* w) { return (ty_sampler){w, 1, 0.0, solid_slip}; }
ty_box ty_world_obstacles_bounds(const ty_world* w)
{
    ty_box all = ty_box_empty();
    for (int k = 0; k < w->n_obstacles; ++k) all = ty_box_unite(&all, &w->obstacles[k].bounds);
    return all;
}
bool ty_world_has_obstacles(const ty_world* w) { return w->n_obstacles > 0; }
bool ty_world_solid_moves(const ty_world* w) { return w->solid_moves; }
double ty_world_solid_speed(const ty_world* w) { return w->solid_speed; }

static bool deforms(const ty_shape* s)
{
    bool scaled = false;
    for (int i = 1; i < s->def->n_keys; ++i)
        scaled |= s->def->keys[i].scale != s->def->keys[0].scale;
    return s->changes_inside || scaled;
}

bool ty_world_solid_deforms(const ty_world* w)
{
    for (int i = 0; i < w->n_obstacles; ++i)
        if (deforms(&w->obstacles[i].shape)) return true;
    return false;
}
