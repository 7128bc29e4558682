// SPDX-License-Identifier: Apache-2.0
// Sources that pour into air. A source covers a part of the cells along its rim. Under water the
// rest of such a cell is liquid that the source pushes along, and open fractions say how much comes
// out. In air there is none: liquid leaves the covered part of a face with the source's velocity
// and nothing passes the rest. A fraction would spread the source's flux over the whole cell, and a
// jet would leave it with a slow rim, or a fast core where the lattice's flux is scaled to the
// world's: round jets of 6 cells were 11 % short.
//
// So a face that a source closes in part and whose open corners are dry counts as closed by the
// source; and such a source's velocity holds as it is, for the surface's own cross-section makes
// the rate. A cell that it reaches into and that is dry otherwise holds its liquid, which moves
// with it: nothing is pushed out (a source dragged through the air left 7 % too much behind).
#include "solve/grid/gridflow.h"

// Cells below the surface: a jet's surface goes along its source's rim, to within this.
static const double WET = 0.1;

// Whether those of the nodes that are in no solid and no source are dry, and there are any.
static bool are_dry(const ty_gridflow* gf, const ty_liquid* liquid, int n_nodes, const int* node)
{
    double x[8][3], phi[8];
    int n = 0;
    for (int k = 0; k < n_nodes; ++k) {
        if (!(gf->solid[node[k]] > 0.0)) continue;
        ty_cell_center(&gf->cells, node[k], x[n]);
        for (int axis = 0; axis < 3; ++axis) x[n][axis] -= 0.5 * gf->cells.h;
        ++n;
    }
    ty_sample(&liquid->distance, n, (const double(*)[3])x, phi);
    for (int k = 0; k < n; ++k)
        if (phi[k] <= -WET * gf->cells.h) return false;
    return n > 0;
}

static bool face_is_dry(const ty_gridflow* gf, const ty_liquid* liquid, int axis, int f)
{
    int b = gf->cells.stride[(axis + 1) % 3], c = gf->cells.stride[(axis + 2) % 3];
    const int corner[4] = {f, f + b, f + b + c, f + c};
    return are_dry(gf, liquid, 4, corner);
}

static bool cell_is_dry(const ty_gridflow* gf, const ty_liquid* liquid, int cell)
{
    const int* s = gf->cells.stride;
    int corner[8];
    for (int k = 0; k < 8; ++k)
        corner[k] = cell + (k & 1) * s[0] + (k >> 1 & 1) * s[1] + (k >> 2) * s[2];
    return are_dry(gf, liquid, 8, corner);
}

static void close_faces(ty_gridflow* gf, const ty_liquid* liquid, int axis)
{
    for (int64_t k = 0; k < gf->cut[axis].face.n; ++k) {
        int f = gf->cut[axis].face.at[k];
        double slip = gf->cut[axis].slip.at[k], open = gf->open[axis][f];
        if (slip >= 0.0 || open <= 0.0 || open >= 1.0) continue;
        double* emission = gf->emission.at + 2 * (int)(-1.0 - slip);
        if (emission[1] > 0.0 || !face_is_dry(gf, liquid, axis, f))
            continue;    // a still source has only its area
        gf->open[axis][f] = 0.0;
        emission[0] = 1.0;
    }
}

void ty_gridflow_close_rims(ty_gridflow* gf, const ty_liquid* liquid)
{
    if (!gf->has_spouts) return;
    for (int axis = 0; axis < 3; ++axis) close_faces(gf, liquid, axis);
    for (int k = gf->lo[2]; k < gf->hi[2]; ++k)
        for (int j = gf->lo[1]; j < gf->hi[1]; ++j)
            for (int i = gf->lo[0]; i < gf->hi[0]; ++i) {
                int cell = ty_cell_index(&gf->cells, i, j, k);
                if (gf->spout[cell] && cell_is_dry(gf, liquid, cell)) gf->spout[cell] = 0;
            }
}
