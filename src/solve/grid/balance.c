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

// What flows out of a cell, m/s. All faces of a cell of the list but those on the domain's sides are
// open.
static inline double net_outflow(const ty_gridflow* gf, const ty_balanced* b)
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        int low = b->cell, high = low + gf->cells.stride[axis];
        const double *u = gf->next[axis], *w = gf->open[axis], *body = gf->body[axis];
        if (b->at_side)
            sum += w[high] * u[high] + (1.0 - w[high]) * body[high] -
                   (w[low] * u[low] + (1.0 - w[low]) * body[low]);
        else sum += u[high] - u[low];
    }
    return sum;
}

static inline double* face_of(const ty_gridflow* gf, const ty_balanced* b, int k, double* open)
{
    int axis = k / 2, f = b->cell + (k % 2 ? gf->cells.stride[axis] : 0);
    *open = b->at_side ? gf->open[axis][f] : 1.0;
    return &gf->next[axis][f];
}

static ty_balanced describe(const ty_gridflow* gf, int cell)
{
    ty_balanced b = {.cell = cell, .at_side = gf->within[cell] & TY_BESIDE_SIDE};
    double weight = 0.0, open;
    for (int k = 0; k < 6; ++k) {
        int axis = k / 2, f = cell + (k % 2 ? gf->cells.stride[axis] : 0);
        if (gf->mark[axis][f] <= 1) continue;
        face_of(gf, &b, k, &open);
        b.continued |= (uint8_t)(1 << k);
        weight += open * open;
    }
    double net = net_outflow(gf, &b);
    b.excess = net * (1.0 - ty_gridflow_trust(gf, net));
    b.per_weight = weight < LEAST_OPEN ? 0.0 : 1.0 / weight;
    return b;
}

static ty_status list_cells(ty_gridflow* gf)
{
    gf->balanced.n = 0;
    for (int64_t k = 0; k < gf->near.n; ++k) {
        if (!can_balance(gf, gf->near.at[k])) continue;
        ty_balanced b = describe(gf, gf->near.at[k]);
        if (b.per_weight > 0.0 && !ty_array_push(&gf->balanced, b))
            return ty_no_memory("extrapolation");
    }
    return ty_ok();
}

// Every face is written, be it by nothing: which ones are continued is hard to predict.
static inline void take_back(const ty_gridflow* gf, const ty_balanced* b)
{
    double share = (net_outflow(gf, b) - b->excess) * b->per_weight, open;
    for (int k = 0; k < 6; ++k) {
        double* u = face_of(gf, b, k, &open);
        double part = b->continued >> k & 1 ? share * open : 0.0;
        *u = k % 2 ? *u - part : *u + part;
    }
}

ty_status ty_gridflow_balance(ty_gridflow* gf)
{
    if (gf->def->paper) return ty_ok();
    TY_TRY(list_cells(gf));
    int64_t n = gf->balanced.n;
    for (int sweep = 0; sweep < SWEEPS; ++sweep)
        for (int64_t i = 0; i < n; ++i) take_back(gf, &gf->balanced.at[sweep % 2 ? n - 1 - i : i]);
    return ty_ok();
}
