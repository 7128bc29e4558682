// SPDX-License-Identifier: Apache-2.0
// Following points through a flow, one rule for trackers and solvers.
//
// With an acceleration (flow->acceleration.eval set) the path is the Lagrangian one of the
// carried-acceleration step: y + dt (u(y) + dt/2 a(y)) = x, by fixed-point iteration to 1e-4 cells;
// its curvature is in `a` already. Where the velocity is another one at the other end of that leap,
// it led through the floor that turned it: such points go on in sub-steps, as without an
// acceleration, through the velocity alone. Without: RK3 (Ralston) in sub-steps that move a point
// at most one cell each, through the velocity at the middle of the step if the flow tells its
// motion: volumes are kept as well as the velocity is free of divergence, also where it changes
// within a cell.
#ifndef TY_WORLD_TRACE_H
#define TY_WORLD_TRACE_H

#include "world/exchange.h"

// Where the liquid that is at x after dt was before. Re-entrant; from[] and x[] may be the same
// array.
void ty_trace_back(const ty_flow* flow, double dt, int n, const double (*x)[3], double (*from)[3]);
// The same in two calls: the velocities at x that paths begin with, and the rest.
void ty_trace_begin(const ty_flow* flow, double dt, int n, const double (*x)[3], double (*v)[3]);
void ty_trace_back_with(const ty_flow* flow, double dt, int n, const double (*x)[3],
                        const double (*v)[3], double (*from)[3]);
// To a fiftieth of a cell only, where there is an acceleration.
void ty_trace_back_roughly(const ty_flow* flow, double dt, int n, const double (*x)[3],
                           const double (*v)[3], double (*from)[3]);
// Where the liquid at x is after dt. Re-entrant; to[] and x[] may be the same array.
void ty_trace_forward(const ty_flow* flow, double dt, int n, const double (*x)[3], double (*to)[3]);

// The same for at most TY_SAMPLE_BATCH points of a surface, whose volume counts. Beside obstacles (no eval: there are none)
// it goes as it does half a cell of the flow in front of them: there trackers see how it moves, and continue it to the
// wall and behind. What velocities say nearer to a round wall, where corners behind it go straight on and a solver's
// last cells are slivers, is not what trackers follow: for what that seemed to lose a bucket's water (F12) was filled
// up by 1 to 2 % a second. Not at walls so thin that what is in them may continue the liquid on either side. `stepped`:
// which points went so. to[] and x[] may be the same array.
void ty_trace_surface(const ty_flow* flow, const ty_sampler* obstacles, double dt, int n,
                      const double (*x)[3], double (*to)[3], bool* stepped);

#endif
