// SPDX-License-Identifier: Apache-2.0
// The pressure at the free surface. Gravity -grad Phi, Phi = -g . x, never goes into velocities:
// with p' = p + rho Phi the surface has p' = rho (Phi - its mean) + sigma kappa (tension.c), and the
// right-hand side of a still pool is zero.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/motion.h"

enum { BLOCK = 512 };

typedef struct give_job {
    ty_tetflow* tf;
    ty_tet_motion *m, *old;
    ty_vec3 gravity;
    double level;
    bool physical;
} give_job;

// Deep in solids, where nothing flows, vertices may count as air: they have no part in the mean.
static bool is_seen(const give_job* job, int64_t v)
{
    enum { SEEN = TY_VERT_AIR | TY_VERT_LIVE };
    return (job->m->state.vert_kind.at[v] & SEEN) == SEEN;
}

static double level_block(void* ctx, ty_range r)
{
    const give_job* job = ctx;
    double sum = 0.0;
    for (int64_t v = r.begin; v < r.end; ++v)
        if (is_seen(job, v)) sum += ty_dot(job->gravity, ty_load3(job->m->state.mesh.vert[v]));
    return sum;
}

static double count_block(void* ctx, ty_range r)
{
    const give_job* job = ctx;
    int n = 0;
    for (int64_t v = r.begin; v < r.end; ++v) n += is_seen(job, v);
    return n;
}

// Vertices under the surface start from the pressure that was there. `acting`: what of it the liquid
// has carried there.
static void guess(const give_job* job, int n, const double (*x)[3], double* out, double* acting)
{
    ty_tet_place place[BLOCK];
    ty_tet_locate(job->old, n, x, place);
    ty_tet_sample_scalar(job->old, job->old->state.pressure.at, n, place, out);
    if (job->old->carried.n) ty_tet_sample_scalar(job->old, job->old->carried.at, n, place, acting);
    for (int i = 0; i < n; ++i) {
        double outside = place[i].tet < 0 ? 0.0 : 1.0;
        ty_vec3 at = ty_load3(x[i]);
        double full = outside * (out[i] + ty_dot(job->old->gravity, at) - job->old->level);
        out[i] = full + job->level - ty_dot(job->gravity, at);
    }
}

static void give_block(void* ctx, ty_range r)
{
    const give_job* job = ctx;
    ty_tet_state* s = &job->m->state;
    const double(*x)[3] = (const double(*)[3])s->mesh.vert + r.begin;
    int n = (int)(r.end - r.begin);
    double first[BLOCK] = {0}, acting[BLOCK] = {0};
    if (job->physical && job->old->state.mesh.n_tets) guess(job, n, x, first, acting);
    if (job->m->acting.n) memcpy(job->m->acting.at + r.begin, acting, (size_t)n * sizeof *acting);
    for (int i = 0; i < n; ++i) {
        int64_t v = r.begin + i;
        double given = 0.0;
        if (job->physical && s->vert_kind.at[v] & TY_VERT_AIR) {
            given = job->level - ty_dot(job->gravity, ty_load3(x[i]));
            first[i] = given;
        }
        s->given.at[v] = given;
        s->pressure.at[v] = first[i];
    }
}

// Where gravity is a force the unknown is the full pressure, which is that of tension at the
// surface. Inside walls its vertices may be off it: contact.c has continued p' to them, and of that
// the full pressure is made.
static void full_block(void* ctx, ty_range r)
{
    const give_job* job = ctx;
    ty_tet_state* s = &job->m->state;
    for (int64_t v = r.begin; v < r.end; ++v) {
        double more = ty_dot(job->gravity, ty_load3(s->mesh.vert[v])) - job->level;
        if (s->vert_kind.at[v] & TY_VERT_AIR) s->given.at[v] += more;
        s->pressure.at[v] += more;
    }
}

ty_status ty_tetflow_give(ty_tetflow* tf, const ty_liquid* liquid, bool physical)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    int n = m->state.mesh.n_verts;
    if (!ty_array_resize(&m->state.given, n) || !ty_array_resize(&m->state.pressure, n) ||
        !ty_array_resize(&m->acting, tf->carries ? n : 0))
        return ty_no_memory("pressures");
    give_job job = {.tf = tf, .m = m, .old = ty_tetflow_old(tf), .physical = physical};
    job.gravity = ty_world_gravity(tf->world);
    double air = ty_parallel_sum(n, BLOCK, count_block, &job);
    job.level = air > 0.0 ? ty_parallel_sum(n, BLOCK, level_block, &job) / air : 0.0;
    ty_parallel_for(n, BLOCK, give_block, &job);
    bool reduced = tf->def->reduced_pressure;
    m->gravity = reduced ? job.gravity : ty_vec(0, 0, 0);
    m->level = reduced ? job.level : 0.0;
    if (!physical) return ty_ok();
    TY_TRY(ty_tetflow_tension(tf, liquid));
    TY_TRY(ty_tetflow_contact(tf));
    if (!reduced) ty_parallel_for(n, BLOCK, full_block, &job);
    return ty_ok();
}
