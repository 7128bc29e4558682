// SPDX-License-Identifier: Apache-2.0
// What trackers and probes are told.
#include <string.h>

#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH };

static int batch(int n, int at) { return n - at < BATCH ? n - at : BATCH; }

static void store(double* u, double* a, int i, ty_band_value v)
{
    for (int k = 0; k < 3; ++k) {
        if (u) u[3 * i + k] = (double)v[k];
        if (a) a[3 * i + k] = (double)v[3 + k];
    }
}

static void ask_itself(const ty_tetflow* tf, bool surface, int n, const int* id,
                       const double (*x)[3], double* u, double* a)
{
    double at[BATCH][3], own_u[BATCH][3], own_a[BATCH][3];
    if (!n) return;
    for (int i = 0; i < n; ++i) memcpy(at[i], x[id[i]], sizeof at[0]);
    ty_tet_sample(&tf->motion[tf->now], tf->world, surface, n, (const double(*)[3])at,
                  u ? own_u[0] : NULL, a ? own_a[0] : NULL);
    for (int i = 0; u && i < n; ++i) memcpy(u + 3 * id[i], own_u[i], sizeof own_u[0]);
    for (int i = 0; a && i < n; ++i) memcpy(a + 3 * id[i], own_a[i], sizeof own_a[0]);
}

void ty_tetflow_seen(const ty_tetflow* tf, int n, const double (*x)[3], double* u, double* a)
{
    ty_band_value value[BATCH];
    ty_band_missed missed;
    if (tf->def->paper) {    // nothing of ours at the surface
        ty_tet_sample(&tf->motion[tf->now], tf->world, false, n, x, u, a);
        return;
    }
    ty_tet_band_sample(&tf->band, n, x, value, &missed);
    for (int i = 0; i < n; ++i) store(u, a, i, value[i]);
    ask_itself(tf, false, missed.n_far, missed.far, x, u, a);
    ask_itself(tf, true, missed.n_near, missed.near, x, u, a);
}

static void velocity(const void* self, int n, const double (*x)[3], double* out)
{
    for (int at = 0; at < n; at += BATCH)
        ty_tetflow_seen(self, batch(n, at), x + at, out + 3 * at, NULL);
}

static void acceleration(const void* self, int n, const double (*x)[3], double* out)
{
    for (int at = 0; at < n; at += BATCH)
        ty_tetflow_seen(self, batch(n, at), x + at, NULL, out + 3 * at);
}

static void join(int n, double (*u)[3], double (*a)[3], double* out)
{
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k) out[6 * i + k] = u[i][k], out[6 * i + 3 + k] = a[i][k];
}

static void both(const void* self, int n, const double (*x)[3], double* out)
{
    double u[BATCH][3], a[BATCH][3];
    for (int at = 0; at < n; at += BATCH) {
        int count = batch(n, at);
        ty_tetflow_seen(self, count, x + at, u[0], a[0]);
        join(count, u, a, out + 6 * at);
    }
}

void ty_tetflow_own(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_tetflow* tf = self;
    double u[BATCH][3], a[BATCH][3];
    for (int at = 0; at < n; at += BATCH) {
        int count = batch(n, at);
        ty_tet_sample(&tf->motion[tf->now], tf->world, false, count, x + at, u[0], a[0]);
        join(count, u, a, out + 6 * at);
    }
}

// Full, in Pa, as it acted in the last step; that of air, 0, outside the mesh.
static void pressure(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_tetflow* tf = self;
    const ty_tet_motion* m = &tf->motion[tf->now];
    for (int at = 0; at < n; at += BATCH) {
        ty_tet_place place[BATCH];
        int count = batch(n, at);
        ty_tet_locate(m, count, x + at, place);
        bool acts = m->acting.n > 0;
        ty_tet_sample_scalar(m, acts ? m->acting.at : m->state.pressure.at, count, place, out + at);
        for (int i = 0; i < count; ++i) {
            double still = acts ? 0.0 : ty_dot(m->gravity, ty_load3(x[at + i])) - m->level;
            if (place[i].tet >= 0) out[at + i] = tf->def->density * (out[at + i] + still);
        }
    }
}

ty_flow ty_tetflow_flow(const ty_tetflow* tf)
{
    ty_flow f = {.velocity = {tf, 3, 0.0, velocity},
                 .pressure = {tf, 1, 0.0, pressure},
                 .lattice = {.cell = tf->def->cell, .body = true},
                 .cell = tf->def->cell,
                 .max_speed = tf->max_speed,
                 .dt_limit = tf->dt_limit};
    if (tf->carries)
        f.acceleration = (ty_sampler){tf, 3, 0.0, acceleration},
        f.both = (ty_sampler){tf, 6, 0.0, both},
        f.inside = (ty_sampler){tf, 6, 0.0, ty_tetflow_own};
    f.keeps_volume = tf->carries && !tf->def->paper;    // sweep.c
    for (int axis = 0; axis < 3; ++axis) f.lattice.origin[axis] = tf->origin[axis];
    return f;
}
