// SPDX-License-Identifier: Apache-2.0
// Air cells that a solid nearly fills. The face in front of such a cell may be wide open, where the
// solid only touches it, and the pressure would take it for a free surface: liquid would move
// through it as if there were air behind, not a wall. In a still pool the surface beside a post grew
// bumps that way, by e every quarter of a second. So that face is closed while the cell is dry. Once
// it is liquid its own balance says how little passes.
#include "solve/grid/gridflow.h"

// Cells whose other five faces are open by less than this together, in faces. The two that were
// found to set a still pool in motion had 0.25 and 0.5.
static const double POCKET = 0.6;

static double other_openings(const ty_gridflow* gf, int cell, int axis, int f)
{
    double sum = -gf->open[axis][f];
    for (int d = 0; d < 3; ++d) sum += gf->open[d][cell] + gf->open[d][cell + gf->cells.stride[d]];
    return sum;
}

static ty_status list_pockets(ty_gridflow* gf)
{
    for (int64_t row = 0; row < gf->wet.n; ++row)
        for (int side = 0; side < 6; ++side) {
            int i = gf->wet.at[row], axis = side / 2, up = side % 2, s = gf->cells.stride[axis];
            int j = up ? i + s : i - s, f = up ? j : i, at[3];
            if (gf->state[j] == TY_CELL_LIQUID || gf->open[axis][f] <= 0.0) continue;
            ty_cell_coords(&gf->cells, j, at);
            if (at[axis] < 1 || at[axis] > gf->cells.n[axis]) continue;    // an open side
            if (other_openings(gf, j, axis, f) >= POCKET) continue;
            if (!ty_array_push(&gf->pocket, ((ty_pocket){axis, f, gf->open[axis][f]})))
                return ty_no_memory("closed faces");
        }
    return ty_ok();
}

ty_status ty_gridflow_close_pockets(ty_gridflow* gf)
{
    if (!gf->has_bodies || gf->def->paper) return ty_ok();
    TY_TRY(list_pockets(gf));
    for (int64_t i = 0; i < gf->pocket.n; ++i)
        gf->open[gf->pocket.at[i].axis][gf->pocket.at[i].face] = 0.0;
    return ty_ok();
}

void ty_gridflow_open_pockets(ty_gridflow* gf)
{
    for (int64_t i = 0; i < gf->pocket.n; ++i)
        gf->open[gf->pocket.at[i].axis][gf->pocket.at[i].face] = gf->pocket.at[i].open;
    gf->pocket.n = 0;
}
