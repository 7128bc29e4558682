// SPDX-License-Identifier: Apache-2.0
// What trackers and solvers tell each other. Neither includes the other's headers.
//
//     TRACKER  --- ty_liquid (where it is) --->  SOLVER
//     TRACKER  <--- ty_flow (how it moves) ----  SOLVER
#ifndef TY_WORLD_EXCHANGE_H
#define TY_WORLD_EXCHANGE_H

#include "geometry/sampler.h"
#include "mesh/tri_mesh.h"
#include "space/octree.h"

// Where values sit, such as a solver's pressures: point (i, j, k) is origin + cell * (i, j, k); for
// `body` also at the centres.
typedef struct ty_lattice {
    double origin[3], cell;
    int n[3];     // 0: unbounded
    bool body;    // body-centred cubic
} ty_lattice;

// A tracker's answer. Value; borrows from the tracker, valid until its next advance, edit or
// offset.
typedef struct ty_liquid {
    ty_sampler distance;    // negative inside; runs on `overlap` metres into obstacles
    const ty_tri_mesh*
        surface;    // always there: closed, outward, not cut by obstacles, with attributes
    const int*
        piece;    // per surface vertex: which body of liquid it bounds (a bubble: its body's)
    int n_pieces;
    double cell, overlap;    // metres
    ty_lattice lattice;      // of `values`
    // The distance at a lattice's points, x fastest; along the lines between them it is
    // field/cubic.h's interpolant. NULL: the tracker keeps none.
    const double* values;
    ty_sampler
        fattening;    // metres by which `distance` must be lowered for a lattice of `cell` to see thin liquid; eval
    // NULL: nowhere
    ty_sampler fattened;    // `distance` less `fattening`, sooner told than both; eval NULL as that
    // The octree whose contour is `hull`: the zeros of `distance` less `fattening`, with a vertex for
    // each cut edge of the tree's lattice, which is that of track/cut_part.h; `surface` has the same
    // vertices and triangles. NULL: there is none.
    const ty_octree* tree;
    const ty_tri_mesh* hull;
    ty_sampler
        filling;    // what a solver's mesh should fill: thickened where thin; eval NULL: `distance`
    // The same, but a true value only where it is less than `exact_band`: elsewhere it has the sign and
    // is no less. Sooner told; eval NULL: not known
    ty_sampler roughly_filling;
    ty_sampler
        thickening;    // metres, 0 wherever `filling` is `distance`: that is soon told; eval NULL: not known
    ty_sampler
        divergence;    // 1/s, what the ledger wants the liquid to grow by; eval NULL: nothing
} ty_liquid;

// A solver's answer. Value; borrows from the solver, valid until its next advance.
typedef struct ty_flow {
    ty_sampler velocity;    // width 3, m/s, everywhere: the solver extrapolates
    ty_sampler
        acceleration;    // width 3, material acceleration, for the Lagrangian trace; eval NULL when none
    ty_sampler
        both;    // width 6, velocity and acceleration at once; eval NULL: asked one after the other
    // Width 6, the same as `both` of the liquid itself, where near the surface the others tell the
    // surface's; eval NULL: they do not.
    ty_sampler inside;
    ty_sampler
        motion;    // width 6, velocity and its rate of change at a point; set: paths lead through velocity + dt/2 rate
    // Width 3, velocity + middle_dt / 2 rate, asked instead of `motion` in a step of middle_dt; eval
    // NULL: not known.
    ty_sampler middle;
    double middle_dt;
    // The same at the centre of the cell of `lattice` that a point lies in (width 3), and at those of
    // its lower faces (width 9); eval NULL: `middle` has to be asked.
    ty_sampler middle_center, middle_faces;
    // Width 9, m/s: what goes through the nearest face of a cell of `lattice` along each axis; its
    // rate of change; and what of it sources let out there. eval NULL: not known.
    ty_sampler flux;
    // The liquid's surface, carried along the paths of a step, encloses what the liquid has then.
    bool keeps_volume;
    ty_sampler pressure;    // width 1, Pa, full and not reduced; eval NULL when the solver has none
    ty_lattice lattice;
    double cell;         // metres
    double max_speed;    // m/s, largest speed of the liquid
    double dt_limit;    // s, the longest next step the solver takes; INFINITY when it does not care
    double dt_slack;    // by this share of it steps may be longer, where a frame takes one less so
    bool counts_drains;    // drain_rate is known:
    double drain_rate;     // m3/s of liquid that runs into drains
} ty_flow;

enum { TY_MAX_FIELDS = 8 };

// Something that can be written into a volume file: a sampler and its name.
typedef struct ty_named_field {
    const char* name;
    ty_sampler values;
} ty_named_field;

#endif
