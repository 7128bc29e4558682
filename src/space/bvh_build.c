// SPDX-License-Identifier: Apache-2.0
// The tree's shape. The top is cut with all threads on one cut; below TY_BVH_TASK triangles every
// subtree is one thread's task. Nodes are numbered top first, then task by task, parents before
// children.
#include "space/bvh_build.h"

static void set_reference(const ty_bvh* b, int t, ty_bvh_ref* ref)
{
    float lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = INFINITY;
        hi[axis] = -INFINITY;
        for (int k = 0; k < 3; ++k) {
            float x = (float)ty_bvh_unit(b, b->vert[b->tri[t][k]], axis);
            lo[axis] = x < lo[axis] ? x : lo[axis];
            hi[axis] = x > hi[axis] ? x : hi[axis];
        }
    }
    ref->box = (ty_f8){lo[0], lo[1], lo[2], 0.0f, -hi[0], -hi[1], -hi[2], 0.0f};
    ref->id = t;
}

typedef struct gathering {
    ty_bvh* bvh;
    struct {
        ty_box box;
        int n;
    } * block;
} gathering;

static void bound_block(void* ctx, ty_range r)
{
    gathering* g = ctx;
    const ty_bvh* b = g->bvh;
    ty_box box = ty_box_empty();
    int n = 0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        if (!ty_bvh_usable(b, (int)t)) continue;
        ++n;
        for (int k = 0; k < 3; ++k) ty_box_add(&box, b->vert[b->tri[t][k]]);
    }
    g->block[r.block].box = box;
    g->block[r.block].n = n;
}

static void gather_block(void* ctx, ty_range r)
{
    gathering* g = ctx;
    int next = g->block[r.block].n;
    for (int64_t t = r.begin; t < r.end; ++t) {
        g->bvh->leaf_of[t] = -1;
        if (ty_bvh_usable(g->bvh, (int)t)) set_reference(g->bvh, (int)t, &g->bvh->ref[next++]);
    }
}

// References of the usable triangles, in order; returns how many.
static int gather(ty_bvh* b)
{
    gathering g = {b, b->block};
    int n_blocks = (b->n_tris + TY_BVH_BLOCK - 1) / TY_BVH_BLOCK, n = 0;
    ty_parallel_for(b->n_tris, TY_BVH_BLOCK, bound_block, &g);
    ty_box box = ty_box_empty();
    for (int i = 0; i < n_blocks; ++i) {
        int here = g.block[i].n;
        g.block[i].n = n;
        n += here;
        if (here == 0) continue;
        ty_box_add(&box, g.block[i].box.lo);
        ty_box_add(&box, g.block[i].box.hi);
    }
    ty_bvh_set_frame(b, &box);
    ty_parallel_for(b->n_tris, TY_BVH_BLOCK, gather_block, &g);
    return n;
}

// Opens a range into up to eight, largest first, until all fit into full subtrees of the next lower
// level (8, 64, 512 ... triangles): that keeps the nodes near the leaves full, where most visits
// go.
static int open_range(ty_bvh* b, int begin, int end, int cut[TY_BVH_WIDTH + 1])
{
    int64_t full = TY_BVH_WIDTH;
    while (full * TY_BVH_WIDTH < end - begin) full *= TY_BVH_WIDTH;
    int n = 1;
    cut[0] = begin;
    cut[1] = end;
    while (n < TY_BVH_WIDTH) {
        int largest = 0;
        for (int k = 1; k < n; ++k)
            if (cut[k + 1] - cut[k] > cut[largest + 1] - cut[largest]) largest = k;
        if (cut[largest + 1] - cut[largest] <= full) break;
        int middle = ty_bvh_split(b, cut[largest], cut[largest + 1]);
        memmove(&cut[largest + 2], &cut[largest + 1], (size_t)(n - largest) * sizeof *cut);
        cut[largest + 1] = middle;
        ++n;
    }
    return n;
}

static int build_subtree(ty_bvh* b, ty_bvh_task* task, int begin, int end)
{
    int cut[TY_BVH_WIDTH + 1];
    int n = open_range(b, begin, end, cut), node = task->n_nodes++;
    ty_bvh_topology* topology = b->topology + task->base;
    topology[node].n_children = n;
    for (int k = 0; k < n; ++k) {
        if (cut[k + 1] - cut[k] > TY_BVH_WIDTH) {
            topology[node].child[k] = build_subtree(b, task, cut[k], cut[k + 1]);
            continue;
        }
        int leaf = task->n_leaves++;
        topology[node].child[k] = ~leaf;
        topology[leaf].leaf_begin = cut[k];
        topology[leaf].leaf_end = cut[k + 1];
    }
    return node;
}

static void build_tasks(void* ctx, ty_range r)
{
    ty_bvh* b = ctx;
    for (int64_t t = r.begin; t < r.end; ++t)
        build_subtree(b, &b->task[t], b->task[t].begin, b->task[t].end);
}

// Entries of topology that a range may need: leaves hold at least four triangles on average, as
// cuts of more than 128 leave 17 or more on either side and smaller sets are cut into full leaves
// and one rest.
static int entries(int n_refs) { return n_refs / 4 + 2; }

static void add_task(ty_bvh* b, int begin, int end, int parent, int slot)
{
    const ty_bvh_task* last = b->n_tasks > 0 ? &b->task[b->n_tasks - 1] : NULL;
    int base = last ? last->base + entries(last->end - last->begin) : 0;
    b->task[b->n_tasks++] = (ty_bvh_task){
        .begin = begin, .end = end, .parent = parent, .slot = slot, .base = base};
}

static int build_top(ty_bvh* b, int begin, int end)
{
    int cut[TY_BVH_WIDTH + 1];
    int node = b->n_top++, n = open_range(b, begin, end, cut);
    b->node[node].n_children = n;
    for (int k = 0; k < n; ++k) {
        if (cut[k + 1] - cut[k] > TY_BVH_TASK)
            b->node[node].child[k] = build_top(b, cut[k], cut[k + 1]);
        else add_task(b, cut[k], cut[k + 1], node, k);
    }
    return node;
}

static void number(ty_bvh* b)
{
    b->n_nodes = b->n_top;
    b->n_leaves = 0;
    for (int t = 0; t < b->n_tasks; ++t) {
        ty_bvh_task* task = &b->task[t];
        task->first_node = b->n_nodes;
        task->first_leaf = b->n_leaves;
        b->n_nodes += task->n_nodes;
        b->n_leaves += task->n_leaves;
        if (task->parent >= 0) b->node[task->parent].child[task->slot] = task->first_node;
    }
}

static void emit_leaf(ty_bvh* b, const ty_bvh_topology* range, int leaf)
{
    ty_bvh_leaf* l = &b->leaf[leaf];
    l->n = range->leaf_end - range->leaf_begin;
    for (int k = 0; k < TY_BVH_WIDTH; ++k) {
        l->id[k] = k < l->n ? b->ref[range->leaf_begin + k].id : -1;
        if (k < l->n) b->leaf_of[l->id[k]] = leaf;
    }
}

static void emit_tasks(void* ctx, ty_range r)
{
    ty_bvh* b = ctx;
    for (int64_t t = r.begin; t < r.end; ++t) {
        const ty_bvh_task* task = &b->task[t];
        const ty_bvh_topology* topology = b->topology + task->base;
        for (int i = 0; i < task->n_nodes; ++i) {
            ty_bvh_node* node = &b->node[task->first_node + i];
            node->n_children = topology[i].n_children;
            for (int k = 0; k < node->n_children; ++k) {
                int child = topology[i].child[k];
                node->child[k] = child >= 0 ? task->first_node + child
                                            : ~(task->first_leaf + ~child);
            }
        }
        for (int i = 0; i < task->n_leaves; ++i) emit_leaf(b, &topology[i], task->first_leaf + i);
    }
}

static bool grow(void* array, size_t size, int64_t n)
{
    void** at = array;
    ty_free(*at);
    *at = ty_alloc((size_t)n, size);
    return *at != NULL;
}

static int most_tasks(int n) { return n / (TY_BVH_TASK / 8) + 2; }

ty_status ty_bvh_reserve_triangles(ty_bvh* b, int n)
{
    if (n <= b->tri_capacity && b->leaf_of) return ty_ok();
    int capacity = n <= INT32_MAX - n / 4 ? n + n / 4 : n;
    b->tri_capacity = -1;
    if (!grow(&b->leaf_of, sizeof *b->leaf_of, capacity))
        return ty_no_memory("hierarchy of triangles");
    b->tri_capacity = capacity;
    return ty_ok();
}

static ty_status reserve_references(ty_bvh* b, int n)
{
    if (n <= b->ref_capacity && b->ref) return ty_ok();
    int capacity = n <= INT32_MAX - n / 4 ? n + n / 4 : n;
    b->ref_capacity = -1;
    int64_t n_entries = capacity / 4 + 3 * (int64_t)most_tasks(capacity);
    int64_t scratch = ty_bvh_split_scratch(capacity);
    if (!grow(&b->ref, sizeof *b->ref, capacity) || !grow(&b->spare, sizeof *b->spare, capacity) ||
        !grow(&b->topology, sizeof *b->topology, n_entries) || !grow(&b->block, 1, scratch) ||
        !grow(&b->task, sizeof *b->task, most_tasks(capacity)))
        return ty_no_memory("hierarchy of triangles");
    b->ref_capacity = capacity;
    return ty_ok();
}

ty_status ty_bvh_reserve_nodes(ty_bvh* b, int n, int keep)
{
    if (n <= b->node_capacity) return ty_ok();
    int capacity = n + n / 4;
    ty_bvh_node* node = ty_realloc(b->node, (size_t)keep, (size_t)capacity, sizeof *node);
    if (!node) return ty_no_memory("hierarchy of triangles");
    b->node = node;
    b->node_capacity = capacity;
    return ty_ok();
}

ty_status ty_bvh_reserve_leaves(ty_bvh* b, int n)
{
    if (n <= b->leaf_capacity) return ty_ok();
    b->leaf_capacity = 0;
    if (!grow(&b->leaf, sizeof *b->leaf, n + n / 4)) return ty_no_memory("hierarchy of triangles");
    b->leaf_capacity = n + n / 4;
    return ty_ok();
}

void ty_bvh_begin(ty_bvh* b, int n_verts, const double (*vert)[3], int n_tris, const int (*tri)[3])
{
    b->n_nodes = b->n_leaves = b->n_top = b->n_tasks = b->n_levels = 0;
    b->n_verts = n_verts;
    b->n_tris = n_tris;
    b->vert = vert;
    b->tri = tri;
}

ty_status ty_bvh_build(ty_bvh* b, int n_verts, const double (*vert)[3], int n_tris,
                       const int (*tri)[3])
{
    ty_bvh_begin(b, n_verts, vert, n_tris, tri);
    TY_TRY(ty_bvh_reserve_triangles(b, n_tris));
    TY_TRY(reserve_references(b, n_tris));
    int n = gather(b);
    if (n == 0) return ty_ok();
    TY_TRY(ty_bvh_reserve_nodes(b, most_tasks(n), 0));
    if (n > TY_BVH_TASK) build_top(b, 0, n);
    else add_task(b, 0, n, -1, 0);
    ty_parallel_for(b->n_tasks, 1, build_tasks, b);
    int n_top = b->n_top;
    number(b);
    int n_nodes = b->n_nodes, n_leaves = b->n_leaves;
    b->n_nodes = b->n_leaves = 0;
    TY_TRY(ty_bvh_reserve_nodes(b, n_nodes, n_top));
    TY_TRY(ty_bvh_reserve_leaves(b, n_leaves));
    b->n_nodes = n_nodes;
    b->n_leaves = n_leaves;
    ty_parallel_for(b->n_tasks, 1, emit_tasks, b);
    ty_bvh_fit(b);
    return ty_ok();
}

void ty_bvh_free(ty_bvh* b)
{
    ty_free(b->node);
    ty_free(b->leaf);
    ty_free(b->leaf_of);
    ty_free(b->task);
    ty_free(b->ref);
    ty_free(b->spare);
    ty_free(b->topology);
    ty_free(b->block);
    *b = (ty_bvh){0};
}
