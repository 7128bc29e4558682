// SPDX-License-Identifier: Apache-2.0
// Exact signed distances of the simple shapes, negative inside. Numbers are the def's, nothing is
// moved yet.
#ifndef TY_WORLD_PRIMITIVE_H
#define TY_WORLD_PRIMITIVE_H

#include "core/vec.h"
#include "world/world_def.h"

static inline bool ty_is_primitive(ty_shape_kind kind) { return kind <= TY_SHAPE_TORUS; }

// Sizes that make no shape (a radius of 0, min above max) are TY_BAD_INPUT with the scene's place.
ty_status ty_primitive_check(const ty_shape_def* def);
void ty_primitive_distance(const ty_shape_def* def, int n, const double (*x)[3], double* out);
// The box around it; infinite for a plane.
ty_box ty_primitive_bounds(const ty_shape_def* def);

#endif
