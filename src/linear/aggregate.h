// SPDX-License-Identifier: Apache-2.0
// Aggregates: groups of strongly connected unknowns that become one unknown of the next level
// [Vanek1996] section 5.1.
#ifndef TY_LINEAR_AGGREGATE_H
#define TY_LINEAR_AGGREGATE_H

#include <math.h>

#include "core/memory.h"
#include "linear/csr.h"

// Strong: a_ij^2 > theta^2 a_ii a_jj. Weak couplings carry no smooth error: grouping across them,
// or interpolating from them, spoils the coarse space.
static inline bool ty_is_strong(double value, double theta2_diagonal_i, double diagonal_j)
{
    return value * value > theta2_diagonal_i * diagonal_j;
}

// Open type; arrays live from one set-up to the next.
typedef struct ty_aggregates {
    int n;               // number of aggregates
    TY_ARRAY(int) of;    // of each row; negative: none, the row is left to the smoother
    TY_ARRAY(int) scratch;
    TY_ARRAY(int) block_start;
} ty_aggregates;

// Groups the rows. `diagonal` are the matrix's. Aggregates are numbered in the order of their
// roots; the few that are made of rows left over come last. Rows without strong neighbours are left
// to the smoother when they are dominated by their diagonal (which includes rows without
// neighbours), else they join their strongest neighbour.
//
// Departs from [Vanek1996]: roots are chosen within blocks of consecutive rows, so that blocks run
// in parallel with the same result for any number of threads.
//
// `wide` aggregates also reach the neighbours' neighbours: for short rows (two-point: 4
// neighbours), where the next level would else be a fifth of the size with five times the entries
// per row.
ty_status ty_aggregate(ty_aggregates* agg, const ty_csr* a, const double* diagonal, double theta,
                       bool wide);
void ty_aggregates_free(ty_aggregates* agg);

#endif
