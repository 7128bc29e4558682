// SPDX-License-Identifier: Apache-2.0
// A multigrid for systems whose unknowns are cells of a lattice, each coupled with its six neighbours:
// one V cycle in single precision as a preconditioner. Coarse cells are blocks of 2 x 2 x 2, a value
// of theirs holds for all eight [Vanek1996, without smoothing], and half the Galerkin matrix is
// taken: twice as far apart, coarse cells are twice as hard to tell from each other as eight
// equal values suggest. Coarse matrices have seven entries a row again, so that the set-up is a sum
// and costs as much as two iterations; that of smoothed aggregation took the time of 15.
//
// A dam break of 63 thousand cells in a tank of 64^3 takes 7 iterations to 1e-6, smoothed
// aggregation 9.
#ifndef TY_LINEAR_CELL_MULTIGRID_H
#define TY_LINEAR_CELL_MULTIGRID_H

#include "core/memory.h"
#include "linear/csr.h"

enum { TY_CELL_LEVELS = 31 };

// A line of cells along x that has unknowns: those of a colour are begin[colour] .. end[colour].
typedef struct ty_cell_line {
    int y, z;
    int at;    // its first cell in the arrays of a colour
    int begin[2], end[2];
} ty_cell_line;

// Cells are coloured like a chessboard: cell x has the colour (x + y + z) % 2 and lies at x / 2 in
// its line of that colour. So all neighbours of consecutive cells of a colour are consecutive too.
// A layer of empty cells surrounds the box of the unknowns.
typedef struct ty_cell_level {
    int size[3];        // with the layer around
    int half, plane;    // memory from a line to the next, from a plane to the next
    int64_t count;      // of a colour
    TY_ARRAY(ty_cell_line) line;
    TY_ARRAY(int) extent;      // two per line of the box: its first and last unknown
    TY_ARRAY(float) values;    // all that follows, colour by colour
    float* weight[3];          // to the neighbour below
    float* inverse;            // of the diagonal; 0 where there is no unknown
    float *x, *b;              // during set-up b is what ties a cell to given values
} ty_cell_level;

typedef struct ty_cell_multigrid {
    int n_levels;
    ty_cell_level level[TY_CELL_LEVELS];
    TY_ARRAY(int) place;    // of each row in the finest level's arrays
} ty_cell_multigrid;

// `cell` of each row, rising: x + size[0] (y + size[1] z). Rows have no other entries than the
// diagonal and the six neighbours, and these are not positive.
ty_status ty_cell_multigrid_setup(ty_cell_multigrid* m, const ty_csr* a, const int* cell,
                                  const int size[3]);
// A ty_preconditioner's apply.
void ty_cell_multigrid_apply(void* m, const double* r, double norm, double* z);
void ty_cell_multigrid_free(ty_cell_multigrid* m);

#endif
