// SPDX-License-Identifier: Apache-2.0
// Hashes: of bytes, of a stream of bytes, of a few integers (random numbers that depend on place
// and step).
#ifndef TY_CORE_HASH_H
#define TY_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

// 64-bit hash of a stream; the same on every machine of the same byte order. Value.
typedef struct ty_hash {
    uint64_t lane[4];
    uint64_t length;
    unsigned char tail[32];
} ty_hash;

ty_hash ty_hash_begin(void);
void ty_hash_add(ty_hash* h, const void* bytes, size_t n);
uint64_t ty_hash_end(const ty_hash* h);
uint64_t ty_hash_bytes(const void* bytes, size_t n);
// The hash of a whole file's contents.
ty_status ty_hash_file(const char* path, uint64_t* hash);

// Mixes integers well: every input bit changes half of the output bits.
static inline uint64_t ty_mix(uint64_t a)
{
    a ^= a >> 30;
    a *= 0xbf58476d1ce4e5b9u;
    a ^= a >> 27;
    a *= 0x94d049bb133111ebu;
    return a ^ a >> 31;
}
static inline uint64_t ty_mix2(uint64_t a, uint64_t b)
{
    return ty_mix(a + 0x9e3779b97f4a7c15u + ty_mix(b));
}
// Uniform in [0, 1).
static inline double ty_unit(uint64_t hash) { return (double)(hash >> 11) * 0x1p-53; }

#endif
