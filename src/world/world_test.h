// SPDX-License-Identifier: Apache-2.0
// What the tests of this room share.
#ifndef TY_WORLD_WORLD_TEST_H
#define TY_WORLD_WORLD_TEST_H

#include "core/hash.h"
#include "core/memory.h"
#include "test.h"
#include "world/world.h"

static inline double uniform(uint64_t* seed, double lo, double hi)
{
    return lo + (hi - lo) * ty_unit(ty_mix(++*seed));
}

static inline void set3(double out[3], double x, double y, double z)
{
    ty_store3(out, ty_vec(x, y, z));
}

// Room for one more at the end of an array of a def; the caller fills it.
#define grow(array, count)                                                                         \
    (*(void**)&(array) = ty_realloc((array), (size_t)(count), (size_t)(count) + 1,                 \
                                    sizeof *(array)),                                              \
     &(array)[(count)++])

static inline ty_world_def tank(void)
{
    ty_world_def def = ty_world_default();
    def.has_domain = true;
    set3(def.max, 2, 1, 1);
    return def;
}

static inline double sample1(ty_sampler s, double x, double y, double z)
{
    double at[1][3] = {{x, y, z}}, out;
    ty_sample(&s, 1, (const double(*)[3])at, &out);
    return out;
}

static inline ty_vec3 sample3(ty_sampler s, double x, double y, double z)
{
    double at[1][3] = {{x, y, z}}, out[3];
    ty_sample(&s, 1, (const double(*)[3])at, out);
    return ty_load3(out);
}

#define expect3(v, x, y, z) assert_near(ty_norm((v)-ty_vec((x), (y), (z))), 0.0, 1e-12)

#endif
