// SPDX-License-Identifier: Apache-2.0
#include "track/kinds.h"

#include <string.h>

// The one table of trackers: a new one is a row here.
static const ty_tracker_kind* const kinds[] = {&ty_tracker_levelset, &ty_tracker_particle,
                                               &ty_tracker_contour, NULL};

const ty_tracker_kind* const* ty_tracker_kinds(void) { return kinds; }

const ty_tracker_kind* ty_tracker_find(const char* name)
{
    for (int i = 0; kinds[i]; ++i)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

ty_track_def ty_track_default(void)
{
    return (ty_track_def){
        .kind = "levelset",
        .cell = 0.05,
        .transport = TY_TRANSPORT_SEMI_LAGRANGIAN,
        .redistance = 0.7,
        .thicken_surface = true,
        .thicken_mesh = true,
        .thicken_gamma = 1.2,
        .thicken_redistribute = 1.5,
        .thicken_reject = 0.75,
        .thicken_beta = 0.6,
        .thicken_grow_big = 0.25,
        .thicken_grow_small = 0.15,
        .thicken_radius = 2.0,
        .thicken_offset = 0.6,
        .thicken_kernel = 4.0,
        .particles_per_cell = 32,
    };
}
