// SPDX-License-Identifier: Apache-2.0
#include "linear/csr.h"

#include <math.h>

#include "core/hash.h"
#include "core/memory.h"
#include "test.h"

static ty_entry random_entry(uint64_t seed, int n, int m)
{
    uint64_t h = ty_mix(seed + 1);
    return (ty_entry){(int)(h % (unsigned)n), (int)((h >> 24) % (unsigned)m),
                      ty_unit(ty_mix(h)) - 0.5};
}

static void entries_become_the_dense_matrix(void** state)
{
    (void)state;
    enum { N = 23, M = 17, ENTRIES = 400 };
    ty_entry entry[ENTRIES];
    double dense[N][M] = {{0}};
    for (int e = 0; e < ENTRIES; ++e) {
        entry[e] = random_entry((uint64_t)e, N, M);
        dense[entry[e].row][entry[e].col] += entry[e].val;
    }
    ty_csr a = {0}, t = {0}, c = {0};
    assert_ok(ty_csr_from_entries(&a, N, M, ENTRIES, entry));
    assert_ok(ty_csr_validate(&a));
    assert_ok(ty_csr_transpose(&t, &a));
    assert_ok(ty_csr_validate(&t));
    assert_ok(ty_csr_copy(&c, &t));
    double x[M], y[N], b[N];
    for (int j = 0; j < M; ++j) x[j] = cos(j);
    for (int i = 0; i < N; ++i) b[i] = i;
    ty_csr_apply(&a, x, y);
    ty_csr_residual(&a, x, b, b);
    for (int i = 0; i < N; ++i) {
        double sum = 0.0;
        for (int j = 0; j < M; ++j) {
            sum += dense[i][j] * x[j];
            assert_true(ty_csr_get(&a, i, j) == dense[i][j]);
            assert_true(ty_csr_get(&c, j, i) == dense[i][j]);
        }
        assert_near(y[i], sum, 1e-13);
        assert_near(b[i], i - sum, 1e-13);
    }
    ty_csr_free(&a);
    ty_csr_free(&t);
    ty_csr_free(&c);
}

static void validate_finds_each_fault(void** state)
{
    (void)state;
    ty_entry entry[] = {{0, 0, 2.0}, {0, 1, -1.0}, {1, 0, -1.0}, {1, 1, 2.0}};
    ty_csr a = {0};
    assert_ok(ty_csr_from_entries(&a, 2, 2, 4, entry));
    assert_ok(ty_csr_validate_symmetric(&a, 0.0));
    a.val[1] = -0.5;
    assert_code(ty_csr_validate_symmetric(&a, 1e-9), TY_BAD_INPUT);
    a.val[1] = NAN;
    assert_code(ty_csr_validate(&a), TY_BAD_INPUT);
    a.val[1] = -1.0;
    a.col[1] = 0;
    assert_code(ty_csr_validate(&a), TY_BAD_INPUT);
    a.col[1] = 2;
    assert_code(ty_csr_validate(&a), TY_BAD_INPUT);
    a.col[1] = 1;
    a.row_start[1] = 5;
    assert_code(ty_csr_validate(&a), TY_BAD_INPUT);
    ty_csr_free(&a);
}

static void rebuilding_does_not_allocate(void** state)
{
    (void)state;
    ty_entry entry[50];
    for (int e = 0; e < 50; ++e) entry[e] = random_entry((uint64_t)e, 10, 10);
    ty_csr a = {0}, t = {0};
    int64_t count = 0;
    for (int step = 0; step < 3; ++step) {
        assert_ok(ty_csr_from_entries(&a, 10, 10, 50 - step, entry));
        assert_ok(ty_csr_transpose(&t, &a));
        if (step == 0) count = ty_memory_count();
    }
    assert_int_equal(ty_memory_count(), count);
    ty_csr_free(&a);
    ty_csr_free(&t);
}

static void too_many_entries_are_refused(void** state)
{
    (void)state;
    ty_csr a = {0};
    assert_code(ty_csr_reserve(&a, 10, 10, (int64_t)1 << 31), TY_BAD_INPUT);
    ty_csr_free(&a);
}

static void no_memory_is_reported(void** state)
{
    (void)state;
    for (int k = 1; k <= 3; ++k) {
        ty_csr a = {0};
        ty_memory_fail_after(k);
        ty_status status = ty_csr_reserve(&a, 10, 10, 30);
        ty_memory_fail_after(0);
        assert_int_equal(status.code, TY_NO_MEMORY);
        ty_csr_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_become_the_dense_matrix),
        cmocka_unit_test(validate_finds_each_fault),
        cmocka_unit_test(rebuilding_does_not_allocate),
        cmocka_unit_test(too_many_entries_are_refused),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
