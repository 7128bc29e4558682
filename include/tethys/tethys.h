// SPDX-License-Identifier: Apache-2.0
// Tethys: liquids and smoke for film and for research. Everything the program `tethys` does, from
// C.
//
//   1  a scene:       ty_scene_open, ty_scene_close
//   2  a run:         ty_run: simulate and write the files of docs/architecture.md
//   3  step by step:  ty_simulation_*: advance frame by frame and look at the liquid in memory
//   4  questions:     ty_check, ty_info, ty_reference
//   5  pictures:      tethys/render.h
//   6  own forces:    tethys/force.h
//
// Metres, seconds, kilograms. Functions that can fail return a ty_status; nothing prints, exits or
// aborts. Objects are opaque: whoever opens or creates closes or destroys (NULL is fine). One
// object may be used by one thread at a time; Tethys uses as many threads as ty_set_threads says.
#ifndef TETHYS_H
#define TETHYS_H

#include <signal.h>
#include <stdint.h>

#include "tethys/log.h"
#include "tethys/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// "0.1.0", and a line that says which optional parts are in: "vdb, render".
TY_API const char* ty_version(void);
TY_API const char* ty_features(void);
// Threads of all work from now on; 0 takes the number of processors. Results do not depend on it.
TY_API void ty_set_threads(int n);

// 1 ---- a scene

typedef struct ty_scene ty_scene;

// A mistake or a warning: "dam.yaml:9:3: error: unknown key 'resolutoin'; did you mean
// 'resolution'?". `excerpt` shows the line with a caret below the place, or is empty.
typedef void (*ty_message_fn)(void* self, int is_error, const char* text, const char* excerpt);

// Reads a scene file; `set` are n_set overrides "key=value". Every mistake is reported, then
// TY_BAD_INPUT returned.
TY_API ty_status ty_scene_open(ty_scene** scene, const char* path, int n_set,
                               const char* const* set, ty_message_fn message, void* self);
TY_API void ty_scene_close(ty_scene* scene);
TY_API const char* ty_scene_name(const ty_scene* scene);
// The scene with every default filled in, as YAML. Borrowed from the scene.
TY_API const char* ty_scene_text(const ty_scene* scene);

// 2 ---- a run

// What a frame or a step looked like, for progress lines.
typedef struct ty_progress {
    int frame, first_frame, last_frame;    // numbers as in file names
    int frame_done;                        // 0 after a step inside the frame, 1 when it was written
    double time, step;                     // simulated seconds; length of the last step
    double seconds_left;                   // estimate; < 0 when unknown
    double frame_seconds;                  // wall clock of this frame so far
    int64_t cells;
    double volume;    // m3
    double surface_seconds, mesh_seconds, advect_seconds, project_seconds, output_seconds;
} ty_progress;

typedef struct ty_run_def {
    const char* dir;        // where to write; NULL: out/NAME
    int frames;             // write only up to this many frames; 0: as the scene says
    int resume;             // go on from the newest good checkpoint
    int from;               // with resume: from the checkpoint of this frame; -1: the newest
    int force;              // resume although the scene or its files changed
    int overwrite;          // an existing result in `dir` is replaced
    const char* command;    // recorded in run.json
    const volatile sig_atomic_t*
        stop;    // when it becomes 1: finish the step, write a checkpoint, return TY_STOPPED
    void (*progress)(void* self, const ty_progress*);
    void* self;
} ty_run_def;

TY_API ty_run_def ty_run_default(void);
TY_API ty_status ty_run(const ty_scene* scene, const ty_run_def* def);

// 3 ---- step by step

typedef struct ty_simulation ty_simulation;

// The liquid's surface now: closed triangles, outward, cut at obstacles. Valid until the next
// advance.
typedef struct ty_surface {
    int n_verts, n_tris;
    const double (*vert)[3];
    const int (*tri)[3];
    const float (*velocity)[3];
} ty_surface;

// At time 0. The scene must outlive the simulation.
TY_API ty_status ty_simulation_create(ty_simulation** simulation, const ty_scene* scene);
TY_API void ty_simulation_destroy(ty_simulation* simulation);
// To the next frame.
TY_API ty_status ty_simulation_advance(ty_simulation* simulation);
TY_API double ty_simulation_time(const ty_simulation* simulation);
TY_API ty_status ty_simulation_surface(ty_simulation* simulation, ty_surface* surface);
// Velocity (m/s) and signed distance to the surface (m, negative inside) at n points.
TY_API void ty_simulation_velocity(const ty_simulation* simulation, int n, const double (*x)[3],
                                   double (*velocity)[3]);
TY_API void ty_simulation_distance(const ty_simulation* simulation, int n, const double (*x)[3],
                                   double* distance);

// 4 ---- questions. Texts are freed with ty_text_free.

// What would run (cells, memory, disk, outputs), and warnings about what usually goes wrong.
// Simulates nothing.
TY_API ty_status ty_check(const ty_scene* scene, ty_message_fn message, void* self, char** text);
// What is in a scene, a result folder, a checkpoint, a mesh or a volume.
TY_API ty_status ty_info(const char* path, char** text);
// Every key of a scene: Markdown, or a JSON Schema.
TY_API ty_status ty_reference(int json_schema, char** text);
TY_API void ty_text_free(char* text);

#ifdef __cplusplus
}
#endif
#endif
