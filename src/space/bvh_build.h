// SPDX-License-Identifier: Apache-2.0
// What building and refitting share; nobody else includes this.
#ifndef TY_SPACE_BVH_BUILD_H
#define TY_SPACE_BVH_BUILD_H

#include "core/parallel.h"
#include "space/bvh.h"
#include "space/simd.h"

enum {
    TY_BVH_BLOCK = 4096,    // references per block of a parallel pass
    TY_BVH_TASK = 16384     // subtrees of at most this many triangles are built by one thread
};

// A triangle while the tree is made. Upper bounds are negated, so that a union is one minimum.
struct ty_bvh_ref {
    union {
        ty_f8 box;
        struct {
            float lo[3];
            int id;
            float minus_hi[3];
            int unused;
        };
    };
};

// A node before its boxes: children are nodes of the same task, ~leaf of the same task, or (in the
// top) what ty_bvh_task.slot points back to. `begin`, `end` are for a leaf: references.
struct ty_bvh_topology {
    int n_children;
    int child[TY_BVH_WIDTH];
    int leaf_begin, leaf_end;    // a second, unrelated array in the same entries: the task's leaves
};

struct ty_bvh_task {
    int begin, end;      // references
    int parent, slot;    // in the top; parent -1: the task is the whole tree
    int base;            // first entry of topology
    int n_nodes, n_leaves, first_node, first_leaf;
};

// Triangles of the leaves, boxes of all nodes, from the positions. Needs the topology of nodes and
// leaf ids.
void ty_bvh_fit(ty_bvh* bvh);
// centre, scale and inverse_scale of a box; an empty one gives the unit cube.
void ty_bvh_set_frame(ty_bvh* bvh, const ty_box* box);
static inline bool ty_bvh_usable(const ty_bvh* b, int t)
{
    for (int k = 0; k < 3; ++k) {
        int v = b->tri[t][k];
        if (v < 0 || v >= b->n_verts) return false;
        for (int axis = 0; axis < 3; ++axis)
            if (!isfinite(b->vert[v][axis])) return false;
    }
    return true;
}
static inline double ty_bvh_unit(const ty_bvh* b, const double x[3], int axis)
{
    return (x[axis] - b->centre[axis]) * b->inverse_scale;
}

// What both ways to build begin with; room for what they make.
void ty_bvh_begin(ty_bvh* bvh, int n_verts, const double (*vert)[3], int n_tris,
                  const int (*tri)[3]);
ty_status ty_bvh_reserve_triangles(ty_bvh* bvh, int n);
ty_status ty_bvh_reserve_nodes(ty_bvh* bvh, int n, int keep);    // keeps the first `keep`
ty_status ty_bvh_reserve_leaves(ty_bvh* bvh, int n);

// Cuts references [begin, end) of at least nine in two; returns where. Both sides have at least an
// eighth.
int ty_bvh_split(ty_bvh* bvh, int begin, int end);
int64_t ty_bvh_split_scratch(int n_refs);    // bytes wanted in bvh->block

#endif
