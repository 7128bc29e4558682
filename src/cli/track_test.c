// SPDX-License-Identifier: Apache-2.0
// tethys track as a user meets it.
#include <math.h>
#include <unistd.h>

#include "cli/command_test.h"

static answer run(const char* arguments) { return run_command("track", arguments); }

static void every_column_is_there(void** state)
{
    (void)state;
    answer a = run("rotate --resolution 16 --set cfl=3 --json");
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(a.text, "\"tracker\": \"contour\""));
    const char* const keys[] = {"steps",
                                "triangles_max",
                                "volume_error",
                                "area_mid",
                                "symmetric_difference",
                                "mean_distance",
                                "max_distance",
                                "seconds",
                                "volume_error_uncorrected"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) number(&a, keys[i]);
    assert_near(number(&a, "resolution"), 16, 0.0);
    assert_true(number(&a, "symmetric_difference") < 0.2);
    a = run("rotate --resolution 16 --set cfl=3 --tracker levelset");
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(
        a.text, "tracker,resolution,steps,triangles_max,volume_error,area_mid,symmetric_difference,"
                "mean_distance,max_distance,seconds,volume_error_uncorrected\nlevelset,16,"));
}

static void keys_change_the_case(void** state)
{
    (void)state;
    answer a = run("translate --resolution 20 --json --set axis=0,1,0 --set center=0.5,0.3,0.5 "
                   "--set radius=0.2 --set cfl=2");
    assert_int_equal(a.code, 0);
    assert_near(number(&a, "area_mid"), 4 * M_PI * 0.04, 0.02);
    assert_near(number(&a, "steps"), 4, 0.0);    // 0.4 / (2 / 20)
    a = run("field --resolution 16 --json --set cfl=2 --set 'velocity=max(0.2,0.1),0,0*x' --set "
            "period=0.5 --set returns=false");
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(a.text, "\"symmetric_difference\": null"));
}

static void the_result_does_not_depend_on_threads(void** state)
{
    (void)state;
    char folder[64], command[1400];
    snprintf(folder, sizeof folder, "/tmp/tethys_track_%d", (int)getpid());
    for (int threads = 1; threads <= 3; threads += 2) {
        snprintf(command, sizeof command,
                 "shear --resolution 24 --set cfl=4 --set period=2 --threads %d -o %s/%d", threads,
                 folder, threads);
        assert_int_equal(run(command).code, 0);
    }
    snprintf(
        command, sizeof command,
        "diff -r %s/1/surface %s/3/surface && cut -d, -f1-6 %s/1/track.csv > %s/a && cut -d, -f1-6 "
        "%s/3/track.csv | diff - %s/a",
        folder, folder, folder, folder, folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void mistakes_are_explained(void** state)
{
    (void)state;
    const char* const wrong[][2] = {{"", "which case"},
                                    {"nothing", "there is no case 'nothing'"},
                                    {"rotate --set radius=wide", "'wide' is no value for radius"},
                                    {"rotate --set colour=red", "there is no key 'colour'"},
                                    {"rotate --set velocity=1,2", "three expressions"},
                                    {"rotate --tracker nobody", "there is no tracker 'nobody'"},
                                    {"rotate --resolution 2", "resolution"},
                                    {"field", "velocity"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        answer a = run(wrong[i][0]);
        assert_int_not_equal(a.code, 0);
        if (!strstr(a.text, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], a.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_column_is_there),
                                       cmocka_unit_test(keys_change_the_case),
                                       cmocka_unit_test(the_result_does_not_depend_on_threads),
                                       cmocka_unit_test(mistakes_are_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
