// SPDX-License-Identifier: Apache-2.0
// Surface tension of solver `tet`: drops 12 cells across, in zero gravity.
#include "tet_rig.h"

enum { CELLS = 20 };
static const double RADIUS = 0.3;

// Of a liquid with density 1 and surface tension 1.
static ty_sim_def drop_def(const char* tracker, double height)
{
    const double centre[3] = {0.51, height, 0.49};
    ty_sim_def def = tet_def(tracker, CELLS, centre, RADIUS);
    def.world.gravity = ty_varying_vector(0, 0, 0);
    def.world.liquids->velocity = ty_varying_vector(0, 0, 0);
    def.solve.density = def.solve.surface_tension = 1.0;
    def.frame_rate = 10.0;
    return def;
}

static double pressure_at(const ty_sim* sim, double x, double y, double z)
{
    ty_flow flow = ty_tetflow_flow(sim->solver);
    double at[1][3] = {{x, y, z}}, p;
    ty_sample(&flow.pressure, 1, (const double(*)[3])at, &p);
    return p;
}

// The error of the pressure, of the whole jump; the largest speed and the mean one along x and z, in
// sqrt(sigma / rho D).
static void rest(const char* tracker, double height, double most_off, double most_speed,
                 double most_drift)
{
    ty_sim_def def = drop_def(tracker, height);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    run_steps(&sim, 20);
    double off = pressure_at(&sim, 0.5, height + 0.05, 0.5) * RADIUS / 2.0 - 1.0,
           speed = sim.stats.max_speed * sqrt(2.0 * RADIUS);
    ty_vec3 mean = tet_measure(&sim).velocity * sqrt(2.0 * RADIUS);
    double drift = hypot(mean[0], mean[2]);
    print_message("  %s, %g: pressure off by %.2e, largest speed %.2e, drift %.2e\n", tracker,
                  height, off, speed, drift);
    assert_near(off, 0.0, most_off);
    assert_true(speed < most_speed);
    assert_true(drift < most_drift);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void a_round_drop_rests_under_laplace_pressure(void** unused)
{
    (void)unused;
    rest("levelset", 0.52, 0.002, 0.005, 1e-6);
    rest("contour", 0.52, 0.002, 0.02, 1e-6);
}

// Whether gravity is a boundary value or a force.
static void a_falling_drop_has_the_pressure_of_one_at_rest(void** unused)
{
    (void)unused;
    for (int reduced = 0; reduced < 2; ++reduced) {
        ty_sim_def def = drop_def("levelset", 0.52);
        def.world.gravity = ty_varying_vector(0, -2, 0);
        def.solve.reduced_pressure = reduced;
        ty_sim sim;
        assert_ok(ty_sim_create(&sim, &def));
        run_steps(&sim, 20);
        double fallen = sim.time * sim.time,
               off = pressure_at(&sim, 0.5, 0.52 - fallen, 0.5) * RADIUS / 2.0 - 1.0;
        print_message("  falling, reduced %d: pressure off by %.2e\n", reduced, off);
        assert_near(off, 0.0, 0.002);
        ty_sim_destroy(&sim);
        ty_sim_def_free(&def);
    }
}

// Its surface is continued as its mirror image.
static void half_a_drop_rests_on_a_wall(void** unused)
{
    (void)unused;
    rest("levelset", 0.0, 0.003, 0.06, 0.002);
}

static double length(const ty_sim* sim, int axis)
{
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < sim->surface.n_verts; ++v) {
        low = fmin(low, sim->surface.vert[v][axis]);
        high = fmax(high, sim->surface.vert[v][axis]);
    }
    return high - low;
}

// Mode 2: omega^2 = 8 sigma / (rho R^3) [Lamb, art. 275].
static void a_drawn_out_drop_swings_back_in_time(void** unused)
{
    (void)unused;
    ty_sim_def def = drop_def("levelset", 0.5);
    ty_liquid_def* l = def.world.liquids;
    *l = ty_liquid_default(TY_SHAPE_FORMULA);
    l->shape.formula.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&l->shape.formula.expr[0],
                             "sqrt((x-0.5)^2+(y-0.5)^2+(z-0.5)^2) - 0.3*(1 + "
                             "0.05*(1.5*(z-0.5)^2/((x-0.5)^2+(y-0.5)^2+(z-0.5)^2+1e-9) - 0.5))"));
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double quarter = 0.5 * M_PI / sqrt(8.0 / (RADIUS * RADIUS * RADIUS)), when = 0.0;
    double energy = ty_tri_mesh_area(&sim.surface), begin = energy;
    double swing = length(&sim, 2) - length(&sim, 0);
    while (swing > 0.0 && sim.time < 1.5 * quarter) {
        double before = swing, t = sim.time;
        run_steps(&sim, 1);
        swing = length(&sim, 2) - length(&sim, 0);
        when = t + (sim.time - t) * before / (before - swing);
        energy = fmax(energy, ty_tri_mesh_area(&sim.surface) + sim.stats.kinetic_energy);
    }
    print_message("  a quarter of a period: off by %.2e; energy rose by %.1e of the surface's\n",
                  when / quarter - 1.0, energy / begin - 1.0);
    assert_true(swing <= 0.0);
    // Late by 0.04: the farthest points do not swing about the round drop's, nor does a drop this small
    // (half a period from zero to zero: 1 %, validation/F7). With half the tension it would be 0.41.
    assert_near(when / quarter, 1.0, 0.06);
    assert_true(energy < 1.001 * begin);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_drop_rests_under_laplace_pressure),
        cmocka_unit_test(a_falling_drop_has_the_pressure_of_one_at_rest),
        cmocka_unit_test(half_a_drop_rests_on_a_wall),
        cmocka_unit_test(a_drawn_out_drop_swings_back_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
