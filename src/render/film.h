// SPDX-License-Identifier: Apache-2.0
// Numbered pictures become a film (by the program ffmpeg) or a contact sheet, with their numbers
// burnt in.
#ifndef TY_RENDER_FILM_H
#define TY_RENDER_FILM_H

#include <stdbool.h>

#include "core/status.h"

typedef struct ty_shot {
    const char* path;    // a PNG
    int number;
} ty_shot;

// Whether the program ffmpeg is on the PATH.
bool ty_film_possible(void);
// H.264 at `rate` pictures a second. All pictures have the size of the first. The file appears when
// it is whole.
ty_status ty_film_write(const char* path, int n, const ty_shot* shots, double rate);
// At most `most` pictures, evenly chosen, in rows. A PNG.
ty_status ty_sheet_write(const char* path, int n, const ty_shot* shots, int most);

#endif
