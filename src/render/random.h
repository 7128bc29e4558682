// SPDX-License-Identifier: Apache-2.0
// Random numbers of a picture: a function of pixel, sample and dimension, so that no picture
// depends on who draws which pixel. Pairs are a Sobol sequence in two dimensions, shuffled and
// scrambled by hashing [Burley2020].
#ifndef TY_RENDER_RANDOM_H
#define TY_RENDER_RANDOM_H

#include <stdint.h>

#include "core/hash.h"

// Value. `pair` counts the pairs already drawn.
typedef struct ty_random {
    uint64_t seed;
    uint32_t sample, pair;
} ty_random;

static inline ty_random ty_random_at(int x, int y, int frame, int sample)
{
    uint64_t place = (uint64_t)(uint32_t)x << 32 | (uint32_t)y;
    return (ty_random){ty_mix2(place, (uint64_t)(uint32_t)frame), (uint32_t)sample, 0};
}

static inline uint32_t ty_reverse_bits(uint32_t x)
{
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
}

// Owen scrambling of the bits of x, by the Laine-Karras hash.
static inline uint32_t ty_scramble(uint32_t x, uint32_t seed)
{
    x = ty_reverse_bits(x);
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return ty_reverse_bits(x);
}

// The second coordinate of the Sobol sequence; the first is the reversed index.
static inline uint32_t ty_sobol_second(uint32_t index)
{
    uint32_t out = 0;
    for (uint32_t column = 1u << 31; index; index >>= 1, column ^= column >> 1)
        if (index & 1) out ^= column;
    return out;
}

// Two numbers in [0, 1).
static inline void ty_random_pair(ty_random* r, double out[2])
{
    uint64_t h = ty_mix2(r->seed, r->pair++);
    uint64_t g = ty_mix(h);
    uint32_t index = ty_scramble(r->sample, (uint32_t)h);
    out[0] = ty_scramble(ty_reverse_bits(index), (uint32_t)(h >> 32)) * 0x1p-32;
    out[1] = ty_scramble(ty_sobol_second(index), (uint32_t)g) * 0x1p-32;
}

#endif
