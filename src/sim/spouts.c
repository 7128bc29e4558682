// SPDX-License-Identifier: Apache-2.0
#include "sim/spouts.h"

#include <math.h>

#include "sim/sim.h"

// What is cut out of a drain differs from what ran in by how well the tracker moves the wall of the
// small cavity there (measured: -40 to +22 %, by the length of the step); by more than this factor
// it is another matter, such as a film thinner than a cell, and what was cut counts.
static const double MOST_DIFFERENCE = 4.0;

// What ran into the drains: the solver's flux, by the trapezoidal rule; the last step's second half
// is booked now.
static double drained(ty_spouts* s, const ty_flow* flow, double cut, double dt)
{
    double rate = flow->drain_rate, volume = rate * dt;
    if (s->drain_step > 0.0) volume += 0.5 * s->drain_step * (rate - s->drain_rate);
    s->drain_rate = rate;
    s->drain_step = dt;
    return ty_clamp(volume, cut / MOST_DIFFERENCE, cut * MOST_DIFFERENCE);
}

static ty_status edit_one(ty_sim* sim, const ty_source* s, bool add, double* changed)
{
    ty_edit edit = {.add = add, .region = s->distance};
    return sim->tracker_kind->edit(sim->tracker, 1, &edit, changed);
}

// On in the step before, too: what it brought is known.
static bool is_steady(const ty_sim* sim, int source)
{
    return sim->ledger.source_on.at[source] && ty_world_source(sim->world, source).on;
}

static void eval_steady(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_sim* sim = self;
    double d[TY_SAMPLE_BATCH];
    for (int i = 0; i < n; ++i) out[i] = INFINITY;
    for (int k = 0; k < ty_world_n_sources(sim->world); ++k) {
        if (!is_steady(sim, k)) continue;
        ty_source s = ty_world_source(sim->world, k);
        for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
            int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
            ty_sample(&s.distance, count, x + at, d);
            for (int i = 0; i < count; ++i) out[at + i] = ty_min(out[at + i], d[i]);
        }
    }
}

// Sources that go on, all in one edit; those that begin one by one, to know what fills them.
static ty_status edit_sources(ty_sim* sim)
{
    int n = ty_world_n_sources(sim->world), n_steady = 0;
    for (int i = 0; i < n; ++i) n_steady += is_steady(sim, i);
    ty_edit steady = {.add = true, .region = {.self = sim, .width = 1, .eval = eval_steady}};
    if (n_steady) TY_TRY(sim->tracker_kind->edit(sim->tracker, 1, &steady, NULL));
    for (int i = 0; i < n; ++i) {
        ty_source s = ty_world_source(sim->world, i);
        int* was_on = &sim->ledger.source_on.at[i];
        double changed = 0.0;
        if (s.on && !*was_on) TY_TRY(edit_one(sim, &s, true, &changed));
        sim->ledger.pending += *was_on ? s.delivered : changed;
        *was_on = s.on;
    }
    return ty_ok();
}

static ty_status edit_drains(ty_sim* sim, double dt)
{
    int n_sources = ty_world_n_sources(sim->world);
    double counted = 0.0, cut = 0.0;    // counted by the solver; measured here
    bool any = false;
    for (int i = 0; i < ty_world_n_drains(sim->world); ++i) {
        ty_source s = ty_world_drain(sim->world, i);
        int* was_on = &sim->ledger.source_on.at[n_sources + i];
        double changed = 0.0;
        if (s.on) TY_TRY(edit_one(sim, &s, false, &changed));
        bool steady = s.on && *was_on && !s.moves;
        *(steady ? &counted : &cut) -= changed;
        any |= steady;
        *was_on = s.on;
    }
    ty_flow flow = ty_sim_flow(sim);
    if (any && flow.counts_drains) counted = drained(&sim->spouts, &flow, counted, dt);
    else sim->spouts.drain_step = 0.0;
    sim->ledger.pending -= counted + cut;
    return ty_ok();
}

ty_status ty_sim_edit(ty_sim* sim, double dt)
{
    if (!sim->tracker_kind) return ty_ok();
    TY_TRY(edit_sources(sim));
    return edit_drains(sim, dt);
}

ty_status ty_spouts_archive(ty_spouts* s, ty_archive* ar)
{
    double values[2] = {s->drain_rate, s->drain_step};
    TY_TRY(ty_archive_f64(ar, "spouts", values, 2));
    *s = (ty_spouts){values[0], values[1]};
    return ty_ok();
}
