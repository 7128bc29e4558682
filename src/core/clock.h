// SPDX-License-Identifier: Apache-2.0
#ifndef TY_CORE_CLOCK_H
#define TY_CORE_CLOCK_H

#include <time.h>

// Wall-clock seconds from some fixed moment.
static inline double ty_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
