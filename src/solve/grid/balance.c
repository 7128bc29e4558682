// SPDX-License-Identifier: Apache-2.0
// Continued velocities that keep volume.
//
// Liquid also lies in cells whose centre is in air, and there the surface moves with continued
// velocities. Averages of neighbours are not free of divergence: in a dam break of 32 cells they
// made 5 % of the volume in a second, the films on walls most of it. Here what flows out of such a
// cell beyond what flows in is taken back from its continued faces, in a few Gauss-Seidel sweeps.
#include "solve/grid/gridflow.h"

enum { SWEEPS = 8 };

// Cells whose continued faces are closed more than this (squared, together) keep their velocities.
static const double LEAST_OPEN = 0.1;

// Cells at obstacles keep what continuation gave them: balanced, a bucket with sticking walls
// gained a sixth of its energy.
static bool can_balance(const ty_gridflow* gf, int cell)
{
    int at[3];
    ty_cell_coords(&gf->cells, cell, at);
    for (int axis = 0; axis < 3; ++axis)
        for (int f = cell, up = 0; up < 2; ++up, f += gf->cells.stride[axis]) {
            bool side = at[axis] + up == 1 || at[axis] + up == gf->cells.n[axis] + 1;
            if (gf->open[axis][f] < 1.0 ? !side : !gf->mark[axis][f]) return false;
        }
    return true;
}

static ty_status list_cells(ty_gridflow* gf)
{
    gf->front.n = 0;
    for (int64_t k = 0; k < gf->near.n; ++k)
        if (can_balance(gf, gf->near.at[k]) && !ty_array_push(&gf->front, gf->near.at[k]))
            return ty_no_memory("extrapolation");
    return ty_ok();
}

// What flows out of a cell, m/s; *weight: the squares of its continued faces' open parts.
static double net_outflow(const ty_gridflow* gf, int cell, double* weight)
{
    double sum = 0.0;
    *weight = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        for (int f = cell, up = 0; up < 2; ++up, f += gf->cells.stride[axis]) {
            double w = gf->open[axis][f],
                   through = w * gf->next[axis][f] + (1.0 - w) * gf->body[axis][f];
            sum += up ? through : -through;
            if (gf->mark[axis][f] > 1) *weight += w * w;
        }
    return sum;
}

static void take_back(ty_gridflow* gf, int cell, double excess)
{
    double weight, share = (net_outflow(gf, cell, &weight) - excess) / weight;
    if (weight < LEAST_OPEN) return;
    for (int axis = 0; axis < 3; ++axis)
        for (int f = cell, up = 0; up < 2; ++up, f += gf->cells.stride[axis])
            if (gf->mark[axis][f] > 1)
                gf->next[axis][f] -= (up ? share : -share) * gf->open[axis][f];
}

ty_status ty_gridflow_balance(ty_gridflow* gf)
{
    if (gf->def->paper) return ty_ok();
    TY_TRY(list_cells(gf));
    int64_t n = gf->front.n;
    if (!ty_array_resize(&gf->scratch, n)) return ty_no_memory("extrapolation");
    double weight;
    for (int64_t i = 0; i < n; ++i) {    // what is left to a cell
        double net = net_outflow(gf, gf->front.at[i], &weight);
        gf->scratch.at[i] = net * (1.0 - ty_gridflow_trust(gf, net));
    }
    for (int sweep = 0; sweep < SWEEPS; ++sweep)
        for (int64_t i = 0; i < n; ++i) {
            int64_t at = sweep % 2 ? n - 1 - i : i;
            take_back(gf, gf->front.at[at], gf->scratch.at[at]);
        }
    return ty_ok();
}
