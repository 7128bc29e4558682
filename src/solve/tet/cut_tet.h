// SPDX-License-Identifier: Apache-2.0
// How much of a tetrahedron lies outside a solid.
#ifndef TY_SOLVE_TET_CUT_TET_H
#define TY_SOLVE_TET_CUT_TET_H

// Value. `moment` holds the integrals of the barycentric coordinates over the open part, divided by the volume:
// moment / share is its centroid, and (1/4 - moment) / (1 - share) that of the rest.
typedef struct ty_open_part {
    double share, moment[4];
} ty_open_part;

// The part where the linear function with these values at the vertices is positive. Exact; continuous in d.
ty_open_part ty_tet_open_part(const double d[4]);

// The share of a triangle where the linear function is positive.
double ty_triangle_open_share(const double d[3]);

#endif
