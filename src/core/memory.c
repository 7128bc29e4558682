// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/large_blocks.h"

enum { ALIGNMENT = 64 };    // a cache line, and the widest vector register

static atomic_int_fast64_t fail_countdown;
static atomic_int_fast64_t n_allocated;
static atomic_int_fast64_t n_alive;

static bool must_fail(void)
{
    int_fast64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    if (left == 0) return false;
    if (left == 1) return true;
    atomic_fetch_sub_explicit(&fail_countdown, 1, memory_order_relaxed);
    return false;
}

void ty_memory_fail_after(int64_t k) { atomic_store(&fail_countdown, k); }
int64_t ty_memory_count(void) { return atomic_load(&n_allocated); }
int64_t ty_memory_alive(void) { return atomic_load(&n_alive); }

double ty_memory_peak_mib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024.0 : 0.0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Their ends would not be guarded, and whose pages were moved would not be known.
enum { KEEPS_LARGE_BLOCKS = 0 };
#else
enum { KEEPS_LARGE_BLOCKS = 1 };
#endif

// Large blocks lie on huge pages: a stencil's rows then lie on fewer pages than the processor knows
// the places of (dam break, 64 cells, tracker particle: 5 % less time).
static void* take(size_t bytes)
{
    if (!KEEPS_LARGE_BLOCKS || bytes < TY_LARGE_BLOCK) return aligned_alloc(ALIGNMENT, bytes);
    return ty_large_take(bytes);
}

void* ty_alloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > (size_t)PTRDIFF_MAX - 2 * TY_LARGE_BLOCK)
        return NULL;
    if (must_fail()) return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void* p = take(bytes ? bytes : ALIGNMENT);
    if (p) {
        atomic_fetch_add_explicit(&n_allocated, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&n_alive, 1, memory_order_relaxed);
    }
    return p;
}

void* ty_alloc_zero(size_t n, size_t size)
{
    void* p = ty_alloc(n, size);
    if (p) memset(p, 0, n * size);
    return p;
}

void* ty_realloc(void* p, size_t old_n, size_t n, size_t size)
{
    void* q = ty_alloc(n, size);
    if (!q) return NULL;
    size_t keep = (old_n < n ? old_n : n) * size;
    if (p && keep) memcpy(q, p, keep);
    ty_free(p);
    return q;
}

void ty_free(void* p)
{
    if (!p) return;
    atomic_fetch_sub_explicit(&n_alive, 1, memory_order_relaxed);
    if (!ty_large_give(p)) free(p);
}

char* ty_strdup(const char* s)
{
    size_t n = strlen(s) + 1;
    char* copy = ty_alloc(n, 1);
    if (copy) memcpy(copy, s, n);
    return copy;
}

bool ty_array_reserve_(void** at, int64_t n, int64_t* capacity, int64_t count, size_t size)
{
    if (count <= *capacity) return true;
    int64_t grown = *capacity + *capacity / 2 + 16;
    int64_t wanted = count > grown ? count : grown;
    void* p = ty_realloc(*at, (size_t)n, (size_t)wanted, size);
    if (!p) return false;
    *at = p;
    *capacity = wanted;
    return true;
}

bool ty_array_renew_(void** at, int64_t* capacity, int64_t count, size_t size)
{
    if (count <= *capacity) return true;
    ty_free(*at);
    *at = ty_alloc((size_t)count, size);
    *capacity = *at ? count : 0;
    return *at != NULL;
}

void* ty_arena_alloc(ty_arena* arena, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    if (arena->used + bytes <= arena->size) {
        void* p = arena->block + arena->used;
        arena->used += bytes;
        return p;
    }
    void** list = ty_realloc(arena->overflow, (size_t)arena->n_overflow,
                             (size_t)arena->n_overflow + 1, sizeof *list);
    if (!list) return NULL;
    arena->overflow = list;
    void* p = ty_alloc(bytes, 1);
    if (!p) return NULL;
    arena->overflow[arena->n_overflow++] = p;
    arena->overflow_bytes += bytes;
    return p;
}

void ty_arena_reset(ty_arena* arena)
{
    size_t wanted = arena->used + arena->overflow_bytes;
    for (int i = 0; i < arena->n_overflow; ++i) ty_free(arena->overflow[i]);
    ty_free(arena->overflow);
    arena->overflow = NULL;
    arena->n_overflow = 0;
    arena->overflow_bytes = 0;
    arena->used = 0;
    if (wanted <= arena->size) return;
    ty_free(arena->block);
    wanted += wanted / 4;    // so that a slowly growing liquid does not overflow every step
    arena->block = ty_alloc(wanted, 1);
    arena->size = arena->block ? wanted : 0;
}

void ty_arena_free(ty_arena* arena)
{
    arena->used = arena->size = 0;
    ty_free(arena->block);
    arena->block = NULL;
    for (int i = 0; i < arena->n_overflow; ++i) ty_free(arena->overflow[i]);
    ty_free(arena->overflow);
    *arena = (ty_arena){0};
}
