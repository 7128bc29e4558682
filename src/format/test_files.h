// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test program, removed at the end; bytes changed at random.
#ifndef TY_FORMAT_TEST_FILES_H
#define TY_FORMAT_TEST_FILES_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"

typedef struct test_folder {
    char name[64], path[200];
} test_folder;

static inline int test_folder_make(void** state)
{
    static test_folder folder;
    strcpy(folder.name, "/tmp/tethys-test-XXXXXX");
    *state = &folder;
    return mkdtemp(folder.name) ? 0 : -1;
}

static inline int test_remove(const char* path, const struct stat* st, int type, struct FTW* walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static inline int test_folder_remove(void** state)
{
    return nftw(((test_folder*)*state)->name, test_remove, 8, FTW_DEPTH | FTW_PHYS);
}

// Valid until the next call.
static inline const char* test_path(test_folder* folder, const char* name)
{
    snprintf(folder->path, sizeof folder->path, "%s/%s", folder->name, name);
    return folder->path;
}

// Changes 1 to 4 places of the bytes, and sometimes cuts the end off or doubles a part. Returns the
// new length, at most n; the same for the same seed.
static inline int64_t test_mutate(unsigned char* bytes, int64_t n, uint64_t seed)
{
    static const unsigned char edgy[] = {0,   1,    255, 127, 128, '-', '0',
                                         '9', '\n', ' ', 'e', '.', '/'};
    uint64_t r = ty_mix(seed);
    if (n == 0) return 0;
    for (uint64_t k = 0; k <= r % 4; ++k) {
        uint64_t place = ty_mix2(seed, k);
        // half of the changes in the first 400 bytes, where headers are
        int64_t at = (int64_t)(place >> 8) % (place & 1 && n > 400 ? 400 : n);
        uint64_t how = place >> 1 & 3;
        if (how == 0) bytes[at] = edgy[(place >> 3) % sizeof edgy];
        if (how == 1) bytes[at] ^= (unsigned char)(1 << (place >> 3 & 7));
        if (how == 2) bytes[at] = (unsigned char)(place >> 3);
        if (how == 3 && n - at > 8)
            memset(bytes + at, (int)(place >> 3 & 1) * 255, 1 + (place >> 4 & 7));
    }
    if (r >> 8 & 1) return n;
    if (r >> 9 & 1) return (int64_t)((r >> 16) % (uint64_t)n);
    int64_t from = (int64_t)((r >> 16) % (uint64_t)n), to = (int64_t)((r >> 20) % (uint64_t)n);
    int64_t count = n - (from > to ? from : to);
    if (count > 64) count = 64;
    memmove(bytes + to, bytes + from, (size_t)count);
    return n;
}

#endif
