// SPDX-License-Identifier: Apache-2.0
// Shapes and values from files: meshes, level sets, fields, and their sequences.
#include <math.h>
#include <string.h>

#include "format/file.h"
#include "format/test_files.h"
#include "format/vdb.h"
#include "world/mesh_body.h"
#include "world/shape.h"
#include "world/world_test.h"

static void write_cube(const char* path, ty_vec3 lo, ty_vec3 hi, bool inside_out)
{
    static const int quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    ty_file_writer w;
    assert_ok(ty_file_begin(&w, path));
    for (int k = 0; k < 8; ++k)
        ty_file_print(&w, "v %.17g %.17g %.17g\n", k & 1 ? hi[0] : lo[0], k & 2 ? hi[1] : lo[1],
                      k & 4 ? hi[2] : lo[2]);
    for (int f = 0; f < 6; ++f)
        for (int half = 0; half < 2; ++half) {
            int a = quad[f][0] + 1, b = quad[f][1 + half] + 1, c = quad[f][2 + half] + 1;
            ty_file_print(&w, "f %d %d %d\n", a, inside_out ? c : b, inside_out ? b : c);
        }
    assert_ok(ty_file_commit(&w));
}

// A ball of n x 2n facets about (cx, 0, 0).
static void write_ball(const char* path, double cx, double radius, int n)
{
    ty_file_writer w;
    assert_ok(ty_file_begin(&w, path));
    ty_file_print(&w, "v %.17g %.17g 0\nv %.17g %.17g 0\n", cx, radius, cx, -radius);
    for (int i = 1; i < n; ++i)
        for (int j = 0; j < 2 * n; ++j) {
            double a = M_PI * i / n, b = M_PI * j / n;
            ty_file_print(&w, "v %.17g %.17g %.17g\n", cx + radius * sin(a) * cos(b),
                          radius * cos(a), radius * sin(a) * sin(b));
        }
    for (int j = 0; j < 2 * n; ++j) {
        int next = (j + 1) % (2 * n), last = 3 + (n - 2) * 2 * n;
        ty_file_print(&w, "f 1 %d %d\nf 2 %d %d\n", 3 + next, 3 + j, last + j, last + next);
        for (int i = 0; i + 2 < n; ++i) {
            int up = 3 + i * 2 * n, down = up + 2 * n;
            ty_file_print(&w, "f %d %d %d\nf %d %d %d\n", up + j, up + next, down + j, up + next,
                          down + next, down + j);
        }
    }
    assert_ok(ty_file_commit(&w));
}

static ty_shape_def mesh_def(const char* path)
{
    ty_shape_def def = ty_shape_default(TY_SHAPE_MESH);
    def.file = ty_strdup(path);
    def.place = (ty_place){"scene.yaml", 3, 5};
    return def;
}

static void compare_with_box(const ty_shape* mesh, ty_vec3 lo, ty_vec3 hi)
{
    ty_shape_def def = ty_shape_default(TY_SHAPE_BOX);
    ty_store3(def.min, lo);
    ty_store3(def.max, hi);
    ty_shape box;
    assert_ok(ty_shape_create(&box, &def, 0.1, NULL));
    uint64_t seed = 1;
    for (int i = 0; i < 3000; ++i) {
        double x[1][3] = {{uniform(&seed, -1, 2), uniform(&seed, -1, 2), uniform(&seed, -1, 2)}}, a,
               b;
        ty_shape_distance(mesh, 1, (const double(*)[3])x, &a);
        ty_shape_distance(&box, 1, (const double(*)[3])x, &b);
        assert_near(a, b, 1e-12);
    }
    ty_shape_destroy(&box);
}

static void a_cube_of_triangles_is_a_box(void** state)
{
    const char* path = test_path(*state, "cube.obj");
    for (int inside_out = 0; inside_out < 2; ++inside_out) {
        write_cube(path, ty_vec(0, 0, 0), ty_vec(1, 0.5, 0.25), inside_out);
        ty_shape_def def = mesh_def(path);
        def.scale = 2.0;
        def.offset[0] = -0.5;
        ty_shape s;
        assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
        compare_with_box(&s, ty_vec(-0.5, 0, 0), ty_vec(1.5, 1, 0.5));
        assert_true(s.exact_band == INFINITY && !s.changes_ever);
        ty_shape_destroy(&s);
        ty_shape_def_free(&def);
    }
}

static void distances_are_those_to_every_triangle(void** state)
{
    const char* path = test_path(*state, "ball.obj");
    write_ball(path, 0.2, 0.7, 12);
    ty_tri_mesh m = {0};
    assert_ok(ty_mesh_body_read(&m, path, 1.0, (double[3]){0, 0, 0}));
    assert_ok(ty_tri_mesh_validate(&m));
    ty_shape_def def = mesh_def(path);
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
    uint64_t seed = 11;
    for (int i = 0; i < 500; ++i) {
        double x[1][3] = {{uniform(&seed, -1, 1.4), uniform(&seed, -1, 1), uniform(&seed, -1, 1)}},
               d, best = INFINITY;
        ty_shape_distance(&s, 1, (const double(*)[3])x, &d);
        for (int t = 0; t < m.n_tris; ++t) {
            const int* id = m.tri[t];
            best = fmin(best,
                        ty_closest_on_triangle(ty_load3(x[0]), ty_load3(m.vert[id[0]]),
                                               ty_load3(m.vert[id[1]]), ty_load3(m.vert[id[2]]))
                            .distance2);
        }
        assert_near(fabs(d), sqrt(best), 1e-12);
        double r = ty_norm(ty_load3(x[0]) - ty_vec(0.2, 0, 0));
        if (r < 0.66 || r > 0.7) assert_int_equal(d < 0.0, r < 0.68);
    }
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
    ty_tri_mesh_free(&m);
}

static void a_missing_file_is_named_with_its_place(void** state)
{
    ty_shape_def def = mesh_def(test_path(*state, "nothing.obj"));
    ty_shape s;
    ty_status status = ty_shape_create(&s, &def, 0.1, NULL);
    assert_int_equal(status.code, TY_IO);
    assert_int_equal(status.line, 3);
    assert_non_null(strstr(status.message, "nothing.obj"));
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

// Frame n is a unit cube at (0.1 n^2, 0, 0): the way between frames changes its speed.
static void a_mesh_sequence_moves_between_its_frames(void** state)
{
    for (int n = 0; n < 4; ++n) {
        char name[32];
        snprintf(name, sizeof name, "slide.%03d.obj", 5 + n);
        write_cube(test_path(*state, name), ty_vec(0.1 * n * n, 0, 0),
                   ty_vec(1 + 0.1 * n * n, 1, 1), false);
    }
    ty_shape_def def = mesh_def(test_path(*state, "slide.###.obj"));
    def.file_rate = 10;
    def.file_start = 5;
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
    assert_true(s.changes_ever && s.exact_band == INFINITY);
    const double times[] = {0.02, 0.1, 0.15, 0.29, 0.3, 0.31, 9.0},
                 at[] = {0.02, 0.1, 0.25, 0.85, 0.9, 0.9, 0.9};
    const double speed[] = {1, 1, 3, 5, 5, 0, 0};
    for (int k = 0; k < 7; ++k) {
        assert_ok(ty_shape_move(&s, times[k], 0.01));
        compare_with_box(&s, ty_vec(at[k], 0, 0), ty_vec(1 + at[k], 1, 1));
        double x[1][3] = {{at[k] + 0.5, 1.1, 0.4}}, v[1][3];
        ty_shape_velocity(&s, 1, (const double(*)[3])x, v);
        expect3(ty_load3(v[0]), speed[k], 0, 0);
        ty_box everywhere = {{-9, -9, -9}, {9, 9, 9}};
        assert_near(ty_shape_speed(&s, &everywhere), speed[k], 1e-12);
        assert_int_equal(s.moves, speed[k] > 0);
    }
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

static void frames_with_other_triangles_move_by_their_distances(void** state)
{
    write_ball(test_path(*state, "grow.01.obj"), 0, 0.5, 40);
    write_ball(test_path(*state, "grow.02.obj"), 0, 0.6, 50);
    ty_shape_def def = mesh_def(test_path(*state, "grow.##.obj"));
    def.file_rate = 20;
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.05, NULL));
    assert_ok(ty_shape_move(&s, 0.02, 0.01));    // 0.4 of the way: radius 0.54
    double x[1][3] = {{0.3, 0.4, 0.2}}, d, v[1][3];
    double r = ty_norm(ty_load3(x[0]));
    ty_shape_distance(&s, 1, (const double(*)[3])x, &d);
    assert_near(d, r - 0.54, 2e-3);
    ty_shape_velocity(&s, 1, (const double(*)[3])x, v);
    assert_near(ty_norm(ty_load3(v[0]) - 2.0 / r * ty_load3(x[0])), 0, 0.06);
    assert_true(s.exact_band == 0.0);
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

enum { SIDE = 40 };

// A level set of a ball of radius r about (cx, 1, 1), voxels of 0.05 m.
static ty_status write_level_set(const char* path, double cx, double r)
{
    static float values[SIDE * SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        ty_vec3 x = 0.05 * ty_vec(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
        values[i] = (float)(ty_norm(x - ty_vec(cx, 1, 1)) - r);
    }
    ty_vdb_grid g = ty_vdb_grid_default();
    g.name = "surface";
    g.class_ = TY_VDB_LEVEL_SET;
    g.width = 1;
    g.values = values;
    for (int axis = 0; axis < 3; ++axis) g.n[axis] = SIDE;
    g.cell = 0.05;
    g.offset = 0.0;
    g.background = 0.2f;
    return ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_NONE);
}

static bool have_vdb(void** state)
{
    return write_level_set(test_path(*state, "probe.vdb"), 1, 0.4).code != TY_NOT_YET;
}

static ty_shape_def volume_def(const char* path)
{
    ty_shape_def def = ty_shape_default(TY_SHAPE_VOLUME);
    def.file = ty_strdup(path);
    def.grid = ty_strdup("surface");
    return def;
}

static void a_level_set_file_is_a_shape(void** state)
{
    if (!have_vdb(state)) skip();
    assert_ok(write_level_set(test_path(*state, "ball.vdb"), 1, 0.5));
    ty_shape_def def = volume_def(test_path(*state, "ball.vdb"));
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.05, NULL));
    uint64_t seed = 6;
    for (int i = 0; i < 2000; ++i) {
        double x[1][3] = {{uniform(&seed, -1, 3), uniform(&seed, -1, 3), uniform(&seed, -1, 3)}}, d;
        double exact = ty_norm(ty_load3(x[0]) - ty_vec(1, 1, 1)) - 0.5;
        ty_shape_distance(&s, 1, (const double(*)[3])x, &d);
        if (fabs(exact) < 0.12) assert_near(d, exact, 3e-3);
        else if (exact > 0) assert_true(d > 0.1 && d <= exact + 1e-3);
        else assert_true(d < -0.1 && d >= -0.2001);
    }
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

static void a_level_set_sequence_has_a_normal_velocity(void** state)
{
    if (!have_vdb(state)) skip();
    assert_ok(write_level_set(test_path(*state, "ls.0001.vdb"), 1.00, 0.5));
    assert_ok(write_level_set(test_path(*state, "ls.0002.vdb"), 1.02, 0.5));
    ty_shape_def def = volume_def(test_path(*state, "ls.####.vdb"));
    def.file_rate = 25;
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.05, NULL));
    assert_ok(ty_shape_move(&s, 0.03, 0.01));    // at 1.015, with 0.5 m/s
    double x[2][3] = {{1.515, 1, 1}, {1.015, 1.5, 1}}, d[2], v[2][3];
    ty_shape_distance(&s, 2, (const double(*)[3])x, d);
    ty_shape_velocity(&s, 2, (const double(*)[3])x, v);
    assert_near(d[0], 0, 2e-3);
    assert_near(v[0][0], 0.5, 0.02);
    assert_near(ty_norm(ty_load3(v[1])), 0, 0.03);
    assert_true(s.moves);
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

// v = (1 + frame) (x, y, z), which trilinear interpolation and lines between frames give exactly.
static ty_status write_field(const char* path, double factor)
{
    static float values[12 * 12 * 12][3];
    for (int i = 0; i < 12 * 12 * 12; ++i) {
        const int k[3] = {i % 12, i / 12 % 12, i / 144};
        for (int c = 0; c < 3; ++c) values[i][c] = (float)(factor * 0.25 * k[c]);
    }
    ty_vdb_grid g = ty_vdb_grid_default();
    g.name = "velocity";
    g.class_ = TY_VDB_PLAIN;
    g.width = 3;
    g.values = values[0];
    for (int axis = 0; axis < 3; ++axis) g.n[axis] = 12;
    g.cell = 0.25;
    g.offset = 0.0;
    return ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_NONE);
}

static void a_field_sequence_is_a_varying_vector(void** state)
{
    if (!have_vdb(state)) skip();
    for (int n = 0; n < 3; ++n) {
        char name[32];
        snprintf(name, sizeof name, "wind.%04d.vdb", 7 + n);
        assert_ok(write_field(test_path(*state, name), 1 + n));
    }
    ty_varying v = ty_varying_vector(0, 0, 0);
    v.kind = TY_VARY_VOLUME;
    v.volume_file = ty_strdup(test_path(*state, "wind.####.vdb"));
    v.volume_grid = ty_strdup("velocity");
    v.volume_rate = 10;
    v.volume_start = 7;
    assert_ok(ty_varying_prepare(&v, 0.04, 0.16));
    double x[1][3] = {{0.6, 1.1, 0.3}}, out[3];
    for (double t = 0.04; t < 0.17; t += 0.03) {
        assert_ok(ty_varying_eval(&v, t, 1, (const double(*)[3])x, out));
        for (int c = 0; c < 3; ++c) assert_near(out[c], (1 + 10 * t) * x[0][c], 1e-6);
    }
    assert_ok(ty_varying_prepare(&v, 5, 5.1));    // after the last it is held
    assert_ok(ty_varying_eval(&v, 5.05, 1, (const double(*)[3])x, out));
    assert_near(out[0], 3 * 0.6, 1e-6);
    v.width = 1;
    ty_varying_unload(&v);
    assert_code(ty_varying_prepare(&v, 0, 0), TY_BAD_INPUT);    // vectors where numbers are needed
    ty_varying_free(&v);
}

static void a_guide_draws_to_its_mesh_and_along_it(void** state)
{
    write_cube(test_path(*state, "slab.obj"), ty_vec(-5, -1, -5), ty_vec(5, 0, 5), false);
    ty_world_def def = ty_world_default();
    ty_force_def* f = grow(def.forces, def.n_forces);
    *f = ty_force_default(TY_FORCE_GUIDE);
    f->file = ty_strdup(test_path(*state, "slab.obj"));
    f->radius = 0.5;
    f->vector = ty_varying_vector(3, 7, 0);
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    double x[2][3] = {{0.3, 0.25, 0.1}, {0.3, 0.6, 0.1}}, v[2][3] = {{0}}, a[2][3] = {{0}};
    assert_ok(ty_world_forces(w, 2, (const double(*)[3])x, (const double(*)[3])v, a));
    expect3(ty_load3(a[0]), 0.5625 * 3, -0.5625 * 0.5, 0);
    expect3(ty_load3(a[1]), 0, 0, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_of_triangles_is_a_box),
        cmocka_unit_test(distances_are_those_to_every_triangle),
        cmocka_unit_test(a_missing_file_is_named_with_its_place),
        cmocka_unit_test(a_mesh_sequence_moves_between_its_frames),
        cmocka_unit_test(frames_with_other_triangles_move_by_their_distances),
        cmocka_unit_test(a_level_set_file_is_a_shape),
        cmocka_unit_test(a_level_set_sequence_has_a_normal_velocity),
        cmocka_unit_test(a_field_sequence_is_a_varying_vector),
        cmocka_unit_test(a_guide_draws_to_its_mesh_and_along_it),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
