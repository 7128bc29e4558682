// SPDX-License-Identifier: Apache-2.0
// How far the flow takes a point in a step, found once for all particles around it. Each component
// is traced from the centres of the faces normal to its axis, where a grid's velocities are, and
// particles take it trilinearly from there: short steps go by the very velocity the flow has
// at the particle, walls included.
//
//      +---v---+---v---+      u, v   where ways along x, y begin
//      |       |       |      o      centre of a cell; face i along an axis lies below centre i
//      u   o   u   o   u
//
// Departs: [Enright2002] traces every particle. Only faces around cells that have particles are
// traced, fewer than there are particles.
#include <string.h>

#include "core/parallel.h"
#include "track/particle/particle.h"
#include "world/trace.h"

enum { BLOCK = 4096, ROW_BLOCK = 128, BATCH = TY_SAMPLE_BATCH };

typedef struct job {
    ty_particle* p;
    const ty_flow* flow;
    double dt;
} job;

// The faces that a particle of the cell may ask: 3 along the component's axis, 2 along the others.
static void mark_cell(ty_particle* p, int64_t cell)
{
    ty_way_lattice l = ty_particle_lattice(&p->ls->grid);
    int64_t low = ty_particle_face(&p->ls->grid, cell);
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 0; k < (axis == 2 ? 3 : 2); ++k)
            for (int j = 0; j < (axis == 1 ? 3 : 2); ++j)
                for (int i = 0; i < (axis == 0 ? 3 : 2); ++i) {
                    int64_t face = axis * l.size + low + i + j * l.dy + k * l.dz;
                    __atomic_store_n(&p->asked.at[face], 1, __ATOMIC_RELAXED);
                }
}

static void mark_block(void* ctx, ty_range r)
{
    ty_particle* p = ((job*)ctx)->p;
    for (int64_t i = r.begin, marked = -1; i < r.end; ++i) {
        int cell = p->now.cell.at[i];
        if (p->now.radius.at[i] == 0.0f || cell == marked) continue;
        mark_cell(p, cell);
        marked = cell;
    }
}

// Faces of one axis that are asked.
typedef struct asked_faces {
    int n, axis;
    int64_t face[BATCH];
    double x[BATCH][3];
} asked_faces;

static void trace_faces(const job* j, asked_faces* f)
{
    ty_particle* p = j->p;
    double to[BATCH][3], per_cell = 1.0 / p->ls->grid.cell;
    ty_trace_forward(j->flow, j->dt, f->n, (const double(*)[3])f->x, to);
    for (int k = 0; k < f->n; ++k)
        p->way.at[f->face[k]] = (float)((to[k][f->axis] - f->x[k][f->axis]) * per_cell);
    f->n = 0;
}

// A row of faces from `first` on, the j-th of its plane.
static void trace_row(const job* work, asked_faces* f, int64_t first, int64_t j, int64_t plane)
{
    const ty_grid* g = &work->p->ls->grid;
    const uint8_t* asked = work->p->asked.at + first;
    double off[3] = {0.5, 0.5, 0.5};
    off[f->axis] = 0.0;
    for (int i = 0; i <= g->n[0]; ++i) {
        if (!asked[i]) continue;
        f->face[f->n] = first + i;
        f->x[f->n][0] = g->origin[0] + g->cell * (i + off[0]);
        f->x[f->n][1] = g->origin[1] + g->cell * ((double)j + off[1]);
        f->x[f->n][2] = g->origin[2] + g->cell * ((double)plane + off[2]);
        if (++f->n == BATCH) trace_faces(work, f);
    }
}

static void trace_rows(void* ctx, ty_range r)
{
    const job* j = ctx;
    ty_way_lattice l = ty_particle_lattice(&j->p->ls->grid);
    int64_t rows = l.dz / l.dy, per_axis = l.size / l.dy;
    asked_faces f;
    f.n = 0;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int axis = (int)(row / per_axis);
        if (f.n && axis != f.axis) trace_faces(j, &f);
        f.axis = axis;
        int64_t in = row - axis * per_axis;
        if (memchr(j->p->asked.at + row * l.dy, 1, (size_t)l.dy))
            trace_row(j, &f, row * l.dy, in % rows, in / rows);
    }
    if (f.n) trace_faces(j, &f);
}

ty_status ty_particle_ways(ty_particle* p, const ty_flow* flow, double dt)
{
    job j = {p, flow, dt};
    int64_t faces = 3 * ty_particle_lattice(&p->ls->grid).size;
    if (!ty_array_resize(&p->way, faces) || !ty_array_resize(&p->asked, faces))
        return ty_no_memory("ways of particles");
    memset(p->asked.at, 0, (size_t)faces);
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, mark_block, &j);
    ty_parallel_for(faces / (p->ls->grid.n[0] + 1), ROW_BLOCK, trace_rows, &j);
    return ty_ok();
}
