// SPDX-License-Identifier: Apache-2.0
// Liquid that the level set owes: by the fluxes it is in a cell, but keep.c could not put it there,
// because that would have moved the surface too far in a step, or by too little to be sure, or
// because no surface is there, as where a film became thinner than values can show. It goes along
// with the liquid and is part of what the next step should leave.
//
//     owed + |liquid in the cell by phi|  =  what fluxes brought there
//
// What is owed where no surface is, as where a bubble became too small to be seen, rises through
// the liquid and falls through the air, a cell in a step, until it comes to one. (Without that a jet
// two cells wide that fell into a pool had brought 7 % too much after 10 s.)
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/levelset.h"
#include "world/trace.h"

enum { BLOCK = TY_SAMPLE_BATCH };
static const double LEAST_OWED = 1e-12;    // cells^3: rounding
static const double BURIED = 2.0;          // cells: as far as keep.c finds a surface

// The cells that owe, and where their centres are after the step, in foot.
typedef struct owed_job {
    ty_levelset* ls;
    const ty_flow* flow;
    double dt;
    ty_vec3 fall;    // a cell
} owed_job;

static void follow(void* ctx, ty_range r)
{
    const owed_job* job = ctx;
    ty_levelset* ls = job->ls;
    double x[BLOCK][3];
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) {
        int ijk[3];
        ty_grid_coords(&ls->grid, ls->corner.at[r.begin + i], ijk);
        ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x[i]);
    }
    double(*to)[3] = (double(*)[3])(ls->foot.at + 3 * r.begin);
    ty_trace_forward(job->flow, job->dt, n, (const double(*)[3])x, to);
    for (int i = 0; i < n; ++i) {
        double phi = ls->phi[ls->corner.at[r.begin + i]];
        if (fabs(phi) > BURIED * ls->grid.cell)
            ty_store3(to[i], ty_load3(to[i]) + copysign(1.0, phi) * job->fall);
    }
}

static ty_status list_owing(ty_levelset* ls)
{
    int64_t size = ty_grid_size(&ls->grid);
    ls->corner.n = 0;
    for (int64_t c = 0; c < size; ++c)
        if (fabs(ls->owed[c]) > LEAST_OWED && !ty_array_push(&ls->corner, (int)c))
            return ty_no_memory("cells at the surface");
    bool ok = ty_array_resize(&ls->foot, 4 * ls->corner.n);
    return ok ? ty_ok() : ty_no_memory("cells at the surface");
}

// Deals an amount out to the eight cells around x, by their nearness; what closed ones would get
// goes to `from` instead.
static void put_down(ty_levelset* ls, const double x[3], int from, double amount)
{
    const ty_grid* g = &ls->grid;
    int low[3];
    double t[3];
    for (int axis = 0; axis < 3; ++axis) {
        double at = (x[axis] - g->origin[axis]) / g->cell - 0.5;
        low[axis] = (int)ty_clamp(floor(at), 0.0, g->n[axis] - 2.0);
        t[axis] = ty_clamp(at - low[axis], 0.0, 1.0);
    }
    for (int k = 0; k < 8; ++k) {
        double share = amount;
        int64_t cell = 0;
        for (int axis = 0; axis < 3; ++axis) {
            share *= k >> axis & 1 ? t[axis] : 1.0 - t[axis];
            cell += (low[axis] + (k >> axis & 1)) * ty_grid_stride(g, axis);
        }
        ls->owed[ls->closed[cell] ? from : cell] += share;
    }
}

ty_status ty_levelset_carry_owed(ty_levelset* ls, const ty_flow* flow, double dt)
{
    owed_job job = {ls, flow, dt,
                    .fall = ls->grid.cell * ty_normalize(ty_world_gravity(ls->world))};
    TY_TRY(list_owing(ls));
    int64_t n = ls->corner.n;
    double* amount = ls->foot.at + 3 * n;
    ty_parallel_for(n, BLOCK, follow, &job);
    for (int64_t i = 0; i < n; ++i) {
        amount[i] = ls->owed[ls->corner.at[i]];
        ls->owed[ls->corner.at[i]] = 0.0;
    }
    for (int64_t i = 0; i < n; ++i)
        if (!(ty_levelset_beyond_open(ls, ls->foot.at + 3 * i) > 0.0))
            put_down(ls, ls->foot.at + 3 * i, ls->corner.at[i], amount[i]);
    return ty_ok();
}
