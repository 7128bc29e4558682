// SPDX-License-Identifier: Apache-2.0
// Particles go where the flow takes them, by the same paths that the level set comes from
// (world/trace.h: RK3, or the solver's own Lagrangian path).
#include <string.h>

#include "core/parallel.h"
#include "track/particle/particle.h"
#include "world/trace.h"

enum { BLOCK = TY_SAMPLE_BATCH };

typedef struct motion {
    ty_particle* p;
    const ty_flow* flow;
    double dt;
} motion;

void ty_particle_place(const ty_particle* p, int64_t i, double x[3])
{
    const ty_grid* g = &p->ls->grid;
    int cell = p->now.cell.at[i], row = cell / g->n[0];
    const int ijk[3] = {cell - row * g->n[0], row % g->n[1], row / g->n[1]};
    for (int axis = 0; axis < 3; ++axis)
        x[axis] = g->origin[axis] + g->cell * (ijk[axis] + 0.5 + (double)p->now.place[axis].at[i]);
}

bool ty_particle_put(ty_particle* p, int64_t i, const double x[3])
{
    const ty_grid* g = &p->ls->grid;
    int base[3];
    for (int axis = 0; axis < 3; ++axis) {
        double s = (x[axis] - g->origin[axis]) / g->cell - 0.5;
        if (!(s >= 0.0 && s < g->n[axis] - 1)) return false;    // also where it is not a number
        base[axis] = (int)s;
        p->now.place[axis].at[i] = (float)(s - base[axis]);
    }
    p->now.cell.at[i] = (int)ty_grid_index(g, base[0], base[1], base[2]);
    return true;
}

bool ty_particle_left(const ty_levelset* ls, const double x[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        if (!ls->closed_side[2 * axis] && x[axis] < ls->lo[axis]) return true;
        if (!ls->closed_side[2 * axis + 1] && x[axis] > ls->hi[axis]) return true;
    }
    return false;
}

// Whether an obstacle was in the way, looked at in its own frame.
static bool went_through(const ty_levelset* ls, double dt, const double from[3], const double to[3])
{
    if (!ls->has_obstacles) return false;
    ty_vec3 a = ty_load3(from), b = ty_load3(to);
    double d, v[3];
    ty_grid_linear(&ls->grid, ls->solid, 1, (const double(*)[3])to, &d);
    if (d > ty_norm(b - a) + ls->grid.cell) return false;
    ty_sampler velocity = ty_world_solid_velocity(ls->world);
    ty_sample(&velocity, 1, (const double(*)[3])to, v);
    return !ty_levelset_in_sight(ls, a + dt * ty_load3(v), b);
}

static void move_block(void* ctx, ty_range r)
{
    motion* m = ctx;
    ty_particle* p = m->p;
    int n = (int)(r.end - r.begin);
    double x[BLOCK][3], to[BLOCK][3];
    for (int k = 0; k < n; ++k) ty_particle_place(p, r.begin + k, x[k]);
    ty_trace_forward(m->flow, m->dt, n, (const double(*)[3])x, to);
    for (int k = 0; k < n; ++k) {
        int64_t i = r.begin + k;
        bool gone = ty_particle_left(p->ls, to[k]) || !ty_levelset_push_out(p->ls, to[k]);
        if (!gone && memcmp(x[k], to[k], sizeof x[k]) == 0)
            continue;    // not even rounding moves still water
        gone = gone || went_through(p->ls, m->dt, x[k], to[k]);
        if (gone || !ty_particle_put(p, i, to[k])) p->now.radius.at[i] = 0.0f;
    }
}

void ty_particle_move(ty_particle* p, const ty_flow* flow, double dt)
{
    motion m = {p, flow, dt};
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, move_block, &m);
}
