// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// A pool with a ball and a column standing in it stays still, whatever the surface's direction and the pressure's form.
#include <string.h>

#include "pair.h"

static void set3(double out[3], double x, double y, double z) { out[0] = x, out[1] = y, out[2] = z; }

static ty_sim_def pool_def(const double g[3], bool reduced)
{
    const double center[3] = {0, 0, 0};
    ty_sim_def def = pair_def("levelset", "grid", 16, center, 0.1);
    def.solve.cfl = 2.0;
    def.solve.reduced_pressure = reduced;
    def.world.wall[TY_TOP].closed = false;
    def.world.gravity = ty_varying_vector(g[0], g[1], g[2]);
    ty_liquid_def* pool = def.world.liquids;
    pool->shape = ty_shape_default(TY_SHAPE_PLANE);
    pool->velocity = ty_varying_vector(0, 0, 0);
    set3(pool->shape.point, 0.5, 0.53, 0.5);
    ty_store3(pool->shape.normal, ty_normalize(-ty_load3(g)));
    def.world.n_obstacles = 2;
    def.world.obstacles = ty_alloc(2, sizeof *def.world.obstacles);
    def.world.obstacles[0] = ty_obstacle_default(TY_SHAPE_SPHERE);
    set3(def.world.obstacles[0].shape.center, 0.45, 0.4, 0.52);
    def.world.obstacles[0].shape.radius = 0.23;
    def.world.obstacles[1] = ty_obstacle_default(TY_SHAPE_CYLINDER);
    set3(def.world.obstacles[1].shape.from, 0.8, -0.1, 0.8);
    set3(def.world.obstacles[1].shape.to, 0.82, 1.1, 0.77);
    def.world.obstacles[1].shape.radius = 0.09;
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
