// SPDX-License-Identifier: Apache-2.0
// A picture while it is made: linear light, how uncertain it is, and what the denoiser is guided
// by.
#ifndef TY_RENDER_CANVAS_H
#define TY_RENDER_CANVAS_H

#include "core/memory.h"
#include "core/vec.h"
#include "render/image.h"

typedef struct ty_pixel {
    float light[3];    // mean of the samples
    float variance;    // of the mean's luminance
    float normal[3], deep_normal[3], albedo[3];
    float depth;    // metres; 0: sky
} ty_pixel;

// Open. Owns its pixels; rows from the top.
typedef struct ty_canvas {
    int width, height;
    ty_pixel* pixels;
} ty_canvas;

ty_status ty_canvas_create(ty_canvas* canvas, int width, int height);
void ty_canvas_free(ty_canvas* canvas);

static inline double ty_luminance(ty_vec3 light)
{
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
}

// Smooths noise but not what normals, albedo and depth show to be an edge: wavelets with holes,
// weighted by the variance [Dammertz2010, Schied2017].
ty_status ty_canvas_denoise(ty_canvas* canvas);
// Through a film-like curve to sRGB bytes.
ty_status ty_canvas_develop(const ty_canvas* canvas, double exposure, ty_image* image);

#endif
