// SPDX-License-Identifier: Apache-2.0
// Colours of the unknowns such that no two neighbours have the same: a Gauss-Seidel sweep colour by
// colour is parallel, vectorises, and does not depend on the number of threads.
#ifndef TY_LINEAR_COLOUR_H
#define TY_LINEAR_COLOUR_H

#include "core/memory.h"
#include "linear/csr.h"

// Open type; arrays live from one set-up to the next.
typedef struct ty_colouring {
    int n_colours;
    TY_ARRAY(int) start;    // n_colours + 1: colour c has order[start[c] .. start[c + 1])
    TY_ARRAY(int) order;    // rows by colour, rising within a colour
    TY_ARRAY(int) colour;   // of each row
    TY_ARRAY(unsigned char) clash;
} ty_colouring;

// First fit: the smallest colour that no neighbour has.
ty_status ty_colour(ty_colouring* colouring, const ty_csr* a);
void ty_colouring_free(ty_colouring* colouring);

#endif
