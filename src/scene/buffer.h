// SPDX-License-Identifier: Apache-2.0
// Text that grows. Running out of memory is remembered, not reported at every call.
#ifndef TY_SCENE_BUFFER_H
#define TY_SCENE_BUFFER_H

#include "core/memory.h"

// Open; zero-initialise.
typedef struct ty_buffer {
    TY_ARRAY(char) chars;    // with a NUL behind the last one, once something was added
    bool failed;
} ty_buffer;

void ty_buffer_add(ty_buffer* buffer, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
void ty_buffer_add_bytes(ty_buffer* buffer, const char* bytes, int64_t n);
// The shortest decimal that reads back as the same double; infinity as .inf.
void ty_buffer_add_number(ty_buffer* buffer, double value);
// Takes the characters out; NULL when something failed. It is empty afterwards.
char* ty_buffer_take(ty_buffer* buffer);
void ty_buffer_free(ty_buffer* buffer);

#endif
