// SPDX-License-Identifier: Apache-2.0
// Isosurface stuffing [Labelle2007] as used by [Chentanez2007] section 3.3: graded tetrahedra from
// any function.
//
//   octree -> values -> cuts -> warp -> fill -> faces          stuff_cut.c, stuff_fill.c, stuff_quad.c, tet_faces.c
#ifndef TY_MESH_STUFF_H
#define TY_MESH_STUFF_H

#include "geometry/sampler.h"
#include "mesh/tet_mesh.h"

// A cut closer than this fraction of its edge to a vertex moves the vertex. Found by maximising the
// smallest enumerated angle; the often quoted 0.24999, 0.41189 gives 9.32 .. 161.64 degrees.
#define TY_ALPHA_LONG  0.28511
#define TY_ALPHA_SHORT 0.39880

typedef struct ty_stuff_def {
    double cell;                  // width of the finest octants, metres; must be given
    double origin[3];             // of the lattice
    ty_box box;                   // where the surface is; it is followed out of the box
    int levels;                   // 1 + coarsest level of the octree
    bool uniform;                 // finest tetrahedra everywhere
    double lipschitz;             // bound on |grad phi|, 1 for a distance
    int refine;                   // steps to the zeros of phi on cut edges, at least 1
    bool faces;                   // make tet_face and face_tet
    const ty_sampler* roughly;    // as in ty_octree_def; NULL: phi
} ty_stuff_def;
ty_stuff_def ty_stuff_default(void);    // 6 levels, graded, 3 steps, with faces

typedef struct ty_cut {
    int a, b;         // lattice vertices; corner ids, then n_corners + octant ids
    int x[3];         // of a, in half cells
    int direction;    // 0..2 along an axis, 3 + corner from a centre to that corner
} ty_cut;

// Scratch memory kept across calls. Open type; zero-initialise, then ty_stuff_free. One call at a
// time.
typedef struct ty_stuff {
    TY_ARRAY(int8_t) sign;    // of lattice vertices: -1 inside, 0 on the surface, 1 outside
    TY_ARRAY(uint64_t)
    nearest;                   // of lattice vertices: distance bits and id of the cut to move to
    TY_ARRAY(int) vert_id;     // of lattice vertices in the mesh, -1 for none
    TY_ARRAY(uint8_t) used;    // lattice vertices on the surface that some tet has
    TY_ARRAY(uint16_t)
    octant_cuts;    // finest octants: cut edges from the centre; bits 0..7 to corners, 8..10 upwards
    TY_ARRAY(int) octant_first_cut;
    TY_ARRAY(uint8_t) corner_cuts;    // cut edges from a corner upwards
    TY_ARRAY(int) corner_first_cut;
    TY_ARRAY(ty_cut) cut;
    TY_ARRAY(double) cut_at;       // fraction of the way from a to b
    TY_ARRAY(double) cut_probe;    // phi at the first guess
    TY_ARRAY(int) cut_id;          // in the mesh, -1 for none
    TY_ARRAY(int) n_tets;          // of each octant
    TY_ARRAY(int) block_quads;
    TY_ARRAY(int64_t) first_quad;
    TY_ARRAY(int64_t)
    quad;    // lattice tets with four vertices on the surface: 12 * octant + shape, sorted
    TY_ARRAY(uint8_t) keep_quad;
    double seconds_octree, seconds_stuff, seconds_faces;    // of the last call
} ty_stuff;
void ty_stuff_free(ty_stuff* s);

// Fills { phi < 0 }. Every dihedral angle is between 10.7 and 164.8 degrees and no tetrahedron is
// inverted whatever phi is; the mesh conforms; boundary vertices lie on { phi = 0 }, which the
// boundary follows to O(cell^2) where it is resolved. Sheets thinner than half a cell vanish. Same
// bits for any number of threads; rebuilding reuses memory. Fails with TY_EMPTY when nothing is
// inside, TY_BAD_INPUT, TY_NO_MEMORY.
ty_status ty_stuff_mesh(ty_stuff* s, const ty_sampler* phi, const ty_stuff_def* def,
                        ty_tet_mesh* mesh);

#endif
