// SPDX-License-Identifier: Apache-2.0
// A set of lattice points in which every point has a number: its rank in Morton order. The numbers
// depend on the contents alone, so whatever is numbered by them is the same for any number of
// threads.
//
//   brick    8 x 8 x 8 points, one bit each, in Morton order: eight words of 4 x 4 x 4 points, in each of
//            them eight bytes of 2 x 2 x 2 points. 0.3 to 2.8 bytes a point in the octrees of spheres of a million tets.
//   slot     open-addressed hash of the bricks
//
// Coordinates are within +-2^23. Open type; zero-initialise, then ty_lattice_set_free. Insert from
// one thread.
#ifndef TY_SPACE_LATTICE_SET_H
#define TY_SPACE_LATTICE_SET_H

#include "core/memory.h"

enum { TY_LATTICE_BIAS = 1 << 20 };    // added to brick coordinates, so that keys are not negative

typedef struct ty_lattice_brick {
    uint64_t key;    // Morton code of the biased brick coordinates
    uint64_t bits[8];
    int first;           // points in the bricks before
    uint16_t rank[8];    // points of this brick in the words before
} ty_lattice_brick;

typedef struct ty_lattice_set {
    TY_ARRAY(ty_lattice_brick) brick;    // sorted by key once finished
    TY_ARRAY(int) slot;                  // brick + 1, 0 is free
    int n;                               // points; valid once finished
} ty_lattice_set;

void ty_lattice_set_free(ty_lattice_set* s);
// Empties it; the memory stays.
void ty_lattice_set_clear(ty_lattice_set* s);
ty_status ty_lattice_set_copy(ty_lattice_set* to, const ty_lattice_set* from);

// Adds a point; false when out of memory. The set must be finished before points are counted or
// listed.
bool ty_lattice_set_insert(ty_lattice_set* s, int x, int y, int z);
// Adds the points of `bits` to the brick of that key.
bool ty_lattice_set_insert_brick(ty_lattice_set* s, uint64_t key, const uint64_t bits[8]);
// Sorts and counts. Fails with TY_BAD_INPUT when there are more points than 32-bit ids can name.
ty_status ty_lattice_set_finish(ty_lattice_set* s);

// The coordinates of points begin..end - 1.
void ty_lattice_set_points(const ty_lattice_set* s, int begin, int end, int (*x)[3]);

// For points asked for one by one in ascending order: finds a run of them at a time. Value; start
// with {0}.
typedef struct ty_lattice_walk {
    int begin, end;
    int x[64][3];
} ty_lattice_walk;
// The coordinates of point i.
static inline const int* ty_lattice_walk_to(const ty_lattice_set* s, ty_lattice_walk* w, int i)
{
    if (i < w->begin || i >= w->end) {
        w->begin = i;
        w->end = s->n - i < 64 ? s->n : i + 64;
        ty_lattice_set_points(s, w->begin, w->end, w->x);
    }
    return w->x[i - w->begin];
}

// Remembers the bricks found last, one for each parity of the brick's coordinates, so that a walk
// over neighbours seldom hashes. Value; start from ty_lattice_cursor_start, one per thread.
typedef struct ty_lattice_cursor {
    int at[8][3];
    int brick[8];    // -1 where there is none
} ty_lattice_cursor;
ty_lattice_cursor ty_lattice_cursor_start(void);

// Interleaves the lower 21 bits of three numbers.
static inline uint64_t ty_morton_spread(uint64_t v)
{
    v = (v | v << 32) & UINT64_C(0x1f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x1f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (v | v << 2) & UINT64_C(0x1249249249249249);
}
static inline int ty_morton_gather(uint64_t v)
{
    v &= UINT64_C(0x1249249249249249);
    v = (v | v >> 2) & UINT64_C(0x10c30c30c30c30c3);
    v = (v | v >> 4) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v >> 8) & UINT64_C(0x1f0000ff0000ff);
    v = (v | v >> 16) & UINT64_C(0x1f00000000ffff);
    return (int)((v | v >> 32) & 0x1fffff);
}
// The key of the brick with these coordinates (points / 8).
static inline uint64_t ty_lattice_key(int bx, int by, int bz)
{
    return ty_morton_spread((uint64_t)(bx + TY_LATTICE_BIAS)) |
           ty_morton_spread((uint64_t)(by + TY_LATTICE_BIAS)) << 1 |
           ty_morton_spread((uint64_t)(bz + TY_LATTICE_BIAS)) << 2;
}
// The place of a point in its brick: word * 64 + bit.
static inline int ty_lattice_local(int x, int y, int z)
{
    static const uint8_t spread[8] = {0, 1, 8, 9, 64, 65, 72, 73};
    return spread[x & 7] | spread[y & 7] << 1 | spread[z & 7] << 2;
}

// The brick with that key, -1 when there is none.
int ty_lattice_set_brick(const ty_lattice_set* s, uint64_t key);
int ty_lattice_cursor_miss(const ty_lattice_set* s, ty_lattice_cursor* c, int bx, int by, int bz);

// The brick of a point, -1 when there is none.
static inline int ty_lattice_seek(const ty_lattice_set* s, ty_lattice_cursor* c, int x, int y,
                                  int z)
{
    int bx = x >> 3, by = y >> 3, bz = z >> 3;
    int way = (bx & 1) | (by & 1) << 1 | (bz & 1) << 2;
    const int* at = c->at[way];
    if (at[0] == bx && at[1] == by && at[2] == bz) return c->brick[way];
    return ty_lattice_cursor_miss(s, c, bx, by, bz);
}

static inline bool ty_lattice_has(const ty_lattice_set* s, ty_lattice_cursor* c, int x, int y,
                                  int z)
{
    int b = ty_lattice_seek(s, c, x, y, z), local = ty_lattice_local(x, y, z);
    return b >= 0 && (s->brick.at[b].bits[local >> 6] >> (local & 63) & 1);
}

// ty_lattice_set_insert for points that follow each other.
static inline bool ty_lattice_put(ty_lattice_set* s, ty_lattice_cursor* c, int x, int y, int z)
{
    int b = ty_lattice_seek(s, c, x, y, z), local = ty_lattice_local(x, y, z);
    if (b < 0)
        return ty_lattice_set_insert(s, x, y, z) &&
               ty_lattice_cursor_miss(s, c, x >> 3, y >> 3, z >> 3) >= 0;
    s->brick.at[b].bits[local >> 6] |= UINT64_C(1) << (local & 63);
    return true;
}

// The point's number, -1 when it is not in the set.
static inline int ty_lattice_id(const ty_lattice_set* s, ty_lattice_cursor* c, int x, int y, int z)
{
    int b = ty_lattice_seek(s, c, x, y, z), local = ty_lattice_local(x, y, z);
    if (b < 0) return -1;
    const ty_lattice_brick* brick = &s->brick.at[b];
    uint64_t word = brick->bits[local >> 6];
    if (!(word >> (local & 63) & 1)) return -1;
    uint64_t below = (UINT64_C(1) << (local & 63)) - 1;
    return brick->first + brick->rank[local >> 6] + __builtin_popcountll(word & below);
}

#endif
