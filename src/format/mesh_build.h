// SPDX-License-Identifier: Apache-2.0
// A mesh that grows while a file is read. Only for readers of this room.
#ifndef TY_FORMAT_MESH_BUILD_H
#define TY_FORMAT_MESH_BUILD_H

#include "core/memory.h"
#include "mesh/tri_mesh.h"

typedef struct ty_mesh_build {
    TY_ARRAY(double) coords;    // 3 per vertex
    TY_ARRAY(int) corners;      // 3 per triangle
} ty_mesh_build;

enum {
    TY_MESH_MAX_ELEMENTS = 700000000
};    // vertices or triangles: three times as many still fit an int

bool ty_mesh_build_vertex(ty_mesh_build* b, const double x[3]);
bool ty_mesh_build_triangle(ty_mesh_build* b, int i, int j, int k);
// Hands the arrays over to the (empty) mesh, or frees them.
void ty_mesh_build_finish(ty_mesh_build* b, ty_tri_mesh* mesh);
void ty_mesh_build_free(ty_mesh_build* b);

#endif
