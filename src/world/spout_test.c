// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "world/world_test.h"

static ty_source_def* add_source(ty_world_def* def, ty_shape_kind kind)
{
    ty_source_def* s = grow(def->sources, def->n_sources);
    *s = ty_source_default(kind);
    set3(s->shape.min, 0.0, 0.8, 0.4);
    set3(s->shape.max, 0.1, 0.9, 0.6);
    set3(s->shape.center, 1.0, 0.5, 0.5);
    set3(s->shape.from, 0.4, 0.5, 0.5);
    set3(s->shape.to, 0.7, 0.6, 0.5);
    s->shape.radius = 0.2;
    return s;
}

static double rate_now(const ty_world_def* def, double t, double dt)
{
    ty_world* w;
    assert_ok(ty_world_create(&w, def, 0.05));
    if (t > 0.0) assert_ok(ty_world_move(w, t, dt));
    double rate = ty_world_source(w, 0).rate;
    ty_world_destroy(w);
    return rate;
}

static void a_box_lets_out_velocity_times_area(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
    s->velocity = ty_varying_vector(1.5, 0, 0);
    assert_near(rate_now(&def, 0, 0), 1.5 * 0.1 * 0.2, 1e-14);
    s->velocity = ty_varying_vector(-1.5, 0, 0);    // against the wall it stands at
    assert_near(rate_now(&def, 0, 0), 0.0, 1e-15);
    s->velocity = ty_varying_vector(1, -2, 0);
    assert_near(rate_now(&def, 0, 0), 1 * 0.1 * 0.2 + 2 * 0.1 * 0.2, 1e-14);
    ty_world_def_free(&def);
}

static void round_sources_let_out_velocity_times_cross_section(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_SPHERE);
    s->velocity = ty_varying_vector(1, 2, -2);
    double expected = 3.0 * M_PI * 0.04;
    assert_near(rate_now(&def, 0, 0), expected, 1.5e-3 * expected);
    s->shape.kind = TY_SHAPE_CYLINDER;
    s->velocity = ty_varying_vector(0.6, 0.2, 0);    // along it
    expected = sqrt(0.4) * M_PI * 0.04;
    assert_near(rate_now(&def, 0, 0), expected, 1.5e-3 * expected);
    ty_world_def_free(&def);
}

static void a_profile_is_integrated(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
    s->velocity.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&s->velocity.expr[0], "1 - ((y - 0.85) / 0.05)^2"));
    assert_near(rate_now(&def, 0, 0), 2.0 / 3.0 * 0.1 * 0.2, 2e-4 * 0.0133);
    ty_world_def_free(&def);
}

static void a_rate_that_is_given_scales_the_velocity(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
    s->velocity = ty_varying_vector(1, 0, 0);
    s->has_rate = true;
    s->rate = ty_varying_number(0.05);
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.05));
    ty_source now = ty_world_source(w, 0);
    assert_near(now.rate, 0.05, 1e-16);
    expect3(sample3(now.velocity, 0.05, 0.85, 0.5), 2.5, 0, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

// Steps that a source is on for a part of: all together let out exactly the rate over the time it
// was on.
static void what_a_step_delivers_is_exact(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
    s->velocity.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&s->velocity.expr[0], "3 * t^2"));
    s->active[0] = 0.25;
    s->active[1] = 0.8;
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.05));
    double sum = 0.0, dt = 0.07;
    int steps_on = 0;
    for (int i = 1; i <= 15; ++i) {
        assert_ok(ty_world_move(w, i * dt, dt));
        sum += ty_world_source(w, 0).delivered;
        steps_on += ty_world_source(w, 0).on;
    }
    assert_near(sum, 0.02 * (pow(0.8, 3) - pow(0.25, 3)), 1e-13);
    assert_int_equal(steps_on, 8);    // at 0.28 to 0.77
    assert_near(ty_world_next_switch(w, 0.0), 0.25, 0.0);
    assert_near(ty_world_next_switch(w, 0.25), 0.8, 0.0);
    assert_true(ty_world_next_switch(w, 0.8) == INFINITY);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void a_source_that_is_dragged_leaves_liquid_behind(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
    set3(s->shape.min, 0.4, 0.8, 0.4);
    set3(s->shape.max, 0.5, 0.9, 0.6);
    s->shape.linear = true;
    *grow(s->shape.keys, s->shape.n_keys) = ty_pose_key_default();
    *grow(s->shape.keys, s->shape.n_keys) = (ty_pose_key){
        .time = 1, .move = {0.5, 0, 0}, .axis = {0, 1, 0}, .scale = 1};
    assert_near(rate_now(&def, 0.5, 0.1), 0.5 * 0.1 * 0.2, 1e-14);
    s->velocity = ty_varying_vector(0.5, 0, 0);    // moving along with it
    assert_near(rate_now(&def, 0.5, 0.1), 0.0, 1e-15);
    ty_world_def_free(&def);
}

static void the_part_in_a_solid_lets_nothing_out(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
    s->velocity = ty_varying_vector(1, 0, 0);
    ty_obstacle_def* plug = grow(def.obstacles, def.n_obstacles);
    *plug = ty_obstacle_default(TY_SHAPE_BOX);
    set3(plug->shape.min, 0.05, 0.7, 0.0);
    set3(plug->shape.max, 0.5, 1.0, 0.5);
    assert_near(rate_now(&def, 0, 0), 0.5 * 0.1 * 0.2, 1e-14);
    ty_world_def_free(&def);
}

static void drains_have_a_shape_and_times(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_drain_def* d = grow(def.drains, def.n_drains);
    *d = ty_drain_default(TY_SHAPE_SPHERE);
    d->active[0] = 1.0;
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.05));
    assert_int_equal(ty_world_n_drains(w), 1);
    assert_false(ty_world_drain(w, 0).on);
    assert_near(sample1(ty_world_drain(w, 0).distance, 0, 0.7, 0), 0.2, 1e-15);
    assert_ok(ty_world_move(w, 1.05, 0.1));
    assert_true(ty_world_drain(w, 0).on);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

// As the liquid does that trackers continue there.
static void a_source_goes_on_beyond_an_open_side(void** state)
{
    (void)state;
    for (int closed = 0; closed < 2; ++closed) {
        ty_world_def def = tank();
        ty_source_def* s = add_source(&def, TY_SHAPE_BOX);
        set3(s->shape.min, 0.4, 0.8, 0.4);
        set3(s->shape.max, 0.6, def.max[1], 0.6);
        s->velocity.kind = TY_VARY_EXPRESSION;
        assert_ok(ty_expr_create(&s->velocity.expr[0], "y"));
        def.wall[TY_TOP].closed = closed;
        ty_world* w;
        assert_ok(ty_world_create(&w, &def, 0.05));
        ty_source now = ty_world_source(w, 0);
        double above = def.max[1] + 0.2, x[1][3] = {{0.5, above, 0.5}}, v[3];
        assert_true(closed == (sample1(now.distance, 0.5, above, 0.5) > 0.0));
        assert_true(sample1(now.distance, 0.7, above, 0.5) > 0.0);
        ty_sample(&now.velocity, 1, (const double(*)[3])x, v);
        assert_near(v[0], closed ? above : def.max[1], 0.05);
        ty_world_destroy(w);
        ty_world_def_free(&def);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_lets_out_velocity_times_area),
        cmocka_unit_test(round_sources_let_out_velocity_times_cross_section),
        cmocka_unit_test(a_profile_is_integrated),
        cmocka_unit_test(a_rate_that_is_given_scales_the_velocity),
        cmocka_unit_test(what_a_step_delivers_is_exact),
        cmocka_unit_test(a_source_that_is_dragged_leaves_liquid_behind),
        cmocka_unit_test(the_part_in_a_solid_lets_nothing_out),
        cmocka_unit_test(drains_have_a_shape_and_times),
        cmocka_unit_test(a_source_goes_on_beyond_an_open_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
