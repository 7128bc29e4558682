// SPDX-License-Identifier: Apache-2.0
// The law of energy: liquid that nobody pushes gains none. Errors in space of solver and tracker
// have either sign (films, eddies of a few cells) and may add to it all the same. What exceeds the
// lowest so far by more than ALLOWED is taken from the velocities (solve/slow.h): a projection onto an
// invariant [Hairer2006, IV.4], of one side only. Where the liquid will be, and so its potential energy, is known before a
// step's velocities are: a solver that measures its own energy takes from them what they have too much (solver `tet` at
// walls). Others lose in the next step what this one gained too much, with what it will gain itself guessed from this one:
// with `tet` that was too late where water falls back from a wall (gains of 8e-4 a step, one after the other).
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
// What the next step does with its kinetic energy, nothing nearly always. `row`: its volumes and potential energy, known
// before its velocities are.
ty_slow ty_energy_slow(const ty_energy* e, const ty_world* world, const ty_solve_def* def,
                       const ty_frame_stats* row, ty_outflow left);
ty_status ty_energy_archive(ty_energy* e, ty_archive* ar);

#endif
