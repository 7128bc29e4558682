// SPDX-License-Identifier: Apache-2.0
// Wavefront OBJ: one statement a line. We read "v x y z ..." and "f a b c ...", where a corner is
// vertex, vertex/uv, vertex//normal or vertex/uv/normal; numbers count from 1, negative ones back
// from the last vertex so far.
#include <string.h>

#include "format/mesh_build.h"
#include "format/mesh_io.h"
#include "format/scan.h"

static ty_status too_large(const ty_scan* s)
{
    return ty_fail_at(TY_NO_MEMORY, s->file, s->line, 0,
                      "the mesh is too large for the memory; simplify it");
}

// A corner may name vertices that come later in the file: only what is absolute can be said now,
// the range is checked at the end.
static ty_status read_corner(const ty_scan* s, ty_word w, int64_t n_verts, int* vert)
{
    const char* slash = memchr(w.at, '/', (size_t)w.n);
    ty_word number = {w.at, slash ? (int)(slash - w.at) : w.n};
    int64_t index;
    if (!ty_word_integer(number, &index) || index == 0)
        return ty_scan_mistake(
            s, w,
            "'%s' is not a corner of a face; corners are like 7, 7/1, 7//3 or 7/1/3, from 1 on");
    index = index < 0 ? n_verts + index : index - 1;
    if (index < 0 || index >= TY_MESH_MAX_ELEMENTS)
        return ty_scan_mistake(
            s, w, "corner '%s' names a vertex that is not there; export the mesh again");
    *vert = (int)index;
    return ty_ok();
}

static ty_status read_face(ty_scan* s, ty_mesh_build* b)
{
    ty_word w;
    int n = 0, corner[3] = {0, 0, 0};    // first, previous, this
    while (ty_scan_word(s, &w)) {
        if (w.at[0] == '#') break;
        TY_TRY(read_corner(s, w, b->coords.n / 3, &corner[n < 2 ? n : 2]));
        if (++n < 3) continue;
        if (!ty_mesh_build_triangle(b, corner[0], corner[1], corner[2])) return too_large(s);
        corner[1] = corner[2];
    }
    if (n >= 3) return ty_ok();
    return ty_fail_at(TY_BAD_INPUT, s->file, s->line, 0,
                      "a face has %d corners; remove it or export the mesh again", n);
}

// Up to the statement that brings the corners to more than `corners`.
static ty_status read_statements(ty_scan* s, ty_mesh_build* b, int64_t corners)
{
    do {
        ty_word w;
        double x[3];
        if (!ty_scan_word(s, &w)) continue;
        if (ty_word_is(w, "v")) {
            TY_TRY(ty_scan_point(s, "a vertex", x));
            if (!ty_mesh_build_vertex(b, x)) return too_large(s);
        } else if (ty_word_is(w, "f")) {
            TY_TRY(read_face(s, b));
            if (b->corners.n > corners) return ty_ok();
        }
    } while (ty_scan_next_line(s));
    return ty_ok();
}

// The line of the face that a corner belongs to, by reading again.
static int line_of_corner(const void* bytes, int64_t n, const char* name, int64_t corner)
{
    ty_mesh_build b = {0};
    ty_scan s = ty_scan_begin(bytes, n, name);
    ty_status status = read_statements(&s, &b, corner);
    ty_mesh_build_free(&b);
    return status.code == TY_OK ? s.line : 0;
}

static ty_status check_range(const ty_mesh_build* b, const void* bytes, int64_t n, const char* name)
{
    if (b->corners.n == 0)
        return ty_fail_at(TY_BAD_INPUT, name, 0, 0,
                          "no faces in the file; is it a Wavefront OBJ mesh?");
    int64_t n_verts = b->coords.n / 3;
    for (int64_t i = 0; i < b->corners.n; ++i)
        if (b->corners.at[i] >= n_verts)
            return ty_fail_at(TY_BAD_INPUT, name, line_of_corner(bytes, n, name, i), 0,
                              "triangle %lld names vertex %d, but there are only %lld; the file is "
                              "cut off or damaged: "
                              "export the mesh again",
                              (long long)(i / 3 + 1), b->corners.at[i] + 1, (long long)n_verts);
    return ty_ok();
}

ty_status ty_obj_read_bytes(ty_tri_mesh* mesh, const void* bytes, int64_t n, const char* name)
{
    ty_tri_mesh_free(mesh);
    ty_mesh_build b = {0};
    ty_scan s = ty_scan_begin(bytes, n, name);
    ty_status status = read_statements(&s, &b, INT64_MAX);
    if (status.code == TY_OK) status = check_range(&b, bytes, n, name);
    if (status.code == TY_OK) ty_mesh_build_finish(&b, mesh);
    else ty_mesh_build_free(&b);
    return status;
}
