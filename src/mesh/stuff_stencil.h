// SPDX-License-Identifier: Apache-2.0
// What is left of a lattice tetrahedron whose vertices lie inside, on or outside the surface: up to
// three tetrahedra, split so that two neighbours always agree on the face between them.
// [Labelle2007] figure 3; inside is negative here.
#ifndef TY_MESH_STUFF_STENCIL_H
#define TY_MESH_STUFF_STENCIL_H

#include <stdint.h>

// The tetrahedron is (a, b, c, c') of tet_shapes.h: edges 0-1 and 2-3 are long. Corners 0..3 are
// its vertices, 4..9 the cut points of its edges 01 02 03 12 13 23.
typedef struct ty_stencil {
    uint8_t n_tets;
    uint8_t whole;    // the tetrahedron itself
    uint8_t corner[3][4];
} ty_stencil;

enum { TY_N_PATTERNS = 81 };

// sum of 3^i (sign of vertex i + 1); sign -1 inside, 0 on the surface, 1 outside.
static inline int ty_pattern(int s0, int s1, int s2, int s3)
{
    return (s0 + 1) + 3 * (s1 + 1) + 9 * (s2 + 1) + 27 * (s3 + 1);
}
enum { TY_PATTERN_ALL_ON = 40 };    // four vertices on the surface: decided by geometry, no stencil

// Indexed by orientation (a lattice shape, 0..11) * TY_N_PATTERNS + pattern. Made on first use; any
// thread.
const ty_stencil* ty_stencils(void);

// The corner of the cut between vertices i and j.
static inline int ty_cut_corner(int i, int j)
{
    static const uint8_t corner[4][4] = {{0, 4, 5, 6}, {4, 0, 7, 8}, {5, 7, 0, 9}, {6, 8, 9, 0}};
    return corner[i][j];
}

#endif
