// SPDX-License-Identifier: Apache-2.0
// A simulation in memory: the world, a tracker and a solver, stepped together. No files.
#ifndef TY_SIM_SIM_H
#define TY_SIM_SIM_H

#include "sim/energy.h"
#include "sim/ledger.h"
#include "sim/sim_def.h"
#include "sim/spouts.h"
#include "sim/stats.h"
#include "track/cut.h"

// Open. Zero-initialise, ty_sim_create, ty_sim_destroy. Borrows `def`.
typedef struct ty_sim {
    const ty_sim_def* def;
    ty_world* world;
    const ty_tracker_kind* tracker_kind;    // NULL for smoke
    const ty_solver_kind* solver_kind;
    void *tracker, *solver;
    ty_ledger ledger;
    ty_spouts spouts;
    ty_energy energy;
    ty_cutter* cutter;
    ty_tri_mesh surface;     // what is written: cut at obstacles, with velocities once asked for
    double time;             // s
    int frame;               // frames done; 0 is the start
    int64_t step;            // steps since the start
    double step_length;      // s, of the last step
    ty_frame_stats stats;    // of the frame under way
    TY_ARRAY(char) probe_rows;    // rows of probes.csv not yet written
} ty_sim;

ty_status ty_sim_create(ty_sim* sim, const ty_sim_def* def);
void ty_sim_destroy(ty_sim* sim);

// One step towards the next frame, as long as the solver allows. *frame_done when the frame's time
// is reached; then the statistics of the frame are complete. TY_DIVERGED when the numbers went
// wrong.
ty_status ty_sim_step(ty_sim* sim, bool* frame_done);
// Seconds of the frame with index k.
double ty_sim_frame_time(const ty_sim_def* def, int k);

ty_liquid ty_sim_liquid(const ty_sim* sim);
ty_flow ty_sim_flow(const ty_sim* sim);
// Fills the surface's attribute "velocity".
ty_status ty_sim_surface_velocities(ty_sim* sim);

// Everything that influences the next bit, in the archive's direction. Loading needs a sim fresh
// from create.
ty_status ty_sim_archive(ty_sim* sim, ty_archive* ar);

#endif
