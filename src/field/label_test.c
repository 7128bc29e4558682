// SPDX-License-Identifier: Apache-2.0
#include "field/label.h"

#include <string.h>

#include "core/hash.h"
#include "test.h"

enum { N = 12 };
typedef int lattice[N][N][N];

// Plain flood fill from every unlabelled node in order.
static void flood(double (*v)[N][N], lattice label, int k, int j, int i, int number)
{
    if (i < 0 || j < 0 || k < 0 || i >= N || j >= N || k >= N || v[k][j][i] >= 0.0 ||
        label[k][j][i] >= 0)
        return;
    label[k][j][i] = number;
    for (int s = -1; s <= 1; s += 2) {
        flood(v, label, k + s, j, i, number);
        flood(v, label, k, j + s, i, number);
        flood(v, label, k, j, i + s, number);
    }
}

static void random_lattices_agree_with_flood_fill(void** state)
{
    (void)state;
    static double v[N][N][N];
    static lattice expected;
    ty_label l = {0};
    for (uint64_t seed = 0; seed < 40; ++seed) {
        double share = 0.1 + 0.015 * (double)seed;
        for (int c = 0; c < N * N * N; ++c)
            (&v[0][0][0])[c] = ty_unit(ty_mix2(seed, (uint64_t)c)) - share;
        memset(expected, -1, sizeof expected);
        int count = 0;
        for (int c = 0; c < N * N * N; ++c) {
            int i = c % N, j = c / N % N, k = c / N / N;
            if (v[k][j][i] < 0.0 && expected[k][j][i] < 0) flood(v, expected, k, j, i, count++);
        }
        assert_ok(ty_label_scan(&l, (int[3]){N, N, N}, &v[0][0][0], NULL));
        ty_label_number(&l);
        assert_int_equal(l.n_labels, count);
        for (int c = 0; c < N * N * N; ++c) {
            int i = c % N, j = c / N % N, k = c / N / N;
            assert_int_equal(ty_label_at(&l, i, j, k), expected[k][j][i]);
        }
    }
    ty_label_free(&l);
}

static void closed_nodes_separate_and_unite_joins(void** state)
{
    (void)state;
    double v[7] = {-1, -1, -1, -1, -1, 1, -1};
    unsigned char closed[7] = {0, 0, 1, 0, 0, 0, 0};
    ty_label l = {0};
    assert_ok(ty_label_scan(&l, (int[3]){7, 1, 1}, v, closed));
    ty_label_number(&l);
    assert_int_equal(l.n_labels, 3);
    assert_int_equal(ty_label_at(&l, 2, 0, 0), -1);
    assert_int_equal(ty_label_at(&l, 4, 0, 0), 1);
    assert_int_equal(ty_label_at(&l, 9, 0, 0), -1);
    ty_label_unite(&l, ty_label_run_at(&l, 0, 0, 0), ty_label_run_at(&l, 6, 0, 0));
    ty_label_number(&l);
    assert_int_equal(l.n_labels, 2);
    assert_int_equal(ty_label_at(&l, 6, 0, 0), 0);
    ty_label_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lattices_agree_with_flood_fill),
        cmocka_unit_test(closed_nodes_separate_and_unite_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
