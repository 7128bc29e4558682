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

enum { BLOCK = 4096, TRACE_BLOCK = 8192 };

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

static void face_center(const ty_grid* g, const ty_way_lattice* l, int64_t face, double x[3])
{
    int axis = (int)(face / l->size);
    int64_t at = face - axis * l->size, row = at / l->dy, plane = at / l->dz;
    const int64_t ijk[3] = {at - row * l->dy, row - plane * (l->dz / l->dy), plane};
    for (int d = 0; d < 3; ++d)
        x[d] = g->origin[d] + g->cell * ((double)ijk[d] + (d == axis ? 0.0 : 0.5));
}

static void trace_faces(const job* j, int n, const int64_t* face)
{
    ty_particle* p = j->p;
    ty_way_lattice l = ty_particle_lattice(&p->ls->grid);
    double x[TY_SAMPLE_BATCH][3], to[TY_SAMPLE_BATCH][3], per_cell = 1.0 / p->ls->grid.cell;
    for (int k = 0; k < n; ++k) face_center(&p->ls->grid, &l, face[k], x[k]);
    ty_trace_forward(j->flow, j->dt, n, (const double(*)[3])x, to);
    for (int k = 0; k < n; ++k) {
        int axis = (int)(face[k] / l.size);
        p->way.at[face[k]] = (float)((to[k][axis] - x[k][axis]) * per_cell);
    }
}

static void trace_block(void* ctx, ty_range r)
{
    const job* j = ctx;
    int64_t face[TY_SAMPLE_BATCH];
    int n = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        if (!j->p->asked.at[i]) continue;
        face[n++] = i;
        if (n == TY_SAMPLE_BATCH) trace_faces(j, n, face), n = 0;
    }
    if (n) trace_faces(j, n, face);
}

ty_status ty_particle_ways(ty_particle* p, const ty_flow* flow, double dt)
{
    job j = {p, flow, dt};
    int64_t faces = 3 * ty_particle_lattice(&p->ls->grid).size;
    if (!ty_array_resize(&p->way, faces) || !ty_array_resize(&p->asked, faces))
        return ty_no_memory("ways of particles");
    memset(p->asked.at, 0, (size_t)faces);
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, mark_block, &j);
    ty_parallel_for(faces, TRACE_BLOCK, trace_block, &j);
    return ty_ok();
}
