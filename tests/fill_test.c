// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Fill rates over resolutions and lengths of the step, without volume correction.
#include "run_scene.h"

enum { N_RUNS = 12 };
static const int cells[3] = {16, 24, 32};
static const double cfl[4] = {0.5, 1, 2, 5};

// Within `of_added` of what was poured in, at every frame and at the end, and within `of_all` of
// all there should be.
typedef struct limits {
    double of_added, at_the_end, of_all;
    double booked;    // share of what was poured: a round source's area is known through patches
} limits;

static void check(const char* text, double rate, int frames, limits most)
{
    for (int k = 0; k < N_RUNS; ++k) {
        scene_run* run = scene_start(cells[k % 3], cfl[k / 3], text);
        double error = 0.0, poured = 0.0, worst = 0.0, worst_of_all = 0.0;
        for (int frame = 1; frame <= frames; ++frame) {
            scene_frame(run);
            poured = rate * frame / 24.0;
            assert_near(run->sim.stats.expected_volume - run->first_expected, poured,
                        most.booked * poured);
            error = run->sim.stats.volume - run->first - poured;
            worst = fmax(worst, fabs(error / poured));
            worst_of_all = fmax(worst_of_all, fabs(error / (run->first + poured)));
        }
        print_message(
            "%d cells, cfl %g: %.3f %% of what was poured, %.3f %% at the end, %.4f %% of all\n",
            cells[k % 3], cfl[k / 3], 100.0 * worst, 100.0 * error / poured, 100.0 * worst_of_all);
        if (worst > most.of_added || fabs(error / poured) > most.at_the_end ||
            worst_of_all > most.of_all)
            fail_msg("%d cells, cfl %g: beyond %g, %g, %g", cells[k % 3], cfl[k / 3], most.of_added,
                     most.at_the_end, most.of_all);
        scene_end(run);
    }
}

static void a_duct_fills_exactly(void** unused)
{
    (void)unused;
    check("domain: {min: [0, 0, 0], size: [1, 0.5, 0.5]}\nsolver: {kind: grid}\n"
          "surface: {tracker: levelset, volume: {correct: false}}\nforces: [{gravity: [0, 0, 0]}]\n"
          "sources:\n  - box: {min: [0, 0, 0], max: [0.21, 0.5, 0.5]}\n    velocity: [0.8, 0, 0]\n",
          0.2, 20, (limits){0.001, 0.001, 0.001, 1e-6});
}

static void a_pool_rises_over_a_source_in_the_floor(void** unused)
{
    (void)unused;
    check(
        TANK POOL
        "sources:\n  - box: {min: [0.3, -1, 0.3], max: [0.7, 0.1, 0.7]}\n    velocity: [0, 0.2, 0]\n",
        0.032, 36, (limits){0.005, 0.005, 0.001, 1e-6});
}

// A square jet of 6 to 13 cells, whose edges the tracker rounds off to a radius of one cell.
static void a_jet_delivers_its_rate(void** unused)
{
    (void)unused;
    check(
        TANK
        "sources:\n  - box: {min: [0, 0.3, 0.3], max: [0.1, 0.7, 0.7]}\n    velocity: [0.8, 0, 0]\n"
        "forces: [{gravity: [0, 0, 0]}]\n",
        0.128, 24, (limits){0.005, 0.005, 0.005, 1e-6});
}

// The same with particles, which take more from its edges than the level set alone.
static void a_jet_with_particles_delivers_its_rate(void** unused)
{
    (void)unused;
    check(
        "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, front, back]}\n"
        "solver: {kind: grid}\nsurface: {tracker: particle, volume: {correct: false}}\n"
        "sources:\n  - box: {min: [0, 0.3, 0.3], max: [0.1, 0.7, 0.7]}\n    velocity: [0.8, 0, 0]\n"
        "forces: [{gravity: [0, 0, 0]}]\n",
        0.128, 24, (limits){0.005, 0.005, 0.005, 1e-6});
}

// Nothing but the rim of its front to round off.
static void a_round_jet_delivers_its_rate(void** unused)
{
    (void)unused;
    check(
        TANK
        "sources:\n  - cylinder: {from: [-0.1, 0.5, 0.5], to: [0.1, 0.5, 0.5], radius: 0.2}\n    velocity: [0.8, 0, 0]\n"
        "forces: [{gravity: [0, 0, 0]}]\n",
        0.8 * M_PI * 0.04, 24, (limits){0.005, 0.005, 0.005, 1e-3});
}

// A slow jet that gravity draws out to one or two cells; it takes bubbles into the pool, and what
// becomes of them under water is not lost sight of.
static void a_thin_jet_splashes_and_delivers_its_rate(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        20, 2,
        "domain: {min: [0, 0, 0], size: [0.5, 0.4, 0.5]}\nsolver: {kind: grid}\n"
        "surface: {tracker: levelset, volume: {correct: false}}\n"
        "liquid: [{plane: {point: [0, 0.105, 0], normal: [0, 1, 0]}}]\n"
        "sources: [{box: {min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]}, velocity: [0, -0.05, 0]}]\n");
    double worst = 0.0;
    for (int frame = 1; frame <= 84; ++frame) {
        scene_frame(run);
        worst = fmax(worst, fabs(run->sim.stats.volume / run->sim.stats.expected_volume - 1.0));
    }
    print_message("%.3f %% of all\n", 100.0 * worst);
    assert_true(worst < 0.01);
    scene_end(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_duct_fills_exactly),
        cmocka_unit_test(a_pool_rises_over_a_source_in_the_floor),
        cmocka_unit_test(a_jet_delivers_its_rate),
        cmocka_unit_test(a_jet_with_particles_delivers_its_rate),
        cmocka_unit_test(a_round_jet_delivers_its_rate),
        cmocka_unit_test(a_thin_jet_splashes_and_delivers_its_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
