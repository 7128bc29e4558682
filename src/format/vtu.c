// SPDX-License-Identifier: Apache-2.0
// VTK's XML format with appended raw data, each array in blocks compressed by zlib:
//   number of blocks, bytes of a block, bytes of the last one (0: whole), compressed bytes of each; then the blocks.
#include <string.h>
#include <zlib.h>

#include "core/memory.h"
#include "format/file.h"
#include "format/tet_io.h"

enum {
    BLOCK = 1 << 18,
    MAX_ARRAYS = 16,
    LEVEL = 1
};    // level 1: tets shrink to a quarter, as at 9, forty times faster

typedef TY_ARRAY(unsigned char) bytes;

// Fills `out` with bytes begin.. of an array.
typedef struct source {
    const char* name;
    ty_vtu_type type;
    int width;
    int64_t n_bytes;
    const void* values;    // or, when NULL:
    void (*fill)(const ty_vtu* g, int64_t begin, int64_t n, void* out);
} source;

static const int type_size[] = {8, 4, 4, 1};
static const char* const type_name[] = {"Float64", "Float32", "Int32", "UInt8"};

static void fill_offsets(const ty_vtu* g, int64_t begin, int64_t n, void* out)
{
    int64_t* offset = out;
    for (int64_t i = 0; i < n / 8; ++i) offset[i] = (begin / 8 + i + 1) * g->verts_per_cell;
}

static void fill_types(const ty_vtu* g, int64_t begin, int64_t n, void* out)
{
    (void)begin;
    memset(out, g->cell_type, (size_t)n);
}

static bool put(bytes* b, const void* at, int64_t n)
{
    if (!ty_array_reserve(b, b->n + n)) return false;
    memcpy(b->at + b->n, at, (size_t)n);
    b->n += n;
    return true;
}

static bool put_block(bytes* b, const ty_vtu* g, const source* s, int64_t begin, int64_t n,
                      uint64_t* size)
{
    static _Thread_local unsigned char buffer[BLOCK] __attribute__((aligned(64)));
    const unsigned char* from = (const unsigned char*)s->values + begin;
    if (!s->values) {
        s->fill(g, begin, n, buffer);
        from = buffer;
    }
    uLongf room = compressBound((uLong)n);
    if (!ty_array_reserve(b, b->n + (int64_t)room)) return false;
    if (compress2(b->at + b->n, &room, from, (uLong)n, LEVEL) != Z_OK) return false;
    *size = room;
    b->n += (int64_t)room;
    return true;
}

// Appends one array; its offset in `b` is where it began.
static bool put_array(bytes* b, const ty_vtu* g, const source* s)
{
    uint64_t n_blocks = (uint64_t)(s->n_bytes + BLOCK - 1) / BLOCK;
    uint64_t head[3] = {n_blocks, BLOCK, (uint64_t)s->n_bytes % BLOCK};
    if (!put(b, head, sizeof head)) return false;
    int64_t sizes = b->n;
    for (uint64_t i = 0; i < n_blocks; ++i)
        if (!put(b, &n_blocks, sizeof n_blocks)) return false;
    for (uint64_t i = 0; i < n_blocks; ++i) {
        int64_t begin = (int64_t)i * BLOCK,
                n = s->n_bytes - begin < BLOCK ? s->n_bytes - begin : BLOCK;
        uint64_t size = 0;
        if (!put_block(b, g, s, begin, n, &size)) return false;
        memcpy(b->at + sizes + 8 * (int64_t)i, &size, sizeof size);
    }
    return true;
}

static void print_array(ty_file_writer* w, const source* s, int64_t offset)
{
    const char* type = s->fill == fill_offsets ? "Int64" : type_name[s->type];
    ty_file_print(
        w,
        "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%lld\"/>\n",
        type, s->name, s->width, (long long)offset);
}

static void print_file(ty_file_writer* w, const ty_vtu* g, const source* s, const int64_t* offset,
                       const bytes* data)
{
    ty_file_print(
        w,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\n"
        "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n<Points>\n",
        (long long)g->n_points, (long long)g->n_cells);
    print_array(w, &s[0], offset[0]);
    ty_file_print(w, "</Points>\n<Cells>\n");
    for (int i = 1; i < 4; ++i) print_array(w, &s[i], offset[i]);
    ty_file_print(w, "</Cells>\n<CellData>\n");
    for (int i = 0; i < g->n_arrays; ++i) print_array(w, &s[4 + i], offset[4 + i]);
    ty_file_print(w,
                  "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
    ty_file_put(w, data->at, data->n);
    ty_file_print(w, "\n</AppendedData>\n</VTKFile>\n");
}

ty_status ty_vtu_write(const ty_vtu* g, const char* path)
{
    source s[4 + MAX_ARRAYS] = {
        {"Points", TY_VTU_DOUBLE, 3, 24 * g->n_points, g->points, NULL},
        {"connectivity", TY_VTU_INT, 1, 4 * g->n_cells * g->verts_per_cell, g->verts, NULL},
        {"offsets", TY_VTU_INT, 1, 8 * g->n_cells, NULL, fill_offsets},
        {"types", TY_VTU_BYTE, 1, g->n_cells, NULL, fill_types}};
    int n = 4 + (g->n_arrays < MAX_ARRAYS ? g->n_arrays : MAX_ARRAYS);
    for (int i = 4; i < n; ++i) {
        const ty_vtu_array* a = &g->arrays[i - 4];
        s[i] = (source){a->name,   a->type, a->width, g->n_cells * a->width * type_size[a->type],
                        a->values, NULL};
    }
    bytes data = {0};
    int64_t offset[4 + MAX_ARRAYS];
    bool ok = true;
    for (int i = 0; i < n && ok; ++i) {
        offset[i] = data.n;
        ok = put_array(&data, g, &s[i]);
    }
    ty_file_writer w;
    ty_status status = ok ? ty_file_begin(&w, path) : ty_no_memory("the .vtu file");
    if (status.code == TY_OK) {
        print_file(&w, g, s, offset, &data);
        status = ty_file_commit(&w);
    }
    ty_array_free(&data);
    return status;
}
