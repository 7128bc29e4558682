// SPDX-License-Identifier: Apache-2.0
#ifndef TY_SOLVE_TET_DEEPEN_H
#define TY_SOLVE_TET_DEEPEN_H

#include "solve/tet/tetflow.h"

// A liquid's distance that runs on deeper into solids than the tracker's own. Value; borrows. Its
// sampler is re-entrant.
typedef struct ty_tet_deepened {
    ty_sampler liquid, solid;
    double overlap, cell;
    const ty_sampler* roughly;    // of `liquid`, for where it is not continued; NULL: that itself
} ty_tet_deepened;

// A tracker whose cells are small against the mesh's ends the liquid too soon.
static inline bool ty_tet_ends_too_soon(double overlap, double cell)
{
    return overlap < TY_TET_LEAST_DEPTH * cell;
}

ty_sampler ty_tet_deepened_sampler(const ty_tet_deepened* d);

#endif
