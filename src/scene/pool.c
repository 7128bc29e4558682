// SPDX-License-Identifier: Apache-2.0
#include "scene/pool.h"

enum { CHUNK = 1 << 16, ALIGNMENT = 16 };

typedef struct ty_pool_chunk {
    struct ty_pool_chunk* before;
    _Alignas(ALIGNMENT) char bytes[];
} ty_pool_chunk;

void* ty_pool_alloc(ty_pool* pool, size_t n, size_t size)
{
    if (size && n > (SIZE_MAX / 2) / size) return NULL;
    size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!pool->last || pool->size - pool->used < bytes) {
        size_t chunk_bytes = bytes > CHUNK ? bytes : CHUNK;
        ty_pool_chunk* chunk = ty_alloc(sizeof *chunk + chunk_bytes, 1);
        if (!chunk) return NULL;
        chunk->before = pool->last;
        *pool = (ty_pool){chunk, 0, chunk_bytes};
    }
    void* p = pool->last->bytes + pool->used;
    pool->used += bytes;
    return p;
}

void ty_pool_free(ty_pool* pool)
{
    for (ty_pool_chunk* chunk = pool->last; chunk;) {
        ty_pool_chunk* before = chunk->before;
        ty_free(chunk);
        chunk = before;
    }
    *pool = (ty_pool){0};
}
