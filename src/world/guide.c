// SPDX-License-Identifier: Apache-2.0
#include "world/force_kinds.h"

ty_status ty_guide_create(void** self, const ty_force_def* def, double cell)
{
    (void)cell;
    *self = NULL;
    return ty_fail_at(TY_NOT_YET, def->place.file, def->place.line, def->place.column, "guides are not there yet");
}

void ty_guide_add(const void* self, const ty_force_def* def, const ty_force_points* at, double (*a)[3])
{
    (void)self, (void)def, (void)at, (void)a;
}

void ty_guide_destroy(void* self) { ty_free(self); }
