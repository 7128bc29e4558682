// SPDX-License-Identifier: Apache-2.0
// The single checks, for check.c only.
#ifndef TY_WORLD_CHECK_PARTS_H
#define TY_WORLD_CHECK_PARTS_H

#include "world/check.h"
#include "world/world_state.h"

// Appends a warning; `format` makes its message.
ty_status ty_warn(ty_warnings* found, ty_warning w, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

ty_status ty_check_liquid(const ty_world* w, ty_warnings* found);                // check_share.c
ty_status ty_check_sources(ty_world* w, double end_time, ty_warnings* found);    // check_share.c
ty_status ty_check_thin_walls(const ty_world* w, double cell,
                              ty_warnings* found);                   // check_thin.c
ty_status ty_check_meshes(const ty_world* w, ty_warnings* found);    // check_mesh.c

#endif
