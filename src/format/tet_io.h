// SPDX-License-Identifier: Apache-2.0
// Tetrahedra and other cells to files: .vtu (ParaView; zlib), Medit .mesh, TetGen .node with .ele.
// All are written atomically and hold doubles to the last bit.
#ifndef TY_FORMAT_TET_IO_H
#define TY_FORMAT_TET_IO_H

#include "mesh/tet_mesh.h"

// By the extension of `path`. For .node or .ele both files are written beside each other; ids start
// at 1.
ty_status ty_tet_write(const ty_tet_mesh* mesh, const char* path);
// Whether the extension is one of them; `remedy` for a message when it is not.
bool ty_tet_can_write(const char* path, const char** remedy);

typedef enum ty_vtu_type { TY_VTU_DOUBLE, TY_VTU_FLOAT, TY_VTU_INT, TY_VTU_BYTE } ty_vtu_type;

// A named array of `width` values per cell.
typedef struct ty_vtu_array {
    const char* name;
    ty_vtu_type type;
    int width;
    const void* values;
} ty_vtu_array;

// Cells of one type: VTK's 1 vertex, 3 line, 10 tetrahedron, 11 voxel (corners x fastest). Value;
// borrows everything.
typedef struct ty_vtu {
    int64_t n_points, n_cells;
    const double (*points)[3];
    int cell_type, verts_per_cell;
    const int* verts;
    int n_arrays;
    const ty_vtu_array* arrays;
} ty_vtu;
ty_status ty_vtu_write(const ty_vtu* g, const char* path);

#endif
