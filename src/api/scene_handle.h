// SPDX-License-Identifier: Apache-2.0
#ifndef TY_API_SCENE_HANDLE_H
#define TY_API_SCENE_HANDLE_H

#include "sim/sim_def.h"

// The public ty_scene.
struct ty_scene {
    ty_sim_def def;
};

#endif
