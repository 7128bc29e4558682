// SPDX-License-Identifier: Apache-2.0
#include "space/hash_grid.h"

#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "test.h"

enum { N = 3000 };
static double x[N][3];
static int seen[N];

static void mark(void* ctx, int id, double d2)
{
    double limit2 = *(double*)ctx;
    assert_true(d2 <= limit2);
    ++seen[id];
}

static void neighbours_are_those_of_brute_force(void** state)
{
    (void)state;
    ty_hash_grid grid = {0};
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = (ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis)) - 0.5) *
                         (i % 3 == 0 ? 1.0 : 1e5);
    memcpy(x[10], x[11], sizeof *x);
    x[12][0] = NAN;
    for (int round = 0; round < 2; ++round) {    // the second with fewer points, in the same memory
        int n = round ? N / 3 : N;
        assert_ok(ty_hash_grid_build(&grid, n, (const double(*)[3])x, 0.1));
        for (int i = 0; i < n; i += 7) {
            if (i == 12) continue;
            double radius = i % 2 ? 0.1 : 0.03, limit2 = radius * radius, least;
            memset(seen, 0, sizeof seen);
            ty_hash_grid_near(&grid, x[i], radius, mark, &limit2);
            int lowest = i;
            for (int k = 0; k < n; ++k) {
                ty_vec3 d = ty_load3(x[k]) - ty_load3(x[i]);
                assert_int_equal(seen[k], ty_dot(d, d) <= limit2 ? 1 : 0);
                if (ty_dot(d, d) == 0.0 && k < lowest) lowest = k;
            }
            assert_int_equal(ty_hash_grid_closest(&grid, x[i], radius, &least), lowest);
            assert_true(least == 0.0);
        }
    }
    double nowhere[3] = {1e9, 0, 0};
    assert_int_equal(ty_hash_grid_closest(&grid, nowhere, 0.1, NULL), -1);
    ty_hash_grid_free(&grid);
}

// Near enough to each other that some are of the cell before, and of cells beside it.
static void a_cursor_changes_nothing(void** state)
{
    (void)state;
    ty_hash_grid grid = {0};
    ty_hash_cursor cursor = ty_hash_cursor_start();
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = 0.05 * (i % 20) + 0.3 * ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis));
    assert_ok(ty_hash_grid_build(&grid, N, (const double(*)[3])x, 0.1));
    for (int i = 0; i < N; ++i) {
        double limit2 = 0.01;
        int at_once[N];
        memset(seen, 0, sizeof seen);
        ty_hash_grid_near(&grid, x[i], 0.1, mark, &limit2);
        memcpy(at_once, seen, sizeof seen);
        memset(seen, 0, sizeof seen);
        ty_hash_grid_near_last(&grid, &cursor, x[i], 0.1, mark, &limit2);
        assert_memory_equal(seen, at_once, sizeof seen);
    }
    ty_hash_grid_free(&grid);
}

static void order_is_the_same_for_any_number_of_threads_and_past(void** state)
{
    (void)state;
    enum { MANY = 100000 };
    double(*p)[3] = ty_alloc(MANY, sizeof *p);
    for (int i = 0; i < MANY; ++i)
        for (int axis = 0; axis < 3; ++axis)
            p[i][axis] = ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis));
    ty_hash_grid one = {0}, other = {0};
    ty_threads_set(1);
    assert_ok(ty_hash_grid_build(&one, MANY / 2, (const double(*)[3])p, 0.02));
    ty_threads_set(3);
    assert_ok(ty_hash_grid_build(&other, MANY, (const double(*)[3])p, 0.5));
    assert_ok(ty_hash_grid_build(&other, MANY / 2, (const double(*)[3])p, 0.02));
    assert_int_equal(one.n_buckets, other.n_buckets);
    for (int i = 0; i < MANY / 2; ++i) assert_int_equal(one.entry[i].id, other.entry[i].id);
    ty_hash_grid_free(&one);
    ty_hash_grid_free(&other);
    ty_free(p);
}

static void no_points_no_neighbours(void** state)
{
    (void)state;
    ty_hash_grid grid = {0};
    double p[3] = {0};
    assert_ok(ty_hash_grid_build(&grid, 0, NULL, 1.0));
    assert_int_equal(ty_hash_grid_closest(&grid, p, 1.0, NULL), -1);
    ty_hash_grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_those_of_brute_force),
        cmocka_unit_test(a_cursor_changes_nothing),
        cmocka_unit_test(order_is_the_same_for_any_number_of_threads_and_past),
        cmocka_unit_test(no_points_no_neighbours),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
