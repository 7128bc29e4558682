// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Solver `tet`: water that turns with a round bucket keeps its volume by itself, for the second and more that
// its contact line needs to feel what is wrong with it.
#include "run_scene.h"

// Share of the volume that the ledger gives or takes in a second, from the exact state on.
static double corrected(int cells, double radius, double omega, bool sticks)
{
    double size = 2.25 * radius, bend = omega * omega / (2.0 * 9.81);
    char turning[160] = "", floor[160] = "";
    if (sticks) {
        snprintf(turning, sizeof turning, "    slip: 0\n    velocity: [\"%g*z\", 0, \"-%g*x\"]\n",
                 omega, omega);
        snprintf(floor, sizeof floor,
                 "walls: {bottom: {velocity: [\"%g*z\", 0, \"-%g*x\"], slip: 0}}\n", omega, omega);
    }
    scene_run* run = scene_start(
        cells, 1.0,
        "domain: {min: [%g, 0, %g], size: [%g, %g, %g]}\n"
        "solver: {kind: tet, viscosity: %g}\nsurface: {tracker: levelset}\n%s"
        "liquid:\n  - formula: \"y - %g - %g*(x*x + z*z)\"\n"
        "    velocity: [\"%g*z\", 0, \"-%g*x\"]\n"
        "obstacles:\n  - cylinder: {from: [0, -1, 0], to: [0, 1, 0], radius: %g}\n    invert: true\n%s",
        -0.5 * size, -0.5 * size, size, size, size, sticks ? 0.1 : 0.0, floor,
        1.5 * radius - 0.5 * bend * radius * radius, bend, omega, omega, radius, turning);
    double sum = 0.0;
    while (run->sim.time < 1.0) {
        scene_frame(run);
        sum += run->sim.stats.correction;
    }
    double share = sum / run->first / run->sim.time;
    print_message("%d cells, radius %g m, %g/s, %s: corrected by %.2f %% a second\n", cells, radius,
                  omega, sticks ? "sticking wall" : "frictionless", 100.0 * share);
    scene_end(run);
    return share;
}

static void turning_water_keeps_its_volume(void** unused)
{
    (void)unused;
    assert_true(corrected(18, 0.1, 10.0, true) < 6e-3);
    assert_true(corrected(18, 0.1, 10.0, false) < 3e-3);
    assert_true(corrected(15, 0.1, 10.0, true) < 6e-3);
    assert_true(corrected(18, 0.2, 6.0, true) < 6e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_water_keeps_its_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
