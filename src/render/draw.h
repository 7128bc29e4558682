// SPDX-License-Identifier: Apache-2.0
// A stage, seen by a camera, becomes a picture. Same bytes for any number of threads.
#ifndef TY_RENDER_DRAW_H
#define TY_RENDER_DRAW_H

#include <signal.h>

#include "render/camera.h"
#include "render/canvas.h"
#include "render/stage.h"

typedef struct ty_draw_def {
    int width, height;
    int samples;        // rays a pixel
    int frame;          // other noise in every frame
    double exposure;    // 1: as it is
    bool denoise;
    const volatile sig_atomic_t* stop;    // may be NULL
} ty_draw_def;

ty_draw_def ty_draw_default(void);
// TY_STOPPED when asked to.
ty_status ty_draw(const ty_stage* stage, const ty_camera* camera, const ty_draw_def* def,
                  ty_image* image);
// The light before it is denoised and developed.
ty_status ty_draw_canvas(const ty_stage* stage, const ty_camera* camera, const ty_draw_def* def,
                         ty_canvas* canvas);

#endif
