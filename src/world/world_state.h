// SPDX-License-Identifier: Apache-2.0
// The inside of a ty_world, for the files of this room only.
#ifndef TY_WORLD_WORLD_STATE_H
#define TY_WORLD_WORLD_STATE_H

#include "core/memory.h"
#include "world/force.h"
#include "world/shape.h"
#include "world/world.h"

typedef struct ty_body {
    ty_shape shape;
    ty_varying velocity;    // copies that own only the volumes they load
    bool has_velocity;
    double slip;
    ty_box bounds;    // as it is now
    ty_world* world;
} ty_body;

// A surface as points with area vectors (outward, m2): integrals over it are sums.
typedef struct ty_patches {
    TY_ARRAY(double) point, area;    // 3 each
} ty_patches;

// A source or a drain.
typedef struct ty_spout {
    ty_shape shape;
    ty_varying velocity, rate_def;
    bool is_source, has_rate, on;
    double active[2];
    double rate, delivered;
    double gain;      // factor on the velocity that makes its outflow the given rate
    bool measured;    // flux holds for ever
    double flux;
    ty_patches patches;    // in the space of the shape before its own motion
    ty_world* world;
} ty_spout;

typedef struct ty_force {
    const ty_force_def* def;
    const ty_force_type* type;
    void* self;
    ty_varying vector, strength;
    bool bounded, on;
    ty_shape region;
} ty_force;

typedef struct ty_steering {
    ty_shape shape;
    ty_varying velocity, blend;
} ty_steering;

struct ty_world {
    const ty_world_def* def;
    double cell, time, step;
    ty_box bounds;
    ty_varying gravity, wall_velocity[TY_N_SIDES];
    ty_vec3 gravity_now;
    int n_liquids, n_obstacles, n_spouts, n_forces, n_steers;    // spouts: sources, then drains
    ty_body *liquids, *obstacles;
    ty_spout* spouts;
    ty_force* forces;
    ty_steering* steers;
    bool solid_moves, solid_changes_ever;
    double solid_speed, obstacles_band, solid_band, liquid_band;
    ty_fault* fault;    // behind a pointer: samplers of a const world write it
};

// solid.c
// Speeds, whether anything moves, exact bands; after all shapes have moved.
void ty_world_update_solids(ty_world* w, double dt);
// The distance to the closed sides of the domain, negative beyond them; TY_FAR without.
void ty_world_walls(const ty_world* w, int n, const double (*x)[3], double* out);
// The union's distance of n_bodies, and which body rules (NULL: not asked). TY_FAR and -1 for none.
void ty_bodies_distance(const ty_body* bodies, int n_bodies, int n, const double (*x)[3],
                        double* out, int* which);
// After bodies have moved: their bounds, and the band within which the union's distance is exact.
double ty_bodies_settle(ty_body* bodies, int n_bodies);

// spout.c
ty_status ty_world_create_spouts(ty_world* w);
ty_status ty_world_move_spouts(ty_world* w, double t, double dt);
void ty_world_destroy_spouts(ty_world* w);

// patches.c The surface of a shape as it is now, in the space before its own motion; `within` ends
// infinite ones.
ty_status ty_patches_make(ty_patches* p, const ty_shape* shape, const ty_box* within);
void ty_patches_free(ty_patches* p);

// forces.c
ty_status ty_world_create_forces(ty_world* w);
ty_status ty_world_move_forces(ty_world* w, double t, double dt);
void ty_world_destroy_forces(ty_world* w);

// steer.c
ty_status ty_world_create_steers(ty_world* w);
ty_status ty_world_move_steers(ty_world* w, double t, double dt);
void ty_world_destroy_steers(ty_world* w);

// Evaluates where no failure can be returned: zeros and a note in w->fault instead.
void ty_world_eval(const ty_world* w, const ty_varying* v, int n, const double (*x)[3],
                   double* out);
void ty_world_eval_at(const ty_world* w, const ty_varying* v, double t, int n, const double (*x)[3],
                      double* out);

#endif
