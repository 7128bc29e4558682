// SPDX-License-Identifier: Apache-2.0
// STL: triangles without shared vertices.
//   binary   80 bytes of anything, u32 count, then 50 bytes a triangle: normal, 3 corners (12
//   floats), u16 text     solid ... facet normal . . . outer loop vertex x y z (three times)
//   endloop endfacet ... endsolid
// Some programs begin binary files with "solid": the length decides, then the first word.
#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "format/mesh_build.h"
#include "format/mesh_io.h"
#include "format/scan.h"

enum { HEADER = 84, RECORD = 50 };

static ty_status too_large(const char* name)
{
    return ty_fail_at(TY_NO_MEMORY, name, 0, 0,
                      "the mesh is too large for the memory; simplify it");
}

static uint32_t load_u32(const unsigned char* p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static ty_status read_binary(ty_mesh_build* soup, const unsigned char* bytes, uint32_t count,
                             const char* name)
{
    if (!ty_array_reserve(&soup->coords, 9 * (int64_t)count)) return too_large(name);
    for (uint32_t t = 0; t < count; ++t) {
        const unsigned char* corner = bytes + HEADER + (size_t)t * RECORD + 12;
        for (int k = 0; k < 9; ++k) {
            uint32_t bits = load_u32(corner + 4 * k);
            float value;
            memcpy(&value, &bits, sizeof value);
            if (!isfinite(value))
                return ty_fail_at(TY_BAD_INPUT, name, 0, 0,
                                  "triangle %u (byte %lld) has a coordinate that is not a finite "
                                  "number; repair the mesh",
                                  t + 1, (long long)(corner + 4 * k - bytes));
            soup->coords.at[soup->coords.n++] = value;
        }
    }
    return ty_ok();
}

static ty_status read_text(ty_mesh_build* soup, ty_scan* s)
{
    int corners = 0;
    ty_word w;
    while (ty_scan_any_word(s, &w)) {
        double x[3];
        if (ty_word_is_any_case(w, "solid") || ty_word_is_any_case(w, "endsolid")) {
            ty_scan_next_line(s);    // a name that may hold anything
        } else if (ty_word_is_any_case(w, "vertex")) {
            TY_TRY(ty_scan_point(s, "a vertex", x));
            if (!ty_mesh_build_vertex(soup, x)) return too_large(s->file);
            ++corners;
        } else if (ty_word_is_any_case(w, "endfacet")) {
            if (corners != 3)
                return ty_fail_at(TY_BAD_INPUT, s->file, s->line, 0,
                                  "a facet has %d corners instead of 3; export the mesh again",
                                  corners);
            corners = 0;
        } else if (ty_word_is_any_case(w, "facet")) {
            ty_scan_next_line(s);    // the normal follows from the corners
        } else if (!ty_word_is_any_case(w, "outer") && !ty_word_is_any_case(w, "loop") &&
                   !ty_word_is_any_case(w, "endloop")) {
            return ty_scan_mistake(s, w,
                                   "'%s' does not belong into an STL file; export the mesh again");
        }
    }
    if (corners == 0) return ty_ok();
    return ty_fail_at(TY_BAD_INPUT, s->file, s->line, 0,
                      "the file ends within a facet; it is cut off: copy it again");
}

// The bits of a coordinate, with one zero only.
static uint64_t bits_of(double v)
{
    uint64_t bits;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint64_t hash_point(const double x[3])
{
    return ty_mix2(ty_mix2(bits_of(x[0]), bits_of(x[1])), bits_of(x[2]));
}

// Vertices are numbered by first appearance. Hashed, not sorted, because that keeps the file's
// order.
static ty_status weld(ty_mesh_build* b, const ty_mesh_build* soup, const char* name)
{
    int64_t n = soup->coords.n / 3, size = 16;
    while (size < 2 * n) size *= 2;
    int* table = ty_alloc((size_t)size, sizeof *table);
    bool ok = table && n < 3 * (int64_t)TY_MESH_MAX_ELEMENTS;
    for (int64_t i = 0; ok && i < size; ++i) table[i] = -1;
    int corner[3] = {0, 0, 0};
    for (int64_t i = 0; ok && i < n; ++i) {
        const double* x = soup->coords.at + 3 * i;
        int64_t slot = (int64_t)(hash_point(x) & (uint64_t)(size - 1));
        while (table[slot] >= 0) {
            const double* y = b->coords.at + 3 * (int64_t)table[slot];
            if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) break;
            slot = (slot + 1) & (size - 1);
        }
        if (table[slot] < 0) {
            table[slot] = (int)(b->coords.n / 3);
            ok = ty_mesh_build_vertex(b, x);
        }
        corner[i % 3] = table[slot];
        bool distinct = corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0];
        if (ok && i % 3 == 2 && distinct)
            ok = ty_mesh_build_triangle(b, corner[0], corner[1], corner[2]);
    }
    ty_free(table);
    return ok ? ty_ok() : too_large(name);
}

static bool begins_with_solid(const unsigned char* bytes, int64_t n)
{
    ty_scan s = ty_scan_begin(bytes, n, "");
    ty_word w;
    return ty_scan_any_word(&s, &w) && ty_word_is_any_case(w, "solid");
}

static ty_status read_soup(ty_mesh_build* soup, const unsigned char* bytes, int64_t n,
                           const char* name)
{
    uint32_t count = n >= HEADER ? load_u32(bytes + 80) : 0;
    int64_t wanted = HEADER + (int64_t)count * RECORD;
    if (n != wanted && begins_with_solid(bytes, n)) {
        ty_scan s = ty_scan_begin(bytes, n, name);
        return read_text(soup, &s);
    }
    if (n < HEADER)
        return ty_fail_at(TY_BAD_INPUT, name, 0, 0,
                          "%lld bytes are too few for an STL file; is it one?", (long long)n);
    if (n < wanted)
        return ty_fail_at(TY_BAD_INPUT, name, 0, 0,
                          "the header (byte 80) announces %u triangles, but there are bytes for "
                          "%lld only; the file is cut "
                          "off: copy it again",
                          count, (long long)((n - HEADER) / RECORD));
    return read_binary(soup, bytes, count, name);
}

ty_status ty_stl_read_bytes(ty_tri_mesh* mesh, const void* bytes, int64_t n, const char* name)
{
    ty_tri_mesh_free(mesh);
    ty_mesh_build soup = {0}, b = {0};
    ty_status status = read_soup(&soup, bytes, n, name);
    if (status.code == TY_OK && soup.coords.n == 0)
        status = ty_fail_at(TY_BAD_INPUT, name, 0, 0,
                            "no triangles in the file; is it an STL mesh?");
    if (status.code == TY_OK) status = weld(&b, &soup, name);
    ty_mesh_build_free(&soup);
    if (status.code == TY_OK) ty_mesh_build_finish(&b, mesh);
    else ty_mesh_build_free(&b);
    return status;
}
