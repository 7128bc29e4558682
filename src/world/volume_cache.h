// SPDX-License-Identifier: Apache-2.0
// A number or vector from .vdb files: the two frames around a time are in memory.
#ifndef TY_WORLD_VOLUME_CACHE_H
#define TY_WORLD_VOLUME_CACHE_H

#include "world/varying.h"

// Opaque.
typedef struct ty_volume_cache ty_volume_cache;

// Keeps width, file, grid, rate, start and place of `v`; borrows its strings.
ty_status ty_volume_cache_create(ty_volume_cache** c, const ty_varying* v);
void ty_volume_cache_destroy(ty_volume_cache* c);
ty_status ty_volume_cache_load(ty_volume_cache* c, double t0, double t1);
void ty_volume_cache_eval(const ty_volume_cache* c, double t, int n, const double (*x)[3], double* out);

#endif
