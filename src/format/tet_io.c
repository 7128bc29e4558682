// SPDX-License-Identifier: Apache-2.0
#include "format/tet_io.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/file.h"

static const char* extension(const char* path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

bool ty_tet_can_write(const char* path, const char** remedy)
{
    static const char* const known[] = {".vtu", ".mesh", ".node", ".ele"};
    *remedy =
        "tetrahedra are written as .vtu (ParaView), .mesh (Medit) or .node with .ele (TetGen)";
    for (int i = 0; i < 4; ++i)
        if (strcasecmp(extension(path), known[i]) == 0) return true;
    return false;
}

static ty_status write_vtu(const ty_tet_mesh* m, const char* path)
{
    uint8_t* level = ty_alloc((size_t)m->n_tets * 2, 1);
    if (!level) return ty_no_memory("the .vtu file");
    uint8_t* shape = level + m->n_tets;
    for (int t = 0; t < m->n_tets; ++t) {
        level[t] = (uint8_t)ty_kind_level(m->kind[t]);
        shape[t] = (uint8_t)ty_kind_shape(m->kind[t]);
    }
    const ty_vtu_array arrays[] = {{"level", TY_VTU_BYTE, 1, level},
                                   {"shape", TY_VTU_BYTE, 1, shape}};
    ty_vtu g = {
        .n_points = m->n_verts, .n_cells = m->n_tets, .points = (const double(*)[3])m->vert};
    g.cell_type = 10;
    g.verts_per_cell = 4;
    g.verts = (const int*)m->tet;
    g.n_arrays = 2;
    g.arrays = arrays;
    ty_status status = ty_vtu_write(&g, path);
    ty_free(level);
    return status;
}

static void print_verts(ty_file_writer* w, const ty_tet_mesh* m, bool numbered)
{
    for (int v = 0; v < m->n_verts; ++v) {
        const double* x = m->vert[v];
        if (numbered) ty_file_print(w, "%d %.17g %.17g %.17g\n", v + 1, x[0], x[1], x[2]);
        else ty_file_print(w, "%.17g %.17g %.17g %d\n", x[0], x[1], x[2], v >= m->n_inner);
    }
}

static ty_status write_medit(const ty_tet_mesh* m, const char* path)
{
    ty_tri_mesh boundary = {0};
    ty_file_writer w;
    ty_status status = ty_tet_mesh_boundary(m, &boundary);
    if (status.code == TY_OK) status = ty_file_begin(&w, path);
    if (status.code == TY_OK) {
        ty_file_print(&w, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", m->n_verts);
        print_verts(&w, m, false);
        ty_file_print(&w, "Triangles\n%d\n", boundary.n_tris);
        for (int t = 0; t < boundary.n_tris; ++t) {
            const int *v = boundary.tri[t], first = m->n_inner + 1;
            ty_file_print(&w, "%d %d %d 1\n", first + v[0], first + v[1], first + v[2]);
        }
        ty_file_print(&w, "Tetrahedra\n%d\n", m->n_tets);
        for (int t = 0; t < m->n_tets; ++t) {
            const int* v = m->tet[t];
            ty_file_print(&w, "%d %d %d %d 1\n", v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
        }
        ty_file_print(&w, "End\n");
        status = ty_file_commit(&w);
    }
    ty_tri_mesh_free(&boundary);
    return status;
}

static ty_status write_tetgen(const ty_tet_mesh* m, const char* path)
{
    char name[4096];
    int stem = (int)(extension(path) - path);
    ty_file_writer w;
    if (stem > (int)sizeof name - 8) return ty_fail(TY_IO, "the path '%s' is too long", path);
    snprintf(name, sizeof name, "%.*s.node", stem, path);
    TY_TRY(ty_file_begin(&w, name));
    ty_file_print(&w, "%d 3 0 0\n", m->n_verts);
    print_verts(&w, m, true);
    TY_TRY(ty_file_commit(&w));
    snprintf(name, sizeof name, "%.*s.ele", stem, path);
    TY_TRY(ty_file_begin(&w, name));
    ty_file_print(&w, "%d 4 0\n", m->n_tets);
    for (int t = 0; t < m->n_tets; ++t) {
        const int* v = m->tet[t];
        ty_file_print(&w, "%d %d %d %d %d\n", t + 1, v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
    }
    return ty_file_commit(&w);
}

ty_status ty_tet_write(const ty_tet_mesh* mesh, const char* path)
{
    const char* remedy;
    if (!ty_tet_can_write(path, &remedy))
        return ty_fail(TY_BAD_INPUT, "cannot write '%s': %s", path, remedy);
    if (strcasecmp(extension(path), ".vtu") == 0) return write_vtu(mesh, path);
    if (strcasecmp(extension(path), ".mesh") == 0) return write_medit(mesh, path);
    return write_tetgen(mesh, path);
}
