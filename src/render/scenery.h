// SPDX-License-Identifier: Apache-2.0
// From a world and a liquid's surface to a stage: who is made of what, and where water meets glass.
//
// The written surface ends exactly on the tank's sides and on obstacles. No two faces may lie on
// each other, so
//   on a side of glass     the liquid keeps its face; the pane stands a thousandth of the tank's length outside
//   on the tank's floor    the liquid's face is left out: inside the water one looks straight at the floor
//   on an obstacle         likewise
#ifndef TY_RENDER_SCENERY_H
#define TY_RENDER_SCENERY_H

#include "render/stage.h"
#include "world/world_def.h"

typedef enum ty_look { TY_LOOK_WATER, TY_LOOK_CLAY, TY_LOOK_WIRE } ty_look;

typedef struct ty_scenery_def {
    const ty_world_def* world;
    double cell;    // m, of the surface
    ty_look look;
    bool tank;        // closed sides are drawn
    double tint;      // how strongly water takes red out; 1 is usual
    ty_box action;    // where liquid will be, when there is no domain
} ty_scenery_def;

typedef struct ty_scenery ty_scenery;

// Borrows def->world.
ty_status ty_scenery_create(ty_scenery** scenery, const ty_scenery_def* def);
void ty_scenery_destroy(ty_scenery* scenery);
// What a camera should see.
ty_box ty_scenery_box(const ty_scenery* scenery);
// The stage at time t; the shutter is open for `open` seconds around it. `liquid` may have no
// triangles; its attribute "velocity" (m/s) is used when open > 0. The caller destroys the stage,
// also after a failure.
ty_status ty_scenery_stage(ty_scenery* scenery, const ty_tri_mesh* liquid, double t, double open,
                           ty_stage* stage);

#endif
