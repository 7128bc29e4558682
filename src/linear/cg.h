// SPDX-License-Identifier: Apache-2.0
// Preconditioned conjugate gradients.
#ifndef TY_LINEAR_CG_H
#define TY_LINEAR_CG_H

#include "linear/csr.h"
#include "linear/pieces.h"
#include "linear/solve.h"

// z = M r for a symmetric positive definite M. r and z have the matrix's size and do not overlap.
// `norm` is the 2-norm of r, from which single precision chooses its unit.
typedef struct ty_preconditioner {
    void* self;
    void (*apply)(void* self, const double* r, double norm, double* z);
} ty_preconditioner;

enum { TY_CG_VECTORS = 4 };

// Work vectors; live across solves. Open type.
typedef struct ty_cg {
    TY_ARRAY(double) own[TY_CG_VECTORS];
    double* lent
        [TY_CG_VECTORS];    // memory of others, of the matrix's size, that a solve may use instead; or NULL
    double *r, *p;
    double* z;       // M r, and once p has taken it in, A p
    double* best;    // what is returned when a solve goes wrong
} ty_cg;

void ty_cg_free(ty_cg* cg);

// From x in and out. `pieces` projects right-hand side, preconditioned residuals and solution.
// Stops at def->tolerance |b| or def->largest, whatever comes first. Fills iterations, residuals,
// converged, incompatibility of `stats`.
ty_status ty_cg_solve(ty_cg* cg, const ty_csr* a, const ty_preconditioner* m, ty_pieces* pieces,
                      const ty_linear_def* def, const double* rhs, double* x,
                      ty_linear_stats* stats);

#endif
