// SPDX-License-Identifier: Apache-2.0
// tethys mesh as a user meets it.
#include <stdbool.h>
#include <unistd.h>

#include "cli/command_test.h"

static answer run(const char* arguments) { return run_command("mesh", arguments); }

static const char* path_of(const char* name)
{
    static char path[2][512];
    static int turn;
    const char* folder = getenv("TMPDIR");
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/tethys_mesh_%d_%s", folder ? folder : "/tmp",
             (int)getpid(), name);
    return path[turn];
}

// A cube of 2 m as OBJ. skip: leaves out the last triangles; gap: moves the vertices of the top
// away; flip: inside out.
static const char* write_cube(const char* name, int skip, double gap, bool flip)
{
    static const int quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const char* path = path_of(name);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    for (int v = 0; v < 8; ++v)
        fprintf(f, "v %d %d %d\n", v & 1 ? 1 : -1, v & 2 ? 1 : -1, v & 4 ? 1 : -1);
    for (int v = 4; v < 8; ++v)
        fprintf(f, "v %d %d %g\n", v & 1 ? 1 : -1, v & 2 ? 1 : -1, 1.0 + gap);
    for (int q = 0; q < 6; ++q) {
        int v[4];
        for (int i = 0; i < 4; ++i)
            v[i] = 1 + quad[q][flip ? 3 - i : i] + (gap > 0.0 && q == 1 ? 4 : 0);
        if (q < 5 || skip < 2) fprintf(f, "f %d %d %d\n", v[0], v[1], v[2]);
        if (q < 5 || skip < 1) fprintf(f, "f %d %d %d\n", v[0], v[2], v[3]);
    }
    fclose(f);
    return path;
}

static void shapes_are_meshed_within_the_bound(void** state)
{
    (void)state;
    static const char* const shape[] = {"sphere", "torus", "box", "cylinder", "capsule"};
    static const double volume[] = {0.5235988, 0.1554481, 0.48, 0.2827433, 0.1089085};
    for (int i = 0; i < 5; ++i) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "--shape %s --resolution 24 --json", shape[i]);
        answer a = run(arguments);
        assert_int_equal(a.code, 0);
        assert_true(number(&a, "min_dihedral") >= 10.7 && number(&a, "max_dihedral") <= 164.8);
        assert_near(number(&a, "volume") / volume[i], 1.0, 0.03);
        assert_true(number(&a, "tets") > 1000 && number(&a, "bytes_per_tet") < 250.0);
    }
}

static void a_closed_file_is_meshed_and_written(void** state)
{
    (void)state;
    char arguments[2048];
    const char *in = write_cube("cube.obj", 0, 0.0, false), *out = path_of("cube.vtu");
    snprintf(arguments, sizeof arguments, "%s -o %s --cell 0.13 --uniform --json", in, out);
    answer a = run(arguments);
    assert_int_equal(a.code, 0);
    assert_near(number(&a, "volume"), 8.0, 0.2);
    assert_int_equal(access(out, R_OK), 0);
    unlink(in);
    unlink(out);
}

static void a_cube_inside_out_is_turned(void** state)
{
    (void)state;
    char arguments[2048];
    const char* in = write_cube("flipped.obj", 0, 0.0, true);
    snprintf(arguments, sizeof arguments, "%s --cell 0.2 --json", in);
    answer a = run(arguments);
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(a.text, "inside out"));
    assert_near(number(&a, "volume"), 8.0, 0.4);
    unlink(in);
}

static void a_hole_is_an_error_with_place_and_remedy(void** state)
{
    (void)state;
    char arguments[2048];
    const char* in = write_cube("open.obj", 1, 0.0, false);
    snprintf(arguments, sizeof arguments, "%s --cell 0.1 --json", in);
    answer a = run(arguments);
    assert_int_equal(a.code, 2);
    assert_non_null(strstr(a.text, "open.obj"));
    assert_non_null(strstr(a.text, "3 open edges"));
    assert_non_null(strstr(a.text, "near ("));
    assert_non_null(strstr(a.text, "fill holes"));
    unlink(in);
}

// Two cubes of 2 m that overlap in 1.3 x 1.4 x 1.5 m.
static void parts_that_cross_are_united_and_reported(void** state)
{
    (void)state;
    char arguments[2048];
    static const int quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const char* in = path_of("crossing.obj");
    FILE* f = fopen(in, "w");
    assert_non_null(f);
    for (int cube = 0; cube < 2; ++cube) {
        for (int v = 0; v < 8; ++v)
            fprintf(f, "v %g %g %g\n", (v & 1 ? 1 : -1) + 0.7 * cube, (v & 2 ? 1 : -1) + 0.6 * cube,
                    (v & 4 ? 1 : -1) + 0.5 * cube);
        for (int q = 0; q < 6; ++q)
            fprintf(f, "f %d %d %d %d\n", 8 * cube + quad[q][0] + 1, 8 * cube + quad[q][1] + 1,
                    8 * cube + quad[q][2] + 1, 8 * cube + quad[q][3] + 1);
    }
    fclose(f);
    snprintf(arguments, sizeof arguments, "%s --cell 0.1 --json", in);
    answer a = run(arguments);
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(a.text, "crosses itself"));
    assert_near(number(&a, "volume"), 16.0 - 1.3 * 1.4 * 1.5, 0.3);
    unlink(in);
}

static void a_crack_is_bridged_and_reported(void** state)
{
    (void)state;
    char arguments[2048];
    const char* in = write_cube("crack.obj", 0, 0.01, false);
    snprintf(arguments, sizeof arguments, "%s --cell 0.1 --json", in);
    answer a = run(arguments);
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(a.text, "bridged"));
    assert_near(number(&a, "volume"), 8.0, 0.3);
    unlink(in);
}

static void bad_usage_is_said_and_ends_with_2(void** state)
{
    (void)state;
    assert_int_equal(run("").code, 2);
    assert_int_equal(run("--shape sphre").code, 2);
    assert_non_null(strstr(run("--shape sphre").text, "did you mean 'sphere'"));
    assert_int_equal(run("--shape sphere --cell -1").code, 2);
    assert_int_equal(run("--shape sphere -o a.stl").code, 2);
    assert_int_equal(run("nowhere.obj --json").code == 0, 0);
    answer a = run("--shape sphere --cell 5 --json");
    assert_int_equal(a.code, 2);
    assert_non_null(strstr(a.text, "smaller cell"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_meshed_within_the_bound),
        cmocka_unit_test(a_closed_file_is_meshed_and_written),
        cmocka_unit_test(a_cube_inside_out_is_turned),
        cmocka_unit_test(a_hole_is_an_error_with_place_and_remedy),
        cmocka_unit_test(parts_that_cross_are_united_and_reported),
        cmocka_unit_test(a_crack_is_bridged_and_reported),
        cmocka_unit_test(bad_usage_is_said_and_ends_with_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
