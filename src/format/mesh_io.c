// SPDX-License-Identifier: Apache-2.0
#include "format/mesh_io.h"

#include <string.h>
#include <strings.h>

#include "format/file.h"
#include "format/mesh_build.h"

static const int64_t max_mesh_bytes = (int64_t)32 << 30;

bool ty_mesh_build_vertex(ty_mesh_build* b, const double x[3])
{
    if (b->coords.n >= 3 * (int64_t)TY_MESH_MAX_ELEMENTS ||
        !ty_array_reserve(&b->coords, b->coords.n + 3))
        return false;
    memcpy(b->coords.at + b->coords.n, x, 3 * sizeof *x);
    b->coords.n += 3;
    return true;
}

bool ty_mesh_build_triangle(ty_mesh_build* b, int i, int j, int k)
{
    if (b->corners.n >= 3 * (int64_t)TY_MESH_MAX_ELEMENTS ||
        !ty_array_reserve(&b->corners, b->corners.n + 3))
        return false;
    int* to = b->corners.at + b->corners.n;
    to[0] = i, to[1] = j, to[2] = k;
    b->corners.n += 3;
    return true;
}

void ty_mesh_build_finish(ty_mesh_build* b, ty_tri_mesh* mesh)
{
    mesh->vert = (double(*)[3])b->coords.at;
    mesh->n_verts = (int)(b->coords.n / 3);
    mesh->vert_capacity = (int)(b->coords.capacity / 3);
    mesh->tri = (int(*)[3])b->corners.at;
    mesh->n_tris = (int)(b->corners.n / 3);
    mesh->tri_capacity = (int)(b->corners.capacity / 3);
    *b = (ty_mesh_build){0};
}

void ty_mesh_build_free(ty_mesh_build* b)
{
    ty_array_free(&b->coords);
    ty_array_free(&b->corners);
}

typedef ty_status (*mesh_reader)(ty_tri_mesh*, const void*, int64_t, const char*);

static mesh_reader reader_for(const char* path)
{
    static const struct {
        const char* extension;
        mesh_reader read;
    } readers[] = {
        {".ply", ty_ply_read_bytes}, {".obj", ty_obj_read_bytes}, {".stl", ty_stl_read_bytes}};
    const char* dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof readers / sizeof *readers; ++i)
        if (strcasecmp(dot, readers[i].extension) == 0) return readers[i].read;
    return NULL;
}

ty_status ty_mesh_read(ty_tri_mesh* mesh, const char* path)
{
    ty_tri_mesh_free(mesh);
    mesh_reader read = reader_for(path);
    if (!read)
        return ty_fail_at(TY_BAD_INPUT, path, 0, 0,
                          "not a mesh file we know; .ply, .obj and .stl can be read");
    unsigned char* bytes;
    int64_t n;
    TY_TRY(ty_file_read(path, max_mesh_bytes, &bytes, &n));
    ty_status status = read(mesh, bytes, n, path);
    ty_free(bytes);
    return status;
}
