// SPDX-License-Identifier: Apache-2.0
// A grid of an OpenVDB file in memory: blocks of 8 x 8 x 8 voxels where there are values, one
// number where a block is constant, background everywhere else.
//
//   block   n_blocks[0] x n_blocks[1] x n_blocks[2] entries, z fastest: e >= 0 is block e of
//   `values`, e < 0 is
//           constant -1 - e; constant 0 is the background
//   values  per block 512 x width floats, z fastest, components together
//
// Voxel (i, j, k) sits at origin + cell * (i, j, k).
#ifndef TY_FORMAT_VOLUME_H
#define TY_FORMAT_VOLUME_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "core/vec.h"
#include "geometry/sampler.h"

enum { TY_VOLUME_SIDE = 8, TY_VOLUME_BLOCK = 512 };

// Open. Owns its arrays; zero-initialise, read, ty_volume_free. Free to read from any thread.
typedef struct ty_volume {
    char name[64];
    int width;         // 1 or 3
    bool level_set;    // the file says so: metres, negative inside
    double origin[3], cell;
    int first[3];    // block coordinates of the first block: voxel / 8
    int n_blocks[3];
    int* block;
    int n_values, n_constants;    // in blocks and in constants
    float *values, *constants;
} ty_volume;

// Reads the named grid (NULL: the first that can be read) of float, double or vector values. Files
// are not trusted: every mistake is TY_BAD_INPUT with a remedy, what is read is finite, and at most
// 16 GiB are used. Grids that are rotated or stretched, older than OpenVDB 3.0 or written as a
// stream are refused. After a failure the volume is empty.
ty_status ty_volume_read(ty_volume* v, const char* path, const char* grid);
ty_status ty_volume_read_bytes(ty_volume* v, const void* bytes, int64_t n, const char* name,
                               const char* grid);
void ty_volume_free(ty_volume* v);

// The `width` values of a voxel; the background outside all blocks.
const float* ty_volume_at(const ty_volume* v, int i, int j, int k);
const float* ty_volume_background(const ty_volume* v);
// Where blocks are, in metres; empty when there are none.
ty_box ty_volume_bounds(const ty_volume* v);

// Trilinear; borrows the volume.
ty_sampler ty_volume_sampler(const ty_volume* v);

#endif
