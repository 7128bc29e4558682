// SPDX-License-Identifier: Apache-2.0
#include "render/canvas.h"

#include "core/parallel.h"

ty_status ty_canvas_create(ty_canvas* canvas, int width, int height)
{
    *canvas = (ty_canvas){width, height,
                          ty_alloc_zero((size_t)width * (size_t)height, sizeof(ty_pixel))};
    return canvas->pixels ? ty_ok() : ty_no_memory("a picture");
}

void ty_canvas_free(ty_canvas* canvas)
{
    ty_free(canvas->pixels);
    *canvas = (ty_canvas){0};
}

// A film's response: dark stays dark, bright rolls off [Narkowicz2016].
static double film_curve(double x)
{
    return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
}
static const double GAIN = 0.84;    // so that a white floor in the sun is just below white

static uint8_t to_byte(double light)
{
    double x = ty_clamp(film_curve(GAIN * ty_max(0.0, light)), 0.0, 1.0);
    double s = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
    return (uint8_t)(255.0 * s + 0.5);
}

typedef struct develop_job {
    const ty_canvas* canvas;
    double exposure;
    ty_image* image;
} develop_job;

static void develop_row(void* ctx, ty_range r)
{
    develop_job* job = ctx;
    int width = job->canvas->width;
    for (int64_t i = r.begin * width; i < r.end * width; ++i)
        for (int c = 0; c < 3; ++c)
            job->image->rgb[3 * i + c] = to_byte(job->exposure *
                                                 (double)job->canvas->pixels[i].light[c]);
}

ty_status ty_canvas_develop(const ty_canvas* canvas, double exposure, ty_image* image)
{
    TY_TRY(ty_image_resize(image, canvas->width, canvas->height));
    develop_job job = {canvas, exposure, image};
    ty_parallel_for(canvas->height, 8, develop_row, &job);
    return ty_ok();
}
