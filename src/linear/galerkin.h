// SPDX-License-Identifier: Apache-2.0
// The coarse matrix R A P, with R the transpose of P.
#ifndef TY_LINEAR_GALERKIN_H
#define TY_LINEAR_GALERKIN_H

#include "linear/sparse_float.h"

enum { TY_GALERKIN_BLOCKS = 16 };    // made before they are copied to their places

// Scratch of the products of one hierarchy. Open type.
typedef struct ty_galerkin {
    struct ty_galerkin_worker* worker;
    int n_workers;
    int owner
        [TY_GALERKIN_BLOCKS];    // of each block of rows of the product: the worker that made it
    int64_t piece[TY_GALERKIN_BLOCKS];    // and where it lies in that worker's buffer
} ty_galerkin;

// Columns of a row are in the order of their first appearance, the same for any number of threads.
ty_status ty_galerkin_product(ty_galerkin* g, ty_csr* coarse, const ty_csrf* r, const ty_csr* a,
                              const ty_csrf* p);
void ty_galerkin_free(ty_galerkin* g);

#endif
