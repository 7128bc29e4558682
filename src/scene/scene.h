// SPDX-License-Identifier: Apache-2.0
// The scene file: YAML in, a ty_sim_def out. One table (keys.c) holds every key with type, unit,
// default, range and a sentence; the checks, the filled-in scene, docs/scene-reference.md and the
// JSON Schema come from it.
#ifndef TY_SCENE_SCENE_H
#define TY_SCENE_SCENE_H

#include "sim/sim_def.h"

// One mistake: `status` has the place and the words, `excerpt` the line with a caret below the
// column ("" when there is no line to show).
typedef struct ty_scene_message {
    bool is_error;    // else a warning
    ty_status status;
    char excerpt[400];
} ty_scene_message;

// Ready to print, with the excerpt on two more lines:
//   dam.yaml:9:3: error: unknown key 'resolutoin' in 'scene'; did you mean 'resolution'?
// A mistake in an override has no file: "error: --set solver.tolerance: ...". Returns `out`; 1300
// is always enough.
const char* ty_scene_message_text(const ty_scene_message* message, char* out, int size);

typedef void (*ty_scene_report)(void* self, const ty_scene_message*);

// Reads a scene. `set` are n_set "key=value" overrides ("solver.tolerance=1e-8",
// "liquid.0.box.max=[1,1,1]"), checked like the file. Every mistake goes to `report` (NULL:
// nowhere), in the order of the file; warnings too, which are no reason to fail. The status says
// how many mistakes there were: TY_NOT_YET when all ask for what is not built yet, else
// TY_BAD_INPUT. On failure *def is empty; nothing has to be freed. Files named by the scene are
// found relative to it; they are hashed, not loaded.
ty_status ty_scene_read(ty_sim_def* def, const char* path, int n_set, const char* const* set,
                        ty_scene_report report, void* self);
// The same from memory; `path` is for messages and relative files.
ty_status ty_scene_read_text(ty_sim_def* def, const char* path, const char* text, int64_t n,
                             int n_set, const char* const* set, ty_scene_report report, void* self);

// docs/scene-reference.md and the JSON Schema, as text from ty_alloc; NULL when out of memory.
char* ty_scene_reference(void);
char* ty_scene_json_schema(void);

#endif
