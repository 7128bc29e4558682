// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// A pool with a ball and a column standing in it stays still, whatever the surface's direction and
// the pressure's form.
#include <string.h>

#include "pair.h"

static ty_sim_def pool_def(const double g[3], bool reduced)
{
    const double center[3] = {0, 0, 0};
    ty_sim_def def = pair_def("levelset", "grid", 16, center, 0.1);
    def.solve.cfl = 2.0;
    def.solve.reduced_pressure = reduced;
    make_pool(&def, g);
    return def;
}

static void check(const double g[3], bool reduced)
{
    ty_sim_def def = pool_def(g, reduced);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    run_frames(&sim, 100);
    assert_near(sim.stats.max_speed, 0.0, 1e-6);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void level_pool_stays_still(void** unused)
{
    (void)unused;
    const double g[3] = {0, -9.81, 0};
    check(g, true);
    check(g, false);
}

static void tilted_pool_stays_still(void** unused)
{
    (void)unused;
    const double g[3] = {3.1, -9.0, 1.7};
    check(g, true);
    check(g, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_pool_stays_still),
        cmocka_unit_test(tilted_pool_stays_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
