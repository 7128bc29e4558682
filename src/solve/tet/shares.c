// SPDX-License-Identifier: Apache-2.0
// Solids on the mesh: open shares of tets, velocities in their closed parts, kinds of vertices. Obstacles and closed
// sides of a domain are embedded: the mesh runs on into them and ends TY_TET_DEPTH cells deep.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/tetflow.h"

enum { BLOCK = TY_SAMPLE_BATCH, PLACES = 5, VELOCITY_BLOCK = 100 };

// Distances below this share of a cell count as 0: a wall in a plane of mesh faces cuts no slivers.
static const double SNAP = 1e-6;
// A closed share below this is rounding.
static const double UNCUT = 1e-12;
// Boundary vertices that lie deeper in a solid than this (cells), and in the liquid, are where the mesh just ends.
static const double DEEP = 1.0;
// How far from its zero (cells) the liquid's distance may be at a vertex on it: the mesher's steps leave less.
static const double ON_SURFACE = 0.05;

// Velocities that differ by more than this share are those of two solids.
static const double ANOTHER = 0.5;

typedef struct shares_job {
    ty_tet_state* s;
    ty_sampler solid, velocity;
    double cell;
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

// Where solids are asked for their velocity in a tet: at the wall (or the centre, when it is dropped) and at the
// vertices. False for tets without a solid.
static bool solid_places(const ty_tet_state* s, int tet, double out[PLACES][3], ty_vec3* area)
{
    ty_vec3 x[4], at = ty_vec(0, 0, 0);
    double d[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = ty_load3(s->mesh.vert[s->mesh.tet[tet][i]]);
        d[i] = s->solid.at[s->mesh.tet[tet][i]];
        ty_store3(out[1 + i], x[i]);
    }
    ty_wall_part wall = ty_tet_wall_part(d, x);
    bool dropped = s->open.at[tet] == 0.0;
    if (!dropped && ty_dot(wall.area, wall.area) == 0.0) return false;
    for (int i = 0; i < 4; ++i) at += (dropped ? 0.25 : wall.centre[i]) * x[i];
    ty_store3(out[0], at);
    *area = dropped ? ty_vec(0, 0, 0) : wall.area;
    return true;
}

// The velocity at the wall. Where two solids meet in a tet (a piston and its cylinder) it is that of the one that
// pushes: the other's surface slides along, so what the whole wall sweeps is what the first one does.
static ty_vec3 wall_velocity(const double v[PLACES][3], ty_vec3 area)
{
    ty_vec3 here = ty_load3(v[0]), best = here;
    for (int i = 1; i < PLACES; ++i) {
        ty_vec3 other = ty_load3(v[i]);
        bool another = ty_norm(other - here) > ANOTHER * fmax(ty_norm(other), ty_norm(here));
        if (another && fabs(ty_dot(area, other)) > fabs(ty_dot(area, best))) best = other;
    }
    return best;
}

static void velocity_block(void* ctx, ty_range r)
{
    shares_job* job = ctx;
    ty_tet_state* s = job->s;
    int cut[VELOCITY_BLOCK], n = 0;
    double x[VELOCITY_BLOCK][PLACES][3], v[VELOCITY_BLOCK][PLACES][3];
    ty_vec3 area[VELOCITY_BLOCK];
    for (int64_t t = r.begin; t < r.end; ++t)
        if (solid_places(s, (int)t, x[n], &area[n])) cut[n++] = (int)t;
    if (n) ty_sample(&job->velocity, n * PLACES, (const double(*)[3])x[0], v[0][0]);
    for (int k = 0; k < n; ++k) s->solid_velocity.at[cut[k]] = wall_velocity((const double(*)[3])v[k], area[k]);
}

static void share_block(void* ctx, ty_range r)
{
    ty_tet_state* s = ((shares_job*)ctx)->s;
    for (int64_t t = r.begin; t < r.end; ++t) {
        double d[4];
        for (int i = 0; i < 4; ++i) d[i] = s->solid.at[s->mesh.tet[t][i]];
        double share = ty_tet_open_share(d);
        s->open.at[t] = share > 1.0 - UNCUT ? 1.0 : share < TY_TET_DROPPED ? 0.0 : share;
        s->solid_velocity.at[t] = ty_vec(0, 0, 0);
    }
}

static void mark_around(ty_tet_state* s)
{
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        double open = s->open.at[t];
        uint8_t kind = open == 1.0 ? TY_VERT_LIVE : open == 0.0 ? TY_VERT_WALL : TY_VERT_LIVE | TY_VERT_WALL | TY_VERT_CUT;
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

// Vertices near a solid lie on it, and no tet is cut.
static void conform(const shares_job* job)
{
    ty_tet_state* s = job->s;
    for (int v = 0; v < s->mesh.n_verts; ++v) {
        bool on = v >= s->mesh.n_inner && s->solid.at[v] < ON_SURFACE * job->cell;
        s->solid.at[v] = on ? 0.0 : ty_max(s->solid.at[v], SNAP * job->cell);
        s->vert_kind.at[v] = TY_VERT_LIVE | (on ? TY_VERT_SOLID : 0);
    }
    // Four vertices on a solid would leave nothing open.
    for (int t = 0; t < s->mesh.n_tets; ++t) s->open.at[t] = 1.0, s->solid_velocity.at[t] = ty_vec(0, 0, 0);
}

static void mark_conforming_air(const shares_job* job, const double* f, bool paper_air)
{
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    for (int v = m->n_inner; v < m->n_verts; ++v)
        if (!paper_air && fabs(f[v - m->n_inner]) < ON_SURFACE * job->cell) s->vert_kind.at[v] |= TY_VERT_AIR;
    for (int face = m->n_inner_faces; face < m->n_faces && paper_air; ++face) {
        int t = m->face_tet[face][0];
        bool solid = true;
        for (int i = 0; i < 4; ++i)
            if (m->tet_face[t][i] != face) solid &= (s->vert_kind.at[m->tet[t][i]] & TY_VERT_SOLID) != 0;
        for (int i = 0; i < 4 && !solid; ++i)
            if (m->tet_face[t][i] != face) s->vert_kind.at[m->tet[t][i]] |= TY_VERT_AIR;
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
    ty_parallel_for(m->n_verts, BLOCK, sample_solid, &job);
    ty_parallel_for(m->n_tets, BLOCK, share_block, &job);
    if (ty_world_solid_moves(world) || ty_world_solid_speed(world) > 0.0)
        ty_parallel_for(m->n_tets, VELOCITY_BLOCK, velocity_block, &job);
    if (m->n_verts) memset(s->vert_kind.at, 0, (size_t)m->n_verts);
    mark_around(s);
    // The outflow is set by the projection only; until then it lends its memory.
    sample_job sample = {liquid_distance, (const double(*)[3])m->vert + m->n_inner, s->outflow.at};
    ty_parallel_for(m->n_verts - m->n_inner, BLOCK, sample_block, &sample);
    mark_air(&job, s->outflow.at);
    return ty_ok();
}

ty_status ty_tet_shares_conform(ty_tet_state* s, const ty_sampler* liquid_distance, const ty_world* world, double cell,
                                bool paper_air)
{
    const ty_tet_mesh* m = &s->mesh;
    TY_TRY(resize(s));
    shares_job job = {.s = s, .cell = cell, .solid = ty_world_solid(world), .velocity = ty_world_solid_velocity(world)};
    ty_parallel_for(m->n_verts, BLOCK, sample_solid, &job);
    conform(&job);
    if (ty_world_solid_moves(world) || ty_world_solid_speed(world) > 0.0)
        ty_parallel_for(m->n_tets, VELOCITY_BLOCK, velocity_block, &job);
    sample_job sample = {liquid_distance, (const double(*)[3])m->vert + m->n_inner, s->outflow.at};
    ty_parallel_for(m->n_verts - m->n_inner, BLOCK, sample_block, &sample);
    mark_conforming_air(&job, s->outflow.at, paper_air);
    return ty_ok();
}
