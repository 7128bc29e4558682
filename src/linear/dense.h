// SPDX-License-Identifier: Apache-2.0
// The bottom of a hierarchy: a small matrix, factored densely (Cholesky).
#ifndef TY_LINEAR_DENSE_H
#define TY_LINEAR_DENSE_H

#include "core/memory.h"
#include "linear/csr.h"

typedef struct ty_dense {
    int n;
    TY_ARRAY(double) factor;    // lower triangle, row by row
    TY_ARRAY(double) x;
} ty_dense;

// A pivot that vanishes against its diagonal belongs to a singular piece: its unknown is set to 0,
// which solves the rest of the piece when the right-hand side allows it. `tied` (or NULL) marks
// rows that are tied down: in a piece without any, the last row is set to 0 whatever rounding left
// of its pivot.
ty_status ty_dense_factor(ty_dense* d, const ty_csr* a, const unsigned char* tied);
// In place: d->x.
void ty_dense_solve(ty_dense* d);
void ty_dense_free(ty_dense* d);

#endif
