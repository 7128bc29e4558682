// SPDX-License-Identifier: Apache-2.0
// Viscosity by the whole stress tensor: rigid motion stays, a film flows with its parabola, walls
// hold.
#include <math.h>

#include "solve/grid/gridflow.h"
#include "solve/grid/rig.h"

typedef struct ball {
    double center[3], radius;
} ball;

static void ball_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ball* b = self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(b->center)) - b->radius;
}

static void start_with(rig* r, const char* const expr[3])
{
    r->def.liquids = ty_alloc(1, sizeof *r->def.liquids);
    r->def.n_liquids = 1;
    r->def.liquids[0] = ty_liquid_default(TY_SHAPE_BOX);
    for (int axis = 0; axis < 3; ++axis)
        r->def.liquids[0].shape.min[axis] = -9, r->def.liquids[0].shape.max[axis] = 9;
    r->def.liquids[0].velocity.kind = TY_VARY_EXPRESSION;
    for (int axis = 0; axis < 3; ++axis)
        assert_ok(ty_expr_create(&r->def.liquids[0].velocity.expr[axis], expr[axis]));
}

// The largest difference from a rigid motion over the ball's inside, after one step.
static double rigid_error(ty_viscosity_form form, double mu)
{
    static const ball drop = {{0.47, 0.52, 0.5}, 0.3};
    static const char* const spin[3] = {"0.2 - 2*(y-0.52) + 0.5*(z-0.5)", "2*(x-0.47)",
                                        "-0.5*(x-0.47)"};
    rig r = rig_cube(20);
    r.def.gravity = ty_varying_vector(0, 0, 0);
    r.solve.viscosity = ty_varying_number(mu);
    r.solve.viscosity_form = form;
    r.solve.theta = 1.0;
    r.solve.tolerance = 1e-10;
    r.liquid.distance = (ty_sampler){&drop, 1, 1e30, ball_eval};
    start_with(&r, spin);
    assert_ok(rig_start(&r));
    // A step so short that only viscosity changes anything: dt mu / (rho h^2) is what counts.
    assert_ok(rig_step(&r, 1e-5));
    ty_flow flow = ty_solver_grid.flow(r.self);
    double worst = 0.0;
    for (int i = 0; i < 1000; ++i) {
        double x[1][3] = {{0.2 + 0.06 * (i % 10), 0.25 + 0.06 * (i / 10 % 10),
                           0.23 + 0.06 * (i / 100)}},
               v[3];
        if (ty_norm(ty_load3(x[0]) - ty_load3(drop.center)) > 0.25) continue;
        ty_sample(&flow.velocity, 1, (const double(*)[3])x, v);
        ty_vec3 w = ty_vec(0.2 - 2 * (x[0][1] - 0.52) + 0.5 * (x[0][2] - 0.5), 2 * (x[0][0] - 0.47),
                           -0.5 * (x[0][0] - 0.47));
        worst = fmax(worst, ty_norm(ty_load3(v) - w));
    }
    rig_end(&r);
    return worst;
}

static void a_turning_drop_goes_on_turning(void** unused)
{
    (void)unused;
    // dt mu / (rho h^2) from 4 to 4e6. Without viscosity there is the projection's own change at
    // the ball's surface.
    double without = rigid_error(TY_VISCOSITY_VARIATIONAL, 0.0);
    assert_near(without, 0.0, 4e-4);
    for (double mu = 1e6; mu < 1e13; mu *= 1e3)
        assert_near(rigid_error(TY_VISCOSITY_VARIATIONAL, mu), without, 5e-6);
    assert_true(rigid_error(TY_VISCOSITY_DIFFUSION, 1e6) > 0.05);    // what this form is for
}

// A film of depth H on a floor that holds it, driven along x: u = g / (2 nu) y (2 H - y).
static double film_error(int cells, double depth, bool by_field)
{
    rig r = rig_cube(cells);
    half_space film = {.normal = {0, 1, 0}, .level = depth};
    r.def.gravity = ty_varying_vector(1, 0, 0);
    r.def.max[0] = 4.0;    // its open ends are free of stress, and the middle should not see them
    r.def.max[2] = 2.0 / cells;
    r.def.wall[TY_LEFT].closed = r.def.wall[TY_RIGHT].closed = false;
    r.def.wall[TY_BOTTOM].slip = 0.0;
    r.solve.viscosity = ty_varying_number(1000);
    if (by_field) {
        r.solve.viscosity.kind = TY_VARY_EXPRESSION;
        assert_ok(ty_expr_create(&r.solve.viscosity.expr[0], "1000"));
    }
    r.solve.viscosity_form = TY_VISCOSITY_VARIATIONAL;
    rig_liquid(&r, &film);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 30; ++step) assert_ok(rig_step(&r, 0.05));
    ty_flow flow = ty_solver_grid.flow(r.self);
    double worst = 0.0, top = depth * depth / 2.0;
    for (int i = 0; i <= 20; ++i) {
        double y = depth * i / 20, x[1][3] = {{2.0, y, 0.5 / cells}}, v[3];
        ty_sample(&flow.velocity, 1, (const double(*)[3])x, v);
        worst = fmax(worst, fabs(v[0] - 0.5 * y * (2.0 * depth - y)) / top);
    }
    ty_varying_free(&r.solve.viscosity);
    rig_end(&r);
    return worst;
}

static void a_film_flows_with_its_parabola(void** unused)
{
    (void)unused;
    for (int i = 0; i < 4; ++i) {
        const double depth[4] = {0.5, 0.52, 0.54,
                                 0.56};    // everywhere between two layers of cells
        assert_near(film_error(16, depth[i], false), 0.0, 0.025);
    }
    assert_near(film_error(16, 0.53, true), film_error(16, 0.53, false), 1e-5);
}

// A pool at rest between walls that hold stays at rest, also where it is very thick.
static void a_thick_pool_stays_still(void** unused)
{
    (void)unused;
    rig r = rig_cube(16);
    half_space pool = {.normal = {0, 1, 0}, .level = 0.53};
    for (int side = 0; side < TY_N_SIDES; ++side) r.def.wall[side].slip = 0.0;
    r.solve.viscosity = ty_varying_number(1e5);
    r.solve.viscosity_form = TY_VISCOSITY_VARIATIONAL;
    rig_liquid(&r, &pool);
    assert_ok(rig_start(&r));
    for (int step = 0; step < 20; ++step) assert_ok(rig_step(&r, 1.0 / 24.0));
    assert_near(rig_speed(&r), 0.0, 1e-9);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turning_drop_goes_on_turning),
        cmocka_unit_test(a_film_flows_with_its_parabola),
        cmocka_unit_test(a_thick_pool_stays_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
