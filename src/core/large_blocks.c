// SPDX-License-Identifier: Apache-2.0
#include "core/large_blocks.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

// Blocks end at one of these: behind its last whole huge page a block takes no more than it needs.
enum { TAIL_STEP = 1 << 16 };

// The share of what is in use that is never written, at the least: what is kept has been.
enum { UNWRITTEN = 32 };

// A block in use, or whole huge pages that are kept where one was.
typedef struct extent {
    char* at;
    size_t bytes;
} extent;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static extent *in_use, *spare;
static size_t n_in_use, n_spare, room;    // room: of both lists
static size_t used, kept, most;           // bytes; most: ever in use at once

static size_t whole_pages(size_t bytes) { return bytes / TY_LARGE_BLOCK * TY_LARGE_BLOCK; }

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

static void drop_spare(size_t limit)
{
    while (n_spare && used + kept > limit) {
        extent* last = &spare[--n_spare];
        munmap(last->at, last->bytes);
        kept -= last->bytes;
    }
}

// An extent is in one of the lists, and what is left of a spare one stays in its place: neither list
// needs more room than both have entries.
static bool make_entry(void)
{
    if (n_in_use + n_spare < room) return true;
    size_t wanted = 2 * room + 64;
    extent* grown = realloc(in_use, wanted * sizeof *grown);
    if (!grown) return false;
    in_use = grown;
    grown = realloc(spare, wanted * sizeof *grown);
    if (!grown) return false;
    spare = grown;
    room = wanted;
    return true;
}

// Spare pages to [to, to + bytes), as many as there are; what they replace was never written. One at a
// time: the system moves nothing at once that was put together from several. False: there is a hole.
static bool move_spare(char* to, size_t bytes)
{
    for (; bytes && n_spare; bytes -= TY_LARGE_BLOCK, to += TY_LARGE_BLOCK) {
        extent* last = &spare[n_spare - 1];
        last->bytes -= TY_LARGE_BLOCK;
        kept -= TY_LARGE_BLOCK;
        char* from = last->at + last->bytes;
        n_spare -= last->bytes == 0;
        if (mremap(from, TY_LARGE_BLOCK, TY_LARGE_BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
            MAP_FAILED)
            continue;
        munmap(from, TY_LARGE_BLOCK);
        return false;
    }
    return true;
}

// Spare pages of the same length serve where they are.
static char* take_spare(size_t bytes)
{
    for (size_t i = n_spare; i-- > 0;) {
        if (spare[i].bytes != bytes) continue;
        char* p = spare[i].at;
        spare[i] = spare[--n_spare];
        kept -= bytes;
        return p;
    }
    return NULL;
}

static char* assemble(size_t bytes)
{
    char* p = map(bytes);
    if (p && move_spare(p, whole_pages(bytes))) return p;
    if (p) munmap(p, bytes);
    drop_spare(0);
    return map(bytes);
}

void* ty_large_take(size_t bytes)
{
    bytes = (bytes + TAIL_STEP - 1) / TAIL_STEP * TAIL_STEP;
    pthread_mutex_lock(&lock);
    char* p = NULL;
    if (make_entry()) {
        p = take_spare(bytes);
        if (!p) p = assemble(bytes);
    }
    if (p) {
        in_use[n_in_use++] = (extent){p, bytes};
        used += bytes;
        if (used > most) most = used;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

bool ty_large_give(void* p)
{
    if ((uintptr_t)p % TY_LARGE_BLOCK != 0) return false;
    pthread_mutex_lock(&lock);
    size_t i = n_in_use;
    while (i > 0 && in_use[i - 1].at != p) --i;
    bool found = i > 0;
    if (found) {
        extent block = in_use[i - 1];
        size_t whole = whole_pages(block.bytes);
        if (block.bytes > whole) munmap(block.at + whole, block.bytes - whole);
        in_use[i - 1] = in_use[--n_in_use];
        spare[n_spare++] = (extent){block.at, whole};
        used -= block.bytes;
        kept += whole;
        drop_spare(used ? most - most / UNWRITTEN : 0);    // nothing is kept when nobody is at work
    }
    pthread_mutex_unlock(&lock);
    return found;
}
