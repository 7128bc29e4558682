// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Obstacles from sequences of files in a running simulation, walls as thin as a cell and thinner,
// and a container that pours.
#include "format/file.h"
#include "format/vdb.h"
#include "program.h"
#include "run_scene.h"

// A file of this test's own; valid until the next call.
static const char* path_of(const char* name)
{
    static char path[700];
    snprintf(path, sizeof path, "%s.scratch/bodies/%s", TY_PROGRAM, name);
    return path;
}

enum { CELLS = 24, FRAMES = 12, RATE = 24 };

// A ball of n x 2n facets.
static void write_ball(const char* path, ty_vec3 middle, double radius, int n)
{
    ty_file_writer w;
    assert_ok(ty_file_begin(&w, path));
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j < (i % n ? 2 * n : 1); ++j) {
            double a = M_PI * i / n, b = M_PI * j / n;
            ty_vec3 x = middle + radius * ty_vec(sin(a) * cos(b), cos(a), sin(a) * sin(b));
            ty_file_print(&w, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
        }
    int last = 2 + (n - 1) * 2 * n;
    for (int j = 0; j < 2 * n; ++j) {
        int next = (j + 1) % (2 * n), low = last - 2 * n;
        ty_file_print(&w, "f 1 %d %d\nf %d %d %d\n", 2 + next, 2 + j, last, low + j, low + next);
        for (int i = 0; i + 2 < n; ++i) {
            int up = 2 + i * 2 * n, down = up + 2 * n;
            ty_file_print(&w, "f %d %d %d\nf %d %d %d\n", up + j, up + next, down + j, up + next,
                          down + next, down + j);
        }
    }
    assert_ok(ty_file_commit(&w));
}

// A ball under water swells from 0.1 to 0.15 m in half a second, file by file.
static void a_swelling_mesh_pushes_water_up(void** unused)
{
    (void)unused;
    for (int f = 0; f <= FRAMES; ++f) {
        char name[32];
        snprintf(name, sizeof name, "body.%04d.obj", f + 1);
        write_ball(path_of(name), ty_vec(0.5, 0.2, 0.5), 0.1 + 0.05 * f / FRAMES, 20);
    }
    scene_run* run = scene_start(CELLS, 1, TANK POOL "obstacles: [{mesh: {file: %s, rate: %d}}]\n",
                                 path_of("body.####.obj"), RATE);
    for (int frame = 0; frame < FRAMES / 2; ++frame) scene_frame(run);
    // The wall's speed is 0.1 m/s; around a ball it falls with the square of the distance.
    double radius = 0.125, r = radius + 1.5 / CELLS, expected = 0.1 * radius * radius / (r * r);
    assert_near(scene_velocity(run, 0.5 + r, 0.2, 0.5)[0], expected, 0.25 * expected);
    assert_near(scene_velocity(run, 0.5 - r, 0.2, 0.5)[0], -expected, 0.25 * expected);
    for (int frame = FRAMES / 2; frame < FRAMES; ++frame) scene_frame(run);
    double displaced = 4.0 / 3.0 * M_PI * (0.15 * 0.15 * 0.15 - 0.1 * 0.1 * 0.1), level = 0.0;
    for (int i = 0; i < 100; ++i)
        level += scene_height(run, (i % 10 + 0.5) / 10, (i / 10 + 0.5) / 10, 0.8) / 100.0;
    print_message("swelling ball: level +%.5f m of %.5f, volume %.4f %%\n", level - 0.4, displaced,
                  100.0 * (run->sim.stats.volume / run->first - 1.0));
    assert_near(level - 0.4, displaced, 0.1 * displaced);
    assert_near(run->sim.stats.volume, run->first, 0.002 * run->first);
    scene_end(run);
}

enum { SIDE = 24 };    // voxels of 0.02 m: the region of the ball alone

// A ball of radius 0.15 and its velocity, in a grid that covers no more than the ball.
static ty_status write_level_set(const char* path, double x, double speed)
{
    static float values[SIDE * SIDE * SIDE], velocity[SIDE * SIDE * SIDE][3];
    double low[3] = {x - 0.23, 0.37, 0.27}, cell = 0.02;
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        ty_vec3 at = ty_load3(low) + cell * ty_vec(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
        values[i] = (float)(ty_norm(at - ty_vec(x, 0.6, 0.5)) - 0.15);
        velocity[i][0] = (float)speed;
    }
    ty_vdb_grid g[2] = {ty_vdb_grid_default(), ty_vdb_grid_default()};
    for (int k = 0; k < 2; ++k) {
        for (int axis = 0; axis < 3; ++axis) g[k].n[axis] = SIDE, g[k].origin[axis] = low[axis];
        g[k].cell = cell;
        g[k].offset = 0.0;
    }
    g[0].name = "surface", g[0].class_ = TY_VDB_LEVEL_SET, g[0].width = 1, g[0].values = values,
    g[0].background = 0.06f;
    g[1].name = "velocity", g[1].class_ = TY_VDB_PLAIN, g[1].width = 3, g[1].values = velocity[0];
    return ty_vdb_write(path, 2, g, 0, NULL, TY_VDB_NONE);
}

// What a ball that goes through a tank full to 0.8 m does to the water: the speed in front of it,
// beside it, and all the energy.
typedef struct wake {
    double front, beside, energy, volume;
} wake;

static wake plough(const char* obstacle)
{
    scene_run* run = scene_start(
        CELLS, 1,
        TANK "liquid: [{box: {min: [0, 0, 0], max: [1, 0.8, 1]}}]\n"
             "obstacles:\n  - box: {min: [0.4, -1, 0.4], max: [0.6, 0.1, 0.6]}\n%s",
        obstacle);
    for (int frame = 0; frame < FRAMES; ++frame) scene_frame(run);
    double x = 0.3 + 0.6 * FRAMES / RATE;
    wake w = {scene_velocity(run, x + 0.2, 0.6, 0.5)[0], scene_velocity(run, x, 0.4, 0.5)[0],
              run->sim.stats.kinetic_energy, run->sim.stats.volume / run->first};
    scene_end(run);
    return w;
}

// The same ball as a shape with a motion, as level sets with a velocity, and as meshes.
static void sequences_move_water_as_a_shape_does(void** unused)
{
    (void)unused;
    char text[3][2000];
    double speed = 0.6;
    for (int f = 0; f <= FRAMES; ++f) {
        char name[32];
        double x = 0.3 + speed * f / RATE;
        snprintf(name, sizeof name, "ball.%04d.vdb", f + 1);
        ty_status s = write_level_set(path_of(name), x, speed);
        if (s.code == TY_NOT_YET) skip();
        assert_ok(s);
        snprintf(name, sizeof name, "ball.%04d.obj", f + 1);
        write_ball(path_of(name), ty_vec(x, 0.6, 0.5), 0.15, 24);
    }
    snprintf(text[0], sizeof text[0],
             "  - sphere: {center: [0.3, 0.6, 0.5], radius: 0.15}\n    ease: linear\n"
             "    motion: [{time: 0}, {time: 1, move: [%g, 0, 0]}]\n",
             speed);
    const char* file = path_of("ball.####");
    snprintf(text[1], sizeof text[1],
             "  - volume: {file: %s.vdb, rate: %d}\n"
             "    velocity: {file: %s.vdb, grid: velocity, rate: %d}\n",
             file, RATE, file, RATE);
    snprintf(text[2], sizeof text[2], "  - mesh: {file: %s.obj, rate: %d}\n", file, RATE);
    wake shape = plough(text[0]);
    print_message("shape: front %.4f, beside %.4f m/s, energy %.4f J, volume %.4f\n", shape.front,
                  shape.beside, shape.energy, shape.volume);
    assert_true(shape.front > 0.2 && shape.beside < -0.02);    // pushed ahead, and back around it
    assert_near(shape.volume, 1.0, 0.005);
    for (int k = 1; k < 3; ++k) {
        wake w = plough(text[k]);
        print_message("%s: front %.4f, beside %.4f m/s, energy %.4f J, volume %.4f\n",
                      k == 1 ? "level sets" : "meshes", w.front, w.beside, w.energy, w.volume);
        assert_near(w.front, shape.front, 0.03 * speed);
        assert_near(w.beside, shape.beside, 0.03 * speed);
        assert_near(w.energy, shape.energy, 0.05 * shape.energy);
        assert_near(w.volume, 1.0, 0.005);
    }
}

// A column of water behind a wall, tilted against the lattice; nothing is ever on the other side.
static void check_wall(double cells_thick, const char* tracker)
{
    double half = 0.5 * cells_thick / CELLS, angle = 12.0;
    scene_run* run = scene_start(
        CELLS, 2,
        "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, front, back]}\n"
        "solver: {kind: grid}\nsurface: {tracker: %s}\n"
        "liquid: [{box: {min: [0, 0, 0], max: [0.38, 0.6, 1]}}]\n"
        "obstacles:\n  - box: {min: [%.6f, -2, -2], max: [%.6f, 3, 3]}\n"
        "    motion: [{time: 0, turn: {axis: [0, 0, 1], degrees: %g, about: [0.53, 0.5, 0.5]}}]\n",
        tracker, 0.53 - half, 0.53 + half, angle);
    double c = cos(angle * M_PI / 180), s = sin(angle * M_PI / 180), farthest = -INFINITY;
    for (int frame = 0; frame < 48; ++frame) {
        scene_frame(run);
        const ty_tri_mesh* m = &run->sim.surface;
        for (int v = 0; v < m->n_verts; ++v)
            farthest = fmax(farthest, c * (m->vert[v][0] - 0.53) + s * (m->vert[v][1] - 0.5));
    }
    print_message("wall of %.1f cells, %s: farthest %.3f cells, volume %.4f\n", cells_thick,
                  tracker, farthest * CELLS, run->sim.stats.volume / run->first);
    assert_true(
        farthest <
        fmax(half,
             0.55 / CELLS));    // a thinner wall is widened to a cell; 0.05: the surface itself
    assert_near(run->sim.stats.volume, run->first, 0.01 * run->first);
    scene_end(run);
}

static void walls_hold_water(void** unused)
{
    (void)unused;
    check_wall(1.0, "levelset");
    check_wall(1.0, "particle");
    check_wall(0.3, "levelset");
    check_wall(0.3, "particle");
}

static void check_says_that_thin_walls_are_widened(void** unused)
{
    (void)unused;
    const char* folder = test_folder("thin-walls");
    write_text(folder, "thin.yaml",
               "name: thin\ndomain: {min: [0, 0, 0], size: [1, 1, 1]}\nresolution: 20\n"
               "liquid: [{box: {min: [0, 0, 0], max: [0.4, 0.6, 1]}}]\n"
               "obstacles: [{box: {min: [0.5, -1, -1], max: [0.52, 2, 2]}}]\n");
    assert_program(folder, "check thin.yaml", 0, "it is widened to a cell inside the solve");
    assert_program(folder, "check thin.yaml --set resolution=60", 0, NULL);
    assert_null(strstr(program_output(folder), "widened"));
}

// Liquid of scenes/pour.yaml: inside the container, in the air outside of it, and in the pool; m3,
// by counting points.
static void split(const scene_run* run, double* held, double* spilt, double* pool)
{
    enum { N = 61 };    // no lattice plane of it lies on a wall
    ty_liquid liquid = ty_sim_liquid(&run->sim);
    ty_sampler solid = ty_world_obstacles(run->sim.world);
    double t = run->sim.time, s = ty_clamp((t - 0.25) / 2.25, 0.0, 1.0),
           angle = -110.0 * s * s * (3.0 - 2.0 * s) * M_PI / 180.0;
    double h = 1.2 / N, phi, wall;
    *spilt = *held = *pool = 0.0;
    for (int i = 0; i < N * N * N; ++i) {
        double x[1][3] = {{(i % N + 0.5) * h, (i / N % N + 0.5) * h, (i / N / N + 0.5) * h}};
        if (x[0][2] > 0.8) continue;
        ty_sample(&liquid.distance, 1, (const double(*)[3])x, &phi);
        ty_sample(&solid, 1, (const double(*)[3])x, &wall);
        if (phi >= 0.0 || wall <= 0.0) continue;
        double dx = x[0][0] - 0.55, dy = x[0][1] - 0.78;    // back into the container's own frame
        double u = 0.55 + cos(angle) * dx + sin(angle) * dy,
               v = 0.78 - sin(angle) * dx + cos(angle) * dy;
        bool in = u > 0.35 && u < 0.75 && v > 0.65 && v < 0.95 && x[0][2] > 0.2 && x[0][2] < 0.6;
        if (in) *held += h * h * h;
        else *(x[0][1] > 0.3 ? spilt : pool) += h * h * h;
    }
}

// Level in the container, the water meets its rim at atan(0.08 / 0.2) = 22 degrees, which it has
// after 0.88 s.
static void a_container_keeps_its_water_until_it_pours(void** unused)
{
    (void)unused;
    const char* sets[] = {"resolution=40"};
    static scene_run run;
    run = (scene_run){0};
    assert_ok(
        ty_scene_read(&run.def, TY_SOURCE_DIR "/scenes/pour.yaml", 1, sets, scene_says, NULL));
    assert_ok(ty_sim_create(&run.sim, &run.def));
    run.first = run.sim.stats.volume;
    double spilt, held, pool, full, first_pool;
    split(&run, &full, &spilt, &first_pool);
    assert_near(full, 0.4 * 0.22 * 0.4, 0.06 * full);    // as well as points count
    for (int frame = 2; frame <= 78; ++frame) {
        scene_frame(&run);
        assert_near(run.sim.stats.volume, run.first, 0.01 * run.first);
        if (frame % 6 && frame != 20) continue;
        split(&run, &held, &spilt, &pool);
        print_message("%.2f s: %.1f %% held, %.2f %% in the air\n", run.sim.time,
                      100.0 * held / full, 100.0 * spilt / full);
        if (frame <= 20) assert_near(spilt, 0.0, 1e-12);
        if (frame <= 20) assert_near(pool, first_pool, 0.005 * full);
        if (frame <= 20) assert_near(held, full, 0.07 * full);
    }
    assert_true(held < 0.1 * full);
    scene_end(&run);
}

int main(void)
{
    test_folder("bodies");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swelling_mesh_pushes_water_up),
        cmocka_unit_test(sequences_move_water_as_a_shape_does),
        cmocka_unit_test(walls_hold_water),
        cmocka_unit_test(check_says_that_thin_walls_are_widened),
        cmocka_unit_test(a_container_keeps_its_water_until_it_pours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
