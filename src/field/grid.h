// SPDX-License-Identifier: Apache-2.0
// Uniform grids: a box of cubic cells, values at cell centres, velocities at face centres (MAC).
//
//        +-----v-----+-----v-----+          o   centre of cell (i, j, k): origin + cell * (i + 1/2, ...)
//        |           |           |          u,v face centres: each component sits on a lattice of its
//        u     o     u     o     u              own, ty_grid_face(grid, axis): the same grid shifted by
//        |           |           |              half a cell along its axis, with one cell more there
//        +-----v-----+-----v-----+
//     origin
//
// A lattice of face centres is a ty_grid too, so every function below serves centres and faces.
// Values are plain double arrays of ty_grid_size() entries, x fastest. Everything here is
// re-entrant. Outside the box of the outermost centres values are continued constantly.
#ifndef TY_FIELD_GRID_H
#define TY_FIELD_GRID_H

#include <stdint.h>

#include "core/memory.h"
#include "core/vec.h"

// Value.
typedef struct ty_grid {
    double origin[3];    // corner of cell (0, 0, 0), metres
    double cell;         // metres
    int n[3];            // cells per axis, at least 1
} ty_grid;

static inline int64_t ty_grid_size(const ty_grid* g)
{
    return (int64_t)g->n[0] * g->n[1] * g->n[2];
}
// Distance in memory between neighbours along an axis.
static inline int64_t ty_grid_stride(const ty_grid* g, int axis)
{
    return axis == 0 ? 1 : axis == 1 ? g->n[0] : (int64_t)g->n[0] * g->n[1];
}
static inline int64_t ty_grid_index(const ty_grid* g, int i, int j, int k)
{
    return i + g->n[0] * (j + (int64_t)g->n[1] * k);
}
static inline void ty_grid_coords(const ty_grid* g, int64_t index, int ijk[3])
{
    int64_t row = index / g->n[0];
    ijk[0] = (int)(index - row * g->n[0]);
    ijk[1] = (int)(row % g->n[1]);
    ijk[2] = (int)(row / g->n[1]);
}
static inline void ty_grid_cell_center(const ty_grid* g, int i, int j, int k, double out[3])
{
    out[0] = g->origin[0] + g->cell * (i + 0.5);
    out[1] = g->origin[1] + g->cell * (j + 0.5);
    out[2] = g->origin[2] + g->cell * (k + 0.5);
}

// Cells of size `cell` from lo to at least hi (a box that is a whole number of cells up to rounding
// is met exactly), plus `margin` cells on every side.
ty_grid ty_grid_cover(const double lo[3], const double hi[3], double cell, int margin);
// The lattice of the face centres normal to `axis`: face i lies between cells i - 1 and i.
ty_grid ty_grid_face(const ty_grid* g, int axis);

// Interpolates values at n points.
// Trilinear.
void ty_grid_linear(const ty_grid* g, const double* values, int n, const double (*x)[3],
                    double* out);
// Tricubic (Catmull-Rom): third order, exact for quadratics inside and for linear functions up to
// the border; overshoots at kinks.
void ty_grid_cubic(const ty_grid* g, const double* values, int n, const double (*x)[3],
                   double* out);
// Tricubic with slopes zeroed where their sign differs from the difference's [Fedkiw2001]: no
// overshoot.
void ty_grid_cubic_limited(const ty_grid* g, const double* values, int n, const double (*x)[3],
                           double* out);
// Trilinear, with the smallest and largest of the eight values used: what a MacCormack limiter
// needs.
void ty_grid_linear_bounds(const ty_grid* g, const double* values, int n, const double (*x)[3],
                           double* out, double* lo, double* hi);
// Gradient by central differences over one cell of the trilinear interpolant: exact for linear
// functions up to half a cell from the border; one-sided beyond.
void ty_grid_gradient(const ty_grid* g, const double* values, int n, const double (*x)[3],
                      double (*out)[3]);

// A staggered vector field. Open; owns its arrays.
typedef struct ty_mac {
    ty_grid grid;          // the cells
    ty_grid lattice[3];    // ty_grid_face(&grid, axis)
    double* face[3];       // component `axis` on lattice[axis]
} ty_mac;

// Zero everywhere. On failure nothing is left.
ty_status ty_mac_create(ty_mac* mac, const ty_grid* grid);
void ty_mac_free(ty_mac* mac);
// All three components, each trilinear (cubic) on its own lattice.
void ty_mac_linear(const ty_mac* mac, int n, const double (*x)[3], double (*out)[3]);
void ty_mac_cubic(const ty_mac* mac, int n, const double (*x)[3], double (*out)[3]);

#endif
