// SPDX-License-Identifier: Apache-2.0
// The pressure system of solver `tet`. The unknown is x = solve_dt p' / rho (m2/s), so u = u* -
// grad x.
//
// Open type, private to this folder.
#ifndef TY_SOLVE_TET_PROJECTOR_H
#define TY_SOLVE_TET_PROJECTOR_H

#include "solve/tet/tetflow.h"

// What a face has instead of an unknown of its own: given by its three air vertices, or the mean of
// its vertices.
enum { TY_FACE_GIVEN = -1, TY_FACE_NODAL = -2 };

struct ty_tet_projector {
    ty_tet_pressure scheme;
    bool paper_air;    // a face is air unless all its vertices lie on a solid
    double outside_share;
    double tolerance;
    bool fluxes_given;    // two-point: s->flux comes with the fluxes of u*; for one projection
    ty_linear* linear;
    ty_csr matrix, prolongation;
    ty_csr coarse;    // P^T A P

    // face, nodal: unknowns of faces come first, then those of vertices.
    int n_unknowns, n_face_unknowns, n_coarse;
    TY_ARRAY(int) face_unknown;    // of each face: unknown, TY_FACE_GIVEN or TY_FACE_NODAL
    TY_ARRAY(int) vert_unknown;    // of each vertex: unknown, -1 for none
    TY_ARRAY(int) vert_coarse;     // of each vertex: column of the prolongation, -1 for none
    TY_ARRAY(int) unknown_face;    // of each face unknown: its face
    TY_ARRAY(int) unknown_vert;    // of each vertex unknown: its vertex
    TY_ARRAY(int) around_start;    // of each vertex, into `around`
    TY_ARRAY(int)
    around;    // 4 * open tet + place of the vertex in it, rising; none where vert_coarse is -1
    TY_ARRAY(int) seen;       // scratch per vertex, for each worker
    TY_ARRAY(int) row_col;    // rows being made, for each worker
    TY_ARRAY(double) row_val;
    int row_room;    // of one worker

    TY_ARRAY(int) tet_unknown;    // two-point: of each tet, -1 for none

    TY_ARRAY(double) given;    // of each vertex: x
    TY_ARRAY(double) rhs, guess, x;
    TY_ARRAY(double) back_flux;    // of each face: flux out of face_tet[1]
    TY_ARRAY(double) weight;       // scratch per vertex
    TY_ARRAY(int) dropped;         // tets inside solids that have no velocity yet
    TY_ARRAY(uint8_t) known;       // of each tet: has one
};

// One projection. Value.
typedef struct ty_tet_job {
    ty_tet_projector* p;
    ty_tet_state* s;
    double solve_dt;
    const double* divergence;
} ty_tet_job;

// A tet as the pressure sees it: V grad x = sum S[k] x[unknown[k]] + known.
typedef struct ty_tet_local {
    int n, unknown[8];
    int corner[8];    // of the tet that the unknown sits at; -4 + i: at the face opposite corner i
    ty_vec3 S[8], known;
    double mean[8];    // of the unknown's shape function over the tet
    double volume;
} ty_tet_local;

static inline double ty_wanted(const ty_tet_job* job, int tet)
{
    return job->divergence ? job->divergence[tet] : 0.0;
}

// wall.c: the open share of the face opposite corner i.
double ty_tet_face_open(const ty_tet_state* s, int tet, int i);
// What flows out of the tet's open part into the solid in it, m3/s; `at` is the part of each
// corner, by its barycentric coordinate.
double ty_tet_wall_flux(const ty_tet_state* s, int tet, double at[4]);

// face and nodal: system_linear.c, unknowns.c
ty_status
ty_tet_mark_faces(const ty_tet_job* job);    // face_unknown: 0 stands for any unknown of its own
ty_status ty_tet_number(const ty_tet_job* job);
void ty_tet_make_local(const ty_tet_job* job, int tet, const ty_tet_geometry* g,
                       ty_tet_local* local);
// Only the unknowns of a local; returns how many.
int ty_tet_local_unknowns(const ty_tet_job* job, int tet, int unknown[8]);
ty_status ty_tet_linear_assemble(const ty_tet_job* job);
void ty_tet_linear_guess(const ty_tet_job* job);
// The largest flux through a face of about SAMPLES tets, with guess + x: no face has more than all have.
double ty_tet_linear_sample_flux(const ty_tet_job* job);
void ty_tet_linear_apply(const ty_tet_job* job);
void ty_tet_linear_flux(const ty_tet_job* job);

// two-point: system_two_point.c
ty_status ty_tet_two_point_assemble(const ty_tet_job* job);
void ty_tet_two_point_guess(const ty_tet_job* job);
void ty_tet_two_point_apply(const ty_tet_job* job);

#endif
