// SPDX-License-Identifier: Apache-2.0
#include "core/large_blocks.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

// Sizes are rounded up to one of so many between powers of two, so that the same array of the next step
// fits. What is not written takes no memory.
enum { SIZES = 16 };
// A kept block serves a wish that is smaller by no more than 1 / this.
enum { CLOSE_FIT = 8 };
// The share of what is in use that is never written, at the least: a kept block has been.
enum { UNWRITTEN = 8 };

typedef struct block {
    char* at;
    size_t bytes;
    uint64_t freed;    // 0: in use; else the later the larger
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block* list;
static size_t n_blocks, room;
static size_t used, kept, most;    // bytes; most: ever in use at once
static uint64_t clock_of_frees;

static void* map(size_t bytes)
{
    char* p = mmap(NULL, bytes + TY_LARGE_BLOCK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t before = (size_t)(-(uintptr_t)p % TY_LARGE_BLOCK);
    if (before) munmap(p, before);
    munmap(p + before + bytes, TY_LARGE_BLOCK - before);
#ifdef MADV_HUGEPAGE
    madvise(p + before, bytes, MADV_HUGEPAGE);
#endif
    return p + before;
}

static void drop(size_t i)
{
    munmap(list[i].at, list[i].bytes);
    kept -= list[i].bytes;
    list[i] = list[--n_blocks];
}

// Gives back what was kept longest until `limit` holds for all.
static void drop_old(size_t limit)
{
    while (kept && used + kept > limit) {
        size_t oldest = n_blocks;
        for (size_t i = 0; i < n_blocks; ++i)
            if (list[i].freed && (oldest == n_blocks || list[i].freed < list[oldest].freed))
                oldest = i;
        drop(oldest);
    }
}

static block* find_kept(size_t bytes)
{
    block* best = NULL;
    for (size_t i = 0; i < n_blocks; ++i) {
        block* b = &list[i];
        if (!b->freed || b->bytes < bytes || b->bytes - bytes > bytes / CLOSE_FIT) continue;
        if (!best || b->bytes < best->bytes) best = b;
    }
    return best;
}

static bool make_entry(void)
{
    if (n_blocks < room) return true;
    size_t wanted = 2 * room + 64;
    block* grown = realloc(list, wanted * sizeof *grown);
    if (!grown) return false;
    list = grown;
    room = wanted;
    return true;
}

static void* take(size_t bytes)
{
    block* b = find_kept(bytes);
    if (b) {
        b->freed = 0;
        kept -= b->bytes;
        used += b->bytes;
        return b->at;
    }
    if (!make_entry()) return NULL;
    if (used + bytes > most) most = used + bytes;
    used += bytes;
    drop_old(most - most / UNWRITTEN);
    void* p = map(bytes);
    if (!p) {
        drop_old(0);
        p = map(bytes);
    }
    if (p) list[n_blocks++] = (block){p, bytes, 0};
    else used -= bytes;
    return p;
}

static size_t rounded(size_t bytes)
{
    size_t step = TY_LARGE_BLOCK / SIZES;
    while (step * 2 * SIZES <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
}

void* ty_large_take(size_t bytes)
{
    bytes = rounded(bytes);
    pthread_mutex_lock(&lock);
    void* p = take(bytes);
    pthread_mutex_unlock(&lock);
    return p;
}

bool ty_large_give(void* p)
{
    if ((uintptr_t)p % TY_LARGE_BLOCK != 0) return false;
    pthread_mutex_lock(&lock);
    size_t i = n_blocks;
    while (i > 0 && list[i - 1].at != p) --i;
    bool found = i > 0;
    if (found) {
        list[i - 1].freed = ++clock_of_frees;
        used -= list[i - 1].bytes;
        kept += list[i - 1].bytes;
        if (used == 0) drop_old(0);    // nobody is at work
    }
    pthread_mutex_unlock(&lock);
    return found;
}
