// SPDX-License-Identifier: Apache-2.0
// Velocities that lose a share of their kinetic energy: u <- mean + keep (u - mean). What all of the
// liquid shares stays, so that what flies flies on.
#ifndef TY_SOLVE_CALM_H
#define TY_SOLVE_CALM_H

#include <math.h>

#include "core/vec.h"

// Of the motion relative to the mean that may be lost at once.
#define TY_CALM_MOST 0.01

// `square`: mean of |u|^2; `loss`: share of it that is to go.
static inline double ty_calm_keep(ty_vec3 mean, double square, double loss)
{
    double relative = square - ty_dot(mean, mean);
    return relative > 0.0 ? sqrt(1.0 - fmin(TY_CALM_MOST, loss * square / relative)) : 1.0;
}

#endif
