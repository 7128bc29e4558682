// SPDX-License-Identifier: Apache-2.0
#include "linear/paper_multigrid.h"

#include <stdlib.h>

#include "linear/model_problems.h"
#include "test.h"

static void make_ball(ty_model* m, ty_model_system system)
{
    ty_model_mesh ball;
    assert_ok(ty_model_ball(&ball, 9000, 0.1, 1.0));
    assert_ok(ty_model_tets(m, &ball, system, TY_MODEL_AIR_ALL));
    ty_model_mesh_free(&ball);
}

static void every_fine_row_has_a_coarse_neighbour(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        ty_model m = {0};
        ty_splitting s = {0};
        make_ball(&m, (ty_model_system)system);
        assert_ok(ty_split(&s, &m.a));
        int n_coarse = 0;
        for (int i = 0; i < m.a.n; ++i) {
            int coarse_neighbours = 0;
            for (int k = m.a.row_start[i]; k < m.a.row_start[i + 1]; ++k)
                coarse_neighbours += m.a.col[k] != i && s.coarse.at[m.a.col[k]] >= 0;
            n_coarse += s.coarse.at[i] >= 0;
            // Step 3 makes every neighbour of a coarse row fine, so coarse rows are not neighbours
            // either.
            assert_true(s.coarse.at[i] >= 0 ? coarse_neighbours == 0 : coarse_neighbours > 0);
        }
        assert_int_equal(n_coarse, s.n_coarse);
        assert_true(n_coarse <= (system == 0 ? 0.51 : 0.3) * m.a.n);
        ty_splitting_free(&s);
        ty_model_free(&m);
    }
}

// On a chain 0 - 1 - ... - 8 by hand: start at 0, then always the unlabelled row next to a fine
// one.
static void chain_is_labelled_as_by_hand(void** state)
{
    (void)state;
    enum { N = 9 };
    ty_entry entries[3 * N];
    int n = 0;
    for (int i = 0; i < N; ++i) {
        entries[n++] = (ty_entry){i, i, 2.0};
        if (i > 0) entries[n++] = (ty_entry){i, i - 1, -1.0};
        if (i + 1 < N) entries[n++] = (ty_entry){i, i + 1, -1.0};
    }
    ty_csr a = {0};
    ty_splitting s = {0};
    ty_csrf p = {0};
    assert_ok(ty_csr_from_entries(&a, N, N, n, entries));
    assert_ok(ty_split(&s, &a));
    for (int i = 0; i < N; ++i) assert_int_equal(s.coarse.at[i], i % 2 == 0 ? i / 2 : -1);
    assert_ok(ty_split_prolongation(&s, &a, &p));
    for (int i = 0; i < N; ++i) {
        assert_int_equal(p.start.at[i + 1] - p.start.at[i], i % 2 == 0 ? 1 : 2);
        assert_true(p.val.at[p.start.at[i]] == (i % 2 == 0 ? 1.0f : 0.5f));
    }
    ty_csr_free(&a);
    ty_splitting_free(&s);
    ty_csrf_free(&p);
}

// A prototype took 8 to 10 full cycles with two sweeps; more sweeps, fewer cycles. Half of the
// right-hand side is noise, which leaves more after the first cycle than a smooth one would.
static void full_cycles_converge_as_measured(void** state)
{
    (void)state;
    for (int system = 0; system < 2; ++system) {
        ty_model m = {0};
        make_ball(&m, (ty_model_system)system);
        ty_linear_def def = ty_linear_default();
        ty_linear* solver;
        ty_linear_stats two, ten, one;
        double* x = calloc((size_t)m.a.n, sizeof *x);
        def.method = TY_LINEAR_PAPER;
        ty_linear_stats* stats[3] = {&two, &ten, &one};
        for (int k = 0; k < 3; ++k) {
            def.sweeps = k == 1 ? 10 : 2;
            def.max_iterations = k == 2 ? 1 : 100;
            for (int i = 0; i < m.a.n; ++i) x[i] = 0.0;
            assert_ok(ty_linear_create(&solver, &def));
            assert_ok(ty_linear_setup(solver, &m.a, NULL));
            assert_ok(ty_linear_solve(solver, m.rhs, x, stats[k]));
            ty_linear_destroy(solver);
        }
        assert_true(two.converged && ten.converged);
        assert_true(two.iterations <= 12 && ten.iterations < two.iterations);
        assert_true(one.last_residual < 0.2);
        free(x);
        ty_model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fine_row_has_a_coarse_neighbour),
        cmocka_unit_test(chain_is_labelled_as_by_hand),
        cmocka_unit_test(full_cycles_converge_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
