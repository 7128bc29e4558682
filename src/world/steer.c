// SPDX-License-Identifier: Apache-2.0
// Velocity modifiers, [Wrenninge2003] section 4.4.5, formula 4.5: u = (1 - alpha) u + alpha v.
//
// Departs: alpha is a share per frame at 24 frames a second, so that the result does not depend on
// the number of steps a frame is cut into; a step of dt takes 1 - (1 - alpha)^(24 dt).
#include "core/memory.h"
#include "world/world_state.h"

static const double BLEND_RATE = 24.0;    // frames a second that a blend is per

ty_status ty_world_create_steers(ty_world* w)
{
    w->steers = ty_alloc_zero((size_t)w->def->n_steers, sizeof *w->steers);
    if (!w->steers) return ty_no_memory("modifiers");
    for (int i = 0; i < w->def->n_steers; ++i) {
        const ty_steer_def* def = &w->def->steers[i];
        ++w->n_steers;
        w->steers[i].velocity = def->velocity;
        w->steers[i].blend = def->blend;
        TY_TRY(ty_shape_create(&w->steers[i].shape, &def->shape, w->cell, w->fault));
    }
    return ty_ok();
}

void ty_world_destroy_steers(ty_world* w)
{
    for (int i = 0; i < w->n_steers; ++i) {
        ty_shape_destroy(&w->steers[i].shape);
        ty_varying_unload(&w->steers[i].velocity);
        ty_varying_unload(&w->steers[i].blend);
    }
    ty_free(w->steers);
}

ty_status ty_world_move_steers(ty_world* w, double t, double dt)
{
    for (int i = 0; i < w->n_steers; ++i) {
        TY_TRY(ty_shape_move(&w->steers[i].shape, t, dt));
        TY_TRY(ty_varying_prepare(&w->steers[i].velocity, t - dt, t));
        TY_TRY(ty_varying_prepare(&w->steers[i].blend, t - dt, t));
    }
    return ty_ok();
}

static ty_status steer_batch(const ty_steering* s, double t, double dt, int n, const double (*x)[3],
                             double (*v)[3])
{
    double d[TY_SAMPLE_BATCH], blend[TY_SAMPLE_BATCH], target[TY_SAMPLE_BATCH][3],
        in[TY_SAMPLE_BATCH][3];
    int id[TY_SAMPLE_BATCH], m = 0;
    ty_shape_distance(&s->shape, n, x, d);
    for (int i = 0; i < n; ++i)
        if (d[i] < 0.0) ty_store3(in[m], ty_load3(x[i])), id[m++] = i;
    TY_TRY(ty_varying_eval(&s->velocity, t, m, (const double(*)[3])in, target[0]));
    TY_TRY(ty_varying_eval(&s->blend, t, m, (const double(*)[3])in, blend));
    for (int i = 0; i < m; ++i) {
        double alpha = 1.0 - pow(1.0 - ty_clamp(blend[i], 0.0, 1.0), BLEND_RATE * dt);
        ty_vec3 u = ty_load3(v[id[i]]);
        ty_store3(v[id[i]], (1.0 - alpha) * u + alpha * ty_load3(target[i]));
    }
    return ty_ok();
}

bool ty_world_steers(const ty_world* w) { return w->n_steers > 0; }

ty_status ty_world_steer(const ty_world* w, double dt, int n, const double (*x)[3], double (*v)[3])
{
    for (int k = 0; k < w->n_steers; ++k)
        for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
            int m = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
            TY_TRY(steer_batch(&w->steers[k], w->time, dt, m, x + at, v + at));
        }
    return ty_ok();
}
