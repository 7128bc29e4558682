// SPDX-License-Identifier: Apache-2.0
// Numbers, vectors or distances from .vdb files, one per frame: the frames around a span of time
// are in memory, between two of them values go straight from one to the other.
#ifndef TY_WORLD_VOLUME_CACHE_H
#define TY_WORLD_VOLUME_CACHE_H

#include "core/vec.h"
#include "world/sequence.h"

// Opaque.
typedef struct ty_volume_cache ty_volume_cache;

// Borrows `grid` (NULL: the first of the file) and the sequence's strings.
ty_status ty_volume_cache_create(ty_volume_cache** c, const ty_sequence* files, const char* grid,
                                 int width);
void ty_volume_cache_destroy(ty_volume_cache* c);
// Loads the frames of [t0, t1] and lets go of others. Not re-entrant.
ty_status ty_volume_cache_load(ty_volume_cache* c, double t0, double t1);
bool ty_volume_cache_changes(const ty_volume_cache* c);

// n x width values at a loaded time. Re-entrant.
void ty_volume_cache_eval(const ty_volume_cache* c, double t, int n, const double (*x)[3],
                          double* out);
// How fast the values change, per second, on the way that leads to t.
void ty_volume_cache_rate(const ty_volume_cache* c, double t, int n, const double (*x)[3],
                          double* out);
// The box of all blocks, and the size of a voxel, of the frames around t.
ty_box ty_volume_cache_bounds(const ty_volume_cache* c, double t);
double ty_volume_cache_cell(const ty_volume_cache* c, double t);

#endif
