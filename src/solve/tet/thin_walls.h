// SPDX-License-Identifier: Apache-2.0
#ifndef TY_SOLVE_TET_THIN_WALLS_H
#define TY_SOLVE_TET_THIN_WALLS_H

#include <stdbool.h>

#include "core/vec.h"
#include "geometry/sampler.h"

// Whether a wall parts the open vertices of a tet, d: the solid's distances there. Such a tet
// belongs to the wall: inside the solve walls are as thick as the tets they part. Re-entrant.
bool ty_tet_wall_between(const ty_sampler* solid, const ty_vec3 x[4], const double d[4]);

// Whether the mesh ends at x, `depth` inside a solid, because it is a thin wall with liquid on this
// side and none on the other, and not because the liquid does. Re-entrant.
bool ty_tet_ends_in_wall(const ty_sampler* solid, const ty_sampler* liquid, ty_vec3 x, double depth,
                         double cell);

#endif
