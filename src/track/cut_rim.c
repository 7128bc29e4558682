// SPDX-License-Identifier: Apache-2.0
// Where obstacles are on the lattice of a cut: blocks of points, from coarse to fine. The middle of
// a block tells whether an obstacle may be near, or its surface inside.
#include "track/cut_rim.h"

#include <string.h>

#include "core/parallel.h"

enum { COARSEST = 6, STRIDE = 2, FINEST = 2, BATCH = 64, SIDE = 1 << FINEST, ROW = SIDE + 1 };

typedef struct search {
    ty_cut_tree* t;
    const ty_cut_part* p;
    ty_sampler obstacles;
    int level;    // blocks of 2^level points a side
} search;

static void point_place(const search* k, const double at[3], double x[3])
{
    double s[3];
    for (int axis = 0; axis < 3; ++axis) s[axis] = at[axis] + k->t->shift[axis];
    ty_cut_to_space(k->p, s, x);
}

static void middle_block(void* ctx, ty_range r)
{
    const search* k = ctx;
    double x[BATCH][3], size = 1 << k->level;
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) {
        const int* b = k->t->block.at + 3 * (r.begin + i);
        double at[3];
        for (int axis = 0; axis < 3; ++axis) at[axis] = size * (b[axis] + 0.5);
        point_place(k, at, x[i]);
    }
    ty_sample(&k->obstacles, n, (const double(*)[3])x, k->t->depth.at + r.begin);
}

// From the middle to what is farthest: the half diagonal of a block and of the cells that begin in
// it, by twice as much as the last cell may be longer than others.
static double reach(const search* k)
{
    return sqrt(3.0) * (0.5 * (1 << k->level) + 1.5) * k->p->cell;
}

// The smaller blocks of each block that may have an obstacle near.
static bool descend(const search* k, int64_t n)
{
    ty_cut_tree* t = k->t;
    double far = reach(k) + TY_CUT_BESIDE * k->p->cell;
    enum { SPLIT = 1 << STRIDE };
    int64_t first = t->block.n;
    for (int64_t i = 0; i < n; ++i) {
        if (t->depth.at[i] > far) continue;
        if (!ty_array_reserve(&t->block, t->block.n + 3 * SPLIT * SPLIT * SPLIT)) return false;
        for (int c = 0; c < SPLIT * SPLIT * SPLIT; ++c) {
            int to[3] = {c % SPLIT, c / SPLIT % SPLIT, c / (SPLIT * SPLIT)};
            for (int axis = 0; axis < 3; ++axis)
                t->block.at[t->block.n++] = SPLIT * t->block.at[3 * i + axis] + to[axis];
        }
    }
    t->block.n -= first;
    memmove(t->block.at, t->block.at + first, (size_t)t->block.n * sizeof *t->block.at);
    return true;
}

// The cells from the points of a finest block on: bit of its word where the obstacle's sign differs.
static void cross_block(void* ctx, ty_range r)
{
    const search* k = ctx;
    enum { N = ROW * ROW * ROW };
    double x[N][3], d[N];
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* b = k->t->block.at + 3 * i;
        uint64_t word = 0;
        k->t->crossed.at[i] = 0;
        if (fabs(k->t->depth.at[i]) > reach(k)) continue;
        for (int v = 0; v < N; ++v) {
            double at[3] = {SIDE * b[0] + v % ROW, SIDE * b[1] + v / ROW % ROW,
                            SIDE * b[2] + v / (ROW * ROW)};
            point_place(k, at, x[v]);
        }
        ty_sample(&k->obstacles, N, (const double(*)[3])x, d);
        for (int c = 0; c < SIDE * SIDE * SIDE; ++c) {
            int to[3] = {c % SIDE, c / SIDE % SIDE, c / (SIDE * SIDE)}, in = 0;
            for (int v = 0; v < 8; ++v)
                in += d[to[0] + (v & 1) + ROW * (to[1] + (v >> 1 & 1)) +
                        ROW * ROW * (to[2] + (v >> 2))] < 0.0;
            if (in > 0 && in < 8)
                word |= UINT64_C(1) << (ty_lattice_local(to[0], to[1], to[2]) & 63);
        }
        k->t->crossed.at[i] = word;
    }
}

static ty_status keep_finest(const search* k, int64_t n)
{
    ty_cut_tree* t = k->t;
    double far = reach(k) + TY_CUT_BESIDE * k->p->cell;
    for (int64_t i = 0; i < n; ++i) {
        const int* b = t->block.at + 3 * i;
        if (t->depth.at[i] > far) continue;
        if (!ty_lattice_set_insert(&t->blocks, b[0], b[1], b[2]))
            return ty_no_memory("cut surface");
        if (!t->crossed.at[i]) continue;
        uint64_t bits[8] = {0};
        bits[(b[0] & 1) | (b[1] & 1) << 1 | (b[2] & 1) << 2] = t->crossed.at[i];
        if (!ty_lattice_set_insert_brick(&t->rim, ty_lattice_key(b[0] >> 1, b[1] >> 1, b[2] >> 1),
                                         bits))
            return ty_no_memory("cut surface");
    }
    TY_TRY(ty_lattice_set_finish(&t->blocks));
    return ty_lattice_set_finish(&t->rim);
}

static bool list_coarsest(ty_cut_tree* t, const ty_cut_part* p)
{
    bool all = !ty_world_solid_moves(p->world);    // to be kept
    int lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = ((all ? 0 : t->lo[axis]) - t->shift[axis]) >> COARSEST;
        hi[axis] = ((all ? p->whole[axis] - 1 : t->hi[axis]) - t->shift[axis]) >> COARSEST;
    }
    t->block.n = 0;
    for (int z = lo[2]; z <= hi[2]; ++z)
        for (int y = lo[1]; y <= hi[1]; ++y)
            for (int x = lo[0]; x <= hi[0]; ++x) {
                if (!ty_array_reserve(&t->block, t->block.n + 3)) return false;
                t->block.at[t->block.n++] = x;
                t->block.at[t->block.n++] = y;
                t->block.at[t->block.n++] = z;
            }
    return true;
}

static bool same_lattice(const ty_cut_part* a, const ty_cut_part* b)
{
    return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && a->cell == b->cell &&
           memcmp(a->whole, b->whole, sizeof a->whole) == 0;
}

ty_status ty_cut_rim_find(ty_cut_tree* t, const ty_cut_part* p)
{
    search k = {t, p, ty_world_obstacles(p->world), COARSEST};
    bool moves = ty_world_solid_moves(p->world);
    if (t->is_known && !moves && same_lattice(&t->known, p)) return ty_ok();
    t->is_known = false;
    ty_lattice_set_clear(&t->blocks);
    ty_lattice_set_clear(&t->rim);
    if (!list_coarsest(t, p)) return ty_no_memory("cut surface");
    for (;; k.level -= STRIDE) {
        int64_t n = t->block.n / 3;
        if (!ty_array_resize(&t->depth, n)) return ty_no_memory("cut surface");
        ty_parallel_for(n, BATCH, middle_block, &k);
        if (k.level == FINEST) break;
        if (!descend(&k, n)) return ty_no_memory("cut surface");
    }
    if (!ty_array_resize(&t->crossed, t->depth.n)) return ty_no_memory("cut surface");
    ty_parallel_for(t->depth.n, BATCH, cross_block, &k);
    TY_TRY(keep_finest(&k, t->depth.n));
    ty_array_free(&t->block);
    ty_array_free(&t->depth);
    ty_array_free(&t->crossed);
    t->known = *p;
    t->is_known = !moves;
    return ty_ok();
}
