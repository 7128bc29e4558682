// SPDX-License-Identifier: Apache-2.0
// Text that grows. Running out of memory is remembered, not reported at every call.
#ifndef TY_SCENE_TEXT_H
#define TY_SCENE_TEXT_H

#include "core/memory.h"

// Open; zero-initialise.
typedef struct ty_text {
    TY_ARRAY(char) chars;    // with a NUL behind the last one, once something was added
    bool failed;
} ty_text;

void ty_text_add(ty_text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
void ty_text_add_bytes(ty_text* text, const char* bytes, int64_t n);
// The shortest decimal that reads back as the same double; infinity as .inf.
void ty_text_add_number(ty_text* text, double value);
// Takes the characters out; NULL when something failed. The text is empty afterwards.
char* ty_text_take(ty_text* text);
void ty_text_free(ty_text* text);

#endif
