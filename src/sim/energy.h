// SPDX-License-Identifier: Apache-2.0
// The law of energy: liquid that nobody pushes gains none. Errors in space of solver and tracker
// have either sign (films, eddies of a few cells) and may add to it all the same. What exceeds the
// lowest so far by more than ALLOWED is taken from the velocities in the next step (solve/slow.h): a
// projection onto an invariant [Hairer2006, IV.4], of one side only.
//
// The pressure at an open side is that of the air and does no work, so that what leaves takes along
// what it has: rho (u^2/2 - g.x). The second term is counted where it leaves (sim/ledger.h), for it
// may be less than nothing; the first never is, and leaving it out errs on the side that takes nothing.
#ifndef TY_SIM_ENERGY_H
#define TY_SIM_ENERGY_H

#include "core/archive.h"
#include "mesh/tri_mesh.h"
#include "sim/ledger.h"
#include "sim/stats.h"
#include "solve/solve.h"

// Open; zero-initialised: not begun.
typedef struct ty_energy {
    double begun;     // 1 while nobody pushes. In J/m3, for volumes waver:
    double lowest;    // since then
    double scale;     // what the liquid could do when it was left alone, or its largest motion
    double kinetic, sum;    // of the last step
    double excess;          // what the next step is to lose
} ty_energy;

// After a step, with its volumes and energies in `row` and what left during it. Begins anew while
// anything does work that is not counted: moving solids, sources, drains, forces, steering, surface
// tension.
void ty_energy_account(ty_energy* e, const ty_world* world, const ty_solve_def* def,
                       const ty_tri_mesh* surface, const ty_frame_stats* row, ty_outflow left);
// The share of its kinetic energy that the next step is to lose; 0 nearly always.
double ty_energy_loss(const ty_energy* e);
ty_status ty_energy_archive(ty_energy* e, ty_archive* ar);

#endif
