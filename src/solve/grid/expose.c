// SPDX-License-Identifier: Apache-2.0
// The velocity that moves the surface.
//
// Gravity turns the surface's place into pressure, pressure into velocity, velocity into the surface's place. The pressure
// is given where the surface crosses the line between a liquid centre i and an air centre j, and drives the one face f
// between them. The loop is stable when the crossing moves with that face: then what gravity gives to the faces is what the
// surface takes from its height. A tracker that samples at centres moves the crossing by
//     (1 - theta) v_i + theta v_j = (1 - theta)/2 u_below + u_f/2 + theta/2 u_above,
// so u_f has to stand on both sides of itself. Above it does, by continuation; below we put it there, in a copy that only
// trackers see. Ripples of 0.001 cells on a tilted pool still grow, from an
// rms speed of 1.1e-4 to 1.3e-3 m/s in 12 seconds at 16 cells.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

// The face below crossing face f, and 0 when there is none: on the other side of its liquid cell, inside the liquid or on a
// source (a source one cell below the surface of a pool delivered 5 to 20 % too much with its own velocity there).
static int face_below(const ty_gridflow* gf, int axis, int f)
{
    int s = gf->cells.stride[axis];
    bool low = gf->state[f - s] == TY_CELL_LIQUID, high = gf->state[f] == TY_CELL_LIQUID;
    if (low == high) return 0;
    int below = low ? f - s : f + s;
    bool inside = gf->state[below] == TY_CELL_LIQUID && gf->state[below - s] == TY_CELL_LIQUID;
    // A known face that is closed is a source's. One that moves leaves its liquid behind at rest and keeps its own.
    bool source = gf->has_spouts && !gf->drift[axis] && gf->open[axis][below] == 0.0;
    return (inside || source) && gf->mark[axis][below] == 1 ? below : 0;
}

static void expose(const ty_gridflow* gf, int axis, const double* u, double* seen)
{
    memcpy(seen, u, sizeof(double) * (size_t)gf->cells.count);
    for (int64_t k = 0; k < gf->face[axis].n; ++k) {
        int f = gf->face[axis].at[k], below = face_below(gf, axis, f);
        if (!below) continue;
        // Two cells of liquid share the face between them.
        int other = 2 * below - f;
        bool shared = other != f && gf->mark[axis][other] == 1 && face_below(gf, axis, other) == below;
        seen[below] = shared ? 0.5 * (u[f] + u[other]) : u[f];
    }
}

void ty_gridflow_expose(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis) {
        expose(gf, axis, gf->u[axis], gf->seen[axis]);
        if (gf->carries) expose(gf, axis, gf->acc[axis], gf->seen_acc[axis]);
    }
}
