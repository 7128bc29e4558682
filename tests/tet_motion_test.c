// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Solver `tet` in long motion: ripples, a standing wave, a turning drop, dam breaks, pools with
// either tracker.
#include "tet_rig.h"

static void water(ty_sim_def* def, const char* formula)
{
    ty_liquid_def* l = def->world.liquids;
    *l = ty_liquid_default(TY_SHAPE_FORMULA);
    l->shape.formula.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&l->shape.formula.expr[0], formula));
}

// Ripples of a thousandth of a cell, three to five cells long: 200 steps of half sqrt(h/g).
static void ripples_do_not_grow(void** unused)
{
    (void)unused;
    enum { CELLS = 12 };
    const double nowhere[3] = {0, 0, 0}, h = 1.0 / CELLS;
    ty_sim_def def = tet_def("levelset", CELLS, nowhere, 0.1);
    def.solve.tolerance = 1e-8;
    def.world.max[1] = 0.625;
    def.world.max[2] = 0.8;
    def.world.wall[TY_TOP].closed = false;
    def.frame_rate = 1.0 /
                     (0.447 * sqrt(h / 9.81));    // the longest steps that CFL 1 allows at rest
    water(&def,
          "y - 0.5 - 8.3e-5*sin(18.85*x + 1)*sin(15.08*z + 2) - 5.8e-5*sin(25.1*(0.6*x + 0.8*z))");
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double early = 0.0, late = 0.0;
    for (int i = 1; i <= 200; ++i) {
        run_steps(&sim, 1);
        double rms = sqrt(tet_measure(&sim).square);
        if (i <= 10) early = fmax(early, rms);
        if (i > 190) late = fmax(late, rms);
    }
    print_message("  ripples: rms speed %.3e at the start, %.3e at the end\n", early, late);
    assert_true(late < 1.1 * early);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static double height(const ty_sim* sim, double x, double z)
{
    ty_liquid liquid = ty_sim_liquid(sim);
    double low = 0.4, high = 0.6, phi;
    for (int i = 0; i < 40; ++i) {
        double at[1][3] = {{x, 0.5 * (low + high), z}};
        ty_sample(&liquid.distance, 1, (const double(*)[3])at, &phi);
        *(phi < 0.0 ? &low : &high) = at[0][1];
    }
    return low;
}

static void standing_wave_keeps_period_and_height(void** unused)
{
    (void)unused;
    enum { CELLS = 32, A_PERIOD = 40, PERIODS = 2 };
    const double nowhere[3] = {0, 0, 0};
    ty_sim_def def = tet_def("levelset", CELLS, nowhere, 0.1);
    double k = 2.0 * M_PI, period = k / sqrt(9.81 * k * tanh(0.5 * k)), z = 2.5 / CELLS;
    def.solve.tolerance = 1e-8;
    def.world.max[1] = 0.625;
    def.world.max[2] = 5.0 / CELLS;
    def.world.wall[TY_TOP].closed = false;
    def.frame_rate = A_PERIOD / period;
    water(&def, "y - 0.5 - 0.003*cos(2*pi*x)");
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double before = 1.0, first = 0.0, last = 0.0, eta = 1.0;
    int crossings = 0;
    for (int i = 1; i <= A_PERIOD * PERIODS; ++i) {
        double t = sim.time;
        run_frames(&sim, 1);
        eta = (0.5 * (height(&sim, 0, z) + height(&sim, 1, z)) - height(&sim, 0.5, z)) / 0.006;
        if (eta * before < 0.0) {
            last = t + (sim.time - t) * before / (before - eta);
            if (crossings++ == 0) first = last;
        }
        before = eta;
    }
    double error = 2.0 * (last - first) / (crossings - 1) / period - 1.0;
    print_message("  wave: period %+.2f %%, height after %d periods %.3f\n", 100.0 * error, PERIODS,
                  eta);
    assert_near(error, 0.0, 0.002);    // 0.0036 where sharpen.c does not act
    assert_true(eta > pow(0.95, PERIODS) && eta < 1.01);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

// Turns once, held by a force toward its middle.
static void turning_drop_keeps_its_momentum(void** unused)
{
    (void)unused;
    enum { CELLS = 20 };
    const double middle[3] = {0.5, 0.5, 0.5};
    ty_sim_def def = tet_def("levelset", CELLS, middle, 8.0 / CELLS);
    def.world.gravity = ty_varying_vector(0, 0, 0);
    def.world.liquids->velocity = expressions("0.5 - y", "x - 0.5", "0");
    def.world.n_forces = 1;
    def.world.forces = ty_alloc(1, sizeof *def.world.forces);
    def.world.forces[0] = ty_force_default(TY_FORCE_FIELD);
    def.world.forces[0].vector = expressions("3*(0.5 - x)", "3*(0.5 - y)", "3*(0.5 - z)");
    def.frame_rate = 1.0;
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double start = tet_measure(&sim).turning[2];
    while (sim.time < 2.0 * M_PI) run_steps(&sim, 1);
    double kept = tet_measure(&sim).turning[2] / start;
    print_message("  drop: %.4f of its angular momentum after %.2f turns\n", kept,
                  sim.time / (2.0 * M_PI));
    assert_near(kept, 1.0, 0.03);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void dam_breaks(const char* tracker, const char* pressure, int steps)
{
    const double nowhere[3] = {0, 0, 0};
    ty_sim_def def = tet_def(tracker, 12, nowhere, 0.1);
    def.solve.pressure = pressure;
    def.world.max[2] = 0.4;
    ty_liquid_def* dam = def.world.liquids;
    *dam = ty_liquid_default(TY_SHAPE_BOX);
    set3(dam->shape.max, 0.4, 0.6, 1.0);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double start = sim.stats.potential_energy, least = start, rise = 0.0;
    for (int i = 0; i < steps; ++i) {
        run_steps(&sim, 1);
        double energy = sim.stats.potential_energy + sim.stats.kinetic_energy;
        least = fmin(least, energy);
        rise = fmax(rise, (energy - least) / start);
    }
    print_message("  dam, %s, %s: energy left %.3f, rose by %.1e at most; volume %.4f\n", tracker,
                  pressure, (sim.stats.potential_energy + sim.stats.kinetic_energy) / start, rise,
                  sim.stats.volume / sim.stats.expected_volume);
    assert_true(rise < 1e-3);    // the ledger's corrections are in it
    assert_near(sim.stats.volume / sim.stats.expected_volume, 1.0, 0.005);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void dams_break_without_blowing_up(void** unused)
{
    (void)unused;
    for (const ty_tracker_kind* const* t = ty_tracker_kinds(); *t; ++t)
        dam_breaks((*t)->name, "face", 60);
    dam_breaks("levelset", "nodal", 60);
}

// A front on dry ground, thinner than the solver's cells, runs against a half sphere and a wall; by
// how much the tracker alone is off at most.
static double run_thin_front(double cfl, double until)
{
    const double foot[3] = {0.9, 0, 0.2};
    ty_sim_def def = tet_def("contour", 14, foot, 0.15);
    def.volume_correct = false;
    def.solve.cfl = cfl;
    def.track.thicken_mesh = def.track.thicken_surface = true;
    set3(def.world.max, 1.5, 1.0, 0.4);
    ty_liquid_def* dam = def.world.liquids;
    def.world.obstacles = ty_alloc(1, sizeof *def.world.obstacles);
    def.world.n_obstacles = 1;
    def.world.obstacles[0] = ty_obstacle_default(TY_SHAPE_SPHERE);
    memcpy(def.world.obstacles[0].shape.center, foot, sizeof foot);
    def.world.obstacles[0].shape.radius = 0.15;
    *dam = ty_liquid_default(TY_SHAPE_BOX);
    set3(dam->shape.max, 0.5, 0.6, 1.0);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double start = sim.stats.volume, worst = 0.0;
    while (sim.time < until) {
        run_steps(&sim, 1);
        worst = fmax(worst, fabs(sim.stats.volume / start - 1.0));
    }
    print_message("  thin front, CFL %g: volume off by %.2f %% at most in %ld steps\n", cfl,
                  100.0 * worst, (long)sim.step);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
    return worst;
}

static void thin_front_keeps_its_volume(void** unused)
{
    (void)unused;
    assert_true(run_thin_front(1.0, 0.5) < 0.01);
}

// Long steps become shorter while the front meets the walls.
static void front_is_not_lost_in_walls(void** unused)
{
    (void)unused;
    assert_true(run_thin_front(3.0, 0.5) < 0.03);
}

static void tilted_pool_stays_still_for_long(void** unused)
{
    (void)unused;
    ty_sim_def def = tilted_pool("levelset", 12);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    run_frames(&sim, 100);
    print_message("  pool: %.1e m/s after 100 frames\n", sim.stats.max_speed);
    assert_near(sim.stats.max_speed, 0.0, 1e-8);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_front_keeps_its_volume),
        cmocka_unit_test(front_is_not_lost_in_walls),
        cmocka_unit_test(tilted_pool_stays_still_for_long),
        cmocka_unit_test(dams_break_without_blowing_up),
        cmocka_unit_test(turning_drop_keeps_its_momentum),
        cmocka_unit_test(standing_wave_keeps_period_and_height),
        cmocka_unit_test(ripples_do_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
