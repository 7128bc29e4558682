// SPDX-License-Identifier: Apache-2.0
#ifndef TY_TRACK_CUT_RIM_H
#define TY_TRACK_CUT_RIM_H

#include "track/cut_tree.h"

// Fills `blocks` and `rim`, unless they are known.
ty_status ty_cut_rim_find(ty_cut_tree* t, const ty_cut_part* p);

#endif
