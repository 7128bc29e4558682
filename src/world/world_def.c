// SPDX-License-Identifier: Apache-2.0
#include "world/world_def.h"

#include <math.h>

#include "core/memory.h"

ty_shape_def ty_shape_default(ty_shape_kind kind)
{
    ty_shape_def def = {.kind = kind,
                        .max = {1, 1, 1},
                        .radius = 0.5,
                        .to = {0, 1, 0},
                        .normal = {0, 1, 0},
                        .axis = {0, 1, 0},
                        .tube = 0.1,
                        .file_rate = 24,
                        .file_start = 1,
                        .scale = 1,
                        .formula = ty_varying_number(0)};
    return def;
}

ty_pose_key ty_pose_key_default(void) { return (ty_pose_key){.axis = {0, 1, 0}, .scale = 1}; }

ty_force_def ty_force_default(ty_force_kind kind)
{
    return (ty_force_def){.kind = kind,
                          .vector = ty_varying_vector(0, 0, 0),
                          .strength = ty_varying_number(1),
                          .axis = {0, 1, 0},
                          .scale = 0.2,
                          .speed = 1,
                          .active = {-INFINITY, INFINITY}};
}

ty_liquid_def ty_liquid_default(ty_shape_kind kind)
{
    return (ty_liquid_def){ty_shape_default(kind), ty_varying_vector(0, 0, 0)};
}

ty_obstacle_def ty_obstacle_default(ty_shape_kind kind)
{
    return (ty_obstacle_def){
        .shape = ty_shape_default(kind), .slip = 1, .velocity = ty_varying_vector(0, 0, 0)};
}

ty_source_def ty_source_default(ty_shape_kind kind)
{
    return (ty_source_def){.shape = ty_shape_default(kind),
                           .velocity = ty_varying_vector(0, 0, 0),
                           .active = {-INFINITY, INFINITY},
                           .rate = ty_varying_number(0)};
}

ty_drain_def ty_drain_default(ty_shape_kind kind)
{
    return (ty_drain_def){ty_shape_default(kind), {-INFINITY, INFINITY}};
}

ty_steer_def ty_steer_default(ty_shape_kind kind)
{
    return (ty_steer_def){ty_shape_default(kind), ty_varying_vector(0, 0, 0), ty_varying_number(1)};
}

ty_world_def ty_world_default(void)
{
    ty_world_def def = {.max = {1, 1, 1}, .up = 1, .gravity = ty_varying_vector(0, -9.81, 0)};
    for (int side = 0; side < TY_N_SIDES; ++side)
        def.wall[side] = (ty_wall_def){true, ty_varying_vector(0, 0, 0), 1.0};
    return def;
}

void ty_shape_def_free(ty_shape_def* def)
{
    for (int i = 0; i < def->n_children; ++i) ty_shape_def_free(&def->children[i]);
    ty_free(def->children);
    ty_free(def->file);
    ty_free(def->grid);
    ty_free(def->keys);
    ty_varying_free(&def->formula);
    *def = ty_shape_default(def->kind);
}

static void free_force(ty_force_def* f)
{
    ty_varying_free(&f->vector);
    ty_varying_free(&f->strength);
    ty_free(f->custom);
    ty_free(f->points);
    ty_free(f->file);
    ty_shape_def_free(&f->region);
}

static void free_source(ty_source_def* s)
{
    ty_shape_def_free(&s->shape);
    ty_varying_free(&s->velocity);
    ty_varying_free(&s->rate);
}

static void free_steer(ty_steer_def* s)
{
    ty_shape_def_free(&s->shape);
    ty_varying_free(&s->velocity);
    ty_varying_free(&s->blend);
}

static void free_camera(ty_camera_def* c)
{
    ty_free(c->name);
    ty_varying_free(&c->eye);
    ty_varying_free(&c->target);
}

static void free_bodies(ty_world_def* def)
{
    for (int i = 0; i < def->n_liquids; ++i) {
        ty_shape_def_free(&def->liquids[i].shape);
        ty_varying_free(&def->liquids[i].velocity);
    }
    for (int i = 0; i < def->n_obstacles; ++i) {
        ty_shape_def_free(&def->obstacles[i].shape);
        ty_varying_free(&def->obstacles[i].velocity);
    }
    for (int i = 0; i < def->n_sources; ++i) free_source(&def->sources[i]);
    for (int i = 0; i < def->n_drains; ++i) ty_shape_def_free(&def->drains[i].shape);
}

void ty_world_def_free(ty_world_def* def)
{
    free_bodies(def);
    for (int i = 0; i < def->n_forces; ++i) free_force(&def->forces[i]);
    for (int i = 0; i < def->n_steers; ++i) free_steer(&def->steers[i]);
    for (int i = 0; i < def->n_cameras; ++i) free_camera(&def->cameras[i]);
    for (int side = 0; side < TY_N_SIDES; ++side) ty_varying_free(&def->wall[side].velocity);
    ty_varying_free(&def->gravity);
    void* const arrays[] = {def->liquids, def->obstacles, def->sources, def->drains,
                            def->forces,  def->steers,    def->cameras};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) ty_free(arrays[i]);
    *def = ty_world_default();
}
