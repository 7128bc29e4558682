// SPDX-License-Identifier: Apache-2.0
// Velocities that lose a share of their kinetic energy: u <- mean + keep (u - mean). What all of the
// liquid shares stays, so that what flies flies on.
#ifndef TY_SOLVE_SLOW_H
#define TY_SOLVE_SLOW_H

#include <math.h>

#include "core/vec.h"

// The law of energy (sim/energy.h), as a solver is told of it before a step. Value. One that can tell at the end
// of a step what energy its velocities have goes by `most`, others by `loss`.
typedef struct ty_slow {
    double loss;    // share of the kinetic energy that is to go, going by what the last step gained
    double most;    // J/m3 of liquid in motion that the step may end with; INFINITY
} ty_slow;

// Of the kinetic energy that a step may lose to end with `most`: a jump of what is measured must not stop a splash.
// (scenes/tet/dam-break with 12 cells gains 0.11 of it in its first step, with 32 where the wave falls back 0.02.)
#define TY_SLOW_MOST_AT_ONCE 0.1

// Of the motion relative to the mean that may be lost at once.
#define TY_SLOW_MOST 0.01

// `square`: mean of |u|^2; `loss`: share of it that is to go.
static inline double ty_slow_keep(ty_vec3 mean, double square, double loss)
{
    double relative = square - ty_dot(mean, mean);
    return relative > 0.0 ? sqrt(1.0 - fmin(TY_SLOW_MOST, loss * square / relative)) : 1.0;
}

#endif
