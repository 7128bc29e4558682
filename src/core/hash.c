// SPDX-License-Identifier: Apache-2.0
// Four multiply-rotate lanes over 32-byte blocks (the construction of xxHash64, with its
// constants).
#include "core/hash.h"

#include <stdio.h>
#include <string.h>

static const uint64_t P1 = 0x9e3779b185ebca87u, P2 = 0xc2b2ae3d27d4eb4fu, P3 = 0x165667b19e3779f9u;

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void absorb(ty_hash* h, const unsigned char* block)
{
    for (int i = 0; i < 4; ++i) {
        uint64_t word;
        memcpy(&word, block + 8 * i, 8);
        h->lane[i] = rotate(h->lane[i] + word * P2, 31) * P1;
    }
}

ty_hash ty_hash_begin(void) { return (ty_hash){.lane = {P1 + P2, P2, 0, 0 - P1}}; }

void ty_hash_add(ty_hash* h, const void* bytes, size_t n)
{
    const unsigned char* p = bytes;
    size_t held = h->length % 32;
    h->length += n;
    if (held) {
        size_t take = 32 - held < n ? 32 - held : n;
        memcpy(h->tail + held, p, take);
        p += take;
        n -= take;
        if (held + take < 32) return;
        absorb(h, h->tail);
    }
    for (; n >= 32; p += 32, n -= 32) absorb(h, p);
    if (n) memcpy(h->tail, p, n);
}

uint64_t ty_hash_end(const ty_hash* h)
{
    uint64_t x = h->length * P3;
    for (int i = 0; i < 4; ++i) x = (x ^ rotate(h->lane[i] * P2, 31) * P1) * P1 + P3;
    for (size_t i = 0; i < h->length % 32; ++i) x = rotate(x ^ h->tail[i] * P3, 11) * P1;
    return ty_mix(x);
}

uint64_t ty_hash_bytes(const void* bytes, size_t n)
{
    ty_hash h = ty_hash_begin();
    ty_hash_add(&h, bytes, n);
    return ty_hash_end(&h);
}

ty_status ty_hash_file(const char* path, uint64_t* hash)
{
    FILE* f = fopen(path, "rb");
    if (!f) return ty_io_error("open", path);
    ty_hash h = ty_hash_begin();
    unsigned char buffer[1 << 14];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0) ty_hash_add(&h, buffer, n);
    ty_status s = ferror(f) ? ty_io_error("read", path) : ty_ok();
    fclose(f);
    *hash = ty_hash_end(&h);
    return s;
}
