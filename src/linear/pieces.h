// SPDX-License-Identifier: Apache-2.0
// The disconnected pieces of a matrix, and which of them are singular.
//
// A piece is a connected component of the graph of non-zero entries. It is singular when every one
// of its rows sums to zero: then the constant is its null vector, a right-hand side has to sum to
// zero over it, and a solution is fixed up to its mean. (Other null vectors do not occur in our
// systems.)
#ifndef TY_LINEAR_PIECES_H
#define TY_LINEAR_PIECES_H

#include <stdbool.h>

#include "core/memory.h"
#include "linear/csr.h"

// A row is tied down (touches air, or has a mass term) when |row sum| exceeds this part of its
// diagonal. Rounding leaves some 1e-13 in a row without air, the weakest real tie we allow is a
// coefficient of 1e-6.
#define TY_TIED_ROW 1e-10

// Open type; owns its arrays, which live from one find to the next.
typedef struct ty_pieces {
    int n_pieces;                    // with at least one entry
    int n_singular;                  // of them
    int n_empty;                     // rows without a non-zero entry
    TY_ARRAY(int) label;             // of each row: the smallest row number of its piece
    TY_ARRAY(unsigned char) tied;    // of each row; of a piece in the entry of its label
    TY_ARRAY(int) row;               // rows of singular pieces and empty rows, piece by piece
    TY_ARRAY(int) segment;    // starts in `row` of runs of rows of one piece, closed by row.n
    TY_ARRAY(int) start;      // scratch
    TY_ARRAY(double) sum;     // of each segment
    TY_ARRAY(double) magnitude;
} ty_pieces;

ty_status ty_pieces_find(ty_pieces* pieces, const ty_csr* a);
void ty_pieces_free(ty_pieces* pieces);

// Takes the mean off every singular piece of v, and sets empty rows to zero. Nothing to do, and
// free, when there are none. Returns the largest |sum| / sum of magnitudes over them, 0 when none.
double ty_pieces_project(ty_pieces* pieces, double* v);

#endif
