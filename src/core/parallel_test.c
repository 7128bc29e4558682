// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static double harmonic(void* ctx, ty_range r)
{
    (void)ctx;
    double sum = 0.0;
    for (int64_t i = r.begin; i < r.end; ++i) sum += 1.0 / (double)(i + 1);
    return sum;
}

static void sums_have_the_same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    enum { N = 1000003 };
    ty_threads_set(1);
    double expected = ty_parallel_sum(N, 100, harmonic, NULL);
    assert_true(fabs(expected - (log(N) + 0.5772156649)) < 1e-6);
    for (int threads = 2; threads <= 7; ++threads) {
        ty_threads_set(threads);
        for (int repeat = 0; repeat < 20; ++repeat) {
            double sum = ty_parallel_sum(N, 100, harmonic, NULL);
            assert_memory_equal(&sum, &expected, sizeof sum);
        }
    }
}

static void mark(void* ctx, ty_range r)
{
    int* count = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) count[i] += 1 + (r.begin != r.block * 7);
}

static void every_item_is_visited_once(void** state)
{
    (void)state;
    enum { N = 1000 };
    for (int threads = 1; threads <= 5; ++threads) {
        ty_threads_set(threads);
        int count[N] = {0};
        ty_parallel_for(N, 7, mark, count);
        for (int i = 0; i < N; ++i) assert_int_equal(count[i], 1);
    }
}

static void inner(void* ctx, ty_range r)
{
    int* worker = ctx;
    *worker = r.worker;
}

static void outer(void* ctx, ty_range r)
{
    int* workers = ctx;
    int worker = -1;
    ty_parallel_for(1, 1, inner, &worker);
    workers[r.block] = worker == r.worker;
}

static void inner_loops_keep_their_worker(void** state)
{
    (void)state;
    ty_threads_set(3);
    int ok[64] = {0};
    ty_parallel_for(64, 1, outer, ok);
    for (int i = 0; i < 64; ++i) assert_int_equal(ok[i], 1);
}

static double position(void* ctx, ty_range r)
{
    (void)ctx;
    return (double)r.end;
}

static void max_and_empty_loops(void** state)
{
    (void)state;
    assert_true(ty_parallel_max(100000, 3, position, NULL) == 100000.0);
    assert_true(ty_parallel_sum(0, 3, position, NULL) == 0.0);
    assert_true(ty_parallel_max(0, 3, position, NULL) == -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(every_item_is_visited_once),
        cmocka_unit_test(inner_loops_keep_their_worker),
        cmocka_unit_test(max_and_empty_loops),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
