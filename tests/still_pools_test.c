// SPDX-License-Identifier: Apache-2.0
// Resting pools with solver `tet` and the tracker running: surfaces at any angle, that meet obstacles
// which cross, touch, and are thin. Speeds m/s; waves of a cell run at 1.
#include "run_scene.h"

typedef struct pool {
    const char *name, *obstacles;
    double depth, up[3];
    double before;    // speed without what holds it still
} pool;

static const pool POOLS[] = {
    {"two leaning columns that cross",
     "  - cylinder: {from: [-0.0237, -0.1, 0.7973], to: [0.5753, 1.1, 0.4485], radius: 0.1534}\n"
     "  - cylinder: {from: [0.2772, -0.1, 0.7181], to: [0.6738, 1.1, 0.2256], radius: 0.1004}\n",
     0.404,
     {0.17203971848349753, 0.984190156500698, -0.042095975000593984},
     9e-3},
    {"a leaning column thinner than two cells, beside a ball",
     "  - sphere: {center: [0.5469, 0.6294, 0.3237], radius: 0.1980}\n"
     "  - cylinder: {from: [0.0244, -0.1, 0.2145], to: [0.5678, 1.1, 0.8103], radius: 0.0758}\n",
     0.572,
     {-0.3910176153047522, 0.900977719846892, 0.18800099164866185},
     4e-2},
    {"a column through a ball",
     "  - cylinder: {from: [0.7354, -0.1, 0.0994], to: [0.4643, 1.1, 0.4718], radius: 0.1598}\n"
     "  - sphere: {center: [0.5609, 0.3581, 0.5349], radius: 0.1660}\n",
     0.4325,
     {-0.20061970660751685, 0.931337776959532, -0.303910642342105},
     2e-4},
    {"a ball into the wall",
     "  - box: {min: [-0.5, -0.5, -0.5], max: [1.5, 0.0419, 1.5]}\n"
     "  - box: {min: [-0.5, -0.5, -0.5], max: [0.0126, 1.5, 1.5]}\n"
     "  - sphere: {center: [0.4326, 0.6994, 0.6816], radius: 0.1571}\n"
     "  - sphere: {center: [0.2655, 0.4619, 0.7999], radius: 0.2151}\n",
     0.5978,
     {-0.29448258530034677, 0.9514616881765878, 0.08944642467411137},
     3e-2},
    {"a slit between a box and the wall",
     "  - box: {min: [0.5895, -0.1, 0.6006], max: [0.7740, 0.4346, 0.9941]}\n"
     "  - cylinder: {from: [0.0861, -0.1, 0.5770], to: [0.3587, 0.5423, 0.3142], radius: 0.0783}\n",
     0.6092,
     {0.4872164594566864, 0.7606983191194792, 0.428903472734006},
     2e-2},
};

static double top_speed(const pool* p, bool reduced, int frames)
{
    scene_run* run = scene_start(
        10, 2.0,
        "domain: {min: [0, 0, 0], size: [1, 1, 1]}\nsurface: {tracker: contour}\n"
        "solver: {kind: tet, reduced_pressure: %s, tolerance: 1e-10}\n"
        "forces: [{gravity: [%.17g, %.17g, %.17g]}]\n"
        "liquid: [{plane: {point: [0.5, %.17g, 0.5], normal: [%.17g, %.17g, %.17g]}}]\n"
        "obstacles:\n%s",
        reduced ? "true" : "false", -9.81 * p->up[0], -9.81 * p->up[1], -9.81 * p->up[2], p->depth,
        p->up[0], p->up[1], p->up[2], p->obstacles);
    double top = 0.0;
    for (int i = 0; i < frames; ++i) {
        scene_frame(run);
        top = fmax(top, run->sim.stats.max_speed);
    }
    scene_end(run);
    print_message("%s: %.1e m/s (%.0e without)\n", p->name, top, p->before);
    return top;
}

static void pools_among_obstacles_are_still(void** unused)
{
    (void)unused;
    double top = 0.0;
    for (size_t i = 0; i < sizeof POOLS / sizeof *POOLS; ++i)
        top = fmax(top, top_speed(&POOLS[i], i % 2 == 0, 3));
    assert_true(top < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pools_among_obstacles_are_still)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
