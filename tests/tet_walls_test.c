// SPDX-License-Identifier: Apache-2.0
// Solver `tet` along walls that it is embedded in: nothing but the scheme can slow water that
// slips, or move a pool.
#include "run_scene.h"

static void turning_water_is_not_held_back(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        12, 1.0,
        "domain: {min: [-0.1125, 0, -0.1125], size: [0.225, 0.225, 0.225]}\n"
        "solver: {kind: tet}\nsurface: {tracker: levelset, volume: {correct: false}}\n"
        "liquid:\n  - formula: \"y - 0.1245158 - 100*(x*x + z*z)/(2*9.81)\"\n"
        "    velocity: [\"10*z\", 0, \"-10*x\"]\n"
        "obstacles:\n  - cylinder: {from: [0, -1, 0], to: [0, 1, 0], radius: 0.1}\n    invert: true\n");
    double first = run->sim.stats.kinetic_energy;
    scene_frame(run);
    scene_frame(run);
    double kept = run->sim.stats.kinetic_energy / first;
    double gained = run->sim.stats.volume / run->sim.stats.expected_volume - 1.0;
    print_message("kinetic energy after 48 degrees: %.4f, volume gained: %.1e\n", kept, gained);
    // With plain means at the wall's vertices 0.83.
    assert_true(kept > 0.95 && kept < 1.001);
    assert_true(fabs(gained) < 8e-4);    // 1.0e-3 with the ways of corners behind the wall
    scene_end(run);
}

// A bucket and the water in it turn as one.
static void a_turning_bucket_does_not_stir_its_water(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        13, 1.0,
        "domain: {min: [-0.1125, 0, -0.1125], size: [0.234, 0.234, 0.234]}\n"
        "solver: {kind: tet}\nsurface: {tracker: levelset}\n"
        "walls: {bottom: {velocity: [\"10*z\", 0, \"-10*x\"], slip: 0}}\n"
        "liquid:\n  - formula: \"y - 0.1245158 - 100*(x*x + z*z)/(2*9.81)\"\n"
        "    velocity: [\"10*z\", 0, \"-10*x\"]\n"
        "obstacles:\n  - cylinder: {from: [0, -1, 0], to: [0, 1, 0], radius: 0.1}\n    invert: true\n"
        "    slip: 0\n    velocity: [\"10*z\", 0, \"-10*x\"]\n");
    double first = run->sim.stats.kinetic_energy, top = 0.0;
    for (int i = 0; i < 2; ++i) {
        scene_frame(run);
        top = fmax(top, run->sim.stats.max_speed);
    }
    double kept = run->sim.stats.kinetic_energy / first;
    print_message("kinetic energy %.4f, fastest %.2f m/s\n", kept, top);
    assert_true(kept > 0.95 && kept < 1.001);
    assert_true(top < 1.3);    // the wall's is 1; 1.4 with its velocity in closed parts of tets
    scene_end(run);
}

// With gravity as a force every vertex of the surface counts that is off it, also those inside
// walls.
static void a_tilted_pool_is_still_with_gravity_as_a_force(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        12, 2.0,
        "domain: {min: [0, 0, 0], size: [1, 1, 1]}\nsurface: {tracker: levelset}\n"
        "solver: {kind: tet, reduced_pressure: false, tolerance: 1e-10}\n"
        "forces: [{gravity: [-3.3552176060248, -9.2183846098796, 0]}]\n"
        "liquid: [{plane: {point: [0.5, 0.513, 0.5], normal: [0.34202014332566871, 0.93969262078590838, 0]}}]\n"
        "obstacles: [{sphere: {center: [0.68, 0.4, 0.37], radius: 0.17}}]\n");
    double top = 0.0;
    for (int i = 0; i < 3; ++i) {
        scene_frame(run);
        top = fmax(top, run->sim.stats.max_speed);
    }
    print_message("speed in a tilted pool: %.1e m/s\n", top);
    assert_true(top < 1e-8);    // 0.07 before contact.c's pressure came in full
    scene_end(run);
}

// What the floor gives to a block of water that falls onto it is the block's momentum, however the
// steps divide it.
static void pressure_stops_what_it_stops(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(10, 1.0,
                                 "domain: {min: [0, 0, 0], size: [0.4, 1, 0.4]}\n"
                                 "solver: {kind: tet}\nsurface: {tracker: levelset}\n"
                                 "forces: [{gravity: [0, 0, 0]}]\n"
                                 "liquid:\n  - box: {min: [-1, 0.15, -1], max: [2, 0.55, 2]}\n"
                                 "    velocity: [0, -1, 0]\n");
    ty_sim* sim = &run->sim;
    double impulse = 0.0;
    while (sim->time < 0.4) {
        double before = sim->time, pressure;
        const double floor[1][3] = {{0.21, 0.0, 0.19}};
        bool done;
        assert_ok(ty_sim_step(sim, &done));
        ty_flow flow = ty_sim_flow(sim);
        ty_sample(&flow.pressure, 1, floor, &pressure);
        impulse += pressure * (sim->time - before);
    }
    print_message("impulse / momentum %.4f\n", impulse / (1000.0 * 0.4));
    assert_near(impulse / (1000.0 * 0.4), 1.0, 0.05);
    scene_end(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_water_is_not_held_back),
        cmocka_unit_test(a_turning_bucket_does_not_stir_its_water),
        cmocka_unit_test(pressure_stops_what_it_stops),
        cmocka_unit_test(a_tilted_pool_is_still_with_gravity_as_a_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
