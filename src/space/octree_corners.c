// SPDX-License-Identifier: Apache-2.0
// Octants below the coarsest level come in eights, the children of one; their corners are 27, in
// three layers of three rows:
//
//   place (i, j, k) of 0..2 is bit i + 3 j + 9 k; child c has its corner v at place c + v, by coordinates
#include "space/octree_corners.h"

#include <limits.h>
#include <string.h>

#include "core/parallel.h"

enum { BLOCK = TY_SAMPLE_BATCH, PLACES = 27, BRICKS = 8 };

static int place_of(int child, int v)
{
    return (child & 1) + (v & 1) + 3 * ((child >> 1 & 1) + (v >> 1 & 1)) +
           9 * ((child >> 2) + (v >> 2));
}

// The places of corners of those children.
static unsigned places_of(unsigned children)
{
    unsigned places = 0;
    if (children == 255) return (1u << PLACES) - 1;
    for (; children; children &= children - 1)
        for (int v = 0; v < 8; ++v) places |= 1u << place_of(__builtin_ctz(children), v);
    return places;
}

// Those of eight siblings that are split, the lowest of which is x.
static unsigned split_siblings(const ty_octree* t, ty_lattice_cursor* c, int l, const int x[3])
{
    if (l == 0) return 0;
    const ty_lattice_set* split = &t->level[l].split;
    int b = ty_lattice_seek(split, c, x[0], x[1], x[2]), local = ty_lattice_local(x[0], x[1], x[2]);
    return b < 0 ? 0 : (unsigned)(split->brick.at[b].bits[local >> 6] >> (local & 63) & 255);
}

// What eight finest octants that are byte `at` of a brick add to its points, and to those of the
// bricks next to it.
typedef struct added {
    uint64_t bits[BRICKS][8];
} added;

static void fill_table(added table[64])
{
    memset(table, 0, 64 * sizeof *table);
    for (int at = 0; at < 64; ++at)
        for (int p = 0; p < PLACES; ++p) {
            int x[3], to[3] = {p % 3, p / 3 % 3, p / 9}, brick = 0;
            for (int axis = 0; axis < 3; ++axis) {
                x[axis] = 2 * ((at >> axis & 1) | (at >> (axis + 2) & 2)) + to[axis];
                brick |= x[axis] >> 3 << axis;
            }
            int local = ty_lattice_local(x[0], x[1], x[2]);
            table[at].bits[brick][local >> 6] |= UINT64_C(1) << (local & 63);
        }
}

static bool insert_brick_corners(ty_octree* t, const added table[64], const ty_lattice_brick* from)
{
    added sum = {{{0}}};
    for (int at = 0; at < 64; ++at) {
        if (!(from->bits[at >> 3] >> 8 * (at & 7) & 255)) continue;
        for (int way = 0; way < BRICKS; ++way)
            for (int w = 0; w < 8; ++w) sum.bits[way][w] |= table[at].bits[way][w];
    }
    for (int way = 0; way < BRICKS; ++way) {
        int b[3];
        uint64_t any = 0;
        for (int w = 0; w < 8; ++w) any |= sum.bits[way][w];
        for (int axis = 0; axis < 3; ++axis)
            b[axis] = ty_morton_gather(from->key >> axis) - TY_LATTICE_BIAS + (way >> axis & 1);
        if (any && !ty_lattice_set_insert_brick(&t->corners, ty_lattice_key(b[0], b[1], b[2]),
                                                sum.bits[way]))
            return false;
    }
    return true;
}

static bool insert_places(ty_octree* t, ty_lattice_cursor* cursor, int l, const int x[3],
                          unsigned places)
{
    for (; places; places &= places - 1) {
        int p = __builtin_ctz(places);
        if (!ty_lattice_put(&t->corners, cursor, (x[0] + p % 3) * (1 << l),
                            (x[1] + p / 3 % 3) * (1 << l), (x[2] + p / 9) * (1 << l)))
            return false;
    }
    return true;
}

// Of the coarsest octants each is on its own; of others, the lowest of eight stands for all.
static unsigned leaves_of(const ty_octree* t, ty_lattice_cursor* split, int l, const int x[3])
{
    if (l == t->n_levels - 1) return !ty_octree_is_split(t, split, l, x);
    return 255 & ~split_siblings(t, split, l, x);
}

static bool insert_level_corners(ty_octree* t, int l)
{
    const ty_lattice_set* set = &t->level[l].octants;
    ty_lattice_cursor split = ty_lattice_cursor_start(), cursor = split;
    ty_lattice_walk walk = {0};
    for (int i = 0; i < set->n; i += l == t->n_levels - 1 ? 1 : 8) {
        const int* x = ty_lattice_walk_to(set, &walk, i);
        if (!insert_places(t, &cursor, l, x, places_of(leaves_of(t, &split, l, x)))) return false;
    }
    return true;
}

bool ty_octree_insert_corners(ty_octree* t)
{
    added table[64];
    const ty_lattice_set* finest = &t->level[0].octants;
    fill_table(table);
    for (int64_t b = 0; b < finest->brick.n; ++b)
        if (!insert_brick_corners(t, table, &finest->brick.at[b])) return false;
    for (int l = 1; l < t->n_levels; ++l)
        if (!insert_level_corners(t, l)) return false;
    return true;
}

typedef struct corner_args {
    ty_octree* t;
    int level;
} corner_args;

// Those of a child's corners among the 27 places, from its lowest one on.
static uint8_t child_of_places(unsigned places)
{
    return (uint8_t)((places & 3) | (places >> 1 & 12) | (places >> 5 & 48) | (places >> 6 & 192));
}

// Octants from `first` on, those that are leaves.
static void set_eight(ty_octree* t, int64_t first, unsigned leaves, const int id[PLACES],
                      unsigned inside)
{
    memcpy(t->corner.at + 27 * (first >> 3), id, PLACES * sizeof *id);
    t->leaves.at[first >> 3] = (uint8_t)leaves;
    for (int c = 0; c < 8; ++c)
        t->inside.at[first + c] = leaves >> c & 1 ? child_of_places(inside >> TY_OCTREE_PLACE[c])
                                                  : 0;
}

// A coarsest octant with the corners that child `child` has. Blocks of a loop begin with a byte of
// `leaves`.
static void set_alone(ty_octree* t, int64_t octant, bool leaf, int child, const int id[PLACES],
                      unsigned inside)
{
    const int* from = id + TY_OCTREE_PLACE[child];
    int* to = t->corner.at + ty_octree_corner_at(t, octant, 0);
    for (int v = 0; v < 8; ++v) to[v] = from[TY_OCTREE_PLACE[v]];
    if (octant % 8 == 0) t->leaves.at[octant >> 3] = 0;
    t->leaves.at[octant >> 3] |= (uint8_t)(leaf << (octant & 7));
    t->inside.at[octant] = leaf ? child_of_places(inside >> TY_OCTREE_PLACE[child]) : 0;
}

// The ids of those places of the eight octants from x on; -1 where there is no corner.
static void find_places(const ty_octree* t, ty_lattice_cursor* cursor, int l, const int x[3],
                        unsigned places, int id[PLACES])
{
    for (; places; places &= places - 1) {
        int p = __builtin_ctz(places);
        id[p] = ty_lattice_id(&t->corners, cursor, (x[0] + p % 3) * (1 << l),
                              (x[1] + p / 3 % 3) * (1 << l), (x[2] + p / 9) * (1 << l));
    }
}

// The same for all places of eight finest ones: eight corners from an even point on are a byte of
// the set, so their ids follow each other.
static void find_finest_places(const ty_octree* t, ty_lattice_cursor* cursor, const int x[3],
                               int id[PLACES])
{
    const ty_lattice_set* set = &t->corners;
    for (int part = 0; part < 8; ++part) {
        int dx = part & 1, dy = part >> 1 & 1, dz = part >> 2;
        int at[3] = {x[0] + 2 * dx, x[1] + 2 * dy, x[2] + 2 * dz};
        int b = ty_lattice_seek(set, cursor, at[0], at[1], at[2]);
        int local = ty_lattice_local(at[0], at[1], at[2]);
        if (b < 0) continue;    // of a damaged archive
        const ty_lattice_brick* brick = &set->brick.at[b];
        uint64_t word = brick->bits[local >> 6], below = (UINT64_C(1) << (local & 63)) - 1;
        unsigned byte = (unsigned)(word >> (local & 63) & 255);
        int* to = id + 2 * dx + 6 * dy + 18 * dz;
        int next = brick->first + brick->rank[local >> 6] + __builtin_popcountll(word & below);
        for (; byte; byte &= byte - 1, ++next) {
            int v = __builtin_ctz(byte), vx = v & 1, vy = v >> 1 & 1, vz = v >> 2;
            if (!(dx & vx) && !(dy & vy) && !(dz & vz)) to[vx + 3 * vy + 9 * vz] = next;
        }
    }
}

static void corner_block(void* ctx, ty_range r)
{
    const corner_args* k = ctx;
    ty_octree* t = k->t;
    int l = k->level, id[PLACES], n = l == t->n_levels - 1 ? 1 : 8;
    ty_lattice_cursor split = ty_lattice_cursor_start(), cursor = split;
    ty_lattice_walk walk = {0};
    for (int64_t i = r.begin; i < r.end; i += n) {
        const int* x = ty_lattice_walk_to(&t->level[l].octants, &walk, (int)i);
        unsigned leaves = leaves_of(t, &split, l, x), inside = 0, places = places_of(leaves);
        memset(id, -1, sizeof id);
        if (l == 0 && n == 8) find_finest_places(t, &cursor, x, id);
        else find_places(t, &cursor, l, x, places, id);
        for (unsigned todo = places; todo; todo &= todo - 1) {
            int p = __builtin_ctz(todo);
            inside |= (unsigned)(id[p] >= 0 && t->corner_value.at[id[p]] < 0.0) << p;
        }
        if (n == 8) set_eight(t, t->level[l].first + i, leaves, id, inside);
        else set_alone(t, t->level[l].first + i, leaves & 1, 0, id, inside);
    }
}

// Finest octants that are coarsest too: some of eight may be missing, but those there are follow each
// other, and what is below the lowest of the eight holds the corners of all.
static void lone_block(void* ctx, ty_range r)
{
    ty_octree* t = ((const corner_args*)ctx)->t;
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    int id[PLACES], low[3] = {INT_MAX, 0, 0};
    unsigned inside = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* x = ty_lattice_walk_to(&t->level[0].octants, &walk, (int)i);
        if ((x[0] & ~1) != low[0] || (x[1] & ~1) != low[1] || (x[2] & ~1) != low[2]) {
            for (int axis = 0; axis < 3; ++axis) low[axis] = x[axis] & ~1;
            memset(id, -1, sizeof id);
            find_finest_places(t, &cursor, low, id);
            inside = 0;
            for (int p = 0; p < PLACES; ++p)
                inside |= (unsigned)(id[p] >= 0 && t->corner_value.at[id[p]] < 0.0) << p;
        }
        set_alone(t, i, true, (x[0] & 1) | (x[1] & 1) << 1 | (x[2] & 1) << 2, id, inside);
    }
}

ty_status ty_octree_find_corners(ty_octree* t)
{
    t->n_eights = t->n_levels > 1 ? t->level[t->n_levels - 1].first : 0;
    int64_t n_bytes = ((int64_t)t->n_octants + 7) / 8,
            n_ids = 27 * (int64_t)(t->n_eights / 8) + 8 * (int64_t)(t->n_octants - t->n_eights);
    if (!ty_array_renew(&t->corner, n_ids) || !ty_array_renew(&t->leaves, n_bytes) ||
        !ty_array_renew(&t->inside, t->n_octants))
        return ty_no_memory("octree corners");
    for (int l = 0; l < t->n_levels; ++l) {
        corner_args k = {t, l};
        bool alone = t->n_levels == 1;
        ty_parallel_for(t->level[l].octants.n, BLOCK, alone ? lone_block : corner_block, &k);
    }
    return ty_ok();
}
