// SPDX-License-Identifier: Apache-2.0
// How much of every block of cells closed surfaces enclose, in the open: inside the domain and outside
// obstacles.
//
// A surface is cut at the sides of blocks. By the divergence theorem for (x, 0, 0) a piece stands for all
// that is before it in its row, with the sign of its area seen along x:
//
//       +-------+-------+--/----+
//       |   A   |   A   | p     |     p = integral of x over the area, from the block's side
//       +-------+-------+/------+
//
// so the row's sums from its end hold p and A when p is added to the piece's block and A - p to the one
// before. In blocks that an obstacle cuts it is not x that counts but how much is open before it, which a
// table tells; there are few such blocks in a row, and each is told of every piece that is not before it.
//
// Surfaces may be added and taken away; what two nearly equal ones enclose differs in few blocks.
#ifndef TY_TRACK_CONTOUR_BLOCKS_H
#define TY_TRACK_CONTOUR_BLOCKS_H

#include "mesh/tri_mesh.h"
#include "world/world.h"

enum {
    TY_SLC_BLOCK = 2,                        // cells
    TY_SLC_PLACES = 2 * TY_SLC_BLOCK + 1,    // along each axis of a table
    TY_SLC_TABLE = TY_SLC_PLACES * TY_SLC_PLACES * TY_SLC_PLACES
};

// Blocks of a row; none: first > last.
typedef struct ty_slc_row {
    int first, last;    // those with pieces in them
} ty_slc_row;

// A block that an obstacle reaches into: which of its row, which table; -1: nothing of it is open.
typedef struct ty_slc_cut_block {
    int at, table;
    double enclosed;
} ty_slc_cut_block;

// What is enclosed of a block, in blocks.
typedef struct ty_slc_amount {
    int block;
    double volume;
    bool beside_solid;    // an obstacle reaches into it
} ty_slc_amount;

// Open; zero-initialise, then ty_slc_blocks_free. Places are in blocks after `origin`.
typedef struct ty_slc_blocks {
    double origin[3], size, end[3];    // metres; end: of the domain, or of the box
    int n[3];
    float* sum;         // per block, not yet summed along rows
    ty_slc_row* row;    // n[1] * n[2]
    bool knows_solid;
    int64_t* first_cut;                // per row and one more
    TY_ARRAY(ty_slc_cut_block) cut;    // by rows, then along them
    TY_ARRAY(float) open;              // tables: blocks of open before each place along x
} ty_slc_blocks;

void ty_slc_blocks_free(ty_slc_blocks* b);
// Gives back scratch memory.
void ty_slc_blocks_rest(ty_slc_blocks* b);
// Empties it, for surfaces in the domain of that world, or, if it has none, in `box`: that is made larger, in
// steps, so that it seldom changes. Where obstacles are is found out unless knows_solid. *fits: false when
// there are too many blocks; then nothing else may be called.
ty_status ty_slc_blocks_begin(ty_slc_blocks* b, const ty_world* world, const ty_box* box,
                              double cell, bool* fits);
// Adds (weight 1) or takes away (-1) triangle v of vertices x. From one thread.
void ty_slc_blocks_add(ty_slc_blocks* b, const double (*x)[3], const int v[3], double weight);
// Whether an obstacle reaches into the block that x is in.
bool ty_slc_blocks_beside_solid(const ty_slc_blocks* b, const double x[3]);
// How open it is around x, 0 to 1; 0 outside the domain.
double ty_slc_blocks_openness(const ty_slc_blocks* b, const double x[3]);
// Calls visit for every block in which triangles were, and those between them in their row, of which more than
// `least` is enclosed, or less than -least.
ty_status ty_slc_blocks_visit(const ty_slc_blocks* b, double least,
                              ty_status (*visit)(void* ctx, const ty_slc_amount*), void* ctx);

#endif
