// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"

#include <stdio.h>
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

// Resident bytes of the process now; -1: not known, or sanitizers keep more.
static int64_t resident(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return -1;
#endif
    long size = 0, pages = 0;
    FILE* f = fopen("/proc/self/statm", "r");
    if (!f) return -1;
    int n = fscanf(f, "%ld %ld", &size, &pages);
    fclose(f);
    return n == 2 ? (int64_t)pages * 4096 : -1;
}

// Ten sizes in turn, each a little larger every time, as a step's arrays are: no more memory than the
// largest need, whatever was freed before.
static void freed_large_blocks_are_used_again(void** state)
{
    (void)state;
    enum { KINDS = 10, MEGABYTE = 1 << 20 };
    int64_t before = resident(), most = 0, need = 0;
    char* other = ty_alloc(5, MEGABYTE);    // somebody stays at work
    memset(other, 7, 5 * (size_t)MEGABYTE);
    for (int step = 0; step < 30; ++step) {
        for (int kind = 0; kind < KINDS; ++kind) {
            size_t bytes = (size_t)MEGABYTE * (size_t)(3 + 2 * kind) + 40000 * (size_t)step;
            char *a = ty_alloc(bytes, 1), *b = ty_alloc(bytes, 1);
            assert_true(a && b && (a + bytes <= b || b + bytes <= a));
            assert_int_equal((uintptr_t)a % 64, 0);
            memset(a, kind, bytes);
            memset(b, kind + 1, bytes);
            assert_true(a[0] == kind && a[bytes - 1] == kind && b[0] == kind + 1);
            if (resident() - before > most) most = resident() - before;
            if (2 * (int64_t)bytes > need) need = 2 * (int64_t)bytes;
            ty_free(a);
            ty_free(b);
        }
    }
    for (int i = 0; i < 5 * MEGABYTE; ++i) assert_int_equal(other[i], 7);
    ty_free(other);
    if (before < 0) return;
    assert_true(most < need + 8 * MEGABYTE);
    assert_true(resident() - before < 2 * MEGABYTE);    // nobody is at work
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
        cmocka_unit_test(freed_large_blocks_are_used_again),
        cmocka_unit_test(hashes_do_not_depend_on_how_bytes_arrive),
        cmocka_unit_test(vectors_have_the_usual_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
