// SPDX-License-Identifier: Apache-2.0
// How much liquid a step should leave in every cell at the surface, when the solver tells no fluxes
// but its paths keep the liquid's volume: the surface itself is carried along them.
//
//     should = |the cell inside the carried surface|
//
// What leaves a cell so comes into another one: the sum over all cells is what the carried surface
// encloses, also where it runs into itself. What is there is measured in the same way.
//
// A triangle is cut at the sides of cells. By the divergence theorem for (x, 0, 0) a piece stands for
// all that is before it in its row, with the sign of its area seen along x:
//
//       +-------+-------+--/----+
//       |   A   |   A   | p     |     p = integral of x over the area, from the cell's side
//       +-------+-------+/------+
//
// so the row's sums from its end hold p and A when p is added to the piece's cell and A - p to the
// one before.
#include <string.h>

#include "core/parallel.h"
#include "geometry/polygon.h"
#include "track/levelset/weigh.h"
#include "world/trace.h"

enum { BLOCK = 128, BATCH = TY_SAMPLE_BATCH };
enum { SUB = 4, POINTS = SUB * SUB * SUB };    // of cells beside sources
static const double HALF_DIAGONAL = 0.87;      // cells
static const double BESIDE = 2.0;              // cells from a source

typedef struct swept_job {
    const ty_weigh_job* weigh;
    ty_levelset* ls;
    double lo[3], hi[3];    // the domain, in cells after the grid's origin
} swept_job;

static bool is_inside(const ty_levelset* ls, const double x[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (!(x[axis] > ls->lo[axis] && x[axis] < ls->hi[axis])) return false;
    double d = INFINITY;
    if (ls->solid) ty_grid_linear(&ls->grid, ls->solid, 1, (const double(*)[3])x, &d);
    return d > 0.0;
}

// What would end behind a wall ends at it; beyond open sides it goes on.
static void end_at_walls(const ty_levelset* ls, double x[3])
{
    double to[3] = {x[0], x[1], x[2]};
    ty_levelset_push_out(ls, to);
    for (int axis = 0; axis < 3; ++axis) {
        bool out = (x[axis] < ls->lo[axis] && !ls->closed_side[2 * axis]) ||
                   (x[axis] > ls->hi[axis] && !ls->closed_side[2 * axis + 1]);
        if (!out) x[axis] = to[axis];
    }
}

static void carry_block(void* ctx, ty_range r)
{
    const swept_job* job = ctx;
    ty_levelset* ls = job->ls;
    const double(*x)[3] = (const double(*)[3])ls->surface.vert + r.begin;
    double(*to)[3] = (double(*)[3])(ls->foot.at + 3 * r.begin);
    int n = (int)(r.end - r.begin);
    ty_trace_forward(job->weigh->flow, job->weigh->dt, n, x, to);
    for (int i = 0; i < n; ++i)
        if (is_inside(ls, x[i]) && !is_inside(ls, to[i])) end_at_walls(ls, to[i]);
}

// In cells after the grid's origin; no part of a cell lies beyond the domain.
static void put(const swept_job* job, const ty_polygon* p, const int at[3])
{
    const ty_grid* g = &job->ls->grid;
    double moment, area = ty_polygon_seen_along_x(p, at[0], job->hi[0], &moment);
    double* cell = job->ls->spare + ty_grid_index(g, at[0], at[1], at[2]);
    cell[0] += moment;
    if (at[0] > 0) cell[-1] += area - moment;
}

// Beside the domain a piece stands for nothing; beyond its end for all of the row.
static void keep_inside(const swept_job* job, int axis, ty_polygon* p)
{
    double least, most;
    ty_polygon low, high;
    if (axis == 0) return;
    ty_polygon_extent(p, axis, &least, &most);
    if (least < job->lo[axis]) ty_polygon_split(p, axis, job->lo[axis], &low, &high), *p = high;
    if (most > job->hi[axis]) ty_polygon_split(p, axis, job->hi[axis], &low, &high), *p = low;
}

static void deal(const swept_job* job, const ty_polygon* whole, int axis, int at[3])
{
    double least, most;
    ty_polygon rest = *whole, low, high;
    keep_inside(job, axis, &rest);
    if (rest.n < 3) return;
    ty_polygon_extent(&rest, axis, &least, &most);
    int last = (int)ty_clamp(ceil(most) - 1.0, 0.0, job->ls->grid.n[axis] - 1.0);
    for (at[axis] = (int)ty_clamp(floor(least), 0.0, last); at[axis] <= last; ++at[axis]) {
        low = rest;
        if (at[axis] < last)
            ty_polygon_split(&rest, axis, at[axis] + 1.0, &low, &high), rest = high;
        if (low.n < 3) continue;
        if (axis) deal(job, &low, axis - 1, at);
        else put(job, &low, at);
    }
}

static void add_triangle(const swept_job* job, const double (*x)[3], const int v[3])
{
    const ty_grid* g = &job->ls->grid;
    ty_polygon p = {.n = 3};
    int at[3];
    for (int k = 0; k < 3; ++k)
        for (int axis = 0; axis < 3; ++axis)
            p.x[k][axis] = (x[v[k]][axis] - g->origin[axis]) / g->cell;
    deal(job, &p, 2, at);
}

static void sum_rows(void* ctx, ty_range r)
{
    const swept_job* job = ctx;
    int n = job->ls->grid.n[0];
    for (int64_t row = r.begin; row < r.end; ++row) {
        double* v = job->ls->spare + row * n;
        for (int i = n - 1; i-- > 0;) v[i] += v[i + 1];
    }
}

// Of every cell what is inside ls->surface with its vertices at x, into spare[], cells^3.
static void find_insides(const swept_job* job, const double (*x)[3])
{
    ty_levelset* ls = job->ls;
    memset(ls->spare, 0, (size_t)ty_grid_size(&ls->grid) * sizeof *ls->spare);
    for (int t = 0; t < ls->surface.n_tris; ++t) add_triangle(job, x, ls->surface.tri[t]);
    ty_parallel_for((int64_t)ls->grid.n[1] * ls->grid.n[2], BLOCK, sum_rows, (void*)job);
}

static void points_of(const ty_levelset* ls, int cell, double (*x)[3])
{
    double low[3];
    ty_levelset_low_corner(ls, cell, low);
    for (int k = 0; k < POINTS; ++k)
        for (int axis = 0, rest = k; axis < 3; ++axis, rest /= SUB)
            x[k][axis] = low[axis] + (rest % SUB + 0.5) / SUB * ls->grid.cell;
}

// The share of a cell below zero of a distance at its points.
static double share_of(const ty_levelset* ls, const double* d)
{
    double sum = 0.0;
    for (int k = 0; k < POINTS; ++k) sum += ty_clamp(0.5 - d[k] * SUB / ls->grid.cell, 0.0, 1.0);
    return sum / POINTS;
}

// Of cells that an obstacle cuts it is not known what of them is swept in front of it and what behind.
// Whether there were any.
static bool leave_out_cut(ty_levelset* ls)
{
    int64_t n = 0, all = ls->kept.n;
    for (int64_t i = 0; i < ls->kept.n; ++i)
        if (!ls->solid || ls->solid[ls->kept.at[i].cell] > HALF_DIAGONAL * ls->grid.cell)
            ls->kept.at[n++] = ls->kept.at[i];
    ls->kept.n = n;
    return n < all;
}

// What sources fill up of a cell.
static double filled_share(const ty_levelset* ls, int cell)
{
    double x[POINTS][3], d[POINTS];
    if (!ty_levelset_near_source(ls, cell, HALF_DIAGONAL)) return 0.0;
    for (int k = 0; k < POINTS; ++k) d[k] = INFINITY;
    points_of(ls, cell, x);
    ty_levelset_fill_sources(ls, POINTS, (const double(*)[3])x, d);
    return share_of(ls, d);
}

// Of what is swept around a source, and of what it fills up, there are estimates only (F15's jet: 5 % of its
// rate too little, beside the lattice 20): what all cells together gain is what it let out. The rest, cells^3,
// is dealt out when it is known where the surface is.
static void meet_rate(const ty_weigh_job* weigh)
{
    ty_levelset* ls = weigh->ls;
    double delivered, found = 0.0;
    ls->missed = 0.0;
    if (!ls->counts_all || !ls->filled_by || !ty_levelset_find_delivered(weigh, &delivered)) return;
    for (int64_t i = 0; i < ls->kept.n; ++i) found += ls->kept.at[i].more;
    ls->missed = delivered - found;
}

// Whether a cell is to take a share of what was missed.
static bool takes(const ty_levelset* ls, const ty_kept* k, bool beside)
{
    return k->area > 0.0 && (!beside || ty_levelset_near_source(ls, k->cell, BESIDE));
}

// To the surface beside sources, by its area; where there is none, to all of it.
static void deal_missed(ty_levelset* ls)
{
    for (int beside = 1; beside >= 0 && ls->missed != 0.0; --beside) {
        double area = 0.0;
        for (int64_t i = 0; i < ls->kept.n; ++i)
            if (takes(ls, &ls->kept.at[i], beside)) area += ls->kept.at[i].area;
        if (!(area > 0.0)) continue;
        for (int64_t i = 0; i < ls->kept.n; ++i)
            if (takes(ls, &ls->kept.at[i], beside))
                ls->kept.at[i].lost += ls->missed * ls->kept.at[i].area / area;
        ls->missed = 0.0;
    }
}

// spare[] holds what the carried surface encloses, `now` what the old one did.
static void weigh_cells(void* ctx, ty_range r)
{
    const swept_job* job = ctx;
    ty_levelset* ls = job->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_kept* k = &ls->kept.at[i];
        double should = ls->spare[k->cell];
        if (job->weigh->sources) should = ty_max(should, ty_min(k->now, filled_share(ls, k->cell)));
        k->lost = should + ls->owed[k->cell];
        k->more = should - k->now;
        k->now = 0.0;
    }
}

static swept_job begin(ty_levelset* ls, const ty_weigh_job* weigh)
{
    swept_job job = {.weigh = weigh, .ls = ls};
    for (int axis = 0; axis < 3; ++axis) {
        job.lo[axis] = (ls->lo[axis] - ls->grid.origin[axis]) / ls->grid.cell;
        job.hi[axis] = (ls->hi[axis] - ls->grid.origin[axis]) / ls->grid.cell;
    }
    return job;
}

ty_status ty_levelset_weigh_swept(const ty_weigh_job* weigh)
{
    ty_levelset* ls = weigh->ls;
    swept_job job = begin(ls, weigh);
    ls->counts_all = !leave_out_cut(ls);
    TY_TRY(ty_levelset_triangles(ls, ls->next));
    if (!ty_array_resize(&ls->foot, 3 * (int64_t)ls->surface.n_verts))
        return ty_no_memory("the carried surface");
    if (weigh->sources) {
        find_insides(&job, (const double(*)[3])ls->surface.vert);
        for (int64_t i = 0; i < ls->kept.n; ++i)
            ls->kept.at[i].now = ls->spare[ls->kept.at[i].cell];
    }
    ty_parallel_for(ls->surface.n_verts, BATCH, carry_block, &job);
    find_insides(&job, (const double(*)[3])ls->foot.at);
    ty_parallel_for(ls->kept.n, BLOCK, weigh_cells, &job);
    meet_rate(weigh);
    return ty_ok();
}

// What boxes (amount.c) say of single cells differs from that by as much as a step loses; they tell what
// the give-back does from here on.
ty_status ty_levelset_find_lost_swept(ty_levelset* ls)
{
    swept_job job = begin(ls, NULL);
    TY_TRY(ty_levelset_triangles(ls, ls->phi));
    find_insides(&job, (const double(*)[3])ls->surface.vert);
    ty_levelset_measure_boxes(ls, ls->phi, NULL);
    for (int64_t i = 0; i < ls->kept.n; ++i) {
        ty_kept* k = &ls->kept.at[i];
        k->lost -= ls->spare[k->cell];
        k->now = ty_levelset_liquid_in(ls, k->cell, ls->phi, &k->area);
    }
    deal_missed(ls);
    for (int64_t i = 0; i < ls->kept.n; ++i)
        ls->kept.at[i].should = ls->kept.at[i].lost + ls->spare[ls->kept.at[i].cell];
    return ty_ok();
}

ty_status ty_levelset_find_lost_again(ty_levelset* ls)
{
    swept_job job = begin(ls, NULL);
    TY_TRY(ty_levelset_triangles(ls, ls->phi));
    find_insides(&job, (const double(*)[3])ls->surface.vert);
    for (int64_t i = 0; i < ls->kept.n; ++i)
        ls->kept.at[i].lost = ls->kept.at[i].should - ls->spare[ls->kept.at[i].cell];
    return ty_ok();
}
