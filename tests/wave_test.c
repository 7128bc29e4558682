// SPDX-License-Identifier: Apache-2.0
// A small standing wave between two walls keeps its period and nearly all of its amplitude for
// three periods.
#include <string.h>

#include "pair.h"

enum { CELLS = 32, FRAMES = 96 };
static const double DEPTH = 0.5, AMPLITUDE = 0.003;

static ty_sim_def wave_def(void)
{
    const double nowhere[3] = {0, 0, 0};
    ty_sim_def def = pair_def("levelset", "grid", CELLS, nowhere, 0.1);
    def.frame_rate = 40;
    def.solve.cfl = 1.0;
    def.solve.tolerance = 1e-8;
    def.world.max[1] = 0.625;
    def.world.max[2] = 2.0 / CELLS;
    def.world.wall[TY_TOP].closed = false;
    ty_liquid_def* water = def.world.liquids;
    *water = ty_liquid_default(TY_SHAPE_FORMULA);
    water->shape.formula.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&water->shape.formula.expr[0], "y - 0.5 - 0.003*cos(2*pi*x)"));
    return def;
}

static double height(const ty_sim* sim, double x)
{
    ty_liquid liquid = ty_sim_liquid(sim);
    double low = 0.4, high = 0.6, phi;
    for (int i = 0; i < 40; ++i) {
        double at[1][3] = {{x, 0.5 * (low + high), 1.0 / CELLS}};
        ty_sample(&liquid.distance, 1, (const double(*)[3])at, &phi);
        *(phi < 0.0 ? &low : &high) = at[0][1];
    }
    return low;
}

static double wave_share(const ty_sim* sim)
{
    double ends = height(sim, 0.0) - height(sim, 0.5),
           inner = height(sim, 0.125) - height(sim, 0.375);
    return (ends / 4 + inner * sqrt(0.5) / 2) / AMPLITUDE;
}

static void standing_wave_goes_on(void** unused)
{
    (void)unused;
    ty_sim_def def = wave_def();
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    double k = 2.0 * M_PI, omega = sqrt(9.81 * k * tanh(k * DEPTH)), sum = 0.0, last = 0.0;
    for (int frame = 1; frame <= FRAMES; ++frame) {
        run_frames(&sim, 1);
        double eta = wave_share(&sim), error = eta - cos(omega * sim.time);
        sum += error * error / FRAMES;
        if (sim.time * omega > 5.0 * M_PI) last = fmax(last, fabs(eta));
    }
    assert_true(sqrt(sum) < 0.035);
    assert_true(last > 0.97 && last < 1.01);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(standing_wave_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
