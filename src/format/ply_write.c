// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/file.h"
#include "format/mesh_io.h"

static void put_u32(unsigned char** to, uint32_t v)
{
    for (int k = 0; k < 4; ++k) *(*to)++ = (unsigned char)(v >> 8 * k);
}

static void put_float(unsigned char** to, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_u32(to, bits);
}

// The names other programs look for; NULL: made from the attribute's own.
static const char* property_name(const ty_attribute* a, int channel)
{
    static const char* const velocity[] = {"vx", "vy", "vz"};
    static const char* const uv[] = {"s", "t"};
    static const char* const colour[] = {"r", "g", "b"};
    if (strcmp(a->name, "velocity") == 0 && a->width == 3) return velocity[channel];
    if (strcmp(a->name, "uv") == 0 && a->width == 2) return uv[channel];
    if (strcmp(a->name, "colour") == 0 && a->width == 3) return colour[channel];
    return NULL;
}

static void write_header(ty_file_writer* w, const ty_tri_mesh* m, int n_comments,
                         const char* const* comments)
{
    ty_file_print(w, "ply\nformat binary_little_endian 1.0\n");
    for (int i = 0; i < n_comments; ++i) {
        char line[500];
        snprintf(line, sizeof line, "%s", comments[i]);
        for (char* c = line; *c; ++c)
            if ((unsigned char)*c < 32) *c = ' ';    // a line break would end the comment
        ty_file_print(w, "comment %s\n", line);
    }
    ty_file_print(w, "element vertex %d\nproperty float x\nproperty float y\nproperty float z\n",
                  m->n_verts);
    for (int a = 0; a < m->n_attrs; ++a)
        for (int c = 0; c < m->attr[a].width; ++c) {
            const char* name = property_name(&m->attr[a], c);
            if (name) ty_file_print(w, "property float %s\n", name);
            else if (m->attr[a].width == 1)
                ty_file_print(w, "property float %s\n", m->attr[a].name);
            else ty_file_print(w, "property float %s_%d\n", m->attr[a].name, c);
        }
    ty_file_print(w, "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
                  m->n_tris);
}

static ty_status write_vertices(ty_file_writer* w, const ty_tri_mesh* m)
{
    enum { MAX_WIDTH = 16 };
    unsigned char row[4 * (3 + TY_MAX_ATTRIBUTES * MAX_WIDTH)];
    for (int v = 0; v < m->n_verts; ++v) {
        unsigned char* to = row;
        bool finite = true;
        for (int axis = 0; axis < 3; ++axis) {
            float x = (float)m->vert[v][axis];
            finite = finite && isfinite(x);
            put_float(&to, x);
        }
        for (int a = 0; a < m->n_attrs; ++a) {
            int width = m->attr[a].width;
            assert(width <= MAX_WIDTH);
            for (int c = 0; c < width; ++c) {
                float value = m->attr[a].values[(int64_t)v * width + c];
                finite = finite && isfinite(value);
                put_float(&to, value);
            }
        }
        if (!finite)
            return ty_fail(
                TY_DIVERGED,
                "vertex %d of '%s' has a value that is not a finite number; it is not written", v,
                w->path);
        ty_file_put(w, row, to - row);
    }
    return ty_ok();
}

static void write_faces(ty_file_writer* w, const ty_tri_mesh* m)
{
    for (int t = 0; t < m->n_tris; ++t) {
        unsigned char row[13] = {3}, *to = row + 1;
        for (int k = 0; k < 3; ++k) {
            assert(m->tri[t][k] >= 0 && m->tri[t][k] < m->n_verts);
            put_u32(&to, (uint32_t)m->tri[t][k]);
        }
        ty_file_put(w, row, sizeof row);
    }
}

ty_status ty_ply_write(const ty_tri_mesh* mesh, const char* path, int n_comments,
                       const char* const* comments)
{
    ty_file_writer w;
    TY_TRY(ty_file_begin(&w, path));
    write_header(&w, mesh, n_comments, comments);
    ty_status status = write_vertices(&w, mesh);
    if (status.code != TY_OK) {
        ty_file_abort(&w);
        return status;
    }
    write_faces(&w, mesh);
    return ty_file_commit(&w);
}
