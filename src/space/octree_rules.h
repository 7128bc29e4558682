// SPDX-License-Identifier: Apache-2.0
// Where signs ask for finer octants. Internal to the octree.
#ifndef TY_SPACE_OCTREE_RULES_H
#define TY_SPACE_OCTREE_RULES_H

#include "space/octree.h"

static inline int ty_sign(double f) { return (f > 0.0) - (f < 0.0); }

// Inserts into the `split` sets what the rule asks for and the tree does not have yet; sets *more
// when there was any. Corners and centres must hold their values.
ty_status ty_octree_apply_rules(ty_octree* t, ty_octree_rule rule, bool* more);

// The coarse leaf's corners, centre and those midpoints of its edges and faces that are corners of
// other leaves all lie strictly on one side.
bool ty_octree_leaf_is_pure(const ty_octree* t, ty_lattice_cursor* corner, int level, int id,
                            const int x[3]);

#endif
