// SPDX-License-Identifier: Apache-2.0
// An octree's octants and corners to an archive and back; values at corners and centres are not
// kept.
#ifndef TY_SPACE_OCTREE_ARCHIVE_H
#define TY_SPACE_OCTREE_ARCHIVE_H

#include "core/archive.h"
#include "space/octree.h"

ty_status ty_octree_archive(ty_octree* t, ty_archive* ar);

#endif
