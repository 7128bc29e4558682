// SPDX-License-Identifier: Apache-2.0
// make install gives a library that another program can use: the example is compiled against it and
// run, with the shared and with the static library; no internal symbol is visible.
#include <math.h>

#include "program.h"

static void shell(const char* folder, const char* command)
{
    char line[4000];
    snprintf(line, sizeof line, "cd '%s' && { %s; } > output.txt 2>&1", folder, command);
    if (system(line) != 0) fail_msg("%s\n%s", command, program_output(folder));
}

static void the_example_compiles_and_runs_against_the_installed_library(void** state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();    // a program built without the sanitizer cannot load a library built with it
#endif
    const char* folder = test_folder("library");
    char command[3000];
    write_text(folder, "s.yaml",
               "name: s\ndomain: {min: [0, 0, 0], size: [1, 1, 1]}\nresolution: 12\n"
               "solver: {kind: prescribed, velocity: [1, 0, 0]}\nsurface: {tracker: levelset}\n"
               "liquid:\n  - sphere: {center: [0.4, 0.5, 0.5], radius: 0.25}\n");
    snprintf(command, sizeof command, "cmake --install '%s' --prefix \"$PWD/usr\"", TY_BINARY_DIR);
    shell(folder, command);
    snprintf(command, sizeof command,
             "export PKG_CONFIG_PATH=$(dirname $(find $PWD/usr -name tethys.pc)); "
             "cc '%s/docs/examples/drop.c' $(pkg-config --cflags --libs tethys) -o drop && "
             "LD_LIBRARY_PATH=$(dirname $(find $PWD/usr -name libtethys.so)) ./drop s.yaml",
             TY_SOURCE_DIR);
    shell(folder, command);
    assert_non_null(strstr(program_output(folder), "frame 3, t = 0.0833 s"));
    snprintf(
        command, sizeof command,
        "cc '%s/docs/examples/drop.c' -Iusr/include $(find usr -name libtethys.a) "
        "$(PKG_CONFIG_PATH=$(dirname $(find $PWD/usr -name tethys.pc)) pkg-config --libs --static tethys | sed "
        "'s/-L[^ ]*//; s/-ltethys//') -o drop2 && ./drop2 s.yaml",
        TY_SOURCE_DIR);
    shell(folder, command);
    assert_non_null(strstr(program_output(folder), "frame 3, t = 0.0833 s"));
}

static void a_force_of_the_applications_own_moves_the_liquid(void** state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    const char* folder = test_folder("own_force");
    char command[3000];
    write_text(
        folder, "s.yaml",
        "name: s\ndomain: {min: [0, 0, 0], size: [1, 1, 1]}\nresolution: 12\n"
        "solver: {kind: grid}\nsurface: {tracker: levelset}\n"
        "liquid:\n  - sphere: {center: [0.4, 0.5, 0.5], radius: 0.25}\n"
        "forces:\n  - gravity: [0, 0, 0]\n"
        "  - custom: {kind: tide, vector: [1, 0, 0], strength: 6, center: [0, -9, 0], scale: 1, speed: 0.5}\n");
    snprintf(
        command, sizeof command,
        "cc '%s/docs/examples/tide.c' -I'%s/include' -L'%s' -ltethys -lm -o tide && LD_LIBRARY_PATH='%s' ./tide s.yaml",
        TY_SOURCE_DIR, TY_SOURCE_DIR, TY_BINARY_DIR, TY_BINARY_DIR);
    shell(folder, command);
    double first = 0.0, last = 0.0;
    const char* output = program_output(folder);
    const char *begin = strstr(output, "x = "), *end = strstr(output, "frame 5");
    assert_true(begin && end && sscanf(begin, "x = %lf", &first) == 1);
    assert_int_equal(sscanf(strstr(end, "x = "), "x = %lf", &last), 1);
    // The integral of 6 cos(pi t) twice over four frames: 6 / pi^2 (1 - cos(pi / 6)).
    assert_near(last - first, 6.0 / (M_PI * M_PI) * (1.0 - cos(M_PI / 6.0)), 0.002);
}

static void only_public_symbols_are_visible(void** state)
{
    (void)state;
    const char* folder = test_folder("symbols");
    char command[3000];
    snprintf(
        command, sizeof command,
        "nm -D --defined-only '%s/libtethys.so' | awk '$2 == \"T\" { print $3 }' | grep '^ty_' | sort > seen; "
        "grep -rhoE 'TY_API [^;]*\\bty_[a-z_0-9]+\\(' '%s/include' | grep -oE 'ty_[a-z_0-9]+\\($' | tr -d '(' | "
        "sort -u > public; test -s public; comm -23 seen public | grep . && exit 1; comm -13 seen public | grep . "
        "&& exit 1; exit 0",
        TY_BINARY_DIR, TY_SOURCE_DIR);
    shell(folder, command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_compiles_and_runs_against_the_installed_library),
        cmocka_unit_test(a_force_of_the_applications_own_moves_the_liquid),
        cmocka_unit_test(only_public_symbols_are_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
