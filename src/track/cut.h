// SPDX-License-Identifier: Apache-2.0
// The surface that is written and counted: a tracker's liquid cut by the obstacles and by the
// domain's sides, closed, outward, whatever the tracker.
//
// The triangles are the contour of max(liquid, -obstacles) on a lattice of its own whose outermost
// planes lie on the domain's sides (the others at cell centres), where the liquid ends sharply: a
// tank full to a level plane has its volume to rounding. Obstacles are met to second order. Every
// vertex lies on the zero of the true functions along its lattice edge; where liquid is too thin
// for the lattice to see (ty_liquid.fattening), on the liquid near that edge.
#ifndef TY_TRACK_CUT_H
#define TY_TRACK_CUT_H

#include "world/exchange.h"
#include "world/world.h"

// Opaque: scratch memory, and obstacle values kept while no solid moves. One call at a time.
typedef struct ty_cutter ty_cutter;

ty_status ty_cutter_create(ty_cutter** cutter);
void ty_cutter_destroy(ty_cutter* cutter);    // NULL is fine
// Gives back scratch memory.
void ty_cutter_rest(ty_cutter* cutter);

// Replaces `out`. Without a domain the lattice covers the liquid's surface. An empty liquid gives
// an empty mesh. Call with the same world as long as the cutter lives. Same bits for any number of
// threads.
ty_status ty_cut_surface(ty_cutter* cutter, const ty_liquid* liquid, const ty_world* world,
                         ty_tri_mesh* out);

// The volume inside `box` (rounded out to whole cells, cut at the domain) as ty_cut_surface would
// have it: the difference of two calls is what a change inside the box did. m3.
ty_status ty_cut_volume(ty_cutter* cutter, const ty_sampler* distance, double cell,
                        const ty_world* world, const ty_box* box, double* volume);

#endif
