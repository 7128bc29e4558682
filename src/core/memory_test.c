// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"

#include <string.h>

#include "core/hash.h"
#include "core/vec.h"
#include "test.h"

static void arrays_keep_their_elements_when_they_grow(void** state)
{
    (void)state;
    TY_ARRAY(int) a = {0};
    for (int i = 0; i < 1000; ++i) assert_true(ty_array_push(&a, 3 * i));
    for (int i = 0; i < 1000; ++i) assert_int_equal(a.at[i], 3 * i);
    ty_array_free(&a);
}

static void a_failed_growth_leaves_the_array_as_it_was(void** state)
{
    (void)state;
    TY_ARRAY(int) a = {0};
    assert_true(ty_array_push(&a, 42));
    ty_memory_fail_after(1);
    assert_false(ty_array_reserve(&a, 1000));
    ty_memory_fail_after(0);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.at[0], 42);
    ty_array_free(&a);
}

static void overflowing_sizes_are_refused(void** state)
{
    (void)state;
    assert_null(ty_alloc(SIZE_MAX / 2, 4));
    assert_null(ty_alloc(SIZE_MAX, 1));
}

static void a_steady_arena_allocates_nothing(void** state)
{
    (void)state;
    ty_arena arena = {0};
    for (int step = 0; step < 5; ++step) {
        int64_t before = ty_memory_count();
        for (int i = 1; i < 20; ++i) {
            char* p = ty_arena_alloc(&arena, (size_t)i, 100);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            memset(p, i, (size_t)i * 100);
        }
        ty_arena_reset(&arena);
        if (step > 0) assert_int_equal(ty_memory_count(), before);
    }
    ty_arena_free(&arena);
}

static void hashes_do_not_depend_on_how_bytes_arrive(void** state)
{
    (void)state;
    unsigned char bytes[257];
    for (int i = 0; i < 257; ++i) bytes[i] = (unsigned char)(i * 7);
    uint64_t whole = ty_hash_bytes(bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; ++cut) {
        ty_hash h = ty_hash_begin();
        ty_hash_add(&h, bytes, cut);
        ty_hash_add(&h, bytes + cut, sizeof bytes - cut);
        assert_true(ty_hash_end(&h) == whole);
        if (cut < sizeof bytes) assert_true(ty_hash_bytes(bytes, cut) != whole);
    }
}

static void vectors_have_the_usual_products(void** state)
{
    (void)state;
    ty_vec3 a = ty_vec(1, 2, 3), b = ty_vec(-4, 5, 0.5);
    assert_near(ty_dot(a, b), 7.5, 0);
    assert_near(ty_dot(ty_cross(a, b), a), 0, 1e-14);
    assert_near(ty_norm(ty_normalize(b)), 1, 1e-15);
    assert_near(ty_norm(ty_normalize(ty_vec(0, 0, 0))), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_keep_their_elements_when_they_grow),
        cmocka_unit_test(a_failed_growth_leaves_the_array_as_it_was),
        cmocka_unit_test(overflowing_sizes_are_refused),
        cmocka_unit_test(a_steady_arena_allocates_nothing),
        cmocka_unit_test(hashes_do_not_depend_on_how_bytes_arrive),
        cmocka_unit_test(vectors_have_the_usual_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
