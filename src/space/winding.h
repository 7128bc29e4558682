// SPDX-License-Identifier: Apache-2.0
// The generalized winding number of a triangle soup [Jacobson2013] by dipoles on the hierarchy's
// nodes [Barill2018]: 1 inside a closed outward surface, 0 outside, in between near holes, so that
// small cracks do not leak. Departs: dipoles only, no higher terms: for a sign at 1/2 they are
// enough (errors in mesh_distance_test.c).
//
// Open type. Zero-initialise; build; free. Belongs to one hierarchy, which is passed along and must
// be as it was when built. Free to ask from any thread.
#ifndef TY_SPACE_WINDING_H
#define TY_SPACE_WINDING_H

#include "space/bvh.h"

typedef struct ty_winding_node {
    float centre[3][TY_BVH_WIDTH],
        area[3][TY_BVH_WIDTH];                           // centroid by area, sum of area vectors
    float radius[TY_BVH_WIDTH], weight[TY_BVH_WIDTH];    // around `centre`; sum of areas
} __attribute__((aligned(64))) ty_winding_node;

typedef struct ty_winding {
    ty_winding_node* node;
    int capacity;
} ty_winding;

// Nodes are taken as dipoles beyond `accuracy` times their radius: 2 errs by 0.04 at worst on a
// torus, 4 by 0.007; larger costs more. INFINITY: the exact sum.
static const double TY_WINDING_ACCURACY = 2.0;

ty_status ty_winding_build(ty_winding* w, const ty_bvh* bvh);
void ty_winding_free(ty_winding* w);
double ty_winding_number(const ty_winding* w, const ty_bvh* bvh, ty_vec3 x, double accuracy);

#endif
