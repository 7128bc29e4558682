// SPDX-License-Identifier: Apache-2.0
#include "linear/incomplete_cholesky.h"

#include <math.h>

#include "linear/model_problems.h"
#include "test.h"

// A tridiagonal matrix has no fill, so IC(0) is its Cholesky factor and solves it.
static void exact_for_a_tridiagonal_matrix(void** state)
{
    (void)state;
    enum { N = 50 };
    ty_entry entries[3 * N];
    int n = 0;
    for (int i = 0; i < N; ++i) {
        entries[n++] = (ty_entry){i, i, 2.0 + 0.1 * i};
        if (i > 0) entries[n++] = (ty_entry){i, i - 1, -1.0 - 0.05 * (i - 1)};
        if (i + 1 < N) entries[n++] = (ty_entry){i, i + 1, -1.0 - 0.05 * i};
    }
    ty_csr a = {0};
    ty_ic ic = {0};
    double x[N], b[N], z[N];
    assert_ok(ty_csr_from_entries(&a, N, N, n, entries));
    assert_ok(ty_ic_setup(&ic, &a));
    for (int i = 0; i < N; ++i) x[i] = sin(i);
    ty_csr_apply(&a, x, b);
    ty_ic_apply(&ic, b, 1.0, z);
    for (int i = 0; i < N; ++i) assert_near(z[i], x[i], 1e-10);
    ty_csr_free(&a);
    ty_ic_free(&ic);
}

// L L^T agrees with A wherever A has an entry (the definition of IC(0)).
static void product_agrees_with_the_matrix_in_its_pattern(void** state)
{
    (void)state;
    ty_model m = {0};
    ty_ic ic = {0};
    assert_ok(ty_model_grid(&m, 800, 0.0, false));
    assert_ok(ty_ic_setup(&ic, &m.a));
    for (int i = 0; i < m.a.n; ++i) {
        for (int k = m.a.row_start[i]; k < m.a.row_start[i + 1] && m.a.col[k] <= i; ++k) {
            int j = m.a.col[k];
            double sum = j == i ? 1.0 / (ic.inverse.at[i] * ic.inverse.at[i])
                                : ty_csr_get(&ic.lower, i, j) / ic.inverse.at[j];
            for (int c = 0; c < j; ++c)
                sum += ty_csr_get(&ic.lower, i, c) * ty_csr_get(&ic.lower, j, c);
            assert_near(sum, m.a.val[k], 1e-12 * ty_csr_get(&m.a, i, i));
        }
    }
    ty_model_free(&m);
    ty_ic_free(&ic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_for_a_tridiagonal_matrix),
        cmocka_unit_test(product_agrees_with_the_matrix_in_its_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
