// SPDX-License-Identifier: Apache-2.0
// Velocities carried along the flow, to the faces of the liquid's new place.
//
// Semi-Lagrangian, with the value at the foot by linear or by cubic interpolation (within the
// bounds of the eight values around), or MacCormack [Selle2008]: half of what a trip forth and back
// loses is added, within the same bounds. With a carried acceleration (theta < 1) the value is u +
// (1 - theta) dt a, the trace the Lagrangian one, and MacCormack, which adds energy there, gives
// way to cubic.
//
// Energy that the three-dimensional Taylor-Green vortex at 64^3 loses up to t = 3, CFL 2:
// MacCormack, theta 1: 12.6 %; cubic, theta 0.55: 1.1 %. At 32^3: MacCormack, theta 1: 22 %; cubic,
// theta 0.55: 1.6 %.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"
#include "solve/slow.h"
#include "world/trace.h"

// The fixed point of the Lagrangian trace is found when a point moves by no more than this share of
// a cell. (Telling what is left from the last two moves, to stop at 5e-3 or 2e-3, was tried: a thin
// jet into a pool, with eight speeds, brought 0.9 % too much or too little in the mean instead of 0.6.)
static const double FOUND = 1e-3;
// How much of theta's damping of waves ty_gridflow_smooth takes back.
static const double FORGIVEN = 0.9;
enum { MAX_FIXED_POINT = 8, SMOOTH_BLOCK = 4096 };

typedef struct advect_job {
    ty_gridflow* gf;
    ty_flow flow;    // plain: what world/trace.h follows
    int axis;
    double dt;
    ty_room room;
    double (*bounds)[2];    // MacCormack: per face of the list
    double* back;           // MacCormack: corrected values
} advect_job;

// path = u + dt/2 a, carried = u + (1 - theta) dt a: sampled once instead of twice.
static void make_carried(void* ctx, ty_range r)
{
    const advect_job* job = ctx;
    ty_gridflow* gf = job->gf;
    double half = 0.5 * job->dt, share = (1.0 - gf->def->theta) * job->dt;
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t i = r.begin; i < r.end; ++i) {
            double u = gf->u[axis][i], a = gf->acc[axis][i];
            gf->path[axis][i] = (float)(u + half * a);
            gf->carried[axis][i] = u + share * a;
        }
}

// The rule of world/trace.h for a flow with an acceleration: y + dt (u(y) + dt/2 a(y)) = x. Points
// that are found leave. The first velocities are those of the faces that x are the centres of.
static void lagrangian_foot(const advect_job* job, int n, const int* face, double (*x)[3])
{
    double y[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3], to[TY_SAMPLE_BATCH][3];
    double far = FOUND * job->gf->cells.h;
    int id[TY_SAMPLE_BATCH];
    memcpy(y, x, (size_t)n * sizeof *x);
    memcpy(to, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n; ++i) id[i] = i;
    for (int k = 1; n > 0; ++k) {
        int left = 0;
        for (int i = 0; i < n && k == 1; ++i) ty_path_at_face(job->gf, job->axis, face[i], v[i]);
        if (k > 1) ty_path_sample(job->gf, n, (const double(*)[3])y, v[0]);
        for (int i = 0; i < n; ++i) {
            ty_vec3 target = ty_load3(to[i]), next = target - job->dt * ty_load3(v[i]),
                    moved = next - ty_load3(y[i]);
            ty_store3(x[id[i]], next);
            if (k == MAX_FIXED_POINT || !(ty_dot(moved, moved) > far * far)) continue;
            ty_store3(y[left], next);
            ty_store3(to[left], target);
            id[left++] = id[i];
        }
        n = left;
    }
}

static void carry(void* ctx, ty_range r)
{
    const advect_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    const int* face = gf->face[job->axis].at + r.begin;
    double x[TY_SAMPLE_BATCH][3], u[TY_SAMPLE_BATCH], rate[TY_SAMPLE_BATCH];
    double lo[TY_SAMPLE_BATCH], hi[TY_SAMPLE_BATCH];
    int n = (int)(r.end - r.begin), axis = job->axis;
    ty_cell_walk walk = {0};
    for (int i = 0; i < n; ++i) {
        ty_walk_to_center(c, &walk, face[i], x[i]);
        x[i][axis] -= 0.5 * c->h;
    }
    if (gf->carries) lagrangian_foot(job, n, face, x);
    else ty_trace_back(&job->flow, job->dt, n, (const double(*)[3])x, x);
    const double *values = gf->carries ? gf->carried[axis] : gf->u[axis], *rates = gf->acc[axis];
    bool linear = gf->def->advection == TY_ADVECT_SEMI_LAGRANGIAN || gf->def->paper || job->bounds;
    if (linear) {
        ty_face_linear(c, axis, values, n, (const double(*)[3])x, u, job->bounds ? lo : NULL, hi);
        if (rates) ty_face_linear(c, axis, rates, n, (const double(*)[3])x, rate, NULL, NULL);
    } else ty_face_cubic(c, axis, values, rates, n, (const double(*)[3])x, u, rate);
    for (int i = 0; i < n; ++i) gf->next[axis][face[i]] = u[i];
    for (int i = 0; i < n && rates; ++i) gf->rate[axis][face[i]] = rate[i];
    for (int i = 0; i < n && job->bounds; ++i)
        job->bounds[r.begin + i][0] = lo[i], job->bounds[r.begin + i][1] = hi[i];
}

static void correct(void* ctx, ty_range r)
{
    const advect_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    const int* face = gf->face[job->axis].at + r.begin;
    double x[TY_SAMPLE_BATCH][3], returned[TY_SAMPLE_BATCH];
    int n = (int)(r.end - r.begin), axis = job->axis;
    for (int i = 0; i < n; ++i) ty_face_center(c, axis, face[i], x[i]);
    ty_trace_forward(&job->flow, job->dt, n, (const double(*)[3])x, x);
    ty_face_linear(c, axis, gf->next[axis], n, (const double(*)[3])x, returned, NULL, NULL);
    for (int i = 0; i < n; ++i) {
        double value = gf->next[axis][face[i]];
        const double* bounds = job->bounds[r.begin + i];
        // Beside the liquid's border there is nothing to come back from: semi-Lagrangian stays.
        if (ty_face_surrounded(c, axis, gf->mark[axis], x[i]))
            value = ty_clamp(value + 0.5 * (gf->u[axis][face[i]] - returned[i]), bounds[0],
                             bounds[1]);
        job->back[r.begin + i] = value;
    }
}

static void write_back(void* ctx, ty_range r)
{
    const advect_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        job->gf->next[job->axis][job->gf->face[job->axis].at[i]] = job->back[i];
}

typedef struct slow_job {
    ty_gridflow* gf;
    int axis;
    double keep, mean;
} slow_job;

static double sum_block(void* ctx, ty_range r)
{
    const slow_job* job = ctx;
    double sum = 0.0;
    for (int64_t i = r.begin; i < r.end; ++i)
        sum += job->gf->next[job->axis][job->gf->face[job->axis].at[i]];
    return sum;
}

static double square_block(void* ctx, ty_range r)
{
    const slow_job* job = ctx;
    double sum = 0.0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double u = job->gf->next[job->axis][job->gf->face[job->axis].at[i]];
        sum += u * u;
    }
    return sum;
}

static void slow_block(void* ctx, ty_range r)
{
    const slow_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double* u = &job->gf->next[job->axis][job->gf->face[job->axis].at[i]];
        *u = job->mean + job->keep * (*u - job->mean);
    }
}

static void slow(ty_gridflow* gf)
{
    slow_job job = {.gf = gf};
    double mean[3] = {0}, square = 0.0;
    for (job.axis = 0; job.axis < 3; ++job.axis) {
        int64_t n = gf->face[job.axis].n;
        if (n == 0) continue;
        mean[job.axis] = ty_parallel_sum(n, SMOOTH_BLOCK, sum_block, &job) / (double)n;
        square += ty_parallel_sum(n, SMOOTH_BLOCK, square_block, &job) / (double)n;
    }
    job.keep = ty_slow_keep(ty_load3(mean), square, gf->loss);
    for (job.axis = 0; job.axis < 3; ++job.axis) {
        job.mean = mean[job.axis];
        ty_parallel_for(gf->face[job.axis].n, SMOOTH_BLOCK, slow_block, &job);
    }
}

ty_status ty_gridflow_advect(ty_gridflow* gf, double dt)
{
    bool maccormack = !gf->carries && !gf->def->paper && gf->def->advection == TY_ADVECT_MACCORMACK;
    advect_job job = {.gf = gf, .dt = dt};
    job.flow = (ty_flow){.velocity = {gf, 3, 0.0, ty_gridflow_velocity},
                         .cell = gf->cells.h,
                         .max_speed = gf->max_speed};
    if (gf->carries) ty_parallel_for(gf->cells.count, 1 << 14, make_carried, &job);
    for (job.axis = 0; job.axis < 3; ++job.axis) {
        int64_t n = gf->face[job.axis].n;
        if (maccormack) {
            if (!ty_array_resize(&gf->scratch, 3 * n)) return ty_no_memory("advection");
            job.bounds = (double(*)[2])gf->scratch.at;
            job.back = gf->scratch.at + 2 * n;
        }
        ty_parallel_for(n, TY_SAMPLE_BATCH, carry, &job);
        if (!maccormack) continue;
        ty_parallel_for(n, TY_SAMPLE_BATCH, correct, &job);
        ty_parallel_for(n, TY_SAMPLE_BATCH, write_back, &job);
    }
    if (gf->loss > 0.0) slow(gf);
    return ty_ok();
}

// theta > 1/2 damps pressure noise, which alternates from step to step, by (1 - theta) / theta, but
// waves too, by (theta - 1/2) pi omega dt a period: the new acceleration counts for more than half.
// If the carried one lags behind by as much, a <- (1 - s) a + s (a before), s = 2 theta - 1, the
// mean is centred again: an oscillator keeps its energy at any omega dt < 2 (checked numerically),
// and noise is damped by (1 - s)(1 - theta)/theta - s, 0.64 instead of 0.82 at theta 0.55. A
// standing wave of 64 cells keeps 0.9925 of its amplitude in three periods; without this 0.95.
//
// A blow (water meets a wall) changes the velocity at once, and the projection has seen to all of
// it. Carried along its acceleration would act for another (1 - theta) dt on liquid that flies on
// freely. So an acceleration changes by no more than itself and its room in a step.
static void smooth(void* ctx, ty_range r)
{
    const advect_job* job = ctx;
    ty_gridflow* gf = job->gf;
    double *a = gf->next_acc[job->axis], *before = gf->rate[job->axis];
    double share = FORGIVEN * (2.0 * gf->def->theta - 1.0);
    const double* u = gf->next[job->axis];
    for (int64_t i = r.begin; i < r.end; ++i) {
        int f = gf->face[job->axis].at[i];
        double room = fabs(before[f]) + ty_room_at(&job->room, u[f]);
        a[f] = before[f] + ty_clamp(a[f] - before[f], -room, room);
        a[f] += share * (before[f] - a[f]);
    }
}

void ty_gridflow_smooth(ty_gridflow* gf)
{
    advect_job job = {.gf = gf, .room = ty_gridflow_make_room(gf)};
    for (job.axis = 0; job.axis < 3; ++job.axis)
        ty_parallel_for(gf->face[job.axis].n, SMOOTH_BLOCK, smooth, &job);
}
