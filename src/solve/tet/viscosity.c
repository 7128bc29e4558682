// SPDX-License-Identifier: Apache-2.0
#include "solve/tet/motion.h"

ty_status ty_tetflow_viscosity(ty_tetflow* tf, double dt, ty_solve_stats* stats)
{
    (void)tf, (void)dt, (void)stats;
    return ty_ok();
}
