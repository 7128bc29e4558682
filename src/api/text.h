// SPDX-License-Identifier: Apache-2.0
// A text that grows, for the answers of the public API.
#ifndef TY_API_TEXT_H
#define TY_API_TEXT_H

#include "core/memory.h"

typedef struct ty_text {
    TY_ARRAY(char) chars;
    bool failed;    // out of memory at some point
} ty_text;

void ty_text_print(ty_text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The text as a string from ty_alloc in *out; the ty_text is empty afterwards.
ty_status ty_text_take(ty_text* text, char** out);

#endif
