// SPDX-License-Identifier: Apache-2.0
#include "linear/smoother.h"

#include <math.h>
#include <stdlib.h>

#include "core/hash.h"
#include "linear/model_problems.h"
#include "test.h"

// 0: two-point (4 slots), 1: grid (6 slots), 2: nodal (blocks)
static int make(ty_model* m, int which)
{
    ty_model_mesh ball;
    if (which == 1) {
        assert_ok(ty_model_grid(m, 6000, 0.0, false));
        return 6;
    }
    assert_ok(ty_model_ball(&ball, which == 0 ? 6000 : 20000, 0.05, 1.0));
    assert_ok(ty_model_tets(m, &ball, which == 0 ? TY_MODEL_TWO_POINT : TY_MODEL_NODAL,
                            TY_MODEL_AIR_ALL));
    ty_model_mesh_free(&ball);
    return which == 0 ? 4 : 20;
}

static void neighbours_have_different_colours(void** state)
{
    (void)state;
    for (int which = 0; which < 3; ++which) {
        ty_model m = {0};
        ty_colouring c = {0};
        make(&m, which);
        assert_ok(which < 2 ? ty_colour_rows(&c, &m.a) : ty_colour_blocks(&c, &m.a));
        int* colour = malloc((size_t)m.a.n * sizeof *colour);
        for (int i = 0; i < m.a.n; ++i) colour[i] = -1;
        for (int k = 0; k < c.n_colours; ++k)
            for (int at = c.start.at[k]; at < c.start.at[k + 1]; ++at) colour[c.order.at[at]] = k;
        for (int i = 0; i < m.a.n; ++i) {
            assert_true(colour[i] >= 0);
            for (int k = m.a.row_start[i]; k < m.a.row_start[i + 1]; ++k) {
                int j = m.a.col[k];
                bool same_block = which == 2 && i / TY_COLOUR_BLOCK == j / TY_COLOUR_BLOCK;
                if (j != i && !same_block) assert_int_not_equal(colour[i], colour[j]);
            }
        }
        assert_true(c.n_colours <= 32);
        free(colour);
        ty_colouring_free(&c);
        ty_model_free(&m);
    }
}

// Gauss-Seidel in double, in the smoother's order.
static void reference_sweep(const ty_model* m, const int* order, bool backward, const double* b,
                            double* x)
{
    for (int k = 0; k < m->a.n; ++k) {
        int i = order[backward ? m->a.n - 1 - k : k];
        double sum = b[i], diagonal = 1.0;
        for (int e = m->a.row_start[i]; e < m->a.row_start[i + 1]; ++e) {
            if (m->a.col[e] == i) diagonal = m->a.val[e];
            else sum -= m->a.val[e] * x[m->a.col[e]];
        }
        x[i] = sum / diagonal;
    }
}

static void sweeps_are_gauss_seidel(void** state)
{
    (void)state;
    for (int which = 0; which < 3; ++which) {
        ty_model m = {0};
        ty_smoother s = {0};
        int most = make(&m, which), n = m.a.n;
        assert_ok(ty_smoother_setup(&s, &m.a, most, 1.0, NULL));
        assert_int_equal(s.width, which == 0 ? 4 : which == 1 ? 6 : 0);
        double *b = malloc((size_t)n * sizeof *b), *x = calloc((size_t)n, sizeof *x),
               *r = malloc((size_t)n * sizeof *r);
        float *fb = malloc((size_t)n * sizeof *fb), *fx = malloc((size_t)n * sizeof *fx),
              *fr = calloc((size_t)n, sizeof *fr);
        for (int i = 0; i < n; ++i) {
            b[i] = fb[i] = (float)(ty_unit(ty_mix((uint64_t)i)) - 0.5);
            fx[i] = 77.0f;    // from_zero must not read it
        }
        const int* order = s.colouring.order.at;
        ty_smoother_from_zero(&s, fb, fx);
        ty_smoother_residual(&s, fb, fx, fr);
        reference_sweep(&m, order, false, b, x);
        ty_csr_residual(&m.a, x, b, r);
        for (int i = 0; i < n; ++i) {
            assert_near(fx[i], x[i], 1e-5 * (1.0 + fabs(x[i])));
            assert_near(s.open.at[i] ? fr[i] : 0.0, r[i], 2e-5);
        }
        for (int sweep = 0; sweep < 4; ++sweep) {
            ty_smoother_sweep(&s, sweep % 2 == 0, fb, fx);
            reference_sweep(&m, order, sweep % 2 == 0, b, x);
        }
        for (int i = 0; i < n; ++i) assert_near(fx[i], x[i], 1e-4 * (1.0 + fabs(x[i])));
        free(b), free(x), free(r), free(fb), free(fx), free(fr);
        ty_smoother_free(&s);
        ty_model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_have_different_colours),
        cmocka_unit_test(sweeps_are_gauss_seidel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
