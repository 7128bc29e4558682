// SPDX-License-Identifier: Apache-2.0
#include "render/draw.h"

#include <string.h>

#include "core/parallel.h"
#include "mesh/contour.h"
#include "render/normals.h"
#include "render/optics.h"
#include "render/scenery.h"
#include "render/solids.h"
#include "test.h"

static void sphere_eval(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i])) - 1.0;
}

// A unit sphere with smooth normals.
static void add_sphere(ty_stage* stage, ty_matter matter)
{
    enum { N = 24 };
    double values[N * N * N];
    ty_sampler phi = {NULL, 1, INFINITY, sphere_eval};
    ty_contour_lattice lattice = {{-1.15, -1.15, -1.15}, 0.1, {N, N, N}, values, NULL, 0.0};
    for (int i = 0; i < N * N * N; ++i) {
        double x[1][3] = {
            {-1.15 + 0.1 * (i % N), -1.15 + 0.1 * (i / N % N), -1.15 + 0.1 * (i / N / N)}};
        sphere_eval(NULL, 1, (const double(*)[3])x, &values[i]);
    }
    ty_contour scratch = {0};
    ty_tri_mesh mesh = {0};
    assert_ok(ty_contour_grid(&scratch, &lattice, &phi, TY_CONTOUR_REFINE, &mesh));
    float(*normal)[3] = ty_alloc(3 * (size_t)mesh.n_tris, sizeof *normal);
    assert_ok(ty_corner_normals(&mesh, NULL, -1.0, normal));
    assert_ok(ty_stage_add(stage, &(ty_stage_mesh){.n_verts = mesh.n_verts,
                                                   .n_tris = mesh.n_tris,
                                                   .matter = matter,
                                                   .vert = (const double(*)[3])mesh.vert,
                                                   .tri = (const int(*)[3])mesh.tri,
                                                   .normal = (const float(*)[3])normal}));
    ty_free(normal);
    ty_tri_mesh_free(&mesh);
    ty_contour_free(&scratch);
}

static ty_camera front_camera(double distance, double fov)
{
    const double eye[3] = {0, 0, distance}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return ty_camera_make(eye, target, up, fov, 1.0);
}

static void draw_stage(ty_stage* stage, double distance, double fov, int size, int samples,
                       ty_canvas* canvas)
{
    ty_draw_def def = ty_draw_default();
    def.width = def.height = size;
    def.samples = samples;
    ty_camera camera = front_camera(distance, fov);
    assert_ok(ty_stage_commit(stage));
    assert_ok(ty_draw_canvas(stage, &camera, &def, canvas));
}

// Under a sky that is 1 everywhere, a white, a clear and a glass sphere are all 1 everywhere: they
// cannot be seen.
static void white_furnace(void** state)
{
    (void)state;
    const ty_matter matters[] = {{.kind = TY_MATTE, .colour = ty_vec(1, 1, 1)},
                                 {.kind = TY_CLEAR},
                                 {.kind = TY_PANE, .colour = ty_vec(1, 1, 1)}};
    for (int m = 0; m < 3; ++m) {
        ty_stage stage = {0};
        ty_canvas canvas = {0};
        assert_ok(ty_stage_create(&stage, 1, 2.0));
        stage.sky = ty_sky_even(1.0);
        add_sphere(&stage, matters[m]);
        draw_stage(&stage, 4.0, 40.0, 24, 16, &canvas);
        for (int i = 0; i < 24 * 24; ++i)
            for (int c = 0; c < 3; ++c) assert_near((double)canvas.pixels[i].light[c], 1.0, 1e-5);
        ty_canvas_free(&canvas);
        ty_stage_destroy(&stage);
    }
}

// A convex grey body scatters its albedo.
static void a_grey_furnace_shows_the_albedo(void** state)
{
    (void)state;
    ty_stage stage = {0};
    ty_canvas canvas = {0};
    assert_ok(ty_stage_create(&stage, 1, 2.0));
    stage.sky = ty_sky_even(1.0);
    add_sphere(&stage, (ty_matter){.kind = TY_MATTE, .colour = ty_vec(0.2, 0.5, 0.8)});
    draw_stage(&stage, 4.0, 10.0, 8, 4, &canvas);
    for (int i = 0; i < 64; ++i) {
        assert_near((double)canvas.pixels[i].light[0], 0.2, 1e-5);
        assert_near((double)canvas.pixels[i].light[2], 0.8, 1e-5);
    }
    ty_canvas_free(&canvas);
    ty_stage_destroy(&stage);
}

// A slab of water between two planes, looked at squarely: what goes through and what comes back is
// a geometric series.
static void a_slab_of_water_absorbs_by_beers_law(void** state)
{
    (void)state;
    ty_stage stage = {0};
    ty_canvas canvas = {0};
    ty_tri_mesh mesh = {0};
    const double lo[3] = {-50, -50, -0.5}, hi[3] = {50, 50, 0.5};
    assert_ok(ty_stage_create(&stage, 1, 10.0));
    stage.sky = ty_sky_even(1.0);
    stage.absorption = ty_vec(1.0, 0.3, 0.0);
    assert_ok(ty_add_box(&mesh, lo, hi));
    assert_ok(ty_stage_add(&stage, &(ty_stage_mesh){.n_verts = 8,
                                                    .n_tris = 12,
                                                    .vert = (const double(*)[3])mesh.vert,
                                                    .tri = (const int(*)[3])mesh.tri,
                                                    .matter = {.kind = TY_CLEAR}}));
    draw_stage(&stage, 3.0, 0.5, 4, 1024, &canvas);
    double f = ty_fresnel(1.0, TY_WATER_INDEX);
    for (int c = 0; c < 3; ++c) {
        double e = exp(-stage.absorption[c]), bounces = 1.0 - f * f * e * e;
        double expected = f + (1 - f) * (1 - f) * e / bounces +
                          f * (1 - f) * (1 - f) * e * e / bounces;
        double mean = 0.0;
        for (int i = 0; i < 16; ++i) mean += (double)canvas.pixels[i].light[c] / 16;
        assert_near(mean, expected, 2e-3);
    }
    ty_vec3 passes = ty_stage_passes(&stage, ty_vec(0, 0, 3), ty_vec(0, 0, -1), 0.5, false);
    assert_near(passes[1], (1 - f) * (1 - f) * exp(-0.3), 1e-4);
    assert_true(ty_stage_in_liquid(&stage, ty_vec(0, 0, 0)));
    assert_false(ty_stage_in_liquid(&stage, ty_vec(0, 0, 1)));
    ty_tri_mesh_free(&mesh);
    ty_canvas_free(&canvas);
    ty_stage_destroy(&stage);
}

// A tank half full, with a ball in it, in motion.
static void make_tank(ty_world_def* world, ty_obstacle_def* ball, ty_tri_mesh* water)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {2, 0.5, 1};
    *world = ty_world_default();
    *ball = ty_obstacle_default(TY_SHAPE_SPHERE);
    ball->shape.center[0] = 1.0;
    ball->shape.center[1] = 0.55;
    ball->shape.center[2] = 0.5;
    ball->shape.radius = 0.2;
    world->has_domain = true;
    world->max[0] = 2.0;
    world->max[1] = world->max[2] = 1.0;
    world->wall[TY_TOP].closed = false;
    world->obstacles = ball;
    world->n_obstacles = 1;
    assert_ok(ty_add_box(water, lo, hi));
    float* velocity = ty_tri_mesh_add_attribute(water, "velocity", 3);
    for (int i = 0; i < 24; ++i) velocity[i] = 2.0f;
}

static void pictures_are_the_same_for_any_number_of_threads(void** state)
{
    (void)state;
    ty_world_def world;
    ty_obstacle_def ball;
    ty_tri_mesh water = {0};
    ty_image first = {0};
    make_tank(&world, &ball, &water);
    for (int threads = 1; threads <= 3; ++threads) {
        ty_scenery* scenery = NULL;
        ty_stage stage = {0};
        ty_image image = {0};
        ty_draw_def def = ty_draw_default();
        def.width = 80;
        def.height = 44;
        def.samples = 3;
        ty_threads_set(threads);
        assert_ok(ty_scenery_create(
            &scenery, &(ty_scenery_def){.world = &world, .cell = 0.05, .tank = true, .tint = 1}));
        assert_ok(ty_scenery_stage(scenery, &water, 0.0, 0.02, &stage));
        ty_box box = ty_scenery_box(scenery);
        ty_camera camera = ty_camera_framing(&box, 1, 80.0 / 44.0);
        assert_ok(ty_draw(&stage, &camera, &def, threads == 1 ? &first : &image));
        if (threads > 1) assert_memory_equal(first.rgb, image.rgb, 80 * 44 * 3);
        ty_image_free(&image);
        ty_stage_destroy(&stage);
        ty_scenery_destroy(scenery);
    }
    ty_image_free(&first);
    ty_tri_mesh_free(&water);
}

// From the side: glass, then water, then the other side's water and glass. From above: water, then
// the tank's floor with no face of the water on it.
static void no_two_faces_lie_on_each_other(void** state)
{
    (void)state;
    ty_world_def world;
    ty_obstacle_def ball;
    ty_tri_mesh water = {0};
    ty_scenery* scenery = NULL;
    ty_stage stage = {0};
    make_tank(&world, &ball, &water);
    assert_ok(ty_scenery_create(
        &scenery, &(ty_scenery_def){.world = &world, .cell = 0.05, .tank = true, .tint = 1}));
    assert_ok(ty_scenery_stage(scenery, &water, 0.0, 0.02, &stage));
    const ty_matter_kind across[] = {TY_PANE, TY_CLEAR, TY_CLEAR, TY_PANE};
    const double where[] = {-0.002, 0.0, 2.0, 2.002};
    ty_vec3 from = ty_vec(-1, 0.1, 0.3), dir = ty_vec(1, 0, 0);
    for (int i = 0; i < 4; ++i) {
        ty_hit hit = ty_stage_trace(&stage, from, dir, 0.9);
        assert_int_equal(hit.matter->kind, across[i]);
        assert_near(hit.at[0], where[i], 1e-6);
        from = ty_stage_leave(&stage, &hit, dir);
    }
    assert_true(ty_stage_trace(&stage, from, dir, 0.9).t == INFINITY);
    dir = ty_vec(0, -1, 0);
    ty_hit top = ty_stage_trace(&stage, ty_vec(0.3, 2, 0.3), dir, 0.5);
    ty_hit floor = ty_stage_trace(&stage, ty_stage_leave(&stage, &top, dir), dir, 0.5);
    assert_int_equal(top.matter->kind, TY_CLEAR);
    assert_near(top.at[1], 0.5, 1e-6);
    assert_int_equal(floor.matter->kind, TY_MATTE);
    assert_near(floor.at[1], 0.0, 1e-6);
    assert_true(floor.matter->mapped);
    ty_stage_destroy(&stage);
    ty_scenery_destroy(scenery);
    ty_tri_mesh_free(&water);
}

// Below a still pool the sun map is what flat water lets through: Fresnel, and Beer along the bent
// path.
static void still_water_lights_its_floor_evenly(void** state)
{
    (void)state;
    ty_world_def world;
    ty_obstacle_def ball;
    ty_tri_mesh water = {0};
    ty_scenery* scenery = NULL;
    ty_stage stage = {0};
    make_tank(&world, &ball, &water);
    world.n_obstacles = 0;
    assert_ok(ty_scenery_create(
        &scenery, &(ty_scenery_def){.world = &world, .cell = 0.05, .tank = true, .tint = 1}));
    assert_ok(ty_scenery_stage(scenery, &water, 0.0, 0.0, &stage));
    double cosine = stage.sky.sun_dir[1], sine = sqrt(1 - cosine * cosine) / TY_WATER_INDEX;
    double expected = (1 - ty_fresnel(cosine, TY_WATER_INDEX)) *
                      exp(-stage.absorption[1] * 0.5 / sqrt(1 - sine * sine));
    double mean = 0.0;
    // Where no light arrives that came in through the sides.
    for (int i = 0; i < 100; ++i)
        mean += ty_sun_map_at(&stage.sun_map, ty_vec(0.9 + 0.002 * i, 0, 0.8)) / 100;
    assert_near(mean, expected, 0.02);    // the sun's disc has a few degrees
    ty_stage_destroy(&stage);
    ty_scenery_destroy(scenery);
    ty_tri_mesh_free(&water);
}

static void out_of_memory_is_reported_and_nothing_leaks(void** state)
{
    (void)state;
    ty_world_def world;
    ty_obstacle_def ball;
    ty_tri_mesh water = {0};
    make_tank(&world, &ball, &water);
    ball = ty_obstacle_default(TY_SHAPE_CYLINDER);
    int64_t alive = ty_memory_alive();
    ty_code code = TY_NO_MEMORY;
    for (int k = 1; k < 200 && code == TY_NO_MEMORY; ++k) {
        ty_scenery* scenery = NULL;
        ty_stage stage = {0};
        ty_memory_fail_after(k);
        ty_status status = ty_scenery_create(
            &scenery, &(ty_scenery_def){.world = &world, .cell = 0.1, .tank = true, .tint = 1});
        if (status.code == TY_OK) status = ty_scenery_stage(scenery, &water, 0.0, 0.02, &stage);
        ty_memory_fail_after(0);
        code = status.code;
        ty_stage_destroy(&stage);
        ty_scenery_destroy(scenery);
        assert_int_equal(ty_memory_alive(), alive);
    }
    assert_int_equal(code, TY_OK);
    ty_tri_mesh_free(&water);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_furnace),
        cmocka_unit_test(a_grey_furnace_shows_the_albedo),
        cmocka_unit_test(a_slab_of_water_absorbs_by_beers_law),
        cmocka_unit_test(pictures_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(no_two_faces_lie_on_each_other),
        cmocka_unit_test(still_water_lights_its_floor_evenly),
        cmocka_unit_test(out_of_memory_is_reported_and_nothing_leaks),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
