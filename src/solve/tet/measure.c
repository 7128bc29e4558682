// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/motion.h"

enum { BLOCK = 1024 };

// dt <= 0.5 sqrt(h/g): beyond 0.75 waves as long as a cell grow, and liquid that starts to fall gains energy
// (0.3 % of all in the first three steps of a dam break of 32 cells, 0.05 % with 0.5).
static const double WAVE_STEP = 0.5;
// The same for capillary waves, dt <= 0.4 sqrt(rho h^3 / sigma).
static const double CAPILLARY_STEP = 0.4;

typedef struct moving_job {
    ty_tet_motion* m;
    ty_sampler distance, thickening;
    const ty_world_def* world;
    double* depth;     // per vertex, infinite where not asked; NULL: the mesh is the liquid
    uint8_t* asked;    // per vertex
} moving_job;

static double energy_block(void* ctx, ty_range r)
{
    const ty_tet_motion* m = ctx;
    double sum = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t)
        sum += m->moving.at[t] * ty_dot(m->state.u.at[t], m->state.u.at[t]);
    return sum;
}

static double volume_block(void* ctx, ty_range r)
{
    const ty_tet_motion* m = ctx;
    double sum = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t) sum += m->moving.at[t];
    return sum;
}

static double live_block(void* ctx, ty_range r)
{
    const ty_tet_motion* m = ctx;
    int n = 0;
    for (int64_t t = r.begin; t < r.end; ++t) n += m->state.open.at[t] > 0.0;
    return n;
}

static double tet_speed_block(void* ctx, ty_range r)
{
    const ty_tet_motion* m = ctx;
    double top = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        if (m->state.open.at[t] == 0.0) continue;    // inside solids
        double square = ty_dot(m->state.u.at[t], m->state.u.at[t]);
        if (!(square <= top)) top = square;    // not a number is seen
    }
    return top;
}

static double skin_speed_block(void* ctx, ty_range r)
{
    const ty_tet_motion* m = ctx;
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n_boundary = mesh->n_verts - mesh->n_inner;
    double top = 0.0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        if (v < n_boundary && !(m->state.vert_kind.at[mesh->n_inner + v] & TY_VERT_LIVE)) continue;
        double square = ty_dot(m->u.skin.at[v], m->u.skin.at[v]);
        if (!(square <= top)) top = square;
    }
    return top;
}

static double step_limit(const ty_tetflow* tf)
{
    double h = tf->def->cell, g = ty_norm(ty_world_gravity(tf->world)),
           sigma = tf->def->surface_tension;
    double speed = ty_max(tf->max_speed, ty_world_solid_speed(tf->world)) + sqrt(5.0 * h * g);
    double limit = speed > 0.0 ? tf->def->cfl * h / speed : INFINITY;
    if (g > 0.0) limit = fmin(limit, WAVE_STEP * sqrt(h / g));
    if (sigma > 0.0)
        limit = fmin(limit, CAPILLARY_STEP * sqrt(tf->def->density * h * h * h / sigma));
    return limit;
}

static void thick_block(void* ctx, ty_range r)
{
    const moving_job* job = ctx;
    const double(*x)[3] = (const double(*)[3])job->m->state.mesh.vert + r.begin;
    ty_sample(&job->thickening, (int)(r.end - r.begin), x, job->depth + r.begin);
}

// All four vertices of tets at the boundary, or where the mesh is thicker than the liquid, are asked; not in solids.
static void ask_block(void* ctx, ty_range r)
{
    const moving_job* job = ctx;
    const ty_tet_mesh* mesh = &job->m->state.mesh;
    for (int64_t t = r.begin; t < r.end; ++t) {
        bool thick = false;
        for (int i = 0; i < 4 && job->m->state.open.at[t] > 0.0; ++i)
            thick |= mesh->tet[t][i] >= mesh->n_inner || job->depth[mesh->tet[t][i]] != 0.0;
        for (int i = 0; i < 4 && thick; ++i)
            __atomic_store_n(&job->asked[mesh->tet[t][i]], 1, __ATOMIC_RELAXED);
    }
}

static void depth_block(void* ctx, ty_range r)
{
    const moving_job* job = ctx;
    double x[TY_SAMPLE_BATCH][3], d[TY_SAMPLE_BATCH];
    int id[TY_SAMPLE_BATCH], n = 0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        job->depth[v] = INFINITY;
        if (!job->asked[v]) continue;
        memcpy(x[n], job->m->state.mesh.vert[v], sizeof x[0]);
        id[n++] = (int)v;
    }
    ty_sample(&job->distance, n, (const double(*)[3])x, d);
    for (int i = 0; i < n; ++i) job->depth[id[i]] = -d[i];
}

// A tet with a vertex that was not asked is in the liquid.
static double inside_share(const moving_job* job, const int tet[4])
{
    double d[4];
    for (int i = 0; i < 4; ++i) {
        d[i] = job->depth[tet[i]];
        if (d[i] == INFINITY) return 1.0;
    }
    return ty_tet_open_share(d);
}

// What of a tet the open sides of the domain leave: the mesh goes on beyond them, the liquid does not. Where two
// of them cut it, as if they did so independently.
static double share_within(const ty_world_def* w, const ty_tet_mesh* mesh, const int tet[4])
{
    double share = 1.0;
    for (int side = 0; w->has_domain && side < TY_N_SIDES; ++side) {
        int axis = side / 2;
        double d[4], least = INFINITY;
        for (int i = 0; i < 4 && !w->wall[side].closed; ++i) {
            double x = mesh->vert[tet[i]][axis];
            d[i] = side % 2 ? w->max[axis] - x : x - w->min[axis];
            least = ty_min(least, d[i]);
        }
        if (least < 0.0) share *= ty_tet_open_share(d);
    }
    return share;
}

static void moving_block(void* ctx, ty_range r)
{
    const moving_job* job = ctx;
    const ty_tet_state* s = &job->m->state;
    for (int64_t t = r.begin; t < r.end; ++t) {
        double inside = job->depth ? inside_share(job, s->mesh.tet[t]) : 1.0;
        inside *= share_within(job->world, &s->mesh, s->mesh.tet[t]);
        job->m->moving.at[t] = s->open.at[t] * inside * job->m->volume.at[t];
    }
}

static void find_depths(moving_job* job)
{
    const ty_tet_mesh* mesh = &job->m->state.mesh;
    memset(job->asked, !job->thickening.eval, (size_t)mesh->n_verts);
    if (job->thickening.eval) {
        ty_parallel_for(mesh->n_inner, TY_SAMPLE_BATCH, thick_block, job);
        ty_parallel_for(mesh->n_tets, BLOCK, ask_block, job);
    }
    ty_parallel_for(mesh->n_verts, TY_SAMPLE_BATCH, depth_block, job);
}

// The mesh may be thicker than the liquid (`filling`): only what is liquid has energy.
static ty_status find_moving(ty_tet_motion* m, const ty_world* world, const ty_liquid* liquid)
{
    moving_job job = {m, liquid->distance, liquid->thickening, ty_world_get_def(world), NULL, NULL};
    size_t n = (size_t)m->state.mesh.n_verts;
    if (!ty_array_resize(&m->moving, m->state.mesh.n_tets)) return ty_no_memory("tets");
    if (liquid->filling.eval) {
        job.depth = ty_alloc(n, sizeof *job.depth);
        job.asked = ty_alloc(n, 1);
        if (job.depth && job.asked) find_depths(&job);
    }
    bool ok = !liquid->filling.eval || (job.depth && job.asked);
    if (ok) ty_parallel_for(m->state.mesh.n_tets, BLOCK, moving_block, &job);
    ty_free(job.depth);
    ty_free(job.asked);
    return ok ? ty_ok() : ty_no_memory("tets");
}

bool ty_tet_at_walls(const ty_tet_state* s)
{
    bool any = false;
    for (int64_t v = 0; v < s->vert_kind.n && !any; ++v)
        any = s->vert_kind.at[v] & (TY_VERT_WALL | TY_VERT_SOLID);
    return any;
}

static double mean_energy(const ty_tetflow* tf, ty_tet_motion* m)
{
    int n = m->state.mesh.n_tets;
    double volume = ty_parallel_sum(n, BLOCK, volume_block, m);
    return volume > 0.0
               ? 0.5 * tf->def->density * ty_parallel_sum(n, BLOCK, energy_block, m) / volume
               : 0.0;
}

// After the projection, for what it takes is not known before; all velocities by one factor, so that they stay free of
// divergence and along walls. Solids are at rest (energy.h). In the open that would hold up what flies (carry.c).
ty_status ty_tetflow_hold(ty_tetflow* tf, const ty_liquid* liquid)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    ty_tet_state* s = &m->state;
    if (!(tf->slow.most < INFINITY) || !ty_tet_at_walls(s)) return ty_ok();
    TY_TRY(find_moving(m, tf->world, liquid));
    double energy = mean_energy(tf, m);
    if (!(energy > tf->slow.most)) return ty_ok();
    double keep = sqrt(fmax(tf->slow.most / energy, 1.0 - TY_SLOW_MOST_AT_ONCE));
    for (int64_t t = 0; t < s->u.n; ++t) s->u.at[t] *= keep;
    for (int64_t f = 0; f < s->flux.n; ++f) s->flux.at[f] *= keep;
    for (int64_t v = 0; v < s->outflow.n; ++v) s->outflow.at[v] *= keep;
    return ty_ok();
}

ty_status ty_tetflow_measure(ty_tetflow* tf, const ty_liquid* liquid, ty_solve_stats* stats)
{
    ty_tet_motion* m = ty_tetflow_old(tf);
    int n = m->state.mesh.n_tets;
    if (m->moving.n != n) TY_TRY(find_moving(m, tf->world, liquid));    // ty_tetflow_hold has
    double square = fmax(ty_parallel_max(n, BLOCK, tet_speed_block, m), 0.0);
    square = fmax(square, ty_parallel_max(m->skin.n_verts, BLOCK, skin_speed_block, m));
    tf->max_speed = sqrt(square);
    stats->moving_volume = ty_parallel_sum(n, BLOCK, volume_block, m);
    tf->dt_limit = ty_tetflow_before_impact(tf, stats->moving_volume, step_limit(tf));
    TY_TRY(ty_tet_band_make(&tf->band, m, tf->world, tf->dt_limit));
    stats->kinetic_energy = 0.5 * tf->def->density * ty_parallel_sum(n, BLOCK, energy_block, m);
    stats->cells = (int64_t)ty_parallel_sum(n, BLOCK, live_block, m);
    TY_TRY(ty_tetflow_witness(tf, liquid, stats));
    ty_array_free(&m->moving);
    ty_array_free(&m->state.given);
    ty_array_free(&m->state.flux);
    ty_array_free(&m->state.outflow);
    return ty_ok();
}
