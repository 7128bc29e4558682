// SPDX-License-Identifier: Apache-2.0
// Reads one grid of an OpenVDB file [Museth2013]: a tree of fixed depth,
//
//   root       any number of tiles and children, 4096 voxels wide
//   upper      32^3 tiles or children, 128 voxels wide
//   lower      16^3 tiles or children, 8 voxels wide
//   leaf       8^3 voxels
//
// first all masks and tile values (the topology), depth first, then the voxels of all leaves in the
// same order. Here a tile is a run of constant blocks. Coordinates are in blocks (voxels / 8).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "format/vdb_bytes.h"
#include "format/volume.h"

enum { ROOT_SPAN = 512, UPPER_SPAN = 16, MAX_BLOCKS = 1 << 25, LEAF_MASK = 64 };
static const int64_t max_volume_bytes = (int64_t)16 << 30;

typedef struct tile {
    int at[3], span, constant;
} tile;

typedef struct leaf {
    int at[3];
    const unsigned char* mask;
} leaf;

typedef struct reader {
    vdb_bytes b;
    vdb_layout layout;
    float* node;    // the values of one internal node
    TY_ARRAY(tile) tiles;
    TY_ARRAY(leaf) leaves;
    TY_ARRAY(float) constants;
    ty_volume* v;
} reader;

static ty_status no_memory(void) { return ty_no_memory("a volume"); }

// The number of a constant. Most grids have one or two, so looking back a little is enough.
static ty_status find_constant(reader* r, const float* value, int* constant)
{
    int width = r->layout.width;
    int64_t n = r->constants.n / width, oldest = n > 4 ? n - 4 : 0;
    for (int64_t c = n - 1; c >= oldest; --c)
        if (memcmp(value, r->constants.at + c * width, (size_t)width * sizeof *value) == 0) {
            *constant = (int)c;
            return ty_ok();
        }
    *constant = (int)n;
    for (int c = 0; c < width; ++c)
        if (!ty_array_push(&r->constants, value[c])) return no_memory();
    return ty_ok();
}

static bool is_background(const reader* r, const float* value)
{
    return memcmp(value, r->layout.background, (size_t)r->layout.width * sizeof *value) == 0;
}

static ty_status add_tile(reader* r, const int at[3], int span, const float* value)
{
    tile t = {{at[0], at[1], at[2]}, span, 0};
    TY_TRY(find_constant(r, value, &t.constant));
    if (r->tiles.n >= MAX_BLOCKS) return vdb_damaged(&r->b, "too many tiles");
    return ty_array_push(&r->tiles, t) ? ty_ok() : no_memory();
}

static bool bit(const unsigned char* mask, int i) { return mask[i >> 3] >> (i & 7) & 1; }

static void child_at(const int origin[3], int i, int log2, int span, int at[3])
{
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = origin[axis] + span * (i >> (2 - axis) * log2 & ((1 << log2) - 1));
}

// The masks and tiles of an internal node; its children follow.
static ty_status read_node(reader* r, const int origin[3], int log2, int span,
                           const unsigned char** children)
{
    int count = 1 << 3 * log2;
    *children = vdb_take(&r->b, count / 8);
    const unsigned char* active = vdb_take(&r->b, count / 8);
    if (!*children || !active) return vdb_damaged(&r->b, "the file ends within a node");
    TY_TRY(vdb_values(&r->b, &r->layout, active, count, r->node));
    for (int i = 0; i < count; ++i) {
        int at[3];
        const float* value = r->node + (int64_t)i * r->layout.width;
        if (bit(*children, i) || is_background(r, value)) continue;
        child_at(origin, i, log2, span, at);
        TY_TRY(add_tile(r, at, span, value));
    }
    return ty_ok();
}

static ty_status read_lower(reader* r, const int origin[3])
{
    const unsigned char* children;
    TY_TRY(read_node(r, origin, 4, 1, &children));
    for (int i = 0; i < 4096; ++i) {
        leaf l;
        if (!bit(children, i)) continue;
        child_at(origin, i, 4, 1, l.at);
        l.mask = vdb_take(&r->b, LEAF_MASK);
        if (!l.mask) return vdb_damaged(&r->b, "the file ends within a node");
        if (!ty_array_push(&r->leaves, l)) return no_memory();
    }
    return ty_ok();
}

static ty_status read_upper(reader* r, const int origin[3])
{
    const unsigned char* children;
    TY_TRY(read_node(r, origin, 5, UPPER_SPAN, &children));
    for (int i = 0; i < 32768; ++i) {
        int at[3];
        if (!bit(children, i)) continue;
        child_at(origin, i, 5, UPPER_SPAN, at);
        TY_TRY(read_lower(r, at));
    }
    return ty_ok();
}

static ty_status read_origin(reader* r, int at[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        uint32_t voxel = 0;
        TY_TRY(vdb_u32(&r->b, &voxel));
        if (voxel % (8 * ROOT_SPAN) != 0)
            return vdb_damaged(&r->b, "a node at an impossible place");
        at[axis] = (int32_t)voxel / 8;
    }
    return ty_ok();
}

static ty_status read_root(reader* r)
{
    uint32_t n_buffers = 0, n_tiles = 0, n_children = 0;
    TY_TRY(vdb_u32(&r->b, &n_buffers));
    if (n_buffers != 1) return vdb_damaged(&r->b, "a tree with several buffers");
    int background;
    TY_TRY(vdb_value(&r->b, &r->layout, r->layout.background));
    TY_TRY(find_constant(r, r->layout.background, &background));
    TY_TRY(vdb_u32(&r->b, &n_tiles));
    TY_TRY(vdb_u32(&r->b, &n_children));
    for (uint32_t i = 0; i < n_tiles; ++i) {
        int at[3];
        float value[3];
        TY_TRY(read_origin(r, at));
        TY_TRY(vdb_value(&r->b, &r->layout, value));
        if (!vdb_take(&r->b, 1)) return vdb_damaged(&r->b, "the file ends within the root");
        if (!is_background(r, value)) TY_TRY(add_tile(r, at, ROOT_SPAN, value));
    }
    for (uint32_t i = 0; i < n_children; ++i) {
        int at[3];
        TY_TRY(read_origin(r, at));
        TY_TRY(read_upper(r, at));
    }
    return ty_ok();
}

static void include(int64_t lo[3], int64_t hi[3], const int at[3], int span)
{
    for (int axis = 0; axis < 3; ++axis) {
        if (at[axis] < lo[axis]) lo[axis] = at[axis];
        if ((int64_t)at[axis] + span > hi[axis]) hi[axis] = (int64_t)at[axis] + span;
    }
}

static ty_status make_table(reader* r)
{
    int64_t lo[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, hi[3] = {INT32_MIN, INT32_MIN, INT32_MIN},
            n = 1;
    for (int64_t i = 0; i < r->tiles.n; ++i)
        include(lo, hi, r->tiles.at[i].at, r->tiles.at[i].span);
    for (int64_t i = 0; i < r->leaves.n; ++i) include(lo, hi, r->leaves.at[i].at, 1);
    for (int axis = 0; axis < 3; ++axis) {
        bool empty = hi[axis] <= lo[axis];
        r->v->first[axis] = empty ? 0 : (int)lo[axis];
        n = empty ? 0 : n > MAX_BLOCKS ? n : n * (hi[axis] - lo[axis]);
        r->v->n_blocks[axis] = empty || n > MAX_BLOCKS ? 0 : (int)(hi[axis] - lo[axis]);
    }
    if (n > MAX_BLOCKS)
        return ty_fail_at(
            TY_BAD_INPUT, r->b.file, 0, 0,
            "grid '%s' spans %lld x %lld x %lld voxels, which is too many; clip or resample it",
            r->v->name, (long long)(8 * (hi[0] - lo[0])), (long long)(8 * (hi[1] - lo[1])),
            (long long)(8 * (hi[2] - lo[2])));
    r->v->block = ty_alloc((size_t)n, sizeof *r->v->block);
    if (!r->v->block) return no_memory();
    memset(r->v->block, 0xFF, (size_t)n * sizeof *r->v->block);    // -1 everywhere
    return ty_ok();
}

// Every block has one owner: two at one place are damage. This also bounds the work by the size of
// the table.
static ty_status claim(reader* r, const int at[3], int span, int entry)
{
    const int* n = r->v->n_blocks;
    int64_t base[3];
    for (int axis = 0; axis < 3; ++axis) base[axis] = (int64_t)at[axis] - r->v->first[axis];
    for (int64_t i = base[0]; i < base[0] + span; ++i)
        for (int64_t j = base[1]; j < base[1] + span; ++j)
            for (int64_t k = base[2]; k < base[2] + span; ++k) {
                int* block = &r->v->block[(i * n[1] + j) * n[2] + k];
                if (*block != -1) return vdb_damaged(&r->b, "two nodes at one place");
                *block = entry;
            }
    return ty_ok();
}

static ty_status read_leaves(reader* r)
{
    int64_t n = r->leaves.n, per_leaf = (int64_t)TY_VOLUME_BLOCK * r->layout.width;
    if (n > vdb_left(&r->b) / (LEAF_MASK + 1)) return vdb_damaged(&r->b, "voxels are missing");
    if (n * per_leaf * (int64_t)sizeof(float) > max_volume_bytes)
        return ty_fail_at(TY_BAD_INPUT, r->b.file, 0, 0,
                          "grid '%s' needs more than 16 GiB; clip or resample it", r->v->name);
    r->v->values = ty_alloc((size_t)(n * per_leaf), sizeof(float));
    if (!r->v->values) return no_memory();
    r->v->n_values = (int)n;
    for (int64_t i = 0; i < n; ++i) {
        TY_TRY(claim(r, r->leaves.at[i].at, 1, (int)i));
        if (!vdb_take(&r->b, LEAF_MASK))
            return vdb_damaged(&r->b, "the file ends within the voxels");
        TY_TRY(vdb_values(&r->b, &r->layout, r->leaves.at[i].mask, TY_VOLUME_BLOCK,
                          r->v->values + i * per_leaf));
    }
    return ty_ok();
}

static ty_status read_metadata(reader* r)
{
    uint32_t n = 0;
    TY_TRY(vdb_u32(&r->b, &n));
    for (uint32_t i = 0; i < n; ++i) {
        vdb_meta meta;
        TY_TRY(vdb_meta_next(&r->b, &meta));
        if (vdb_text_is(meta.key, "class")) r->v->level_set = vdb_text_is(meta.value, "level set");
    }
    return ty_ok();
}

// Scale and shift of the kinds of map that can be no more than that.
static ty_status read_map(vdb_bytes* b, double scale[3], double shift[3])
{
    vdb_text type;
    double rest[12], m[16];
    for (int axis = 0; axis < 3; ++axis) scale[axis] = 1.0, shift[axis] = 0.0;
    TY_TRY(vdb_string(b, &type));
    if (vdb_text_is(type, "TranslationMap")) return vdb_doubles(b, shift, 3);
    if (vdb_text_is(type, "AffineMap")) {
        TY_TRY(vdb_doubles(b, m, 16));
        bool plain = m[3] == 0.0 && m[7] == 0.0 && m[11] == 0.0 && m[15] == 1.0;
        for (int i = 0; i < 9; ++i) plain = plain && (i % 4 == 0 || m[i / 3 * 4 + i % 3] == 0.0);
        for (int axis = 0; axis < 3; ++axis)
            scale[axis] = plain ? m[5 * axis] : NAN, shift[axis] = m[12 + axis];
        return ty_ok();
    }
    bool moved = vdb_text_is(type, "ScaleTranslateMap") ||
                 vdb_text_is(type, "UniformScaleTranslateMap");
    if (moved) TY_TRY(vdb_doubles(b, shift, 3));
    if (!moved && !vdb_text_is(type, "ScaleMap") && !vdb_text_is(type, "UniformScaleMap")) {
        scale[0] = NAN;
        return ty_ok();
    }
    TY_TRY(vdb_doubles(b, scale, 3));
    return vdb_doubles(b, rest, 12);    // the same again, inverted and squared
}

static ty_status read_transform(reader* r)
{
    // Programs that store floats round the three scales apart by about 1e-7
    static const double same = 1e-6;
    double scale[3];
    TY_TRY(read_map(&r->b, scale, r->v->origin));
    bool ok = scale[0] > 0.0 && isfinite(scale[0]);
    for (int axis = 0; axis < 3; ++axis)
        ok = ok && fabs(scale[axis] - scale[0]) <= same * scale[0] && isfinite(r->v->origin[axis]);
    r->v->cell = scale[0];
    if (ok) return ty_ok();
    return ty_fail_at(TY_BAD_INPUT, r->b.file, 0, 0,
                      "grid '%s' is rotated, stretched or in a frustum; resample it to cubic "
                      "voxels along the axes",
                      r->v->name);
}

static ty_status read_grid(reader* r, const vdb_descriptor* d)
{
    r->b.at = r->b.begin + d->grid_at;
    r->layout.width = r->v->width = d->width;
    r->layout.scalar = d->scalar;
    r->layout.half = d->half;
    TY_TRY(vdb_u32(&r->b, &r->layout.compression));
    if (r->layout.compression > 7) return vdb_damaged(&r->b, "an unknown compression");
    TY_TRY(read_metadata(r));
    TY_TRY(read_transform(r));
    r->layout.scratch = ty_alloc(VDB_MAX_VALUES * 3, 8);
    r->node = ty_alloc(VDB_MAX_VALUES * 3, sizeof *r->node);
    if (!r->layout.scratch || !r->node) return no_memory();
    TY_TRY(read_root(r));
    TY_TRY(make_table(r));
    for (int64_t i = 0; i < r->tiles.n; ++i)
        TY_TRY(claim(r, r->tiles.at[i].at, r->tiles.at[i].span, -1 - r->tiles.at[i].constant));
    TY_TRY(read_leaves(r));
    r->v->n_constants = (int)(r->constants.n / d->width);
    r->v->constants = r->constants.at;
    r->constants.at = NULL;
    return ty_ok();
}

// Names of the grids, for the message when none fits.
static void note_name(char* names, int size, const vdb_descriptor* d)
{
    char name[40];
    int n = (int)strlen(names);
    vdb_text_copy(d->name, name, sizeof name);
    snprintf(names + n, (size_t)(size - n), "%s'%s'%s", n ? ", " : "", name,
             d->width ? "" : " (of another kind)");
}

static ty_status find_grid(reader* r, const char* wanted, vdb_descriptor* d)
{
    uint32_t n = 0;
    char names[300] = "";
    TY_TRY(vdb_header(&r->b));
    TY_TRY(vdb_u32(&r->b, &n));
    for (uint32_t i = 0; i < n; ++i) {
        vdb_meta meta;
        TY_TRY(vdb_meta_next(&r->b, &meta));
    }
    TY_TRY(vdb_u32(&r->b, &n));
    for (uint32_t i = 0; i < n; ++i) {
        TY_TRY(vdb_descriptor_next(&r->b, d));
        vdb_text_copy(d->name, r->v->name, sizeof r->v->name);
        if (d->width && !d->instance && (!wanted || strcmp(wanted, r->v->name) == 0))
            return ty_ok();
        note_name(names, sizeof names, d);
        r->b.at = r->b.begin + d->end_at;
    }
    return ty_fail_at(TY_BAD_INPUT, r->b.file, 0, 0,
                      "no grid %s%s%s of numbers or vectors; the file has %s", wanted ? "'" : "",
                      wanted ? wanted : "", wanted ? "'" : "", names[0] ? names : "no grids");
}

ty_status ty_volume_read_bytes(ty_volume* v, const void* bytes, int64_t n, const char* name,
                               const char* grid)
{
    ty_volume_free(v);
    reader r = {.b = {bytes, bytes, (const unsigned char*)bytes + n, name}, .v = v};
    vdb_descriptor d;
    ty_status status = find_grid(&r, grid, &d);
    if (status.code == TY_OK) status = read_grid(&r, &d);
    ty_array_free(&r.tiles);
    ty_array_free(&r.leaves);
    ty_array_free(&r.constants);
    ty_free(r.node);
    ty_free(r.layout.scratch);
    if (status.code != TY_OK) ty_volume_free(v);
    return status;
}
