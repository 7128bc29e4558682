// SPDX-License-Identifier: Apache-2.0
// The world at a time t: where the solids, sources and drains are and how they move, and what
// pushes the liquid. A function of the def and of time alone, so a resumed run sees the same world.
//
//   ty_world_move(world, t, dt)       once per step, from one thread; then everything below is re-entrant
//
// Every sampler stays valid until the next move or destroy.
#ifndef TY_WORLD_WORLD_H
#define TY_WORLD_WORLD_H

#include "core/vec.h"
#include "geometry/sampler.h"
#include "world/world_def.h"

typedef struct ty_world ty_world;

// Loads meshes and volumes, compiles what has to be. Borrows `def`, which must outlive the world.
// `cell` (metres) is the finest cell anyone will use: shapes that are no distances are made so to
// its scale.
ty_status ty_world_create(ty_world** world, const ty_world_def* def, double cell);
void ty_world_destroy(ty_world* world);

// The world as it is at time t; dt is the step that leads there, for velocities of deforming
// shapes.
ty_status ty_world_move(ty_world* world, double t, double dt);
double ty_world_time(const ty_world* world);
// A sampler cannot fail: where an expression gave no finite number it goes on with 0, and the
// failure is kept here, with the expression's place and the point. Ask after each stage of a step.
// TY_OK when all is well.
ty_status ty_world_status(const ty_world* world);
const ty_world_def* ty_world_get_def(const ty_world* world);

// Solids: obstacles and closed sides of the domain. Distance negative inside the solid; a true
// distance for primitives and meshes. Without any solid: +1e30 everywhere.
ty_sampler ty_world_solid(const ty_world* world);
// Obstacles alone, without the domain's sides; has_obstacles tells whether there are any.
ty_sampler ty_world_obstacles(const ty_world* world);
ty_box ty_world_obstacles_bounds(const ty_world* world);
bool ty_world_has_obstacles(const ty_world* world);
// Whether any solid moves or changes between t - dt and t.
bool ty_world_solid_moves(const ty_world* world);
// Whether an obstacle changes its form or size at some time: its velocity is no rigid motion's.
bool ty_world_solid_deforms(const ty_world* world);
// Velocity of the nearest solid's material at a point (width 3), and its slip (width 1).
ty_sampler ty_world_solid_velocity(const ty_world* world);
ty_sampler ty_world_solid_slip(const ty_world* world);
// Largest speed of any solid now, m/s.
double ty_world_solid_speed(const ty_world* world);

// The liquid at the start: distance, and its velocity (valid inside, continued outside).
ty_sampler ty_world_liquid(const ty_world* world);
ty_sampler ty_world_liquid_velocity(const ty_world* world);
// The box that holds all liquid of the start and all sources ever; the domain when there is one.
ty_box ty_world_bounds(const ty_world* world);

// Sources and drains at this time.
typedef struct ty_source {
    bool on;    // from now on
    // The velocity that liquid leaves a source with. Sources go on beyond open sides of the domain.
    ty_sampler distance, velocity;
    ty_sampler motion;    // the velocity of the shape's own motion
    bool moves;           // at some time
    bool has_rate;
    double
        rate;    // m3/s, a source's outflow now: max((velocity - motion) . n, 0) over its surface, or given
    double delivered;    // m3 that it let out in the step that led here
} ty_source;
int ty_world_n_sources(const ty_world* world);
int ty_world_n_drains(const ty_world* world);
ty_source ty_world_source(const ty_world* world, int i);
ty_source ty_world_drain(const ty_world* world, int i);
// When a source or drain is next switched on or off after t; INFINITY: never. Steps should end
// there.
double ty_world_next_switch(const ty_world* world, double t);

// Gravity now, m/s2. The other forces: adds their acceleration at n points moving with velocity v.
ty_vec3 ty_world_gravity(const ty_world* world);
bool ty_world_has_forces(const ty_world* world);
ty_status ty_world_forces(const ty_world* world, int n, const double (*x)[3], const double (*v)[3],
                          double (*acceleration)[3]);
// Steering: v <- v + (1 - (1 - blend)^(24 dt)) (target - v) inside each modifier, in order.
bool ty_world_steers(const ty_world* world);
ty_status ty_world_steer(const ty_world* world, double dt, int n, const double (*x)[3],
                         double (*v)[3]);

#endif
