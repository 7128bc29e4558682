// SPDX-License-Identifier: Apache-2.0
#include "solve/kinds.h"

#include <string.h>

// The one table of solvers: a new one is a row here.
static const ty_solver_kind* const kinds[] = {&ty_solver_grid, &ty_solver_tet,
                                              &ty_solver_prescribed, NULL};

const ty_solver_kind* const* ty_solver_kinds(void) { return kinds; }

const ty_solver_kind* ty_solver_find(const char* name)
{
    for (int i = 0; kinds[i]; ++i)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

ty_solve_def ty_solve_default(void)
{
    return (ty_solve_def){
        .kind = "grid",
        .cell = 0.05,
        .cfl = 2.0,
        .density = 1000.0,
        .tolerance = 1e-6,
        .viscosity = ty_varying_number(0.0),
        .advection = TY_ADVECT_CUBIC,
        .theta = 0.55,
        .reduced_pressure = true,
        .pressure = "face",
        .obstacles = "embed",
        .snap = 0.125,
        .sweeps = 2,
        .velocity = ty_varying_vector(0.0, 0.0, 0.0),
    };
}
