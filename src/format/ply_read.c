// SPDX-License-Identifier: Apache-2.0
// PLY [Turk1994]: a header that names elements and their properties, then the values, as text or
// binary. Every value fits a double exactly, so one function reads them all; what a value is for is
// decided once, from the header.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "format/mesh_build.h"
#include "format/mesh_io.h"
#include "format/scan.h"

enum { MAX_PROPERTIES = 128, MAX_ELEMENTS = 32, N_ATTRIBUTES = 5 };

typedef enum value_type { NO_TYPE, I8, U8, I16, U16, I32, U32, F32, F64 } value_type;

static const int type_size[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};

// What a property of a vertex becomes: coordinate `channel`, or a channel of an attribute.
typedef struct target {
    int attribute;    // -1 the position, -2 nothing
    int channel;
} target;

typedef struct property {
    value_type count_type;    // NO_TYPE unless a list
    value_type type;
    target target;    // of a vertex
    bool corners;     // of a face
} property;

typedef struct element {
    bool vertex, face;
    int64_t count;
    int n_properties;
    property properties[MAX_PROPERTIES];
} element;

typedef struct ply {
    const char* name;
    const unsigned char *begin, *at, *end;    // binary values
    ty_scan text;                             // header, and text values
    bool binary, big_endian, seen_format, seen_vertex, seen_face;
    ty_tri_mesh* mesh;
    ty_mesh_build faces;    // corners only
    unsigned channels[N_ATTRIBUTES];
    float* values[N_ATTRIBUTES];
} ply;

static const struct {
    const char* name;
    int width;
} attributes[N_ATTRIBUTES] = {{"velocity", 3}, {"uv", 2}, {"colour", 3}, {"age", 1}, {"radius", 1}};

static const struct {
    const char* name;
    target target;
} targets[] = {
    {"x", {-1, 0}},    {"y", {-1, 1}},   {"z", {-1, 2}},        {"vx", {0, 0}},
    {"vy", {0, 1}},    {"vz", {0, 2}},   {"s", {1, 0}},         {"t", {1, 1}},
    {"u", {1, 0}},     {"v", {1, 1}},    {"texture_u", {1, 0}}, {"texture_v", {1, 1}},
    {"r", {2, 0}},     {"g", {2, 1}},    {"b", {2, 2}},         {"red", {2, 0}},
    {"green", {2, 1}}, {"blue", {2, 2}}, {"age", {3, 0}},       {"radius", {4, 0}},
};

static value_type type_named(ty_word w)
{
    static const char* const names[][2] = {
        {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
        {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
    for (int i = 0; i < 8; ++i)
        if (ty_word_is(w, names[i][0]) || ty_word_is(w, names[i][1])) return (value_type)(i + 1);
    return NO_TYPE;
}

static ty_status mistake(const ply* p, const char* what)
{
    if (!p->binary) return ty_fail_at(TY_BAD_INPUT, p->name, p->text.line, 0, "%s", what);
    return ty_fail_at(TY_BAD_INPUT, p->name, 0, 0, "at byte %lld: %s",
                      (long long)(p->at - p->begin), what);
}

static ty_status read_format(ply* p)
{
    ty_word w = {"", 0};
    ty_scan_word(&p->text, &w);
    p->seen_format = true;
    p->binary = !ty_word_is(w, "ascii");
    p->big_endian = ty_word_is(w, "binary_big_endian");
    if (!p->binary || p->big_endian || ty_word_is(w, "binary_little_endian")) return ty_ok();
    return ty_scan_mistake(&p->text, w,
                           "'%s' is not a format of PLY; export the mesh again as binary PLY");
}

static ty_status read_element(ply* p, element* e)
{
    *e = (element){0};
    ty_word w, count = {"", 0};
    if (ty_scan_word(&p->text, &w)) ty_scan_word(&p->text, &count);
    if (!ty_word_integer(count, &e->count) || e->count < 0)
        return ty_scan_mistake(&p->text, count,
                               "'%s' is not a count of elements; the header is damaged");
    e->vertex = ty_word_is(w, "vertex");
    e->face = ty_word_is(w, "face");
    if ((e->vertex && p->seen_vertex) || (e->face && p->seen_face))
        return ty_scan_mistake(&p->text, w, "a second element '%s'; the header is damaged");
    p->seen_vertex |= e->vertex;
    p->seen_face |= e->face;
    return ty_ok();
}

static target target_named(ply* p, ty_word w)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
        target t = targets[i].target;
        if (!ty_word_is(w, targets[i].name)) continue;
        if (t.attribute < 0) return t;
        unsigned bit = 1u << t.channel;
        if (p->channels[t.attribute] & bit) break;    // s and u in one file: the first counts
        p->channels[t.attribute] |= bit;
        return t;
    }
    return (target){-2, 0};
}

static ty_status read_property(ply* p, element* e)
{
    if (e->n_properties == MAX_PROPERTIES)
        return ty_fail_at(TY_BAD_INPUT, p->name, p->text.line, 0,
                          "an element has more than %d properties; leave some out", MAX_PROPERTIES);
    property* q = &e->properties[e->n_properties++];
    *q = (property){.target = {-2, 0}};
    ty_word w = {"", 0}, type = w, name = w;
    ty_scan_word(&p->text, &type);
    bool list = ty_word_is(type, "list");
    if (list && ty_scan_word(&p->text, &w)) ty_scan_word(&p->text, &type);
    ty_scan_word(&p->text, &name);
    q->type = type_named(type);
    q->count_type = list ? type_named(w) : NO_TYPE;
    if (q->type == NO_TYPE || name.n == 0)
        return ty_scan_mistake(&p->text, type, "'%s' is not a type of PLY; the header is damaged");
    if (list && (q->count_type == NO_TYPE || q->count_type >= F32))
        return ty_scan_mistake(&p->text, w, "'%s' cannot count a list; the header is damaged");
    if (e->vertex && !list) q->target = target_named(p, name);
    q->corners = e->face && list &&
                 (ty_word_is(name, "vertex_indices") || ty_word_is(name, "vertex_index"));
    if (q->corners && q->type >= F32)
        return ty_scan_mistake(&p->text, type,
                               "vertex indices of type '%s'; export the mesh again");
    return ty_ok();
}

static int64_t bytes_left(const ply* p)
{
    return p->binary ? p->end - p->at : p->text.end - p->text.at;
}

static ty_status next_value(ply* p, value_type type, double* value)
{
    if (!p->binary) {
        ty_word w;
        if (!ty_scan_any_word(&p->text, &w))
            return mistake(p, "the file ends too early; it is cut off: copy it again");
        if (ty_word_double(w, value)) return ty_ok();
        return ty_scan_mistake(&p->text, w,
                               "'%s' is not a finite number; repair the mesh or export it again");
    }
    int size = type_size[type];
    if (p->end - p->at < size)
        return mistake(p, "the file ends too early; it is cut off: copy it again");
    uint64_t bits = 0;
    for (int k = 0; k < size; ++k)
        bits |= (uint64_t)p->at[p->big_endian ? size - 1 - k : k] << 8 * k;
    p->at += size;
    float single;
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, sizeof single);
    switch (type) {
    case I8: *value = (int8_t)bits; break;
    case I16: *value = (int16_t)bits; break;
    case I32: *value = (int32_t)bits; break;
    case F32: *value = (double)single; break;
    case F64: memcpy(value, &bits, sizeof *value); break;
    default: *value = (double)bits;
    }
    return ty_ok();
}

static ty_status list_length(ply* p, const property* q, int64_t* n)
{
    double count;
    TY_TRY(next_value(p, q->count_type, &count));
    int64_t smallest = p->binary ? type_size[q->type] : 1;
    if (!(count >= 0.0 && count <= (double)bytes_left(p) / (double)smallest) ||
        count != floor(count))
        return mistake(
            p, "a list is longer than the file; it is cut off or damaged: export the mesh again");
    *n = (int64_t)count;
    return ty_ok();
}

static ty_status skip_value(ply* p, const property* q)
{
    int64_t n = 1;
    double value;
    if (q->count_type != NO_TYPE) TY_TRY(list_length(p, q, &n));
    for (int64_t k = 0; k < n; ++k) {
        ty_word w;
        if (p->binary) TY_TRY(next_value(p, q->type, &value));
        else if (!ty_scan_any_word(&p->text, &w))
            return mistake(p, "the file ends too early; it is cut off: copy it again");
    }
    return ty_ok();
}

static ty_status store_value(ply* p, const property* q, int v, double value)
{
    if (q->target.attribute < 0) {
        p->mesh->vert[v][q->target.channel] = value;
        return isfinite(value) ? ty_ok()
                               : mistake(p, "a coordinate is not a finite number; repair the mesh");
    }
    if (!p->values[q->target.attribute]) return ty_ok();
    bool colour = strcmp(attributes[q->target.attribute].name, "colour") == 0;
    if (colour && q->type == U8) value /= 255.0;
    if (colour && q->type == U16) value /= 65535.0;
    float stored = (float)value;
    p->values[q->target.attribute]
             [(int64_t)v * attributes[q->target.attribute].width + q->target.channel] = stored;
    return isfinite(stored)
               ? ty_ok()
               : mistake(p, "a value of a vertex is not a finite number; repair the mesh");
}

static ty_status prepare_vertices(ply* p, const element* e)
{
    unsigned axes = 0;
    for (int k = 0; k < e->n_properties; ++k)
        if (e->properties[k].target.attribute == -1) axes |= 1u << e->properties[k].target.channel;
    if (axes != 7) return mistake(p, "the vertices lack x, y or z; export the mesh again");
    TY_TRY(ty_tri_mesh_resize(p->mesh, (int)e->count, 0));
    for (int a = 0; a < N_ATTRIBUTES; ++a) {
        if (p->channels[a] != (1u << attributes[a].width) - 1) continue;    // incomplete: leave it
        p->values[a] = ty_tri_mesh_add_attribute(p->mesh, attributes[a].name, attributes[a].width);
        if (!p->values[a]) return ty_no_memory("surface attributes");
    }
    return ty_ok();
}

static ty_status read_vertices(ply* p, const element* e)
{
    TY_TRY(prepare_vertices(p, e));
    for (int v = 0; v < (int)e->count; ++v)
        for (int k = 0; k < e->n_properties; ++k) {
            const property* q = &e->properties[k];
            double value;
            if (q->target.attribute == -2) {
                TY_TRY(skip_value(p, q));
                continue;
            }
            TY_TRY(next_value(p, q->type, &value));
            TY_TRY(store_value(p, q, v, value));
        }
    return ty_ok();
}

static ty_status read_polygon(ply* p, const property* q)
{
    int64_t n;
    int corner[3] = {0, 0, 0};    // first, previous, this
    TY_TRY(list_length(p, q, &n));
    if (n < 3)
        return mistake(p, "a face has fewer than three corners; remove loose edges from the mesh");
    for (int64_t k = 0; k < n; ++k) {
        double index;
        TY_TRY(next_value(p, q->type, &index));
        if (!(index >= 0.0 && index < TY_MESH_MAX_ELEMENTS) || index != floor(index))
            return mistake(p, "a face names a vertex that is not there; export the mesh again");
        corner[k < 2 ? k : 2] = (int)index;
        if (k < 2) continue;
        if (!ty_mesh_build_triangle(&p->faces, corner[0], corner[1], corner[2]))
            return ty_no_memory("surface triangles");
        corner[1] = corner[2];
    }
    return ty_ok();
}

static ty_status read_rows(ply* p, const element* e)
{
    for (int64_t row = 0; row < e->count; ++row)
        for (int k = 0; k < e->n_properties; ++k) {
            const property* q = &e->properties[k];
            TY_TRY(q->corners ? read_polygon(p, q) : skip_value(p, q));
        }
    return ty_ok();
}

// The header's count is not believed: the smallest possible rows must fit the bytes that are left.
static ty_status check_count(const ply* p, const element* e)
{
    int64_t row = 0;
    for (int k = 0; k < e->n_properties; ++k) {
        const property* q = &e->properties[k];
        row += !p->binary ? 2 : type_size[q->count_type != NO_TYPE ? q->count_type : q->type];
    }
    int64_t possible = (bytes_left(p) + 1) /
                       (row ? row : 1);    // the last line of a text may lack its end
    if (e->count <= possible && e->count <= TY_MESH_MAX_ELEMENTS) return ty_ok();
    return ty_fail_at(TY_BAD_INPUT, p->name, 0, 0,
                      "the header announces %lld %s, but there are bytes for %lld at most; the "
                      "file is cut off or damaged: "
                      "copy it again",
                      (long long)e->count,
                      e->vertex ? "vertices"
                      : e->face ? "faces"
                                : "elements",
                      (long long)possible);
}

static ty_status read_values(ply* p, const element* elements, int n)
{
    for (int i = 0; i < n; ++i) {
        const element* e = &elements[i];
        if (e->n_properties == 0 && !e->vertex) continue;
        TY_TRY(check_count(p, e));
        TY_TRY(e->vertex ? read_vertices(p, e) : read_rows(p, e));
    }
    return ty_ok();
}

typedef TY_ARRAY(element) element_array;

// One header line; `done` after its last.
static ty_status read_header_line(ply* p, element_array* elements, bool* done)
{
    ty_word w;
    if (!ty_scan_word(&p->text, &w) || ty_word_is(w, "comment") || ty_word_is(w, "obj_info"))
        return ty_ok();
    if (ty_word_is(w, "format")) return read_format(p);
    if (ty_word_is(w, "end_header")) {
        *done = true;
        return ty_ok();
    }
    if (ty_word_is(w, "element")) {
        element e;
        TY_TRY(read_element(p, &e));
        if (elements->n == MAX_ELEMENTS)
            return ty_scan_mistake(&p->text, w, "too many elements; the header is damaged");
        return ty_array_push(elements, e) ? ty_ok() : ty_no_memory("a mesh file's header");
    }
    if (ty_word_is(w, "property") && elements->n > 0)
        return read_property(p, &elements->at[elements->n - 1]);
    return ty_scan_mistake(&p->text, w, "'%s' does not belong into the header of a PLY file");
}

static ty_status read_header(ply* p, element_array* elements)
{
    ty_word w;
    bool done = false;
    if (!ty_scan_word(&p->text, &w) || !ty_word_is(w, "ply"))
        return ty_fail_at(TY_BAD_INPUT, p->name, 1, 0,
                          "this is not a PLY file: it does not begin with 'ply'");
    while (!done) {
        bool more = ty_scan_next_line(&p->text);
        if (!more)
            return ty_fail_at(TY_BAD_INPUT, p->name, p->text.line, 0,
                              "the header has no end_header");
        TY_TRY(read_header_line(p, elements, &done));
    }
    if (!p->seen_format || !p->seen_vertex)
        return ty_fail_at(TY_BAD_INPUT, p->name, 0, 0, "the header lacks %s; it is damaged",
                          p->seen_format ? "vertices" : "the format");
    ty_scan_next_line(&p->text);
    p->at = (const unsigned char*)p->text.at;
    return ty_ok();
}

// The faces may come first in the file, so their corners are checked at the end.
static ty_status adopt_faces(ply* p)
{
    for (int64_t i = 0; i < p->faces.corners.n; ++i)
        if (p->faces.corners.at[i] >= p->mesh->n_verts)
            return ty_fail_at(TY_BAD_INPUT, p->name, 0, 0,
                              "triangle %lld names vertex %d, but there are only %d (counted from "
                              "0); export the mesh again",
                              (long long)(i / 3), p->faces.corners.at[i], p->mesh->n_verts);
    ty_free(p->mesh->tri);
    p->mesh->tri = (int(*)[3])p->faces.corners.at;
    p->mesh->n_tris = (int)(p->faces.corners.n / 3);
    p->mesh->tri_capacity = (int)(p->faces.corners.capacity / 3);
    p->faces = (ty_mesh_build){0};
    return ty_ok();
}

ty_status ty_ply_read_bytes(ty_tri_mesh* mesh, const void* bytes, int64_t n, const char* name)
{
    ty_tri_mesh_free(mesh);
    ply p = {.name = name, .begin = bytes, .end = (const unsigned char*)bytes + n, .mesh = mesh};
    p.text = ty_scan_begin(bytes, n, name);
    element_array elements = {0};
    ty_status status = read_header(&p, &elements);
    if (status.code == TY_OK) status = read_values(&p, elements.at, (int)elements.n);
    if (status.code == TY_OK) status = adopt_faces(&p);
    ty_mesh_build_free(&p.faces);
    ty_array_free(&elements);
    if (status.code != TY_OK) ty_tri_mesh_free(mesh);
    return status;
}

bool ty_ply_comment(const void* bytes, int64_t n, const char* key, char* value, int size)
{
    ty_scan s = ty_scan_begin(bytes, n, "");
    do {
        ty_word w;
        if (!ty_scan_word(&s, &w)) continue;
        if (ty_word_is(w, "end_header")) return false;
        if (!ty_word_is(w, "comment") || !ty_scan_word(&s, &w) || !ty_word_is(w, key)) continue;
        while (s.at < s.end && *s.at == ' ') ++s.at;
        int length = 0;
        for (; s.at < s.end && *s.at != '\n' && *s.at != '\r' && length + 1 < size; ++s.at)
            value[length++] = *s.at;
        value[length] = 0;
        return true;
    } while (ty_scan_next_line(&s));
    return false;
}
