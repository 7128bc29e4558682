// SPDX-License-Identifier: Apache-2.0
// Changes from outside: sources and drains, and the ledger's offsets.
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "track/levelset/levelset.h"

enum {
    BLOCK = 256,
    REACH_CELLS = 4
};    // around a change whose volume is measured: the cubic's stencil and a half
static const double CHANGED = 1e-9;          // cells
static const double DISTANT = 1.0 + 1e-9;    // of def.redistance: redistance in the next step
static const double NEAR = 2.0;              // cells from a surface where a changed value moves it
static const double OFFSET_REACH = 2.6;      // cells: farther values have no part in the surface
static const double THICK = 4.0;             // cells: thinner places get a share of an offset

typedef struct change {
    ty_levelset* ls;
    bool add;
    const double* region;
    double* to;
    const double* metres;    // offset: per piece
    const double* boost;     // offset: per piece
} change;

static void combine(void* ctx, ty_range r)
{
    change* c = ctx;
    const ty_levelset* ls = c->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double phi = ls->phi[i], region = c->region[i];
        double to = c->add ? ty_min(phi, region) : ty_max(phi, -region);
        c->to[i] = ls->closed[i] ? phi : ty_clamp(to, -ls->band, ls->band);
    }
}

// The cells whose change moves a surface, as a box of cells; false when there are none.
static bool changed_box(const ty_levelset* ls, const double* now, int lo[3], int hi[3])
{
    const ty_grid* g = &ls->grid;
    double least = CHANGED * g->cell, near = NEAR * g->cell;
    int64_t size = ty_grid_size(g);
    bool any = false;
    for (int64_t c = 0; c < size; ++c) {
        double a = ls->phi[c], b = now[c];
        if (a == b || ls->closed[c] || fabs(a - b) <= least) continue;
        if ((a < 0.0) == (b < 0.0) && fabs(a) > near && fabs(b) > near) continue;
        int ijk[3];
        ty_grid_coords(g, c, ijk);
        for (int axis = 0; axis < 3; ++axis) {
            lo[axis] = any && lo[axis] < ijk[axis] ? lo[axis] : ijk[axis];
            hi[axis] = any && hi[axis] > ijk[axis] ? hi[axis] : ijk[axis];
        }
        any = true;
    }
    return any;
}

static ty_status measure(ty_levelset* ls, const double* values, const ty_box* box, double* volume)
{
    ty_levelset_field field = {&ls->grid, values};
    ty_sampler phi = {.self = &field, .width = 1, .eval = ty_levelset_eval};
    return ty_cut_volume(ls->cutter, &phi, ls->grid.cell, ls->world, box, volume);
}

// The volume of `spare` less that of phi, which differ in cells from `lo` to `hi`.
static ty_status measure_change(ty_levelset* ls, const int lo[3], const int hi[3], double* volume)
{
    ty_box box;
    double before, after;
    for (int axis = 0; axis < 3; ++axis) {
        box.lo[axis] = ls->grid.origin[axis] + ls->grid.cell * (lo[axis] - REACH_CELLS);
        box.hi[axis] = ls->grid.origin[axis] + ls->grid.cell * (hi[axis] + 1 + REACH_CELLS);
    }
    TY_TRY(measure(ls, ls->phi, &box, &before));
    TY_TRY(measure(ls, ls->spare, &box, &after));
    *volume = after - before;
    return ty_ok();
}

// One edit: the new values come into `spare`, what they change is measured, then they are phi.
static ty_status edit_one(ty_levelset* ls, const ty_edit* e, double* volume_changed, bool* any)
{
    TY_TRY(ty_levelset_sample(ls, &e->region, ls->next));
    change c = {.ls = ls, .add = e->add, .region = ls->next, .to = ls->spare};
    ty_parallel_for(ty_grid_size(&ls->grid), 16 * BLOCK, combine, &c);
    int lo[3], hi[3];
    if (volume_changed) *volume_changed = 0.0;
    if (!changed_box(ls, ls->spare, lo, hi)) return ty_ok();
    ty_levelset_continue(ls, ls->spare);
    if (volume_changed) TY_TRY(measure_change(ls, lo, hi, volume_changed));
    double* old = ls->phi;
    ls->phi = ls->spare;
    ls->spare = old;
    *any = true;
    return ty_ok();
}

static uint64_t filling(const ty_levelset* ls)
{
    uint64_t which = 0;
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source s = ty_world_source(ls->world, i);
        if (ty_levelset_fills(ls, &s) && !s.moves) which = ty_mix2(which, (uint64_t)i + 1);
    }
    return which;
}

ty_status ty_levelset_find_filled(ty_levelset* ls)
{
    uint64_t which = filling(ls);
    bool solids = ls->has_obstacles && ty_world_solid_moves(ls->world);
    if (which == ls->filled_by && !(solids && which)) return ty_ok();
    int64_t size = ty_grid_size(&ls->grid);
    for (int64_t c = 0; c < size; ++c) ls->filled[c] = INFINITY;
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source s = ty_world_source(ls->world, i);
        if (!ty_levelset_fills(ls, &s) || s.moves) continue;
        TY_TRY(ty_levelset_sample(ls, &s.distance, ls->spare));
        for (int64_t c = 0; c < size; ++c)
            if (!ls->closed[c]) ls->filled[c] = ty_min(ls->filled[c], ls->spare[c]);
    }
    ls->filled_by = which;
    return ty_ok();
}

static void fill_cells(void* ctx, ty_range r)
{
    const change* c = ctx;
    const ty_levelset* ls = c->ls;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (ls->filled[i] < c->to[i]) c->to[i] = ty_max(ls->filled[i], -ls->band);
}

void ty_levelset_fill(ty_levelset* ls, double* values)
{
    if (!ls->filled_by) return;
    change c = {.ls = ls, .to = values};
    ty_parallel_for(ty_grid_size(&ls->grid), 16 * BLOCK, fill_cells, &c);
    ty_levelset_continue(ls, values);
}

static bool sources_move(const ty_world* world)
{
    for (int i = 0; i < ty_world_n_sources(world); ++i)
        if (ty_world_source(world, i).on && ty_world_source(world, i).moves) return true;
    return false;
}

ty_status ty_levelset_edit(ty_levelset* ls, int n, const ty_edit* edits, double* volume_changed)
{
    bool any = false;
    for (int i = 0; i < n; ++i)
        TY_TRY(edit_one(ls, &edits[i], volume_changed ? &volume_changed[i] : NULL, &any));
    if (!any) return ty_ok();
    // Values are distances nearly as before: the next step makes them so again, and keep.c sees what
    // that loses (a round jet of 24 cells lost 1.5 % of what came out of its source here). It does
    // not know what sources that move leave behind.
    if (sources_move(ls->world)) TY_TRY(ty_levelset_redistance(ls, 0.0));
    else ls->moved = ty_max(ls->moved, DISTANT * ls->def.redistance * ls->grid.cell);
    return ty_levelset_contour(ls);
}

// Unit normal and depth below the surface point next to a cell, twice the largest of which is the
// thickness there.
static double share(const ty_levelset* ls, const double x[3], double phi, ty_vec3 normal)
{
    enum { STEPS = 4 };
    double h = ls->grid.cell, deepest = 0.0;
    for (int i = STEPS; i > 0 && 2.0 * deepest < THICK * h; --i) {    // the deepest first
        double at[1][3], value;
        ty_store3(at[0], ty_load3(x) - (phi + 0.5 * THICK * h * i / STEPS) * normal);
        ty_grid_linear(&ls->grid, ls->phi, 1, (const double(*)[3])at, &value);
        deepest = ty_max(deepest, -value);
    }
    return ty_min(1.0, 2.0 * deepest / (THICK * h));
}

// The body a cell belongs to, or the one whose surface is next to it: looked for along the normal.
static int piece_of(const ty_levelset* ls, const int ijk[3], double phi, ty_vec3 normal)
{
    if (ls->n_pieces == 1) return 0;
    ty_vec3 center = ty_vec(ijk[0] + 0.5, ijk[1] + 0.5, ijk[2] + 0.5);    // cells
    double out = ty_max(phi, 0.0) / ls->grid.cell;
    for (int step = 0; step < 6; ++step) {
        ty_vec3 at = center - (out + 0.5 * step) * normal;
        int piece = ty_label_at(&ls->label, (int)floor(at[0]), (int)floor(at[1]),
                                (int)floor(at[2]));
        if (piece >= 0) return piece;
    }
    return -1;
}

// By central differences: an open cell has all its neighbours.
static ty_vec3 normal_at(const ty_levelset* ls, int cell)
{
    double slope[3];
    for (int axis = 0; axis < 3; ++axis) {
        int64_t stride = ty_grid_stride(&ls->grid, axis);
        slope[axis] = ls->phi[cell + stride] - ls->phi[cell - stride];
    }
    return ty_normalize(ty_load3(slope));
}

// Of what the piece that a cell belongs to is asked for; *piece is -1 where that is nothing.
static double share_at(const change* c, int cell, int* piece)
{
    const ty_levelset* ls = c->ls;
    int ijk[3];
    double x[3], phi = ls->phi[cell];
    ty_grid_coords(&ls->grid, cell, ijk);
    ty_vec3 normal = normal_at(ls, cell);
    *piece = piece_of(ls, ijk, phi, normal);
    if (*piece >= 0 && c->metres[*piece] == 0.0) *piece = -1;
    if (*piece < 0) return 0.0;
    ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x);
    return share(ls, x, phi, normal);
}

// Per active cell its piece, in corner[], and its share, in foot[].
static void find_shares(void* ctx, ty_range r)
{
    const change* c = ctx;
    ty_levelset* ls = c->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i];
        ls->corner.at[i] = -1;
        if (!ls->closed[cell] && fabs(ls->phi[cell]) <= OFFSET_REACH * ls->grid.cell)
            ls->foot.at[i] = share_at(c, cell, &ls->corner.at[i]);
    }
}

static void offset_cells(void* ctx, ty_range r)
{
    change* c = ctx;
    const ty_levelset* ls = c->ls;
    double most = TY_MAX_OFFSET * ls->grid.cell;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i], piece = ls->corner.at[i];
        if (piece < 0) continue;
        double moved = ty_clamp(ls->foot.at[i] * c->boost[piece] * c->metres[piece], -most, most);
        c->to[cell] = ty_clamp(ls->phi[cell] - moved, -ls->band, ls->band);
    }
}

// What the thin places of a piece do not get the others do: the mean of the shares at its surface is
// one. (Otherwise a twelfth of what is asked of spray is given.)
static void find_boost(const change* c, double* boost, double* count)
{
    const ty_levelset* ls = c->ls;
    for (int i = 0; i < ls->n_pieces; ++i) boost[i] = count[i] = 0.0;
    for (int64_t i = 0; i < ls->active.n; ++i) {
        int piece = ls->corner.at[i];
        if (piece < 0 || fabs(ls->phi[ls->active.at[i]]) > 0.5 * ls->grid.cell) continue;
        boost[piece] += ls->foot.at[i];
        count[piece] += 1.0;
    }
    for (int i = 0; i < ls->n_pieces; ++i) boost[i] = boost[i] > 0.0 ? count[i] / boost[i] : 1.0;
}

static ty_status offset_values(ty_levelset* ls, const double* metres_per_piece)
{
    double most = 0.0;
    for (int i = 0; i < ls->n_pieces; ++i) most = ty_max(most, fabs(metres_per_piece[i]));
    if (most == 0.0) return ty_ok();
    TY_TRY(ty_levelset_activate(ls));
    if (!ty_array_resize(&ls->corner, ls->active.n) || !ty_array_resize(&ls->foot, ls->active.n))
        return ty_no_memory("an offset");
    double* boost = ty_alloc((size_t)ls->n_pieces, 2 * sizeof *boost);
    if (!boost) return ty_no_memory("an offset");
    memcpy(ls->next, ls->phi, (size_t)ty_grid_size(&ls->grid) * sizeof *ls->phi);
    change c = {.ls = ls, .metres = metres_per_piece, .boost = boost, .to = ls->next};
    ty_parallel_for(ls->active.n, BLOCK, find_shares, &c);
    find_boost(&c, boost, boost + ls->n_pieces);
    ty_parallel_for(ls->active.n, BLOCK, offset_cells, &c);
    ty_free(boost);
    double* old = ls->phi;
    ls->phi = ls->next;
    ls->next = old;
    ty_levelset_stop_leaks(ls, NULL, 0.0, old);
    // The ledger knows the sum of what is owed: given back twice, the two would fight (taking away only
    // what the offset gave by area, 57 % of a closed dam break's volume was moved in 32 frames).
    memset(ls->owed, 0, (size_t)ty_grid_size(&ls->grid) * sizeof *ls->owed);
    ls->moved += TY_MAX_OFFSET * ls->grid.cell;
    ty_levelset_continue(ls, ls->phi);
    return ty_ok();
}

ty_status ty_levelset_offset(ty_levelset* ls, const double* metres_per_piece)
{
    TY_TRY(offset_values(ls, metres_per_piece));
    return ty_levelset_contour(ls);
}

ty_status ty_levelset_offset_later(ty_levelset* ls, const double* metres_per_piece)
{
    if (!ty_array_resize(&ls->later, ls->n_pieces)) return ty_no_memory("offsets");
    for (int i = 0; i < ls->n_pieces; ++i) ls->later.at[i] = metres_per_piece[i];
    return ty_ok();
}

ty_status ty_levelset_offset_now(ty_levelset* ls)
{
    if (ls->later.n == 0) return ty_ok();
    TY_TRY(offset_values(ls, ls->later.at));
    ls->later.n = 0;
    return ty_ok();
}
