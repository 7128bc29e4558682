// SPDX-License-Identifier: Apache-2.0
// The fixture that any tracker/solver pair goes through: a small liquid in a box, by structs,
// without a scene file.
#ifndef TY_TESTS_PAIR_H
#define TY_TESTS_PAIR_H

#include "core/hash.h"
#include "sim/sim.h"
#include "test.h"

// A ball of liquid in the unit box, closed all round, `n` cells a side. The prescribed solver turns
// it about the box's middle; others let it fall. ty_sim_def_free.
static inline ty_sim_def pair_def(const char* tracker, const char* solver, int n,
                                  const double center[3], double radius)
{
    ty_sim_def def = ty_sim_default();
    def.cell = def.track.cell = def.solve.cell = 1.0 / n;
    def.track.kind = tracker;
    def.solve.kind = solver;
    def.solve.cfl = 1.5;
    def.frame_rate = 24;
    def.world.has_domain = true;
    for (int axis = 0; axis < 3; ++axis) def.world.max[axis] = 1.0;
    for (int side = 0; side < TY_N_SIDES; ++side) def.world.wall[side].closed = true;
    def.world.liquids = ty_alloc_zero(1, sizeof *def.world.liquids);
    def.world.n_liquids = 1;
    ty_liquid_def* ball = def.world.liquids;
    ball->shape = ty_shape_default(TY_SHAPE_SPHERE);
    memcpy(ball->shape.center, center, sizeof ball->shape.center);
    ball->shape.radius = radius;
    ball->velocity = ty_varying_vector(1, 0, 0.5);
    def.solve.velocity = ty_varying_vector(0, 0, 0);
    def.solve.velocity.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&def.solve.velocity.expr[0], "4*(0.5-y)*(1+0.3*sin(9*t))"));
    assert_ok(ty_expr_create(&def.solve.velocity.expr[1], "4*(x-0.5)"));
    return def;
}

static inline uint64_t surface_hash(const ty_sim* sim)
{
    const ty_tri_mesh* m = &sim->surface;
    ty_hash h = ty_hash_begin();
    ty_hash_add(&h, m->vert, (size_t)m->n_verts * sizeof *m->vert);
    ty_hash_add(&h, m->tri, (size_t)m->n_tris * sizeof *m->tri);
    ty_hash_add(&h, &sim->stats.volume, sizeof(double));
    ty_hash_add(&h, &sim->stats.max_speed, sizeof(double));
    ty_hash_add(&h, &sim->stats.kinetic_energy, sizeof(double));
    return ty_hash_end(&h);
}

static inline void run_frames(ty_sim* sim, int n)
{
    for (int frame = 0; frame < n; ++frame) {
        bool done = false;
        while (!done) assert_ok(ty_sim_step(sim, &done));
    }
}

static inline void set3(double out[3], double x, double y, double z)
{
    out[0] = x, out[1] = y, out[2] = z;
}

// Turns a scene of pair_def into a pool at rest under gravity g, with a ball and a leaning column
// in it; open at the top.
static inline void make_pool(ty_sim_def* def, const double g[3])
{
    def->world.wall[TY_TOP].closed = false;
    def->world.gravity = ty_varying_vector(g[0], g[1], g[2]);
    ty_liquid_def* pool = def->world.liquids;
    pool->shape = ty_shape_default(TY_SHAPE_PLANE);
    pool->velocity = ty_varying_vector(0, 0, 0);
    set3(pool->shape.point, 0.5, 0.53, 0.5);
    ty_store3(pool->shape.normal, ty_normalize(-ty_load3(g)));
    def->world.n_obstacles = 2;
    def->world.obstacles = ty_alloc(2, sizeof *def->world.obstacles);
    def->world.obstacles[0] = ty_obstacle_default(TY_SHAPE_SPHERE);
    set3(def->world.obstacles[0].shape.center, 0.45, 0.4, 0.52);
    def->world.obstacles[0].shape.radius = 0.23;
    def->world.obstacles[1] = ty_obstacle_default(TY_SHAPE_CYLINDER);
    set3(def->world.obstacles[1].shape.from, 0.8, -0.1, 0.8);
    set3(def->world.obstacles[1].shape.to, 0.82, 1.1, 0.77);
    def->world.obstacles[1].shape.radius = 0.09;
}

#endif
