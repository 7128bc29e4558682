// SPDX-License-Identifier: Apache-2.0
// Steering and every kind of force in a running simulation, each bounded by a shape.
#include <stdlib.h>
#include <unistd.h>

#include "format/vdb.h"
#include "run_scene.h"

// Two balls of liquid float without gravity; forces act inside a box around the left one.
#define BALLS                                                                                      \
    "domain: {min: [0, 0, 0], size: [2, 1, 1]}\nsolver: {kind: grid}\n"                            \
    "surface: {tracker: levelset, volume: {correct: false}}\n"                                     \
    "liquid:\n  - sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}\n  - sphere: {center: [1.5, 0.5, 0.5], radius: 0.2}\n"
#define LEFT       "    inside: {box: {min: [-1, -1, -1], max: [1, 2, 2]}}\n"
#define NO_GRAVITY "forces:\n  - gravity: [0, 0, 0]\n"

enum { CELLS = 32, FRAMES = 3 };    // an eighth of a second

static char folder[] = "/tmp/tethys-control-XXXXXX";

// After FRAMES the left ball's middle moves with `v`, within `near`; the right one not at all.
static void check_force(const char* force, ty_vec3 v, double near)
{
    scene_run* run = scene_start(CELLS, 1, BALLS NO_GRAVITY "%s" LEFT, force);
    for (int frame = 0; frame < FRAMES; ++frame) scene_frame(run);
    ty_vec3 left = scene_velocity(run, 0.5, 0.5, 0.5), right = scene_velocity(run, 1.5, 0.5, 0.5);
    if (!(ty_norm(left - v) <= near))
        fail_msg("%s moves the liquid with %g %g %g instead of %g %g %g", force, left[0], left[1],
                 left[2], v[0], v[1], v[2]);
    assert_near(ty_norm(right), 0.0, 1e-9);
    scene_end(run);
}

static void key_framed_gravity_lets_liquid_fall(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        CELLS, 1,
        BALLS
        "forces:\n  - gravity: [{time: 0, value: [0, 0, 0]}, {time: 0.125, value: [4, -8, 0]}]\n");
    for (int frame = 0; frame < FRAMES; ++frame) scene_frame(run);
    ty_vec3 v = scene_velocity(run, 0.5, 0.5, 0.5);    // eased or straight, the mean is half
    assert_near(v[0], 0.25, 0.01);
    assert_near(v[1], -0.5, 0.02);
    scene_end(run);
}

static void a_point_attracts_and_repels(void** unused)
{
    (void)unused;
    // From far away all of the ball is drawn the same way, within its reach.
    check_force("  - point: {center: [0.5, 50, 0.5], strength: 3}\n", ty_vec(0, 0.375, 0), 0.004);
    check_force("  - point: {center: [0.5, 50, 0.5], strength: -3}\n", ty_vec(0, -0.375, 0), 0.004);
    check_force("  - point: {center: [0.5, 50, 0.5], strength: 3, radius: 40}\n", ty_vec(0, 0, 0),
                1e-9);
}

static void a_vortex_turns_the_liquid(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        CELLS, 1,
        BALLS NO_GRAVITY
        "  - vortex: {center: [0.5, 0.5, 0.5], axis: [0, 0, 1], strength: 2}\n" LEFT);
    for (int frame = 0; frame < FRAMES; ++frame) scene_frame(run);
    // 2 m/s2 for 1/8 s, softened within a cell of the axis. Round a ball it is free of divergence.
    double cell = 2.0 / CELLS, r = 0.12, v = 0.25 * r / sqrt(r * r + cell * cell);
    assert_near(scene_velocity(run, 0.5 + r, 0.5, 0.5)[1], v, 0.1 * v);
    assert_near(scene_velocity(run, 0.5 - r, 0.5, 0.5)[1], -v, 0.1 * v);
    assert_near(scene_velocity(run, 0.5, 0.5 + r, 0.5)[0], -v, 0.1 * v);
    assert_near(ty_norm(scene_velocity(run, 1.5, 0.5, 0.5)), 0.0, 1e-9);
    scene_end(run);
}

static void wind_drags_toward_its_velocity(void** unused)
{
    (void)unused;
    double v = 2.0 * (1.0 - exp(-4.0 * 0.125));
    check_force("  - wind: {velocity: [0, 0, 2], strength: 4}\n", ty_vec(0, 0, v), 0.02 * v);
    check_force("  - wind: {velocity: [0, 0, 0.5], strength: 1e6}\n", ty_vec(0, 0, 0.5),
                0.005);    // stable
}

static void turbulence_stirs(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        CELLS, 1, BALLS NO_GRAVITY "  - turbulence: {strength: 2, scale: 0.3, speed: 0}\n" LEFT);
    for (int frame = 0; frame < FRAMES; ++frame) scene_frame(run);
    double square = 0.0;
    for (int i = 0; i < 64; ++i) {
        ty_vec3 v = scene_velocity(run, 0.41 + 0.06 * (i % 4), 0.41 + 0.06 * (i / 4 % 4),
                                   0.41 + 0.06 * (i / 16));
        square += ty_dot(v, v) / 64.0;
    }
    assert_true(sqrt(square) > 0.08 && sqrt(square) < 0.5);    // 2 m/s2 for 1/8 s
    assert_near(ty_norm(scene_velocity(run, 1.5, 0.5, 0.5)), 0.0, 1e-9);
    scene_end(run);
}

static void a_spline_leads_along(void** unused)
{
    (void)unused;
    // On the curve the acceleration is `strength` along it; 50 m of reach make it the same all over
    // the ball.
    check_force(
        "  - spline: {points: [[0, 0.5, 0.5], [0.5, 0.5, 0.5], [1, 0.5, 0.5]], radius: 50, strength: 3}\n",
        ty_vec(0.375, 0, 0), 0.01);
}

static void a_guide_leads_along_its_mesh(void** unused)
{
    (void)unused;
    char path[100], text[300];
    snprintf(path, sizeof path, "%s/sheet.obj", folder);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs("v -50 -50 0.5\nv 50 -50 0.5\nv 50 50 0.5\nv -50 50 0.5\nf 1 2 3\nf 1 3 4\n", f);
    fclose(f);
    // The part of `along` that goes through the sheet does nothing.
    snprintf(text, sizeof text,
             "  - guide: {file: %s, radius: 50, strength: 3, along: [0, 1, 7]}\n", path);
    check_force(text, ty_vec(0, 0.375, 0), 0.01);
}

static void a_field_pushes(void** unused)
{
    (void)unused;
    check_force("  - field: [\"2+t\", 0, \"x - 0.5\"]\n", ty_vec(0.125 * 2.0625, 0, 0), 0.005);
}

// (0, 3, 0) in a box around the left ball, as a file.
static ty_status write_field(const char* path)
{
    static float values[24 * 24 * 24][3];
    for (int i = 0; i < 24 * 24 * 24; ++i) values[i][1] = 3.0f;
    ty_vdb_grid g = ty_vdb_grid_default();
    g.name = "push";
    g.class_ = TY_VDB_PLAIN;
    g.width = 3;
    g.values = values[0];
    for (int axis = 0; axis < 3; ++axis) g.n[axis] = 24;
    g.cell = 0.05;
    g.offset = 0.0;
    return ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_NONE);
}

static void a_field_from_a_file_pushes(void** unused)
{
    (void)unused;
    char path[100], text[300];
    snprintf(path, sizeof path, "%s/push.vdb", folder);
    ty_status status = write_field(path);
    if (status.code == TY_NOT_YET) skip();
    assert_ok(status);
    snprintf(text, sizeof text, "  - field: {file: %s, grid: push}\n", path);
    check_force(text, ty_vec(0, 0.375, 0), 0.005);
}

// A vortex that is free of divergence on the staggered grid and along the walls.
#define VORTEX "[\"sin(pi*x)*cos(pi*y)\", \"-cos(pi*x)*sin(pi*y)\", 0]"
#define FULL   "liquid: [{box: {min: [-1, -1, -1], max: [2, 2, 2]}}]\n"
#define BOX                                                                                        \
    "domain: {min: [0, 0, 0], size: [1, 1, 1]}\nsolver: {kind: grid%s}\nsurface: {tracker: levelset}\n"

static double farthest_from_vortex(const scene_run* run, int cells, double share)
{
    double worst = 0.0, h = 1.0 / cells;
    for (int i = 1; i < cells; ++i)
        for (int j = 0; j < cells; ++j) {
            double x = i * h, y = (j + 0.5) * h;    // at faces
            worst = fmax(worst, fabs(scene_velocity(run, x, y, 0.5 + 0.5 * h)[0] -
                                     share * sin(M_PI * x) * cos(M_PI * y)));
        }
    return worst;
}

static void full_blend_sets_a_velocity_and_keeps_it(void** unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        scene_run* run = scene_start(
            16, 1,
            BOX FULL "steer:\n  - box: {min: [-1, -1, -1], max: [2, 2, 2]}\n    velocity: " VORTEX
                     "\n",
            k ? ", theta: 1" : "");
        for (int step = 0; step < 5; ++step) {
            bool done;
            assert_ok(ty_sim_step(&run->sim, &done));
            assert_near(farthest_from_vortex(run, 16, 1.0), 0.0, 1e-6);
        }
        scene_end(run);
    }
}

// Formula 4.5 with a blend per frame: after a frame of any number of steps, (1 - alpha) u + alpha
// v.
static void a_blend_is_per_frame(void** unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        scene_run* run = scene_start(
            CELLS, k ? 0.1 : 4,
            BALLS NO_GRAVITY
            "steer:\n  - box: {min: [-1, -1, -1], max: [1, 2, 2]}\n    velocity: [0, 0.5, 0]\n    blend: 0.3\n");
        scene_frame(run);
        assert_near(scene_velocity(run, 0.5, 0.5, 0.5)[1], 0.5 * 0.3, 1e-6);
        scene_frame(run);
        assert_near(scene_velocity(run, 0.5, 0.5, 0.5)[1], 0.5 * (1.0 - 0.49), 1e-6);
        assert_near(ty_norm(scene_velocity(run, 1.5, 0.5, 0.5)), 0.0, 1e-9);
        scene_end(run);
    }
}

static void a_blend_eases_in(void** unused)
{
    (void)unused;
    scene_run* run = scene_start(
        CELLS, 1,
        BALLS NO_GRAVITY
        "steer:\n  - box: {min: [-1, -1, -1], max: [1, 2, 2]}\n    velocity: [0, 0.5, 0]\n"
        "    blend: [{time: 0.05, value: 0}, {time: 0.1, value: 1}]\n");
    scene_frame(run);
    assert_near(scene_velocity(run, 0.5, 0.5, 0.5)[1], 0.0, 1e-9);
    scene_frame(run);
    double v = scene_velocity(run, 0.5, 0.5, 0.5)[1];
    assert_true(v > 0.05 && v < 0.499);
    scene_frame(run);
    assert_near(scene_velocity(run, 0.5, 0.5, 0.5)[1], 0.5, 1e-6);
    scene_end(run);
}

static int make_folder(void** unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** unused)
{
    (void)unused;
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_framed_gravity_lets_liquid_fall),
        cmocka_unit_test(a_point_attracts_and_repels),
        cmocka_unit_test(a_vortex_turns_the_liquid),
        cmocka_unit_test(wind_drags_toward_its_velocity),
        cmocka_unit_test(turbulence_stirs),
        cmocka_unit_test(a_spline_leads_along),
        cmocka_unit_test(a_guide_leads_along_its_mesh),
        cmocka_unit_test(a_field_pushes),
        cmocka_unit_test(a_field_from_a_file_pushes),
        cmocka_unit_test(full_blend_sets_a_velocity_and_keeps_it),
        cmocka_unit_test(a_blend_is_per_frame),
        cmocka_unit_test(a_blend_eases_in),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
