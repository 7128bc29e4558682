// SPDX-License-Identifier: Apache-2.0
// Orders of Gauss-Seidel sweeps that are parallel and do not depend on the number of threads: what
// has the same colour is done at the same time, colour after colour.
#ifndef TY_LINEAR_COLOUR_H
#define TY_LINEAR_COLOUR_H

#include "core/memory.h"
#include "linear/csr.h"

enum {
    TY_COLOUR_BLOCK = 512
};    // rows of a coloured block: their entries and unknowns stay in the cache

// Open type; arrays live from one set-up to the next.
typedef struct ty_colouring {
    int n_colours;
    TY_ARRAY(int) start;    // n_colours + 1: colour c has order[start[c] .. start[c + 1])
    TY_ARRAY(int) order;    // rows in the order of the sweep
    TY_ARRAY(int) rank;     // of each row: its colour, or with blocks its place in the order
    TY_ARRAY(int) scratch;
    TY_ARRAY(unsigned char) clash;
} ty_colouring;

// No two neighbours have the same colour; first fit. For short rows: a colour vectorises.
ty_status ty_colour_rows(ty_colouring* colouring, const ty_csr* a);
// No two neighbouring blocks of TY_COLOUR_BLOCK consecutive rows have the same colour; inside a
// block the rows come one after the other. For long rows: each block works on few unknowns. A
// colour begins at a block.
ty_status ty_colour_blocks(ty_colouring* colouring, const ty_csr* a);
void ty_colouring_free(ty_colouring* colouring);

#endif
