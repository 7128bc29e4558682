// SPDX-License-Identifier: Apache-2.0
#include "world/world_state.h"

bool ty_world_has_forces(const ty_world* w)
{
    (void)w;
    return false;
}

ty_status ty_world_forces(const ty_world* w, int n, const double (*x)[3], const double (*v)[3],
                          double (*acceleration)[3])
{
    (void)w, (void)n, (void)x, (void)v, (void)acceleration;
    return ty_ok();
}
