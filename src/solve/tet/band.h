// SPDX-License-Identifier: Apache-2.0
// What trackers see around the free surface, in tables: a tracker asks a hundred times for every
// node of them.
//
//   block    4 x 4 x 4 cells and their 5 x 5 x 5 nodes; trilinear in a cell
//   fine     cells half as wide as the mesh's, around the skin: where paths end. Nodes have what
//            ty_tet_sample says
//   coarse   the mesh's cells, along the way that the skin goes in the longest next step: where
//            paths begin. Nodes have the fine values where there are any, the liquid's in it, and
//            outside the mean of the nodes beside them that are nearer, layer by layer
//   neither  beside moving solids, and far from the free surface: ty_tet_sample itself is asked
//
// Uniform fields are exact. One table with the mesh's cells is not enough: it smooths the surface's
// velocity, which is then no longer the transpose of its pressure (vertex.c), and ripples grow by a
// third in 200 steps; with the fine one they fall by a quarter, as without any. Floats: 4 kB a
// block. Open type, private to this folder. Free to read from any thread.
#ifndef TY_SOLVE_TET_BAND_H
#define TY_SOLVE_TET_BAND_H

#include "core/memory.h"
#include "geometry/sampler.h"
#include "space/lattice_set.h"
#include "world/world.h"

typedef struct ty_tet_motion ty_tet_motion;

// u and a of a node, two lanes to spare; not a number where there is none.
typedef float ty_band_value __attribute__((vector_size(32)));

enum { TY_BAND_SIDE = 4, TY_BAND_ROW = 5, TY_BAND_OWN = 64, TY_BAND_NODES = 125 };

typedef struct ty_band_table {
    double origin[3], cell;
    ty_lattice_set blocks;
    TY_ARRAY(ty_band_value) node;    // TY_BAND_NODES per block, x fastest
} ty_band_table;

typedef struct ty_tet_band {
    ty_band_table fine, coarse;
    TY_ARRAY(uint8_t)
    layer, layer_next;    // of the TY_BAND_OWN lower nodes of coarse blocks, while they are made
    // Triangles of the skin closest to the own nodes of fine blocks, -1 where none is near.
    TY_ARRAY(int) nearest;
    // Per fine block, a bit for each of its own nodes: it is beside the free surface; others that have
    // to do with values of the skin.
    TY_ARRAY(uint64_t) free;
    TY_ARRAY(uint64_t) by_skin;
} ty_tet_band;

// `dt`: the longest next step.
ty_status ty_tet_band_make(ty_tet_band* b, const ty_tet_motion* m, const ty_world* world,
                           double dt);
// The same after values of the motion's skin changed, and nothing else, since the last make: which
// nodes have to do with them, and which triangle is closest to a node, is known from then.
ty_status ty_tet_band_remake(ty_tet_band* b, const ty_tet_motion* m, const ty_world* world,
                             double dt);
void ty_tet_band_free(ty_tet_band* b);

// Points that the tables do not know, by number: those in no block, far from the free surface, and
// others.
typedef struct ty_band_missed {
    int n_far, n_near;
    int far[TY_SAMPLE_BATCH], near[TY_SAMPLE_BATCH];
} ty_band_missed;
// Values at n points, TY_SAMPLE_BATCH at most.
void ty_tet_band_sample(const ty_tet_band* b, int n, const double (*x)[3], ty_band_value* out,
                        ty_band_missed* missed);

// What a table is made from.
typedef struct ty_band_job {
    ty_tet_band* b;
    const ty_tet_motion* m;
    const ty_world* world;
    bool walled, moves;    // there are solids; they move:
    double clear;          // metres that a node must be away from them
    int layer;             // that is being made
    bool knows_nearest;    // b->nearest is filled
} ty_band_job;

// The place in its block of the n-th of a block's own nodes: all but the upper ones, which are
// those of the blocks above.
static inline int ty_band_own(int n)
{
    return (n / (TY_BAND_SIDE * TY_BAND_SIDE) * TY_BAND_ROW + n / TY_BAND_SIDE % TY_BAND_SIDE) *
               TY_BAND_ROW +
           n % TY_BAND_SIDE;
}
ty_vec3 ty_band_place(const ty_band_table* t, const int block[3], int own);
ty_band_value ty_band_pack(const double u[3], const double a[3]);
// Sets the upper nodes of all blocks.
void ty_band_close(ty_band_table* t);
// band_fine.c: fills the fine table's nodes.
void ty_band_fill_fine(ty_band_job* job);

#endif
