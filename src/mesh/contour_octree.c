// SPDX-License-Identifier: Apache-2.0
// Vertex order: corner in Morton order, then axis; triangle order: octant.
#include <limits.h>
#include <string.h>

#include "core/parallel.h"
#include "mesh/contour.h"
#include "mesh/contour_table.h"

static const double LEAST = TY_CONTOUR_OCTREE_MIN_CUT;

typedef struct pass {
    ty_contour* c;
    const ty_octree* tree;
    const ty_sampler* phi;
    int refine;
    const ty_contour_case* cases;
    ty_tri_mesh* out;
} pass;

static void count_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    int n_tris = 0;
    for (int64_t o = r.begin; o < r.end; ++o) {
        int inside = k->tree->inside.at[o];
        if (inside == 0 || inside == 255) continue;
        int corner[8];
        ty_octree_corners_of(k->tree, o, corner);
        n_tris += k->cases[inside].n_tris;
        for (int e = 0; e < 12; ++e) {
            int a = ty_contour_edge_corner(e), b = a | 1 << (e >> 2);
            if ((inside >> a & 1) == (inside >> b & 1)) continue;
            uint8_t* cuts = &k->c->corner_cuts.at[corner[a]];
            uint8_t axis = (uint8_t)(1 << (e >> 2));
            if (!(__atomic_load_n(cuts, __ATOMIC_RELAXED) & axis))
                __atomic_fetch_or(cuts, axis, __ATOMIC_RELAXED);
        }
    }
    k->c->row_tris.at[r.block] = n_tris;
}

static void number_vertices(ty_contour* c, int n_corners, int64_t* n_verts)
{
    int64_t count = 0;
    for (int v = 0; v < n_corners && count < INT_MAX; ++v) {
        c->rank.at[v] = (int)count;
        count += __builtin_popcount(c->corner_cuts.at[v]);
    }
    *n_verts = count;
}

static void key_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    for (int64_t v = r.begin; v < r.end; ++v) {
        uint64_t* key = k->c->key.at + k->c->rank.at[v];
        for (unsigned axis = 0; axis < 3; ++axis)
            if (k->c->corner_cuts.at[v] >> axis & 1) *key++ = (uint64_t)v << 2 | axis;
    }
}

static void triangle_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    int(*tri)[3] = k->out->tri + k->c->first_tri.at[r.block];
    for (int64_t o = r.begin; o < r.end; ++o) {
        const ty_contour_case* one = &k->cases[k->tree->inside.at[o]];
        for (int i = 0; i < one->n_tris; ++i, ++tri)
            for (int v = 0; v < 3; ++v) {
                int edge = one->edge[i][v], axis = edge >> 2;
                int corner = ty_octree_corner(k->tree, o, ty_contour_edge_corner(edge));
                int before = k->c->corner_cuts.at[corner] & ((1 << axis) - 1);
                (*tri)[v] = k->c->rank.at[corner] + __builtin_popcount((unsigned)before);
            }
    }
}

static void place_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    const ty_octree* t = k->tree;
    int n = (int)(r.end - r.begin);
    double a[TY_SAMPLE_BATCH][3], b[TY_SAMPLE_BATCH][3], s[TY_SAMPLE_BATCH];
    double fa[TY_SAMPLE_BATCH], fb[TY_SAMPLE_BATCH];
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int i = 0; i < n; ++i) {
        uint64_t key = k->c->key.at[r.begin + i];
        int corner = (int)(key >> 2), axis = (int)(key & 3);
        const int* at = ty_lattice_walk_to(&t->corners, &walk, corner);
        int x[3] = {at[0], at[1], at[2]};
        ty_store3(a[i], ty_octree_point(t, ty_vec(x[0], x[1], x[2])));
        ++x[axis];
        ty_store3(b[i], ty_octree_point(t, ty_vec(x[0], x[1], x[2])));
        fa[i] = t->corner_value.at[corner];
        fb[i] = t->corner_value.at[ty_lattice_id(&t->corners, &cursor, x[0], x[1], x[2])];
    }
    ty_find_zeros(k->phi, k->phi ? k->refine : 0, n, a, b, fa, fb, s);
    for (int i = 0; i < n; ++i) {
        double u = s[i] >= LEAST ? s[i] : LEAST;    // not-a-number goes to an end
        u = u <= 1.0 - LEAST ? u : 1.0 - LEAST;
        ty_store3(k->out->vert[r.begin + i], ty_lerp3(ty_load3(a[i]), ty_load3(b[i]), u));
    }
}

static ty_status reserve(ty_contour* c, int n_corners, int64_t n_blocks)
{
    if (!ty_array_resize(&c->corner_cuts, n_corners) || !ty_array_resize(&c->rank, n_corners) ||
        !ty_array_resize(&c->row_tris, n_blocks) || !ty_array_resize(&c->first_tri, n_blocks))
        return ty_no_memory("contouring");
    if (n_corners) memset(c->corner_cuts.at, 0, (size_t)n_corners);
    return ty_ok();
}

ty_status ty_contour_octree(ty_contour* c, const ty_octree* tree, const ty_sampler* phi, int refine,
                            ty_tri_mesh* out)
{
    pass k = {c, tree, phi, refine, ty_contour_cases(), out};
    int64_t n_finest = tree->level[0].octants.n,
            n_blocks = (n_finest + TY_SAMPLE_BATCH - 1) / TY_SAMPLE_BATCH;
    TY_TRY(reserve(c, tree->corners.n, n_blocks));
    ty_parallel_for(n_finest, TY_SAMPLE_BATCH, count_block, &k);
    int64_t n_verts, n_tris = ty_prefix_sum(n_blocks, c->row_tris.at, c->first_tri.at);
    number_vertices(c, tree->corners.n, &n_verts);
    if (n_verts >= INT_MAX || n_tris > INT_MAX)
        return ty_fail(TY_BAD_INPUT, "the surface has more triangles than 32-bit ids can name");
    TY_TRY(ty_tri_mesh_resize(out, (int)n_verts, (int)n_tris));
    if (!ty_array_resize(&c->key, n_verts)) return ty_no_memory("contouring");
    ty_parallel_for(tree->corners.n, 4096, key_block, &k);
    ty_parallel_for(n_finest, TY_SAMPLE_BATCH, triangle_block, &k);
    ty_parallel_for(n_verts, TY_SAMPLE_BATCH, place_block, &k);
    return ty_ok();
}
