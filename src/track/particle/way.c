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

enum { BLOCK = 4096, ROW_BLOCK = 128, BATCH = TY_SAMPLE_BATCH, MOST_PIECES = 64 };

typedef struct job {
    ty_particle* p;
    const ty_flow* flow;
    double dt;
    bool on_lattice;    // the flow's cells are those of the level set
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

// By the midpoint rule in pieces of at most a cell: of a flow that is known in the middle of the step
// only, a higher order would tell no more.
static void follow(const job* j, const asked_faces* f, double (*to)[3])
{
    double at[BATCH][3], v[BATCH][3], h = j->p->ls->grid.cell;
    int id[BATCH], pieces[BATCH], n = f->n;
    memcpy(to, f->x, (size_t)n * sizeof *to);
    for (int i = 0; i < n; ++i) id[i] = i;
    for (int done = 0; n > 0; ++done) {
        int left = 0;
        for (int i = 0; i < n; ++i) memcpy(at[i], to[id[i]], sizeof at[i]);
        ty_sample(&j->flow->middle, n, (const double(*)[3])at, v[0]);
        for (int i = 0; i < n && done == 0; ++i) {
            double cells = ty_norm(ty_load3(v[i])) * j->dt / h;
            pieces[i] = cells > 1.0 ? (int)ty_min(ceil(cells), MOST_PIECES) : 1;
        }
        for (int i = 0; i < n; ++i)
            ty_store3(at[i], ty_load3(at[i]) + 0.5 * j->dt / pieces[id[i]] * ty_load3(v[i]));
        ty_sample(&j->flow->middle, n, (const double(*)[3])at, v[0]);
        for (int i = 0; i < n; ++i) {
            double* end = to[id[i]];
            ty_store3(end, ty_load3(end) + j->dt / pieces[id[i]] * ty_load3(v[i]));
            if (done + 1 < pieces[id[i]]) id[left++] = id[i];
        }
        n = left;
    }
}

static void trace_faces(const job* j, asked_faces* f)
{
    ty_particle* p = j->p;
    double to[BATCH][3], per_cell = 1.0 / p->ls->grid.cell;
    if (j->on_lattice) follow(j, f, to);
    else ty_trace_forward(j->flow, j->dt, f->n, (const double(*)[3])f->x, to);
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
    job j = {p, flow, dt, ty_levelset_on_lattice(p->ls, flow, dt)};
    int64_t faces = 3 * ty_particle_lattice(&p->ls->grid).size;
    if (!ty_array_resize(&p->way, faces) || !ty_array_resize(&p->asked, faces))
        return ty_no_memory("ways of particles");
    memset(p->asked.at, 0, (size_t)faces);
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, mark_block, &j);
    ty_parallel_for(faces / (p->ls->grid.n[0] + 1), ROW_BLOCK, trace_rows, &j);
    return ty_ok();
}
