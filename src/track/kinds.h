// SPDX-License-Identifier: Apache-2.0
// The trackers there are; each is defined in its own folder and is a row of the table in kinds.c.
#ifndef TY_TRACK_KINDS_H
#define TY_TRACK_KINDS_H

#include "track/track.h"

extern const ty_tracker_kind ty_tracker_levelset;
extern const ty_tracker_kind ty_tracker_particle;
extern const ty_tracker_kind ty_tracker_contour;

#endif
