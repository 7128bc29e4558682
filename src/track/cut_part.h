// SPDX-License-Identifier: Apache-2.0
// The lattice of a cut and what is cut on it. Internal to track/cut.c and track/cut_tree.c.
//
//     node  0   1       2       3   4
//           |---o---+---o---+---o---|     cells of size `cell`, the last one as long as the domain has it
//
// The contour is made in lattice coordinates s (nodes are the integers) and mapped to space
// piecewise linearly: node 0 and the last one lie on the domain's sides, the others at the centres
// of cells, where a tracker has its values.
#ifndef TY_TRACK_CUT_PART_H
#define TY_TRACK_CUT_PART_H

#include "core/vec.h"
#include "world/exchange.h"
#include "world/world.h"

// Of an edge. The contour's own, a thousandth, would make the volume jump by that
#define TY_CUT_LEAST 1e-6
// Cells from obstacles beyond which they touch no edge of the lattice that the surface cuts
#define TY_CUT_BESIDE 3.0

// What a surface is cut from, and where. Value; borrows.
typedef struct ty_cut_part {
    ty_sampler distance;
    ty_sampler fattening, fattened;    // world/exchange.h
    const ty_world* world;
    bool has_obstacles;
    double lo[3], hi[3], cell;    // the first and the last node of the whole lattice
    int whole[3];                 // nodes of the whole lattice
    int first[3], n[3];           // the nodes that are contoured
    const double*
        centers;    // the liquid's values at the whole lattice's nodes, except those on the sides; or NULL
    int64_t stride[3];    // of centers, which is that of node 0
    int refine;           // steps to the zeros along edges
} ty_cut_part;

static inline double ty_cut_node(const ty_cut_part* p, int axis, int i)
{
    if (i <= 0) return p->lo[axis];
    return i >= p->whole[axis] - 1 ? p->hi[axis] : p->lo[axis] + p->cell * (i - 0.5);
}

static inline void ty_cut_to_space(const ty_cut_part* p, const double s[3], double x[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        double at = ty_clamp(s[axis], 0.0, p->whole[axis] - 1);
        int i = (int)at;
        double a = ty_cut_node(p, axis, i), t = at - i;
        x[axis] = t > 0.0 ? a + t * (ty_cut_node(p, axis, i + 1) - a) : a;
    }
}

// The liquid's distance, fattened, at up to TY_SAMPLE_BATCH points.
void ty_cut_distance(const ty_cut_part* p, int n, const double (*x)[3], double* out);
// max(liquid, -obstacles) at lattice coordinates: what vertices are refined on. Borrows.
ty_sampler ty_cut_function(const ty_cut_part* p);
// A vertex of fattened liquid goes back to where the liquid ends, straight down its distance; those
// on obstacles stay.
void ty_cut_draw_back(const ty_cut_part* p, double x[3]);

#endif
