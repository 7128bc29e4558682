// SPDX-License-Identifier: Apache-2.0
// The rows of the table of solvers.
#ifndef TY_SOLVE_KINDS_H
#define TY_SOLVE_KINDS_H

#include "solve/solve.h"

// Moves the liquid with a velocity the scene gives. flow.velocity is the one half a step ahead, the
// next step taken as long as the last one, so that a tracker that freezes it for a step is second
// order in time; fields() gives the velocity of the moment itself.
extern const ty_solver_kind ty_solver_prescribed;

// Staggered uniform grid over the domain: see grid/README.md.
extern const ty_solver_kind ty_solver_grid;

// Graded tetrahedra, remade every step: see tet/tet.c.
extern const ty_solver_kind ty_solver_tet;

#endif
