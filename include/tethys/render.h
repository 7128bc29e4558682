// SPDX-License-Identifier: Apache-2.0
// Pictures of a result: PNG frames, a film, a contact sheet.
//
//   ty_render_def def = ty_render_default();
//   def.dir = "out/dam-break";
//   ty_status status = ty_render(&def);
#ifndef TETHYS_RENDER_H
#define TETHYS_RENDER_H

#include <signal.h>

#include "tethys/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ty_render_mode {
    TY_RENDER_WATER,    // refraction, reflection, absorption
    TY_RENDER_CLAY,     // the shape alone
    TY_RENDER_WIRE      // its triangles
} ty_render_mode;

// After each picture.
typedef struct ty_render_progress {
    const char* camera;
    int frame;                             // number as in file names; the one just done
    int done, total;                       // pictures, of all cameras
    int kept;                              // of those done: pictures that were there already
    double frame_seconds, seconds_left;    // left: < 0 when unknown
} ty_render_progress;

typedef struct ty_render_def {
    const char* dir;    // a result folder
    const char*
        output;    // NULL: below `dir`; a .mp4: the film; a .png: the picture (#### is its frame)
    int n_cameras;                 // 0: the scene's first, or one that sees everything
    const char* const* cameras;    // names; "all": every one of the scene
    int width, height;
    int samples;        // rays a pixel
    int first, last;    // frame numbers, both included; -1: as far as there are surfaces
    ty_render_mode mode;
    double shutter;     // share of a frame it is open; < 0: 0.5 for water, 0 else
    double exposure;    // 1: usual; 2: twice the light
    double tint;        // of the water; 1: usual, 0: none
    int tank;           // 0: without the tank
    int denoise;
    int film;         // 0: frames alone
    int overwrite;    // draws anew what is there already
    const volatile sig_atomic_t*
        stop;    // when it becomes 1: returns TY_STOPPED, finished pictures stay
    void (*progress)(void* self, const ty_render_progress*);
    void* self;
} ty_render_def;

TY_API ty_render_def ty_render_default(void);
// Writes DIR/render/CAMERA/frame.0001.png ..., DIR/NAME.mp4 and DIR/NAME-sheet.png (clay and wire
// pictures and further cameras have their word in the names). A picture made before from the same
// surface with the same settings is kept. Without the program ffmpeg there is no film, and a
// warning in the log. TY_NOT_YET when the renderer is not built in.
TY_API ty_status ty_render(const ty_render_def* def);

#ifdef __cplusplus
}
#endif
#endif
