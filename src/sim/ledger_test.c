// SPDX-License-Identifier: Apache-2.0
// The ledger through merging, splitting, sources, drains and open sides, with a prescribed flow.
#include "sim/ledger.h"

#include <string.h>

#include "pair.h"

enum { CELLS = 24 };

static const double left_ball[3] = {0.3, 0.5, 0.5}, right_ball[3] = {0.7, 0.5, 0.5};

// Two balls in a flow along x given by an expression.
static ty_sim_def two_balls(const char* flow_x, const char* flow_y)
{
    ty_sim_def def = pair_def("levelset", "prescribed", CELLS, left_ball, 0.13);
    ty_liquid_def* balls = ty_realloc(def.world.liquids, 1, 2, sizeof *balls);
    assert_non_null(balls);
    balls[1] = balls[0];
    memcpy(balls[1].shape.center, right_ball, sizeof right_ball);
    def.world.liquids = balls;
    def.world.n_liquids = 2;
    ty_expr_destroy(def.solve.velocity.expr[0]);
    ty_expr_destroy(def.solve.velocity.expr[1]);
    assert_ok(ty_expr_create(&def.solve.velocity.expr[0], flow_x));
    assert_ok(ty_expr_create(&def.solve.velocity.expr[1], flow_y));
    return def;
}

static double sum(const double* values, int64_t n)
{
    double total = 0.0;
    for (int64_t i = 0; i < n; ++i) total += values[i];
    return total;
}

static void bodies_apart_keep_their_own_accounts(void** state)
{
    (void)state;
    ty_sim_def def = two_balls("0.3", "0");
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    assert_int_equal(sim.ledger.expected.n, 2);
    double first = sim.ledger.expected.at[0], second = sim.ledger.expected.at[1];
    run_frames(&sim, 8);
    assert_int_equal(sim.ledger.expected.n, 2);
    assert_near(sim.ledger.expected.at[0], first, 1e-12);
    assert_near(sim.ledger.expected.at[1], second, 1e-12);
    assert_near(sim.stats.volume, first + second, 1e-3 * (first + second));
    assert_true(sim.ledger.booked == 0.0);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void merging_adds_up(void** state)
{
    (void)state;
    ty_sim_def def = two_balls("0.5*tanh(20*(0.5-x))",
                               "0");    // not free of divergence, so the ledger has work to do
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double total = sum(sim.ledger.expected.at, sim.ledger.expected.n);
    run_frames(&sim, 14);
    assert_int_equal(sim.ledger.expected.n, 1);
    assert_near(sim.ledger.expected.at[0], total, 1e-12);
    assert_near(sim.stats.expected_volume, total, 1e-12);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void splitting_shares_by_volume(void** state)
{
    (void)state;
    // One ball is drawn apart at x = 0.5 and pinched there.
    ty_sim_def def = two_balls("4*(x-0.5)", "-12*(y-0.5)*exp(-40*(x-0.5)^2)");
    def.world.n_liquids = 1;
    def.world.liquids[0].shape.center[0] = 0.47;
    def.world.liquids[0].shape.radius = 0.12;
    def.volume_correct = false;    // nothing is written off
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double total = sim.ledger.expected.at[0];
    bool split = false;
    for (int step = 0; step < 200 && !split; ++step) {
        bool frame_done;
        assert_ok(ty_sim_step(&sim, &frame_done));
        split = sim.ledger.expected.n >= 2;
        assert_near(sum(sim.ledger.expected.at, sim.ledger.expected.n), total - sim.ledger.outflow,
                    1e-12);
    }
    assert_true(split);
    int64_t n = sim.ledger.expected.n;
    double has = sum(sim.ledger.volume.at, n);
    for (int64_t i = 0; i < n; ++i)
        assert_near(sim.ledger.expected.at[i] / total, sim.ledger.volume.at[i] / has, 1e-9);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

// The account of a large body has come to a small one, which cannot grow so fast: the sum stays.
static void wrong_accounts_do_not_change_the_sum(void** state)
{
    (void)state;
    ty_sim_def def = two_balls("0.3", "0");
    def.world.liquids[1].shape.radius = 0.09;
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double total = sim.stats.volume, large = sim.ledger.expected.at[0];
    sim.ledger.expected.at[0] = sim.ledger.expected.at[1];
    sim.ledger.expected.at[1] = large;
    run_frames(&sim, 6);
    assert_near(sim.stats.expected_volume, total, 1e-12);
    assert_near(sim.stats.volume, total, 0.01 * total);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void what_leaves_through_an_open_side_is_booked(void** state)
{
    (void)state;
    ty_sim_def def = two_balls("1", "0");
    def.world.wall[TY_RIGHT].closed = false;
    def.volume_correct = false;
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double total = sim.stats.volume, outflow = 0.0;
    for (int frame = 0; frame < 13; ++frame) {    // the right ball leaves, the left one does not
        run_frames(&sim, 1);
        outflow += sim.stats.outflow;
    }
    assert_near(outflow, 0.5 * total, 0.02 * total);
    assert_near(sim.stats.expected_volume, sim.stats.volume, 0.02 * total);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void a_source_counts_its_rate_and_its_first_filling(void** state)
{
    (void)state;
    ty_sim_def def = two_balls("0.5", "0");
    def.world.sources = ty_alloc_zero(1, sizeof *def.world.sources);
    def.world.n_sources = 1;
    ty_source_def* source = def.world.sources;
    source->shape = ty_shape_default(TY_SHAPE_BOX);
    const double lo[3] = {0.2, 0.75, 0.3}, hi[3] = {0.4, 0.95, 0.7};
    memcpy(source->shape.min, lo, sizeof lo);
    memcpy(source->shape.max, hi, sizeof hi);
    source->velocity = ty_varying_vector(0.5, 0, 0);
    source->rate = ty_varying_number(0);
    source->active[1] = 1e30;
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double start = sim.stats.expected_volume, seconds = 10.0 / def.frame_rate;
    run_frames(&sim, 10);
    assert_near(sim.stats.expected_volume - start, 0.5 * 0.2 * 0.4 * seconds, 1e-4 * start);
    assert_near(sim.stats.volume, sim.stats.expected_volume, 0.01 * start);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

// A cylinder through a slice of two cells: its ends are no free surface, all of its coat is.
static void the_area_of_a_slice_is_its_free_surface(void** state)
{
    (void)state;
    const double depth = 2.0 / CELLS, middle[3] = {0.5, 0.5, 0.5 * depth}, radius = 0.3;
    ty_sim_def def = pair_def("levelset", "prescribed", CELLS, middle, radius);
    ty_shape_def* shape = &def.world.liquids[0].shape;
    *shape = ty_shape_default(TY_SHAPE_CYLINDER);
    memcpy(shape->from, middle, sizeof middle);
    memcpy(shape->to, middle, sizeof middle);
    shape->from[2] = -1.0, shape->to[2] = 1.0;
    shape->radius = radius;
    def.world.max[2] = depth;
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    assert_near(sim.ledger.area.at[0] / (2.0 * M_PI * radius * depth), 1.0, 0.02);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

// The surface is contoured anew with every correction, and its volume wavers.
static void a_tiny_correction_does_not_tell_what_others_do(void** state)
{
    (void)state;
    ty_ledger ledger;
    assert_ok(ty_ledger_open(&ledger, 0));
    ledger.asked = ledger.asked_net = 1e-3;
    ty_ledger_corrected(&ledger, 0.8e-3);
    ledger.asked = ledger.asked_net = 1e-9;
    ty_ledger_corrected(&ledger, 1e-5);
    assert_near(ledger.correction, 0.81e-3, 1e-9);
    ledger.asked = 1e-3, ledger.asked_net = 0.0;    // bodies against each other: not measured
    ty_ledger_corrected(&ledger, 0.0);
    assert_near(ledger.correction, 1.61e-3, 2e-5);
    ty_ledger_free(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_apart_keep_their_own_accounts),
        cmocka_unit_test(merging_adds_up),
        cmocka_unit_test(splitting_shares_by_volume),
        cmocka_unit_test(wrong_accounts_do_not_change_the_sum),
        cmocka_unit_test(what_leaves_through_an_open_side_is_booked),
        cmocka_unit_test(a_source_counts_its_rate_and_its_first_filling),
        cmocka_unit_test(the_area_of_a_slice_is_its_free_surface),
        cmocka_unit_test(a_tiny_correction_does_not_tell_what_others_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
