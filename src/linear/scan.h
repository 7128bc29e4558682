// SPDX-License-Identifier: Apache-2.0
// Running sums and selections of integers, in parallel; integers, so the result does not depend on
// blocks.
#ifndef TY_LINEAR_SCAN_H
#define TY_LINEAR_SCAN_H

// start[i + 1] holds the length of row i; afterwards start[i] is where row i starts. Returns the
// sum.
int ty_scan_rows(int n, int* start);

// Writes the rising places k in 0..n with flag[order[k]] != 0 (flag[k] when `order` is NULL) to
// `out`, which has room for n. Returns how many.
int ty_select(int n, const unsigned char* flag, const int* order, int* out);

#endif
