// SPDX-License-Identifier: Apache-2.0
// A finished picture, 8 bits a channel, sRGB; to PNG and back. Digits are drawn without a font.
#ifndef TY_RENDER_IMAGE_H
#define TY_RENDER_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { TY_MAX_PICTURE_SIDE = 16384 };

// Open. Owns its pixels, rows from the top, RGB. Zero-initialise; ty_image_free.
typedef struct ty_image {
    int width, height;
    uint8_t* rgb;
} ty_image;

// Black. What it held before is gone.
ty_status ty_image_resize(ty_image* image, int width, int height);
void ty_image_free(ty_image* image);

// `key` is kept in the file and says what the picture was made from; may be "".
ty_status ty_png_write(const ty_image* image, const char* path, const char* key);
ty_status ty_png_read(ty_image* image, const char* path);
// Whether the file is a PNG with this key. Missing and damaged files are not.
bool ty_png_has_key(const char* path, const char* key);

// A number in white on a dark bar in the lower left corner, `scale` pixels to a dot of a digit (5 x
// 7 dots).
void ty_image_number(ty_image* image, int number, int scale);
// Copies `from`, made smaller by averaging, into the rectangle at (x, y).
void ty_image_place(ty_image* to, const ty_image* from, int x, int y, int width, int height);

#endif
