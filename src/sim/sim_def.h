// SPDX-License-Identifier: Apache-2.0
// Everything a scene says, as structs. scene/ fills it from YAML; sim/ runs it.
#ifndef TY_SIM_SIM_DEF_H
#define TY_SIM_SIM_DEF_H

#include "solve/solve.h"
#include "track/track.h"
#include "world/world_def.h"

typedef enum ty_probe_kind {
    TY_PROBE_HEIGHT,
    TY_PROBE_PRESSURE,
    TY_PROBE_VELOCITY,
    TY_PROBE_FRONT
} ty_probe_kind;

typedef struct ty_probe_def {
    char* name;
    ty_probe_kind kind;
    double at[3];    // height: (x, z) in at[0], at[2]; pressure, velocity: the point
    int axis;        // front: the axis along which the farthest liquid is looked for
} ty_probe_def;

// A file the scene read: resume refuses when it changed.
typedef struct ty_input_file {
    char* path;
    uint64_t hash;
} ty_input_file;

typedef struct ty_sim_def {
    char* name;    // of the scene
    bool smoke;
    double cell;    // of the solver, metres
    int frame_count, frame_start;
    double frame_rate;
    ty_world_def world;
    ty_track_def track;    // track.kind and solve.kind point into the strings below
    ty_solve_def solve;
    char *tracker_kind, *solver_kind, *pressure_kind, *obstacle_kind;
    bool volume_correct;
    int n_probes;
    ty_probe_def* probes;
    int checkpoint_every, checkpoint_keep;    // every 0: none; keep 0: all
    bool write_surface, write_volume, write_tets, write_particles;
    int output_every;
    char* scene_text;       // the scene with every default filled in, YAML
    uint64_t scene_hash;    // of what influences the result
    int n_inputs;
    ty_input_file* inputs;
    char* file;    // the scene file, for messages; world places borrow it
} ty_sim_def;

ty_sim_def ty_sim_default(void);
void ty_sim_def_free(ty_sim_def* def);

#endif
