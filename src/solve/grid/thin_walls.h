// SPDX-License-Identifier: Apache-2.0
// Walls that no node sees. A wall thinner than a cell passes between nodes and would leave all
// faces open; one that is hardly thicker leaves cells with openings on both sides of it. Both kinds
// of cell are closed: inside the solve the wall is as thick as they are.
#ifndef TY_SOLVE_GRID_THIN_WALLS_H
#define TY_SOLVE_GRID_THIN_WALLS_H

#include "solve/grid/gridflow.h"

// Closes (open = 0) the faces of every cell of [lo, hi) whose open corners are not connected along
// open edges. In a cell cut by one plane they always are. Uses gf->row and gf->mark[0] as scratch.
ty_status ty_close_thin_walls(ty_gridflow* gf, const int lo[3], const int hi[3]);

#endif
