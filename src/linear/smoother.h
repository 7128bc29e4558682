// SPDX-License-Identifier: Apache-2.0
// Gauss-Seidel sweeps colour by colour, in single precision.
//
// Rows are stored in the order of the sweep, vectors stay in the order of the unknowns:
//
//   at most 4 (6) neighbours     rows have colours; slots: neighbour w of the k-th row of a colour lies at w * count + k, missing
//                                ones have weight 0; no row ends, so the loop vectorises
//   more                         blocks of rows have colours; compressed rows without their diagonal
//
// Rows whose neighbours all come earlier have no residual after a sweep forward from x = 0. The
// sweep backward is the adjoint of the sweep forward, as conjugate gradients need.
//
// (Compressed rows in two parts, neighbours that come earlier and those that come later, spare a
// sweep from zero and its residual half of their reading, but the parts' lengths cannot be
// predicted: 42 ms for the three sweeps of 2.4 million rows of 6, 38 in one part.)
#ifndef TY_LINEAR_SMOOTHER_H
#define TY_LINEAR_SMOOTHER_H

#include "linear/colour.h"
#include "linear/sparse_float.h"

typedef struct ty_smoother {
    int n;
    int width;    // slots per row; 0: compressed rows
    ty_colouring colouring;
    TY_ARRAY(float)
    inverse;    // of the diagonal, in the order of the colours; 0 where it is 0: x stays 0
    TY_ARRAY(unsigned char)
    open;    // of each unknown: has a neighbour later in the sweep, so its residual is
             // not zero after a sweep forward from zero
    TY_ARRAY(int) open_start;    // of each colour, into open_at
    TY_ARRAY(int) open_at;       // places of open rows in the order of the colours
    TY_ARRAY(int) col;
    TY_ARRAY(float) val;
    ty_csrf rows;
} ty_smoother;

// No row has more than `most_neighbours` entries beside its diagonal that are not zero. All values
// are multiplied by `scale`. Where `singular` (or NULL) is set, the inverse diagonal is 0.
ty_status ty_smoother_setup(ty_smoother* s, const ty_csr* a, int most_neighbours, double scale,
                            const unsigned char* singular);
// New values in the same places; no row has more neighbours than there are slots.
ty_status ty_smoother_refresh(ty_smoother* s, const ty_csr* a, double scale,
                              const unsigned char* singular);
void ty_smoother_free(ty_smoother* s);

// x = one sweep forward from zero; then r = b - A x of just that x, in open rows (elsewhere it is
// zero, and r is not written).
void ty_smoother_from_zero(const ty_smoother* s, const float* b, float* x);
void ty_smoother_residual(const ty_smoother* s, const float* b, const float* x, float* r);
// One sweep from any x, in the order of the colours or backward.
void ty_smoother_sweep(const ty_smoother* s, bool backward, const float* b, float* x);

#endif
