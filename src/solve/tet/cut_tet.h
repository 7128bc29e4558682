// SPDX-License-Identifier: Apache-2.0
// How much of a tetrahedron lies outside a solid.
#ifndef TY_SOLVE_TET_CUT_TET_H
#define TY_SOLVE_TET_CUT_TET_H

#include "core/vec.h"

// The share of the volume where the linear function with these values at the vertices is positive.
// Exact; continuous in d, small ones to full relative precision.
double ty_tet_open_share(const double d[4]);

// The barycentric coordinates of that part's centroid; of the tet's where it is empty.
void ty_tet_open_centre(const double d[4], double l[4]);

// Where the function is zero: a triangle or quadrangle. Value.
typedef struct ty_wall_part {
    ty_vec3 area;        // area vector, out of the positive part; zero where there is none
    double centre[4];    // barycentric
} ty_wall_part;

// Over a mesh these are the boundary of the positive part: a face on which the function is zero
// belongs to the tet on its positive side.
ty_wall_part ty_tet_wall_part(const double d[4], const ty_vec3 x[4]);

// The share of a triangle where the linear function is positive.
double ty_triangle_open_share(const double d[3]);
// The integrals of the barycentric coordinates over that part, divided by the area.
void ty_triangle_open_moments(const double d[3], double moment[3]);
// The same over the part where n of them are, at most TY_MOST_CUTS.
enum { TY_MOST_CUTS = 8 };
void ty_triangle_common_moments(int n, const double (*d)[3], double moment[3]);

#endif
