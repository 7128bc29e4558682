// SPDX-License-Identifier: Apache-2.0
// Makes values whose sign is right into signed distances, without moving the surface.
//
// Cells next to the surface find their closest point on the zero set of the tricubic interpolant by
// Newton steps [Chopp2001]; from there outward every cell starts from the closest points of its
// neighbours, layer by layer, and takes Newton steps of its own while that near the surface
// matters. No upwind differences, so a plane is exact to rounding within five cells and a smooth
// surface moves by a third-order amount (measured in redistance_test.c).
//
// Where Newton finds nothing (features of a cell or two), the distance to the plane through the
// axes' crossings holds, which keeps the crossings to second order. The sign of every cell is kept,
// so the topology never changes. Same bits for any number of threads.
#ifndef TY_FIELD_REDISTANCE_H
#define TY_FIELD_REDISTANCE_H

#include "field/grid.h"

// A point of the surface in lattice coordinates, and its unit normal there (0: not known). Single:
// cells beside begin with it, their own distances are found in double.
typedef struct ty_closest_place {
    float at[3], normal[3];
} ty_closest_place;

typedef struct ty_band_cell {
    int id;    // in memory
    int ijk[3];
} ty_band_cell;

// Scratch memory and counts of the last call. Open; zero-initialise, then ty_redistance_free.
typedef struct ty_redistance {
    TY_ARRAY(int) slot;                    // per cell: place in the band's lists, negative outside
    TY_ARRAY(ty_band_cell) cell;           // the band's cells, layer by layer from the surface
    TY_ARRAY(ty_closest_place) closest;    // of each cell
    TY_ARRAY(double) distance;             // new values of the band's cells, in cells
    TY_ARRAY(uint8_t) sign;                // per cell, rows with an end more on each side
    TY_ARRAY(uint8_t) touches;             // per cell: the surface is between it and a neighbour
    TY_ARRAY(int) row_count;
    TY_ARRAY(int64_t) row_first;
    // Set before a call: from 2.5 cells on the trilinear interpolant will do. Semi-Lagrangian steps
    // see no difference, fifth-order differences get a ball of four cells off by 0.07 instead of 0.03.
    bool linear_far;
    int64_t n_near, n_fallback;    // cells next to the surface; those without a Newton solution
} ty_redistance;

// Distances within `band` metres of the surface; beyond it values are -band or +band. Values
// without any change of sign all become +-band. `rough`, per cell, or NULL: cells whose own value
// does not matter get one that is up to half a cell wrong next to the surface, and keep theirs
// elsewhere.
ty_status ty_redistance_run(ty_redistance* r, const ty_grid* g, double band,
                            const unsigned char* rough, double* phi);
void ty_redistance_free(ty_redistance* r);

#endif
