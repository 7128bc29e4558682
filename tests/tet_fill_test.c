// SPDX-License-Identifier: Apache-2.0
// Solver `tet`, without volume correction: what a source brings is there in every frame.
#include "run_scene.h"

enum { FRAMES = 20, CELLS = 10 };
static const double RATE = 0.002;    // m3/s

// The worst frame's share of what was poured, of a tenth of a second at least.
static double worst_share(const char* liquid, const char* source)
{
    scene_run* run = scene_start(CELLS, 2,
                                 "domain: {min: [0, 0, 0], size: [0.5, 0.4, 0.5]}\n"
                                 "solver: {kind: tet, tolerance: 1e-6}\n"
                                 "surface: {tracker: levelset, volume: {correct: false}}\n"
                                 "liquid: [%s]\nsources: [{%s, rate: 0.002}]\n",
                                 liquid, source);
    double worst = 0.0;
    for (int frame = 1; frame <= FRAMES; ++frame) {
        scene_frame(run);
        double poured = RATE * frame / 24.0, off = run->sim.stats.volume - run->first - poured;
        assert_near(run->sim.stats.expected_volume - run->first_expected, poured, 1e-4 * poured);
        worst = fmax(worst, fabs(off) / fmax(poured, 0.1 * RATE));
    }
    scene_end(run);
    return worst;
}

static void check(const char* what, const char* liquid, const char* source, double most)
{
    double share = worst_share(liquid, source);
    print_message("%s: %.3f %% of what was poured\n", what, 100.0 * share);
    assert_true(share < most);
}

#define POOL_OF_2_CELLS "plane: {point: [0, 0.105, 0], normal: [0, 1, 0]}"
#define JET             "velocity: [0, -0.05, 0]"

static void a_jet_brings_its_rate_into_a_pool(void** unused)
{
    (void)unused;
    check("on the lattice", "{" POOL_OF_2_CELLS "}",
          "box: {min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]}, " JET, 0.01);
    check("beside it", "{" POOL_OF_2_CELLS "}",
          "box: {min: [0.1611, 0.2537, 0.1433], max: [0.3611, 0.3037, 0.3433]}, " JET, 0.01);
    check("half under water", "{" POOL_OF_2_CELLS "}",
          "box: {min: [0.15, 0.07, 0.15], max: [0.35, 0.13, 0.35]}, " JET, 0.01);
}

// What it let out in the last step, too.
static void a_jet_that_is_switched_off_has_brought_its_rate(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        CELLS, 2,
        "domain: {min: [0, 0, 0], size: [0.5, 0.4, 0.5]}\nsolver: {kind: tet, tolerance: 1e-6}\n"
        "surface: {tracker: levelset, volume: {correct: false}}\nliquid: [{" POOL_OF_2_CELLS "}]\n"
        "sources: [{box: {min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]}, " JET
        ", rate: 0.002, active: [0, 0.26]}]\n");
    for (int frame = 1; frame <= 7; ++frame) scene_frame(run);
    double off = run->sim.stats.volume - run->first - 0.26 * RATE;
    print_message("switched off: %.3f %% of what was poured\n", 100.0 * off / (0.26 * RATE));
    assert_true(fabs(off) < 0.02 * 0.26 * RATE);
    scene_end(run);
}

static void a_jet_brings_its_rate_onto_a_floor(void** unused)
{
    (void)unused;
    check("empty", "", "box: {min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]}, " JET, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jet_brings_its_rate_into_a_pool),
        cmocka_unit_test(a_jet_that_is_switched_off_has_brought_its_rate),
        cmocka_unit_test(a_jet_brings_its_rate_onto_a_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
