// SPDX-License-Identifier: Apache-2.0
// Solves A x = b for a sparse symmetric positive (semi)definite A: the end of every pressure and
// viscosity solve.
//
//   ty_linear* solver;
//   ty_linear_def def = ty_linear_default();
//   TY_TRY(ty_linear_create(&solver, &def));
//   every step:  TY_TRY(ty_linear_setup(solver, &a, NULL));
//                TY_TRY(ty_linear_solve(solver, rhs, x, &stats));    if (!stats.converged) ...
//   ty_linear_destroy(solver);
//
// The solver keeps its buffers (hierarchy, work vectors) from one set-up to the next: in a steady
// state nothing is allocated. One solver is used by one thread at a time; its loops are parallel
// inside, with the same bits for any number of threads.
//
// Pieces of the system: disconnected pieces are solved together. A piece whose rows all sum to zero
// (liquid without air) has the constant as null vector: the mean of its right-hand side is removed,
// its solution has zero mean, and `incompatibility` says how much was removed. A row with nothing
// but a zero diagonal (or no entry) gives x = 0.
//
// Unknowns should be numbered with neighbours close together (lattice or Morton order): aggregates
// and Gauss-Seidel sweeps work in blocks of consecutive rows. Any order converges, a random one
// slowly.
#ifndef TY_LINEAR_SOLVE_H
#define TY_LINEAR_SOLVE_H

#include <stdbool.h>

#include "core/status.h"
#include "linear/csr.h"

typedef enum ty_linear_method {
    TY_LINEAR_DEFAULT,      // `multigrid`, or `ic` where that is cheaper
    TY_LINEAR_MULTIGRID,    // conjugate gradients with our multigrid
    TY_LINEAR_PAPER,    // the multigrid of [Chentanez2007] section 3.5, full cycles, not as a preconditioner
    TY_LINEAR_IC,        // conjugate gradients with incomplete Cholesky, IC(0)
    TY_LINEAR_JACOBI,    // conjugate gradients with the diagonal
    TY_LINEAR_N_METHODS
} ty_linear_method;

// TY_LINEAR_DEFAULT begins with IC where rows are long (8 entries or more in the mean, as nodal
// systems have) and there are at most 200,000 unknowns and no prolongation is given: 37 iterations
// at 144 thousand take half the time of the multigrid on one thread and the same on two. A solve
// that IC does not finish in 60 iterations goes on with the multigrid, which then stays; a solve
// that the multigrid finishes in 3 iterations brings IC back at the next set-up. It depends on
// nothing but the systems solved before.

// The name of a method ("default", "multigrid", "paper", "ic", "jacobi"), and back; false for an
// unknown name.
const char* ty_linear_method_name(ty_linear_method method);
bool ty_linear_method_parse(const char* name, ty_linear_method* method);

typedef struct ty_linear_def {
    ty_linear_method method;
    double tolerance;    // stops at |b - A x| <= tolerance |b|, 2-norms
    double
        largest;    // ... or when no entry of b - A x is larger than this, whatever comes first; 0: never
    int max_iterations;    // then the best x so far is returned, converged = false
    int sweeps;            // Gauss-Seidel sweeps before and after in `paper`: 2, Gong uses 10
} ty_linear_def;
ty_linear_def ty_linear_default(void);

typedef struct ty_linear_stats {
    int iterations;           // of conjugate gradients, or full cycles of `paper`
    double first_residual;    // |b - A x| / |b| of the x given; |b - A x| when b is zero
    double last_residual;     // of the x returned, computed from x
    bool converged;
    int singular_pieces;    // pieces without air, rows without entries not counted
    int empty_rows;         // rows without entries: x = 0
    double
        incompatibility;    // largest |sum b| / sum |b| over singular pieces and empty rows; 0 when none
    int levels;             // of the hierarchy, the finest counted; 1 without multigrid
    double operator_complexity;    // entries of all levels / entries of the finest
    double setup_seconds, solve_seconds;
} ty_linear_stats;

typedef struct ty_linear ty_linear;    // opaque

// *solver is NULL when it fails.
ty_status ty_linear_create(ty_linear** solver, const ty_linear_def* def);
void ty_linear_destroy(ty_linear* solver);    // takes NULL
// Gives back all memory until the next set-up, for callers that need it more than the time to ask
// for it again. What TY_LINEAR_DEFAULT has learnt stays.
void ty_linear_rest(ty_linear* solver);

// Takes a new matrix. It is symmetric positive semidefinite with rising columns; it is read again
// by solve, so it must stay alive and unchanged until the next set-up.
//
// `first_prolongation` (or NULL) says how the first coarse level looks: a row of A is the weighted
// mean of the coarse unknowns in the row of the same number (faces to vertices, all weights 1/3). A
// row without entries has no coarse part. Only the multigrid uses it. Fails with TY_BAD_INPUT for a
// matrix that is not square or has a negative diagonal.
ty_status ty_linear_setup(ty_linear* solver, const ty_csr* a, const ty_csr* first_prolongation);
// The same, and the prolongation P is freed as soon as it has been read. It is not there for
// ty_linear_refresh. `coarse` (or NULL) is P^T A P, columns in any order, for callers that make it
// for less than the product costs; freed likewise.
ty_status ty_linear_setup_taking(ty_linear* solver, const ty_csr* a, ty_csr* first_prolongation,
                                 ty_csr* coarse);

// The same for unknowns that are cells of a lattice, coupled with their six neighbours alone:
// TY_LINEAR_DEFAULT begins with cell_multigrid.h, whose set-up costs next to nothing, and goes on
// with the other multigrid where 40 iterations do not do. `cell` of each row, rising: x + size[0]
// (y + size[1] z).
ty_status ty_linear_setup_cells(ty_linear* solver, const ty_csr* a, const int* cell,
                                const int size[3]);

// The matrix given to set-up has new values in the same places. While no diagonal entry is more
// than a fifth away from what it was at set-up, coarse levels stay, which costs an iteration or so
// and saves most of the set-up; beyond that it is a set-up. Worth it for a fixed mesh.
ty_status ty_linear_refresh(ty_linear* solver);

// x: in the starting guess, out the solution. Never fails for slow convergence: see
// stats->converged. stats may be NULL. TY_DIVERGED when the right-hand side or the guess is not
// finite (x is unchanged).
ty_status ty_linear_solve(ty_linear* solver, const double* rhs, double* x, ty_linear_stats* stats);
// The same with another `largest` than the solver's: for callers that know what an entry of the
// residual is worth.
ty_status ty_linear_solve_to(ty_linear* solver, double largest, const double* rhs, double* x,
                             ty_linear_stats* stats);

#endif
