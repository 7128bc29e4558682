// SPDX-License-Identifier: Apache-2.0
// Liquid that is owed (owed.c) is seen, or not seen, too late: what fills up a bubble that closed in a
// step is taken back within three or four steps, and in between a jet that splashes shows up to eleven
// cells^3 too much or too little. So that what is written is what there is, the surface lends what is
// owed: all of it moves by the same small offset. The debts stay: cells that lent have debts of the
// other sign from then on, and keep.c settles both where they are.
//
// No value changes its sign: the front of a jet that comes down on a floor is one cell^3 more or less
// when a row of them does, and the next round would take it back.
//
// Lent by each body of liquid by itself was tried: films on a floor come apart and together in every
// step, and the ledger corrected a jet into an empty tank by 5.5 instead of 2 % a second.
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/levelset.h"

enum { BLOCK = 256, ROUNDS = 4 };     // an offset of a curved surface misses its volume by a little
static const double MOVED = 2.6;      // cells: farther values have no part in the surface
static const double MOST = 0.05;      // cells in a round
static const double ENOUGH = 0.02;    // cells^3
static const double LEAST_AREA = 1.0;    // cells^2 of surface: less lends nothing

typedef struct lend_job {
    ty_levelset* ls;
    double metres;
} lend_job;

static void lend_cells(void* ctx, ty_range r)
{
    const lend_job* job = ctx;
    ty_levelset* ls = job->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i];
        double* phi = &ls->phi[cell];
        if (ls->closed[cell] || fabs(*phi) > MOVED * ls->grid.cell) continue;
        double moved = ty_clamp(*phi - job->metres, -ls->band, ls->band);
        if ((moved < 0.0) == (*phi < 0.0) && !ty_levelset_at_shared_wall(ls, cell)) *phi = moved;
    }
}

// The offset, in metres, by which the surface would show what is owed; 0 when that is enough.
static double offset_of_debts(const ty_levelset* ls)
{
    int64_t size = ty_grid_size(&ls->grid);
    double owed = 0.0, area = 0.0;
    for (int64_t c = 0; c < size; ++c) owed += ls->owed[c];
    for (int64_t i = 0; i < ls->kept.n; ++i) area += ls->kept.at[i].area;
    if (fabs(owed) <= ENOUGH || area < LEAST_AREA) return 0.0;
    return ls->grid.cell * ty_clamp(owed / area, -MOST, MOST);
}

ty_status ty_levelset_lend(ty_levelset* ls)
{
    for (int round = 0; round < ROUNDS; ++round) {
        lend_job job = {ls, offset_of_debts(ls)};
        if (job.metres == 0.0) break;
        memcpy(ls->next, ls->phi, (size_t)ty_grid_size(&ls->grid) * sizeof *ls->next);
        ty_parallel_for(ls->active.n, BLOCK, lend_cells, &job);
        ls->moved += fabs(job.metres);
        ty_levelset_stop_leaks(ls, NULL, 0.0, ls->next);
        ty_levelset_continue(ls, ls->phi);
        ty_levelset_fill(ls, ls->phi);
        if (ls->by_surface) TY_TRY(ty_levelset_find_lost_again(ls));
        else ty_levelset_find_lost(ls, ls->next);
        for (int64_t i = 0; i < ls->kept.n; ++i)
            ls->owed[ls->kept.at[i].cell] = ls->kept.at[i].lost;
    }
    return ty_ok();
}
