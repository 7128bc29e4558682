// SPDX-License-Identifier: Apache-2.0
// Sources and drains in a step: what they do to the surface, and what the ledger books for them.
#ifndef TY_SIM_SPOUTS_H
#define TY_SIM_SPOUTS_H

#include "core/archive.h"

struct ty_sim;

// Value; zero at first.
typedef struct ty_spouts {
    double drain_rate, drain_step;    // m3/s into the drains in the last step, and its length
} ty_spouts;

// After the tracker has moved: sources are liquid while they are on, drains are empty. Books what a
// source delivered (and its first filling), and what ran into the drains.
ty_status ty_sim_edit(struct ty_sim* sim, double dt);

ty_status ty_spouts_archive(ty_spouts* spouts, ty_archive* ar);

#endif
