// SPDX-License-Identifier: Apache-2.0
// The stages of isosurface stuffing. Internal to the mesher.
#ifndef TY_MESH_STUFF_STAGE_H
#define TY_MESH_STUFF_STAGE_H

#include "mesh/stuff.h"

enum { TY_STUFF_BLOCK = 512 };    // octants or corners per block; at most TY_SAMPLE_BATCH

typedef struct ty_stuffing {
    ty_stuff* s;
    const ty_octree* t;
    const ty_sampler* phi;
    const ty_stuff_def* def;
    ty_tet_mesh* mesh;
    int n_corners;    // lattice vertex of octant i's centre: n_corners + i
} ty_stuffing;

// The step of a cut's edge in half cells.
static inline ty_vec3 ty_cut_step(int direction)
{
    ty_vec3 step = ty_vec(0, 0, 0);
    if (direction < 3) step[direction] = 2.0;
    else
        step = ty_vec((direction - 3) & 1 ? 1 : -1, (direction - 3) & 2 ? 1 : -1,
                      (direction - 3) & 4 ? 1 : -1);
    return step;
}
static inline ty_vec3 ty_cut_point(const ty_stuffing* k, int cut)
{
    const ty_cut* c = &k->s->cut.at[cut];
    ty_vec3 half = ty_vec(c->x[0], c->x[1], c->x[2]) +
                   k->s->cut_at.at[cut] * ty_cut_step(c->direction);
    return ty_octree_point(k->t, 0.5 * half);
}

#define TY_NOT_MOVED UINT64_MAX
static inline bool ty_was_moved(const ty_stuff* s, int vert)
{
    return s->nearest.at[vert] != TY_NOT_MOVED;
}

// The place of a lattice vertex after warping; `half` is its place in half cells before.
static inline ty_vec3 ty_warped_point(const ty_stuffing* k, int vert, const int half[3])
{
    if (ty_was_moved(k->s, vert)) return ty_cut_point(k, (int)(uint32_t)k->s->nearest.at[vert]);
    return ty_octree_point(k->t, 0.5 * ty_vec(half[0], half[1], half[2]));
}

// Signs of the lattice vertices, cut points of the finest edges, then the warp of vertices to close
// cuts.
ty_status ty_stuff_cut(ty_stuffing* k);
// Counts the tets of each octant, finds those with four vertices on the surface, marks which
// vertices are used.
ty_status ty_stuff_count(ty_stuffing* k);
// Which of the tets with four vertices on the surface stay.
ty_status ty_stuff_filter_quads(ty_stuffing* k);
// Vertices, tets, kinds.
ty_status ty_stuff_fill(ty_stuffing* k);

// The two ends of each edge of lattice tet `shape` of a finest octant: its four lattice vertices
// and their places in half cells. False when the octant behind the face is not finest.
bool ty_stuff_lattice_tet(const ty_stuffing* k, ty_lattice_cursor* c, int octant, const int x[3],
                          int shape, int vert[4], int half[4][3]);
// Whether quad number 12 * octant + shape was kept.
bool ty_stuff_keeps_quad(const ty_stuffing* k, int64_t address);

#endif
