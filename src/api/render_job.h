// SPDX-License-Identifier: Apache-2.0
// One call of ty_render: what it found in the result folder, and what it makes of it.
#ifndef TY_API_RENDER_JOB_H
#define TY_API_RENDER_JOB_H

#include "core/memory.h"
#include "render/camera.h"
#include "render/scenery.h"
#include "sim/sim_def.h"
#include "tethys/render.h"

enum { TY_RENDER_PATH = 4200 };

typedef struct ty_render_view {
    char name[200];           // in file names
    ty_camera_def* camera;    // NULL: the one that sees everything
} ty_render_view;

typedef struct ty_render_job {
    const ty_render_def* def;
    ty_sim_def scene;
    double shutter;          // s
    TY_ARRAY(int) frames;    // numbers with a surface, rising
    TY_ARRAY(ty_render_view) views;
    ty_box action;    // where liquid is in a few of the frames
    ty_scenery* scenery;
    ty_render_progress progress;
    double started;
} ty_render_job;

// Reads the folder: scene, frames, cameras. The messages say what to do.
ty_status ty_render_open(ty_render_job* job, const ty_render_def* def);
void ty_render_close(ty_render_job* job);

void ty_render_surface_path(const ty_render_job* job, int frame, char out[TY_RENDER_PATH]);
void ty_render_picture_path(const ty_render_job* job, int view, int frame,
                            char out[TY_RENDER_PATH]);
// Of a view's film and contact sheet: DIR/NAME, with the view's and the mode's word, and `tail`.
void ty_render_film_path(const ty_render_job* job, int view, const char* tail,
                         char out[TY_RENDER_PATH]);
ty_status ty_render_camera(const ty_render_job* job, int view, double t, ty_camera* camera);

#endif
