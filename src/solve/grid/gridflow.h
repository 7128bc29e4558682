// SPDX-License-Identifier: Apache-2.0
// The state of solver `grid`, and the stages of its step: one file each.
//
//        +-----v-----+-----v-----+      One index serves everything: cell I, the faces on its low sides and the
//        |           |           |      node at its low corner. A layer of ghost cells surrounds the domain, so
//        u     p     u     p     u      cell (i, j, k) has memory coordinates (i+1, j+1, k+1), and the neighbours
//        |           |           |      of I along an axis are I - stride[axis] and I + stride[axis].
//        s-----v-----+-----v-----+
//                                       p  pressure, phi at centres   u, v  velocities   s  solid distance
//
// Open type, private to this folder.
#ifndef TY_SOLVE_GRID_GRIDFLOW_H
#define TY_SOLVE_GRID_GRIDFLOW_H

#include "core/memory.h"
#include "linear/solve.h"
#include "solve/solve.h"

#define TY_BESIDE_SIDE 8    // in within[]

// Cell states.
enum {
    TY_CELL_AIR,
    TY_CELL_LIQUID,
    TY_CELL_CONTINUED
};    // continued: closed, holds a neighbour's pressure

// A cell is liquid when phi < -TY_WET * h. Levels that people choose (cell centres, faces) lie away
// from this threshold, so rounding does not make a pool's surface ragged, and no theta is below it:
// nothing to clamp.
#define TY_WET 1e-3

// Cells: farther from the liquid a cell does not hold any, and a continued velocity does not move its
// surface.
#define TY_NEAR 1.0

typedef TY_ARRAY(int) ty_ids;

// The lattice. Value.
typedef struct ty_cells {
    double origin[3], h, per_h;
    int n[3];    // cells of the domain
    int m[3];    // with ghosts, and a layer beyond the last faces: n + 3
    int stride[3];
    int count;    // m[0] m[1] m[2]
} ty_cells;

// Faces that obstacles or sources close, wholly or partly.
typedef struct ty_cut_faces {
    ty_ids face;
    TY_ARRAY(ty_vec3) velocity;    // of the solid there
    TY_ARRAY(double) slip;         // -1 - i: inside source i, whose velocity holds wholly
} ty_cut_faces;

// A face that is closed for a step.
typedef struct ty_pocket {
    int axis, face;
    double open;    // what it was
} ty_pocket;

// A cell beside the surface whose continued velocities are balanced (balance.c).
typedef struct ty_balanced {
    int cell;
    bool at_side;
    uint8_t continued;            // bit 2 axis + up: its face there is
    double excess, per_weight;    // m/s that are left to it; 1 / the sum of squared open parts
} ty_balanced;

typedef struct ty_gridflow {
    ty_cells cells;
    const ty_solve_def* def;
    const ty_world* world;    // of the advance that runs
    bool closed[TY_N_SIDES];
    double wall_at[3];    // where the closed upper sides cut the last cells; INFINITY: they do not
    bool carries;         // theta < 1: accelerations are carried along
    int layers, most_layers;    // of extrapolation: in this step, ever

    double *u[3], *next[3];          // velocity; the one being made
    float* path[3];                  // where carried: the one that points follow (path.c)
    double middle_dt;                // between steps that is the middle of this one; 0: it is not
    double *acc[3], *next_acc[3];    // material acceleration, where carried
    double *seen[3], *rate[3];    // velocity as trackers see it, and how fast it changes at a place
    double* carried[3];           // scratch of advection
    double *flux[3], *flux_rate[3];    // through faces, per area of the whole face; its change
    double* emitted[3];    // by sources through what they close; NULL when there are none
    uint8_t* noted;        // bit `axis`: flux[axis] is that of liquid
    double* pressure;      // p' / rho at centres, p' = p - rho g . (x - ref)
    double* acting;        // the same, as it acted in the last step (project.c)
    double gravity[3], ref[3];
    bool started;      // there is a pressure
    uint8_t* state;    // of cells
    double max_speed, dt_limit, drain_rate;
    double loss;    // share of the kinetic energy that the next step gives away
    double dt;      // of this step

    double* phi;         // at centres, inside the box; +h elsewhere
    int lo[3], hi[3];    // the box of this step, memory coordinates
    double* solid;       // node distances to obstacles and sources
    double* open[3];     // area fraction of faces
    double* body[3];     // normal velocity of what closes the rest
    double* drift[3];    // normal velocity of a source's own motion; NULL when none ever moves
    double*
        swell;    // m/s: what obstacles that change their volume push into a cell beside; or NULL
    uint8_t* spout;    // cells beside source i carry i + 1
    ty_cut_faces cut[3];
    TY_ARRAY(ty_pocket) pocket;
    bool bodies_fixed;    // no need to make them again
    bool has_bodies, has_spouts;
    uint64_t sources_on;    // which, as a number
    bool rides;             // solids move: inside them the velocity relative to theirs is continued
    TY_ARRAY(double)
    emission;    // two per source: scale of the emitted flux, flux per area beside it

    uint8_t* mark[3];    // faces: 0 unknown, 1 valid, 2.. layer of extrapolation
    uint8_t* within;     // bit `axis`: the face along it is inside the domain or on its sides;
                         // TY_BESIDE_SIDE: the cell or one beside it is not inside
    int* row;            // of liquid cells in the system
    ty_ids wet;          // liquid cells, by rising index
    ty_ids near;         // cells that are not, nearer than TY_NEAR to the liquid, by rising index
    ty_ids face[3];      // valid faces
    int64_t n_wet_faces[3];    // of those: of liquid cells; the rest flies freely
    ty_ids layer, front;       // scratch
    TY_ARRAY(ty_balanced) balanced;
    TY_ARRAY(double) scratch;
    TY_ARRAY(double) rhs;
    TY_ARRAY(double) x;
    TY_ARRAY(double) guess;
    ty_csr matrix;
    ty_linear* linear;
    ty_linear* viscous;    // the rest only with viscosity
    int* face_row;
    double* hold[3];       // 1 - slip at cut faces
    ty_ids stress_face;    // with the whole stress: axis and face of each unknown
    int* stress_row[3];    // unknown of each face; -1: none
} ty_gridflow;

static inline int ty_cell_index(const ty_cells* c, int i, int j, int k)
{
    return i + c->stride[1] * j + c->stride[2] * k;
}
static inline void ty_cell_coords(const ty_cells* c, int index, int at[3])
{
    at[2] = index / c->stride[2];
    int rest = index - at[2] * c->stride[2];
    at[1] = rest / c->stride[1];
    at[0] = rest - at[1] * c->stride[1];
}
// Centre of a cell; of its low face along `axis`; its low corner.
static inline void ty_cell_center(const ty_cells* c, int index, double x[3])
{
    int at[3];
    ty_cell_coords(c, index, at);
    for (int axis = 0; axis < 3; ++axis) x[axis] = c->origin[axis] + c->h * (at[axis] - 0.5);
}
static inline void ty_face_center(const ty_cells* c, int axis, int index, double x[3])
{
    ty_cell_center(c, index, x);
    x[axis] -= 0.5 * c->h;
}

// Coordinates of cells one after the other: of rising ones only the first in a row costs divisions.
typedef struct ty_cell_walk {
    int begin, end;    // of the row
    int at[3];
} ty_cell_walk;
static inline void ty_walk_to(const ty_cells* c, ty_cell_walk* w, int index)
{
    if (index < w->begin || index >= w->end) {
        ty_cell_coords(c, index, w->at);
        w->begin = index - w->at[0];
        w->end = w->begin + c->m[0];
    }
    w->at[0] = index - w->begin;
}
static inline void ty_walk_to_center(const ty_cells* c, ty_cell_walk* w, int index, double x[3])
{
    ty_walk_to(c, w, index);
    for (int axis = 0; axis < 3; ++axis) x[axis] = c->origin[axis] + c->h * (w->at[axis] - 0.5);
}

// bodies.c: obstacles and sources as face fractions and velocities.
ty_status ty_gridflow_bodies(ty_gridflow* gf);
// What a source pushes into the open part of a cell beside it, m/s (times h^2: a flux); never
// negative, for a source's back takes nothing in. `area`: of the source's surface in the cell, in
// h^2. `displaced`: what the source's own motion displaces there.
double ty_gridflow_emitted(const ty_gridflow* gf, int cell, double* area, double* displaced);
// voxels.c: `method: paper`: faces wholly open or closed, between cells that are solid or not.
void ty_gridflow_whole_voxels(ty_gridflow* gf, const int lo[3], const int hi[3]);
// rims.c: faces along sources that pour into air. After ty_gridflow_bodies.
void ty_gridflow_close_rims(ty_gridflow* gf, const ty_liquid* liquid);
// How much of the unit square's area has phi > 0; corners in ring order.
double ty_open_fraction(const double phi[4]);

// pockets.c: faces before dry cells that are nearly solid, closed between the two calls. The first
// needs the liquid cells listed.
ty_status ty_gridflow_close_pockets(ty_gridflow* gf);
void ty_gridflow_open_pockets(ty_gridflow* gf);

// wet.c: which cells are liquid, which faces carry its velocity.
void ty_gridflow_find_box(ty_gridflow* gf, const ty_liquid* liquid);
ty_status ty_gridflow_classify(ty_gridflow* gf, const ty_liquid* liquid);
// The fraction of the way from the centre of liquid cell i to air cell j at which the surface lies;
// more than 1 where j's centre is just not deep enough in the liquid to count: a plane is met
// exactly there too.
#define TY_FARTHEST_SURFACE 20.0
static inline double ty_surface_fraction(double phi_i, double phi_j)
{
    double theta = phi_i / (phi_i - phi_j);
    return theta > 0.0 && theta < TY_FARTHEST_SURFACE ? theta : TY_FARTHEST_SURFACE;
}
// `method: paper`: a cell is liquid when phi is no more than this share of a cell.
#define TY_WET_VOXEL 0.5
static inline bool ty_is_wet(const ty_gridflow* gf, double phi)
{
    return gf->def->paper ? phi <= TY_WET_VOXEL * gf->cells.h : phi < -TY_WET * gf->cells.h;
}

// swell.c: what deforming obstacles push beside a rigid motion. After ty_gridflow_classify.
ty_status ty_gridflow_swell(ty_gridflow* gf);

// advect.c: next[] at valid faces, from u[] and acc[]; rate[] there becomes acc[] carried along.
// Spoils next_acc[].
ty_status ty_gridflow_advect(ty_gridflow* gf, double dt);
// next_acc[], new, loses blows and takes a share of the one before, after ty_gridflow_advect.
void ty_gridflow_smooth(ty_gridflow* gf);

// push.c: forces, steering.
ty_status ty_gridflow_push(ty_gridflow* gf, double dt);

// viscosity.c: one component at a time. stress.c: the whole stress tensor. Both change next[] on
// the liquid's faces.
ty_status ty_gridflow_viscosity(ty_gridflow* gf, double solve_dt, ty_solve_stats* stats);
ty_status ty_gridflow_stress(ty_gridflow* gf, double dt, ty_solve_stats* stats);
void ty_gridflow_keep_holds(ty_gridflow* gf);

// project.c: next[] becomes divergence-free. solve_dt is theta dt. Not physical: no gravity, the
// pressure is not kept.
ty_status ty_gridflow_project(ty_gridflow* gf, const ty_liquid* liquid, double solve_dt,
                              bool physical, ty_solve_stats* stats);

// continue.c: values on faces outside the liquid, in solids and ghosts.
ty_status ty_gridflow_continue(ty_gridflow* gf);

// flux.c: flux[] from next[], on the liquid's faces after the projection, and then, after
// continuation, on all others.
void ty_gridflow_note_flux(ty_gridflow* gf);
ty_status ty_gridflow_continue_flux(ty_gridflow* gf);
ty_status ty_gridflow_continue_rates(ty_gridflow* gf);
// Of a step that is thrown away only flux_rate[] stays, flux[] is that of u[] again.
void ty_gridflow_take_back_flux(ty_gridflow* gf);
void ty_gridflow_fluxes(const void* gf, int n, const double (*x)[3], double* out);

// balance.c: continued velocities beside the surface become nearly free of divergence.
ty_status ty_gridflow_balance(ty_gridflow* gf);
// How much of a difference of velocities across a cell at the surface is taken for the liquid's
// motion. Ripples as short as a cell would grow from what a large motion needs to keep its volume,
// so small differences (cells per step) do not count.
#define TY_CALM    0.01
#define TY_VIOLENT 0.05
static inline double ty_gridflow_trust(const ty_gridflow* gf, double difference)
{
    double cells = fabs(difference) * gf->dt * gf->cells.per_h;
    return ty_clamp((cells - TY_CALM) / (TY_VIOLENT - TY_CALM), 0.0, 1.0);
}

// By how much an acceleration may change within a step and still be smooth, m/s2: what is more was
// a blow. It may be gravity's, change the speed by TY_BLOW of it, or the place by TY_NUDGE / 2
// cells.
#define TY_BLOW  0.05
#define TY_NUDGE 0.2
typedef struct ty_room {
    double gravity, nudge, per_dt;
} ty_room;
static inline ty_room ty_gridflow_make_room(const ty_gridflow* gf)
{
    double per_dt = 1.0 / gf->dt;
    return (ty_room){ty_norm(ty_world_gravity(gf->world)), TY_NUDGE * gf->cells.h * per_dt, per_dt};
}
static inline double ty_room_at(const ty_room* r, double speed)
{
    return r->gravity + (TY_BLOW * fabs(speed) + r->nudge) * r->per_dt;
}

// expose.c: seen[] and rate[], from u[] and acc[].
ty_status ty_gridflow_expose(ty_gridflow* gf);

// measure.c: what stats say, and the limits of the next step.
ty_status ty_gridflow_measure(ty_gridflow* gf, ty_solve_stats* stats);
// By this share steps may be longer than cfl says, but not than waves allow, and only in closed tanks
// without solids that move.
#define TY_STEP_SLACK 0.08
double ty_gridflow_slack(const ty_gridflow* gf);

// pace.c: how many layers of extrapolation a step needs whose flow goes on in the next one; the speed,
// at most `top`, that the next step goes by, m/s. `square`: of the liquid cells' speeds.
int ty_gridflow_layers(const ty_gridflow* gf);
double ty_gridflow_pace(const ty_gridflow* gf, const double* square, double top);
// Cells beyond cfl that any liquid may go in a step.
#define TY_FARTHEST_BEYOND 6.0

// drains.c: m3/s of liquid that runs into drains now.
double ty_gridflow_drain_rate(const ty_gridflow* gf);

// path.c. Makes path[] the velocity as trackers see it in the middle of a step; the flow's answers
// from it.
void ty_gridflow_lead(ty_gridflow* gf, double dt);
void ty_gridflow_middle(const void* gf, int n, const double (*x)[3], double* out);
void ty_gridflow_middle_center(const void* gf, int n, const double (*x)[3], double* out);
void ty_gridflow_middle_faces(const void* gf, int n, const double (*x)[3], double* out);
// path[] at points, and at the middle of a face.
void ty_path_sample(const ty_gridflow* gf, int n, const double (*x)[3], double* out);
void ty_path_at_face(const ty_gridflow* gf, int axis, int f, double v[3]);

// sample.c
void ty_gridflow_seen_velocity(const void* gf, int n, const double (*x)[3], double* out);
void ty_gridflow_motion(const void* gf, int n, const double (*x)[3], double* out);
void ty_gridflow_velocity(const void* gf, int n, const double (*x)[3], double* out);
void ty_gridflow_acceleration(const void* gf, int n, const double (*x)[3], double* out);
void ty_gridflow_pressure(const void* gf, int n, const double (*x)[3], double* out);
// One component of a staggered field at points: trilinear with the bounds of its eight values, and
// cubic within them; with that, rates (or NULL), trilinear.
void ty_face_linear(const ty_cells* c, int axis, const double* values, int n, const double (*x)[3],
                    double* out, double* low, double* high);
void ty_face_cubic(const ty_cells* c, int axis, const double* values, const double* rates, int n,
                   const double (*x)[3], double* out, double* rate);
// Whether all eight values that ty_face_linear would use are on faces marked 1.
bool ty_face_surrounded(const ty_cells* c, int axis, const uint8_t* mark, const double x[3]);
// The full vector at a face along `axis`: its own component and means of four of the others.
static inline void ty_face_vector(const ty_cells* c, double* const u[3], int axis, int f,
                                  double v[3])
{
    int back = -c->stride[axis];
    for (int d = 0; d < 3; ++d) {
        int up = c->stride[d];
        v[d] = d == axis ? u[d][f]
                         : 0.25 * (u[d][f] + u[d][f + up] + u[d][f + back] + u[d][f + back + up]);
    }
}
void ty_face_vectors(const ty_gridflow* gf, double* const u[3], int axis, int n, const int* face,
                     double (*v)[3]);

#endif
