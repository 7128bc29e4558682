// SPDX-License-Identifier: Apache-2.0
#include "core/archive.h"

#include <string.h>

#include "test.h"

typedef struct state {
    double time;
    int frame[2];
    double* phi;
    int64_t n_phi;
    TY_ARRAY(int) ids;
} state;

static ty_status visit(state* s, ty_archive* ar)
{
    TY_TRY(ty_archive_f64(ar, "time", &s->time, 1));
    TY_TRY(ty_archive_i32(ar, "frame", s->frame, 2));
    TY_TRY(ty_archive_array(ar, "phi", (void**)&s->phi, &s->n_phi, sizeof *s->phi));
    return ty_archive_growing(ar, "ids", &s->ids);
}

static state make_state(void)
{
    state s = {.time = 0.1, .frame = {3, 4}, .n_phi = 100};
    s.phi = ty_alloc(100, sizeof *s.phi);
    for (int i = 0; i < 100; ++i) s.phi[i] = i * 0.3;
    for (int i = 0; i < 7; ++i) assert_true(ty_array_push(&s.ids, i * i));
    return s;
}

static void free_state(state* s)
{
    ty_free(s->phi);
    ty_array_free(&s->ids);
}

static ty_archive save(state* s)
{
    ty_archive ar = ty_archive_save_begin("memory");
    assert_ok(visit(s, &ar));
    assert_ok(ty_archive_save_finish(&ar));
    return ar;
}

static void round_trip_gives_the_same_state(void** unused)
{
    (void)unused;
    state s = make_state(), back = {0};
    ty_archive ar = save(&s), in;
    assert_ok(ty_archive_load_begin(&in, "memory", ar.bytes.at, ar.bytes.n));
    assert_ok(visit(&back, &in));
    assert_ok(ty_archive_load_finish(&in));
    assert_true(back.time == s.time && back.frame[1] == 4);
    assert_int_equal(back.n_phi, 100);
    assert_memory_equal(back.phi, s.phi, 100 * sizeof *s.phi);
    assert_int_equal(back.ids.n, 7);
    assert_memory_equal(back.ids.at, s.ids.at, 7 * sizeof *s.ids.at);
    ty_archive_free(&ar);
    ty_archive_free(&in);
    free_state(&s);
    free_state(&back);
}

static void any_changed_byte_is_refused(void** unused)
{
    (void)unused;
    state s = make_state();
    ty_archive ar = save(&s), in;
    for (int64_t i = 0; i < ar.bytes.n; ++i)
        for (int bit = 0; bit < 8; ++bit) {
            ar.bytes.at[i] ^= (unsigned char)(1 << bit);
            assert_code(ty_archive_load_begin(&in, "memory", ar.bytes.at, ar.bytes.n), TY_DAMAGED);
            ar.bytes.at[i] ^= (unsigned char)(1 << bit);
        }
    for (int64_t n = 0; n < ar.bytes.n; ++n)
        assert_code(ty_archive_load_begin(&in, "memory", ar.bytes.at, n), TY_DAMAGED);
    ty_archive_free(&ar);
    free_state(&s);
}

static void fields_in_another_order_are_refused(void** unused)
{
    (void)unused;
    state s = make_state();
    ty_archive ar = save(&s), in;
    assert_ok(ty_archive_load_begin(&in, "memory", ar.bytes.at, ar.bytes.n));
    int frame[2];
    assert_code(ty_archive_i32(&in, "frame", frame, 2), TY_DAMAGED);
    double three[3];
    assert_code(ty_archive_f64(&in, "time", three, 3), TY_DAMAGED);
    assert_code(ty_archive_load_finish(&in), TY_DAMAGED);
    ty_archive_free(&in);
    ty_archive_free(&ar);
    free_state(&s);
}

static void every_failing_allocation_is_survived(void** unused)
{
    (void)unused;
    state s = make_state();
    ty_archive ar = save(&s);
    int64_t alive = ty_memory_alive();
    bool done = false;
    for (int k = 1; !done; ++k) {
        state back = {0};
        ty_archive in, again = ty_archive_save_begin("memory");
        ty_memory_fail_after(k);
        ty_status status = ty_archive_load_begin(&in, "memory", ar.bytes.at, ar.bytes.n);
        if (status.code == TY_OK) status = visit(&back, &in);
        if (status.code == TY_OK) status = visit(&back, &again);
        if (status.code == TY_OK) status = ty_archive_save_finish(&again);
        ty_memory_fail_after(0);
        done = status.code == TY_OK;
        if (!done) assert_int_equal(status.code, TY_NO_MEMORY);
        free_state(&back);
        ty_archive_free(&in);
        ty_archive_free(&again);
        assert_int_equal(ty_memory_alive(), alive);
    }
    ty_archive_free(&ar);
    free_state(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_gives_the_same_state),
        cmocka_unit_test(any_changed_byte_is_refused),
        cmocka_unit_test(fields_in_another_order_are_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
