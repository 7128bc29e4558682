// SPDX-License-Identifier: Apache-2.0
//   cell c from node c to c + 1 is bit c + 2 of its row of `cells`;  its nodes  c - 1, c, c + 1, c + 2
//   node i is marked when one of the bits i, i + 1, i + 2, i + 3 is set, likewise along y and z
#include "track/near.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/vec.h"

enum { TRI_BLOCK = 4096, ROW_BLOCK = 64, PAD = 2, SPREAD = 4 };    // nodes of a cell along an axis

typedef struct mark_args {
    ty_near* near;
    const double* origin;
    double cell;
    const ty_tri_mesh* mesh;
    int n[3], n_words;    // of cells
} mark_args;

void ty_near_free(ty_near* near)
{
    ty_array_free(&near->bits);
    ty_array_free(&near->cells);
}

// Padded cells from lo to hi that a triangle's box touches; false when none of them counts.
static bool touched(const mark_args* k, const int tri[3], int lo[3], int hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        double a = k->mesh->vert[tri[0]][axis], b = k->mesh->vert[tri[1]][axis],
               c = k->mesh->vert[tri[2]][axis];
        double low = floor((ty_min(a, ty_min(b, c)) - k->origin[axis]) / k->cell) + PAD;
        double high = floor((ty_max(a, ty_max(b, c)) - k->origin[axis]) / k->cell) + PAD;
        if (!(high >= 0.0 && low <= k->n[axis] - 1)) return false;
        lo[axis] = (int)ty_max(low, 0.0);
        hi[axis] = (int)ty_min(high, k->n[axis] - 1);
    }
    return true;
}

static void mark_triangles(void* ctx, ty_range r)
{
    const mark_args* k = ctx;
    int lo[3], hi[3];
    for (int64_t t = r.begin; t < r.end; ++t) {
        if (!touched(k, k->mesh->tri[t], lo, hi)) continue;
        for (int z = lo[2]; z <= hi[2]; ++z)
            for (int y = lo[1]; y <= hi[1]; ++y) {
                uint64_t* row = k->near->cells.at + k->n_words * (y + (int64_t)k->n[1] * z);
                for (int x = lo[0]; x <= hi[0]; ++x) {
                    uint64_t bit = UINT64_C(1) << x % 64;
                    if (!(__atomic_load_n(&row[x / 64], __ATOMIC_RELAXED) & bit))
                        __atomic_fetch_or(&row[x / 64], bit, __ATOMIC_RELAXED);
                }
            }
    }
}

// The cells of the SPREAD x SPREAD rows around a row of nodes, together.
static uint64_t gather(const mark_args* k, int64_t j, int64_t plane, int word)
{
    uint64_t any = 0;
    for (int z = 0; z < SPREAD; ++z)
        for (int y = 0; y < SPREAD; ++y)
            any |= k->near->cells.at[k->n_words * (j + y + k->n[1] * (plane + z)) + word];
    return any;
}

static void spread_rows(void* ctx, ty_range r)
{
    const mark_args* k = ctx;
    ty_near* near = k->near;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int64_t j = row % near->n[1], plane = row / near->n[1];
        uint64_t here = gather(k, j, plane, 0);
        for (int w = 0; w < near->n_words; ++w) {
            uint64_t next = w + 1 < k->n_words ? gather(k, j, plane, w + 1) : 0, marked = here;
            for (int x = 1; x < SPREAD; ++x) marked |= here >> x | next << (64 - x);
            int left = near->n[0] - 64 * w;
            near->bits.at[near->n_words * row + w] = left < 64
                                                         ? marked & ((UINT64_C(1) << left) - 1)
                                                         : marked;
            here = next;
        }
    }
}

ty_status ty_near_mark(ty_near* near, const int n[3], const double origin[3], double cell,
                       const ty_tri_mesh* mesh)
{
    mark_args k = {.near = near, .origin = origin, .cell = cell, .mesh = mesh};
    for (int axis = 0; axis < 3; ++axis) {
        near->n[axis] = n[axis];
        k.n[axis] = n[axis] + SPREAD - 1;
    }
    near->n_words = (n[0] + 63) / 64;
    k.n_words = (k.n[0] + 63) / 64;
    int64_t rows = (int64_t)n[1] * n[2], words = (int64_t)k.n_words * k.n[1] * k.n[2];
    if (!ty_array_resize(&near->bits, rows * near->n_words) ||
        !ty_array_resize(&near->cells, words))
        return ty_no_memory("nodes near a surface");
    memset(near->cells.at, 0, (size_t)words * sizeof *near->cells.at);
    ty_parallel_for(mesh->n_tris, TRI_BLOCK, mark_triangles, &k);
    ty_parallel_for(rows, ROW_BLOCK, spread_rows, &k);
    return ty_ok();
}

int ty_near_next(const ty_near* near, int64_t row, int i)
{
    const uint64_t* bits = near->bits.at + near->n_words * row;
    for (int w = i / 64; w < near->n_words; ++w) {
        uint64_t left = w == i / 64 ? bits[w] >> i % 64 << i % 64 : bits[w];
        if (left) return 64 * w + __builtin_ctzll(left);
    }
    return near->n[0];
}
