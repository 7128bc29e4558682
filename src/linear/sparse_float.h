// SPDX-License-Identifier: Apache-2.0
// Matrices in single precision, for the multigrid cycle: prolongations, restrictions, smoothers. A
// cycle is a preconditioner; single precision halves its memory traffic and costs no iterations.
#ifndef TY_LINEAR_SPARSE_FLOAT_H
#define TY_LINEAR_SPARSE_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "linear/csr.h"

// Compressed rows as in csr.h, columns in any order. Open type; zero-initialise.
typedef struct ty_csrf {
    int n, n_cols;
    TY_ARRAY(int) start;    // n + 1
    TY_ARRAY(int) col;
    TY_ARRAY(float) val;
} ty_csrf;

// Room for n rows and `entries` entries; old contents are lost.
bool ty_csrf_reserve(ty_csrf* a, int n, int n_cols, int64_t entries);
void ty_csrf_free(ty_csrf* a);
bool ty_csrf_from_csr(ty_csrf* to, const ty_csr* from);
// Rows of `to` have rising columns.
bool ty_csrf_transpose(ty_csrf* to, const ty_csrf* a);
// y = A x, y += A x.
void ty_csrf_apply(const ty_csrf* a, const float* x, float* y);
void ty_csrf_apply_add(const ty_csrf* a, const float* x, float* y);

// An array of `count` elements whose old contents are not wanted.
#define ty_array_fresh(a, count) ((a)->n = 0, ty_array_resize((a), (count)))

#endif
