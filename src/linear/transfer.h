// SPDX-License-Identifier: Apache-2.0
// Prolongation and restriction as the cycle uses them: in single precision, and only for the rows
// that matter.
//
// After a sweep forward from zero the residual is zero in every row without a neighbour of a later
// colour, and a sweep backward writes such a row before anything reads it. So both transfers leave
// these rows out: half of them where two colours do.
#ifndef TY_LINEAR_TRANSFER_H
#define TY_LINEAR_TRANSFER_H

#include "linear/sparse_float.h"

typedef struct ty_transfer {
    int n, width;         // rows that matter; entries of the longest
    TY_ARRAY(int) row;    // rising
    TY_ARRAY(int) col;    // entry w of the k-th row lies at w * n + k; missing ones have weight 0
    TY_ARRAY(float) val;
    ty_csrf restriction;
} ty_transfer;

// From all of P and R = P^T; `matters` has a flag per row of P.
ty_status ty_transfer_setup(ty_transfer* t, const ty_csrf* p, const ty_csrf* r,
                            const unsigned char* matters);
void ty_transfer_free(ty_transfer* t);

// coarse = R fine.
void ty_transfer_restrict(const ty_transfer* t, const float* fine, float* coarse);
// fine += P coarse.
void ty_transfer_prolong(const ty_transfer* t, const float* coarse, float* fine);

#endif
