// SPDX-License-Identifier: Apache-2.0
// The scene reader with any bytes; the first line, when it holds a '=', is an override.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void hear(void* self, const ty_scene_message* message)
{
    (void)self;
    char text[1300];
    ty_scene_message_text(message, text, sizeof text);
}

// What was read must read back from its filled-in text.
static void check_round_trip(const ty_sim_def* def)
{
    ty_sim_def again;
    int64_t n = (int64_t)strlen(def->scene_text);
    ty_status status = ty_scene_read_text(&again, "fuzz.yaml", def->scene_text, n, 0, NULL, hear,
                                          NULL);
    if (status.code != TY_OK || again.scene_hash != def->scene_hash) __builtin_trap();
    ty_sim_def_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    char set[100] = "";
    const uint8_t* newline = n ? memchr(bytes, '\n', n) : NULL;
    size_t first = newline ? (size_t)(newline - bytes) : 0;
    bool has_set = first > 0 && first < sizeof set && memchr(bytes, '=', first) &&
                   !memchr(bytes, 0, first);
    if (has_set) memcpy(set, bytes, first);
    size_t skip = has_set ? first + 1 : 0;
    const char* sets[] = {set};
    ty_sim_def def;
    ty_status status = ty_scene_read_text(&def, "fuzz.yaml", (const char*)bytes + skip,
                                          (int64_t)(n - skip), has_set ? 1 : 0, sets, hear, NULL);
    if (status.code == TY_OK) {
        check_round_trip(&def);
        ty_sim_def_free(&def);
    }
    return 0;
}
