// SPDX-License-Identifier: Apache-2.0
// A run: simulate a scene frame by frame and write a result folder (docs/architecture.md, "What a
// run writes").
#ifndef TY_SIM_RUN_H
#define TY_SIM_RUN_H

#include "sim/sim_def.h"
#include "tethys/tethys.h"

// def->dir must be set. Frames already written stay whole whatever happens.
ty_status ty_sim_run(const ty_sim_def* scene, const ty_run_def* def);

#endif
