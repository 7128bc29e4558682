// SPDX-License-Identifier: Apache-2.0
// Graded tetrahedra that fill { phi < 0 }, as isosurface stuffing makes them, and the octree they
// came from.
//
//   vert       n_verts x 3 doubles, metres; boundary vertices last, from n_inner on
//   tet        n_tets x 4 ids, positively oriented, in order of the octant they belong to
//   kind       which of the lattice shapes a tet is, and its level (tet_shapes.h)
//   tet_face   n_tets x 4 ids: the face opposite each vertex
//   face_tet   n_faces x 2 ids: the tets of a face, lower id first; boundary faces last, from n_inner_faces on, -1
//   first_tet  n_octants + 1: tets of each octant of `tree`
//
// Bytes per tet: tet 16, kind 2, tet_face 16, face_tet 16.5, vert 4.5, octree 7 or less: about 60.
// Volume and area vectors would be 104 more; for lattice shapes they are looked up, for the others
// computed. Open type. Owns its arrays; zero-initialise, ty_stuff, ty_tet_mesh_free. Free to read
// from any thread.
#ifndef TY_MESH_TET_MESH_H
#define TY_MESH_TET_MESH_H

#include "mesh/tet_shapes.h"
#include "mesh/tri_mesh.h"
#include "space/octree.h"

typedef struct ty_tet_mesh {
    int n_verts, n_inner, n_tets, n_faces, n_inner_faces;
    double (*vert)[3];
    int (*tet)[4];
    ty_tet_kind* kind;
    int (*tet_face)[4];
    int (*face_tet)[2];
    int* first_tet;
    ty_octree tree;
    int64_t vert_capacity, tet_capacity, face_tet_capacity, first_capacity;
    void *face_scratch, *face_left;
    int64_t face_scratch_capacity, face_left_capacity;
} ty_tet_mesh;

void ty_tet_mesh_free(ty_tet_mesh* m);
// Gives back scratch memory, and of the octree what locating points does not need.
void ty_tet_mesh_tidy(ty_tet_mesh* m);
// Sets the counts of vertices and tets; keeps the memory it has when that is enough. Contents are
// undefined, faces are gone.
ty_status ty_tet_mesh_resize(ty_tet_mesh* m, int n_verts, int n_tets);
// Makes tet_face and face_tet, numbered by the first place a face has in the tets. Fails with
// TY_DAMAGED when a face has three tets.
ty_status ty_tet_mesh_make_faces(ty_tet_mesh* m);
// Bytes of the finished mesh (not of scratch memory), octree included.
int64_t ty_tet_mesh_bytes(const ty_tet_mesh* m);

// Volume and outward area vectors of the faces opposite each vertex; looked up where the shape is a
// lattice one.
typedef struct ty_tet_geometry {
    double volume, S[4][3];
} ty_tet_geometry;
ty_tet_geometry ty_tet_mesh_geometry(const ty_tet_mesh* m, int tet);
// What an entry of a stiffness matrix needs: S_i . S_j / volume for the four j. Returns S_i.
ty_vec3 ty_tet_mesh_products(const ty_tet_mesh* m, int tet, int i, double* volume,
                             double product[4]);
// Sum of all volumes. Same bits for any number of threads.
double ty_tet_mesh_volume(const ty_tet_mesh* m);

// The boundary as triangles, outward; vertices keep their order: vertex n_inner + i becomes i.
ty_status ty_tet_mesh_boundary(const ty_tet_mesh* m, ty_tri_mesh* out);

// Dihedral angles of a tetrahedron in degrees, edges 01 02 03 12 13 23.
void ty_dihedral_angles(const double v[4][3], double angle[6]);

typedef struct ty_tet_quality {
    double min_dihedral, max_dihedral, min_volume, volume;
    int64_t histogram[36];    // angles per 5 degrees
    int64_t by_shape[5];      // tets: lattice, half, quarter, pyramid, none
} ty_tet_quality;
ty_tet_quality ty_tet_mesh_quality(const ty_tet_mesh* m);

// The tets that hold n points, -1 where a point is outside the mesh. Through the octree and a short
// walk; fast when neighbouring points follow each other. Needs faces.
void ty_tet_mesh_locate(const ty_tet_mesh* m, int64_t n, const double (*point)[3], int* tet);

// The published bound of [Labelle2007], degrees; the enumeration of all stencils gives 10.784 and
// 164.74.
#define TY_MIN_DIHEDRAL 10.7
#define TY_MAX_DIHEDRAL 164.8

// Everything the mesher promises: ids in range, every vertex used, positive volumes, dihedral
// angles within the bound, faces of one or two tets, boundary faces of boundary vertices only,
// boundary edges in an even number of boundary faces, kinds that fit the geometry. TY_DAMAGED says
// what is wrong and where.
ty_status ty_tet_mesh_validate(const ty_tet_mesh* m);

#endif
