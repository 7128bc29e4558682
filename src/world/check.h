// SPDX-License-Identifier: Apache-2.0
// What usually goes wrong with a world, found before anything is simulated: each with a number, a
// place and a remedy. `tethys check` prints the messages.
#ifndef TY_WORLD_CHECK_H
#define TY_WORLD_CHECK_H

#include "core/memory.h"
#include "world/world.h"

typedef enum ty_warning_kind {
    TY_WARN_NO_LIQUID,    // nothing to simulate, or it is all outside the domain or in obstacles
    TY_WARN_LIQUID_IN_OBSTACLE,    // amount: share of the liquid's volume, 0 to 1
    TY_WARN_LIQUID_OUTSIDE,        // amount: share of the liquid outside the domain
    TY_WARN_SOURCE_OUTSIDE,    // amount: largest share of a source outside the domain at any time
    TY_WARN_THIN_WALL,         // amount: thickness in metres, where it is thinnest
    TY_WARN_MESH_HOLES,        // count: open edges; amount: their length in metres
    TY_WARN_MESH_CROSSINGS,    // count: pairs of triangles that pass through each other
    TY_WARN_CAMERA_INSIDE,     // amount: time in seconds when it is first so
    TY_N_WARNINGS
} ty_warning_kind;

// Value.
typedef struct ty_warning {
    ty_warning_kind kind;
    int index;    // which liquid, obstacle, source or camera, from 0
    int64_t count;
    double amount;
    double at[3];         // metres
    ty_place place;       // in the scene
    char message[400];    // one sentence with numbers and remedy, without the place in the scene
} ty_warning;

// Zero-initialise; ty_warnings_free.
typedef struct ty_warnings {
    TY_ARRAY(ty_warning) list;
} ty_warnings;
void ty_warnings_free(ty_warnings* w);

// Looks at the world from 0 to end_time, for a solver with this cell (metres). Appends to `found`.
// Fails as ty_world_create does; warnings are no failures. Costs about a million distances.
ty_status ty_world_check(const ty_world_def* def, double cell, double end_time, ty_warnings* found);

#endif
