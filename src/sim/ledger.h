// SPDX-License-Identifier: Apache-2.0
// The volume ledger: how much liquid there should be, per body of liquid, through merging,
// splitting, sources, drains and open sides; and the correction of what tracking lost or gained.
//
//   expected = start + sources - drains - what left through open sides
//
// A body (piece) of the new surface inherits from the bodies of the old one that it overlaps, found
// by following a few surface points of each through the flow, both ways. Bodies that overlap share:
// what they should hold together is dealt out by the volumes they have. What a vanished body held,
// and what a body that came from nowhere holds, is booked to the largest one, so that the sum
// always balances. Pieces that hang together in the cut surface, which is contoured anew, have one
// account.
#ifndef TY_SIM_LEDGER_H
#define TY_SIM_LEDGER_H

#include "core/archive.h"
#include "space/bvh.h"
#include "track/track.h"
#include "world/exchange.h"
#include "world/world.h"

// Value. What left through open sides.
typedef struct ty_outflow {
    double volume;       // m3
    double potential;    // m5/s2: the sum of -g.x over it, as it lies beyond the sides
} ty_outflow;

// Open. ty_ledger_open, ty_ledger_free.
typedef struct ty_ledger {
    TY_ARRAY(double) expected;    // m3 per piece of the present surface
    TY_ARRAY(double) volume;      // m3 per piece, as measured last, cut at obstacles
    TY_ARRAY(double) area;        // m2 per piece, free surface only
    TY_ARRAY(int) body;           // per piece: the first of those that are one in the cut surface
    TY_ARRAY(int) source_on;      // per source, then per drain: was it on in the last step
    double
        pending;    // m3 that sources and drains brought since the last balance; written by spouts.c
    double booked;    // m3 moved between bodies because one vanished or appeared, all told
    double correction, outflow;    // m3 during this frame
    ty_outflow step_outflow;       // during this step
    double asked, asked_net;       // m3 of this step's correction, without and with signs
    // m3 of all corrections so far whose effect was measured: asked for, and what the volume changed by
    double measured_asked, measured_taken;
    double cell;    // metres, of the surface
    // The surface before the step.
    ty_tri_mesh old_surface;    // only when it had several pieces
    TY_ARRAY(int) old_piece;    // of its vertices
    TY_ARRAY(double) moved;     // points of the old pieces, followed through the step; 3 each
    TY_ARRAY(int) moved_piece;
    TY_ARRAY(double) left;    // m3 per old piece that leaves through open sides in this step
    TY_ARRAY(double) left_potential;    // of that, as in ty_outflow
    TY_ARRAY(double) after;             // where the cut surface's vertices are after it; 3 each
    ty_bvh old_bvh, new_bvh;
} ty_ledger;

ty_status ty_ledger_open(ty_ledger* ledger, int n_sources);
void ty_ledger_free(ty_ledger* ledger);
// The opening balance: what is there is what should be there.
ty_status ty_ledger_start(ty_ledger* ledger, const ty_liquid*, const ty_world*,
                          const ty_tri_mesh* cut);

// Before a step changes anything: what the pieces are, where they go, what leaves through open
// sides.
ty_status ty_ledger_remember(ty_ledger* ledger, const ty_liquid* before, const ty_flow*,
                             const ty_world*, const ty_tri_mesh* cut, double dt);
// After the tracker's step: the new pieces, what they should hold and what they hold. `cut` is the
// surface cut at obstacles.
ty_status ty_ledger_balance(ty_ledger* ledger, const ty_liquid* after, const ty_flow*,
                            const ty_world*, const ty_tri_mesh* cut, double dt);
// Gives back by offsets what is missing. *moved when the tracker was changed. `later`: the tracker
// may do it along with the next step, at no cost; then it is booked as those before were taken.
ty_status ty_ledger_correct(ty_ledger* ledger, const ty_tracker_kind*, void* tracker, bool later,
                            bool* moved);

// After that: bodies may have taken more or less than they were asked for, so when all the liquid
// together, `volume`, is still off by more than one part in two thousand, all of it gets one more
// offset.
ty_status ty_ledger_settle(ty_ledger* ledger, const ty_tracker_kind*, void* tracker, double volume,
                           bool* moved);

// How much the liquid's volume changed by that, m3: offsets spare thin places, so it is less than
// was asked for, and the rest is asked for again.
void ty_ledger_corrected(ty_ledger* ledger, double changed);

double ty_ledger_expected(const ty_ledger* ledger);
ty_status ty_ledger_archive(ty_ledger* ledger, ty_archive* ar);

#endif
