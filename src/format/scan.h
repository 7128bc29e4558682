// SPDX-License-Identifier: Apache-2.0
// Words and numbers of a text file that is not trusted, with the line for messages. Only for
// readers of this room.
#ifndef TY_FORMAT_SCAN_H
#define TY_FORMAT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

// Value; borrows the bytes.
typedef struct ty_scan {
    const char *at, *end;
    const char* file;
    int line;    // 1-based
} ty_scan;

// A word: bytes without blanks, not ended by a zero.
typedef struct ty_word {
    const char* at;
    int n;
} ty_word;

ty_scan ty_scan_begin(const void* bytes, int64_t n, const char* file);
// The next word of this line; false at its end. A backslash before the end of a line joins the next
// to it.
bool ty_scan_word(ty_scan* s, ty_word* word);
// The next word, on whatever line.
bool ty_scan_any_word(ty_scan* s, ty_word* word);
// Skips the rest of the line; false when no line follows.
bool ty_scan_next_line(ty_scan* s);

bool ty_word_is(ty_word w, const char* text);    // same letters
bool ty_word_is_any_case(ty_word w, const char* text);
bool ty_word_integer(ty_word w, int64_t* value);    // all of it, at most 18 digits
bool ty_word_double(ty_word w, double* value);      // all of it, finite

// TY_BAD_INPUT at this line, "... 'word' ..."; `format` takes one %s: the word, shortened and
// printable.
ty_status ty_scan_mistake(const ty_scan* s, ty_word w, const char* format);
// Three numbers of this line; `what` in messages: "a vertex".
ty_status ty_scan_point(ty_scan* s, const char* what, double x[3]);

#endif
