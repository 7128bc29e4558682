// SPDX-License-Identifier: Apache-2.0
// Which nodes of a lattice are near the triangles of a mesh: one bit per node. What is known of a
// surface only by asking a costly function need be asked there alone; from every other node to its
// neighbours the sign cannot change.
#ifndef TY_TRACK_NEAR_H
#define TY_TRACK_NEAR_H

#include "core/memory.h"
#include "mesh/tri_mesh.h"

// Open; zero-initialise, then ty_near_free. Keeps its memory.
typedef struct ty_near {
    int n[3];       // nodes
    int n_words;    // of a row of nodes, 64 nodes each
    TY_ARRAY(uint64_t)
    bits;    // rows along x, those along y first: bit i % 64 of [n_words * (j + n[1] * k) + i / 64]
    TY_ARRAY(uint64_t) cells;    // scratch: the cells that triangles touch, padded
} ty_near;
void ty_near_free(ty_near* near);

// Node (i, j, k) is at origin + cell * (i, j, k). Marked are the nodes less than two cells from a
// cell that a triangle's box touches: all that are less than two cells from a triangle, and few
// that are farther than three along an axis. The mesh may reach beyond the lattice.
ty_status ty_near_mark(ty_near* near, const int n[3], const double origin[3], double cell,
                       const ty_tri_mesh* mesh);

static inline bool ty_near_at(const ty_near* near, int64_t row, int i)
{
    return near->bits.at[near->n_words * row + i / 64] >> i % 64 & 1;
}
// The first marked node of a row from i on, n[0] when there is none.
int ty_near_next(const ty_near* near, int64_t row, int i);

#endif
