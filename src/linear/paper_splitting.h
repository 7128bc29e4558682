// SPDX-License-Identifier: Apache-2.0
// The greedy coarse/fine labelling of [Chentanez2007] section 3.5, steps 1 to 6, and its
// prolongation.
#ifndef TY_LINEAR_PAPER_SPLITTING_H
#define TY_LINEAR_PAPER_SPLITTING_H

#include "linear/sparse_float.h"

// Open type; arrays live from one set-up to the next.
typedef struct ty_splitting {
    int n_coarse;
    TY_ARRAY(int) coarse;            // of each row: its coarse unknown, -1 when fine
    TY_ARRAY(int) count;             // unlabelled neighbours
    TY_ARRAY(int) next, previous;    // bucket queue: doubly linked lists of equal count
    TY_ARRAY(int) bucket;            // first of each count, -1 = none
} ty_splitting;

// Every fine row has a coarse neighbour. Departs: the start is the first row instead of a random
// one, so that results repeat; rows without neighbours get no coarse unknown, the smoother solves
// them.
ty_status ty_split(ty_splitting* s, const ty_csr* a);
// Identity on coarse rows; a fine row is the average of its coarse neighbours.
ty_status ty_split_prolongation(const ty_splitting* s, const ty_csr* a, ty_csrf* p);
void ty_splitting_free(ty_splitting* s);

#endif
