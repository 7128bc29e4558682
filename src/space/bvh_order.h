// SPDX-License-Identifier: Apache-2.0
// Points in order of place, so that neighbours follow each other.
#ifndef TY_SPACE_BVH_ORDER_H
#define TY_SPACE_BVH_ORDER_H

#include <stdint.h>

enum { TY_BVH_ORDER_MOST = 4096 };

// order: the n points by Morton code within their own box; at most TY_BVH_ORDER_MOST.
void ty_bvh_order(int n, const double (*x)[3], uint16_t* order);
// The same, coarser, for any number of points that are listed without order; ty_free it. NULL when
// they follow each other already, or without memory.
int* ty_bvh_order_scattered(int n, const double (*x)[3]);

#endif
