// SPDX-License-Identifier: Apache-2.0
// Signed distance to a triangle mesh, everywhere exact, as a sampler. Negative inside; triangles
// run counter- clockwise as seen from outside.
//
//   ty_mesh_distance d = {0};
//   ty_mesh_distance_def def = ty_mesh_distance_default();
//   TY_TRY(ty_mesh_distance_build(&d, &def, n_verts, vert, n_tris, tri));
//   ty_sampler phi = ty_mesh_distance_sampler(&d);
#ifndef TY_SPACE_MESH_DISTANCE_H
#define TY_SPACE_MESH_DISTANCE_H

#include "geometry/sampler.h"
#include "space/bvh.h"
#include "space/mesh_normals.h"
#include "space/winding.h"

typedef enum ty_sign_rule {
    TY_SIGN_AUTO,    // normals if the mesh is watertight and does not cross itself; crossings if it does;
                     // winding numbers if it has holes
    TY_SIGN_NORMALS,    // pseudonormal of the closest feature: exact for watertight meshes, nearly free
    TY_SIGN_CROSSINGS,    // a ray's: exact for watertight meshes, also overlapping ones
    TY_SIGN_WINDING,    // generalized winding number >= 1/2: for any soup; small cracks do not leak
    TY_SIGN_NONE        // unsigned distance
} ty_sign_rule;

typedef struct ty_mesh_distance_def {
    ty_sign_rule sign;
    double winding_accuracy;    // winding.h
    // The mesh is closed without two vertices in one place and listed by the cells of a lattice in
    // Morton order; few signs are asked for.
    bool contoured;
    double origin[3], cell;    // of that lattice
    bool copy;    // keep a copy of the arrays; otherwise they are borrowed until rebuilt or freed
} ty_mesh_distance_def;
// AUTO, TY_WINDING_ACCURACY, borrowed.
ty_mesh_distance_def ty_mesh_distance_default(void);

// Open type. Zero-initialise; build as often as you like (memory is reused); free.
typedef struct ty_mesh_distance {
    ty_mesh_distance_def def;
    ty_sign_rule sign;               // the one in use, never AUTO
    int64_t n_self_intersections;    // -1: not looked for (only AUTO does)
    ty_bvh bvh;
    ty_mesh_normals normals;    // when sign is NORMALS
    ty_winding winding;         // when sign is WINDING
    double (*vert_copy)[3];
    int (*tri_copy)[3];
} ty_mesh_distance;

// An empty mesh is at distance INFINITY. A surface that is inside out has no inside (except by
// NORMALS).
ty_status ty_mesh_distance_build(ty_mesh_distance* d, const ty_mesh_distance_def* def, int n_verts,
                                 const double (*vert)[3], int n_tris, const int (*tri)[3]);
void ty_mesh_distance_free(ty_mesh_distance* d);

// Whether x, whose closest place on the mesh is `place` of a triangle, lies inside. Re-entrant.
bool ty_mesh_distance_inside(const ty_mesh_distance* d, const double x[3], int triangle,
                             const ty_closest* place);
// Borrows `d`. exact_band is INFINITY. Re-entrant; parallel when called from outside a loop.
ty_sampler ty_mesh_distance_sampler(const ty_mesh_distance* d);
// The same with closest points (bvh.h; `out` may be NULL).
void ty_mesh_distance_eval(const ty_mesh_distance* d, int n, const double (*x)[3],
                           double* signed_distance, const ty_closest_points* out);

#endif
