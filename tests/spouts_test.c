// SPDX-License-Identifier: Apache-2.0
// Sources and drains in a running simulation: what comes in and goes out is what the ledger says.
#include "run_scene.h"

static double gained(const scene_run* run) { return run->sim.stats.volume - run->first; }
static double due(const scene_run* run)
{
    return run->sim.stats.expected_volume - run->first_expected;
}

#define DUCT                                                                                       \
    "domain: {min: [0, 0, 0], size: [1, 0.5, 0.5]}\nsolver: {kind: grid}\n"                        \
    "surface: {tracker: levelset, volume: {correct: false}}\nforces: [{gravity: [0, 0, 0]}]\n"

static void a_duct_fills_at_the_rate_of_its_source(void** unused)
{
    (void)unused;
    for (int k = 0; k < 3; ++k) {
        const double cfl[3] = {0.5, 1, 5};
        scene_run* run = scene_start(
            16, cfl[k],
            DUCT
            "sources:\n  - box: {min: [0, 0, 0], max: [0.21, 0.5, 0.5]}\n    velocity: [0.8, 0, 0]\n");
        for (int frame = 1; frame <= 8; ++frame) {
            scene_frame(run);
            double poured = 0.8 * 0.25 * frame / 24.0;
            assert_near(due(run), poured, 1e-9 * poured);
            assert_near(gained(run), poured, 0.001 * poured);
        }
        scene_end(run);
    }
}

static void a_source_under_water_lifts_the_level(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(20, 1,
                                 TANK
                                 "liquid: [{box: {min: [0, 0, 0], max: [1, 0.6, 1]}}]\n"
                                 "sources:\n  - sphere: {center: [0.5, 0.2, 0.5], radius: 0.15}\n"
                                 "    velocity: [0.05, 0.2, 0]\n    rate: 0.02\n");
    for (int frame = 1; frame <= 12; ++frame) {
        scene_frame(run);
        assert_near(due(run), 0.02 * frame / 24.0, 1e-9);
        assert_near(gained(run), due(run), 0.01 * due(run));
    }
    scene_end(run);
}

// The largest share of what is due by which a jet of 2 litres a second is off in so many frames; early, of
// a litre. It was 5.1, 9.6 and 4.3 % before what is owed was lent and the rate met.
static double worst_of_jet(int cells, const char* box, const char* liquid, int frames)
{
    scene_run* run = scene_start(cells, 2,
                                 "domain: {min: [0, 0, 0], size: [0.5, 0.4, 0.5]}\n"
                                 "solver: {kind: grid, tolerance: 1e-6}\n"
                                 "surface: {tracker: levelset, volume: {correct: false}}\n"
                                 "liquid: [%s]\nsources: [{box: {%s}, velocity: [0, -0.05, 0], "
                                 "rate: 0.002}]\n",
                                 liquid, box);
    double worst = 0.0;
    for (int frame = 1; frame <= frames; ++frame) {
        scene_frame(run);
        worst = fmax(worst, fabs(gained(run) - due(run)) / fmax(due(run), 0.001));
    }
    print_message("%.2f %% of what is due\n", 100.0 * worst);
    scene_end(run);
    return worst;
}

#define SHALLOW "{plane: {point: [0, 0.105, 0], normal: [0, 1, 0]}}"

static void a_jet_that_splashes_brings_its_rate_at_every_frame(void** unused)
{
    (void)unused;
    assert_true(worst_of_jet(20, "min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]", SHALLOW, 20) <
                0.015);
}

// It comes down on the floor in a row of cells, all at once.
static void a_jet_into_an_empty_tank_brings_its_rate_at_every_frame(void** unused)
{
    (void)unused;
    assert_true(worst_of_jet(20, "min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]", "", 18) <
                0.015);
}

static void a_source_one_cell_thick_brings_its_rate_at_every_frame(void** unused)
{
    (void)unused;
    assert_true(worst_of_jet(10, "min: [0.15, 0.25, 0.15], max: [0.35, 0.3, 0.35]", SHALLOW, 12) <
                0.015);
}

// Beside the lattice, and half under water.
static void a_source_at_the_surface_brings_its_rate_at_every_frame(void** unused)
{
    (void)unused;
    assert_true(worst_of_jet(20, "min: [0.153, 0.083, 0.153], max: [0.349, 0.127, 0.351]", SHALLOW,
                             8) < 0.005);
}

// The same on tetrahedra, in the water and on the floor: without a divergence of their own they bring
// nothing.
static void sources_under_water_bring_their_rate_on_tetrahedra(void** unused)
{
    (void)unused;
    const char* const shape[2] = {"sphere: {center: [0.5, 0.2, 0.5], radius: 0.15}",
                                  "box: {min: [0.3, -1, 0.3], max: [0.7, 0.15, 0.7]}"};
    for (int k = 0; k < 2; ++k) {
        scene_run* run = scene_start(
            16, 1,
            "domain: {min: [0, 0, 0], size: [1, 1, 1]}\nsolver: {kind: tet}\n"
            "surface: {tracker: levelset, volume: {correct: false}}\n"
            "liquid: [{box: {min: [-1, -1, -1], max: [2, 0.6, 2]}}]\n"
            "sources:\n  - %s\n    velocity: [0.05, 0.2, 0]\n    rate: 0.02\n",
            shape[k]);
        for (int frame = 1; frame <= 8; ++frame) scene_frame(run);
        print_message("%.3f of what is due\n", gained(run) / due(run));
        assert_near(gained(run), due(run), 0.01 * due(run));
        scene_end(run);
    }
}

// What a source in the air leaves empty is filled up: its surface must not fall with the jet.
static void a_jet_through_air_brings_its_rate_on_tetrahedra(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        20, 2,
        "domain: {min: [0, 0, 0], size: [0.5, 0.5, 0.5]}\nsolver: {kind: tet}\n"
        "surface: {tracker: levelset, volume: {correct: false}}\n"
        "sources: [{box: {min: [0.15, 0.4, 0.15], max: [0.35, 0.45, 0.35]}, velocity: [0, -0.05, 0]}]\n");
    for (int frame = 1; frame <= 6; ++frame) scene_frame(run);
    print_message("%.3f of what is due\n", gained(run) / due(run));
    assert_near(gained(run), due(run), 0.04 * due(run));
    scene_end(run);
}

// A slow jet from a nozzle that comes down out of an open top, and honey from there and from one in the air. What lies
// above the top is the source's too: when it fell past the nozzle, and what it swept was made up for, 3.2, 2.4 and 1.8 of
// what is due came out on tetrahedra, and on a grid 1.3 in place of the first. (Cells of 7.5 mm are coarse for 25 cm/s: on
// tetrahedra the first brings 3 % too much.)
static void a_nozzle_brings_its_rate(void** unused)
{
    (void)unused;
    static const struct {
        const char *solver, *tracker;
        double top, viscosity;
    } nozzle[] = {{"tet", "contour", 0.24, 0.0},
                  {"tet", "contour", 0.24, 60.0},
                  {"tet", "contour", 0.22, 60.0},
                  {"grid", "levelset", 0.24, 0.0}};
    for (int k = 0; k < 4; ++k) {
        scene_run* run = scene_start(
            32, 2,
            "domain: {min: [-0.1, 0, -0.1], size: [0.2, 0.24, 0.2], closed: [bottom]}\n"
            "solver: {kind: %s, density: 1400, viscosity: %g}\n"
            "surface: {tracker: %s, volume: {correct: false}}\n"
            "sources: [{cylinder: {from: [0.002, %g, 0], to: [0.002, %g, 0], radius: 0.02}, "
            "velocity: [0, -0.25, 0]}]\n",
            nozzle[k].solver, nozzle[k].viscosity, nozzle[k].tracker, nozzle[k].top - 0.025,
            nozzle[k].top);
        for (int frame = 1; frame <= 4; ++frame) scene_frame(run);
        print_message("%s: %.3f of what is due\n", nozzle[k].solver, gained(run) / due(run));
        assert_near(gained(run), due(run), 0.05 * due(run));
        scene_end(run);
    }
}

// Its sides are those of cells, so none is wet before it pours.
static void the_only_source_of_a_tank_pours_with_any_tracker(void** unused)
{
    (void)unused;
    const char* const tracker[3] = {"levelset", "particle", "contour"};
    for (int k = 0; k < 3; ++k) {
        char text[600];
        snprintf(
            text, sizeof text,
            "domain: {min: [0, 0, 0], size: [1, 1, 1]}\nsolver: {kind: grid}\n"
            "surface: {tracker: %s, volume: {correct: false}}\nforces: [{gravity: [0, 0, 0]}]\n"
            "sources: [{box: {min: [0.1, 0.3, 0.3], max: [0.3, 0.7, 0.7]}, velocity: [0.8, 0, 0]}]\n",
            tracker[k]);
        scene_run* run = scene_start(20, 2, text);
        for (int frame = 1; frame <= 8; ++frame) scene_frame(run);
        print_message("%s: %g of %g\n", tracker[k], gained(run), due(run));
        assert_near(gained(run), due(run), (k < 2 ? 0.005 : 0.04) * due(run));
        scene_end(run);
    }
}

// Switched between frames, with a velocity that grows: 0.3 (1 + t) over the sphere's cross-section.
static void a_source_is_on_from_one_time_to_another(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(16, 2,
                                 TANK POOL
                                 "sources:\n  - box: {min: [0.3, -1, 0.3], max: [0.7, 0.1, 0.7]}\n"
                                 "    velocity: [0, \"0.3*(1+t)\", 0]\n    active: [0.1, 0.31]\n");
    double whole = 0.3 * 0.16 * (0.21 + 0.5 * (0.31 * 0.31 - 0.01));
    for (int frame = 1; frame <= 10; ++frame) {
        scene_frame(run);
        double t = fmin(fmax(frame / 24.0, 0.1), 0.31);
        assert_near(due(run), 0.3 * 0.16 * (t - 0.1 + 0.5 * (t * t - 0.01)), 1e-9);
    }
    assert_near(gained(run), whole, 0.03 * whole);
    scene_end(run);
}

static void key_frames_drive_a_source(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        16, 1,
        DUCT
        "sources:\n  - box: {min: [0, 0, 0], max: [0.21, 0.5, 0.5]}\n"
        "    velocity: [{time: 0, value: [0.4, 0, 0]}, {time: 0.25, value: [1, 0, 0]}]\n    ease: linear\n");
    for (int frame = 0; frame < 6; ++frame) scene_frame(run);
    assert_near(due(run), 0.25 * 0.25 * 0.7, 1e-3 * due(run));
    assert_near(gained(run), due(run), 0.01 * due(run));
    scene_end(run);
}

// Liquid that moves along with its source adds nothing; the back takes in what the front displaces.
static void a_source_that_moves_with_its_liquid_adds_nothing(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        16, 1,
        TANK POOL
        "sources:\n  - sphere: {center: [0.3, 0.2, 0.5], radius: 0.12}\n    velocity: [0.4, 0, 0]\n"
        "    motion: [{time: 0}, {time: 1, move: [0.4, 0, 0]}]\n    ease: linear\n");
    for (int frame = 0; frame < 10; ++frame) scene_frame(run);
    double swept = 0.4 * M_PI * 0.12 * 0.12 * 10 / 24.0;
    assert_near(due(run), 0.0, 0.01 * swept);
    assert_near(gained(run), 0.0, 0.05 * swept);
    scene_end(run);
}

static void a_dragged_source_leaves_its_liquid_in_the_air(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        24, 1,
        TANK
        "sources:\n  - box: {min: [0.1, 0.5, 0.3], max: [0.3, 0.9, 0.7]}\n"
        "    motion: [{time: 0}, {time: 1, move: [0.8, 0, 0]}]\n    ease: linear\nforces: [{gravity: [0, 0, 0]}]\n");
    for (int frame = 0; frame < 8; ++frame) scene_frame(run);
    double left = 0.8 * 0.16 * 8 / 24.0;
    assert_near(due(run), left, 1e-6);
    assert_near(gained(run), left, 0.005 * left);
    assert_near(run->sim.stats.max_speed, 0.0, 1e-12);    // nothing pushes liquid in air
    scene_end(run);
}

// A drain is a hole: what runs in is counted, and the level sinks by it.
static void check_drain(double cfl, const char* shape)
{
    scene_run* run = scene_start(
        20, cfl, TANK "liquid: [{box: {min: [0, 0, 0], max: [1, 0.6, 1]}}]\ndrains:\n  - %s\n",
        shape);
    for (int frame = 1; frame <= 10; ++frame) {
        scene_frame(run);
        if (frame < 4) continue;    // a step from rest books its second half a step late
        assert_true(due(run) < -0.002 * frame);
        assert_near(gained(run), due(run), -0.015 * due(run));
    }
    assert_near(gained(run), due(run), -0.01 * due(run));
    scene_end(run);
}

static void drains_take_what_the_ledger_says(void** unused)
{
    (void)unused;
    check_drain(1, "sphere: {center: [0.5, 0.25, 0.5], radius: 0.1}");
    check_drain(3, "cylinder: {from: [0.5, -0.1, 0.5], to: [0.5, 0.08, 0.5], radius: 0.12}");
}

// A tank runs out through a slot and an open side below it. What the surface of the jet does near its
// end is not what the liquid in it does.
static void a_jet_takes_what_the_ledger_says_on_tetrahedra(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        30, 1,
        "domain: {min: [0, -0.15, 0], size: [0.5, 0.75, 0.05], closed: [left, right, top, back, "
        "front]}\nsolver: {kind: tet}\nsurface: {tracker: levelset, volume: {correct: false}}\n"
        "liquid: [{box: {min: [-1, 0, -1], max: [1, 0.5, 1]}}]\n"
        "obstacles:\n  - difference: [{union: [{box: {min: [0.15, -0.1, -1], max: [1, 0, 1]}}, "
        "{cylinder: {from: [0.15, -0.1, -1], to: [0.15, -0.1, 1], radius: 0.1}}]}, "
        "{plane: {point: [0, -0.1, 0]}}]\n");
    for (int frame = 0; frame < 8; ++frame) scene_frame(run);
    print_message("lost %.2f %% of what ran out\n", 100.0 * (gained(run) / due(run) - 1.0));
    assert_true(due(run) < -0.1 * run->first);
    assert_near(gained(run), due(run), -0.03 * due(run));    // 0.06 by the surface's velocity
    scene_end(run);
}

// Half a tank that empties through a slot with a rounded lip, which is 2.7 cells thick where the jet comes off
// it: what is carried round the lip's edge is taken away again. It stayed, and 1.3 % more liquid than the
// ledger's was there after half a second.
static void a_jet_comes_off_its_lip(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        60, 1,
        "domain: {min: [0, -0.15, 0], size: [0.5, 0.75, 0.025], closed: [left, right, top, back, front]}\n"
        "surface: {tracker: levelset, volume: {correct: false}}\n"
        "liquid: [{box: {min: [-1, 0, -1], max: [1, 0.5, 1]}}]\n"
        "obstacles: [{difference: [{union: [{box: {min: [0.15, -0.1, -1], max: [1, 0, 1]}}, "
        "{cylinder: {from: [0.15, -0.1, -1], to: [0.15, -0.1, 1], radius: 0.1}}]}, "
        "{plane: {point: [0, -0.1, 0]}}]}]\n");
    for (int frame = 0; frame < 12; ++frame) scene_frame(run);
    double off = run->sim.stats.volume / run->sim.stats.expected_volume - 1.0;
    print_message("a jet comes off its lip: volume off by %.3f %%\n", 100.0 * off);
    assert_near(off, 0.0, 0.004);
    scene_end(run);
}

// An overflow: a source under water, and a drain along one wall above the level.
static void source_and_drain_keep_the_level(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        16, 1,
        TANK POOL
        "sources:\n  - box: {min: [0.1, -1, 0.2], max: [0.4, 0.1, 0.8]}\n    velocity: [0, 0.15, 0]\n"
        "drains:\n  - box: {min: [0.8, 0.41, -1], max: [2, 2, 2]}\n");
    double poured = 0.3 * 0.6 * 0.15 * 36 / 24.0;    // as a level of its own: 0.04 m
    for (int frame = 0; frame < 36; ++frame) scene_frame(run);
    assert_near(gained(run), due(run), 0.01 * run->first);
    assert_near(gained(run), 0.0, 0.7 * poured);
    double before = run->sim.stats.volume;
    for (int frame = 0; frame < 24; ++frame) scene_frame(run);
    assert_near(run->sim.stats.volume, before, 0.01 * before);
    scene_end(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_duct_fills_at_the_rate_of_its_source),
        cmocka_unit_test(a_source_under_water_lifts_the_level),
        cmocka_unit_test(a_jet_that_splashes_brings_its_rate_at_every_frame),
        cmocka_unit_test(a_jet_into_an_empty_tank_brings_its_rate_at_every_frame),
        cmocka_unit_test(a_source_one_cell_thick_brings_its_rate_at_every_frame),
        cmocka_unit_test(a_source_at_the_surface_brings_its_rate_at_every_frame),
        cmocka_unit_test(sources_under_water_bring_their_rate_on_tetrahedra),
        cmocka_unit_test(the_only_source_of_a_tank_pours_with_any_tracker),
        cmocka_unit_test(a_jet_through_air_brings_its_rate_on_tetrahedra),
        cmocka_unit_test(a_nozzle_brings_its_rate),
        cmocka_unit_test(a_source_is_on_from_one_time_to_another),
        cmocka_unit_test(key_frames_drive_a_source),
        cmocka_unit_test(a_source_that_moves_with_its_liquid_adds_nothing),
        cmocka_unit_test(a_dragged_source_leaves_its_liquid_in_the_air),
        cmocka_unit_test(drains_take_what_the_ledger_says),
        cmocka_unit_test(a_jet_takes_what_the_ledger_says_on_tetrahedra),
        cmocka_unit_test(a_jet_comes_off_its_lip),
        cmocka_unit_test(source_and_drain_keep_the_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
