// SPDX-License-Identifier: Apache-2.0
// The pressure at the free surface. Gravity -grad Phi, Phi = -g . x, never goes into velocities:
// with p' = p + rho Phi the surface has p' = rho (Phi - its mean) + sigma kappa, and the right-hand
// side of a still pool is zero.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/motion.h"

enum { BLOCK = 512 };
// Cells: step of the differences that give the surface's curvature
static const double BEND_STEP = 1.0;
static const double MOST_BENT = 2.0;    // per cell: no drop is rounder

typedef struct give_job {
    ty_tetflow* tf;
    ty_tet_motion *m, *old;
    const ty_sampler* distance;
    ty_vec3 gravity;
    double level, tension;    // tension: sigma / rho
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

// div (grad phi / |grad phi|) by central differences: twice the mean curvature, positive for drops.
static double curvature(const ty_sampler* distance, ty_vec3 x, double step)
{
    static const int8_t at[19][3] = {{0, 0, 0},   {1, 0, 0},  {-1, 0, 0}, {0, 1, 0},  {0, -1, 0},
                                     {0, 0, 1},   {0, 0, -1}, {1, 1, 0},  {1, -1, 0}, {-1, 1, 0},
                                     {-1, -1, 0}, {1, 0, 1},  {1, 0, -1}, {-1, 0, 1}, {-1, 0, -1},
                                     {0, 1, 1},   {0, 1, -1}, {0, -1, 1}, {0, -1, -1}};
    double p[19][3], f[19];
    for (int i = 0; i < 19; ++i) ty_store3(p[i], x + step * ty_vec(at[i][0], at[i][1], at[i][2]));
    ty_sample(distance, 19, (const double(*)[3])p, f);
    ty_vec3 g = ty_vec(f[1] - f[2], f[3] - f[4], f[5] - f[6]) / (2.0 * step);
    double s2 = step * step, xx = (f[1] + f[2] - 2.0 * f[0]) / s2,
           yy = (f[3] + f[4] - 2.0 * f[0]) / s2;
    double zz = (f[5] + f[6] - 2.0 * f[0]) / s2, xy = (f[7] - f[8] - f[9] + f[10]) / (4.0 * s2);
    double xz = (f[11] - f[12] - f[13] + f[14]) / (4.0 * s2),
           yz = (f[15] - f[16] - f[17] + f[18]) / (4.0 * s2);
    double g2 = ty_dot(g, g);
    if (!(g2 > 0.0)) return 0.0;
    double along = g[0] * g[0] * xx + g[1] * g[1] * yy + g[2] * g[2] * zz +
                   2.0 * (g[0] * g[1] * xy + g[0] * g[2] * xz + g[1] * g[2] * yz);
    return (xx + yy + zz - along / g2) / sqrt(g2);
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
            double h = job->tf->def->cell, most = MOST_BENT / h;
            if (job->tension > 0.0)
                given += job->tension *
                         ty_clamp(curvature(job->distance, ty_load3(x[i]), BEND_STEP * h), -most,
                                  most);
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
    give_job job = {.tf = tf,
                    .m = m,
                    .old = ty_tetflow_old(tf),
                    .distance = &liquid->distance,
                    .physical = physical};
    job.gravity = ty_world_gravity(tf->world);
    job.tension = tf->def->surface_tension / tf->def->density;
    double air = ty_parallel_sum(n, BLOCK, count_block, &job);
    job.level = air > 0.0 ? ty_parallel_sum(n, BLOCK, level_block, &job) / air : 0.0;
    ty_parallel_for(n, BLOCK, give_block, &job);
    bool reduced = tf->def->reduced_pressure;
    m->gravity = reduced ? job.gravity : ty_vec(0, 0, 0);
    m->level = reduced ? job.level : 0.0;
    if (!physical) return ty_ok();
    TY_TRY(ty_tetflow_contact(tf));
    if (!reduced) ty_parallel_for(n, BLOCK, full_block, &job);
    return ty_ok();
}
