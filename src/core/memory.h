// SPDX-License-Identifier: Apache-2.0
// All heap memory of the library goes through here, so that tests can make any allocation fail and
// count what is alive. Also growing arrays and arenas.
//
//   lifetime        what to use
//   the object's    ty_alloc, ty_free
//   grows           TY_ARRAY(type) fields, ty_array_reserve, ty_array_push
//   one step        ty_arena: never freed piecewise, reset at the start of the next step
#ifndef TY_CORE_MEMORY_H
#define TY_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/status.h"

// Memory aligned to 64 bytes, contents undefined; NULL when there is none or n * size overflows.
// n == 0 gives a valid pointer that may be freed.
void* ty_alloc(size_t n, size_t size);
void* ty_alloc_zero(size_t n, size_t size);
// Grows or shrinks, keeping the first bytes (old_n, n in elements); NULL leaves `p` as it was.
void* ty_realloc(void* p, size_t old_n, size_t n, size_t size);
void ty_free(void* p);
char* ty_strdup(const char* s);

// For tests: the k-th allocation from now on fails (and all after it); 0 turns it off.
void ty_memory_fail_after(int64_t k);
// Blocks allocated since the program started (a steady step must not raise it), and alive now.
int64_t ty_memory_count(void);
int64_t ty_memory_alive(void);
// Largest resident size of the process so far, MiB.
double ty_memory_peak_mib(void);

// A growing array: TY_ARRAY(int) ids = {0}; ... ty_array_free(&ids).
#define TY_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type* at;                                                                                  \
        int64_t n, capacity;                                                                       \
    }

// Room for at least `count` elements in all; false when out of memory (array unchanged).
#define ty_array_reserve(a, count)                                                                 \
    ty_array_reserve_((void**)&(a)->at, (a)->n, &(a)->capacity, (count), sizeof *(a)->at)
// Sets n, keeping the old elements; new ones are undefined.
#define ty_array_resize(a, count)                                                                  \
    (ty_array_reserve((a), (count)) ? ((a)->n = (count), true) : false)
// Sets n; the elements are lost, and there is room for no more than these or those before.
#define ty_array_renew(a, count)                                                                   \
    ((a)->n = 0, ty_array_renew_((void**)&(a)->at, &(a)->capacity, (count), sizeof *(a)->at)       \
                     ? ((a)->n = (count), true)                                                    \
                     : false)
// Appends; false when out of memory.
#define ty_array_push(a, value)                                                                    \
    ((a)->n < (a)->capacity || ty_array_reserve((a), (a)->n + 1)                                   \
         ? ((a)->at[(a)->n++] = (value), true)                                                     \
         : false)
// Exchanges two objects of one type, arrays too.
#define TY_SWAP(a, b)                                                                              \
    do {                                                                                           \
        char swap_[sizeof(a)];                                        \
        memcpy(swap_, &(a), sizeof(a));                                                            \
        memcpy(&(a), &(b), sizeof(a));                                                             \
        memcpy(&(b), swap_, sizeof(a));                                                            \
    } while (0)
#define ty_array_free(a) (ty_free((a)->at), (a)->at = NULL, (a)->n = (a)->capacity = 0)
bool ty_array_reserve_(void** at, int64_t n, int64_t* capacity, int64_t count, size_t size);
bool ty_array_renew_(void** at, int64_t* capacity, int64_t count, size_t size);

// An arena: bump allocation, one reset. After the first step it is one block as large as a step
// needs. Open type; zero-initialise, use from one thread at a time.
typedef struct ty_arena {
    char* block;
    size_t size, used;
    void** overflow;    // blocks that did not fit into `block` since the last reset
    int n_overflow;
    size_t overflow_bytes;
} ty_arena;

// 64-byte aligned, contents undefined; NULL when out of memory.
void* ty_arena_alloc(ty_arena* arena, size_t n, size_t size);
// Everything handed out is given back at once.
void ty_arena_reset(ty_arena* arena);
void ty_arena_free(ty_arena* arena);

#endif
