// SPDX-License-Identifier: Apache-2.0
// The tetrahedra of the background grid: four shapes in 108 orientations, at power-of-two sizes.
// Volume, face areas and normals of such a tetrahedron are looked up ([Chentanez2007] section
// 3.3.2).
//
//      q3----m2----q2      face of an octant, seen from outside it, counter-clockwise
//      |           |       m   midpoints of its edges    F  its centre
//      m3    F     m1      c   centre of the octant      c' centre of the octant behind the face
//      |           |
//      q0----m0----q1
#ifndef TY_MESH_TET_SHAPES_H
#define TY_MESH_TET_SHAPES_H

#include <stdint.h>

enum {
    TY_TET_LATTICE = 0,    // 12: axis * 4 + k, (q_k, q_k+1, c, c') of the upper face along the axis
    TY_TET_HALF = 12,      // 24: (axis * 4 + k) * 2 + half, one with its edge q_k q_k+1 bisected
    TY_TET_QUARTER = 36,    // 48: face * 8 + k * 2 + half, half an edge of the face, F and c
    TY_TET_PYRAMID = 84,    // 24: face * 4 + diagonal * 2 + side, half the face and c
    TY_N_TET_SHAPES = 108,
    TY_TET_IRREGULAR = 127    // cut or warped: no lattice shape
};

// A tetrahedron's kind: shape + 128 * level.
typedef uint16_t ty_tet_kind;
static inline int ty_kind_shape(ty_tet_kind kind) { return kind & 127; }
static inline int ty_kind_level(ty_tet_kind kind) { return kind >> 7; }
static inline ty_tet_kind ty_make_kind(int shape, int level)
{
    return (ty_tet_kind)(shape | level << 7);
}

// Places around a face, in the order of the picture.
enum { TY_AT_Q = 0, TY_AT_M = 4, TY_AT_F = 8, TY_AT_C = 9, TY_AT_C2 = 10, TY_N_PLACES = 11 };

// The four places of a shape, positively oriented: det(v1 - v0, v2 - v0, v3 - v0) > 0.
void ty_tet_shape_places(int shape, int place[4]);
// The octant's corner (bit 0: x, ...) at q_k of a face; face = 2 * axis + side, k modulo 4.
static inline int ty_face_corner(int face, int k)
{
    static const uint8_t corner[6][4] = {{4, 6, 2, 0}, {1, 3, 7, 5}, {1, 5, 4, 0},
                                         {2, 6, 7, 3}, {2, 3, 1, 0}, {4, 5, 7, 6}};
    return corner[face][k & 3];
}
// The face a shape lives on.
int ty_tet_shape_face(int shape);

// Geometry of a shape of an octant of width 1: area vectors point out of the face opposite vertex
// i.
typedef struct ty_tet_shape {
    int8_t at[4][3];    // from the octant's centre, in half widths
    double volume, area[4], S[4][3];
    double product[4][4];    // S_i . S_j / volume
} ty_tet_shape;
// TY_N_TET_SHAPES entries. Made on first use; any thread.
const ty_tet_shape* ty_tet_shapes(void);

#endif
