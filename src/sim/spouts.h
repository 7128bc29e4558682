// SPDX-License-Identifier: Apache-2.0
// Sources and drains in a step: what they do to the surface, what the ledger books for them, and the meter.
#ifndef TY_SIM_SPOUTS_H
#define TY_SIM_SPOUTS_H

#include "core/archive.h"

struct ty_sim;

// Value; zero at first.
typedef struct ty_spouts {
    double drain_rate, drain_step;    // m3/s into the drains in the last step, and its length
    double gap;                       // m3 that were missing after the last balance, all told
    double shortfall;                 // m3 of it that came while sources were on: what the meter works off
    double shortfall_before;          // in the last step
    double learnt;                    // share of the outflow that the meter adds in the long run
} ty_spouts;

// After the tracker has moved: sources are liquid while they are on, drains are empty. Books what a source delivered
// (and its first filling), and what ran into the drains.
ty_status ty_sim_edit(struct ty_sim* sim, double dt);
// After the balance, without volume correction: tells the sources to let out more or less, by at most a fifth, until
// there is as much more liquid as they should have delivered. A jet of few cells loses its edges to the lattice, and
// with them some percent of what its velocity times its area says.
void ty_sim_meter(struct ty_sim* sim, double dt);

ty_status ty_spouts_archive(ty_spouts* spouts, ty_archive* ar);

#endif
