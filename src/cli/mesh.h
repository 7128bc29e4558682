// SPDX-License-Identifier: Apache-2.0
// The parts of `tethys mesh`.
#ifndef TY_CLI_MESH_H
#define TY_CLI_MESH_H

#include <stdbool.h>

#include "format/volume.h"
#include "mesh/stuff.h"
#include "space/mesh_distance.h"
#include "world/primitive.h"

typedef struct mesh_options {
    const char *input, *shape, *output, *stages, *preview;
    double cell;
    int resolution, threads;
    bool uniform, quality, json, quiet;
} mesh_options;

// What is to be meshed: a primitive, the triangles of a file with their distance, or a level set.
typedef struct mesh_input {
    ty_sampler phi;
    ty_box box;
    ty_shape_def primitive;
    ty_tri_mesh surface;
    ty_mesh_distance distance;
    ty_volume volume;
    double voxel;    // of a volume, 0 for the rest
    double read_seconds, build_seconds;
    int64_t asked;       // nanoseconds spent in phi, all threads together
    ty_sampler inner;    // phi without the clock
} mesh_input;

// Reads or makes the input; says on stderr what was wrong with it and mended. Free it also after a
// failure.
ty_status mesh_input_open(mesh_input* in, const mesh_options* o);
// The distance; needs the cell, because holes of less than two cells are bridged.
ty_status mesh_input_prepare(mesh_input* in, const mesh_options* o, double cell);
void mesh_input_free(mesh_input* in);

typedef struct mesh_times {
    double seconds, distance, stuffing, write;
} mesh_times;
void mesh_report(const mesh_options* o, const ty_tet_mesh* m, const ty_stuff* s,
                 const mesh_times* t);

// Every stage of the mesher as files of a folder.
ty_status mesh_write_stages(const char* folder, const ty_stuff* s, const ty_tet_mesh* m);

// The mesh cut open at its middle, seen from the front, right and above.
ty_status mesh_write_preview(const char* path, const ty_tet_mesh* m);

#endif
