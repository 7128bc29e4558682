// SPDX-License-Identifier: Apache-2.0
// Tets come in the order of their octants, so most of the two sides of a face are near each other:
// blocks of tets match their own faces in a table that stays in the cache, and what is left over
// (an eighth, for spheres of a million tets) is dealt out by lowest vertex and matched the same
// way. Which faces match does not depend on any order; a face's number is that of the first of its
// two places.
#include <assert.h>
#include <string.h>

#include "core/parallel.h"
#include "mesh/tet_mesh.h"

enum {
    TET_BLOCK = 2048,
    TABLE_BITS = 14,    // slots of a block's table: twice its faces
    TABLE_SIZE = 1 << TABLE_BITS,
    DEAL_VERTS = 1024,    // vertices per part of what is left over
    NONE = -1
};

// A side of a face: place = 4 * tet + the vertex it is opposite to.
typedef struct side {
    int v[3];    // sorted
    int place;
} side;

typedef struct pass {
    ty_tet_mesh* m;
    int* mate;      // of each place; NONE on the boundary
    side* left;     // sides without a mate in their block
    side* dealt;    // the same by part
    int* n_left;    // per block of tets, then inner faces
    int* n_outer;
    int64_t *first_left, *first_outer;
    int64_t* part;    // first side of each part, one more at the end
    int64_t n_blocks, n_parts;
    int overfull;    // place of a third side + 1
} pass;

// The four sides of a tet, each sorted.
static void sides_of(const ty_tet_mesh* m, int t, side out[4])
{
    int v[4], at[4] = {0, 1, 2, 3};
    memcpy(v, m->tet[t], sizeof v);
#define ORDER(i, j)                                                                                \
    if (v[i] > v[j]) {                                                                             \
        int a_ = v[i], b_ = at[i];                                                                 \
        v[i] = v[j], at[i] = at[j], v[j] = a_, at[j] = b_;                                         \
    }
    ORDER(0, 1)
    ORDER(2, 3)
    ORDER(0, 2) ORDER(1, 3) ORDER(1, 2)
#undef ORDER
        out[0] = (side){{v[1], v[2], v[3]}, 4 * t + at[0]};
    out[1] = (side){{v[0], v[2], v[3]}, 4 * t + at[1]};
    out[2] = (side){{v[0], v[1], v[3]}, 4 * t + at[2]};
    out[3] = (side){{v[0], v[1], v[2]}, 4 * t + at[3]};
}

static bool same(const side* a, const side* b)
{
    return a->v[0] == b->v[0] && a->v[1] == b->v[1] && a->v[2] == b->v[2];
}

static uint32_t hash_side(const side* s)
{
    uint64_t h = (uint64_t)(uint32_t)s->v[0] * 0x9e3779b97f4a7c15u +
                 (uint64_t)(uint32_t)s->v[1] * 0xbf58476d1ce4e5b9u;
    h += (uint64_t)(uint32_t)s->v[2] * 0x94d049bb133111ebu;
    return (uint32_t)(h >> 32);
}

// Matches sides 0..n - 1 among themselves. The table has at least twice as many slots, a power of
// two, all zero.
static void match(pass* k, const side* s, int n, int* table, uint32_t mask)
{
    for (int i = 0; i < n; ++i) {
        uint32_t at = hash_side(&s[i]) & mask;
        while (table[at] && !same(&s[table[at] - 1], &s[i])) at = (at + 1) & mask;
        if (!table[at]) {
            table[at] = i + 1;
            continue;
        }
        int other = s[table[at] - 1].place;
        if (k->mate[other] != NONE) {
            __atomic_store_n(&k->overfull, s[i].place + 1, __ATOMIC_RELAXED);
        } else {
            k->mate[other] = s[i].place;
            k->mate[s[i].place] = other;
        }
    }
}

static void match_block(void* ctx, ty_range r)
{
    pass* k = ctx;
    side s[4 * TET_BLOCK];
    int table[TABLE_SIZE] = {0}, n = (int)(r.end - r.begin), n_left = 0;
    assert(n > 0);
    for (int i = 0; i < n; ++i) sides_of(k->m, (int)r.begin + i, s + 4 * i);
    for (int i = 0; i < 4 * n; ++i) k->mate[s[i].place] = NONE;
    match(k, s, 4 * n, table, TABLE_SIZE - 1);
    for (int i = 0; i < 4 * n; ++i) n_left += k->mate[s[i].place] == NONE;
    k->n_left[r.block] = n_left;
}

static void gather_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    side* left = k->left + k->first_left[r.block];
    for (int64_t t = r.begin; t < r.end; ++t) {
        const int* mate = k->mate + 4 * t;
        if (mate[0] != NONE && mate[1] != NONE && mate[2] != NONE && mate[3] != NONE) continue;
        side s[4];
        sides_of(k->m, (int)t, s);
        for (int i = 0; i < 4; ++i)
            if (k->mate[s[i].place] == NONE) *left++ = s[i];
    }
}

static void deal(pass* k, int64_t n_left)
{
    memset(k->part, 0, (size_t)(k->n_parts + 2) * sizeof *k->part);
    for (int64_t i = 0; i < n_left; ++i) ++k->part[k->left[i].v[0] / DEAL_VERTS + 2];
    for (int64_t p = 0; p < k->n_parts; ++p) k->part[p + 2] += k->part[p + 1];
    for (int64_t i = 0; i < n_left; ++i)
        k->dealt[k->part[k->left[i].v[0] / DEAL_VERTS + 1]++] = k->left[i];
}

// A part may be of any size: large ones (one vertex of the coarsest level has few sides, so there
// are none in practice) take a table from the heap of their own size.
static void match_part(void* ctx, ty_range r)
{
    pass* k = ctx;
    for (int64_t p = r.begin; p < r.end; ++p) {
        int64_t n = k->part[p + 1] - k->part[p], slots = 64;
        while (slots < 2 * n) slots *= 2;
        int small[TABLE_SIZE],
            *table = slots <= TABLE_SIZE ? small : ty_alloc((size_t)slots, sizeof *table);
        if (!table) {
            __atomic_store_n(&k->overfull, -1, __ATOMIC_RELAXED);
            continue;
        }
        memset(table, 0, (size_t)slots * sizeof *table);
        match(k, k->dealt + k->part[p], (int)n, table, (uint32_t)slots - 1);
        if (table != small) ty_free(table);
    }
}

static void count_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    int n_inner = 0, n_outer = 0;
    for (int64_t i = 4 * r.begin; i < 4 * r.end; ++i) {
        n_inner += k->mate[i] > i;
        n_outer += k->mate[i] == NONE;
    }
    k->n_left[r.block] = n_inner;
    k->n_outer[r.block] = n_outer;
}

static void number_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    ty_tet_mesh* m = k->m;
    int *face_of = m->tet_face[0], inner = (int)k->first_left[r.block];
    int outer = m->n_inner_faces + (int)k->first_outer[r.block];
    for (int64_t i = 4 * r.begin; i < 4 * r.end; ++i) {
        int mate = k->mate[i];
        if (mate != NONE && mate < i) continue;
        int face = mate == NONE ? outer++ : inner++;
        face_of[i] = face;
        if (mate != NONE) face_of[mate] = face;
        m->face_tet[face][0] = (int)(i >> 2);
        m->face_tet[face][1] = mate == NONE ? -1 : mate >> 2;
    }
}

// Scratch memory that stays with the mesh: at least `bytes`.
static bool reserve_scratch(ty_tet_mesh* m, int64_t bytes)
{
    if (bytes <= m->face_scratch_capacity) return true;
    ty_free(m->face_scratch);
    m->face_scratch_capacity = 0;
    m->face_scratch = ty_alloc((size_t)(bytes + bytes / 8), 1);
    if (m->face_scratch) m->face_scratch_capacity = bytes + bytes / 8;
    return m->face_scratch != NULL;
}

static bool reserve_left(ty_tet_mesh* m, int64_t n_left)
{
    if (2 * n_left <= m->face_left_capacity) return true;
    ty_free(m->face_left);
    m->face_left_capacity = 0;
    m->face_left = ty_alloc((size_t)(2 * n_left + n_left / 4), sizeof(side));
    if (m->face_left) m->face_left_capacity = 2 * n_left + n_left / 4;
    return m->face_left != NULL;
}

static bool carve(pass* k)
{
    ty_tet_mesh* m = k->m;
    k->n_blocks = ((int64_t)m->n_tets + TET_BLOCK - 1) / TET_BLOCK;
    k->n_parts = m->n_verts / DEAL_VERTS + 1;
    int64_t n_places = 4 * (int64_t)m->n_tets;
    if (!reserve_scratch(m,
                         8 * (2 * k->n_blocks + k->n_parts + 2) + 4 * (n_places + 2 * k->n_blocks)))
        return false;
    k->first_left = m->face_scratch;
    k->first_outer = k->first_left + k->n_blocks;
    k->part = k->first_outer + k->n_blocks;
    k->mate = (int*)(k->part + k->n_parts + 2);
    k->n_left = k->mate + n_places;
    k->n_outer = k->n_left + k->n_blocks;
    return true;
}

static bool reserve_faces(ty_tet_mesh* m, int64_t n_faces)
{
    if (n_faces <= m->face_tet_capacity) return true;
    ty_free(m->face_tet);
    m->face_tet_capacity = 0;
    m->face_tet = ty_alloc((size_t)(n_faces + n_faces / 8), sizeof *m->face_tet);
    if (m->face_tet) m->face_tet_capacity = n_faces + n_faces / 8;
    return m->face_tet != NULL;
}

static ty_status match_all(pass* k)
{
    ty_tet_mesh* m = k->m;
    ty_parallel_for(m->n_tets, TET_BLOCK, match_block, k);
    int64_t n_left = ty_prefix_sum(k->n_blocks, k->n_left, k->first_left);
    if (!reserve_left(m, n_left)) return ty_no_memory("faces");
    k->left = m->face_left;
    k->dealt = k->left + n_left;
    ty_parallel_for(m->n_tets, TET_BLOCK, gather_block, k);
    deal(k, n_left);
    ty_parallel_for(k->n_parts, 1, match_part, k);
    if (k->overfull < 0) return ty_no_memory("faces");
    if (!k->overfull) return ty_ok();
    const double* x = m->vert[m->tet[(k->overfull - 1) >> 2][0]];
    return ty_fail(TY_DAMAGED, "a face near (%g, %g, %g) has three tetrahedra", x[0], x[1], x[2]);
}

ty_status ty_tet_mesh_make_faces(ty_tet_mesh* m)
{
    pass k = {.m = m};
    m->n_faces = m->n_inner_faces = 0;
    if (!m->n_tets) return ty_ok();
    if (!carve(&k)) return ty_no_memory("faces");
    TY_TRY(match_all(&k));
    ty_parallel_for(m->n_tets, TET_BLOCK, count_block, &k);
    int64_t n_inner = ty_prefix_sum(k.n_blocks, k.n_left, k.first_left);
    int64_t n_faces = n_inner + ty_prefix_sum(k.n_blocks, k.n_outer, k.first_outer);
    if (!reserve_faces(m, n_faces)) return ty_no_memory("faces");
    m->n_faces = (int)n_faces;
    m->n_inner_faces = (int)n_inner;
    ty_parallel_for(m->n_tets, TET_BLOCK, number_block, &k);
    return ty_ok();
}
