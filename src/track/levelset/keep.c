// SPDX-License-Identifier: Apache-2.0
// Liquid that a step loses or makes is given back where that happened.
//
// weigh.c finds how much of what should be in a cell is not there after transport, continuation into
// solids and redistancing. Smoothing moves liquid from a cell into the next; that cancels in the sum
// over a neighbourhood. So `lost` is dealt out to the surface around it with a symmetric kernel K,
// lost / (K area), which holds the sum, and the surface in every cell gets K of that; values around
// move as the surface next to them does.
//
// No offset is larger than MOST_OFFSET, small ones are left alone, and what K finds no surface for
// cannot be given back: while a source pours all of that is owed (owed.c), else left to the ledger.
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/levelset.h"

enum { BLOCK = 128, REACH = 2, WIDTH = 2 * REACH + 1, MOST_ROUNDS = 5 };

static const double MOVED = 2.6;          // cells: farther values have no part in the surface
static const double LEAST_AREA = 0.02;    // cells squared around a cell: less is no surface
// Cells of offset in a step that are left alone. Between a wave of 64 cells that gets 1 % off (1e-4)
// and a dam break for whose thin front the ledger has to correct 1 % a second (6e-4).
// While a source pours into a pool what comes is little beside what is there: 0.5 % of a frame is
// 1e-4 cells.
static const double UNSURE = 4e-4, SOURCE_UNSURE = 1e-4;
static const double MOST_OFFSET = 0.1;    // cells in a step: more would make waves
static const double AGAIN = 0.01;         // cells: a farther move is looked at again
// The same beside obstacles, where it is looked at once only. Liquid that comes off an edge is carried round
// it, a quarter of a cell in every step: without correction a tank that runs out at CFL 0.5, 1 and 2 (F14) was off by
// 1.5, 1.9 and 8.9 %. A third look has no gain there.
static const double AGAIN_AT_WALLS = 0.05;
static const double KERNEL[WIDTH] = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};

typedef struct keep_job {
    ty_levelset* ls;
} keep_job;

// K applied to values at cells.
static double spread(const ty_levelset* ls, int64_t cell, const double* values)
{
    int64_t dy = ty_grid_stride(&ls->grid, 1), dz = ty_grid_stride(&ls->grid, 2);
    const double* plane = values + cell - REACH * (1 + dy + dz);
    ty_vec3 four = {0};    // sums over rows of all but their last value, and of that
    double last = 0.0;
    for (int k = 0; k < WIDTH; ++k, plane += dz) {
        ty_vec3 rows = {0};
        double ends = 0.0;
        for (int j = 0; j < WIDTH; ++j) {
            rows += KERNEL[j] * ty_load4(plane + j * dy);
            ends += KERNEL[j] * plane[j * dy + WIDTH - 1];
        }
        four += KERNEL[k] * rows;
        last += KERNEL[k] * ends;
    }
    return KERNEL[0] * (four[0] + last) + KERNEL[1] * (four[1] + four[3]) + KERNEL[2] * four[2];
}

// spare[] holds the areas: what is lost per area around.
static void divide(void* ctx, ty_range r)
{
    ty_levelset* ls = ((const keep_job*)ctx)->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double around = spread(ls, ls->kept.at[i].cell, ls->spare);
        ls->foot.at[i] = around > LEAST_AREA ? ls->kept.at[i].lost / around : 0.0;
    }
}

static bool is_moved(const ty_levelset* ls, int cell)
{
    return !ls->closed[cell] && fabs(ls->phi[cell]) <= MOVED * ls->grid.cell;
}

// spare[] holds the areas: those around every value that may move.
static void find_areas(void* ctx, ty_range r)
{
    ty_levelset* ls = ((const keep_job*)ctx)->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i];
        ls->foot.at[ls->kept.n + i] = is_moved(ls, cell) ? spread(ls, cell, ls->spare) : 0.0;
    }
}

// spare[] holds what is lost per area: what the surface in each cell gets of it.
static void deal(void* ctx, ty_range r)
{
    ty_levelset* ls = ((const keep_job*)ctx)->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double area = ls->kept.at[i].area;
        ls->foot.at[i] = area > 0.0 ? area * spread(ls, ls->kept.at[i].cell, ls->spare) : 0.0;
    }
}

// spare[] holds what the surface in each cell gets.
static double give_back(void* ctx, ty_range r)
{
    ty_levelset* ls = ((const keep_job*)ctx)->ls;
    double h = ls->grid.cell, most = 0.0, unsure = ls->filled_by ? SOURCE_UNSURE : UNSURE;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i];
        double around = ls->foot.at[ls->kept.n + i];
        if (!(around > LEAST_AREA)) continue;
        double cells = spread(ls, cell, ls->spare) / around;
        double offset = h * ty_clamp(fabs(cells) - unsure, 0.0, MOST_OFFSET);
        if (offset == 0.0 || ty_levelset_at_shared_wall(ls, cell)) continue;
        ls->phi[cell] = ty_clamp(ls->phi[cell] - copysign(offset, cells), -ls->band, ls->band);
        most = ty_max(most, offset);
    }
    return most;
}

static void put_into_spare(ty_levelset* ls)
{
    for (int64_t i = 0; i < ls->kept.n; ++i) ls->spare[ls->kept.at[i].cell] = ls->foot.at[i];
}

// Moves the surface by what is lost; *most: the farthest, cells. phi before is in `next`.
static void give(ty_levelset* ls, double* most)
{
    keep_job job = {.ls = ls};
    int64_t n = ls->kept.n;
    size_t bytes = (size_t)ty_grid_size(&ls->grid) * sizeof *ls->next;
    memset(ls->spare, 0, bytes);
    for (int64_t i = 0; i < n; ++i) ls->spare[ls->kept.at[i].cell] = ls->kept.at[i].area;
    ty_parallel_for(n, BLOCK, divide, &job);
    ty_parallel_for(ls->active.n, BLOCK, find_areas, &job);
    put_into_spare(ls);
    ty_parallel_for(n, BLOCK, deal, &job);
    put_into_spare(ls);
    memcpy(ls->next, ls->phi, bytes);
    *most = ty_max(0.0, ty_parallel_max(ls->active.n, BLOCK, give_back, &job)) / ls->grid.cell;
    if (!(*most > 0.0)) return;
    ls->moved += *most * ls->grid.cell;
    ty_levelset_stop_leaks(ls, NULL, 0.0, ls->next);
    ty_levelset_continue(ls, ls->phi);
    ty_levelset_fill(ls, ls->phi);
}

ty_status ty_levelset_keep(ty_levelset* ls)
{
    double most = INFINITY;
    bool thorough = ls->filled_by || ls->by_surface, again = thorough || ls->has_obstacles;
    double enough = thorough ? AGAIN : AGAIN_AT_WALLS;
    int rounds = thorough ? MOST_ROUNDS : again ? 2 : 1;
    ty_levelset_fill(ls, ls->phi);
    if (ls->by_surface) TY_TRY(ty_levelset_find_lost_swept(ls));
    else ty_levelset_find_lost(ls, NULL);
    TY_TRY(ty_levelset_activate(ls));
    if (!ty_array_resize(&ls->foot, ls->kept.n + ls->active.n))
        return ty_no_memory("cells at the surface");
    for (int round = 0; round < rounds && most > enough; ++round) {
        give(ls, &most);
        if (most > 0.0 && again) ty_levelset_find_lost(ls, ls->next);
    }
    bool lends = ls->filled_by && (ls->counts_all || !ls->by_surface);
    if (lends && ls->by_surface) TY_TRY(ty_levelset_find_lost_again(ls));
    // Only while a source pours, whose rate is to be met in every frame. Given back at last, small
    // debts took a wave of 64 cells from 0.1 to 1.5 % of its amplitude, and a tank that runs empty
    // lost 3.3 % instead of 1.8.
    for (int64_t i = 0; i < ls->kept.n; ++i)
        ls->owed[ls->kept.at[i].cell] = ls->filled_by ? ls->kept.at[i].lost : 0.0;
    // Not where cells that an obstacle cuts are left out (solver tet): with a box or a ball in F15's pool 23 and 5 % of
    // what was injected were too much or too little, without 14 and 6.
    return lends ? ty_levelset_lend(ls) : ty_ok();
}
