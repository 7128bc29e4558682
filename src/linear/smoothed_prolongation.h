// SPDX-License-Identifier: Apache-2.0
// Prolongation by smoothed aggregation [Vanek1996] section 5.1:
//
//   P = (I - omega D^-1 A_F) T
//
// T has a one for each row in the column of its aggregate. A_F is A without its weak entries, which
// are added to the diagonal D instead, so that A_F has A's row sums and P keeps constants.
//
// Departs: omega is a constant (in [Vanek1996] 4/3 over an estimate of the largest eigenvalue of
// D^-1 A_F, which is close to 2 for all our matrices, so about 2/3). At most TY_PROLONGATION_ROW
// entries of a row are kept, the largest, and scaled to the row's old sum: shorter rows on all
// coarser levels, hardly more iterations.
#ifndef TY_LINEAR_SMOOTHED_PROLONGATION_H
#define TY_LINEAR_SMOOTHED_PROLONGATION_H

#include "linear/aggregate.h"
#include "linear/sparse_float.h"

enum { TY_PROLONGATION_ROW = 4 };

// `staging` is scratch.
ty_status ty_smoothed_prolongation(ty_csrf* p, ty_csrf* staging, const ty_csr* a,
                                   const double* diagonal, const ty_aggregates* agg, double theta);

#endif
