// SPDX-License-Identifier: Apache-2.0
// OpenVDB files: several named grids and their metadata.
//
// Writing is OpenVDB's own (vdb_shim.cpp, the only C++ file); a build without it answers
// TY_NOT_YET. Reading is ours (vdb_read.c), because OpenVDB trusts the files it reads and a damaged
// one must not take the run down.
#ifndef TY_FORMAT_VDB_H
#define TY_FORMAT_VDB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ty_vdb_class { TY_VDB_FOG, TY_VDB_LEVEL_SET, TY_VDB_PLAIN } ty_vdb_class;

// One grid to write. Borrows everything. Start from ty_vdb_grid_default().
//
// Voxel (i, j, k) of 0..n holds values[i * stride[0] + j * stride[1] + k * stride[2] + c], c <
// width, and sits at origin + (index + offset) * cell. A level set holds metres, negative inside:
// values are clipped to +-background, and those that reach it are inactive. Otherwise, values that
// differ from background by at most `tolerance` in every component are inactive and become
// background.
typedef struct ty_vdb_grid {
    const char* name;       // "surface", "density", "temperature", "velocity"
    ty_vdb_class class_;    // decides how other programs show it
    int width;              // 1, or 3 for vectors
    const float* values;    // when NULL, `plane` is asked instead
    int n[3];
    int64_t stride[3];    // in floats; all 0: x fastest, components together
    // Fills the voxels (0.., 0.., k): n[0] * n[1] * width floats, x fastest. Called for rising k
    // from one thread.
    void (*plane)(const void* self, int k, float* out);
    const void* self;
    double origin[3];    // metres
    double cell;         // metres
    double offset;       // 0.5: values at cell centres; 0: at the nodes
    float background;
    float tolerance;
    bool half;    // 16-bit floats in the file
} ty_vdb_grid;

ty_vdb_grid ty_vdb_grid_default(void);

// Metadata of the file and of each of its grids: text, or a number when text is NULL.
typedef struct ty_vdb_note {
    const char* key;
    const char* text;
    double number;
} ty_vdb_note;

typedef enum ty_vdb_compression { TY_VDB_BLOSC, TY_VDB_ZIP, TY_VDB_NONE } ty_vdb_compression;

// Writes atomically. The same input gives the same bytes: the random id of the header is replaced
// by a hash of the contents. TY_DIVERGED when a value is not finite.
ty_status ty_vdb_write(const char* path, int n_grids, const ty_vdb_grid* grids, int n_notes,
                       const ty_vdb_note* notes, ty_vdb_compression compression);

// What is in a file. Owns its arrays; ty_vdb_listing_free.
typedef struct ty_vdb_text {
    char key[64], value[192];
} ty_vdb_text;
typedef struct ty_vdb_entry {
    char name[64], type[64];    // type as in the file: "Tree_float_5_4_3"
    int width;                  // 1 or 3; 0: of a kind that ty_volume_read cannot read
    int n_texts;
    ty_vdb_text* texts;
} ty_vdb_entry;
typedef struct ty_vdb_listing {
    int n_grids, n_texts;
    ty_vdb_entry* grids;
    ty_vdb_text* texts;    // metadata of the file
} ty_vdb_listing;

ty_status ty_vdb_list(ty_vdb_listing* listing, const char* path);
ty_status ty_vdb_list_bytes(ty_vdb_listing* listing, const void* bytes, int64_t n,
                            const char* name);
void ty_vdb_listing_free(ty_vdb_listing* listing);

// In a module of its own, for vdb.c alone: the file as bytes. What `put` gets is complete and in one piece.
ty_status ty_vdb_shim_write(int n_grids, const ty_vdb_grid* grids, int n_notes,
                            const ty_vdb_note* notes, ty_vdb_compression compression,
                            ty_status (*put)(void* self, char* bytes, int64_t n), void* self);

#ifdef __cplusplus
}
#endif
#endif
