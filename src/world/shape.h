// SPDX-License-Identifier: Apache-2.0
// A shape at a time: its signed distance, the velocity of its material, its bounds.
//
// What the distance is worth (exact_band of the sampler, metres):
//   primitives, meshes            exact everywhere: infinite (a mesh between frames with other triangles: 0)
//   union                         exact outside where its parts are; inside overlapping parts it is a lower
//                                 bound of the depth. As exact as its parts when their boxes keep apart, else 0
//   intersection, difference      exact inside, a lower bound of the distance outside: 0
//   formula                       phi / |grad phi|, second order near the surface: 0
//   volume                        what the file holds: 0
// The sign and the zero set are right for all.
#ifndef TY_WORLD_SHAPE_H
#define TY_WORLD_SHAPE_H

#include "geometry/sampler.h"
#include "world/fault.h"
#include "world/mesh_body.h"
#include "world/pose.h"
#include "world/volume_cache.h"
#include "world/world_def.h"

// Distance where there is nothing.
#define TY_FAR 1e30

enum { TY_MAX_SHAPE_DEPTH = 24 };    // of shapes inside shapes

// Open. One node of the tree; children are an array.
typedef struct ty_shape {
    const ty_shape_def* def;
    double cell;
    double exact_band;
    ty_pose pose;    // of this node, in its parent's space, now
    double time;
    bool moves;             // now, itself or a child
    bool changes_inside;    // at some time, beside its own pose
    bool changes_ever;      // at some time
    int n_children;
    struct ty_shape* children;
    bool velocity_is_given;    // by someone else: a sequence's own normal velocity does not count
    ty_varying formula;        // a copy that owns only what it loads
    ty_mesh_body* mesh;
    ty_volume_cache* volume;
    ty_fault* fault;
} ty_shape;

// Borrows def and fault. On failure destroy still works on the shape.
ty_status ty_shape_create(ty_shape* shape, const ty_shape_def* def, double cell, ty_fault* fault);
void ty_shape_destroy(ty_shape* shape);
// The shape as it is at t; dt is the step that leads there, 0 at the start.
ty_status ty_shape_move(ty_shape* shape, double t, double dt);

// Re-entrant, any n.
void ty_shape_distance(const ty_shape* shape, int n, const double (*x)[3], double* out);
// Velocity of the material at, or nearest to, each point.
void ty_shape_velocity(const ty_shape* shape, int n, const double (*x)[3], double (*out)[3]);
// Holds the inside; infinite for planes, formulas and complements, for all times also for file
// sequences. Now, and for all times.
ty_box ty_shape_bounds(const ty_shape* shape);
ty_box ty_shape_bounds_ever(const ty_shape* shape);
// No part of it inside `within` (finite) is faster. Attained by a shape that moves as one.
double ty_shape_speed(const ty_shape* shape, const ty_box* within);

ty_sampler ty_shape_sampler(const ty_shape* shape);

ty_box ty_box_infinite(void);
bool ty_box_is_finite(const ty_box* b);
bool ty_box_is_empty(const ty_box* b);
ty_box ty_box_intersect(const ty_box* a, const ty_box* b);
ty_box ty_box_unite(const ty_box* a, const ty_box* b);

#endif
