// SPDX-License-Identifier: Apache-2.0
// Systems to test and time solvers with: what the pressure solvers produce, without their
// machinery.
#ifndef TY_LINEAR_MODEL_PROBLEMS_H
#define TY_LINEAR_MODEL_PROBLEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "linear/csr.h"

// A matrix, a right-hand side, for face systems the way to the vertices. Owns them.
// Zero-initialise.
typedef struct ty_model {
    ty_csr a;
    ty_csr prolongation;    // n == 0 when there is none
    double* rhs;
} ty_model;
void ty_model_free(ty_model* model);

// Tetrahedra: n_tets x 4 vertex ids, n_verts x 3 coordinates. The caller owns the arrays of a view.
typedef struct ty_model_mesh {
    int n_verts, n_tets;
    double (*pos)[3];
    int (*tet)[4];
} ty_model_mesh;
void ty_model_mesh_free(ty_model_mesh* mesh);

// A ball cut out of the body-centred cubic lattice, about n_tets tetrahedra in Morton order of
// their cubes. `jitter` moves vertices by up to this part of the cube (0.1 makes no two tets
// alike); `grading` > 1 shrinks the middle: ratio of the largest to the smallest tet's edge.
ty_status ty_model_ball(ty_model_mesh* mesh, int n_tets, double jitter, double grading);

typedef enum ty_model_system { TY_MODEL_TWO_POINT, TY_MODEL_NODAL, TY_MODEL_FACE } ty_model_system;
typedef enum ty_model_air {
    TY_MODEL_AIR_ALL,    // every outer face is air
    TY_MODEL_AIR_TOP,    // those in the upper third
    TY_MODEL_AIR_NONE    // closed: singular
} ty_model_air;

// The pressure system of the mesh: two-point, nodal (P1) or face (Crouzeix-Raviart, with
// prolongation). The right-hand side is a smooth source plus noise of the same size; it sums to
// zero when closed.
ty_status ty_model_tets(ty_model* model, const ty_model_mesh* mesh, ty_model_system system,
                        ty_model_air air);

// A tank of about n_cells cells, its surface wavy with ghost-fluid distances, with a solid ball in
// it whose faces have fractions down to 1e-6. `mass` is added to every diagonal, relative to a full
// cell's (0: pressure; implicit viscosity: about 1). `closed` replaces the air by a lid: singular.
ty_status ty_model_grid(ty_model* model, int n_cells, double mass, bool closed);

// An octree's leaves, refined towards a sphere by `levels` halvings of `base`^3 cells: cell-centred
// differences over faces between leaves of different sizes. Air outside.
ty_status ty_model_octree(ty_model* model, int base, int levels);

// A pool of pool^3 cells and n_droplets boxes of 1 to 27 cells. Every fifth droplet is closed
// (singular), every eleventh is a row without entries. Rows of pieces are not interleaved.
ty_status ty_model_droplets(ty_model* model, int pool, int n_droplets);

// MatrixMarket: the matrix to `path` (coordinate real symmetric), the right-hand side to
// `path`.rhs.mtx.
ty_status ty_model_write(const ty_model* model, const char* path);

#endif
