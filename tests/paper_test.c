// SPDX-License-Identifier: Apache-2.0
// `method: paper` of solver `grid`: the thesis' own rules, and what they cost [Wrenninge2003].
#include "run_scene.h"

enum { CELLS = 16 };

#define LEVEL(y) "liquid: [{box: {min: [0, 0, 0], max: [1, " #y ", 1]}}]\n"
#define PAPER                                                                                      \
    "surface: {tracker: levelset, volume: {correct: false}}\nsolver: {kind: grid, method: paper}\n"
#define BEST "surface: {tracker: levelset, volume: {correct: false}}\nsolver: {kind: grid}\n"
#define DOMAIN                                                                                     \
    "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, front, back]}\n"

static int unknowns(const char* text)
{
    scene_run* run = scene_start(CELLS, 1, "%s", text);
    int n = (int)run->sim.stats.unknowns;
    scene_end(run);
    return n;
}

// Layers whose centres are at 0.5, 1.5 and so on; water is what is no more than half a cell off.
static void water_reaches_half_a_cell_above_the_surface(void** unused)
{
    (void)unused;
    assert_int_equal(unknowns(DOMAIN BEST LEVEL(0.40)),
                     6 * CELLS * CELLS);    // the level is at 6.4 cells
    assert_int_equal(unknowns(DOMAIN PAPER LEVEL(0.40)),
                     7 * CELLS * CELLS);    // 6.5 is 0.1 cells above it
    assert_int_equal(unknowns(DOMAIN PAPER LEVEL(0.37)),
                     6 * CELLS * CELLS);    // 5.92; 6.5 is 0.58 above it
}

// A step of 5.3 cells: the sixth voxel's centre (5.5) is free. With fractions it is free for 0.7.
static void obstacles_are_whole_voxels(void** unused)
{
    (void)unused;
#define STEP(x) "obstacles: [{box: {min: [-1, -1, -1], max: [" #x ", 2, 2]}}]\n"
    assert_int_equal(unknowns(DOMAIN PAPER LEVEL(0.40) STEP(0.33125)), 7 * (CELLS - 5) * CELLS);
    assert_int_equal(unknowns(DOMAIN PAPER LEVEL(0.40) STEP(0.35)),
                     7 * (CELLS - 6) * CELLS);    // 5.6 cells
    assert_int_equal(unknowns(DOMAIN BEST LEVEL(0.40) STEP(0.35)), 6 * (CELLS - 5) * CELLS);
}

// Waves lower than half a cell leave every voxel what it is: the pressure does not see them, and
// they stand still.
static double wave_speed(const char* rules)
{
    scene_run* run = scene_start(CELLS, 1,
                                 DOMAIN "%s"
                                        "liquid: [{formula: \"y - 0.4 - 0.01*cos(pi*x)\"}]\n",
                                 rules);
    for (int frame = 0; frame < 4; ++frame) scene_frame(run);
    double speed = run->sim.stats.max_speed;
    scene_end(run);
    return speed;
}

static void low_waves_stand_still(void** unused)
{
    (void)unused;
    // a omega sin(omega t) at 1/6 s, omega^2 = g k tanh(k d) = 5.1^2: 0.038 m/s
    assert_near(wave_speed(BEST), 0.038, 0.008);
    assert_near(wave_speed(PAPER), 0.0, 1e-9);
}

// The same dam break by both rules: the thesis' is as free of divergence and lags behind, for its
// water is half a cell thicker.
static void a_dam_breaks_by_both_rules(void** unused)
{
    (void)unused;
    const char* rules[2] = {BEST, PAPER};
    double front[2];
    for (int k = 0; k < 2; ++k) {
        scene_run* run = scene_start(CELLS, 1,
                                     DOMAIN
                                     "%s"
                                     "liquid: [{box: {min: [0, 0, 0], max: [0.4, 0.5, 1]}}]\n",
                                     rules[k]);
        for (int frame = 0; frame < 5; ++frame) scene_frame(run);
        assert_true(run->sim.stats.max_divergence < 1e-3);
        assert_near(run->sim.stats.volume, run->first, 0.1 * run->first);
        front[k] = 0.0;
        for (int v = 0; v < run->sim.surface.n_verts; ++v)
            front[k] = fmax(front[k], run->sim.surface.vert[v][0]);
        scene_end(run);
    }
    print_message("front after 5 frames: ours %.3f m, the thesis' %.3f m\n", front[0], front[1]);
    assert_true(front[0] > 0.55 && front[0] < 0.9);
    assert_true(front[1] > 0.6 && front[1] < front[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_reaches_half_a_cell_above_the_surface),
        cmocka_unit_test(obstacles_are_whole_voxels),
        cmocka_unit_test(low_waves_stand_still),
        cmocka_unit_test(a_dam_breaks_by_both_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
