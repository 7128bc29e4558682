// SPDX-License-Identifier: Apache-2.0
// The 256 cases of marching cubes, made by code from one rule per face, so that two cells always
// agree on the face between them.
//
//        6-------7      corner  bit 0: x, bit 1: y, bit 2: z
//       /|      /|      edge    4 axis + u + 2 v; u, v are the bits of its corners in the axes after `axis`
//      4-------5 |      face    2 axis + side
//      | 2-----|-3
//      |/      |/       A face with liquid at two opposite corners joins the liquid: thin sheets stay whole.
//      0-------1
#ifndef TY_MESH_CONTOUR_TABLE_H
#define TY_MESH_CONTOUR_TABLE_H

#include <stdint.h>

enum { TY_CONTOUR_MAX_TRIS = 5 };

typedef struct ty_contour_case {
    uint8_t n_tris;
    uint8_t edge[TY_CONTOUR_MAX_TRIS][3];    // counter-clockwise from the air
    uint8_t n_cuts, cut[12];                 // the edges that are cut
} ty_contour_case;

// The table, 256 entries indexed by the corners that are inside. Made on first use; any thread.
const ty_contour_case* ty_contour_cases(void);

// The lower corner of an edge; the upper one is `lower | 1 << edge / 4`.
static inline int ty_contour_edge_corner(int edge)
{
    int axis = edge >> 2, u = edge & 1, v = edge >> 1 & 1;
    return u << (axis + 1) % 3 | v << (axis + 2) % 3;
}

#endif
