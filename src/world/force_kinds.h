// SPDX-License-Identifier: Apache-2.0
// The kinds of force that have a file of their own, for the table in force.c.
#ifndef TY_WORLD_FORCE_KINDS_H
#define TY_WORLD_FORCE_KINDS_H

#include "core/memory.h"
#include "world/force.h"

ty_status ty_spline_create(void** self, const ty_force_def* def, double cell);
void ty_spline_add(const void* self, const ty_force_def* def, const ty_force_points* at,
                   double (*a)[3]);
void ty_spline_destroy(void* self);

ty_status ty_guide_create(void** self, const ty_force_def* def, double cell);
void ty_guide_add(const void* self, const ty_force_def* def, const ty_force_points* at,
                  double (*a)[3]);
void ty_guide_destroy(void* self);

#endif
