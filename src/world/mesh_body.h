// SPDX-License-Identifier: Apache-2.0
// A body from mesh files. One file stands still; of a sequence the two frames around the time are
// in memory.
//
//   frames with the same triangles     vertices go straight from one frame to the next; a point of the surface has
//                                      the velocity of its place on its triangle
//   frames with different ones         distances go straight from one to the next, and the surface has the normal
//                                      velocity of their zero. Frames must overlap: what does not is lost between
//
// The distance is exact, except between frames with different triangles. Surfaces that are inside
// out (negative volume) are turned round.
#ifndef TY_WORLD_MESH_BODY_H
#define TY_WORLD_MESH_BODY_H

#include "mesh/tri_mesh.h"
#include "space/mesh_distance.h"
#include "world/sequence.h"
#include "world/world_def.h"

// Open.
typedef struct ty_mesh_body {
    ty_sequence files;
    double scale, offset[3];
    double step;    // m, for gradients of mixed distances
    ty_between at;
    ty_tri_mesh key[2],
        now;             // the frames around the time; between them, when their triangles agree
    int loaded[2];       // which frames `key` holds, INT_MIN: none
    bool same, moves;    // key's triangles agree; now
    bool exact;
    ty_mesh_distance distance[2];    // of `now` and nothing, or of both keys when they differ
} ty_mesh_body;

// Reads the first frame. On failure *body is NULL.
ty_status ty_mesh_body_create(ty_mesh_body** body, const ty_shape_def* def, double cell);
void ty_mesh_body_destroy(ty_mesh_body* body);
ty_status ty_mesh_body_move(ty_mesh_body* body, double t, bool starting);

// Re-entrant, at most TY_SAMPLE_BATCH points.
void ty_mesh_body_distance(const ty_mesh_body* body, int n, const double (*x)[3], double* out);
void ty_mesh_body_velocity(const ty_mesh_body* body, int n, const double (*x)[3], double (*out)[3]);
ty_box ty_mesh_body_bounds(const ty_mesh_body* body);
double ty_mesh_body_speed(const ty_mesh_body* body);

// A mesh file for other uses: read, scaled, shifted, turned outward.
ty_status ty_mesh_body_read(ty_tri_mesh* mesh, const char* path, double scale,
                            const double offset[3]);

#endif
