// SPDX-License-Identifier: Apache-2.0
// The stages of a step that others need too.
#ifndef TY_SIM_STEP_H
#define TY_SIM_STEP_H

#include "sim/sim.h"

// The state at time 0: first filling of sources, consistent velocities, the ledger's opening
// balance.
ty_status ty_sim_start(ty_sim* sim);
// Remakes sim->surface from the tracker.
ty_status ty_sim_measure(ty_sim* sim);
// Appends the row of probes.csv for this moment.
ty_status ty_sim_probe(ty_sim* sim);
// The header line of probes.csv into rows.
ty_status ty_probe_header(const ty_sim_def* def, char** text);

#endif
