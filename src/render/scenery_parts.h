// SPDX-License-Identifier: Apache-2.0
// What scenery.c, tank.c and liquid.c share.
#ifndef TY_RENDER_SCENERY_PARTS_H
#define TY_RENDER_SCENERY_PARTS_H

#include "render/scenery.h"
#include "render/solids.h"

struct ty_scenery {
    ty_scenery_def def;
    ty_box box;     // the domain, or the action
    double size;    // its longest side
    int n_solids;
    ty_solid* solids;
};

#define TY_PANE_GAP                                                                                \
    1e-3    // of the longest side: less than a pixel, more than the rounding of a float

bool ty_scenery_has_plate(const ty_scenery* s);    // the floor of the tank
ty_status ty_stage_add_tank(ty_stage* stage, const ty_scenery* s);
ty_status ty_stage_add_liquid(ty_stage* stage, const ty_scenery* s, const ty_tri_mesh* liquid,
                              double open);

#endif
