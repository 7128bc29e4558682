// SPDX-License-Identifier: Apache-2.0
// The table of contents of a simulation: advance the tracker, edit by sources and drains, balance
// the ledger, advance the solver, report.
#include "sim/step.h"

#include <math.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/parallel.h"

enum { MAX_SUBSTEPS = 20000, SETTLE = 5 };    // SETTLE: offsets of a step after its first

// Steps shorter than this share of a frame mean that the velocities have blown up.
static const double SHORTEST_STEP = 1.0 / MAX_SUBSTEPS;

ty_status ty_sim_measure(ty_sim* sim)
{
    if (!sim->tracker_kind) return ty_ok();
    ty_liquid liquid = ty_sim_liquid(sim);
    return ty_cut_surface(sim->cutter, &liquid, sim->world, &sim->surface);
}

static ty_status lead_solver(ty_sim* sim, double dt)
{
    if (!sim->solver_kind->lead) return ty_ok();
    ty_liquid liquid = ty_sim_liquid(sim);
    return sim->solver_kind->lead(sim->solver, sim->tracker_kind ? &liquid : NULL, dt);
}

static ty_status remember(ty_sim* sim, double dt)
{
    if (!sim->tracker_kind) return ty_ok();
    ty_liquid before = ty_sim_liquid(sim);
    ty_flow flow = ty_sim_flow(sim);
    return ty_ledger_remember(&sim->ledger, &before, &flow, sim->world, &sim->surface, dt);
}

static ty_status advance_tracker(ty_sim* sim, double dt)
{
    if (!sim->tracker_kind) return ty_ok();
    ty_flow flow = ty_sim_flow(sim);
    return sim->tracker_kind->advance(sim->tracker, &flow, sim->world, sim->time, dt);
}

// Only what a frame shows is corrected at once: that remakes the surface.
static ty_status balance(ty_sim* sim, double dt, bool shown)
{
    if (!sim->tracker_kind) return ty_ok();
    TY_TRY(ty_sim_measure(sim));
    ty_liquid liquid = ty_sim_liquid(sim);
    ty_flow flow = ty_sim_flow(sim);
    // Not beside walls that move: at the next step's start they are elsewhere, and an offset that they
    // should hold back would come out behind.
    bool moved = false, later = !shown && !ty_world_solid_moves(sim->world);
    TY_TRY(ty_ledger_balance(&sim->ledger, &liquid, &flow, sim->world, &sim->surface, dt));
    if (sim->def->volume_correct)
        TY_TRY(ty_ledger_correct(&sim->ledger, sim->tracker_kind, sim->tracker, later, &moved));
    for (int pass = 0; moved; ++pass) {
        double before = ty_tri_mesh_volume(&sim->surface), after;
        TY_TRY(ty_sim_measure(sim));
        after = ty_tri_mesh_volume(&sim->surface);
        ty_ledger_corrected(&sim->ledger, after - before);
        if (pass == SETTLE) break;
        TY_TRY(ty_ledger_settle(&sim->ledger, sim->tracker_kind, sim->tracker, after, &moved));
    }
    return ty_ok();
}

// rho g times the height of the liquid's centre, by the divergence theorem on the written surface.
static double potential_energy(const ty_sim* sim)
{
    const ty_tri_mesh* m = &sim->surface;
    ty_vec3 g = ty_world_gravity(sim->world);
    double sum = 0.0;
    for (int t = 0; t < m->n_tris; ++t) {
        ty_vec3 a = ty_load3(m->vert[m->tri[t][0]]), b = ty_load3(m->vert[m->tri[t][1]]);
        ty_vec3 c = ty_load3(m->vert[m->tri[t][2]]);
        double volume = ty_dot(a, ty_cross(b, c)) / 6.0;    // of the tetrahedron with the origin
        sum -= volume * ty_dot(g, a + b + c) / 4.0;
    }
    return sim->def->solve.density * sum;
}

// What is known of a step before its velocities are.
static void report_liquid(ty_sim* sim)
{
    ty_frame_stats* row = &sim->stats;
    row->volume = ty_tri_mesh_volume(&sim->surface);
    row->area = ty_tri_mesh_area(&sim->surface);
    row->triangles = sim->surface.n_tris;
    row->expected_volume = ty_ledger_expected(&sim->ledger);
    row->correction = sim->ledger.correction;
    row->outflow = sim->ledger.outflow;
    row->potential_energy = potential_energy(sim);
}

// The solver needs the most memory: what the surface alone needs is given back before.
static ty_status advance_solver(ty_sim* sim, double dt)
{
    if (sim->tracker_kind && sim->tracker_kind->rest) {
        sim->tracker_kind->rest(sim->tracker);
        ty_cutter_rest(sim->cutter);
    }
    ty_liquid liquid = ty_sim_liquid(sim);
    ty_solve_stats stats = {0};
    report_liquid(sim);
    if (sim->solver_kind->slow)
        sim->solver_kind->slow(sim->solver,
                               ty_energy_slow(&sim->energy, sim->world, &sim->def->solve,
                                              &sim->stats, sim->ledger.step_outflow));
    TY_TRY(sim->solver_kind->advance(sim->solver, sim->tracker_kind ? &liquid : NULL, sim->world,
                                     sim->time, dt, &stats));
    ty_frame_stats* row = &sim->stats;
    row->cells = (double)stats.cells;
    row->unknowns = (double)stats.unknowns;
    row->solver_iterations += stats.iterations;
    row->max_divergence = fmax(row->max_divergence, stats.max_divergence);
    row->surface_divergence = fmax(row->surface_divergence, stats.surface_divergence);
    row->outside_vertices = fmax(row->outside_vertices, stats.outside);
    row->kinetic_energy = stats.kinetic_energy;
    if (stats.moving_volume >
        0.0)    // the surface knows the liquid's volume better than the solver's cells
        row->kinetic_energy *= ty_tri_mesh_volume(&sim->surface) / stats.moving_volume;
    row->seconds_mesh += stats.mesh_seconds;
    row->seconds_advect += stats.advect_seconds;
    row->seconds_project += stats.project_seconds;
    return ty_ok();
}

static ty_status report(ty_sim* sim)
{
    ty_flow flow = ty_sim_flow(sim);
    ty_frame_stats* row = &sim->stats;
    row->time = sim->time;
    row->max_speed = flow.max_speed;
    if (!isfinite(row->max_speed) || !isfinite(row->volume) || !isfinite(row->kinetic_energy))
        return ty_fail(
            TY_DIVERGED,
            "the numbers went wrong at t = %.6g s (speed %g m/s, volume %g m3); try a smaller "
            "frames.cfl or a smaller cell, and look at the last good frame",
            sim->time, row->max_speed, row->volume);
    ty_energy_account(&sim->energy, sim->world, &sim->def->solve, &sim->surface, row,
                      sim->ledger.step_outflow);
    return ty_sim_probe(sim);
}

ty_status ty_sim_start(ty_sim* sim)
{
    double begin = ty_clock();
    TY_TRY(ty_ledger_open(&sim->ledger,
                          ty_world_n_sources(sim->world) + ty_world_n_drains(sim->world)));
    TY_TRY(ty_sim_edit(sim, 0.0));
    TY_TRY(ty_sim_measure(sim));
    if (sim->tracker_kind) {
        ty_liquid liquid = ty_sim_liquid(sim);
        TY_TRY(ty_ledger_start(&sim->ledger, &liquid, sim->world, &sim->surface));
    }
    TY_TRY(advance_solver(sim, 0.0));
    sim->stats.seconds_surface = ty_clock() - begin;
    sim->stats.seconds = ty_clock() - begin;
    return report(sim);
}

// The frame's rest in equal steps none of which is longer than the solver allows, slack included: with a
// few steps a frame the last one would often be for a small rest. They end where a source or drain is
// switched, so that the solver knows before a step what it pushes.
static ty_status choose_step(ty_sim* sim, double frame_end, double* dt, bool* last)
{
    double switched = ty_world_next_switch(sim->world, sim->time);
    double shortest = SHORTEST_STEP / sim->def->frame_rate;
    bool whole = !(switched <
                   frame_end -
                       shortest);    // a switch at the frame's end leaves no step for the rest
    ty_flow flow = ty_sim_flow(sim);
    double rest = (whole ? frame_end : switched) - sim->time, limit = flow.dt_limit;
    if (!(limit > shortest) || !(rest > 0.0))
        return ty_fail(
            TY_DIVERGED,
            "the next step would be %.3g s (speed %.4g m/s) at t = %.6g s: the flow has blown up; "
            "try a smaller frames.cfl or a smaller cell",
            limit, flow.max_speed, sim->time);
    double n = ceil(rest / (limit * (1.0 + flow.dt_slack)) * (1.0 - 1e-12));
    *last = n <= 1.0 && whole;
    *dt = n <= 1.0 ? rest : rest / n;
    return ty_ok();
}

static ty_status step_stages(ty_sim* sim, double dt, bool shown)
{
    double begin = ty_clock();
    TY_TRY(lead_solver(sim, dt));
    TY_TRY(remember(sim, dt));
    TY_TRY(ty_world_move(sim->world, sim->time + dt, dt));
    TY_TRY(advance_tracker(sim, dt));
    TY_TRY(ty_sim_edit(sim, dt));
    TY_TRY(balance(sim, dt, shown));
    sim->stats.seconds_surface += ty_clock() - begin;
    return advance_solver(sim, dt);
}

ty_status ty_sim_step(ty_sim* sim, bool* frame_done)
{
    double begin = ty_clock();
    double frame_end = ty_sim_frame_time(sim->def, sim->frame + 1), dt = 0.0;
    if (sim->stats.time <= ty_sim_frame_time(sim->def, sim->frame)) {    // the frame's first step
        sim->stats = (ty_frame_stats){.time = sim->stats.time};
        sim->ledger.correction = sim->ledger.outflow = 0.0;
    }
    TY_TRY(choose_step(sim, frame_end, &dt, frame_done));
    TY_TRY(step_stages(sim, dt, *frame_done));
    sim->step_length = dt;
    sim->time = *frame_done ? frame_end : sim->time + dt;
    ++sim->step;
    if (*frame_done) ++sim->frame;
    ++sim->stats.substeps;
    TY_TRY(report(sim));
    sim->stats.seconds += ty_clock() - begin;
    sim->stats.peak_mib = ty_memory_peak_mib();
    return ty_ok();
}
