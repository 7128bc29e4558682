// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Iterations of the multigrid do not grow with the size of the system. (The default solver begins with
// IC where rows are long, whose iterations do, as long as it takes less time.)
#include <stdlib.h>

#include "linear/model_problems.h"
#include "linear/solve.h"
#include "test.h"

static ty_linear_stats solve_ball(int n_tets, ty_model_system system, double tolerance)
{
    ty_model m = {0};
    ty_model_mesh ball;
    ty_linear_def def = ty_linear_default();
    ty_linear* solver;
    ty_linear_stats stats;
    def.method = TY_LINEAR_MULTIGRID;
    def.tolerance = tolerance;
    assert_ok(ty_model_ball(&ball, n_tets, 0.08, 1.0));
    assert_ok(ty_model_tets(&m, &ball, system, TY_MODEL_AIR_ALL));
    ty_model_mesh_free(&ball);
    double* x = calloc((size_t)m.a.n, sizeof *x);
    assert_ok(ty_linear_create(&solver, &def));
    assert_ok(ty_linear_setup(solver, &m.a, m.prolongation.n ? &m.prolongation : NULL));
    assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
    assert_true(stats.converged);
    ty_linear_destroy(solver);
    ty_model_free(&m);
    free(x);
    return stats;
}

static void iterations_stay(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        int small = solve_ball(10000, (ty_model_system)system, 1e-6).iterations;
        int large = solve_ball(1000000, (ty_model_system)system, 1e-6).iterations;
        if (large > small + 4)
            fail_msg("system %d: %d iterations at 10 thousand tets, %d at a million", system, small,
                     large);
    }
}

// The single-precision cycle must not slow down a tight solve: twice the digits, twice the
// iterations.
static void tight_tolerances_cost_in_proportion(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        int loose = solve_ball(200000, (ty_model_system)system, 1e-6).iterations;
        int tight = solve_ball(200000, (ty_model_system)system, 1e-12).iterations;
        if (tight > 2 * loose + 3)
            fail_msg("system %d: %d iterations to 1e-6, %d to 1e-12", system, loose, tight);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_stay),
        cmocka_unit_test(tight_tolerances_cost_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
