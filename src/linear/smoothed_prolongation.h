// SPDX-License-Identifier: Apache-2.0
// Prolongation by smoothed aggregation [Vanek1996] section 5.1:
//
//   P = (I - omega D^-1 A_F) T,   omega = (4/3) / lambda
//
// T has a one for each row in the column of its aggregate. A_F is A without its weak entries, which are
// added to the diagonal D instead, so that A_F has A's row sums and P keeps constants. lambda bounds the
// largest eigenvalue of D^-1 A_F: the largest row sum of magnitudes, 2 for an M-matrix.
#ifndef TY_LINEAR_SMOOTHED_PROLONGATION_H
#define TY_LINEAR_SMOOTHED_PROLONGATION_H

#include "linear/aggregate.h"
#include "linear/sparse_float.h"

ty_status ty_smoothed_prolongation(ty_csrf* p, const ty_csr* a, const double* diagonal,
                                   const ty_aggregates* agg, double theta);

#endif
