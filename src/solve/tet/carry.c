// SPDX-License-Identifier: Apache-2.0
// Velocities carried along the flow, to the tets of the liquid's new place.
//
// With a carried acceleration (theta < 1) the foot y of x solves y + dt (u(y) + dt/2 a(y)) = x, and u + (1 - theta) dt a
// arrives: for theta = 1/2 this is velocity Verlet on the liquid. Plain splitting loses about pi CFL h / r of every
// rotation, whatever the interpolation. The path is not traced by a midpoint rule: its curvature is in `a` already.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/paper.h"
#include "world/trace.h"

enum { BATCH = TY_SAMPLE_BATCH, MAX_FIXED_POINT = 6 };
static const double FOUND = 1e-4;    // cells: a foot that moves less is found

// The rule of world/trace.h with both fields asked at once.
static void find_feet(const ty_tetflow* tf, double dt, int n, double (*x)[3])
{
    const ty_tet_motion* m = &tf->motion[tf->now];
    double y[BATCH][3], to[BATCH][3], u[BATCH][3], a[BATCH][3], enough = FOUND * tf->def->cell;
    int id[BATCH];
    memcpy(y, x, (size_t)n * sizeof *x);
    memcpy(to, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n; ++i) id[i] = i;
    for (int k = 1; n > 0; ++k) {
        int left = 0;
        ty_tet_sample(m, tf->world, false, n, (const double(*)[3])y, u[0], a[0]);
        for (int i = 0; i < n; ++i) {
            ty_vec3 target = ty_load3(to[i]), next = target - dt * (ty_load3(u[i]) + 0.5 * dt * ty_load3(a[i]));
            ty_vec3 moved = next - ty_load3(y[i]);
            ty_store3(x[id[i]], next);
            if (k == MAX_FIXED_POINT || !(ty_dot(moved, moved) > enough * enough)) continue;
            ty_store3(y[left], next);
            ty_store3(to[left], target);
            id[left++] = id[i];
        }
        n = left;
    }
}

static void plain_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_tetflow* tf = self;
    const ty_tet_motion* m = &tf->motion[tf->now];
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH;
        if (m->paper && tf->def->traced_interpolant) ty_tet_sample_dual(m, tf->world, count, x + at, out + 3 * at);
        else ty_tet_sample(m, tf->world, false, count, x + at, out + 3 * at, NULL);
    }
}

void ty_tetflow_arriving(const ty_tetflow* tf, double dt, int n, const double (*x)[3], double* u, double* a)
{
    double foot[BATCH][3];
    memcpy(foot, x, (size_t)n * sizeof *x);
    if (tf->carries) find_feet(tf, dt, n, foot);
    else {
        ty_flow flow = {.velocity = {tf, 3, 0.0, plain_velocity}, .cell = tf->def->cell, .max_speed = tf->max_speed};
        ty_trace_back(&flow, dt, n, x, foot);
    }
    ty_tet_sample(&tf->motion[tf->now], tf->world, false, n, (const double(*)[3])foot, u, a);
    if (tf->motion[tf->now].paper) ty_tet_sample_dual(&tf->motion[tf->now], tf->world, n, (const double(*)[3])foot, u);
    double share = tf->carries ? (1.0 - tf->theta) * dt : 0.0;
    for (int i = 0; i < n; ++i) ty_store3(u + 3 * i, ty_load3(u + 3 * i) + share * ty_load3(a + 3 * i));
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
    for (int i = 0; i < n; ++i) m->state.u.at[id[i]] = ty_load3(u[i]), job->tf->before.at[id[i]] = ty_load3(a[i]);
}

ty_status ty_tetflow_carry(ty_tetflow* tf, double dt)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    int n = m->state.mesh.n_tets;
    if (!ty_array_resize(&m->state.u, n) || !ty_array_resize(&tf->before, n)) return ty_no_memory("velocities");
    carry_job job = {tf, m, dt};
    ty_parallel_for(n, BATCH, carry_block, &job);
    return ty_world_status(tf->world);
}
