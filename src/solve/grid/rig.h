// SPDX-License-Identifier: Apache-2.0
// What the tests of solver `grid` share: a world made by hand, a solver in it, and liquids given by
// formulas.
#ifndef TY_SOLVE_GRID_RIG_H
#define TY_SOLVE_GRID_RIG_H

#include "core/hash.h"
#include "core/parallel.h"
#include "solve/kinds.h"
#include "test.h"

// A half space: n . x < level.
typedef struct half_space {
    double normal[3], level;
} half_space;

static inline void half_space_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const half_space* p = self;
    for (int i = 0; i < n; ++i)
        out[i] = p->normal[0] * x[i][0] + p->normal[1] * x[i][1] + p->normal[2] * x[i][2] -
                 p->level;
}

typedef struct rig {
    ty_world_def def;
    ty_solve_def solve;
    ty_world* world;
    void* self;
    ty_liquid liquid;
    ty_solve_stats stats;
    double time;
} rig;

// The unit cube, closed but for the top, `cells` along each axis.
static inline rig rig_cube(int cells)
{
    rig r = {.def = ty_world_default(), .solve = ty_solve_default()};
    r.def.has_domain = true;
    for (int axis = 0; axis < 3; ++axis) r.def.min[axis] = 0.0, r.def.max[axis] = 1.0;
    for (int side = 0; side < TY_N_SIDES; ++side) {
        r.def.wall[side] = (ty_wall_def){
            .closed = side != TY_TOP, .velocity = ty_varying_vector(0, 0, 0), .slip = 1.0};
    }
    r.solve.cell = 1.0 / cells;
    r.liquid.cell = r.solve.cell;
    return r;
}

static inline void rig_liquid(rig* r, const half_space* p)
{
    r->liquid.distance = (ty_sampler){p, 1, 1e30, half_space_eval};
}

static inline ty_status rig_start(rig* r)
{
    TY_TRY(ty_world_create(&r->world, &r->def, r->solve.cell));
    TY_TRY(ty_world_move(r->world, 0.0, 0.0));
    TY_TRY(ty_solver_grid.create(&r->self, &r->solve, r->world));
    return ty_solver_grid.advance(r->self, &r->liquid, r->world, 0.0, 0.0, &r->stats);
}

static inline ty_status rig_step(rig* r, double dt)
{
    TY_TRY(ty_world_move(r->world, r->time + dt, dt));
    TY_TRY(ty_solver_grid.advance(r->self, &r->liquid, r->world, r->time, dt, &r->stats));
    r->time += dt;
    return ty_ok();
}

static inline double rig_speed(const rig* r) { return ty_solver_grid.flow(r->self).max_speed; }

static inline void rig_end(rig* r)
{
    ty_solver_grid.destroy(r->self);
    ty_world_destroy(r->world);
    ty_world_def_free(&r->def);
}

#endif
