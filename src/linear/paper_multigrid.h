// SPDX-License-Identifier: Apache-2.0
// The multigrid of [Chentanez2007] section 3.5: VCYCLEMULTIGRID and FULLCYCLEMULTIGRID as printed,
// with R = P^T (the paper prints P^-1) and A_(k-1) = R A_k P. Gauss-Seidel sweeps are serial, in
// row order.
//
// Full cycles are repeated until the residual is small. Here level 0 is the finest; the paper
// counts from the coarsest.
#ifndef TY_LINEAR_PAPER_MULTIGRID_H
#define TY_LINEAR_PAPER_MULTIGRID_H

#include "linear/dense.h"
#include "linear/galerkin.h"
#include "linear/paper_splitting.h"
#include "linear/pieces.h"
#include "linear/solve.h"

enum {
    TY_PAPER_MAX_LEVELS = 32,
    TY_PAPER_COARSEST = 200    // unknowns of the system that is solved directly
};

typedef struct ty_paper_level {
    const ty_csr* a;
    ty_csr own;
    ty_splitting splitting;
    ty_csrf p, r;
    TY_ARRAY(double) inverse;    // of the diagonal; 0 where nothing ties the unknown down
    TY_ARRAY(unsigned char) tied;
    TY_ARRAY(double) x, b, work;    // solution and right-hand side of V cycles; residual
    TY_ARRAY(double) z;             // right-hand side of the full cycle
} ty_paper_level;

typedef struct ty_paper_multigrid {
    int n_levels;
    ty_paper_level level[TY_PAPER_MAX_LEVELS];
    ty_galerkin galerkin;
    ty_dense dense;
    double operator_complexity;
} ty_paper_multigrid;

ty_status ty_paper_multigrid_setup(ty_paper_multigrid* mg, const ty_csr* a,
                                   const unsigned char* tied);
ty_status ty_paper_multigrid_solve(ty_paper_multigrid* mg, ty_pieces* pieces,
                                   const ty_linear_def* def, const double* rhs, double* x,
                                   ty_linear_stats* stats);
void ty_paper_multigrid_free(ty_paper_multigrid* mg);

#endif
