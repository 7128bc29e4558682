// SPDX-License-Identifier: Apache-2.0
// What may vary does so in a running simulation: a source's velocity by expression, key frames and
// file, and viscosity by field.
#include <stdlib.h>
#include <unistd.h>

#include "format/vdb.h"
#include "run_scene.h"

static char folder[] = "/tmp/tethys-varying-XXXXXX";

static double due(const scene_run* run)
{
    return run->sim.stats.expected_volume - run->first_expected;
}
static double gained(const scene_run* run) { return run->sim.stats.volume - run->first; }

#define DUCT                                                                                       \
    "domain: {min: [0, 0, 0], size: [1, 0.5, 0.5]}\nsolver: {kind: grid}\n"                        \
    "surface: {tracker: levelset, volume: {correct: false}}\nforces: [{gravity: [0, 0, 0]}]\n"     \
    "sources:\n  - box: {min: [0, 0, 0], max: [0.21, 0.5, 0.5]}\n    velocity: "

// A duct filled by a source over all of its cross-section.
static void check_duct(const char* velocity, double (*volume)(double t), double exact)
{
    double lag = 0.25 * 0.5 * 0.1 /
                 24.0;    // the first step does not know yet that the speed grows
    scene_run* run = scene_start(16, 1, DUCT "%s\n", velocity);
    for (int frame = 1; frame <= 6; ++frame) {
        scene_frame(run);
        double poured = volume(frame / 24.0);
        assert_near(due(run), poured, exact * poured);
        assert_near(gained(run), poured, 0.01 * poured + lag);
    }
    scene_end(run);
}

static double growing(double t) { return 0.25 * (0.4 * t + 1.2 * t * t); }
static double profile(double t) { return 0.8 * 0.5 * t / 3.0; }

static void expressions_of_time_and_place_drive_a_source(void** unused)
{
    (void)unused;
    check_duct("[\"0.4 + 2.4*t\", 0, 0]", growing, 1e-9);
    check_duct("[\"0.8*16*y*(0.5 - y)\", 0, 0]", profile,
               1e-6);    // a parabola over the height: two thirds of 0.8 in the mean
}

static void key_frames_drive_a_source(void** unused)
{
    (void)unused;
    check_duct(
        "{keys: [{time: 0, value: [0.4, 0, 0]}, {time: 0.25, value: [1, 0, 0]}], ease: linear}",
        growing, 1e-6);
}

static ty_status write_values(const char* path, const char* name, int width,
                              double (*value)(double x))
{
    enum { N = 24 };
    static float values[N * N * N * 3];
    memset(values, 0, sizeof values);
    for (int i = 0; i < N * N * N; ++i) values[i * width] = (float)value((i % N - 1) * 0.1);
    ty_vdb_grid g = ty_vdb_grid_default();
    g.name = name;
    g.class_ = TY_VDB_PLAIN;
    g.width = width;
    g.values = values;
    for (int axis = 0; axis < 3; ++axis) g.n[axis] = N, g.origin[axis] = -0.1;
    g.cell = 0.1;
    g.offset = 0.0;
    return ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_NONE);
}

static double speed_now;
static double speed(double x)
{
    (void)x;
    return speed_now;
}

// One file per frame; between them the speed grows evenly.
static void files_drive_a_source(void** unused)
{
    (void)unused;
    char path[100], text[300];
    for (int f = 0; f < 8; ++f) {
        speed_now = 0.4 + 0.1 * f;
        snprintf(path, sizeof path, "%s/jet.%04d.vdb", folder, f + 1);
        ty_status status = write_values(path, "velocity", 3, speed);
        if (status.code == TY_NOT_YET) skip();
        assert_ok(status);
    }
    snprintf(text, sizeof text, "{file: %s/jet.####.vdb, grid: velocity, rate: 24}", folder);
    check_duct(text, growing, 1e-5);
}

// Two balls of liquid that shear, without gravity; thin on the left and stiff on the right. They do
// not feel each other, so each does what it would do alone.
static void check_viscosity(const char* viscosity, double shear[2])
{
    scene_run* run = scene_start(
        32, 1,
        "domain: {min: [0, 0, 0], size: [2, 1, 1]}\nforces: [{gravity: [0, 0, 0]}]\n"
        "surface: {tracker: levelset, volume: {correct: false}}\n"
        "solver: {kind: grid, density: 1, viscosity: %s, tolerance: 1e-9}\nliquid:\n"
        "  - sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}\n    velocity: [\"sin(15*(y - 0.5))\", 0, 0]\n"
        "  - sphere: {center: [1.5, 0.5, 0.5], radius: 0.2}\n    velocity: [\"sin(15*(y - 0.5))\", 0, 0]\n",
        viscosity);
    for (int frame = 0; frame < 2; ++frame) scene_frame(run);
    for (int k = 0; k < 2; ++k) shear[k] = scene_velocity(run, 0.5 + k, 0.6, 0.5)[0];
    scene_end(run);
}

static double two_liquids(double x) { return x < 1.0 ? 0.001 : 0.1; }

static void viscosity_varies_in_space(void** unused)
{
    (void)unused;
    char path[100], text[300];
    double thin[2], stiff[2], varied[2];
    check_viscosity("0.001", thin);
    check_viscosity("0.1", stiff);
    check_viscosity("\"0.0505 + 0.0495*tanh(50*(x - 1))\"", varied);
    print_message("thin %.6f, stiff %.6f; by a formula %.6f and %.6f\n", thin[0], stiff[1],
                  varied[0], varied[1]);
    assert_true(stiff[1] < 0.7 * thin[1]);
    assert_near(varied[0], thin[0], 1e-4);
    assert_near(varied[1], stiff[1], 1e-4);
    snprintf(path, sizeof path, "%s/honey.vdb", folder);
    ty_status status = write_values(path, "viscosity", 1, two_liquids);
    if (status.code == TY_NOT_YET) skip();
    assert_ok(status);
    snprintf(text, sizeof text, "{file: %s, grid: viscosity}", path);
    check_viscosity(text, varied);
    assert_near(varied[0], thin[0], 1e-4);
    assert_near(varied[1], stiff[1], 1e-4);
}

static int remove_files(void** unused)
{
    (void)unused;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int make_folder(void** unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_of_time_and_place_drive_a_source),
        cmocka_unit_test(key_frames_drive_a_source),
        cmocka_unit_test(files_drive_a_source),
        cmocka_unit_test(viscosity_varies_in_space),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_files);
}
