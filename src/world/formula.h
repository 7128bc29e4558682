// SPDX-License-Identifier: Apache-2.0
// Shapes said as a formula, phi < 0 inside, made into something like a distance:
//
//   d1 = phi / |grad phi|                        right to first order in the distance
//   d  = d1 + w phi(y) / |grad phi(y)|           y = x - d1 n: right to second order; w is 1, fades to 0 at BAND cells
//
// and never beyond REACH cells, where the gradient may vanish. Gradients are central differences
// over a small share of a cell. The zero set and the sign are those of phi. No promise for the
// distance itself: exact_band is 0. A formula that changes in time moves its surface with the
// normal velocity -phi_t grad phi / |grad phi|^2.
#ifndef TY_WORLD_FORMULA_H
#define TY_WORLD_FORMULA_H

#include "world/fault.h"
#include "world/varying.h"

// At most TY_SAMPLE_BATCH points. A value that is not finite counts as far outside and is noted in
// `fault`.
void ty_formula_distance(const ty_varying* phi, double t, double cell, ty_fault* fault, int n,
                         const double (*x)[3], double* out);
void ty_formula_velocity(const ty_varying* phi, double t, double cell, ty_fault* fault, int n,
                         const double (*x)[3], double (*out)[3]);

#endif
