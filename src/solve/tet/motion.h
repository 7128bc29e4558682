// SPDX-License-Identifier: Apache-2.0
// How the liquid of one step moves, at any point: the state on its mesh, values at vertices, and
// what is known outside.
//
//                 skin: boundary of the mesh, and loose triangles      values between tets: twelve parts of each tet,
//      . o . .    of the surface that no tet is near                   linear, exact at barycentres and vertices
//    ./ \___/ \.
//    |tets     |  outside: the value at the skin's closest point; in solids: at the wall, without the part into it
//
// Open types, private to this folder.
#ifndef TY_SOLVE_TET_MOTION_H
#define TY_SOLVE_TET_MOTION_H

#include "mesh/stuff.h"
#include "solve/tet/band.h"
#include "solve/tet/tetflow.h"
#include "space/bvh.h"
#include "space/hash_grid.h"

// The tets around each vertex: 4 * tet + place of the vertex in it, rising; first has n_verts + 1
// entries.
typedef struct ty_tet_stars {
    TY_ARRAY(int) first;
    TY_ARRAY(int) corner;
} ty_tet_stars;
ty_status ty_tet_stars_make(ty_tet_stars* stars, const ty_tet_mesh* mesh);
void ty_tet_stars_free(ty_tet_stars* stars);

// As loose_id: in a solid, and no tet near; in a tet.
enum { TY_TET_BURIED = -2, TY_TET_IN = -3 };

// A vector field: at vertices, and by how much a tet's own value differs from the mean of its
// vertices'.
typedef struct ty_tet_values {
    TY_ARRAY(ty_vec3) vert;
    TY_ARRAY(ty_vec3) deviation;
    TY_ARRAY(ty_vec3) skin;    // at the skin's vertices
} ty_tet_values;

struct ty_tet_motion {
    ty_tet_state state;
    TY_ARRAY(double) volume;    // per tet
    TY_ARRAY(ty_vec3)
    centre;    // per tet: where its velocity is that of the liquid, the centroid of its open part
    TY_ARRAY(double) moving;    // per tet: its volume of liquid; for statistics
    ty_tet_values u, a;
    ty_tri_mesh skin;    // boundary vertices of the mesh first, then loose ones of the surface
    ty_bvh skin_tree;
    int n_loose_tris;
    ty_tet_stars around;    // with `paper` only
    bool paper;             // values as in paper.h
    bool sticks;            // vertices on solids move with them
    bool sharpens;          // as in sharpen.c
    ty_vec3 gravity;
    double level;    // p / rho = p' / rho + gravity . x - level
    // Per vertex, m2/s2, where accelerations are carried: the full p / rho that acted in the last
    // step, and that which the next one begins with
    TY_ARRAY(double) acting;
    TY_ARRAY(double) carried;
};
void ty_tet_motion_free(ty_tet_motion* m);

// Where a point is: in a tet, on a skin triangle that is closest (tet = -2 - triangle), or nowhere
// (-1).
typedef struct ty_tet_place {
    int tet;
    double l[4];    // barycentric coordinates
} ty_tet_place;

// vertex.c: volumes and centres of a new mesh.
ty_status ty_tet_motion_measure(ty_tet_motion* m);
// The barycentric coordinates of a tet's centre.
void ty_tet_centre_weights(const ty_tet_state* s, int tet, double l[4]);
// The mean of the barycentric coordinate of vertex i of `tet` over its face j, taken as 0 inside
// solids: a third when all of it is open.
double ty_tet_face_moment(const ty_tet_state* s, int tet, int j, int i);
// Everything that is sampled, from state.u and state.a; the skin is there. `stars` is scratch.
ty_status ty_tet_motion_values(ty_tet_motion* m, ty_tet_stars* stars);
// ty_tet_motion_close, then ty_tet_motion_values.
ty_status ty_tet_motion_finish(ty_tet_motion* m, ty_tet_stars* stars);
// balance.c: what a boundary vertex of the mesh lets through the free surface less than it should,
// m3/s. The skin is there.
typedef struct ty_tet_missing {
    ty_vec3 normal;
    double flux;
    double takes;       // m2 of surface that may take what others miss
    double range[2];    // by how much values of the tets around differ along the normal
} ty_tet_missing;
ty_status ty_tet_balance(ty_tet_motion* m, ty_tet_missing* missing);
// sharpen.c: the skin's values there, without the means that waves are slowed by.
ty_status ty_tet_sharpen(ty_tet_motion* m, const ty_tet_missing* missing);
// The velocity of the solid that a vertex lies on.
ty_vec3 ty_tet_wall_velocity(const ty_tet_motion* m, const ty_tet_stars* stars, int v);
// skin.c: the skin is the boundary of the mesh, and its tree; loose triangles are added by hand.
ty_status ty_tet_motion_close(ty_tet_motion* m);
// The values of the vertices on the boundary; those of loose ones stay.
ty_status ty_tet_motion_skin_values(ty_tet_motion* m);

// Whether any of the liquid is at a solid.
bool ty_tet_at_walls(const ty_tet_state* s);

// interpolate.c. Re-entrant; n at most TY_SAMPLE_BATCH.
void ty_tet_locate(const ty_tet_motion* m, int n, const double (*x)[3], ty_tet_place* place);
// The same, but nowhere (-1) for points outside and farther from the skin than `reach`.
void ty_tet_locate_within(const ty_tet_motion* m, double reach, int n, const double (*x)[3],
                          ty_tet_place* place);
// u, a: 3 values per point; either may be NULL. With a world that has solids, values in them are
// those at the wall. `surface`: as trackers see them, with the surface's velocity on both sides of
// it.
void ty_tet_sample(const ty_tet_motion* m, const ty_world* world, bool surface, int n,
                   const double (*x)[3], double* u, double* a);
// The same with the surface's part, and whether the skin's values had to do with it.
void ty_tet_sample_by_skin(const ty_tet_motion* m, const ty_world* world, int n,
                           const double (*x)[3], bool* by_skin, double* u, double* a);
// The same without the surface's part, for points in tets only; others are not known.
void ty_tet_sample_inside(const ty_tet_motion* m, const ty_world* world, int n,
                          const double (*x)[3], bool* known, double (*u)[3], double (*a)[3]);
// The place of a point on a triangle of the skin, whether that is free (no solid's side of the
// mesh), and a place's value.
void ty_tet_place_on_skin(const ty_tet_motion* m, int tri, ty_vec3 x, ty_tet_place* place);
bool ty_tet_on_free_surface(const ty_tet_motion* m, int tri);
ty_vec3 ty_tet_value(const ty_tet_motion* m, const ty_tet_values* f, const ty_tet_place* p);
// Whether there are obstacles or closed sides at all.
bool ty_tet_has_solids(const ty_world* world);
// Of values at vertices those at points' places, linear; 0 outside the mesh.
void ty_tet_sample_scalar(const ty_tet_motion* m, const double* vert, int n,
                          const ty_tet_place* place, double* out);

// The solver. motion[now] is what trackers see, the other one is being made or spare.
typedef struct ty_tetflow {
    const ty_solve_def *def,
        *scene;    // scene: as given; def: what it comes to, the same but for `method: paper`
    ty_solve_def paper;
    const ty_world* world;    // of the advance that runs or was last
    ty_tet_motion motion[2];
    ty_tet_band band;    // of motion[now]
    int now;
    double origin[3];    // of the lattice
    double theta;        // weight of the new acceleration
    bool carries;        // theta < 1: accelerations are carried along
    bool stiff;          // viscosity holds against gravity: acts between two projections
    bool conforms;       // the mesh ends at solids, as in the paper
    double max_speed, dt_limit;
    ty_slow slow;    // what the next step does with its kinetic energy
    ty_tet_projector* projector;
    struct ty_tet_viscous* viscous;    // NULL until there is viscosity
    ty_stuff stuff;
    ty_tet_stars stars;
    TY_ARRAY(ty_vec3) first;        // per tet, at the start: velocities before the probing step
    TY_ARRAY(ty_vec3) unpushed;     // per tet, `method: paper`: velocities before forces
    TY_ARRAY(double) snapped;       // per boundary vertex: distance to solids
    TY_ARRAY(double) kept;          // per vertex: pressure of the first of two projections
    TY_ARRAY(ty_vec3) force;        // per tet: accelerations that are no pressure's; empty: none
    TY_ARRAY(ty_vec3) before;       // per tet: the acceleration that arrived with its velocity
    TY_ARRAY(double) limited;       // per tet: the share of its acceleration that is carried on
    TY_ARRAY(int) source;           // per tet: the source that its centre is in, or -1
    TY_ARRAY(ty_vec3) source_a;     // per source: the pressure's mean acceleration in the last step
    TY_ARRAY(double) divergence;    // per tet, wanted
    TY_ARRAY(int)
    loose_id;    // per vertex of the liquid's surface: its number in the skin, or negative
    TY_ARRAY(int) contact;         // free surface vertices inside walls
    TY_ARRAY(int) contact_id;      // and in the open,
    TY_ARRAY(double) contact_x;    // where these are, 3 each
    ty_hash_grid contact_grid;
    TY_ARRAY(int) code;    // per block of a loop: how it went
} ty_tetflow;

static inline ty_tet_motion* ty_tetflow_old(ty_tetflow* tf) { return &tf->motion[tf->now]; }
static inline ty_tet_motion* ty_tetflow_new(ty_tetflow* tf) { return &tf->motion[1 - tf->now]; }

// fill.c: the new mesh, its shares and geometry. No tets where there is no liquid, or less than a
// cell of it.
ty_status ty_tetflow_fill(ty_tetflow* tf, const ty_liquid* liquid);
// snap.c: boundary vertices near solids onto them.
ty_status ty_tetflow_snap(ty_tetflow* tf, ty_tet_mesh* mesh);
// carry.c: the new state's u and `before` from the old motion.
ty_status ty_tetflow_carry(ty_tetflow* tf, double dt);
// The same at n points (at most TY_SAMPLE_BATCH): what arrives there after dt.
void ty_tetflow_arriving(const ty_tetflow* tf, double dt, int n, const double (*x)[3], double* u,
                         double* a);
// push.c: forces, steering, sources; `force` is set.
ty_status ty_tetflow_start_sources(ty_tetflow* tf);
ty_status ty_tetflow_push(ty_tetflow* tf, double dt, double solve_dt);
// What the pressure did in sources; and liquid there has no acceleration to carry.
void ty_tetflow_measure_sources(ty_tetflow* tf);
void ty_tetflow_rest_sources(ty_tetflow* tf);
// given.c: p' at the free surface and the first guess elsewhere. Not physical: all zero.
ty_status ty_tetflow_give(ty_tetflow* tf, const ty_liquid* liquid, bool physical);
// tension.c: sigma kappa / rho joins `given`.
ty_status ty_tetflow_tension(ty_tetflow* tf, const ty_liquid* liquid);
// contact.c: `given` where the surface has run on into walls.
ty_status ty_tetflow_contact(ty_tetflow* tf);
// The direction away from solids, by differences over a part of a cell.
ty_vec3 ty_tet_way_out(const ty_sampler* solid, double cell, ty_vec3 x);
// emit.c: adds to `divergence` what sources bring in where no air is behind them.
void ty_tetflow_emit(ty_tetflow* tf, const ty_liquid* liquid);
// calm.c: slivers move as the open tets beside them; forces join the accelerations, which become
// what may be carried.
void ty_tetflow_calm_slivers(ty_tetflow* tf);
ty_status ty_tetflow_limit_accelerations(ty_tetflow* tf, double dt, bool limited);
// acting.c: m->acting, which holds what was carried to the new vertices, with `theta` of the new
// pressure; and m->carried.
void ty_tetflow_acting_pressure(ty_tetflow* tf, double theta);
ty_status ty_tetflow_carried_pressure(ty_tetflow* tf);
// loose.c: parts of the liquid's surface that no tet is near, into the new motion's skin. Falling
// freely.
ty_status ty_tetflow_loose(ty_tetflow* tf, const ty_liquid* liquid, double dt);
// flow.c: as trackers see it, through the table of the band; n at most TY_SAMPLE_BATCH, u or a may
// be NULL.
void ty_tetflow_seen(const ty_tetflow* tf, int n, const double (*x)[3], double* u, double* a);
// Velocity and acceleration of the liquid itself, as a sampler's eval of width 6.
void ty_tetflow_own(const void* tf, int n, const double (*x)[3], double* out);
ty_flow ty_tetflow_flow(const ty_tetflow* tf);
// archive.c: a motion as the next step needs it, to the bit.
ty_status ty_tet_motion_archive(ty_tet_motion* m, ty_archive* ar, ty_tet_stars* stars);
// witness.c: surface_divergence and outside.
ty_status ty_tetflow_witness(const ty_tetflow* tf, const ty_liquid* liquid, ty_solve_stats* stats);
// write.c: velocities, pressures (Pa) and open shares of the tets, as .vtu.
ty_status ty_tetflow_write(const ty_tetflow* tf, const char* path);
// impact.c: dt, or less when so long a step would lose much of `volume` m3 at walls that the surface
// meets in it.
double ty_tetflow_before_impact(const ty_tetflow* tf, double volume, double dt);
// sweep.c: before a step of dt, what trackers see is made to keep the liquid's volume.
ty_status ty_tetflow_sweep(ty_tetflow* tf, const ty_liquid* liquid, double dt);
// measure.c: velocities at walls whose liquid has more kinetic energy than the step may end with become slower.
ty_status ty_tetflow_hold(ty_tetflow* tf, const ty_liquid* liquid);
// What stats say, and the limits of the next step.
ty_status ty_tetflow_measure(ty_tetflow* tf, const ty_liquid* liquid, ty_solve_stats* stats);

#endif
