// SPDX-License-Identifier: Apache-2.0
// The coarse matrix R A P, with R the transpose of P.
#ifndef TY_LINEAR_GALERKIN_H
#define TY_LINEAR_GALERKIN_H

#include "linear/sparse_float.h"

// Scratch of the products of one hierarchy. Open type.
typedef struct ty_galerkin {
    struct ty_galerkin_worker* worker;
    int n_workers;
    TY_ARRAY(int) owner;        // of each block of rows of the product: the worker that made it
    TY_ARRAY(int64_t) piece;    // and where it lies in that worker's buffer
} ty_galerkin;

// Columns of a row are in the order of their first appearance, the same for any number of threads.
ty_status ty_galerkin_product(ty_galerkin* g, ty_csr* coarse, const ty_csrf* r, const ty_csr* a, const ty_csrf* p);
void ty_galerkin_free(ty_galerkin* g);

#endif
