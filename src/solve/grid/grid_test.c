// SPDX-License-Identifier: Apache-2.0
#include "solve/grid/gridflow.h"

#include <math.h>
#include <string.h>

#include "solve/grid/rig.h"

static void everywhere(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self, (void)x;
    for (int i = 0; i < n; ++i) out[i] = -1.0;
}

static void fill_domain(rig* r) { r->liquid.distance = (ty_sampler){r, 1, 0.0, everywhere}; }

static ty_obstacle_def* add_obstacle(rig* r, ty_shape_kind kind)
{
    r->def.obstacles = ty_realloc(r->def.obstacles, (size_t)r->def.n_obstacles,
                                  (size_t)r->def.n_obstacles + 1, sizeof *r->def.obstacles);
    r->def.obstacles[r->def.n_obstacles] = ty_obstacle_default(kind);
    return &r->def.obstacles[r->def.n_obstacles++];
}

static void add_liquid(rig* r, double vx, double vy, double vz, const char* const expr[3])
{
    r->def.liquids = ty_alloc(1, sizeof *r->def.liquids);
    r->def.n_liquids = 1;
    r->def.liquids[0] = ty_liquid_default(TY_SHAPE_BOX);
    for (int axis = 0; axis < 3; ++axis)
        r->def.liquids[0].shape.min[axis] = -9.0, r->def.liquids[0].shape.max[axis] = 9.0;
    ty_varying v = ty_varying_vector(vx, vy, vz);
    if (expr) v.kind = TY_VARY_EXPRESSION;
    for (int axis = 0; axis < 3 && expr; ++axis)
        assert_ok(ty_expr_create(&v.expr[axis], expr[axis]));
    r->def.liquids[0].velocity = v;
}

static void set3(double out[3], double x, double y, double z)
{
    out[0] = x, out[1] = y, out[2] = z;
}

static void add_ball_and_column(rig* r)
{
    ty_obstacle_def* ball = add_obstacle(r, TY_SHAPE_SPHERE);
    set3(ball->shape.center, 0.45, 0.4, 0.52);
    ball->shape.radius = 0.23;
    ty_obstacle_def* column = add_obstacle(r, TY_SHAPE_CYLINDER);
    set3(column->shape.from, 0.8, -0.1, 0.8);
    set3(column->shape.to, 0.82, 1.1, 0.77);
    column->shape.radius = 0.09;
}

static void check_pool(const double g[3], double level, bool reduced, double theta)
{
    rig r = rig_cube(16);
    r.solve.reduced_pressure = reduced;
    r.solve.theta = theta;
    r.def.gravity = ty_varying_vector(g[0], g[1], g[2]);
    ty_vec3 up = ty_normalize(-ty_load3(g));
    half_space pool = {.level = ty_dot(up, ty_vec(0.5, level, 0.5))};
    ty_store3(pool.normal, up);
    rig_liquid(&r, &pool);
    add_ball_and_column(&r);
    assert_ok(rig_start(&r));
    for (int frame = 0; frame < 100; ++frame) assert_ok(rig_step(&r, 1.0 / 24.0));
    assert_near(rig_speed(&r), 0.0, 1e-9);
    double x[1][3] = {{0.1, 0.0, 0.1}}, p;
    ty_flow flow = ty_solver_grid.flow(r.self);
    ty_sample(&flow.pressure, 1, (const double(*)[3])x, &p);
    assert_near(p, 1000.0 * ty_norm(ty_load3(g)) * (pool.level - ty_dot(up, ty_load3(x[0]))), 1e-6);
    rig_end(&r);
}

static void pool_with_obstacles_stays_still(void** unused)
{
    (void)unused;
    const double level[3] = {0, -9.81, 0}, tilted[3] = {3.1, -9.0, 1.7};
    // 0.53125 is a layer of cell centres, 0.5 one of faces.
    const double heights[3] = {0.53, 0.53125, 0.5};
    for (int reduced = 0; reduced < 2; ++reduced) {
        for (int i = 0; i < 3; ++i) check_pool(level, heights[i], reduced, 0.55);
        check_pool(level, 0.53, reduced, 1.0);
        check_pool(tilted, 0.53, reduced, 0.55);
        check_pool(tilted, 0.53, reduced, 1.0);
    }
}

static double farthest_from(const rig* r, ty_vec3 u, ty_vec3 normal, double level)
{
    ty_flow flow = ty_solver_grid.flow(r->self);
    double worst = 0.0;
    for (int i = 0; i < 4096; ++i) {
        double x[1][3] = {{(i % 16 + 0.4) / 16.0, (i / 16 % 16 + 0.7) / 16.0,
                           (i / 256 + 0.3) / 16.0}},
               v[3];
        if (ty_dot(normal, ty_load3(x[0])) < level) continue;
        ty_sample(&flow.velocity, 1, (const double(*)[3])x, v);
        worst = fmax(worst, ty_norm(ty_load3(v) - u));
    }
    return worst;
}

static void stream_along_a_tilted_wall_stays_uniform(void** unused)
{
    (void)unused;
    rig r = rig_cube(16);
    ty_vec3 normal = ty_normalize(ty_vec(-0.3, 1.0, 0.2)),
            u = 0.7 * ty_normalize(ty_vec(1.0, 0.5, -1.0));
    assert_near(ty_dot(normal, u), 0.0, 1e-12);
    for (int side = 0; side < TY_N_SIDES; ++side) r.def.wall[side].closed = false;
    r.def.gravity = ty_varying_vector(0, 0, 0);
    ty_obstacle_def* wall = add_obstacle(&r, TY_SHAPE_PLANE);
    set3(wall->shape.point, 0.5, 0.3, 0.5);
    ty_store3(wall->shape.normal, normal);
    add_liquid(&r, u[0], u[1], u[2], NULL);
    fill_domain(&r);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 30; ++step) assert_ok(rig_step(&r, 0.06));
    double level = ty_dot(normal, ty_vec(0.5, 0.3, 0.5));
    assert_near(farthest_from(&r, u, normal, level), 0.0, 1e-9);
    rig_end(&r);
}

// A tilted box, full, turning about z with its water.
static void full_container_turns_rigidly(void** unused)
{
    (void)unused;
    rig r = rig_cube(24);
    const double turn = 2.0;    // radians a second
    for (int axis = 0; axis < 3; ++axis) r.def.min[axis] = -0.5, r.def.max[axis] = 0.5;
    ty_obstacle_def* box = add_obstacle(&r, TY_SHAPE_BOX);
    set3(box->shape.min, -0.3, -0.25, -0.3);
    set3(box->shape.max, 0.3, 0.25, 0.3);
    box->shape.invert = true;
    box->shape.linear = true;
    box->shape.n_keys = 9;
    box->shape.keys = ty_alloc_zero(9, sizeof(ty_pose_key));
    for (int k = 0; k < 9; ++k)
        box->shape.keys[k] = (ty_pose_key){
            .time = k * M_PI / 8, .axis = {0, 0, 1}, .degrees = 20 + turn * k * 22.5, .scale = 1.0};
    const char* const spin[3] = {"-2*y", "2*x", "0"};
    add_liquid(&r, 0, 0, 0, spin);
    fill_domain(&r);
    assert_ok(rig_start(&r));
    int steps = 60;    // half a turn
    for (int i = 0; i < steps; ++i) assert_ok(rig_step(&r, M_PI / turn / steps));
    ty_flow flow = ty_solver_grid.flow(r.self);
    double worst = 0.0;
    for (int i = 0; i < 1000; ++i) {
        double x[1][3] = {{(i % 10 - 4.5) * 0.036, (i / 10 % 10 - 4.5) * 0.036,
                           (i / 100 - 4.5) * 0.045}},
               v[3];
        ty_sample(&flow.velocity, 1, (const double(*)[3])x, v);
        worst = fmax(worst, ty_norm(ty_load3(v) - ty_vec(-turn * x[0][1], turn * x[0][0], 0.0)));
    }
    assert_near(worst, 0.0, 0.02 * turn * 0.3);
    rig_end(&r);
}

typedef struct ball {
    double center[3], radius;
} ball;

static void ball_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ball* b = self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(b->center)) - b->radius;
}

static void ball_falls_freely(void** unused)
{
    (void)unused;
    for (int reduced = 0; reduced < 2; ++reduced) {
        rig r = rig_cube(20);
        ball b = {{0.5, 0.75, 0.48}, 0.17};
        r.solve.reduced_pressure = reduced;
        r.liquid.distance = (ty_sampler){&b, 1, 1.0, ball_eval};
        assert_ok(rig_start(&r));
        double dt = 0.02;
        for (int step = 1; step <= 15; ++step) {
            b.center[1] = 0.75 - 0.5 * 9.81 * (step * dt) * (step * dt);
            assert_ok(rig_step(&r, dt));
        }
        double v[3];
        ty_flow flow = ty_solver_grid.flow(r.self);
        ty_sample(&flow.velocity, 1, (const double(*)[3])b.center, v);
        assert_near(v[1], -9.81 * r.time, 1e-6);
        assert_near(hypot(v[0], v[2]), 0.0, 1e-6);
        rig_end(&r);
    }
}

static void full_closed_box_is_still_and_has_a_pressure(void** unused)
{
    (void)unused;
    rig r = rig_cube(12);
    r.def.wall[TY_TOP].closed = true;
    fill_domain(&r);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 10; ++step) assert_ok(rig_step(&r, 0.04));
    assert_near(rig_speed(&r), 0.0, 1e-12);
    double x[2][3] = {{0.5, 0.0, 0.5}, {0.5, 1.0, 0.5}}, p[2];
    ty_flow flow = ty_solver_grid.flow(r.self);
    ty_sample(&flow.pressure, 2, (const double(*)[3])x, p);
    assert_near(p[0] - p[1], 9810.0, 1e-6);
    rig_end(&r);
}

static void vortex_never_gains_energy(void** unused)
{
    (void)unused;
    const char* const vortex[3] = {"sin(pi*x)*cos(pi*y)*cos(pi*z)",
                                   "-cos(pi*x)*sin(pi*y)*cos(pi*z)", "0"};
    for (int plain = 0; plain < 2; ++plain) {
        rig r = rig_cube(16);
        r.def.wall[TY_TOP].closed = true;
        r.def.gravity = ty_varying_vector(0, 0, 0);
        if (plain) r.solve.theta = 1.0, r.solve.advection = TY_ADVECT_MACCORMACK;
        add_liquid(&r, 0, 0, 0, vortex);
        fill_domain(&r);
        assert_ok(rig_start(&r));
        double start = r.stats.kinetic_energy, last = start;
        assert_near(start, 0.5 * 1000.0 * 0.25, 0.5);
        for (int step = 0; step < 16; ++step) {
            assert_ok(rig_step(&r, 0.06));
            assert_true(r.stats.kinetic_energy <= last + 1e-3 * start);
            assert_true(r.stats.max_divergence < 1e-4);
            last = r.stats.kinetic_energy;
        }
        assert_true(last > (plain ? 0.6 : 0.93) * start);
        rig_end(&r);
    }
}

// Plates that slide against each other: the velocity between them becomes linear.
static void viscous_flow_between_plates_is_linear(void** unused)
{
    (void)unused;
    rig r = rig_cube(8);
    r.def.gravity = ty_varying_vector(0, 0, 0);
    r.def.wall[TY_LEFT].closed = r.def.wall[TY_RIGHT].closed = false;
    r.def.wall[TY_TOP] = (ty_wall_def){
        .closed = true, .velocity = ty_varying_vector(2, 0, 0), .slip = 0.0};
    r.def.wall[TY_BOTTOM].slip = 0.0;
    r.solve.viscosity = ty_varying_number(1e3);    // 1 m2/s
    r.solve.tolerance = 1e-10;
    fill_domain(&r);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 60; ++step) assert_ok(rig_step(&r, 0.05));
    double x[3][3] = {{0.5, 0.2, 0.4}, {0.3, 0.5, 0.5}, {0.6, 0.95, 0.7}}, v[9];
    ty_flow flow = ty_solver_grid.flow(r.self);
    ty_sample(&flow.velocity, 3, (const double(*)[3])x, v);
    for (int i = 0; i < 3; ++i) assert_near(v[3 * i], 2.0 * x[i][1], 1e-6);
    rig_end(&r);
}

static void submerged_source_pushes_its_rate(void** unused)
{
    (void)unused;
    rig r = rig_cube(20);
    half_space pool = {{0, 1, 0}, 0.8};
    rig_liquid(&r, &pool);
    r.def.n_sources = 1;
    r.def.sources = ty_alloc(1, sizeof *r.def.sources);
    r.def.sources[0] = ty_source_default(TY_SHAPE_BOX);
    set3(r.def.sources[0].shape.min, 0.21, 0.22, 0.33);
    set3(r.def.sources[0].shape.max, 0.49, 0.47, 0.61);
    r.def.sources[0].velocity = ty_varying_vector(0.5, 0, 0);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 3; ++step) assert_ok(rig_step(&r, 0.02));
    ty_flow flow = ty_solver_grid.flow(r.self);
    double flux = 0.0;
    for (int i = 0; i < 400; ++i) {
        double x[1][3] = {{(i % 20 + 0.5) / 20, 0.75, (i / 20 + 0.5) / 20}}, v[3];
        ty_sample(&flow.velocity, 1, (const double(*)[3])x, v);
        flux += v[1] / 400;
    }
    assert_near(flux, 0.5 * 0.25 * 0.28, 1e-4 * 0.5 * 0.25 * 0.28);
    double inside[1][3] = {{0.35, 0.35, 0.47}}, v[3];
    ty_sample(&flow.velocity, 1, (const double(*)[3])inside, v);
    assert_near(v[0], 0.5, 1e-12);
    rig_end(&r);
}

// Two pools of different height, side by side, each continued to the middle of the plate.
static void two_levels(const void* self, int n, const double (*x)[3], double* out)
{
    const double* plate = self;    // normal x, y, z and level
    for (int i = 0; i < n; ++i) {
        double side = plate[0] * x[i][0] + plate[1] * x[i][1] + plate[2] * x[i][2] - plate[3];
        out[i] = x[i][1] - (side < 0.0 ? 0.81 : 0.33);
    }
}

static void wall_thinner_than_a_cell_holds_water(void** unused)
{
    (void)unused;
    for (int kind = 0; kind < 6; ++kind) {
        rig r = rig_cube(16);
        ty_vec3 normal = ty_normalize(kind % 2 ? ty_vec(1.0, 0.13, -0.21) : ty_vec(1, 0, 0));
        double thickness = (kind / 2 == 0 ? 0.05 : kind / 2 == 1 ? 0.6 : 1.2) / 16.0, level = 0.517;
        level = ty_dot(normal, ty_vec(level, 0.5, 0.5));
        // A plate: what is between two planes.
        ty_obstacle_def* plate = add_obstacle(&r, TY_SHAPE_INTERSECTION);
        plate->shape.n_children = 2;
        plate->shape.children = ty_alloc(2, sizeof *plate->shape.children);
        for (int side = 0; side < 2; ++side) {
            ty_shape_def* half = &plate->shape.children[side];
            *half = ty_shape_default(TY_SHAPE_PLANE);
            ty_store3(half->normal, side ? normal : -normal);
            ty_store3(half->point, (level + (side ? 0.5 : -0.5) * thickness) * normal);
        }
        double pools[4] = {normal[0], normal[1], normal[2], level};
        r.liquid.distance = (ty_sampler){pools, 1, 0.0, two_levels};
        assert_ok(rig_start(&r));
        for (int step = 0; step < 20; ++step) assert_ok(rig_step(&r, 0.03));
        assert_near(rig_speed(&r), 0.0, 1e-8);
        rig_end(&r);
    }
}

// Something with everything in it: obstacle that moves, source, surface, walls.
static rig busy_rig(void)
{
    rig r = rig_cube(14);
    add_ball_and_column(&r);
    ty_shape_def* shape = &r.def.obstacles[0].shape;
    shape->n_keys = 2;
    shape->keys = ty_alloc_zero(2, sizeof(ty_pose_key));
    shape->keys[0] = (ty_pose_key){.axis = {0, 1, 0}, .scale = 1.0};
    shape->keys[1] = (ty_pose_key){
        .time = 1.0, .move = {0.3, 0.1, 0}, .axis = {0, 1, 0}, .scale = 1.0};
    r.def.n_sources = 1;
    r.def.sources = ty_alloc(1, sizeof *r.def.sources);
    r.def.sources[0] = ty_source_default(TY_SHAPE_BOX);
    set3(r.def.sources[0].shape.min, 0.1, 0.7, 0.3);
    set3(r.def.sources[0].shape.max, 0.3, 0.9, 0.6);
    r.def.sources[0].velocity = ty_varying_vector(0.5, 0, 0);
    r.solve.viscosity = ty_varying_number(1.0);
    add_liquid(&r, 0.3, 0.0, -0.2, NULL);
    return r;
}

static const half_space busy_pool = {{0.1, 0.99, -0.1}, 0.5};

static uint64_t busy_hash(const rig* r)
{
    ty_archive ar = ty_archive_save_begin("test");
    assert_ok(ty_solver_grid.archive(r->self, &ar));
    uint64_t hash = ty_hash_bytes(ar.bytes.at, (size_t)ar.bytes.n);
    ty_archive_free(&ar);
    return hash;
}

static void same_bits_for_any_number_of_threads(void** unused)
{
    (void)unused;
    const int threads[4] = {1, 2, 3, 5};
    uint64_t first = 0;
    for (int i = 0; i < 4; ++i) {
        ty_threads_set(threads[i]);
        rig r = busy_rig();
        rig_liquid(&r, &busy_pool);
        assert_ok(rig_start(&r));
        for (int step = 0; step < 5; ++step) assert_ok(rig_step(&r, 0.02));
        uint64_t hash = busy_hash(&r);
        if (i == 0) first = hash;
        assert_true(hash == first);
        rig_end(&r);
    }
    ty_threads_set(0);
}

static void archive_brings_everything_back(void** unused)
{
    (void)unused;
    rig r = busy_rig(), again = busy_rig();
    rig_liquid(&r, &busy_pool);
    rig_liquid(&again, &busy_pool);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 4; ++step) assert_ok(rig_step(&r, 0.02));
    ty_archive ar = ty_archive_save_begin("test");
    assert_ok(ty_solver_grid.archive(r.self, &ar));
    assert_ok(ty_archive_save_finish(&ar));

    assert_ok(ty_world_create(&again.world, &again.def, again.solve.cell));
    assert_ok(ty_world_move(again.world, r.time, 0.02));
    assert_ok(ty_solver_grid.create(&again.self, &again.solve, again.world));
    ty_archive in;
    assert_ok(ty_archive_load_begin(&in, "test", ar.bytes.at, ar.bytes.n));
    assert_ok(ty_solver_grid.archive(again.self, &in));
    assert_ok(ty_archive_load_finish(&in));
    ty_archive_free(&in);
    ty_archive_free(&ar);
    again.time = r.time;
    assert_true(busy_hash(&r) == busy_hash(&again));
    for (int step = 0; step < 4; ++step) {
        assert_ok(rig_step(&r, 0.02));
        assert_ok(rig_step(&again, 0.02));
        assert_true(busy_hash(&r) == busy_hash(&again));
    }
    rig_end(&r);
    rig_end(&again);
}

static void any_failing_allocation_is_reported(void** unused)
{
    (void)unused;
    int64_t alive = ty_memory_alive();
    for (int k = 1; k < 4000; k += k < 60 ? 1 : 37) {
        rig r = busy_rig();
        rig_liquid(&r, &busy_pool);
        ty_threads_set(1);
        ty_memory_fail_after(k);
        ty_status s = rig_start(&r);
        if (s.code == TY_OK) s = rig_step(&r, 0.02);
        ty_memory_fail_after(0);
        if (s.code != TY_OK) assert_code(s, TY_NO_MEMORY);
        rig_end(&r);
        assert_int_equal(ty_memory_alive(), alive);
        if (s.code == TY_OK) break;
    }
    ty_threads_set(0);
}

static void steady_steps_allocate_nothing(void** unused)
{
    (void)unused;
    rig r = rig_cube(12);
    half_space pool = {{0.1, 0.99, -0.1}, 0.5};
    rig_liquid(&r, &pool);
    add_ball_and_column(&r);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 3; ++step) assert_ok(rig_step(&r, 0.02));
    int64_t before = ty_memory_count();
    for (int step = 0; step < 3; ++step) assert_ok(rig_step(&r, 0.02));
    assert_int_equal(ty_memory_count(), before);
    rig_end(&r);
}

static void open_fraction_is_exact_for_lines(void** unused)
{
    (void)unused;
    uint64_t seed = 7;
    for (int trial = 0; trial < 200; ++trial) {
        double a = ty_unit(ty_mix2(seed, (uint64_t)trial)) - 0.5,
               b = ty_unit(ty_mix2(seed + 1, (uint64_t)trial)) - 0.5;
        double c = 0.5 * (ty_unit(ty_mix2(seed + 2, (uint64_t)trial)) - 0.5), sum = 0.0;
        double phi[4] = {c - a - b, c + a - b, c + a + b, c - a + b};
        const int fine = 400;
        for (int i = 0; i < fine; ++i) {
            // Exact along x, midpoints along y.
            double y = (2.0 * (i + 0.5) / fine - 1.0) * b + c, root = a != 0.0 ? -y / a : 0.0;
            double cut = ty_clamp(0.5 * (root + 1.0), 0.0, 1.0);
            sum += (a > 0.0 ? 1.0 - cut : cut) / fine;
        }
        assert_near(ty_open_fraction(phi), sum, 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_fraction_is_exact_for_lines),
        cmocka_unit_test(pool_with_obstacles_stays_still),
        cmocka_unit_test(stream_along_a_tilted_wall_stays_uniform),
        cmocka_unit_test(full_container_turns_rigidly),
        cmocka_unit_test(ball_falls_freely),
        cmocka_unit_test(full_closed_box_is_still_and_has_a_pressure),
        cmocka_unit_test(vortex_never_gains_energy),
        cmocka_unit_test(viscous_flow_between_plates_is_linear),
        cmocka_unit_test(submerged_source_pushes_its_rate),
        cmocka_unit_test(wall_thinner_than_a_cell_holds_water),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(archive_brings_everything_back),
        cmocka_unit_test(any_failing_allocation_is_reported),
        cmocka_unit_test(steady_steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
