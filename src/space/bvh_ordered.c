// SPDX-License-Identifier: Apache-2.0
// The tree's shape for triangles that are listed by the cells of a lattice in Morton order, as those
// of a contoured octree are: the triangles of a block of 2 x 2 x 2 cells become one leaf, or runs of
// up to eight become leaves where they are more, and nodes are octants. No sorting: a fifth of the
// time of the surface area heuristic, the ids of a leaf follow each other, and who knows the block
// knows the leaves.
#include "space/bvh_build.h"
#include "space/lattice_set.h"

enum {
    LEAST = 5,         // of a run, unless its block ends
    BLOCK_CODE = 3,    // bits of a code that tell the cells of a block
    BLOCK_LEAVES = TY_BVH_BLOCK
};

// Leaves of one block of triangles.
typedef struct runs {
    ty_box box;
    int n, first_leaf;
    int begin[BLOCK_LEAVES + 1];    // triangles, as ids less the block's first
    uint64_t key[BLOCK_LEAVES];     // of its first triangle
} runs;

typedef struct ordering {
    ty_bvh* bvh;
    const double* origin;
    double per_cell;
    runs* block;
} ordering;

// The Morton code of the cell of a triangle's centre.
static uint64_t key_of(const ordering* o, int t)
{
    const ty_bvh* b = o->bvh;
    const int* v = b->tri[t];
    ty_vec3 sum = ty_load3(b->vert[v[0]]) + ty_load3(b->vert[v[1]]) + ty_load3(b->vert[v[2]]);
    ty_vec3 at = (sum * (1.0 / 3.0) - ty_load3(o->origin)) * o->per_cell;
    uint64_t key = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double cell = ty_clamp(at[axis] + TY_LATTICE_BIAS, 0.0, 2.0 * TY_LATTICE_BIAS - 1.0);
        key |= ty_morton_spread((uint64_t)cell) << axis;
    }
    return key;
}

// Where a run that begins at `begin` of n ends: at the border of its block, or of the largest octant.
static int end_of_run(const uint64_t* key, int begin, int n)
{
    int end = begin + TY_BVH_WIDTH, border = begin + 1;
    while (border < n && border <= end && !((key[border] ^ key[begin]) >> BLOCK_CODE)) ++border;
    if (border <= end) return border;
    for (int i = end - 1; i >= begin + LEAST; --i)
        if ((key[i] ^ key[i - 1]) > (key[end] ^ key[end - 1])) end = i;
    return end;
}

static void cut_block(void* ctx, ty_range r)
{
    const ordering* o = ctx;
    ty_bvh* b = o->bvh;
    runs* to = &o->block[r.block];
    uint64_t key[TY_BVH_BLOCK];
    int id[TY_BVH_BLOCK], n = 0;
    to->box = ty_box_empty();
    for (int64_t t = r.begin; t < r.end; ++t) {
        b->leaf_of[t] = -1;
        if (!ty_bvh_usable(b, (int)t)) continue;
        for (int k = 0; k < 3; ++k) ty_box_add(&to->box, b->vert[b->tri[t][k]]);
        key[n] = key_of(o, (int)t);
        id[n++] = (int)(t - r.begin);
    }
    to->n = 0;
    for (int begin = 0; begin < n; begin = end_of_run(key, begin, n)) {
        to->begin[to->n] = id[begin];
        to->key[to->n++] = key[begin];
    }
    to->begin[to->n] = (int)(r.end - r.begin);
}

static void emit_block(void* ctx, ty_range r)
{
    const ordering* o = ctx;
    ty_bvh* b = o->bvh;
    const runs* from = &o->block[r.block];
    for (int i = 0; i < from->n; ++i) {
        ty_bvh_leaf* l = &b->leaf[from->first_leaf + i];
        l->n = 0;
        for (int64_t t = r.begin + from->begin[i]; t < r.begin + from->begin[i + 1]; ++t) {
            if (!ty_bvh_usable(b, (int)t)) continue;
            l->id[l->n++] = (int)t;
            b->leaf_of[t] = from->first_leaf + i;
        }
        for (int k = l->n; k < TY_BVH_WIDTH; ++k) l->id[k] = -1;
    }
}

// Where to cut leaves begin..end - 1, two at least: at the border of the largest octant.
static int cut_of(const uint64_t* key, int begin, int end)
{
    uint64_t differ = key[begin] ^ key[end - 1];
    if (differ == 0 || key[begin] > key[end - 1]) return (begin + end) / 2;
    uint64_t bit = UINT64_C(1) << (63 - __builtin_clzll(differ));
    int lo = begin, hi = end - 1;    // without the bit, with it
    while (hi - lo > 1) {
        int middle = (lo + hi) / 2;
        if (key[middle] & bit) hi = middle;
        else lo = middle;
    }
    return hi;
}

// Leaves of a node, and of its children once it is open.
typedef struct span {
    int begin, end;
} span;

static int open_span(const uint64_t* key, span whole, span* child)
{
    int n = 1, most = 1;    // leaves of a child: with so many the levels below are full
    while (most * TY_BVH_WIDTH < whole.end - whole.begin) most *= TY_BVH_WIDTH;
    child[0] = whole;
    while (n < TY_BVH_WIDTH) {
        int largest = 0;
        for (int k = 1; k < n; ++k)
            if (child[k].end - child[k].begin > child[largest].end - child[largest].begin)
                largest = k;
        if (child[largest].end - child[largest].begin <= most) break;
        int cut = cut_of(key, child[largest].begin, child[largest].end);
        memmove(&child[largest + 1], &child[largest], (size_t)(n - largest) * sizeof *child);
        child[largest].end = child[largest + 1].begin = cut;
        ++n;
    }
    return n;
}

// Level by level, the root first.
static ty_status emit_nodes(ty_bvh* b, const uint64_t* key, span* node)
{
    span child[TY_BVH_WIDTH];
    int n = 1;
    node[0] = (span){0, b->n_leaves};
    b->level_first[0] = 0;
    for (int begin = 0; begin < n; b->level_first[++b->n_levels] = begin) {
        if (b->n_levels == TY_BVH_MAX_LEVELS) return ty_fail(TY_BAD_INPUT, "too deep a hierarchy");
        for (int end = n; begin < end; ++begin) {
            TY_TRY(ty_bvh_reserve_nodes(b, n + TY_BVH_WIDTH, n));
            ty_bvh_node* at = &b->node[begin];
            at->n_children = open_span(key, node[begin], child);
            for (int k = 0; k < at->n_children; ++k) {
                bool leaf = child[k].end - child[k].begin == 1;
                at->child[k] = leaf ? ~child[k].begin : n;
                if (!leaf) node[n++] = child[k];
            }
        }
    }
    b->n_nodes = n;
    return ty_ok();
}

static ty_status make_nodes(ty_bvh* b, const ordering* o, int n_blocks)
{
    uint64_t* key = ty_alloc((size_t)b->n_leaves, sizeof *key);
    span* node = ty_alloc((size_t)b->n_leaves, sizeof *node);    // each has two leaves at least
    ty_status status = key && node ? ty_ok() : ty_no_memory("hierarchy of triangles");
    for (int i = 0; status.code == TY_OK && i < n_blocks; ++i)
        memcpy(key + o->block[i].first_leaf, o->block[i].key, (size_t)o->block[i].n * sizeof *key);
    if (status.code == TY_OK) status = emit_nodes(b, key, node);
    ty_free(key);
    ty_free(node);
    return status;
}

static ty_status make_tree(ty_bvh* b, ordering* o, int n_blocks)
{
    ty_box box = ty_box_empty();
    int n_leaves = 0;
    ty_parallel_for(b->n_tris, TY_BVH_BLOCK, cut_block, o);
    for (int i = 0; i < n_blocks; ++i) {
        o->block[i].first_leaf = n_leaves;
        n_leaves += o->block[i].n;
        if (o->block[i].n == 0) continue;
        ty_box_add(&box, o->block[i].box.lo);
        ty_box_add(&box, o->block[i].box.hi);
    }
    ty_bvh_set_frame(b, &box);
    if (n_leaves == 0) return ty_ok();
    TY_TRY(ty_bvh_reserve_leaves(b, n_leaves));
    b->n_leaves = n_leaves;
    ty_parallel_for(b->n_tris, TY_BVH_BLOCK, emit_block, o);
    TY_TRY(make_nodes(b, o, n_blocks));
    ty_bvh_fit(b);
    return ty_ok();
}

ty_status ty_bvh_build_ordered(ty_bvh* b, int n_verts, const double (*vert)[3], int n_tris,
                               const int (*tri)[3], const double origin[3], double cell)
{
    ty_bvh_begin(b, n_verts, vert, n_tris, tri);
    TY_TRY(ty_bvh_reserve_triangles(b, n_tris));
    int n_blocks = (n_tris + TY_BVH_BLOCK - 1) / TY_BVH_BLOCK;
    ordering o = {b, origin, 1.0 / cell, ty_alloc((size_t)n_blocks, sizeof *o.block)};
    if (!o.block) return ty_no_memory("hierarchy of triangles");
    ty_status status = make_tree(b, &o, n_blocks);
    if (status.code != TY_OK) b->n_nodes = b->n_leaves = b->n_levels = 0;
    ty_free(o.block);
    return status;
}
