// SPDX-License-Identifier: Apache-2.0
// Faces are gathered at their lowest vertex by a counting sort; a vertex has a few dozen at most, so the
// pairs are found by sorting them in place. Threads may fill a vertex's part in any order: the sort undoes it.
#include <string.h>

#include "core/parallel.h"
#include "mesh/tet_mesh.h"

enum { TET_BLOCK = 4096, VERT_BLOCK = 2048 };

typedef struct half_face {
    uint64_t key;    // the two higher vertices, lower one first
    int64_t place;   // 4 * tet + vertex it is opposite to
} half_face;

typedef struct pass {
    ty_tet_mesh* m;
    half_face* half;
    int64_t* first;     // of each vertex, one more at the end
    int64_t* cursor;
    int *n_inner, *n_outer;    // faces of each block of vertices
    int64_t *first_inner, *first_outer;
    int overfull;              // vertex of a face with three tets + 1
} pass;

static void sort3(int v[3])
{
    int t;
    if (v[0] > v[1]) t = v[0], v[0] = v[1], v[1] = t;
    if (v[1] > v[2]) t = v[1], v[1] = v[2], v[2] = t;
    if (v[0] > v[1]) t = v[0], v[0] = v[1], v[1] = t;
}

static void face_verts(const int tet[4], int i, int v[3])
{
    for (int k = 0; k < 3; ++k) v[k] = tet[k + (k >= i)];
    sort3(v);
}

static void count_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    for (int64_t t = r.begin; t < r.end; ++t)
        for (int i = 0; i < 4; ++i) {
            int v[3];
            face_verts(k->m->tet[t], i, v);
            __atomic_fetch_add(&k->cursor[v[0]], 1, __ATOMIC_RELAXED);
        }
}

static void fill_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    for (int64_t t = r.begin; t < r.end; ++t)
        for (int i = 0; i < 4; ++i) {
            int v[3];
            face_verts(k->m->tet[t], i, v);
            int64_t at = __atomic_fetch_add(&k->cursor[v[0]], 1, __ATOMIC_RELAXED);
            k->half[at] = (half_face){(uint64_t)v[1] << 32 | (uint32_t)v[2], 4 * t + i};
        }
}

static bool before(half_face a, half_face b) { return a.key != b.key ? a.key < b.key : a.place < b.place; }

static void sort_part(half_face* h, int64_t n)
{
    for (int64_t i = 1; i < n; ++i) {
        half_face one = h[i];
        int64_t j = i;
        for (; j > 0 && before(one, h[j - 1]); --j) h[j] = h[j - 1];
        h[j] = one;
    }
}

static void pair_block(void* ctx, ty_range r)
{
    pass* k = ctx;
    int n_inner = 0, n_outer = 0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        half_face* h = k->half + k->first[v];
        int64_t n = k->first[v + 1] - k->first[v];
        sort_part(h, n);
        for (int64_t i = 0; i < n;) {
            int64_t same = 1;
            while (i + same < n && h[i + same].key == h[i].key) ++same;
            if (same > 2) __atomic_store_n(&k->overfull, (int)v + 1, __ATOMIC_RELAXED);
            n_inner += same > 1;
            n_outer += same == 1;
            i += same;
        }
    }
    k->n_inner[r.block] = n_inner;
    k->n_outer[r.block] = n_outer;
}

static void set_face(ty_tet_mesh* m, const half_face* h, bool pair, int face)
{
    m->tet_face[h[0].place >> 2][h[0].place & 3] = face;
    if (pair) m->tet_face[h[1].place >> 2][h[1].place & 3] = face;
    m->face_tet[face][0] = (int)(h[0].place >> 2);
    m->face_tet[face][1] = pair ? (int)(h[1].place >> 2) : -1;
}

static void number_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    int inner = (int)k->first_inner[r.block], outer = k->m->n_inner_faces + (int)k->first_outer[r.block];
    for (int64_t v = r.begin; v < r.end; ++v)
        for (int64_t i = k->first[v]; i < k->first[v + 1];) {
            const half_face* h = k->half + i;
            bool pair = i + 1 < k->first[v + 1] && h[1].key == h[0].key;
            set_face(k->m, h, pair, pair ? inner++ : outer++);
            i += 1 + pair;
        }
}

// All scratch arrays from one block that stays with the mesh.
static bool carve(pass* k, int64_t n_blocks)
{
    ty_tet_mesh* m = k->m;
    int64_t n_half = 4 * (int64_t)m->n_tets, n_first = (int64_t)m->n_verts + 1;
    int64_t bytes = n_half * (int64_t)sizeof *k->half + 8 * (2 * n_first + 2 * n_blocks) + 4 * 2 * n_blocks;
    if (bytes > m->face_scratch_capacity) {
        ty_free(m->face_scratch);
        m->face_scratch_capacity = 0;
        m->face_scratch = ty_alloc((size_t)(bytes + bytes / 8), 1);
        if (!m->face_scratch) return false;
        m->face_scratch_capacity = bytes + bytes / 8;
    }
    k->half = m->face_scratch;
    k->first = (int64_t*)(k->half + n_half);
    k->cursor = k->first + n_first;
    k->first_inner = k->cursor + n_first;
    k->first_outer = k->first_inner + n_blocks;
    k->n_inner = (int*)(k->first_outer + n_blocks);
    k->n_outer = k->n_inner + n_blocks;
    return true;
}

static void gather(pass* k)
{
    ty_tet_mesh* m = k->m;
    memset(k->cursor, 0, ((size_t)m->n_verts + 1) * sizeof *k->cursor);
    ty_parallel_for(m->n_tets, TET_BLOCK, count_block, k);
    int64_t sum = 0;
    for (int64_t v = 0; v <= m->n_verts; ++v) {
        int64_t n = k->cursor[v];
        k->first[v] = k->cursor[v] = sum;
        sum += n;
    }
    ty_parallel_for(m->n_tets, TET_BLOCK, fill_block, k);
}

static bool reserve_faces(ty_tet_mesh* m)
{
    if (m->n_faces <= m->face_tet_capacity) return true;
    ty_free(m->face_tet);
    m->face_tet_capacity = 0;
    int64_t n = m->n_faces + m->n_faces / 8;
    m->face_tet = ty_alloc((size_t)n, sizeof *m->face_tet);
    if (m->face_tet) m->face_tet_capacity = n;
    return m->face_tet != NULL;
}

ty_status ty_tet_mesh_make_faces(ty_tet_mesh* m)
{
    pass k = {.m = m};
    int64_t n_blocks = ((int64_t)m->n_verts + VERT_BLOCK - 1) / VERT_BLOCK;
    m->n_faces = m->n_inner_faces = 0;
    if (!carve(&k, n_blocks)) return ty_no_memory("faces");
    gather(&k);
    ty_parallel_for(m->n_verts, VERT_BLOCK, pair_block, &k);
    if (k.overfull) {
        const double* x = m->vert[k.overfull - 1];
        return ty_fail(TY_DAMAGED, "a face near (%g, %g, %g) has three tetrahedra", x[0], x[1], x[2]);
    }
    int n_inner = (int)ty_prefix_sum(n_blocks, k.n_inner, k.first_inner);
    m->n_faces = n_inner + (int)ty_prefix_sum(n_blocks, k.n_outer, k.first_outer);
    if (!reserve_faces(m)) {
        m->n_faces = 0;
        return ty_no_memory("faces");
    }
    m->n_inner_faces = n_inner;
    ty_parallel_for(m->n_verts, VERT_BLOCK, number_block, &k);
    return ty_ok();
}
