// SPDX-License-Identifier: Apache-2.0
// Corners of an octree's leaves.
#ifndef TY_SPACE_OCTREE_CORNERS_H
#define TY_SPACE_OCTREE_CORNERS_H

#include "space/octree.h"

// Adds the corners of all leaves to `corners`, which is to be finished; false when out of memory.
bool ty_octree_insert_corners(ty_octree* t);

#endif
