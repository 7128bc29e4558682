// SPDX-License-Identifier: Apache-2.0
#include "world/world.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/world_test.h"

static void a_world_of_nothing_has_no_solid(void** state)
{
    (void)state;
    ty_world_def def = ty_world_default();
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_true(sample1(ty_world_solid(w), 0, 0, 0) == 1e30);
    assert_true(sample1(ty_world_liquid(w), 0, 0, 0) == 1e30);
    assert_false(ty_world_has_obstacles(w) || ty_world_solid_moves(w) || ty_world_steers(w));
    expect3(ty_world_gravity(w), 0, -9.81, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void walls_are_the_distance_to_the_closed_sides(void** state)
{
    (void)state;
    ty_world_def def = tank();
    def.wall[TY_TOP].closed = false;
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    ty_sampler solid = ty_world_solid(w);
    assert_near(sample1(solid, 0.3, 0.9, 0.5), 0.3, 1e-15);
    assert_near(sample1(solid, 1, 0.2, 0.5), 0.2, 1e-15);
    assert_near(sample1(solid, 1, 5, 0.5), 0.5, 1e-15);    // above the open top: the sides go on
    assert_near(sample1(solid, -0.3, -0.4, 0.5), -0.5, 1e-15);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void sides_move_in_their_plane_with_their_slip(void** state)
{
    (void)state;
    ty_world_def def = tank();
    def.wall[TY_TOP].velocity = ty_varying_vector(1, 5, 0.5);
    def.wall[TY_TOP].slip = 0.0;
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    expect3(sample3(ty_world_solid_velocity(w), 1, 0.9, 0.5), 1, 0, 0.5);
    expect3(sample3(ty_world_solid_velocity(w), 1, 0.1, 0.5), 0, 0, 0);
    assert_near(sample1(ty_world_solid_slip(w), 1, 1.1, 0.5), 0, 0);
    assert_near(sample1(ty_world_solid_slip(w), 1, 0.1, 0.5), 1, 0);
    assert_true(ty_world_solid_speed(w) >= sqrt(1.25));
    assert_false(ty_world_solid_moves(w));
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

// A ball that turns about z through (1, 0.5, 0.5) and a standing box with a conveyor.
static ty_world_def machine(void)
{
    ty_world_def def = tank();
    ty_obstacle_def* ball = grow(def.obstacles, def.n_obstacles);
    *ball = ty_obstacle_default(TY_SHAPE_SPHERE);
    set3(ball->shape.center, 1.5, 0.5, 0.5);
    ball->shape.radius = 0.2;
    ball->shape.linear = true;
    *grow(ball->shape.keys, ball->shape.n_keys) = ty_pose_key_default();
    ty_pose_key* turned = grow(ball->shape.keys, ball->shape.n_keys);
    *turned = (ty_pose_key){
        .time = 2, .axis = {0, 0, 1}, .degrees = 180, .about = {1, 0.5, 0.5}, .scale = 1};
    ty_obstacle_def* belt = grow(def.obstacles, def.n_obstacles);
    *belt = ty_obstacle_default(TY_SHAPE_BOX);
    set3(belt->shape.max, 2, 0.1, 1);
    belt->slip = 0.25;
    belt->has_velocity = true;
    belt->velocity = ty_varying_vector(0.3, 0, 0);
    return def;
}

static void the_nearest_solid_gives_velocity_and_slip(void** state)
{
    (void)state;
    ty_world_def def = machine();
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_ok(ty_world_move(w, 1.0, 0.02));    // a quarter turn: the ball is at (1, 1, 0.5)
    assert_near(sample1(ty_world_obstacles(w), 1, 0.6, 0.5), 0.2, 1e-14);
    double omega = M_PI / 2;
    expect3(sample3(ty_world_solid_velocity(w), 1, 0.85, 0.5), -omega * 0.35, 0, 0);
    expect3(sample3(ty_world_solid_velocity(w), 1, 0.15, 0.5), 0.3, 0, 0);
    assert_near(sample1(ty_world_solid_slip(w), 1, 0.15, 0.5), 0.25, 0);
    assert_true(ty_world_solid_moves(w));
    double speed = ty_world_solid_speed(w);
    assert_true(speed >= omega * 0.5 && speed < omega * 0.9);
    assert_ok(ty_world_move(w, 3.0, 0.02));
    assert_false(ty_world_solid_moves(w));
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void answers_do_not_depend_on_batches(void** state)
{
    (void)state;
    enum { N = 1500 };
    ty_world_def def = machine();
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_ok(ty_world_move(w, 0.7, 0.02));
    static double x[N][3], all[N][3], d[N];
    uint64_t seed = 4;
    for (int i = 0; i < N; ++i)
        set3(x[i], uniform(&seed, 0, 2), uniform(&seed, 0, 1), uniform(&seed, 0, 1));
    ty_sampler velocity = ty_world_solid_velocity(w), solid = ty_world_solid(w);
    ty_sample(&velocity, N, (const double(*)[3])x, all[0]);
    ty_sample(&solid, N, (const double(*)[3])x, d);
    for (int i = 0; i < N; ++i) {
        double v[3], one;
        ty_sample(&velocity, 1, (const double(*)[3])x + i, v);
        ty_sample(&solid, 1, (const double(*)[3])x + i, &one);
        assert_memory_equal(v, all[i], sizeof v);
        assert_true(one == d[i]);
    }
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

typedef struct thread_job {
    const ty_world* world;
    double (*out)[4];
} thread_job;

static void sample_block(void* ctx, ty_range r)
{
    thread_job* job = ctx;
    ty_sampler solid = ty_world_solid(job->world), velocity = ty_world_solid_velocity(job->world);
    ty_sampler start = ty_world_liquid_velocity(job->world);
    for (int64_t i = r.begin; i < r.end; ++i) {
        uint64_t seed = 4 * (uint64_t)i;
        double x[1][3] = {{uniform(&seed, -1, 2), uniform(&seed, 0, 1), uniform(&seed, 0, 1)}},
               v[3];
        ty_sample(&solid, 1, (const double(*)[3])x, &job->out[i][0]);
        ty_sample(&velocity, 1, (const double(*)[3])x, &job->out[i][1]);
        ty_sample(&start, 1, (const double(*)[3])x, v);
    }
}

// Also the failure that many threads meet at once is the same one.
static void answers_do_not_depend_on_threads(void** state)
{
    (void)state;
    enum { N = 4000 };
    static double out[2][N][4];
    ty_status status[2];
    ty_world_def def = machine();
    ty_liquid_def* pool = grow(def.liquids, def.n_liquids);
    *pool = ty_liquid_default(TY_SHAPE_BOX);
    pool->velocity.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&pool->velocity.expr[0], "sqrt(x)"));
    for (int k = 0; k < 2; ++k) {
        ty_world* w;
        ty_threads_set(k == 0 ? 1 : 4);
        assert_ok(ty_world_create(&w, &def, 0.1));
        assert_ok(ty_world_move(w, 0.7, 0.02));
        thread_job job = {w, out[k]};
        ty_parallel_for(N, 50, sample_block, &job);
        status[k] = ty_world_status(w);
        ty_world_destroy(w);
    }
    ty_threads_stop();
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_int_equal(status[0].code, TY_BAD_INPUT);
    assert_string_equal(status[0].message, status[1].message);
    ty_world_def_free(&def);
}

static void liquid_starts_with_its_velocity(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_liquid_def* pool = grow(def.liquids, def.n_liquids);
    *pool = ty_liquid_default(TY_SHAPE_BOX);
    set3(pool->shape.max, 2, 0.3, 1);
    ty_liquid_def* drop = grow(def.liquids, def.n_liquids);
    *drop = ty_liquid_default(TY_SHAPE_SPHERE);
    set3(drop->shape.center, 1, 0.7, 0.5);
    drop->shape.radius = 0.1;
    drop->velocity.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&drop->velocity.expr[1], "-2 * y"));
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_near(sample1(ty_world_liquid(w), 1, 0.7, 0.5), -0.1, 1e-15);
    expect3(sample3(ty_world_liquid_velocity(w), 1, 0.7, 0.5), 0, -1.4, 0);
    expect3(sample3(ty_world_liquid_velocity(w), 1, 0.1, 0.5), 0, 0, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void bounds_follow_liquid_and_moving_sources(void** state)
{
    (void)state;
    ty_world_def def = ty_world_default();
    ty_liquid_def* pool = grow(def.liquids, def.n_liquids);
    *pool = ty_liquid_default(TY_SHAPE_BOX);
    ty_source_def* s = grow(def.sources, def.n_sources);
    *s = ty_source_default(TY_SHAPE_SPHERE);
    set3(s->shape.center, 3, 0, 0);
    s->shape.radius = 0.25;
    *grow(s->shape.keys, s->shape.n_keys) = ty_pose_key_default();
    *grow(s->shape.keys, s->shape.n_keys) = (ty_pose_key){
        .time = 1, .axis = {0, 0, 1}, .degrees = 360, .scale = 1};
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    ty_box b = ty_world_bounds(w);
    assert_true(b.lo[0] <= -3.25 && b.lo[1] <= -3.25 && b.hi[1] >= 3.25);
    assert_true(b.lo[0] > -3.7 && b.lo[2] > -0.3 && b.hi[2] < 1.05);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void a_bad_expression_in_a_sampler_is_kept_for_the_step(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_liquid_def* pool = grow(def.liquids, def.n_liquids);
    *pool = ty_liquid_default(TY_SHAPE_BOX);
    pool->velocity.kind = TY_VARY_EXPRESSION;
    pool->velocity.place = (ty_place){"pool.yaml", 9, 15};
    assert_ok(ty_expr_create(&pool->velocity.expr[0], "1 / (x - 0.5)"));
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_ok(ty_world_status(w));
    expect3(sample3(ty_world_liquid_velocity(w), 0.5, 0.5, 0.5), 0, 0, 0);
    ty_status s = ty_world_status(w);
    assert_int_equal(s.code, TY_BAD_INPUT);
    assert_int_equal(s.line, 9);
    assert_non_null(strstr(s.message, "1 / (x - 0.5)"));
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void steering_blends_and_blend_one_sets_exactly(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_steer_def* s = grow(def.steers, def.n_steers);
    *s = ty_steer_default(TY_SHAPE_BOX);
    s->velocity = ty_varying_vector(0.1, -0.2, 0.7);
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    double x[2][3] = {{0.5, 0.5, 0.5}, {1.5, 0.5, 0.5}}, v[2][3] = {{3, 4, 5}, {3, 4, 5}};
    assert_ok(ty_world_steer(w, 0.01, 2, (const double(*)[3])x, v));
    assert_memory_equal(v[0], ((double[]){0.1, -0.2, 0.7}), sizeof v[0]);
    assert_memory_equal(v[1], ((double[]){3, 4, 5}), sizeof v[1]);
    ty_world_destroy(w);

    s->blend = ty_varying_number(0.4);
    assert_ok(ty_world_create(&w, &def, 0.1));
    double once[1][3] = {{3, 4, 5}}, many[1][3] = {{3, 4, 5}};
    assert_ok(ty_world_steer(w, 1.0 / 24, 1, (const double(*)[3])x, once));
    for (int i = 0; i < 7; ++i)
        assert_ok(ty_world_steer(w, 1.0 / 24 / 7, 1, (const double(*)[3])x, many));
    assert_near(once[0][0], 0.6 * 3 + 0.4 * 0.1, 1e-14);
    for (int c = 0; c < 3; ++c) assert_near(many[0][c], once[0][c], 1e-14);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void failed_creation_leaves_nothing(void** state)
{
    (void)state;
    ty_world_def def = machine();
    ty_source_def* s = grow(def.sources, def.n_sources);
    *s = ty_source_default(TY_SHAPE_SPHERE);
    s->velocity = ty_varying_vector(1, 0, 0);
    set3(s->shape.center, 0.5, 0.7, 0.5);
    s->shape.radius = 0.1;
    *grow(def.steers, def.n_steers) = ty_steer_default(TY_SHAPE_BOX);
    *grow(def.forces, def.n_forces) = ty_force_default(TY_FORCE_TURBULENCE);
    int64_t alive = ty_memory_alive();
    for (int k = 1;; ++k) {
        ty_world* w;
        ty_memory_fail_after(k);
        ty_status status = ty_world_create(&w, &def, 0.1);
        ty_memory_fail_after(0);
        if (status.code == TY_OK) {
            assert_true(k > 10);
            ty_world_destroy(w);
            break;
        }
        assert_int_equal(status.code, TY_NO_MEMORY);
        assert_null(w);
        assert_int_equal(ty_memory_alive(), alive);
    }
    assert_int_equal(ty_memory_alive(), alive);
    ty_world_def_free(&def);
}

// Bodies that are too far to matter are not asked.
static void the_nearest_of_many_bodies_rules(void** state)
{
    (void)state;
    enum { BODIES = 4, POINTS = 8, TRIES = 2000 };
    const double at[BODIES][4] = {
        {0.2, 0.3, 0.4, 0.1}, {0.25, 0.35, 0.4, 0.1}, {0.8, 0.7, 0.2, 0.15}, {0.5, 0.9, 0.8, 0.2}};
    ty_obstacle_def ball[BODIES];
    ty_world_def def = ty_world_default();
    ty_world* w;
    def.has_domain = true;
    for (int axis = 0; axis < 3; ++axis) def.max[axis] = 1.0;
    for (int side = 0; side < TY_N_SIDES; ++side) def.wall[side].closed = side == TY_BOTTOM;
    def.obstacles = ball;
    def.n_obstacles = BODIES;
    memset(ball, 0, sizeof ball);
    for (int b = 0; b < BODIES; ++b) {
        ball[b].shape = ty_shape_default(TY_SHAPE_SPHERE);
        memcpy(ball[b].shape.center, at[b], sizeof ball[b].shape.center);
        ball[b].shape.radius = at[b][3];
    }
    assert_ok(ty_world_create(&w, &def, 0.05));
    for (int i = 0; i < TRIES; ++i) {
        double x[POINTS][3], d[POINTS];
        for (int k = 0; k < POINTS; ++k)
            for (int axis = 0; axis < 3; ++axis)
                x[k][axis] = ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis)) +
                             0.1 * ty_unit(ty_mix2((uint64_t)(POINTS * i + k), 3 + (uint64_t)axis));
        ty_sampler solid = ty_world_solid(w);
        ty_sample(&solid, POINTS, (const double(*)[3])x, d);
        for (int k = 0; k < POINTS; ++k) {
            double least = x[k][1];
            for (int b = 0; b < BODIES; ++b)
                least = fmin(least, ty_norm(ty_load3(x[k]) - ty_load3(at[b])) - at[b][3]);
            assert_near(d[k], least, 1e-12);
        }
    }
    ty_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_of_many_bodies_rules),
        cmocka_unit_test(a_world_of_nothing_has_no_solid),
        cmocka_unit_test(walls_are_the_distance_to_the_closed_sides),
        cmocka_unit_test(sides_move_in_their_plane_with_their_slip),
        cmocka_unit_test(the_nearest_solid_gives_velocity_and_slip),
        cmocka_unit_test(answers_do_not_depend_on_batches),
        cmocka_unit_test(answers_do_not_depend_on_threads),
        cmocka_unit_test(liquid_starts_with_its_velocity),
        cmocka_unit_test(bounds_follow_liquid_and_moving_sources),
        cmocka_unit_test(a_bad_expression_in_a_sampler_is_kept_for_the_step),
        cmocka_unit_test(steering_blends_and_blend_one_sets_exactly),
        cmocka_unit_test(failed_creation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
