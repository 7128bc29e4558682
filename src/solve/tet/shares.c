// SPDX-License-Identifier: Apache-2.0
// Solids on the mesh: open shares of tets, velocities in their closed parts, kinds of vertices. Obstacles and closed
// sides of a domain are embedded: the mesh runs on into them and ends TY_TET_DEPTH cells deep.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/tetflow.h"

enum { BLOCK = TY_SAMPLE_BATCH };

// Distances below this share of a cell count as 0: a wall in a plane of mesh faces cuts no slivers.
static const double SNAP = 1e-6;
// A closed share below this is none: a face beside it would give up its own pressure for nothing.
static const double UNCUT = 1e-6;
// Boundary vertices that lie deeper in a solid than this (cells), and in the liquid, are where the mesh just ends.
// It does so TY_TET_DEPTH deep, and cut tets reach one cell deep, so nothing flows at vertices in doubt.
static const double DEEP = 1.25;
// How far from its zero (cells) the liquid's distance may be at a vertex on it: the mesher's steps leave less.
static const double ON_SURFACE = 0.05;

typedef struct shares_job {
    ty_tet_state* s;
    ty_sampler solid, velocity;
    double cell;
    bool moves;
} shares_job;

static void sample_solid(void* ctx, ty_range r)
{
    const shares_job* job = ctx;
    double* d = job->s->solid.at + r.begin;
    int n = (int)(r.end - r.begin);
    ty_sample(&job->solid, n, (const double(*)[3])job->s->mesh.vert + r.begin, d);
    for (int i = 0; i < n; ++i)
        if (fabs(d[i]) < SNAP * job->cell) d[i] = 0.0;
}

// The centre of what lies inside the solid.
static ty_vec3 closed_centre(const ty_tet_mesh* m, int tet, const ty_open_part* part)
{
    ty_vec3 x = ty_vec(0, 0, 0);
    double closed = 1.0 - part->share;
    for (int i = 0; i < 4; ++i) x += (0.25 - part->moment[i]) / closed * ty_load3(m->vert[m->tet[tet][i]]);
    return x;
}

static void share_block(void* ctx, ty_range r)
{
    shares_job* job = ctx;
    ty_tet_state* s = job->s;
    int cut[BLOCK], n_cut = 0;
    double x[BLOCK][3], v[BLOCK][3];
    for (int64_t t = r.begin; t < r.end; ++t) {
        double d[4];
        for (int i = 0; i < 4; ++i) d[i] = s->solid.at[s->mesh.tet[t][i]];
        ty_open_part part = ty_tet_open_part(d);
        bool whole = part.share > 1.0 - UNCUT, dropped = part.share < TY_TET_DROPPED;
        s->open.at[t] = whole ? 1.0 : dropped ? 0.0 : part.share;
        s->solid_velocity.at[t] = ty_vec(0, 0, 0);
        if (whole || !job->moves) continue;
        ty_store3(x[n_cut], closed_centre(&s->mesh, (int)t, &part));
        cut[n_cut++] = (int)t;
    }
    if (n_cut == 0) return;
    ty_sample(&job->velocity, n_cut, (const double(*)[3])x, v[0]);
    for (int k = 0; k < n_cut; ++k) s->solid_velocity.at[cut[k]] = ty_load3(v[k]);
}

static void mark_around(ty_tet_state* s)
{
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        uint8_t kind = (uint8_t)((s->open.at[t] < 1.0 ? TY_VERT_WALL : 0) | (s->open.at[t] > 0.0 ? TY_VERT_LIVE : 0));
        for (int i = 0; i < 4; ++i) s->vert_kind.at[s->mesh.tet[t][i]] |= kind;
    }
}

// Air vertices belong to a boundary face, and the mesh ends there because the liquid does. `f` is the liquid's
// distance at vertices from n_inner on.
static void mark_air(const shares_job* job, const double* f)
{
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    for (int face = m->n_inner_faces; face < m->n_faces; ++face) {
        int t = m->face_tet[face][0];
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            if (m->tet_face[t][i] == face || v < m->n_inner) continue;
            bool ends = s->solid.at[v] < -DEEP * job->cell && f[v - m->n_inner] < -ON_SURFACE * job->cell;
            if (!ends) s->vert_kind.at[v] |= TY_VERT_AIR;
        }
    }
}

typedef struct sample_job {
    const ty_sampler* sampler;
    const double (*x)[3];
    double* out;
} sample_job;

static void sample_block(void* ctx, ty_range r)
{
    const sample_job* job = ctx;
    ty_sample(job->sampler, (int)(r.end - r.begin), job->x + r.begin, job->out + r.begin);
}

static ty_status resize(ty_tet_state* s)
{
    const ty_tet_mesh* m = &s->mesh;
    // `pressure` comes in with the last step's values where there are any.
    if (!ty_array_resize(&s->solid, m->n_verts) || !ty_array_resize(&s->open, m->n_tets) ||
        !ty_array_resize(&s->solid_velocity, m->n_tets) || !ty_array_resize(&s->vert_kind, m->n_verts) ||
        !ty_array_resize(&s->outflow, m->n_verts))
        return ty_no_memory("open shares");
    return ty_ok();
}

ty_status ty_tet_shares(ty_tet_state* s, const ty_sampler* liquid_distance, const ty_world* world, double cell)
{
    const ty_tet_mesh* m = &s->mesh;
    TY_TRY(resize(s));
    shares_job job = {.s = s, .cell = cell, .solid = ty_world_solid(world), .velocity = ty_world_solid_velocity(world)};
    job.moves = ty_world_solid_speed(world) > 0.0;
    ty_parallel_for(m->n_verts, BLOCK, sample_solid, &job);
    ty_parallel_for(m->n_tets, BLOCK, share_block, &job);
    if (m->n_verts) memset(s->vert_kind.at, 0, (size_t)m->n_verts);
    mark_around(s);
    // The outflow is set by the projection only; until then it lends its memory.
    sample_job sample = {liquid_distance, (const double(*)[3])m->vert + m->n_inner, s->outflow.at};
    ty_parallel_for(m->n_verts - m->n_inner, BLOCK, sample_block, &sample);
    mark_air(&job, s->outflow.at);
    return ty_ok();
}
