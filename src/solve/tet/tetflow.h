// SPDX-License-Identifier: Apache-2.0
// The state of solver `tet`, and the stages of its step: one file each.
//
//   liquid at t + dt --> fill (mesh, open shares) --> carry (velocities from the old mesh) --> push --> project
//                                                                                                          |
//   tracker <------- flow (vertex velocities, 12-way interpolation, continued outside) <-------------------+
//
// Faces and area vectors are those of ty_tet_mesh: S_i of tet t points out of t through the face
// opposite vertex i. Open type, private to this folder.
#ifndef TY_SOLVE_TET_TETFLOW_H
#define TY_SOLVE_TET_TETFLOW_H

#include "core/memory.h"
#include "linear/solve.h"
#include "mesh/stuff.h"
#include "solve/solve.h"

// Kinds of mesh vertices, bits.
enum {
    TY_VERT_AIR = 1,       // on the free surface: its pressure is given
    TY_VERT_WALL = 2,      // a tet around it is cut by a solid or dropped
    TY_VERT_LIVE = 4,      // some tet around it has open volume
    TY_VERT_CUT = 8,       // a tet around it is cut
    TY_VERT_SOLID = 16,    // lies on a solid; only where the mesh conforms to solids
    // Air, but outside the liquid: the mesh is thicker than it (`filling`)
    TY_VERT_LIFTED = 32,
    TY_VERT_HELD = 64    // every open tet around it is held
};

// A tet with less open volume than this share is dropped (open 0). Slivers cost no iterations and
// move like their neighbours; dropping those below 1e-3 leaves errors of 40 % of the speed in
// slivers beside them.
#define TY_TET_DROPPED 1e-12

// How deep in solids the mesh should end, cells ([Chentanez2007] has it end at them). Cut tets
// reach 1.3 cells deep (warped vertices), and where the end meets the free surface vertices are up
// to half a cell off: 1.5 disturbs pools.
#define TY_TET_DEPTH 2.0
// Where trackers end the liquid sooner than this, cells, the mesh continues it so far (deepen.c).
#define TY_TET_LEAST_DEPTH 1.5

// The liquid on one step's mesh.
typedef struct ty_tet_state {
    ty_tet_mesh mesh;
    TY_ARRAY(double) solid;    // per vertex, m: distance to solids, negative inside
    TY_ARRAY(double)
    open;    // per tet: share of its volume outside solids; 0 when dropped, 1 uncut
    TY_ARRAY(ty_vec3)
    solid_velocity;    // per tet, of the solid in it; zero in uncut tets; empty where none moves
    TY_ARRAY(uint8_t) vert_kind;
    // Per tet: its velocity is given, the pressure acts as if it were infinitely heavy; empty: none is
    TY_ARRAY(uint8_t) held;
    TY_ARRAY(double) given;    // per vertex, m2/s2: p' / rho at air vertices, 0 elsewhere
    TY_ARRAY(ty_vec3)
    u;    // per tet, m/s; project gives dropped ones the average of known neighbours
    TY_ARRAY(ty_vec3)
    a;    // per tet, m/s2: -grad p' / rho of the last projection; dropped ones likewise
    TY_ARRAY(double) flux;    // per face, m3/s through its open part, out of face_tet[0]
    TY_ARRAY(double)
    outflow;    // per vertex, m3/s: what leaves at air vertices (Q_v of the notes; also where
                // air faces have their own pressure: a third of their
                // flux), 0 elsewhere
    TY_ARRAY(double) pressure;    // per vertex, m2/s2: p' / rho
} ty_tet_state;

void ty_tet_state_free(ty_tet_state* s);

static inline bool ty_tet_is_held(const ty_tet_state* s, int64_t tet)
{
    return s->held.n && s->held.at[tet];
}

static inline ty_vec3 ty_tet_solid_velocity(const ty_tet_state* s, int64_t tet)
{
    return s->solid_velocity.n ? s->solid_velocity.at[tet] : ty_vec(0, 0, 0);
}

// ---- project side: shares.c, cut_tet.c, wall.c, unknowns.c, system_linear.c (face, nodal),
// system_two_point.c, project.c

// Open shares, velocities of solids and kinds of vertices of s->mesh. `liquid_distance` tells air
// vertices (on its zero) from vertices where the mesh only ends inside a solid. Exact for planes.
ty_status ty_tet_shares(ty_tet_state* s, const ty_sampler* liquid_distance, const ty_world* world,
                        double cell);

// The same for a mesh that ends at solids (`obstacles: conform`): no tet is cut. Vertices within a
// twentieth of a cell of the liquid's surface are air, those as near to a solid are on it. With
// `paper_air` all vertices of faces that do not lie wholly on a solid are air ([Chentanez2007]
// section 3.3.1), which tears contact lines apart.
ty_status ty_tet_shares_conform(ty_tet_state* s, const ty_sampler* liquid_distance,
                                const ty_world* world, double cell, bool paper_air);

typedef enum ty_tet_pressure { TY_TET_FACE, TY_TET_NODAL, TY_TET_TWO_POINT } ty_tet_pressure;

// Matrix, numbering, multigrid. Opaque.
typedef struct ty_tet_projector ty_tet_projector;
ty_status ty_tet_projector_create(ty_tet_projector** p, ty_tet_pressure scheme,
                                  const ty_solve_def* def);
void ty_tet_projector_destroy(ty_tet_projector* p);
// Gives back all memory until the next projection.
void ty_tet_projector_rest(ty_tet_projector* p);

// s->u, which came with any divergence, becomes divergence-free: u -= solve_dt grad p' / rho with
// p' given at air vertices; a, flux, outflow and pressure are set. `divergence` (per tet, 1/s, may
// be NULL) is what the liquid should grow by. s->pressure comes in as the first guess. Bodies of
// liquid without air are solved up to a constant.
ty_status ty_tet_project(ty_tet_projector* p, ty_tet_state* s, double solve_dt,
                         const double* divergence, ty_solve_stats* stats);

// For `two-point`: s->flux holds the fluxes of u* out of face_tet[0] at the next projection,
// instead of what u has between tets.
void ty_tet_projector_take_fluxes(ty_tet_projector* p);

// ---- velocity side: motion.h

#endif
