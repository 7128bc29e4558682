// SPDX-License-Identifier: Apache-2.0
// How good a triangle or tetrahedron is. Pure functions; angles in radians.
#ifndef TY_GEOMETRY_TET_QUALITY_H
#define TY_GEOMETRY_TET_QUALITY_H

#include "core/vec.h"

// Signed as ty_orient3d: positive when a, b, c run counter-clockwise as seen from d.
double ty_tet_volume(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d);

// The angles between the faces at the edges ab, ac, ad, bc, bd, cd, each in [0, pi]; of the solid,
// whatever its orientation. Accurate for small and large angles alike. A flat face gives 0.
void ty_tet_dihedral_angles(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d, double angle[6]);

// 3 inradius / circumradius: 1 for the regular tetrahedron, 0 for a flat one, negative when
// inverted.
double ty_tet_radius_ratio(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d);
// 6 sqrt(2) volume / (root mean square edge)^3 [Parthasarathy1994]: 1 regular, 0 flat, negative
// inverted.
double ty_tet_volume_length(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d);

// The corner angles of a triangle; 0 where two corners coincide.
void ty_triangle_angles(ty_vec3 a, ty_vec3 b, ty_vec3 c, double angle[3]);

#endif
