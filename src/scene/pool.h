// SPDX-License-Identifier: Apache-2.0
// Memory for the many small pieces of a tree, given back all at once. The arena of core/memory.h is
// made for a few large arrays per step and allocates one block each until its first reset.
#ifndef TY_SCENE_POOL_H
#define TY_SCENE_POOL_H

#include "core/memory.h"

// Open; zero-initialise.
typedef struct ty_pool {
    struct ty_pool_chunk* last;
    size_t used, size;    // bytes of the last chunk
} ty_pool;

// Aligned to 16 bytes, contents undefined; NULL when out of memory.
void* ty_pool_alloc(ty_pool* pool, size_t n, size_t size);
void ty_pool_free(ty_pool* pool);

#endif
