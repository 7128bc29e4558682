// SPDX-License-Identifier: Apache-2.0
// Normals that make a mesh look smooth, one per corner of a triangle so that sharp edges stay
// sharp.
#ifndef TY_RENDER_NORMALS_H
#define TY_RENDER_NORMALS_H

#include <stdint.h>

#include "mesh/tri_mesh.h"

// At each corner: the mean, by angle, of the triangles around the vertex that are of the same
// `group` (NULL: all are) and whose normals differ by at most the angle with this cosine. Groups
// below 0 stay flat. `out` has three vectors per triangle.
ty_status ty_corner_normals(const ty_tri_mesh* mesh, const int8_t* group, double crease_cosine,
                            float (*out)[3]);

#endif
