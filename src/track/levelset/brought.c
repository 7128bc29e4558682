// SPDX-License-Identifier: Apache-2.0
// While a source pours: what all cells together should gain is what it lets out.
//
//     sum over cells of (should - |old liquid in the cell|) + owed beyond them  =  delivered
//
// weigh.c measures the left side. Two things made it another one: faces beyond which no cell was looked
// at, and the shares of faces that a source covers (F15's jet: 3 to 30 % of its rate, when it
// splashes; a source half under water that lies beside the lattice: twice its rate).
#include "track/levelset/weigh.h"

#include <string.h>

static const double BESIDE = 0.87;      // cells from a source: half a diagonal
static const double NEAR_SIDE = 3.0;    // cells from an open side: liquid there may leave

// A face between a listed cell and one that is not, which is full or empty: what comes through it as
// the other phase is owed there. So a bubble that is carried into deep water and too small for phi to
// show there is not lost. Returns the sum, cells^3.
static double owe_beyond(ty_levelset* ls)
{
    double sum = 0.0;
    for (int64_t i = 0; i < 6 * ls->kept.n; ++i) {
        int cell = ls->kept.at[i / 6].cell, side = (int)(i % 6), axis = side / 2;
        int stride = (int)ty_grid_stride(&ls->grid, axis);
        int other = cell + (side % 2 ? stride : -stride);
        if (ls->listed.at[other] || ls->closed[other]) continue;
        int at = 6 * ls->slot.at[side % 2 ? other : cell] + axis;
        double in = side % 2 ? 1.0 : -1.0;    // into the other one
        double expected = ls->phi[other] < 0.0 ? ls->foot.at[at] : 0.0;
        ls->owed[other] += in * (ls->foot.at[at + 3] - expected);
        sum += in * (ls->foot.at[at + 3] - expected);
    }
    return sum;
}

// Whether liquid is so near to an open side that it may leave.
static bool may_leave(const ty_weigh_job* job)
{
    const ty_levelset* ls = job->ls;
    int64_t size = ty_grid_size(&ls->grid);
    double reach = job->flow->max_speed * job->dt + NEAR_SIDE * ls->grid.cell, low[3];
    for (int64_t c = 0; job->open && c < size; ++c) {
        if (!(ls->next[c] < 0.0)) continue;
        ty_levelset_low_corner(ls, (int)c, low);
        for (int side = 0; side < TY_N_SIDES; ++side) {
            int axis = side / 2;
            double room = side % 2 ? ls->hi[axis] - low[axis] : low[axis] - ls->lo[axis];
            if (!ls->closed_side[side] && room < reach) return true;
        }
    }
    return false;
}

bool ty_levelset_find_delivered(const ty_weigh_job* job, double* delivered)
{
    const ty_levelset* ls = job->ls;
    *delivered = 0.0;
    for (int i = 0; i < ty_world_n_drains(ls->world); ++i)
        if (ty_world_drain(ls->world, i).on) return false;
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source s = ty_world_source(ls->world, i);
        if (ty_levelset_fills(ls, &s) && s.moves) return false;
        *delivered += s.delivered / pow(ls->grid.cell, 3.0);
    }
    return !may_leave(job);
}

// A source one cell thick has no faces that let out: the cells beside it share evenly. Returns how many.
static double weigh_evenly(ty_levelset* ls)
{
    double count = 0.0;
    for (int64_t i = 0; i < ls->kept.n; ++i) {
        ty_kept* k = &ls->kept.at[i];
        k->let_out = ty_levelset_near_source(ls, k->cell, BESIDE) ? 1.0 : 0.0;
        count += k->let_out;
    }
    return count;
}

// Shares of faces that a source covers are estimates: what they miss of its rate, or have too much, is
// dealt out to where it lets out.
static void meet_rate(const ty_weigh_job* job, double beyond)
{
    ty_levelset* ls = job->ls;
    double delivered, found = beyond, out = 0.0;
    if (!ty_levelset_find_delivered(job, &delivered)) return;
    for (int64_t i = 0; i < ls->kept.n; ++i) {
        found += ls->kept.at[i].more;
        out += ls->kept.at[i].let_out;
    }
    if (!(out > 0.0)) out = weigh_evenly(ls);
    for (int64_t i = 0; i < ls->kept.n && out > 0.0; ++i)
        ls->kept.at[i].lost += (delivered - found) * ls->kept.at[i].let_out / out;
}

ty_status ty_levelset_meet_sources(const ty_weigh_job* job)
{
    ty_levelset* ls = job->ls;
    int64_t size = ty_grid_size(&ls->grid);
    if (!ty_array_resize(&ls->listed, size)) return ty_no_memory("cells at the surface");
    memset(ls->listed.at, 0, (size_t)size);
    for (int64_t i = 0; i < ls->kept.n; ++i) ls->listed.at[ls->kept.at[i].cell] = 1;
    meet_rate(job, owe_beyond(ls));
    return ty_ok();
}
