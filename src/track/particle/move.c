// SPDX-License-Identifier: Apache-2.0
// Particles go where the flow takes them, by the same paths that the level set comes from
// (world/trace.h: RK3, or the solver's own Lagrangian path), taken from faces around (way.c).
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/particle/particle.h"

enum { BLOCK = 1024 };

typedef struct motion {
    ty_particle* p;
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

// One component of a particle's way, `low` the lowest face, at[] its place among the faces.
static float component(const float* low, const ty_way_lattice* l, const float at[3])
{
    const float *a = low, *b = low + l->dy, *c = low + l->dz, *d = low + l->dy + l->dz;
    float a0 = a[0] + at[2] * (c[0] - a[0]), a1 = a[1] + at[2] * (c[1] - a[1]);
    float b0 = b[0] + at[2] * (d[0] - b[0]), b1 = b[1] + at[2] * (d[1] - b[1]);
    a0 += at[1] * (b0 - a0), a1 += at[1] * (b1 - a1);
    return a0 + at[0] * (a1 - a0);
}

static void find_way(const ty_particle* p, const ty_way_lattice* l, int64_t low, int64_t i,
                     float way[3])
{
    const int64_t stride[3] = {1, l->dy, l->dz};
    const float place[3] = {p->now.place[0].at[i], p->now.place[1].at[i], p->now.place[2].at[i]};
    for (int axis = 0; axis < 3; ++axis) {
        float at[3] = {place[0], place[1], place[2]};
        bool upper = place[axis] >= 0.5f;
        at[axis] += upper ? -0.5f : 0.5f;
        const float* from = p->way.at + axis * l->size + low + (upper ? stride[axis] : 0);
        way[axis] = component(from, l, at);
    }
}

static void move_one(motion* m, int64_t i, const float way[3])
{
    ty_particle* p = m->p;
    double x[3], to[3];
    ty_particle_place(p, i, x);
    for (int axis = 0; axis < 3; ++axis) to[axis] = x[axis] + p->ls->grid.cell * (double)way[axis];
    bool gone = ty_particle_left(p->ls, to) || !ty_levelset_push_out(p->ls, to);
    if (!gone && memcmp(x, to, sizeof x) == 0) return;    // not even rounding moves still water
    gone = gone || went_through(p->ls, m->dt, x, to);
    if (gone || !ty_particle_put(p, i, to)) p->now.radius.at[i] = 0.0f;
}

// The domain's sides from a cell's lowest centre, in cells.
typedef struct room {
    float low[3], high[3];
} room;

static room room_around(const ty_levelset* ls, int cell)
{
    const ty_grid* g = &ls->grid;
    int row = cell / g->n[0];
    const int ijk[3] = {cell - row * g->n[0], row % g->n[1], row / g->n[1]};
    room r;
    for (int axis = 0; axis < 3; ++axis) {
        double at = g->origin[axis] + g->cell * (ijk[axis] + 0.5);
        r.low[axis] = (float)((ls->lo[axis] - at) / g->cell);
        r.high[axis] = (float)((ls->hi[axis] - at) / g->cell);
    }
    return r;
}

// The same in cells, where only the domain's sides are in the way.
static void move_freely(ty_particle* p, int64_t i, const float way[3], const room* r)
{
    const ty_levelset* ls = p->ls;
    bool gone = false;
    int64_t cell = p->now.cell.at[i];
    for (int axis = 0; axis < 3; ++axis) {
        float* place = &p->now.place[axis].at[i];
        float to = *place + way[axis], low = r->low[axis], high = r->high[axis];
        gone |= !(to >= low || ls->closed_side[2 * axis]);
        gone |= !(to <= high || ls->closed_side[2 * axis + 1]);
        to = to > low ? to : low;    // also where it is not a number
        to = to < high ? to : high;
        float base = floorf(to), rest = to - base;
        bool next = rest >= 1.0f;    // rounded up
        *place = next ? 0.0f : rest;
        cell += ((int)base + next) * ty_grid_stride(&ls->grid, axis);
    }
    if (gone) p->now.radius.at[i] = 0.0f;
    else p->now.cell.at[i] = (int)cell;
}

static void move_block(void* ctx, ty_range r)
{
    motion* m = ctx;
    ty_particle* p = m->p;
    ty_way_lattice l = ty_particle_lattice(&p->ls->grid);
    room around = {.low = {0}};
    int64_t low = 0;
    for (int64_t i = r.begin, last = -1; i < r.end; ++i) {
        float way[3];
        int cell = p->now.cell.at[i];
        if (p->now.radius.at[i] == 0.0f) continue;
        if (cell != last) {
            low = ty_particle_face(&p->ls->grid, cell);
            around = room_around(p->ls, cell);
            last = cell;
        }
        find_way(p, &l, low, i, way);
        if (p->ls->has_obstacles) move_one(m, i, way);
        else move_freely(p, i, way, &around);
    }
}

void ty_particle_move(ty_particle* p, double dt)
{
    motion m = {p, dt};
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, move_block, &m);
}
