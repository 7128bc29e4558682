// SPDX-License-Identifier: Apache-2.0
// Sparse matrices by compressed rows.
//
//   row i:  col[k], val[k]  for  row_start[i] <= k < row_start[i + 1],  columns rising
//
// Open type: zero-initialise, fill, read. Owns its arrays; building anew reuses them, so a matrix
// that is rebuilt every step stops allocating once it has seen its largest size. Free to read from
// any thread. Entries are counted in 32 bits: up to 2^31 - 1 of them (25 GB), which reserve refuses
// to exceed.
#ifndef TY_LINEAR_CSR_H
#define TY_LINEAR_CSR_H

#include <stdint.h>

#include "core/status.h"

typedef struct ty_csr {
    int n, n_cols;     // rows and columns
    int* row_start;    // n + 1
    int* col;
    double* val;
    int64_t row_capacity, entry_capacity;
} ty_csr;

static inline int64_t ty_csr_entries(const ty_csr* a)
{
    return a->row_start ? a->row_start[a->n] : 0;
}

// Building, the direct way: reserve, then write row_start[0..n], col, val. Contents are undefined
// after reserve; `entries` is an upper bound.
ty_status ty_csr_reserve(ty_csr* a, int n, int n_cols, int64_t entries);

// Building from entries in any order; equal places are summed in the order given. Serial.
typedef struct ty_entry {
    int row, col;
    double val;
} ty_entry;
ty_status ty_csr_from_entries(ty_csr* a, int n, int n_cols, int64_t n_entries,
                              const ty_entry* entries);

// Brings the columns of every row into rising order (for matrices filled in another order).
void ty_csr_sort(ty_csr* a);
ty_status ty_csr_copy(ty_csr* to, const ty_csr* from);
// `to` must not be `a`.
ty_status ty_csr_transpose(ty_csr* to, const ty_csr* a);
void ty_csr_free(ty_csr* a);

// y = A x; r = b - A x. Vectors do not overlap, except r may be b.
void ty_csr_apply(const ty_csr* a, const double* x, double* y);
void ty_csr_residual(const ty_csr* a, const double* x, const double* b, double* r);
// The entry (row, col), 0 where none is stored.
double ty_csr_get(const ty_csr* a, int row, int col);

// Row starts rise from 0, columns are in range and rise strictly, values are finite.
ty_status ty_csr_validate(const ty_csr* a);
// Also square, with a symmetric pattern and |a_ij - a_ji| <= tolerance * sqrt(a_ii a_jj), a_ii >=
// 0.
ty_status ty_csr_validate_symmetric(const ty_csr* a, double tolerance);

#endif
