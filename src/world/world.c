// SPDX-License-Identifier: Apache-2.0
#include "world/world.h"

#include <string.h>

#include "core/memory.h"
#include "world/world_state.h"

void ty_world_eval_at(const ty_world* w, const ty_varying* v, double t, int n, const double (*x)[3],
                      double* out)
{
    ty_status s = ty_varying_eval(v, t, n, x, out);
    if (s.code == TY_OK) return;
    ty_fault_note(w->fault, &s);
    memset(out, 0, (size_t)n * (size_t)v->width * sizeof *out);
}

void ty_world_eval(const ty_world* w, const ty_varying* v, int n, const double (*x)[3], double* out)
{
    ty_world_eval_at(w, v, w->time, n, x, out);
}

static ty_status create_body(ty_world* w, ty_body* b, const ty_shape_def* shape,
                             const ty_varying* velocity)
{
    b->world = w;
    b->velocity = *velocity;
    b->has_velocity = true;
    b->slip = 1.0;
    return ty_shape_create(&b->shape, shape, w->cell, w->fault);
}

static ty_status create_liquids(ty_world* w)
{
    const ty_world_def* def = w->def;
    w->liquids = ty_alloc_zero((size_t)def->n_liquids, sizeof *w->liquids);
    if (!w->liquids) return ty_no_memory("liquids");
    for (int i = 0; i < def->n_liquids; ++i) {
        ++w->n_liquids;
        TY_TRY(create_body(w, &w->liquids[i], &def->liquids[i].shape, &def->liquids[i].velocity));
    }
    return ty_ok();
}

static ty_status create_obstacles(ty_world* w)
{
    const ty_world_def* def = w->def;
    w->obstacles = ty_alloc_zero((size_t)def->n_obstacles, sizeof *w->obstacles);
    if (!w->obstacles) return ty_no_memory("obstacles");
    for (int i = 0; i < def->n_obstacles; ++i) {
        const ty_obstacle_def* o = &def->obstacles[i];
        ++w->n_obstacles;
        TY_TRY(create_body(w, &w->obstacles[i], &o->shape, &o->velocity));
        w->obstacles[i].has_velocity = o->has_velocity;
        w->obstacles[i].slip = o->slip;
        w->obstacles[i].shape.velocity_is_given = o->has_velocity &&
                                                  o->shape.kind == TY_SHAPE_VOLUME;
        w->solid_changes_ever |= w->obstacles[i].shape.changes_ever;
    }
    return ty_ok();
}

static ty_box find_bounds(const ty_world* w)
{
    ty_box all = ty_box_empty();
    if (w->def->has_domain) {
        ty_store3(all.lo, ty_load3(w->def->min));
        ty_store3(all.hi, ty_load3(w->def->max));
        return all;
    }
    for (int i = 0; i < w->n_liquids; ++i) {
        ty_box b = ty_shape_bounds(&w->liquids[i].shape);
        all = ty_box_unite(&all, &b);
    }
    for (int i = 0; i < w->def->n_sources; ++i) {
        ty_box b = ty_shape_bounds_ever(&w->spouts[i].shape);
        all = ty_box_unite(&all, &b);
    }
    return all;
}

static ty_status create_parts(ty_world* w)
{
    w->gravity = w->def->gravity;
    for (int side = 0; side < TY_N_SIDES; ++side)
        w->wall_velocity[side] = w->def->wall[side].velocity;
    TY_TRY(create_liquids(w));
    TY_TRY(create_obstacles(w));
    TY_TRY(ty_world_create_spouts(w));
    TY_TRY(ty_world_create_forces(w));
    TY_TRY(ty_world_create_steers(w));
    w->bounds = find_bounds(w);
    w->liquid_band = ty_bodies_settle(w->liquids, w->n_liquids);
    for (int i = 0; i < w->n_liquids; ++i)
        TY_TRY(ty_varying_prepare(&w->liquids[i].velocity, 0.0, 0.0));
    return ty_world_move(w, 0.0, 0.0);
}

ty_status ty_world_create(ty_world** world, const ty_world_def* def, double cell)
{
    *world = NULL;
    ty_world* w = ty_alloc_zero(1, sizeof *w);
    if (!w) return ty_no_memory("world");
    w->def = def;
    w->cell = cell;
    w->fault = ty_alloc(1, sizeof *w->fault);
    ty_status status = ty_no_memory("world");
    if (!w->fault) goto failed;
    ty_fault_init(w->fault);
    TY_TRY_GOTO(status, create_parts(w), failed);
    *world = w;
    return ty_ok();
failed:
    ty_world_destroy(w);
    return status;
}

static void destroy_bodies(ty_body* bodies, int n)
{
    for (int i = 0; i < n; ++i) {
        ty_shape_destroy(&bodies[i].shape);
        ty_varying_unload(&bodies[i].velocity);
    }
    ty_free(bodies);
}

void ty_world_destroy(ty_world* w)
{
    if (!w) return;
    destroy_bodies(w->liquids, w->n_liquids);
    destroy_bodies(w->obstacles, w->n_obstacles);
    ty_world_destroy_spouts(w);
    ty_world_destroy_forces(w);
    ty_world_destroy_steers(w);
    for (int side = 0; side < TY_N_SIDES; ++side) ty_varying_unload(&w->wall_velocity[side]);
    ty_varying_unload(&w->gravity);
    if (w->fault) ty_fault_destroy(w->fault);
    ty_free(w->fault);
    ty_free(w);
}

static ty_status move_gravity(ty_world* w, double t, double dt)
{
    double at[1][3] = {{0, 0, 0}}, g[3];
    TY_TRY(ty_varying_prepare(&w->gravity, t - dt, t));
    TY_TRY(ty_varying_eval(&w->gravity, t, 1, (const double(*)[3])at, g));
    w->gravity_now = ty_load3(g);
    return ty_ok();
}

ty_status ty_world_move(ty_world* w, double t, double dt)
{
    w->time = t;
    w->step = dt;
    TY_TRY(move_gravity(w, t, dt));
    for (int side = 0; side < TY_N_SIDES; ++side)
        TY_TRY(ty_varying_prepare(&w->wall_velocity[side], t - dt, t));
    for (int i = 0; i < w->n_obstacles; ++i) {
        TY_TRY(ty_shape_move(&w->obstacles[i].shape, t, dt));
        if (w->obstacles[i].has_velocity)
            TY_TRY(ty_varying_prepare(&w->obstacles[i].velocity, t - dt, t));
    }
    ty_world_update_solids(w, dt);
    TY_TRY(ty_world_move_spouts(w, t, dt));
    TY_TRY(ty_world_move_forces(w, t, dt));
    TY_TRY(ty_world_move_steers(w, t, dt));
    return ty_fault_get(w->fault);
}

double ty_world_time(const ty_world* w) { return w->time; }
const ty_world_def* ty_world_get_def(const ty_world* w) { return w->def; }
ty_status ty_world_status(const ty_world* w) { return ty_fault_get(w->fault); }
ty_box ty_world_bounds(const ty_world* w) { return w->bounds; }
ty_vec3 ty_world_gravity(const ty_world* w) { return w->gravity_now; }

static void liquid_distance(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_world* w = self;
    ty_bodies_distance(w->liquids, w->n_liquids, n, x, out, NULL);
}

static void liquid_velocity_batch(const ty_world* w, int n, const double (*x)[3], double (*out)[3])
{
    double d[TY_SAMPLE_BATCH], v[TY_SAMPLE_BATCH][3];
    int which[TY_SAMPLE_BATCH];
    ty_bodies_distance(w->liquids, w->n_liquids, n, x, d, which);
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < w->n_liquids; ++k) {
        ty_world_eval(w, &w->liquids[k].velocity, n, x, v[0]);
        for (int i = 0; i < n; ++i)
            if (which[i] == k) memcpy(out[i], v[i], sizeof v[i]);
    }
}

static void liquid_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    double(*v)[3] = (double(*)[3])out;
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int m = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        liquid_velocity_batch(self, m, x + at, v + at);
    }
}

ty_sampler ty_world_liquid(const ty_world* w)
{
    return (ty_sampler){w, 1, w->liquid_band, liquid_distance};
}
ty_sampler ty_world_liquid_velocity(const ty_world* w)
{
    return (ty_sampler){w, 3, 0.0, liquid_velocity};
}
