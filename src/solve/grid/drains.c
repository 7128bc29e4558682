// SPDX-License-Identifier: Apache-2.0
// What runs into drains. A drain is air to the pressure; its rate is the flux through all faces
// between liquid cells and the air cells that are in it. The projection balances exactly that flux,
// so the level sinks by it.
#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 512 };

// An air cell is a drain's when its centre is no farther outside than this, cells: the cut surface
// has been made a distance again and lies a little off.
static const double BESIDE = 0.25;

static bool in_drain(const ty_gridflow* gf, int cell)
{
    double x[1][3], d;
    ty_cell_center(&gf->cells, cell, x[0]);
    for (int i = 0; i < ty_world_n_drains(gf->world); ++i) {
        ty_source drain = ty_world_drain(gf->world, i);
        if (!drain.on || drain.moves) continue;
        ty_sample(&drain.distance, 1, (const double(*)[3])x, &d);
        if (d < BESIDE * gf->cells.h) return true;
    }
    return false;
}

static double rate_block(void* ctx, ty_range r)
{
    const ty_gridflow* gf = ctx;
    double sum = 0.0;
    for (int64_t row = r.begin; row < r.end; ++row)
        for (int side = 0; side < 6; ++side) {
            int i = gf->wet.at[row], axis = side / 2, up = side % 2, s = gf->cells.stride[axis];
            int j = up ? i + s : i - s, f = up ? j : i, at[3];
            if (gf->state[j] == TY_CELL_LIQUID || gf->open[axis][f] <= 0.0) continue;
            ty_cell_coords(&gf->cells, j, at);
            if (at[axis] < 1 || at[axis] > gf->cells.n[axis] || !in_drain(gf, j)) continue;
            sum += (up ? 1.0 : -1.0) * gf->open[axis][f] * gf->u[axis][f];
        }
    return sum * gf->cells.h * gf->cells.h;
}

double ty_gridflow_drain_rate(const ty_gridflow* gf)
{
    bool any = false;
    for (int i = 0; i < ty_world_n_drains(gf->world); ++i) any |= ty_world_drain(gf->world, i).on;
    return any ? ty_parallel_sum(gf->wet.n, BLOCK, rate_block, (void*)gf) : 0.0;
}
