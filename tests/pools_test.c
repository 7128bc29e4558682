// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Random pools with obstacles standing, lying and drowned in them stay still, whatever gravity's
// direction and the pressure's form.
#include <string.h>

#include "pair.h"

enum { POOLS = 32, CELLS = 14, FRAMES = 100, MAX_OBSTACLES = 3 };

static double uniform(uint64_t* seed, double low, double high)
{
    *seed = ty_mix2(*seed, 77);
    return low + (high - low) * ty_unit(*seed);
}

static void random_place(uint64_t* seed, double low, double high, double x[3])
{
    for (int axis = 0; axis < 3; ++axis) x[axis] = uniform(seed, low, high);
}

static ty_obstacle_def random_obstacle(uint64_t* seed)
{
    int kind = (int)uniform(seed, 0.0, 3.0);
    ty_obstacle_def o = ty_obstacle_default(kind == 0   ? TY_SHAPE_SPHERE
                                            : kind == 1 ? TY_SHAPE_BOX
                                                        : TY_SHAPE_CYLINDER);
    double center[3];
    random_place(seed, 0.2, 0.8, center);
    for (int axis = 0; axis < 3; ++axis) {
        double half = uniform(seed, 0.05, 0.25), lean = uniform(seed, -0.2, 0.2);
        o.shape.center[axis] = center[axis];
        o.shape.min[axis] = center[axis] - half;
        o.shape.max[axis] = center[axis] + half;
        o.shape.from[axis] = axis == 1 ? -0.2 : center[axis] - lean;
        o.shape.to[axis] = axis == 1 ? 1.2 : center[axis] + lean;
    }
    o.shape.radius = uniform(seed, 0.07, 0.27);
    return o;
}

static ty_sim_def pool_def(int trial)
{
    uint64_t seed = (uint64_t)trial + 1;
    const double nowhere[3] = {0, 0, 0};
    ty_sim_def def = pair_def("levelset", "grid", CELLS, nowhere, 0.1);
    bool tilted = trial % 2;
    double g[3] = {0, -9.81, 0};
    if (tilted) g[0] = uniform(&seed, -6, 6), g[2] = uniform(&seed, -6, 6);
    def.solve.cfl = 2.0;
    def.solve.reduced_pressure = trial / 2 % 2 == 0;
    def.world.wall[TY_TOP].closed = tilted;    // steep ones reach it
    def.world.gravity = ty_varying_vector(g[0], g[1], g[2]);
    ty_liquid_def* pool = def.world.liquids;
    pool->velocity = ty_varying_vector(0, 0, 0);
    double level = uniform(&seed, 0.3, 0.7);
    if (tilted || trial % 4 == 0) {
        pool->shape = ty_shape_default(TY_SHAPE_PLANE);
        for (int axis = 0; axis < 3; ++axis) pool->shape.point[axis] = axis == 1 ? level : 0.5;
        ty_store3(pool->shape.normal, ty_normalize(-ty_load3(g)));
    } else {
        pool->shape = ty_shape_default(TY_SHAPE_BOX);
        for (int axis = 0; axis < 3; ++axis) pool->shape.max[axis] = axis == 1 ? level : 1.0;
    }
    def.world.n_obstacles = 1 + (int)uniform(&seed, 0.0, MAX_OBSTACLES);
    def.world.obstacles = ty_alloc((size_t)def.world.n_obstacles, sizeof *def.world.obstacles);
    for (int i = 0; i < def.world.n_obstacles; ++i) def.world.obstacles[i] = random_obstacle(&seed);
    return def;
}

static void random_pools_stay_still(void** unused)
{
    (void)unused;
    for (int trial = 0; trial < POOLS; ++trial) {
        ty_sim_def def = pool_def(trial);
        ty_sim sim;
        assert_ok(ty_sim_create(&sim, &def));
        double start = sim.stats.max_speed;
        run_frames(&sim, FRAMES);
        if (!(sim.stats.max_speed < 1e-6))
            fail_msg("pool %d moves at %.2e m/s, after the first step %.2e", trial,
                     sim.stats.max_speed, start);
        ty_sim_destroy(&sim);
        ty_sim_def_free(&def);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_pools_stay_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
