// SPDX-License-Identifier: Apache-2.0
// Collects what is wrong with a scene, so that all of it is reported at once and in the order of
// the file.
#ifndef TY_SCENE_MISTAKES_H
#define TY_SCENE_MISTAKES_H

#include "core/memory.h"
#include "scene/scene.h"

// A text that nodes come from: the scene file, or one --set. Borrowed by everything below.
typedef struct ty_origin {
    const char* label;    // the file's name, or "--set solver.tolerance"
    const char* text;     // what places count in: the file, or "solver.tolerance=1e-8"
    int64_t n;
    bool is_file;
    int order;    // the file first, then the overrides as they were given
} ty_origin;

typedef struct ty_spot {
    const ty_origin* origin;
    int line, column;    // 1-based, the column in characters; 0: no place
} ty_spot;

enum { TY_MAX_MISTAKES = 100 };    // beyond, they are only counted

typedef struct ty_mistakes {
    TY_ARRAY(struct ty_mistake) list;
    int n_errors, n_not_yet, n_left_out;
    bool no_memory;
} ty_mistakes;

typedef struct ty_mistake {
    ty_spot spot;
    ty_scene_message message;
} ty_mistake;

void ty_mistake_add(ty_mistakes* m, ty_code code, ty_spot spot, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
void ty_warning_add(ty_mistakes* m, ty_spot spot, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Hands all messages to `report` in order and says how many errors there were.
ty_status ty_mistakes_report(ty_mistakes* m, const char* path, ty_scene_report report, void* self);
void ty_mistakes_free(ty_mistakes* m);

#endif
