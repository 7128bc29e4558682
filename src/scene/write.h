// SPDX-License-Identifier: Apache-2.0
// The filled-in scene: YAML with every default written out, which reads back to the same def.
#ifndef TY_SCENE_WRITE_H
#define TY_SCENE_WRITE_H

#include "scene/keys.h"

// Text from ty_alloc; NULL when out of memory.
char* ty_scene_write(const ty_scene_draft* draft);
// The hash of what influences the result: the same text without names, output, checkpoints and the
// number of frames, and with files by name, not by folder (their contents are hashed on their own).
ty_status ty_scene_hash(const ty_scene_draft* draft, uint64_t* hash);

#endif
