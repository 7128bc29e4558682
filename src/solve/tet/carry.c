// SPDX-License-Identifier: Apache-2.0
// Velocities carried along the flow, to the tets of the liquid's new place.
//
// With a carried acceleration (theta < 1) the foot y of x is that of world/trace.h, the tracker's
// own rule, and u + (1 - theta) dt a arrives: for theta = 1/2 this is velocity Verlet on the
// liquid. Plain splitting loses about pi CFL h / r of every rotation, whatever the interpolation.
#include <string.h>

#include "core/parallel.h"
#include "solve/slow.h"
#include "solve/tet/paper.h"
#include "world/trace.h"

enum { BATCH = TY_SAMPLE_BATCH };

static int batch(int n, int at) { return n - at < BATCH ? n - at : BATCH; }

static void plain_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_tetflow* tf = self;
    const ty_tet_motion* m = &tf->motion[tf->now];
    for (int at = 0; at < n; at += BATCH) {
        int count = batch(n, at);
        if (m->paper && tf->def->traced_interpolant)
            ty_tet_sample_dual(m, tf->world, count, x + at, out + 3 * at);
        else ty_tet_sample(m, tf->world, false, count, x + at, out + 3 * at, NULL);
    }
}

static void plain_acceleration(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_tetflow* tf = self;
    for (int at = 0; at < n; at += BATCH)
        ty_tet_sample(&tf->motion[tf->now], tf->world, false, batch(n, at), x + at, NULL,
                      out + 3 * at);
}

// theta > 1/2 damps by (theta - 1/2) dt times how the acceleration changes. That is meant for what
// swings in place, pressure's noise and short waves; on its way through a steady flow it changes
// too, and turning water would be slowed down (by 0.05 (Omega dt)^2 a step, two thirds of what a
// frictionless bucket lost). So that part, a(foot) to a(x) of the same time, is taken out: a steady
// flow sees 1/2.
static void undamp_steady(const ty_tetflow* tf, double dt, int n, const double (*x)[3], double* u,
                          const double* a)
{
    double here[BATCH][3], share = (tf->theta - 0.5) * dt;
    ty_tet_sample(&tf->motion[tf->now], tf->world, false, n, x, NULL, here[0]);
    for (int i = 0; i < n; ++i) {
        ty_vec3 on_the_way = ty_load3(here[i]) - ty_load3(a + 3 * i);
        ty_store3(u + 3 * i, ty_load3(u + 3 * i) - share * on_the_way);
    }
}

void ty_tetflow_arriving(const ty_tetflow* tf, double dt, int n, const double (*x)[3], double* u,
                         double* a)
{
    double foot[BATCH][3], share = tf->carries ? (1.0 - tf->theta) * dt : 0.0;
    ty_flow flow = {.velocity = {tf, 3, 0.0, plain_velocity},
                    .cell = tf->def->cell,
                    .max_speed = tf->max_speed};
    if (tf->carries) {
        flow.acceleration = (ty_sampler){tf, 3, 0.0, plain_acceleration};
        flow.both = (ty_sampler){tf, 6, 0.0, ty_tetflow_own};
    }
    ty_trace_back(&flow, dt, n, x, foot);
    ty_tet_sample(&tf->motion[tf->now], tf->world, false, n, (const double(*)[3])foot, u, a);
    if (tf->motion[tf->now].paper)
        ty_tet_sample_dual(&tf->motion[tf->now], tf->world, n, (const double(*)[3])foot, u);
    for (int i = 0; i < n; ++i)
        ty_store3(u + 3 * i, ty_load3(u + 3 * i) + share * ty_load3(a + 3 * i));
    if (tf->carries) undamp_steady(tf, dt, n, x, u, a);
}

typedef struct carry_job {
    ty_tetflow* tf;
    ty_tet_motion* m;
    double dt;
} carry_job;

static void carry_block(void* ctx, ty_range r)
{
    const carry_job* job = ctx;
    ty_tet_motion* m = job->m;
    double x[BATCH][3], u[BATCH][3], a[BATCH][3];
    int id[BATCH], n = 0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        m->state.u.at[t] = job->tf->before.at[t] = ty_vec(0, 0, 0);
        if (!(m->state.open.at[t] > 0.0)) continue;
        ty_store3(x[n], m->centre.at[t]);
        id[n++] = (int)t;
    }
    if (n) ty_tetflow_arriving(job->tf, job->dt, n, (const double(*)[3])x, u[0], a[0]);
    for (int i = 0; i < n; ++i)
        m->state.u.at[id[i]] = ty_load3(u[i]), job->tf->before.at[id[i]] = ty_load3(a[i]);
}

// In the open; at walls measure.c holds the law itself. One thread: it is seldom asked for, and little beside the
// rest of a step.
static void slow(ty_tet_motion* m, double loss)
{
    ty_vec3 mean = ty_vec(0, 0, 0), *u = m->state.u.at;
    double square = 0.0, mass = 0.0;
    for (int t = 0; t < m->state.mesh.n_tets; ++t) {
        double w = m->state.open.at[t] * m->volume.at[t];
        mean += w * u[t];
        square += w * ty_dot(u[t], u[t]);
        mass += w;
    }
    if (!(mass > 0.0)) return;
    mean /= mass;
    double keep = ty_slow_keep(mean, square / mass, loss);
    for (int t = 0; t < m->state.mesh.n_tets; ++t) u[t] = mean + keep * (u[t] - mean);
}

ty_status ty_tetflow_carry(ty_tetflow* tf, double dt)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    int n = m->state.mesh.n_tets;
    if (!ty_array_resize(&m->state.u, n) || !ty_array_resize(&tf->before, n))
        return ty_no_memory("velocities");
    carry_job job = {tf, m, dt};
    ty_parallel_for(n, BATCH, carry_block, &job);
    if (tf->slow.loss > 0.0 && !ty_tet_at_walls(&m->state)) slow(m, tf->slow.loss);
    return ty_world_status(tf->world);
}
