// SPDX-License-Identifier: Apache-2.0
// The tricubic (Catmull-Rom) interpolant at one place, with its gradient: what Newton iterations need.
#ifndef TY_FIELD_CUBIC_H
#define TY_FIELD_CUBIC_H

#include "field/grid.h"

// Value; borrows. Values are multiplied by `scale`.
typedef struct ty_cubic {
    const ty_grid* grid;
    const double* values;
    double scale;
} ty_cubic;

// Value and gradient (per cell) at lattice coordinates s (cell centres are the integers), clamped to the lattice.
double ty_cubic_gradient(const ty_cubic* f, const double s[3], double gradient[3]);

#endif
