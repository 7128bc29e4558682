// SPDX-License-Identifier: Apache-2.0
// Water that turns in a round bucket which it does not stick to: nothing but the scheme can slow it.
#include "run_scene.h"

static void turning_water_is_not_held_back(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(12, 1.0,
                                 "domain: {min: [-0.1125, 0, -0.1125], size: [0.225, 0.225, 0.225]}\n"
                                 "solver: {kind: tet}\nsurface: {tracker: levelset}\n"
                                 "liquid:\n  - formula: \"y - 0.1245158 - 100*(x*x + z*z)/(2*9.81)\"\n"
                                 "    velocity: [\"10*z\", 0, \"-10*x\"]\n"
                                 "obstacles:\n  - cylinder: {from: [0, -1, 0], to: [0, 1, 0], radius: 0.1}\n    invert: true\n");
    double first = run->sim.stats.kinetic_energy;
    scene_frame(run);
    scene_frame(run);
    double kept = run->sim.stats.kinetic_energy / first;
    print_message("kinetic energy after 48 degrees: %.4f\n", kept);
    // With plain means at the wall's vertices 0.84.
    assert_true(kept > 0.95 && kept < 1.001);
    scene_end(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turning_water_is_not_held_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
