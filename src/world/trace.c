// SPDX-License-Identifier: Apache-2.0
#include "world/trace.h"

#include <string.h>

#include "core/vec.h"

// Fixed-point iterations of the Lagrangian trace: each gains a factor of dt |grad u|, about CFL /
// (cells per feature); four leave less than 1e-4 cells at CFL 1 on features of ten cells.
enum { FIXED_POINT_ITERATIONS = 6, MAX_SUBSTEPS = 64 };
// Cells: a point that moved less in an iteration is done.
static const double CONVERGED = 1e-4, ROUGHLY = 0.02;
// By which share the velocity may differ at the two ends of a leap, and from which on there is
// none.
static const double LEAP = 0.12, NO_LEAP = 0.3;

static int batch(int n, int at) { return n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH; }

static void shifted(int n, double (*x)[3], double dt, double (*v)[3], double (*out)[3])
{
    for (int i = 0; i < n; ++i) ty_store3(out[i], ty_load3(x[i]) + dt * ty_load3(v[i]));
}

static void velocity(const ty_flow* flow, int n, double (*x)[3], double (*out)[3])
{
    ty_sample(&flow->velocity, n, (const double(*)[3])x, out[0]);
}

// In the middle of a step of dt.
static void middle_velocity(const ty_flow* flow, double dt, int n, double (*x)[3], double (*out)[3])
{
    double motion[TY_SAMPLE_BATCH][6];
    if (flow->middle.eval && dt == flow->middle_dt) {
        ty_sample(&flow->middle, n, (const double(*)[3])x, out[0]);
        return;
    }
    if (!flow->motion.eval) {
        velocity(flow, n, x, out);
        return;
    }
    ty_sample(&flow->motion, n, (const double(*)[3])x, motion[0]);
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)
            out[i][axis] = motion[i][axis] + 0.5 * dt * motion[i][3 + axis];
}

static int count_substeps(const ty_flow* flow, double dt, const double v[3])
{
    double cells = ty_norm(ty_load3(v)) * fabs(dt) / flow->cell;
    return cells > 1.0 ? (int)fmin(ceil(cells), MAX_SUBSTEPS) : 1;
}

// Ralston's third-order rule: x += dt (2 k1 + 3 k2 + 4 k3) / 9, k2 at dt/2, k3 at 3 dt/4. Every
// point has its own number of sub-steps, by its first velocity. `length`: of the whole step,
// `sign`: along it or against it; `first`: velocities at x, or NULL.
static void trace_rk3(const ty_flow* flow, double length, double sign, int n,
                      const double (*first)[3], double (*x)[3])
{
    double k1[TY_SAMPLE_BATCH][3], k2[TY_SAMPLE_BATCH][3], k3[TY_SAMPLE_BATCH][3];
    double from[TY_SAMPLE_BATCH][3], at[TY_SAMPLE_BATCH][3], dt[TY_SAMPLE_BATCH];
    int id[TY_SAMPLE_BATCH], steps[TY_SAMPLE_BATCH];
    for (int i = 0; i < n; ++i) id[i] = i;
    for (int done = 0; n > 0; ++done) {
        for (int i = 0; i < n; ++i) memcpy(from[i], x[id[i]], sizeof from[i]);
        if (done == 0 && first) memcpy(k1, first, (size_t)n * sizeof *k1);
        else middle_velocity(flow, length, n, from, k1);
        for (int i = 0; i < n && done == 0; ++i) steps[i] = count_substeps(flow, length, k1[i]);
        for (int i = 0; i < n; ++i) {
            dt[i] = sign * length / steps[id[i]];
            ty_store3(at[i], ty_load3(from[i]) + 0.5 * dt[i] * ty_load3(k1[i]));
        }
        middle_velocity(flow, length, n, at, k2);
        for (int i = 0; i < n; ++i)
            ty_store3(at[i], ty_load3(from[i]) + 0.75 * dt[i] * ty_load3(k2[i]));
        middle_velocity(flow, length, n, at, k3);
        int left = 0;
        for (int i = 0; i < n; ++i) {
            ty_vec3 sum = 2.0 * ty_load3(k1[i]) + 3.0 * ty_load3(k2[i]) + 4.0 * ty_load3(k3[i]);
            ty_store3(x[id[i]], ty_load3(from[i]) + (dt[i] / 9.0) * sum);
            if (done + 1 < steps[id[i]]) id[left++] = id[i];
        }
        n = left;
    }
}

// u + dt/2 a
static void path_velocity(const ty_flow* flow, double dt, int n, double (*x)[3], double (*out)[3])
{
    if (flow->both.eval) {
        double both[TY_SAMPLE_BATCH][6];
        ty_sample(&flow->both, n, (const double(*)[3])x, both[0]);
        for (int i = 0; i < n; ++i)
            ty_store3(out[i], ty_load3(both[i]) + 0.5 * dt * ty_load3(both[i] + 3));
        return;
    }
    double a[TY_SAMPLE_BATCH][3];
    velocity(flow, n, x, out);
    ty_sample(&flow->acceleration, n, (const double(*)[3])x, a[0]);
    shifted(n, out, 0.5 * dt, a, out);
}

// Points whose leap leads to another velocity than it began with, and how much of it counts.
typedef struct turned {
    int n, id[TY_SAMPLE_BATCH];
    double x[TY_SAMPLE_BATCH][3], leap[TY_SAMPLE_BATCH];
} turned;

static double leap_share(ty_vec3 way, ty_vec3 change)
{
    double way2 = ty_dot(way, way), change2 = ty_dot(change, change);
    if (!(change2 > LEAP * LEAP * way2)) return 1.0;
    return ty_clamp((NO_LEAP - sqrt(change2 / way2)) / (NO_LEAP - LEAP), 0.0, 1.0);
}

static void add_turned(turned* t, int id, const double x[3], double leap)
{
    memcpy(t->x[t->n], x, sizeof t->x[0]);
    t->leap[t->n] = leap;
    t->id[t->n++] = id;
}

// x: where the leaps led; `sign`: along the flow or against it.
static void follow(const ty_flow* flow, double dt, double sign, turned* t, double (*x)[3])
{
    trace_rk3(flow, dt, sign, t->n, NULL, t->x);
    for (int i = 0; i < t->n; ++i) {
        ty_vec3 leapt = ty_load3(x[t->id[i]]), followed = ty_load3(t->x[i]);
        ty_store3(x[t->id[i]], followed + t->leap[i] * (leapt - followed));
    }
}

// Points that have come to rest leave the iteration, each on its own: what is asked with it does
// not matter.
static void lagrangian_back(const ty_flow* flow, double dt, double cells, int n,
                            const double (*first)[3], double (*x)[3])
{
    turned t = {.n = 0};
    double y[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3], to[TY_SAMPLE_BATCH][3];
    int id[TY_SAMPLE_BATCH];
    double enough = cells * flow->cell;
    memcpy(y, x, (size_t)n * sizeof *y);
    memcpy(to, x, (size_t)n * sizeof *y);
    for (int i = 0; i < n; ++i) id[i] = i;
    for (int k = 1; n > 0; ++k) {
        int left = 0;
        if (k == 1 && first) memcpy(v, first, (size_t)n * sizeof *v);
        else path_velocity(flow, dt, n, y, v);
        for (int i = 0; i < n; ++i) {
            ty_vec3 target = ty_load3(to[i]), next = target - dt * ty_load3(v[i]),
                    moved = next - ty_load3(y[i]);
            double share = k == 2 ? leap_share(ty_load3(y[i]) - target, moved) : 1.0;
            if (share < 1.0) add_turned(&t, id[i], to[i], share);
            if (share == 0.0) continue;
            if (k == FIXED_POINT_ITERATIONS || !(ty_dot(moved, moved) > enough * enough)) {
                ty_store3(x[id[i]], next);
                continue;
            }
            ty_store3(y[left], next);
            ty_store3(to[left], target);
            id[left++] = id[i];
        }
        n = left;
    }
    if (t.n) follow(flow, dt, -1.0, &t, x);
}

static void lagrangian_forward(const ty_flow* flow, double dt, int n, double (*x)[3])
{
    double v[TY_SAMPLE_BATCH][3], end[TY_SAMPLE_BATCH][3], w[TY_SAMPLE_BATCH][3];
    turned t = {.n = 0};
    path_velocity(flow, dt, n, x, v);
    shifted(n, x, dt, v, end);
    path_velocity(flow, dt, n, end, w);
    for (int i = 0; i < n; ++i) {
        double share = leap_share(ty_load3(v[i]), ty_load3(w[i]) - ty_load3(v[i]));
        if (share < 1.0) add_turned(&t, i, x[i], share);
        memcpy(x[i], end[i], sizeof x[i]);
    }
    if (t.n) follow(flow, dt, 1.0, &t, x);
}

static void trace_back(const ty_flow* flow, double dt, double cells, int n, const double (*x)[3],
                       const double (*first)[3], double (*from)[3])
{
    if (from != (double(*)[3])x) memcpy(from, x, (size_t)n * sizeof *x);
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        const double(*v)[3] = first ? first + at : NULL;
        if (flow->acceleration.eval) lagrangian_back(flow, dt, cells, batch(n, at), v, from + at);
        else trace_rk3(flow, dt, -1.0, batch(n, at), v, from + at);
    }
}

void ty_trace_back(const ty_flow* flow, double dt, int n, const double (*x)[3], double (*from)[3])
{
    trace_back(flow, dt, CONVERGED, n, x, NULL, from);
}

void ty_trace_begin(const ty_flow* flow, double dt, int n, const double (*x)[3], double (*v)[3])
{
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        double(*from)[3] = (double(*)[3])(x + at);
        if (flow->acceleration.eval) path_velocity(flow, dt, batch(n, at), from, v + at);
        else middle_velocity(flow, dt, batch(n, at), from, v + at);
    }
}

void ty_trace_back_with(const ty_flow* flow, double dt, int n, const double (*x)[3],
                        const double (*v)[3], double (*from)[3])
{
    trace_back(flow, dt, CONVERGED, n, x, v, from);
}

void ty_trace_back_roughly(const ty_flow* flow, double dt, int n, const double (*x)[3],
                           const double (*v)[3], double (*from)[3])
{
    trace_back(flow, dt, ROUGHLY, n, x, v, from);
}

void ty_trace_forward(const ty_flow* flow, double dt, int n, const double (*x)[3], double (*to)[3])
{
    if (to != (double(*)[3])x) memcpy(to, x, (size_t)n * sizeof *x);
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        if (flow->acceleration.eval) lagrangian_forward(flow, dt, batch(n, at), to + at);
        else trace_rk3(flow, dt, 1.0, batch(n, at), NULL, to + at);
    }
}
