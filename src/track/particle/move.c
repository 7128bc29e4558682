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

// The ways along an axis at the faces around a cell, before, in and after it, as functions of the
// places b, c along the next two axes: f[0] + f[1] b + f[2] c + f[3] b c.
typedef struct faces {
    float before[4], in[4], after[4];
} faces;

static void faces_around(const ty_particle* p, const ty_way_lattice* l, int64_t low, int axis,
                         faces* out)
{
    const int64_t stride[3] = {1, l->dy, l->dz};
    int64_t along = stride[axis], b = stride[(axis + 1) % 3], c = stride[(axis + 2) % 3];
    const float* at = p->way.at + axis * l->size + low;
    float* const to[3] = {out->before, out->in, out->after};
    for (int k = 0; k < 3; ++k, at += along) {
        to[k][0] = at[0];
        to[k][1] = at[b] - at[0];
        to[k][2] = at[c] - at[0];
        to[k][3] = at[b + c] - at[b] - (at[c] - at[0]);
    }
}

static inline float at_place(const float f[4], float b, float c)
{
    return f[0] + f[1] * b + (f[2] + f[3] * b) * c;
}

// Of n particles of one cell, whose places are from the i-th on.
static void find_ways(const ty_particle* p, const faces* f, int axis, int64_t i, int n, float* way)
{
    const float* restrict along = p->now.place[axis].at + i;
    const float* restrict b = p->now.place[(axis + 1) % 3].at + i;
    const float* restrict c = p->now.place[(axis + 2) % 3].at + i;
    float* restrict out = way;
    for (int k = 0; k < n; ++k) {
        float in = at_place(f->in, b[k], c[k]), up = along[k] - 0.5f;
        float low = in - at_place(f->before, b[k], c[k]),
              high = at_place(f->after, b[k], c[k]) - in;
        out[k] = in + (up < 0.0f ? up : 0.0f) * low + (up > 0.0f ? up : 0.0f) * high;
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

// The same along one axis, for n particles of one cell, in cells, where only the domain's sides are in
// the way. Adds to the cells' numbers.
static void move_along(ty_particle* p, const room* r, int axis, int64_t i, int n, const float* way)
{
    const ty_levelset* ls = p->ls;
    float* restrict place = p->now.place[axis].at + i;
    float* restrict radius = p->now.radius.at + i;
    int* restrict cell = p->now.cell.at + i;
    const float* restrict by = way;
    float low = r->low[axis], high = r->high[axis];
    // Beyond these it has left; a closed side holds it back.
    float least = ls->closed_side[2 * axis] ? -INFINITY : low;
    float most = ls->closed_side[2 * axis + 1] ? INFINITY : high;
    int stride = (int)ty_grid_stride(&ls->grid, axis);
    for (int k = 0; k < n; ++k) {
        float to = place[k] + by[k];
        int stays = (to >= least) & (to <= most);
        radius[k] = stays ? radius[k] : 0.0f;
        to = to > low ? to : low;    // also where it is not a number
        to = to < high ? to : high;
        int base = (int)to;
        base -= (float)base > to;
        float rest = to - (float)base;
        int next = rest >= 1.0f;    // rounded up
        place[k] = next ? 0.0f : rest;
        cell[k] += (base + next) * stride;
    }
}

// n particles of one cell, at most BLOCK.
static void move_run(motion* m, const ty_way_lattice* l, int64_t i, int n)
{
    ty_particle* p = m->p;
    int cell = p->now.cell.at[i];
    int64_t low = ty_particle_face(&p->ls->grid, cell);
    float way[3][BLOCK];
    for (int axis = 0; axis < 3; ++axis) {
        faces f;
        faces_around(p, l, low, axis, &f);
        find_ways(p, &f, axis, i, n, way[axis]);
    }
    if (!p->ls->has_obstacles) {
        room around = room_around(p->ls, cell);
        for (int axis = 0; axis < 3; ++axis) move_along(p, &around, axis, i, n, way[axis]);
        return;
    }
    for (int k = 0; k < n; ++k)
        if (p->now.radius.at[i + k] != 0.0f)
            move_one(m, i + k, (const float[3]){way[0][k], way[1][k], way[2][k]});
}

// Runs of particles of the same cell; their order gives long ones.
static void move_block(void* ctx, ty_range r)
{
    motion* m = ctx;
    ty_way_lattice l = ty_particle_lattice(&m->p->ls->grid);
    for (int64_t i = r.begin, end; i < r.end; i = end) {
        end = ty_swarm_run(&m->p->now, i, r.end);
        move_run(m, &l, i, (int)(end - i));
    }
}

void ty_particle_move(ty_particle* p, double dt)
{
    motion m = {p, dt};
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, move_block, &m);
}
