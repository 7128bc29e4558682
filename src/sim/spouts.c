// SPDX-License-Identifier: Apache-2.0
#include "sim/spouts.h"

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

static ty_status edit_sources(ty_sim* sim)
{
    for (int i = 0; i < ty_world_n_sources(sim->world); ++i) {
        ty_source s = ty_world_source(sim->world, i);
        int* was_on = &sim->ledger.source_on.at[i];
        double changed = 0.0;
        if (s.on) TY_TRY(edit_one(sim, &s, true, &changed));
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
