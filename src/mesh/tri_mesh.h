// SPDX-License-Identifier: Apache-2.0
// Triangle mesh with named values per vertex.
//
//   vert   n_verts x 3 doubles, metres           tri    n_tris x 3 ids, counter-clockwise from outside
//   attr   named float arrays, n_verts x width   ("velocity" 3, "uv" 2, "colour" 3)
//
// Open type. Owns its arrays; zero-initialise, fill, ty_tri_mesh_free. Free to read from any
// thread.
#ifndef TY_MESH_TRI_MESH_H
#define TY_MESH_TRI_MESH_H

#include "core/memory.h"
#include "core/vec.h"

enum { TY_MAX_ATTRIBUTES = 8 };

typedef struct ty_attribute {
    char name[24];
    int width;
    float* values;    // capacity as the vertices'
} ty_attribute;

typedef struct ty_tri_mesh {
    int n_verts, n_tris;
    double (*vert)[3];
    int (*tri)[3];
    int n_attrs;
    ty_attribute attr[TY_MAX_ATTRIBUTES];
    int vert_capacity, tri_capacity;
} ty_tri_mesh;

// Sets the counts; keeps the memory it has when that is enough. Contents of new elements are
// undefined.
ty_status ty_tri_mesh_resize(ty_tri_mesh* m, int n_verts, int n_tris);
ty_status ty_tri_mesh_copy(ty_tri_mesh* to, const ty_tri_mesh* from);
void ty_tri_mesh_free(ty_tri_mesh* m);

// The values of an attribute, NULL when the mesh has none of that name (and width).
float* ty_tri_mesh_attribute(const ty_tri_mesh* m, const char* name, int width);
// The same, added when missing; contents undefined then. NULL when out of memory or of places.
float* ty_tri_mesh_add_attribute(ty_tri_mesh* m, const char* name, int width);

// By the divergence theorem: negative for a bubble's surface. Same bits for any number of threads.
double ty_tri_mesh_volume(const ty_tri_mesh* m);
double ty_tri_mesh_area(const ty_tri_mesh* m);
ty_box ty_tri_mesh_bounds(const ty_tri_mesh* m);

// What is wrong with a surface, with one place for each kind of fault.
typedef struct ty_tri_mesh_report {
    int bad_index, not_finite, degenerate;    // counts; degenerate: zero area
    int open_edges, nonmanifold_edges,
        flipped;              // flipped: neighbours that disagree on orientation
    int euler, components;    // V - E + F of used vertices, and surface components
    double open_at[3];        // midpoint of the first open edge
    double open_length;       // total length of open edges, metres
} ty_tri_mesh_report;
// TY_OK also for faulty meshes: the report says. Fails only when out of memory.
ty_status ty_tri_mesh_inspect(const ty_tri_mesh* m, ty_tri_mesh_report* report);
// Closed, consistently oriented, every edge in exactly two triangles, finite, indices in range.
ty_status ty_tri_mesh_validate(const ty_tri_mesh* m);

// Connected components by shared vertices: component[v] = 0..n-1 numbered by lowest vertex. Returns
// n, -1 when out of memory.
int ty_tri_mesh_components(const ty_tri_mesh* m, int* component);

#endif
