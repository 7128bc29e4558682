// SPDX-License-Identifier: Apache-2.0
// Sources and drains.
#include <string.h>

#include "core/memory.h"
#include "world/world_state.h"

static ty_status create_spout(ty_world* w, const ty_shape_def* shape, const double active[2])
{
    ty_spout* s = &w->spouts[w->n_spouts++];
    s->world = w;
    memcpy(s->active, active, sizeof s->active);
    s->velocity = ty_varying_vector(0, 0, 0);
    s->rate_def = ty_varying_number(0);
    s->gain = 1.0;
    return ty_shape_create(&s->shape, shape, w->cell, w->fault);
}

ty_status ty_world_create_spouts(ty_world* w)
{
    const ty_world_def* def = w->def;
    w->spouts = ty_alloc_zero((size_t)(def->n_sources + def->n_drains), sizeof *w->spouts);
    if (!w->spouts) return ty_no_memory("sources");
    for (int i = 0; i < def->n_sources; ++i) {
        const ty_source_def* d = &def->sources[i];
        TY_TRY(create_spout(w, &d->shape, d->active));
        w->spouts[i].is_source = true;
        w->spouts[i].velocity = d->velocity;
        w->spouts[i].rate_def = d->rate;
        w->spouts[i].has_rate = d->has_rate;
    }
    for (int i = 0; i < def->n_drains; ++i)
        TY_TRY(create_spout(w, &def->drains[i].shape, def->drains[i].active));
    return ty_ok();
}

void ty_world_destroy_spouts(ty_world* w)
{
    for (int i = 0; i < w->n_spouts; ++i) {
        ty_shape_destroy(&w->spouts[i].shape);
        ty_varying_unload(&w->spouts[i].velocity);
        ty_varying_unload(&w->spouts[i].rate_def);
    }
    ty_free(w->spouts);
}

ty_status ty_world_move_spouts(ty_world* w, double t, double dt)
{
    for (int i = 0; i < w->n_spouts; ++i) {
        ty_spout* s = &w->spouts[i];
        s->on = s->active[0] <= t && t <= s->active[1];
        TY_TRY(ty_shape_move(&s->shape, t, dt));
        TY_TRY(ty_varying_prepare(&s->velocity, t - dt, t));
        TY_TRY(ty_varying_prepare(&s->rate_def, t - dt, t));
    }
    return ty_ok();
}

static void spout_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_spout* s = self;
    ty_world_eval(s->world, &s->velocity, n, x, out);
    for (int64_t i = 0; s->gain != 1.0 && i < 3 * (int64_t)n; ++i) out[i] *= s->gain;
}

static ty_source get(const ty_spout* s)
{
    return (ty_source){.on = s->on,
                       .distance = ty_shape_sampler(&s->shape),
                       .velocity = {s, 3, 0.0, spout_velocity},
                       .has_rate = s->has_rate,
                       .rate = s->rate};
}

int ty_world_n_sources(const ty_world* w) { return w->def->n_sources; }
int ty_world_n_drains(const ty_world* w) { return w->def->n_drains; }
ty_source ty_world_source(const ty_world* w, int i) { return get(&w->spouts[i]); }
ty_source ty_world_drain(const ty_world* w, int i) { return get(&w->spouts[w->def->n_sources + i]); }
