// SPDX-License-Identifier: Apache-2.0
// Triangle meshes from PLY, OBJ and STL files, and to PLY.
//
// Files are not trusted: whatever the bytes are, the answer is a mesh with finite vertices and
// indices in range, or TY_BAD_INPUT with the file, the line (or the byte, for binary files) and a
// remedy. No count from a file is believed before the bytes behind it are there. After a failure
// the mesh is empty.
#ifndef TY_FORMAT_MESH_IO_H
#define TY_FORMAT_MESH_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "mesh/tri_mesh.h"

// By the extension: .ply, .obj, .stl. What the mesh held before is gone. Whether the surface is
// closed is for ty_tri_mesh_inspect to say; points without triangles are fine in a .ply.
ty_status ty_mesh_read(ty_tri_mesh* mesh, const char* path);

// The same from memory; `name` stands in messages.
//   PLY   text and binary of both byte orders; polygons become fans; properties of vertices become
//   attributes
//         (vx vy vz: "velocity", s t or u v: "uv", r g b or red green blue: "colour", age, radius),
//         others are skipped
//   OBJ   v and f (a, a/b, a//c, a/b/c, negative ones too); polygons become fans; everything else
//   is skipped STL   text and binary; corners with the same coordinates become one vertex,
//   triangles that vanish are left out
ty_status ty_ply_read_bytes(ty_tri_mesh* mesh, const void* bytes, int64_t n, const char* name);
ty_status ty_obj_read_bytes(ty_tri_mesh* mesh, const void* bytes, int64_t n, const char* name);
ty_status ty_stl_read_bytes(ty_tri_mesh* mesh, const void* bytes, int64_t n, const char* name);

// Writes a binary little-endian PLY, atomically. Vertices are float x y z and the attributes named
// as above (others as NAME or NAME_0, NAME_1, ...); every face is the same 13 bytes, uchar 3 and
// three ints, so that numpy reads all at once. float keeps 7 digits: a metre-sized mesh is right to
// 0.1 micrometre. `comments` are lines of the header, such as "frame 12". TY_DIVERGED when a value
// is not finite.
ty_status ty_ply_write(const ty_tri_mesh* mesh, const char* path, int n_comments,
                       const char* const* comments);

// The rest of the header comment that starts with `key`: "12" for "frame" above. False when there
// is none.
bool ty_ply_comment(const void* bytes, int64_t n, const char* key, char* value, int size);

#endif
