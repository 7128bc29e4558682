// SPDX-License-Identifier: Apache-2.0
// Few points, many triangles: closest points without building a hierarchy.
#ifndef TY_SPACE_FEW_H
#define TY_SPACE_FEW_H

#include "core/memory.h"
#include "geometry/triangle.h"

// The closest triangle to each of n points within `reach` (finite, positive) and its squared
// distance, -1 and INFINITY where there is none: what ty_bvh_closest says. Two passes over the
// triangles, the second for points that are far from all: triangles far from all points cost a look
// each, so it pays for up to thousands of points.
// Points and vertices must be finite. Serial.
ty_status ty_few_closest(int n_tris, const int (*tri)[3], const double (*vert)[3], int n,
                         const double (*x)[3], double reach, int* triangle, double* distance2);

#endif
