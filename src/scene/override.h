// SPDX-License-Identifier: Apache-2.0
// --set key=value: changes the tree before it is read, so that an override is checked like the
// file.
#ifndef TY_SCENE_OVERRIDE_H
#define TY_SCENE_OVERRIDE_H

#include "scene/yaml.h"

// `origin->text` is "liquid.0.box.max=[1,1,1]"; `root` a mapping. Mistakes are collected.
void ty_override(ty_pool* pool, ty_node* root, const ty_origin* origin, ty_mistakes* mistakes);

#endif
