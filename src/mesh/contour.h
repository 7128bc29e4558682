// SPDX-License-Identifier: Apache-2.0
// Triangles of { phi = 0 }, shared by trackers and mesher: closed, every edge in exactly two
// triangles, outward (phi < 0 inside), none degenerate. Vertices lie on lattice edges whose ends
// differ in sign and are numbered by sorted lattice key, triangles by cell; same bits for any
// number of threads.
//
// phi == 0, like NaN, counts as outside. A cut stays TY_CONTOUR_MIN_CUT of an edge away from both
// ends (octrees: TY_CONTOUR_OCTREE_MIN_CUT): three points inside three different edges of a cell
// are never on one line, so every triangle has an area.
#ifndef TY_MESH_CONTOUR_H
#define TY_MESH_CONTOUR_H

#include <stdint.h>

#include "geometry/sampler.h"
#include "mesh/tri_mesh.h"
#include "space/octree.h"

// Moves a vertex by at most a thousandth of a cell, on two edges in a thousand; smallest triangle
// 8.7e-7 of a cell's face, so that edges also survive a file of floats.
#define TY_CONTOUR_MIN_CUT 1e-3
// Octrees contour the distance to what they contoured a step before, and a bump that a node forces
// on it stays: a thousandth, continued into walls, moved a still pool's surface by 6e-5 cells in
// every step. What is left of a pool's speed is in proportion to this. Edges so short still have a
// direction 1e6 cells from the origin; in a file of floats they are points.
#define TY_CONTOUR_OCTREE_MIN_CUT 1e-8

enum {
    TY_CONTOUR_REFINE = 2,         // steps that leave 1e-8 of a cell for smooth functions
    TY_CONTOUR_REFINE_KINKS = 8    // the others go on where that did not find the zero
};

// A dense lattice of nodal values, x fastest: node (i, j, k) at origin + cell * (i, j, k) holds [i
// + n[0] * (j + n[1] * k)]. Value; borrows the array that is not NULL. Everything outside counts as
// air: liquid that reaches the border is closed `border` cells outside of it (0:
// TY_CONTOUR_MIN_CUT).
typedef struct ty_contour_lattice {
    double origin[3], cell;
    int n[3];
    const double* values;
    const float* values_f;
    double border;
} ty_contour_lattice;

// Scratch memory kept across calls. Open type; zero-initialise, then ty_contour_free. One call at a
// time.
typedef struct ty_contour {
    TY_ARRAY(uint64_t) bits;    // signs of the nodes, one bit each, padded by a layer of air
    TY_ARRAY(uint64_t)
    cuts;                  // three words per word of `bits`: nodes whose edge along an axis is cut
    TY_ARRAY(int) rank;    // vertices of the row before each word of `bits`
    TY_ARRAY(int) row_verts;
    TY_ARRAY(int) row_tris;
    TY_ARRAY(int64_t) first_vert;
    TY_ARRAY(int64_t) first_tri;
    TY_ARRAY(uint64_t) key;           // lattice edge of every vertex of the last call
    TY_ARRAY(uint8_t) corner_cuts;    // octrees: axes along which the edge from a corner is cut
} ty_contour;
void ty_contour_free(ty_contour* c);

enum { TY_CONTOUR_KEY_BITS = 20 };    // per coordinate of a key
// The edge of a key: from `node` to its next neighbour along the axis returned. Nodes -1 and n are
// air outside.
static inline int ty_contour_edge(uint64_t key, int node[3])
{
    for (int d = 0; d < 3; ++d)
        node[d] = (int)(key >> (2 + d * TY_CONTOUR_KEY_BITS) & ((1u << TY_CONTOUR_KEY_BITS) - 1)) -
                  1;
    return (int)(key & 3);
}

// The key of an edge.
static inline uint64_t ty_contour_key(const int node[3], int axis)
{
    uint64_t key = 0;
    for (int d = 2; d >= 0; --d) key = key << TY_CONTOUR_KEY_BITS | (uint64_t)(node[d] + 1);
    return key << 2 | (uint64_t)axis;
}

// The surface of the lattice's values. With `phi`, `refine` bracketed steps (TY_CONTOUR_REFINE) put
// every vertex on the zero of phi along its edge; NULL: linear interpolation. An empty surface is
// no error. Fails with TY_NO_MEMORY, or TY_BAD_INPUT when the lattice or the surface is too large
// for its ids.
ty_status ty_contour_grid(ty_contour* c, const ty_contour_lattice* lattice, const ty_sampler* phi,
                          int refine, ty_tri_mesh* out);

// The surface in the finest leaves of an octree, from the values at their corners: all of it when
// the octree was built by either rule. Otherwise like ty_contour_grid.
ty_status ty_contour_octree(ty_contour* c, const ty_octree* tree, const ty_sampler* phi, int refine,
                            ty_tri_mesh* out);

// Bracketed steps (chord, then parabola) for the zeros of phi on n segments at once: t[i] in 0..1
// is where it is between a[i] (value fa[i]) and b[i] (fb[i], of the other sign); not a number where
// those are not. n <= TY_SAMPLE_BATCH. phi may be NULL when refine is 0: linear interpolation.
void ty_find_zeros(const ty_sampler* phi, int refine, int n, const double (*a)[3],
                   const double (*b)[3], const double* fa, const double* fb, double* t);
// The same in two calls: the first step asks phi at the chord's zero. f_chord, n values, takes what
// it said, or has it from an earlier call when `known`; NULL: not wanted.
void ty_find_zeros_on(const ty_sampler* phi, int refine, int n, const double (*a)[3],
                      const double (*b)[3], const double* fa, const double* fb, double* f_chord,
                      bool known, double* t);

#endif
