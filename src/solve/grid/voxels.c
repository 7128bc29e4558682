// SPDX-License-Identifier: Apache-2.0
// `method: paper`: [Wrenninge2003]'s own rules, for comparison.
//
//   section 4.3     a voxel is water when phi <= h / 2 at its centre (wet.c), obstacle when the solid's phi <= 0 there: here
//   section 4.4.6   velocities by linear semi-Lagrangian advection, no acceleration carried along (advect.c)
//   section 4.4.8   air has its pressure at its voxels' centres, gravity is a force (project.c); a face between water and an
//                   obstacle has the obstacle's velocity along the axis
//
// Departs: velocities beyond the surface are continued as with our own rules (the thesis does not
// say how), and the length of steps is chosen alike, so that the difference shows what the rules
// above do.
#include "solve/grid/gridflow.h"

static bool is_solid(const ty_gridflow* gf, int cell)
{
    const int* s = gf->cells.stride;
    double sum = 0.0;
    for (int k = 0; k < 8; ++k)
        sum += gf->solid[cell + (k & 1) * s[0] + (k >> 1 & 1) * s[1] + (k >> 2) * s[2]];
    return sum <= 0.0;
}

void ty_gridflow_whole_voxels(ty_gridflow* gf, const int lo[3], const int hi[3])
{
    int at[3];
    for (int axis = 0; axis < 3; ++axis)
        for (at[2] = lo[2]; at[2] < hi[2] + (axis == 2); ++at[2])
            for (at[1] = lo[1]; at[1] < hi[1] + (axis == 1); ++at[1])
                for (at[0] = lo[0]; at[0] < hi[0] + (axis == 0); ++at[0]) {
                    int f = ty_cell_index(&gf->cells, at[0], at[1], at[2]);
                    bool first = at[axis] == lo[axis], last = at[axis] == hi[axis];
                    bool side = (at[axis] == 1 && gf->closed[2 * axis]) ||
                                (at[axis] == gf->cells.n[axis] + 1 && gf->closed[2 * axis + 1]);
                    bool solid = (!last && is_solid(gf, f)) ||
                                 (!first && is_solid(gf, f - gf->cells.stride[axis]));
                    gf->open[axis][f] = side || solid ? 0.0 : 1.0;
                }
}
