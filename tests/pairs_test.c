// SPDX-License-Identifier: Apache-2.0
// Every tracker with every solver: same bytes for any number of threads, exact continuation from an
// archive, an empty liquid, a drop of one cell, failing allocations.
#include <string.h>

#include "core/parallel.h"
#include "pair.h"

enum { CELLS = 14, FRAMES = 3 };

static const double center[3] = {0.4, 0.45, 0.5};

static void for_every_pair(void (*check)(const char* tracker, const char* solver))
{
    int n = 0;
    for (const ty_tracker_kind* const* t = ty_tracker_kinds(); *t; ++t)
        for (const ty_solver_kind* const* s = ty_solver_kinds(); *s; ++s, ++n) {
            print_message("  %s + %s\n", (*t)->name, (*s)->name);
            check((*t)->name, (*s)->name);
        }
    assert_true(n > 0);
}

static uint64_t run_with_threads(const ty_sim_def* def, int threads)
{
    ty_sim sim;
    ty_threads_set(threads);
    assert_ok(ty_sim_create(&sim, def));
    assert_true(sim.surface.n_tris > 100);
    run_frames(&sim, FRAMES);
    uint64_t hash = surface_hash(&sim);
    ty_sim_destroy(&sim);
    return hash;
}

static void check_threads(const char* tracker, const char* solver)
{
    ty_sim_def def = pair_def(tracker, solver, CELLS, center, 0.27);
    uint64_t one = run_with_threads(&def, 1);
    const int counts[] = {2, 3, 5};
    for (int i = 0; i < 3; ++i)
        if (run_with_threads(&def, counts[i]) != one)
            fail_msg("%s + %s: other bytes with %d threads", tracker, solver, counts[i]);
    ty_threads_set(0);
    ty_sim_def_free(&def);
}

static ty_archive save(ty_sim* sim)
{
    ty_archive ar = ty_archive_save_begin("memory");
    assert_ok(ty_sim_archive(sim, &ar));
    assert_ok(ty_archive_save_finish(&ar));
    return ar;
}

static void load(ty_sim* sim, const ty_sim_def* def, const ty_archive* from)
{
    ty_archive in;
    assert_ok(ty_sim_create(sim, def));
    assert_ok(ty_archive_load_begin(&in, "memory", from->bytes.at, from->bytes.n));
    assert_ok(ty_sim_archive(sim, &in));
    assert_ok(ty_archive_load_finish(&in));
    ty_archive_free(&in);
}

// After `steps` steps (in the middle of a frame, too) the state goes through an archive into a
// fresh simulation.
static void check_continuation(const ty_sim_def* def, int steps)
{
    ty_sim first, second;
    assert_ok(ty_sim_create(&first, def));
    for (int i = 0; i < steps; ++i) {
        bool done;
        assert_ok(ty_sim_step(&first, &done));
    }
    ty_archive ar = save(&first);
    load(&second, def, &ar);
    ty_archive again = save(&second);
    assert_int_equal(again.bytes.n, ar.bytes.n);
    assert_memory_equal(again.bytes.at, ar.bytes.at, (size_t)ar.bytes.n);
    run_frames(&first, 2);
    run_frames(&second, 2);
    assert_true(surface_hash(&first) == surface_hash(&second));
    ty_archive_free(&ar);
    ty_archive_free(&again);
    ty_sim_destroy(&first);
    ty_sim_destroy(&second);
}

static void check_archive(const char* tracker, const char* solver)
{
    ty_sim_def def = pair_def(tracker, solver, CELLS, center, 0.27);
    for (int steps = 0; steps < 6; ++steps) check_continuation(&def, steps);
    ty_sim_def_free(&def);
}

static void check_empty(const char* tracker, const char* solver)
{
    const double outside[3] = {9, 9, 9};
    ty_sim_def def = pair_def(tracker, solver, CELLS, outside, 0.1);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    run_frames(&sim, 2);
    assert_int_equal(sim.surface.n_tris, 0);
    assert_true(sim.stats.volume == 0.0);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

static void check_drop(const char* tracker, const char* solver)
{
    ty_sim_def def = pair_def(tracker, solver, CELLS, center, 0.9 / CELLS);
    ty_sim sim;
    assert_ok(ty_sim_create(&sim, &def));
    assert_true(sim.stats.volume > 0.0);
    run_frames(&sim, 2);
    assert_true(isfinite(sim.stats.max_speed) && sim.stats.max_speed < 20.0);
    assert_true(sim.stats.volume < 4.0 * sim.stats.expected_volume + 1e-12);
    ty_sim_destroy(&sim);
    ty_sim_def_free(&def);
}

// Every allocation of two steps fails once: a status, nothing leaked.
static void check_memory(const char* tracker, const char* solver)
{
    ty_sim_def def = pair_def(tracker, solver, 8, center, 0.27);
    int64_t alive = ty_memory_alive();
    bool whole = false;
    for (int64_t k = 1; !whole; k += 1 + k / 40) {
        ty_sim sim;
        bool done;
        ty_memory_fail_after(k);
        ty_status status = ty_sim_create(&sim, &def);
        for (int i = 0; i < 2 && status.code == TY_OK; ++i) status = ty_sim_step(&sim, &done);
        ty_memory_fail_after(0);
        whole = status.code == TY_OK;
        if (!whole && status.code != TY_NO_MEMORY)
            fail_msg("%s + %s: allocation %lld: %s", tracker, solver, (long long)k, status.message);
        ty_sim_destroy(&sim);
        assert_int_equal(ty_memory_alive(), alive);
    }
    ty_sim_def_free(&def);
}

static void same_bytes_for_any_number_of_threads(void** state)
{
    (void)state;
    for_every_pair(check_threads);
}
static void going_on_from_an_archive_equals_never_stopping(void** state)
{
    (void)state;
    for_every_pair(check_archive);
}
static void an_empty_liquid_stays_empty(void** state)
{
    (void)state;
    for_every_pair(check_empty);
}
static void a_drop_of_one_cell_is_survived(void** state)
{
    (void)state;
    for_every_pair(check_drop);
}
static void failing_allocations_give_a_status(void** state)
{
    (void)state;
    for_every_pair(check_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(going_on_from_an_archive_equals_never_stopping),
        cmocka_unit_test(an_empty_liquid_stays_empty),
        cmocka_unit_test(a_drop_of_one_cell_is_survived),
        cmocka_unit_test(failing_allocations_give_a_status),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
