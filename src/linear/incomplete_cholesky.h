// SPDX-License-Identifier: Apache-2.0
// Incomplete Cholesky without fill, IC(0) [Meijerink1977]: A ~ L L^T with L in the pattern of A's
// lower triangle. The usual preconditioner, kept to measure against. Serial.
#ifndef TY_LINEAR_INCOMPLETE_CHOLESKY_H
#define TY_LINEAR_INCOMPLETE_CHOLESKY_H

#include "core/memory.h"
#include "linear/csr.h"

typedef struct ty_ic {
    ty_csr lower;                // strictly below the diagonal
    TY_ARRAY(double) inverse;    // 1 / l_ii; 0 for rows without a diagonal
} ty_ic;

// A pivot that is lost (A need not be an M-matrix) is replaced by a_ii.
ty_status ty_ic_setup(ty_ic* ic, const ty_csr* a);
void ty_ic_apply(void* ic, const double* r, double norm, double* z);
void ty_ic_free(ty_ic* ic);

#endif
