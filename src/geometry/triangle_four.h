// SPDX-License-Identifier: Apache-2.0
// Closest points on four triangles side by side, for where they are inside the faces: by the formulas
// of ty_closest_on_triangle, so to the same bits.
#ifndef TY_GEOMETRY_TRIANGLE_FOUR_H
#define TY_GEOMETRY_TRIANGLE_FOUR_H

#include <stdint.h>

#include "geometry/triangle.h"

typedef double ty_d4 __attribute__((vector_size(32)));
typedef int64_t ty_l4 __attribute__((vector_size(32)));    // of comparisons: 0 or -1 in each lane
typedef struct ty_vec3x4 {
    ty_d4 x[3];    // four vectors, by axis
} ty_vec3x4;

static inline ty_vec3x4 ty_vec3x4_of(const ty_vec3 v[4])
{
    ty_d4 xy0 = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5),
          xy2 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5),
          z = __builtin_shufflevector(v[0], v[1], 2, 6, 2, 6),
          z2 = __builtin_shufflevector(v[2], v[3], 2, 6, 2, 6);
    return (ty_vec3x4){{__builtin_shufflevector(xy0, xy2, 0, 1, 4, 5),
                        __builtin_shufflevector(xy0, xy2, 2, 3, 6, 7),
                        __builtin_shufflevector(z, z2, 0, 1, 4, 5)}};
}

static inline ty_vec3x4 ty_vec3x4_minus(ty_vec3x4 a, ty_vec3x4 b)
{
    return (ty_vec3x4){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static inline ty_d4 ty_vec3x4_dot(ty_vec3x4 a, ty_vec3x4 b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static inline ty_vec3x4 ty_vec3x4_cross(ty_vec3x4 a, ty_vec3x4 b)
{
    return (ty_vec3x4){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                        a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

// Corners a, b, c of four triangles, a point p to each. Answers `out` where the mask is set; the
// others are nearest at an edge or a corner.
static inline ty_l4 ty_closest_on_faces(const ty_vec3 p[4], const ty_vec3 corner[3][4],
                                        ty_closest out[4])
{
    ty_vec3x4 x = ty_vec3x4_of(p), a = ty_vec3x4_of(corner[0]), b = ty_vec3x4_of(corner[1]),
              c = ty_vec3x4_of(corner[2]);
    ty_vec3x4 ab = ty_vec3x4_minus(b, a), ac = ty_vec3x4_minus(c, a), ap = ty_vec3x4_minus(x, a),
              bp = ty_vec3x4_minus(x, b), cp = ty_vec3x4_minus(x, c);
    ty_d4 d1 = ty_vec3x4_dot(ab, ap), d2 = ty_vec3x4_dot(ac, ap), d3 = ty_vec3x4_dot(ab, bp),
          d4 = ty_vec3x4_dot(ac, bp), d5 = ty_vec3x4_dot(ab, cp), d6 = ty_vec3x4_dot(ac, cp);
    ty_l4 corners = ((d1 <= 0.0) & (d2 <= 0.0)) | ((d3 >= 0.0) & (d4 <= d3)) |
                    ((d6 >= 0.0) & (d5 <= d6));
    ty_vec3x4 n = ty_vec3x4_cross(ab, ac), m = ty_vec3x4_cross(ap, n);
    ty_d4 n2 = ty_vec3x4_dot(n, n), zero = {0};
    ty_l4 inside = (n2 > TY_THIN2 * ty_vec3x4_dot(ab, ab) * ty_vec3x4_dot(ac, ac)) &
                   (ty_vec3x4_dot(ab, m) > zero) & (-ty_vec3x4_dot(ac, m) > zero) &
                   (ty_vec3x4_dot(ty_vec3x4_minus(c, b), ty_vec3x4_cross(bp, n)) > zero);
    ty_d4 t = ty_vec3x4_dot(n, ap) / n2, d = t * t * n2;
    for (int i = 0; i < 4; ++i) {
        ty_vec3 normal = ty_vec(n.x[0][i], n.x[1][i], n.x[2][i]);
        out[i] = (ty_closest){p[i] - t[i] * normal, d[i], TY_FACE};
    }
    return inside & ~corners;
}

#endif
