// SPDX-License-Identifier: Apache-2.0
// Liquid does not go through walls. A wall is about as thick as the stencils that carry phi along,
// and values in it continue the liquid of one side: interpolation, long steps and walls that move
// off let them out on the other. So near obstacles a cell is liquid after a step only when liquid
// was to be seen, past all walls, from where it came.
//
// New distances and offsets near a wall are held to the same: they do not make liquid where none is
// in sight.
//
// The values in a wall continue the liquid of one side; on the other side they look like a surface
// on the wall, whose distances would be continued into the floor and let a film creep along it. So
// beside thin walls that stand still air that sees no liquid is not near a surface.
//
// All this is looked at in the frame of the wall, where it stands still: from place x of the new
// world, the place y of the old one is at y + dt v with the wall's velocity v.
#include "core/parallel.h"
#include "track/levelset/levelset.h"
#include "world/trace.h"

enum { BLOCK = 1024, SAMPLES = 6 };
enum { REACH = 2 };    // cells on each side of a place where liquid is looked for
enum { THIN = 3 };     // cells: values of one side reach through thinner walls
// Cells: beside thinner walls offsets on one side move values of the other. Beside thicker ones liquid is given back: it
// came round the rounded lip of a tank that runs out, 2.7 cells thick, and nothing took it away again (F14).
enum { SHARED = 2 };

// Cells beyond a step's length from an obstacle where values may come through it
static const double NEAR_WALL = 2.5;
// Cells from the place: half a diagonal of a cell and one more
static const double IN_SIGHT = 1.75;
// Cells: liquid nearer to a wall than this may be a value continued into it, as walls turn.
static const double CLEAR = 0.2;
// Cells: air nearer to the surface than this has a centre of liquid within FAR_SIGHT; if a wall
// hides all of them, what is near is no surface, and the value becomes HIDDEN: then the surface
// stays in the wall or on its other side.
static const double TOO_NEAR = 0.75, FAR_SIGHT = 2.5, HIDDEN = 1.5;
static const double DRY = 0.5;    // cells: value of a cell that is found dry

typedef struct leak_job {
    ty_levelset* ls;
    const ty_flow* flow;
    const double* before;
    double dt;
} leak_job;

// How far one gets from a to b, as a share, before an obstacle is in the way or, at the end, nearer
// than `clear`; 1: all the way.
static double free_way(const ty_levelset* ls, ty_vec3 a, ty_vec3 b, double clear)
{
    double x[SAMPLES][3], d[SAMPLES];
    ty_sampler obstacles = ty_world_obstacles(ls->world);
    for (int i = 0; i < SAMPLES; ++i) ty_store3(x[i], a + (double)(i + 1) / SAMPLES * (b - a));
    ty_sample(&obstacles, SAMPLES, (const double(*)[3])x, d);
    for (int i = 0; i < SAMPLES; ++i)
        if (d[i] <= (i == SAMPLES - 1 ? clear : 0.0)) return (double)i / SAMPLES;
    return 1.0;
}

bool ty_levelset_in_sight(const ty_levelset* ls, ty_vec3 from, ty_vec3 to)
{
    return !ls->has_obstacles || free_way(ls, from, to, 0.0) == 1.0;
}

static bool outside_domain(const ty_levelset* ls, const double x[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (x[axis] < ls->lo[axis] || x[axis] > ls->hi[axis]) return true;
    return false;
}

// Whether liquid was in sight, within `reach` cells from `at` (old world); `drift` leads from the
// old world to the wall in the new one.
static bool sees_liquid(const leak_job* job, ty_vec3 at, ty_vec3 drift, double reach)
{
    const ty_levelset* ls = job->ls;
    const ty_grid* g = &ls->grid;
    int lo[3], ijk[3];
    for (int axis = 0; axis < 3; ++axis)
        lo[axis] = (int)floor((at[axis] - g->origin[axis]) / g->cell) - REACH;
    for (int i = 0; i < 125; ++i) {
        bool in = true;
        for (int axis = 0, rest = i; axis < 3; ++axis, rest /= 5) {
            ijk[axis] = lo[axis] + rest % 5;
            in &= ijk[axis] >= 0 && ijk[axis] < g->n[axis];
        }
        if (!in) continue;
        int64_t cell = ijk[0] * ty_grid_stride(g, 0) + ijk[1] * ty_grid_stride(g, 1) +
                       ijk[2] * ty_grid_stride(g, 2);
        double x[3];
        if (!(job->before[cell] < 0.0)) continue;
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x);
        ty_vec3 to = ty_load3(x);
        if (outside_domain(ls, x)) continue;    // a value continued into the domain's side
        if (ty_norm(to - at) >= reach * g->cell) continue;
        if (free_way(ls, at + drift, to + drift, job->flow ? CLEAR * g->cell : 0.0) == 1.0)
            return true;
    }
    return false;
}

// Where the liquid at x came from, and how far the wall went since; without a flow nothing moved.
static ty_vec3 origin_of(const leak_job* job, const double x[3], ty_vec3* drift)
{
    double foot[1][3], v[3];
    *drift = ty_vec(0, 0, 0);
    if (!job->flow) return ty_load3(x);
    ty_sampler velocity = ty_world_solid_velocity(job->ls->world);
    ty_trace_back(job->flow, job->dt, 1, (const double(*)[3])x, foot);
    ty_sample(&velocity, 1, (const double(*)[3])x, v);
    *drift = job->dt * ty_load3(v);
    ty_vec3 from = ty_load3(x), to = ty_load3(foot[0]) + *drift;
    return from + free_way(job->ls, from, to, 0.0) * (to - from) - *drift;
}

static void dry_block(void* ctx, ty_range r)
{
    const leak_job* job = ctx;
    ty_levelset* ls = job->ls;
    double h = ls->grid.cell,
           near = NEAR_WALL * h + (job->flow ? job->flow->max_speed * job->dt : 0.0);
    for (int64_t cell = r.begin; cell < r.end; ++cell) {
        if (!(ls->phi[cell] < 0.0) || ls->closed[cell] || ls->solid[cell] > near) continue;
        if (!job->flow && job->before[cell] < 0.0) continue;
        int ijk[3];
        double x[3];
        ty_grid_coords(&ls->grid, cell, ijk);
        ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x);
        ty_vec3 drift, at = origin_of(job, x, &drift);
        if (!sees_liquid(job, at, drift, IN_SIGHT)) ls->phi[cell] = DRY * h;
    }
}

// Whether the obstacle next to a cell ends within `cells` on its other side.
static bool is_at_thin_wall(const ty_levelset* ls, ty_vec3 x, int cells)
{
    double h = ls->grid.cell, at[6][3], d[6], beyond[THIN][3], depth[THIN];
    ty_sampler obstacles = ty_world_obstacles(ls->world);
    for (int k = 0; k < 6; ++k) {
        ty_store3(at[k], x);
        at[k][k / 2] += k % 2 ? 0.5 * h : -0.5 * h;
    }
    ty_sample(&obstacles, 6, (const double(*)[3])at, d);
    ty_vec3 away = ty_normalize(ty_vec(d[1] - d[0], d[3] - d[2], d[5] - d[4]));
    double distance = (d[0] + d[1] + d[2] + d[3] + d[4] + d[5]) / 6.0;
    for (int k = 0; k < cells; ++k) ty_store3(beyond[k], x - (distance + (k + 1) * h) * away);
    ty_sample(&obstacles, cells, (const double(*)[3])beyond, depth);
    for (int k = 0; k < cells; ++k)
        if (depth[k] > 0.0) return true;
    return false;
}

static bool at_thin_wall(const ty_levelset* ls, int64_t cell, int cells)
{
    int ijk[3];
    double x[3];
    if (!ls->solid || ls->solid[cell] > IN_SIGHT * ls->grid.cell) return false;
    ty_grid_coords(&ls->grid, cell, ijk);
    ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x);
    return is_at_thin_wall(ls, ty_load3(x), cells);
}

bool ty_levelset_at_shared_wall(const ty_levelset* ls, int64_t cell)
{
    return at_thin_wall(ls, cell, SHARED);
}

// Air behind a thin wall: near the surface by its value, and no liquid in sight. So films thinner
// than a cell on such walls end here. (Air beside a thicker obstacle is near the plane of a pool
// that it stands in, and that is as it should be.)
static void hidden_block(void* ctx, ty_range r)
{
    const leak_job* job = ctx;
    ty_levelset* ls = job->ls;
    double h = ls->grid.cell;
    for (int64_t cell = r.begin; cell < r.end; ++cell) {
        ls->doubtful[cell] = 0;
        if (!(ls->phi[cell] >= 0.0 && ls->phi[cell] < TOO_NEAR * h) || ls->closed[cell]) continue;
        if (!at_thin_wall(ls, cell, THIN)) continue;
        int ijk[3];
        double x[3];
        ty_grid_coords(&ls->grid, cell, ijk);
        ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x);
        ls->doubtful[cell] = !sees_liquid(job, ty_load3(x), ty_vec(0, 0, 0), FAR_SIGHT);
    }
}

static void lift_block(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    for (int64_t cell = r.begin; cell < r.end; ++cell)
        if (ls->doubtful[cell]) ls->phi[cell] = HIDDEN * ls->grid.cell;
}

void ty_levelset_stop_leaks(ty_levelset* ls, const ty_flow* flow, double dt, const double* before)
{
    if (!ls->has_obstacles) return;
    int64_t size = ty_grid_size(&ls->grid);
    leak_job job = {ls, flow, before, dt}, here = {ls, NULL, ls->phi, 0.0};
    ty_parallel_for(size, BLOCK, dry_block, &job);
    if (ty_world_solid_moves(ls->world))
        return;    // lifted beside walls that move, a sealed container lost a fifth of its water
    ty_parallel_for(size, BLOCK, hidden_block, &here);
    ty_parallel_for(size, BLOCK, lift_block, ls);
}
