// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// The validation cases at low resolution: each driver grades itself and fails below its bars
// (validation/run --quick).
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static void check_case(const char* name)
{
    char command[2000];
    snprintf(command, sizeof command,
             "python3 '%s/validation/run' --quick --program '%s' --out '%s/validation-quick' %s",
             TY_SOURCE_DIR, TY_PROGRAM, TY_BINARY_DIR, name);
    assert_int_equal(system(command), 0);
}

static void a_pool_stays_at_rest(void** state) { (void)state, check_case("F1"); }
static void a_standing_wave_has_its_period(void** state) { (void)state, check_case("F3"); }
static void a_standing_wave_has_its_second_harmonic(void** state) { (void)state, check_case("F4"); }
static void a_capillary_wave_decays(void** state) { (void)state, check_case("F5"); }
static void a_drop_swings(void** state) { (void)state, check_case("F7"); }
static void a_drop_rests(void** state) { (void)state, check_case("F8"); }
static void a_ball_flies_on_its_parabola(void** state) { (void)state, check_case("F11"); }
static void a_u_tube_has_its_period(void** state) { (void)state, check_case("F16"); }
static void free_bodies_stay_ellipsoids(void** state) { (void)state, check_case("F17"); }
static void viscosity_damps_a_wave(void** state) { (void)state, check_case("F18"); }
static void a_column_collapses_as_measured(void** state) { (void)state, check_case("D1"); }
static void vortices_keep_their_energy(void** state) { (void)state, check_case("P2"); }
static void a_lid_drives_a_cavity(void** state) { (void)state, check_case("P3"); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_stays_at_rest),
        cmocka_unit_test(a_standing_wave_has_its_period),
        cmocka_unit_test(a_standing_wave_has_its_second_harmonic),
        cmocka_unit_test(a_capillary_wave_decays),
        cmocka_unit_test(a_drop_swings),
        cmocka_unit_test(a_drop_rests),
        cmocka_unit_test(a_ball_flies_on_its_parabola),
        cmocka_unit_test(a_u_tube_has_its_period),
        cmocka_unit_test(free_bodies_stay_ellipsoids),
        cmocka_unit_test(viscosity_damps_a_wave),
        cmocka_unit_test(a_column_collapses_as_measured),
        cmocka_unit_test(vortices_keep_their_energy),
        cmocka_unit_test(a_lid_drives_a_cavity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
