// SPDX-License-Identifier: Apache-2.0
// The cut of a liquid that was contoured on an octree with the cut's own lattice. Only cells that
// the cut surface may cross are looked at: those that hold triangles of the liquid, those that an
// obstacle's surface crosses inside it, and those where it ends at a side of the domain. Away from
// sides and obstacles the vertices are the liquid's own. Memory and time go with the surface, not
// with the domain.
#ifndef TY_TRACK_CUT_TREE_H
#define TY_TRACK_CUT_TREE_H

#include "mesh/contour.h"
#include "track/cut_part.h"

// Scratch, and where obstacles are while no solid moves. Open; zero-initialise, then
// ty_cut_tree_free. Points are the liquid's lattice points, node s of the cut is point s - shift.
typedef struct ty_cut_tree {
    int shift[3];
    int lo[3], hi[3];         // nodes that the liquid may reach
    ty_octree cells;          // one level; values at the corners
    ty_lattice_set blocks;    // of 4 x 4 x 4 points: in obstacles or beside them
    ty_lattice_set rim;       // cells that an obstacle's surface crosses
    ty_cut_part known;        // the lattice of both
    bool is_known;
    TY_ARRAY(uint8_t) beside;      // per corner: in `blocks`, or below a film
    TY_ARRAY(int) from;            // per vertex: that of the liquid's hull, -1: none
    TY_ARRAY(int) block;           // of the search for obstacles: 3 coordinates each,
    TY_ARRAY(double) depth;        // the obstacles' distance at their middles,
    TY_ARRAY(uint64_t) crossed;    // and their cells in `rim`
} ty_cut_tree;
void ty_cut_tree_free(ty_cut_tree* t);
// Gives back scratch memory.
void ty_cut_tree_rest(ty_cut_tree* t);

enum { TY_CUT_HIGH = 62 };    // bit of a key: the edge's upper end is inside

// The cut surface; the keys of its vertices, for ty_contour_edge, say with TY_CUT_HIGH which end is
// inside. Vertices on the lattice's outermost planes are where the liquid ends, one for each edge
// that leads out.
ty_status ty_cut_tree_contour(ty_cut_tree* t, const ty_cut_part* p, const ty_liquid* liquid,
                              ty_contour* contour, ty_tri_mesh* out);
// Whether node s is beside an obstacle.
static inline bool ty_cut_tree_beside(const ty_cut_tree* t, ty_lattice_cursor* c, const int s[3])
{
    return ty_lattice_has(&t->blocks, c, (s[0] - t->shift[0]) >> 2, (s[1] - t->shift[1]) >> 2,
                          (s[2] - t->shift[2]) >> 2);
}

#endif
