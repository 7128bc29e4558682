// SPDX-License-Identifier: Apache-2.0
// Where the liquid's surface meets obstacles.
//
// A contour of max(liquid, -obstacles) has vertices on lattice edges only, so it bevels the corner
// between the two off: up to half a cell wide and a cell high, and all of it comes back when the
// surface passes the next node. In a U-tube 4 cells wide the volume jumped so by 0.3 %, and a rise
// of the level counted for an eighth less than it was. Here every edge of the surface that leads
// from an obstacle to the liquid's own surface gets a vertex where they meet.
//
//        air  |             air  |
//      S------.             S----P
//      |       \            |    |        S  on the liquid's surface      W  on the obstacle
//      |        W           |    W
#ifndef TY_TRACK_CREASE_H
#define TY_TRACK_CREASE_H

#include "geometry/sampler.h"
#include "mesh/tri_mesh.h"

// A vertex of the crease, and the edge that it splits, low < high.
typedef struct ty_crease_edge {
    int low, high;
    int vertex;    // -1: the edge stays whole
    double x[3];
} ty_crease_edge;

// Scratch memory, kept across calls. Open type; zero-initialise, then ty_crease_free.
typedef struct ty_crease {
    TY_ARRAY(uint8_t) kind;    // per vertex
    TY_ARRAY(ty_crease_edge) edge;
    TY_ARRAY(int) parent;    // of the new vertices, which come last: the end on the obstacle
} ty_crease;

typedef struct ty_crease_def {
    ty_sampler liquid, obstacles;    // distances, metres
    double cell, lo[3], hi[3];       // the domain: edges in a side of it are split within that side
    const uint8_t* far;              // per vertex: no obstacle near; NULL: not known
} ty_crease_def;

// The mesh stays closed. Same bits for any number of threads.
ty_status ty_crease_split(ty_crease* crease, const ty_crease_def* def, ty_tri_mesh* mesh);
void ty_crease_free(ty_crease* crease);

#endif
