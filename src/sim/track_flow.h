// SPDX-License-Identifier: Apache-2.0
// The prescribed flows that trackers are compared in, and what they carry.
//
//   zalesak     a slotted sphere makes one turn in a box of 100 m [Enright2002]; slot as in the reference tables
//   enright     a sphere is drawn into a sheet and back [LeVeque1996]
//   shear       a sphere in the single vortex of the plane [LeVeque1996]
//   rotate      a sphere makes one turn
//   translate   a sphere moves 0.4 of the box's side
//   field       a sphere in the velocity that is given, by expressions or as a volume
#ifndef TY_SIM_TRACK_FLOW_H
#define TY_SIM_TRACK_FLOW_H

#include "sim/track_case.h"
#include "world/exchange.h"

typedef struct ty_track_flow ty_track_flow;
typedef void ty_track_velocity(const ty_track_flow* flow, int n, const double (*x)[3],
                               double (*out)[3]);

typedef struct ty_track_flow_case {
    const char* name;
    double size;    // side of the cubic domain, metres
    double center[3], radius;
    double period;    // seconds; the run's length
    double axis[3];
    bool any_axis;    // else x, y or z
    bool reverses;    // velocity times cos(pi t / period)
    bool slotted;
    double
        speed;    // the largest, times 1 / period where that scales the field; 0: from the liquid
    ty_track_velocity* velocity;
} ty_track_flow_case;

// Open. A case with its parameters; `scale` is the time factor of the step.
struct ty_track_flow {
    const ty_track_flow_case* kind;
    double center[3], radius, period, axis[3], size;
    int turn;    // coordinate i of the case is coordinate (i + turn) % 3 of space
    double scale;
    double time;    // for `field`
    ty_varying* field;
    double max_speed;
};

const ty_track_flow_case* ty_track_flow_find(const char* name);
// Names of all cases, with commas between.
const char* ty_track_flow_names(void);
ty_status ty_track_flow_open(ty_track_flow* flow, const ty_track_case_def* def);
// The velocity of the step from t to t + dt: that of its middle.
ty_status ty_track_flow_step(ty_track_flow* flow, double t, double dt);
ty_sampler ty_track_flow_velocity(const ty_track_flow* flow);
// The liquid at the start. The shapes of a difference are put into children[2].
ty_shape_def ty_track_flow_shape(const ty_track_flow* flow, ty_shape_def children[2]);
// Its exact volume, m3.
double ty_track_flow_volume(const ty_track_flow* flow);
// Where the liquid's points are at the end, relative to the start, when all move alike.
void ty_track_flow_moved(const ty_track_flow* flow, double by[3]);

#endif
