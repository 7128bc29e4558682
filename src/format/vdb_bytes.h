// SPDX-License-Identifier: Apache-2.0
// The pieces of an OpenVDB file that is not trusted: numbers, texts, metadata, compressed values.
// Little endian. Only for vdb_read.c and vdb_list.c.
#ifndef TY_FORMAT_VDB_BYTES_H
#define TY_FORMAT_VDB_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef struct vdb_bytes {
    const unsigned char *begin, *at, *end;
    const char* file;
} vdb_bytes;

static inline int64_t vdb_left(const vdb_bytes* b) { return b->end - b->at; }
// TY_BAD_INPUT at the current byte: "... at byte N ...".
ty_status vdb_damaged(const vdb_bytes* b, const char* what);
// The next n bytes, NULL when there are fewer.
const unsigned char* vdb_take(vdb_bytes* b, int64_t n);
ty_status vdb_u32(vdb_bytes* b, uint32_t* value);
ty_status vdb_i64(vdb_bytes* b, int64_t* value);
ty_status vdb_doubles(vdb_bytes* b, double* values, int n);
// Length and bytes of a text; borrowed.
typedef struct vdb_text {
    const char* at;
    uint32_t n;
} vdb_text;
ty_status vdb_string(vdb_bytes* b, vdb_text* text);
bool vdb_text_is(vdb_text text, const char* s);
// What fits, ended by a zero, without control characters.
void vdb_text_copy(vdb_text text, char* to, int size);

// One entry of a metadata map.
typedef struct vdb_meta {
    vdb_text key, type, value;
} vdb_meta;
ty_status vdb_meta_next(vdb_bytes* b, vdb_meta* meta);

// Up to the first grid: checks the magic number and version. Leaves `b` at the file's metadata.
ty_status vdb_header(vdb_bytes* b);

// What stands before every grid.
typedef struct vdb_descriptor {
    vdb_text name, type;    // name without OpenVDB's "\x1e0" that makes it unique
    bool instance;          // shares the tree of another grid
    int64_t grid_at, end_at;
    int width, scalar;    // components and bytes of one; width 0: a kind we cannot read
    bool half;
} vdb_descriptor;
// Leaves `b` after the descriptor; `grid_at` and `end_at` lie within the file, `end_at` beyond `b`.
ty_status vdb_descriptor_next(vdb_bytes* b, vdb_descriptor* d);

enum { VDB_MAX_VALUES = 32768 };    // of one node: the upper internal node's

// How values of the grid at hand are stored.
typedef struct vdb_layout {
    uint32_t compression;
    int width, scalar;
    bool half;
    float background[3];
    unsigned char* scratch;    // VDB_MAX_VALUES x 3 x 8 bytes
} vdb_layout;

// One value, `width` numbers, not compressed.
ty_status vdb_value(vdb_bytes* b, const vdb_layout* l, float* out);
// The `count` values of a node; `mask` has a bit for each that is active. Finite, or TY_BAD_INPUT.
ty_status vdb_values(vdb_bytes* b, const vdb_layout* l, const unsigned char* mask, int count,
                     float* out);

#endif
