// SPDX-License-Identifier: Apache-2.0
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/parallel.h"
#include "sim/step.h"

ty_sim_def ty_sim_default(void)
{
    ty_sim_def def = {.cell = 0.05, .frame_count = 1, .frame_start = 1, .frame_rate = 24};
    def.world = ty_world_default();
    def.track = ty_track_default();
    def.solve = ty_solve_default();
    def.volume_correct = true;
    def.checkpoint_every = 1;
    def.checkpoint_keep = 2;
    def.write_surface = true;
    def.output_every = 1;
    return def;
}

void ty_sim_def_free(ty_sim_def* def)
{
    ty_world_def_free(&def->world);
    ty_varying_free(&def->solve.viscosity);
    ty_varying_free(&def->solve.velocity);
    for (int i = 0; i < def->n_probes; ++i) ty_free(def->probes[i].name);
    for (int i = 0; i < def->n_inputs; ++i) ty_free(def->inputs[i].path);
    char* strings[] = {def->name,          def->tracker_kind, def->solver_kind, def->pressure_kind,
                       def->obstacle_kind, def->scene_text,   def->file};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; ++i) ty_free(strings[i]);
    ty_free(def->probes);
    ty_free(def->inputs);
    *def = (ty_sim_def){0};
}

double ty_sim_frame_time(const ty_sim_def* def, int k) { return (double)k / def->frame_rate; }

ty_liquid ty_sim_liquid(const ty_sim* sim)
{
    return sim->tracker_kind ? sim->tracker_kind->liquid(sim->tracker) : (ty_liquid){0};
}

ty_flow ty_sim_flow(const ty_sim* sim) { return sim->solver_kind->flow(sim->solver); }

static ty_status find_kinds(ty_sim* sim)
{
    const ty_sim_def* def = sim->def;
    sim->solver_kind = ty_solver_find(def->solve.kind);
    if (!sim->solver_kind)
        return ty_fail(TY_NOT_YET, "solver '%s' is not available yet", def->solve.kind);
    if (def->smoke) return ty_ok();
    sim->tracker_kind = ty_tracker_find(def->track.kind);
    if (!sim->tracker_kind)
        return ty_fail(TY_NOT_YET, "tracker '%s' is not available yet", def->track.kind);
    if (!def->world.has_domain &&
        (sim->tracker_kind->needs_domain || sim->solver_kind->needs_domain))
        return ty_fail_at(TY_BAD_INPUT, def->file, 0, 0,
                          "%s '%s' needs a domain; add  domain: {min: [...], size: [...]}",
                          sim->tracker_kind->needs_domain ? "tracker" : "solver",
                          sim->tracker_kind->needs_domain ? def->track.kind : def->solve.kind);
    return ty_ok();
}

static ty_status create_parts(ty_sim* sim)
{
    const ty_sim_def* def = sim->def;
    TY_TRY(find_kinds(sim));
    TY_TRY(ty_world_create(&sim->world, &def->world, fmin(def->cell, def->track.cell)));
    TY_TRY(ty_world_move(sim->world, 0.0, 0.0));
    if (sim->tracker_kind) {
        TY_TRY(sim->tracker_kind->create(&sim->tracker, &def->track, sim->world));
        TY_TRY(ty_cutter_create(&sim->cutter));
    }
    TY_TRY(sim->solver_kind->create(&sim->solver, &def->solve, sim->world));
    return ty_sim_start(sim);
}

ty_status ty_sim_create(ty_sim* sim, const ty_sim_def* def)
{
    *sim = (ty_sim){.def = def};
    ty_status status = create_parts(sim);
    if (status.code != TY_OK) ty_sim_destroy(sim);
    return status;
}

void ty_sim_destroy(ty_sim* sim)
{
    if (sim->tracker) sim->tracker_kind->destroy(sim->tracker);
    if (sim->solver) sim->solver_kind->destroy(sim->solver);
    ty_cutter_destroy(sim->cutter);
    ty_ledger_free(&sim->ledger);
    ty_world_destroy(sim->world);
    ty_tri_mesh_free(&sim->surface);
    ty_array_free(&sim->probe_rows);
    *sim = (ty_sim){0};
}

typedef struct velocity_job {
    const ty_sampler* velocity;
    const ty_tri_mesh* surface;
    float* out;
} velocity_job;

static void sample_velocities(void* ctx, ty_range r)
{
    velocity_job* job = ctx;
    double v[TY_SAMPLE_BATCH][3];
    int n = (int)(r.end - r.begin);
    ty_sample(job->velocity, n, (const double(*)[3])job->surface->vert + r.begin, v[0]);
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) job->out[3 * (r.begin + i) + axis] = (float)v[i][axis];
}

ty_status ty_sim_surface_velocities(ty_sim* sim)
{
    ty_flow flow = ty_sim_flow(sim);
    velocity_job job = {&flow.velocity, &sim->surface,
                        ty_tri_mesh_add_attribute(&sim->surface, "velocity", 3)};
    if (!job.out) return ty_no_memory("surface velocities");
    ty_parallel_for(sim->surface.n_verts, TY_SAMPLE_BATCH, sample_velocities, &job);
    return ty_ok();
}

ty_status ty_sim_archive(ty_sim* sim, ty_archive* ar)
{
    TY_TRY(ty_archive_f64(ar, "time", &sim->time, 1));
    TY_TRY(ty_archive_i32(ar, "frame", &sim->frame, 1));
    TY_TRY(ty_archive_i64(ar, "step", &sim->step, 1));
    TY_TRY(ty_archive_f64(ar, "step_length", &sim->step_length, 1));
    TY_TRY(ty_archive_f64(ar, "stats", &sim->stats.time, sizeof sim->stats / sizeof(double)));
    TY_TRY(ty_archive_growing(ar, "probe_rows", &sim->probe_rows));
    TY_TRY(ty_ledger_archive(&sim->ledger, ar));
    TY_TRY(ty_spouts_archive(&sim->spouts, ar));
    TY_TRY(ty_energy_archive(&sim->energy, ar));
    if (ar->loading) TY_TRY(ty_world_move(sim->world, sim->time, sim->step_length));
    if (sim->tracker_kind) TY_TRY(sim->tracker_kind->archive(sim->tracker, ar));
    TY_TRY(sim->solver_kind->archive(sim->solver, ar));
    return ar->loading ? ty_sim_measure(sim) : ty_ok();
}
