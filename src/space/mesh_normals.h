// SPDX-License-Identifier: Apache-2.0
// Angle-weighted pseudonormals [Baerentzen2005] of faces, edges and vertices: the sign of (x -
// closest point) . normal of its feature is exact for a closed surface. Vertices at the same place
// count as one.
//
// Open type. Zero-initialise; build; free. Owns its arrays; building again reuses them.
#ifndef TY_SPACE_MESH_NORMALS_H
#define TY_SPACE_MESH_NORMALS_H

#include "core/memory.h"
#include "core/vec.h"

typedef struct ty_mesh_normals {
    bool watertight;    // every edge in exactly two triangles, which run along it in opposite ways
    float (*tri)[4][3];    // per triangle: face, edges 0..2; not of unit length
    float (*vert)[3];      // per vertex
    int* same;             // the lowest vertex at the same place
    int vert_capacity, tri_capacity;
    int* table;    // scratch: places of vertices, then half-edges by the vertex they start from
    int64_t table_capacity;
    int* first;    // per vertex, and one more: its half-edges in `table`
    const double (*asked_vert)
        [3];    // borrowed vertices when normals are computed as they are asked for, else NULL
    int n_verts, n_tris;
} ty_mesh_normals;

// Indices must be in range and vertices finite for watertight to become true; others are passed
// over.
ty_status ty_mesh_normals_build(ty_mesh_normals* m, int n_verts, const double (*vert)[3],
                                int n_tris, const int (*tri)[3]);
// The same normals, but each is computed when it is asked for: for meshes of which few are. Of a
// closed mesh without two vertices in one place; borrows `vert`. `watertight` is not found out.
ty_status ty_mesh_normals_prepare(ty_mesh_normals* m, int n_verts, const double (*vert)[3],
                                  int n_tris, const int (*tri)[3]);
void ty_mesh_normals_free(ty_mesh_normals* m);
// The normal of a feature (geometry/triangle.h) of a triangle; zero where it is not defined. `tri`
// as built.
ty_vec3 ty_mesh_normal(const ty_mesh_normals* m, const int (*tri)[3], int triangle, int feature);

#endif
