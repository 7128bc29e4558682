// SPDX-License-Identifier: Apache-2.0
#include "space/lattice_set.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void ty_lattice_set_free(ty_lattice_set* s)
{
    ty_array_free(&s->brick);
    ty_array_free(&s->slot);
    s->n = 0;
}

void ty_lattice_set_clear(ty_lattice_set* s)
{
    s->brick.n = 0;
    s->n = 0;
    if (s->slot.n) memset(s->slot.at, 0, (size_t)s->slot.n * sizeof *s->slot.at);
}

ty_status ty_lattice_set_copy(ty_lattice_set* to, const ty_lattice_set* from)
{
    if (!ty_array_resize(&to->brick, from->brick.n) || !ty_array_resize(&to->slot, from->slot.n))
        return ty_no_memory("lattice points");
    if (from->brick.n)
        memcpy(to->brick.at, from->brick.at, (size_t)from->brick.n * sizeof *to->brick.at);
    if (from->slot.n)
        memcpy(to->slot.at, from->slot.at, (size_t)from->slot.n * sizeof *to->slot.at);
    to->n = from->n;
    return ty_ok();
}

// The slot of a key: its own or the free one where it would go. The number of slots is a power of
// two.
static int64_t slot_of(const ty_lattice_set* s, uint64_t key)
{
    uint64_t mask = (uint64_t)s->slot.n - 1;
    uint64_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & mask;
    while (s->slot.at[i] && s->brick.at[s->slot.at[i] - 1].key != key) i = (i + 1) & mask;
    return (int64_t)i;
}

int ty_lattice_set_brick(const ty_lattice_set* s, uint64_t key)
{
    return s->slot.n ? s->slot.at[slot_of(s, key)] - 1 : -1;
}

static void rehash(ty_lattice_set* s)
{
    memset(s->slot.at, 0, (size_t)s->slot.n * sizeof *s->slot.at);
    for (int64_t b = 0; b < s->brick.n; ++b)
        s->slot.at[slot_of(s, s->brick.at[b].key)] = (int)b + 1;
}

static bool make_room(ty_lattice_set* s)
{
    if (2 * (s->brick.n + 1) <= s->slot.n) return true;
    if (!ty_array_resize(&s->slot, s->slot.n ? 2 * s->slot.n : 64)) return false;
    rehash(s);
    return true;
}

// The brick of that key, added when it is missing; NULL when out of memory.
static ty_lattice_brick* brick_for(ty_lattice_set* s, uint64_t key)
{
    int b = ty_lattice_set_brick(s, key);
    if (b >= 0) return &s->brick.at[b];
    ty_lattice_brick empty = {.key = key};
    if (!make_room(s) || !ty_array_push(&s->brick, empty)) return NULL;
    s->slot.at[slot_of(s, key)] = (int)s->brick.n;
    return &s->brick.at[s->brick.n - 1];
}

bool ty_lattice_set_insert(ty_lattice_set* s, int x, int y, int z)
{
    ty_lattice_brick* brick = brick_for(s, ty_lattice_key(x >> 3, y >> 3, z >> 3));
    if (!brick) return false;
    int local = ty_lattice_local(x, y, z);
    brick->bits[local >> 6] |= UINT64_C(1) << (local & 63);
    return true;
}

bool ty_lattice_set_insert_brick(ty_lattice_set* s, uint64_t key, const uint64_t bits[8])
{
    ty_lattice_brick* brick = brick_for(s, key);
    for (int w = 0; brick && w < 8; ++w) brick->bits[w] |= bits[w];
    return brick != NULL;
}

static int compare_bricks(const void* a, const void* b)
{
    uint64_t p = ((const ty_lattice_brick*)a)->key, q = ((const ty_lattice_brick*)b)->key;
    return (p > q) - (p < q);
}

static bool is_sorted(const ty_lattice_set* s)
{
    for (int64_t b = 1; b < s->brick.n; ++b)
        if (s->brick.at[b - 1].key >= s->brick.at[b].key) return false;
    return true;
}

ty_status ty_lattice_set_finish(ty_lattice_set* s)
{
    if (!is_sorted(s)) {
        qsort(s->brick.at, (size_t)s->brick.n, sizeof *s->brick.at, compare_bricks);
        rehash(s);
    }
    int64_t count = 0;
    for (int64_t b = 0; b < s->brick.n; ++b) {
        ty_lattice_brick* brick = &s->brick.at[b];
        if (count > INT_MAX - 512)
            return ty_fail(TY_BAD_INPUT, "more than 2^31 lattice points: take a larger cell");
        brick->first = (int)count;
        int in_brick = 0;
        for (int w = 0; w < 8; ++w) {
            brick->rank[w] = (uint16_t)in_brick;
            in_brick += __builtin_popcountll(brick->bits[w]);
        }
        count += in_brick;
    }
    s->n = (int)count;
    return ty_ok();
}

// The brick that holds point `id`.
static int64_t brick_of_id(const ty_lattice_set* s, int id)
{
    int64_t lo = 0, hi = s->brick.n;
    while (hi - lo > 1) {
        int64_t mid = (lo + hi) / 2;
        if (s->brick.at[mid].first <= id) lo = mid;
        else hi = mid;
    }
    return lo;
}

// Places of the 64 points of a word: x + 256 y + 65536 z of its Morton code.
#define PLACE(m)                                                                                   \
    (((m)&1) | ((m) >> 2 & 2) | (((m) >> 1 & 1) | ((m) >> 3 & 2)) << 8 |                           \
     (((m) >> 2 & 1) | ((m) >> 4 & 2)) << 16)
#define PLACES(m)                                                                                  \
    PLACE(m), PLACE(m + 1), PLACE(m + 2), PLACE(m + 3), PLACE(m + 4), PLACE(m + 5), PLACE(m + 6),  \
        PLACE(m + 7)
static const uint32_t place_in_word[64] = {PLACES(0),  PLACES(8),  PLACES(16), PLACES(24),
                                           PLACES(32), PLACES(40), PLACES(48), PLACES(56)};

static void list_point(const int at[3], int bit, int x[3])
{
    uint32_t place = place_in_word[bit];
    x[0] = at[0] + (int)(place & 255);
    x[1] = at[1] + (int)(place >> 8 & 255);
    x[2] = at[2] + (int)(place >> 16);
}

// All eight points of a byte, from its first bit on.
static void list_eight(const int at[3], int bit, int (*x)[3])
{
    int low[3];
    list_point(at, bit, low);
    for (int v = 0; v < 8; ++v)
        for (int axis = 0; axis < 3; ++axis) x[v][axis] = low[axis] + (v >> axis & 1);
}

// The points of one word with ids from `id` on, as far as they are in begin..end - 1; returns the
// id after the word.
static int list_word(uint64_t word, const int at[3], int id, int begin, int end, int (*x)[3])
{
    while (word && id < end) {
        int bit = __builtin_ctzll(word);
        if (!(bit & 7) && (word >> bit & 255) == 255 && id >= begin && id + 8 <= end) {
            list_eight(at, bit, x + (id - begin));
            word &= ~(UINT64_C(255) << bit);
            id += 8;
            continue;
        }
        if (id >= begin) list_point(at, bit, x[id - begin]);
        word &= word - 1;
        ++id;
    }
    return id;
}

void ty_lattice_set_points(const ty_lattice_set* s, int begin, int end, int (*x)[3])
{
    if (begin >= end) return;
    int64_t b = brick_of_id(s, begin);
    int word = 7, id;
    while (s->brick.at[b].first + s->brick.at[b].rank[word] > begin) --word;
    id = s->brick.at[b].first + s->brick.at[b].rank[word];
    for (; id < end; ++b, word = 0) {
        const ty_lattice_brick* brick = &s->brick.at[b];
        int base[3];
        for (int axis = 0; axis < 3; ++axis)
            base[axis] = 8 * (ty_morton_gather(brick->key >> axis) - TY_LATTICE_BIAS);
        for (int w = word; w < 8 && id < end; ++w) {
            int at[3] = {base[0] + 4 * (w & 1), base[1] + 4 * (w >> 1 & 1), base[2] + 4 * (w >> 2)};
            id = list_word(brick->bits[w], at, id, begin, end, x);
        }
    }
}

ty_lattice_cursor ty_lattice_cursor_start(void)
{
    ty_lattice_cursor c;
    for (int way = 0; way < 8; ++way) {
        c.brick[way] = -1;
        c.at[way][0] = c.at[way][1] = c.at[way][2] = INT_MAX;
    }
    return c;
}

int ty_lattice_cursor_miss(const ty_lattice_set* s, ty_lattice_cursor* c, int bx, int by, int bz)
{
    int way = (bx & 1) | (by & 1) << 1 | (bz & 1) << 2;
    c->at[way][0] = bx;
    c->at[way][1] = by;
    c->at[way][2] = bz;
    return c->brick[way] = ty_lattice_set_brick(s, ty_lattice_key(bx, by, bz));
}
