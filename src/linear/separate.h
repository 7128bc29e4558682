// SPDX-License-Identifier: Apache-2.0
// Keeps the pieces of a system apart on the first coarse level.
//
// Bodies of liquid that touch at a vertex are not connected through faces, but share that vertex as
// a coarse unknown: a singular piece would then be tied to its neighbour there and converge slowly.
// Such a coarse unknown is doubled, one for each piece.
#ifndef TY_LINEAR_SEPARATE_H
#define TY_LINEAR_SEPARATE_H

#include "core/memory.h"
#include "linear/csr.h"

// Open type; lives across set-ups.
typedef struct ty_separation {
    ty_csr p;               // the separated prolongation, when one was needed
    TY_ARRAY(int) label;    // of each coarse unknown: the piece it belongs to, -1 = none yet
    TY_ARRAY(int) twin;     // next coarse unknown at the same place, -1 = none
} ty_separation;

// *out is `p` itself, or s->p where columns had to be doubled. `label` gives the piece of each row.
ty_status ty_separate(ty_separation* s, const ty_csr* p, const int* label, const ty_csr** out);
void ty_separation_free(ty_separation* s);

#endif
