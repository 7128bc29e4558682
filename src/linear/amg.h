// SPDX-License-Identifier: Apache-2.0
// Our multigrid: smoothed aggregation [Vanek1996], one V cycle in single precision as a
// preconditioner.
//
//   level   matrix (double, for set-up)     smoother, prolongation, restriction (float, for the cycle)
//   0       the caller's                    colours, P_0 (the caller's first prolongation, or smoothed), R_0
//   1       R_0 A_0 P_0                     ...
//   last    at most TY_AMG_COARSEST rows, factored densely
#ifndef TY_LINEAR_AMG_H
#define TY_LINEAR_AMG_H

#include "linear/aggregate.h"
#include "linear/dense.h"
#include "linear/galerkin.h"
#include "linear/smoother.h"
#include "linear/transfer.h"

enum {
    TY_AMG_MAX_LEVELS = 24,
    TY_AMG_COARSEST =
        200    // rows that are factored densely: n^3 / 3 operations, less than a sweep above
};

typedef struct ty_amg_level {
    const ty_csr* a;
    ty_csr own;                          // the matrix of levels > 0
    int most_neighbours;                 // of a row
    TY_ARRAY(unsigned char) tied;        // rows that keep their piece from being singular
    TY_ARRAY(unsigned char) singular;    // rows that are all that is left of a singular piece
    ty_smoother smoother;
    ty_transfer transfer;                          // to the next level
    TY_ARRAY(float) own_x, own_b, own_residual;    // of levels > 0
    float *x, *b, *residual;
} ty_amg_level;

typedef struct ty_amg {
    int n_levels;
    bool is_dense;    // the last level is factored; else it is smoothed only
    ty_amg_level level[TY_AMG_MAX_LEVELS + 1];
    // These serve the set-up of each level in turn, and then lend their memory to the solve.
    ty_aggregates aggregates;
    double* diagonal;
    TY_ARRAY(unsigned char) mark;
    ty_csrf p, r;
    ty_csr* taken;     // the first prolongation, to be freed when it has been read; or NULL
    ty_csr* coarse;    // the first coarse matrix where it is known, freed by the set-up; or NULL
    ty_galerkin galerkin;
    ty_colouring colouring;    // its scratch arrays only
    ty_dense dense;
    double scale;    // of the matrices in the smoothers
    double operator_complexity;
} ty_amg;

// `tied` has a flag per row (pieces.h). `a` must stay alive. `first` may be NULL.
ty_status ty_amg_setup(ty_amg* amg, const ty_csr* a, const ty_csr* first,
                       const unsigned char* tied);
// The matrix has new values in the same places: those of level 0 are taken, coarser levels stay as
// they are. *done is false, and set-up has to follow, when values changed too much for that, or
// ties did.
ty_status ty_amg_refresh(ty_amg* amg, const unsigned char* tied, bool* done);
// One V cycle on A z = r from zero; a ty_preconditioner's apply.
void ty_amg_apply(void* amg, const double* r, double norm, double* z);
// Memory for n doubles (n rows of level 0) that is not in use between set-ups, k = 0 .. TY_AMG_LENT
// - 1.
enum { TY_AMG_LENT = 4 };
double* ty_amg_lend(const ty_amg* amg, int k);
void ty_amg_free(ty_amg* amg);

#endif
