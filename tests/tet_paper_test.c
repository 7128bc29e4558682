// SPDX-License-Identifier: Apache-2.0
// Solver `tet` as the papers have it: `method: paper`, Gong's variants, conforming obstacles,
// viscous liquid.
#include "run_scene.h"

#define TET "surface: {tracker: levelset}\ndomain: {min: [0, 0, 0], size: [1, 1, 1]}\n"
#define POST                                                                                       \
    "obstacles: [{cylinder: {from: [0.31, -0.1, 0.62], to: [0.31, 1.1, 0.62], radius: 0.11}}]\n"

// The largest speed of any frame so far, over sqrt(g depth).
static double pool_speed(const char* keys, int frames)
{
    scene_run* run = scene_start(
        8, 2.0, TET POST "solver: {kind: tet%s}\nliquid: [{plane: {point: [0, 0.513, 0]}}]\n",
        keys);
    double top = 0.0;
    for (int i = 0; i < frames; ++i) {
        scene_frame(run);
        top = fmax(top, run->sim.stats.max_speed);
    }
    scene_end(run);
    return top / sqrt(9.81 * 0.513);
}

// "Our discretization of the Poisson operator is not linearly consistent, so our free surfaces move
// even when gravity is the only force applied to a pool of water." [Chentanez2007] section 4
static void the_papers_pool_moves(void** unused)
{
    (void)unused;
    double ours = pool_speed(", reduced_pressure: false", 4),
           paper = pool_speed(", method: paper", 4);
    double traced = pool_speed(", method: paper, traced_interpolant: true, sweeps: 10", 4);
    double outside = pool_speed(", method: paper, outside_share: 0.55", 4);
    print_message(
        "speed of a still pool / sqrt(g h): ours %.1e, paper %.2f, Gong's paths %.2f, outside share %.2f\n",
        ours, paper, traced, outside);
    assert_true(ours < 1e-6);
    assert_true(paper > 0.05 && paper < 3.0);
    assert_true(traced > 0.05 && traced < 3.0);
    assert_true(outside > paper);    // Gong's share takes away what holds the pool up
}

// Water that begins a tenth of a cell above the floor.
static double speed_over_gap(double snap)
{
    scene_run* run = scene_start(8, 2.0,
                                 TET
                                 "solver: {kind: tet, obstacles: conform, snap: %g}\n"
                                 "liquid: [{box: {min: [-1, 0.0125, -1], max: [2, 0.513, 2]}}]\n",
                                 snap);
    scene_frame(run);
    double speed = run->sim.stats.max_speed;
    scene_end(run);
    return speed;
}

static void snapping_closes_gaps(void** unused)
{
    (void)unused;
    double open = speed_over_gap(0.0), closed = speed_over_gap(0.2);
    print_message("speed over a gap of a tenth of a cell: %.3f m/s, snapped %.3f\n", open, closed);
    assert_true(closed < 0.3 * open);
}

static double floor_speed(bool no_slip)
{
    scene_run* run = scene_start(
        8, 2.0,
        "surface: {tracker: levelset}\ndomain: {min: [0, 0, 0], size: [1, 1, 1], closed: [bottom]}\n"
        "solver: {kind: tet, obstacles: conform, no_slip: %s}\n"
        "liquid: [{box: {min: [0.2, -1, 0.2], max: [0.8, 0.4, 0.8]}, velocity: [1, 0, 0]}]\n",
        no_slip ? "true" : "false");
    double u = ty_norm(scene_velocity(run, 0.5, 1e-4, 0.5));
    scene_end(run);
    return u;
}

static void liquid_sticks_where_it_should(void** unused)
{
    (void)unused;
    double slips = floor_speed(false), sticks = floor_speed(true);
    print_message("speed at the floor: %.3f, sticking %.3f\n", slips, sticks);
    assert_true(slips > 0.9 && sticks < 0.05);
}

// A heap on a sticking floor: what is left of the speed after a quarter of a second falls as the
// viscosity rises.
static void stiff_liquid_stands(void** unused)
{
    (void)unused;
    static const double mu[] = {0.0, 100.0, 1e5, 1e9};
    double before = INFINITY, speed = 0.0;
    for (int i = 0; i < 4; ++i) {
        scene_run* run = scene_start(
            8, 2.0,
            TET "walls: {bottom: {slip: 0}}\nsolver: {kind: tet, viscosity: %g}\n"
                "liquid: [{box: {min: [0.2, -1, 0.2], max: [0.8, 0.6, 0.8]}}]\n",
            mu[i]);
        for (int k = 0; k < 6; ++k) scene_frame(run);
        speed = run->sim.stats.max_speed;
        print_message("viscosity %g: %.2e m/s\n", mu[i], speed);
        scene_end(run);
        assert_true(speed < before);
        before = speed;
    }
    // rho g h^2 / mu = 3.5e-6 m/s
    assert_true(speed < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_pool_moves),
        cmocka_unit_test(snapping_closes_gaps),
        cmocka_unit_test(liquid_sticks_where_it_should),
        cmocka_unit_test(stiff_liquid_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
