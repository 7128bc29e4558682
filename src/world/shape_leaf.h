// SPDX-License-Identifier: Apache-2.0
// The kinds of shape without children, in their own space before any motion. For shape.c and
// shape_bounds.c only.
#ifndef TY_WORLD_SHAPE_LEAF_H
#define TY_WORLD_SHAPE_LEAF_H

#include "world/shape.h"

// Fills the kind's fields of s; destroy is ty_leaf_destroy, also after a failure.
ty_status ty_leaf_create(ty_shape* s);
void ty_leaf_destroy(ty_shape* s);
ty_status ty_leaf_move(ty_shape* s, double t, double dt);
double ty_leaf_exact_band(const ty_shape* s);

// At most TY_SAMPLE_BATCH points.
void ty_leaf_distance(const ty_shape* s, int n, const double (*x)[3], double* out);
void ty_leaf_velocity(const ty_shape* s, int n, const double (*x)[3], double (*out)[3]);
ty_box ty_leaf_bounds(const ty_shape* s, bool ever);
double ty_leaf_speed(const ty_shape* s, const ty_box* within);

#endif
