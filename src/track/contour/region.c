// SPDX-License-Identifier: Apache-2.0
// Regions of liquid (or of drains) that touch solids go through a level set's grid, which knows how
// to tell their surface from the wall's: the ground. It covers the region and what the grid's fits
// look at around it, and follows from the region alone.
#include <math.h>
#include <string.h>

#include "track/contour/slc.h"

enum { BLOCK = 512, SIDE = 16 };    // SIDE: cells of a block that is looked for a region
enum { AROUND = 24 };               // cells: fits of fits reach 16, and the walls' continuation 4
// Cells from a wall in which regions are sampled on the grid
static const double GROUND_REACH = 6.0;
// Cells to the first centre. With less than that the liquid ends there: not by rounding.
static const double FIRST = 0.5 + 1e-9;

// Beyond the last centres values stay the same.
static void eval_grid(const ty_slc_region* r, int n, const double (*x)[3], double* out)
{
    const ty_grid* g = r->field.grid;
    double at[BLOCK][3], first = FIRST * g->cell, end = TY_SLC_DEPTH * r->slc->def.cell;
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)
            at[i][axis] = ty_clamp(x[i][axis], g->origin[axis] + first,
                                   g->origin[axis] + g->n[axis] * g->cell - first);
    ty_levelset_eval(&r->field, n, (const double(*)[3])at, out);
    for (int i = 0; i < n; ++i) out[i] = fmax(out[i], ty_slc_beyond(r->slc, x[i]) - end);
}

static void eval_region(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc_region* r = self;
    double solid[BLOCK], grid[BLOCK], reach = r->reach * r->slc->def.cell;
    for (int at = 0; at < n; at += BLOCK) {
        int count = n - at < BLOCK ? n - at : BLOCK;
        ty_sample(&r->region, count, x + at, out + at);
        if (!r->field.grid) continue;
        ty_sample(&r->solid, count, x + at, solid);
        eval_grid(r, count, x + at, grid);
        for (int i = 0; i < count; ++i)
            if (fmin(solid[i], -ty_slc_beyond(r->slc, x[at + i])) < reach) out[at + i] = grid[i];
    }
}

ty_sampler ty_slc_region_sampler(const ty_slc_region* r)
{
    return (ty_sampler){.self = r, .width = 1, .exact_band = 0.0, .eval = eval_region};
}

// Adds the block at `at` to the cells from `first` up to `last` when the region comes into it: its
// value changes no faster than a distance.
static void look_at(const ty_slc* s, const ty_sampler* region, const int at[3], int first[3],
                    int last[3])
{
    double x[1][3], d;
    for (int axis = 0; axis < 3; ++axis)
        x[0][axis] = s->lo[axis] + (at[axis] + 0.5) * SIDE * s->def.cell;
    ty_sample(region, 1, (const double(*)[3])x, &d);
    if (!(d < 0.5 * sqrt(3.0) * SIDE * s->def.cell)) return;
    for (int axis = 0; axis < 3; ++axis) {
        first[axis] = at[axis] * SIDE < first[axis] ? at[axis] * SIDE : first[axis];
        last[axis] = (at[axis] + 1) * SIDE > last[axis] ? (at[axis] + 1) * SIDE : last[axis];
    }
}

// The part of the cells of a domain that a region's ground has; false when there is nothing.
static bool find_part(const ty_slc* s, const ty_sampler* region, ty_grid* out)
{
    ty_grid whole = ty_grid_cover(s->lo, s->hi, s->def.cell, TY_LEVELSET_MARGIN);
    int n[3], at[3], first[3], last[3] = {0};
    for (int axis = 0; axis < 3; ++axis) {
        n[axis] = whole.n[axis] / SIDE + 1;
        first[axis] = whole.n[axis];
    }
    for (at[2] = 0; at[2] < n[2]; ++at[2])
        for (at[1] = 0; at[1] < n[1]; ++at[1])
            for (at[0] = 0; at[0] < n[0]; ++at[0]) look_at(s, region, at, first, last);
    *out = whole;
    for (int axis = 0; axis < 3; ++axis) {
        if (!(first[axis] < last[axis])) return false;
        int lo = first[axis] - AROUND + TY_LEVELSET_MARGIN,
            hi = last[axis] + AROUND + TY_LEVELSET_MARGIN;
        lo = lo < 0 ? 0 : lo;
        hi = hi > whole.n[axis] ? whole.n[axis] : hi;
        out->origin[axis] += lo * out->cell;
        out->n[axis] = hi - lo;
    }
    return true;
}

ty_status ty_slc_region_open(ty_slc* s, const ty_sampler* region, ty_slc_region* out)
{
    *out = (ty_slc_region){
        .region = *region, .slc = s, .solid = ty_world_solid(s->world), .reach = GROUND_REACH};
    ty_grid part;
    if (!s->has_domain || !find_part(s, region, &part)) return ty_ok();
    bool same = s->ground && memcmp(&s->ground->grid, &part, sizeof part) == 0;
    if (!same) {
        ty_slc_region_close(s);
        TY_TRY(ty_levelset_create_ground(&s->ground, &s->def, s->world, &part));
    } else if (s->ground->has_obstacles && ty_world_solid_moves(s->world))
        TY_TRY(ty_levelset_solids(s->ground, s->world));
    TY_TRY(ty_levelset_sample(s->ground, region, s->ground->phi));
    ty_levelset_continue(s->ground, s->ground->phi);
    out->field = (ty_levelset_field){&s->ground->grid, s->ground->phi};
    return ty_ok();
}

void ty_slc_region_close(ty_slc* s)
{
    ty_levelset_destroy(s->ground);
    s->ground = NULL;
}
