// SPDX-License-Identifier: Apache-2.0
#include "linear/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "linear/model_problems.h"
#include "test.h"

// |b - A x| / |b|, computed here.
static double residual_of(const ty_model* m, const double* x)
{
    double error = 0.0, norm = 0.0;
    for (int i = 0; i < m->a.n; ++i) {
        double r = m->rhs[i];
        for (int k = m->a.row_start[i]; k < m->a.row_start[i + 1]; ++k)
            r -= m->a.val[k] * x[m->a.col[k]];
        error += r * r;
        norm += m->rhs[i] * m->rhs[i];
    }
    return sqrt(error / norm);
}

static double* solve(const ty_model* m, ty_linear_def def, ty_linear_stats* stats)
{
    ty_linear* solver;
    double* x = calloc((size_t)m->a.n + 1, sizeof *x);
    assert_ok(ty_linear_create(&solver, &def));
    assert_ok(ty_linear_setup(solver, &m->a, m->prolongation.n ? &m->prolongation : NULL));
    assert_ok(ty_linear_solve(solver, m->rhs, x, stats));
    ty_linear_destroy(solver);
    return x;
}

enum { N_SYSTEMS = 11 };

static void make_tets(ty_model* m, double grading, ty_model_system system, ty_model_air air)
{
    ty_model_mesh ball;
    assert_ok(ty_model_ball(&ball, 8000, 0.08, grading));
    assert_ok(ty_model_tets(m, &ball, system, air));
    ty_model_mesh_free(&ball);
}

static void make_system(ty_model* m, int which)
{
    switch (which) {
    case 0: make_tets(m, 1.0, TY_MODEL_TWO_POINT, TY_MODEL_AIR_ALL); break;
    case 1: make_tets(m, 1.0, TY_MODEL_NODAL, TY_MODEL_AIR_TOP); break;
    case 2: make_tets(m, 1.0, TY_MODEL_FACE, TY_MODEL_AIR_TOP); break;
    case 3: make_tets(m, 1.0, TY_MODEL_FACE, TY_MODEL_AIR_NONE); break;
    case 4: make_tets(m, 1000.0, TY_MODEL_TWO_POINT, TY_MODEL_AIR_ALL); break;
    case 5: make_tets(m, 1000.0, TY_MODEL_NODAL, TY_MODEL_AIR_ALL); break;
    case 6: assert_ok(ty_model_grid(m, 10000, 0.0, false)); break;
    case 7: assert_ok(ty_model_grid(m, 10000, 0.0, true)); break;
    case 8: assert_ok(ty_model_grid(m, 10000, 1.0, false)); break;
    case 9: assert_ok(ty_model_octree(m, 4, 3)); break;
    default: assert_ok(ty_model_droplets(m, 12, 1000)); break;
    }
}

static void every_method_solves_every_system(void** state)
{
    (void)state;
    for (int which = 0; which < N_SYSTEMS; ++which) {
        ty_model m = {0};
        make_system(&m, which);
        assert_ok(ty_csr_validate_symmetric(&m.a, 1e-12));
        for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
            ty_linear_def def = ty_linear_default();
            def.method = (ty_linear_method)method;
            def.max_iterations = 5000;
            ty_linear_stats stats;
            double* x = solve(&m, def, &stats);
            double residual = residual_of(&m, x);
            if (!stats.converged || residual > 1.01e-6)
                fail_msg("system %d by %s: residual %g after %d iterations", which,
                         ty_linear_method_name(def.method), residual, stats.iterations);
            assert_near(stats.last_residual, residual, 1e-9);
            if (method == TY_LINEAR_MULTIGRID && stats.iterations > 30)
                fail_msg("system %d took %d iterations", which, stats.iterations);
            free(x);
        }
        ty_model_free(&m);
    }
}

static void same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    static const int systems[] = {0, 2, 3, 6, 9, 10};
    for (int s = 0; s < 6; ++s) {
        ty_model m = {0};
        make_system(&m, systems[s]);
        ty_linear_stats first, stats;
        ty_threads_set(1);
        double* expected = solve(&m, ty_linear_default(), &first);
        for (int threads = 2; threads <= 4; ++threads) {
            ty_threads_set(threads);
            double* x = solve(&m, ty_linear_default(), &stats);
            assert_memory_equal(x, expected, (size_t)m.a.n * sizeof *x);
            assert_int_equal(stats.iterations, first.iterations);
            free(x);
        }
        free(expected);
        ty_model_free(&m);
    }
    ty_threads_set(2);
}

static void closed_box_has_zero_mean(void** state)
{
    (void)state;
    ty_model m = {0};
    make_system(&m, 7);
    ty_linear_stats stats;
    double* x = solve(&m, ty_linear_default(), &stats);
    assert_int_equal(stats.singular_pieces, 1);
    assert_true(stats.converged && stats.incompatibility < 1e-10);
    double mean = 0.0, largest = 0.0;
    for (int i = 0; i < m.a.n; ++i) {
        mean += x[i] / m.a.n;
        largest = fmax(largest, fabs(x[i]));
    }
    assert_true(fabs(mean) < 1e-12 * largest);
    free(x);

    // A right-hand side that does not sum to zero: reported, and what can be solved is.
    double* full = malloc((size_t)m.a.n * sizeof *full);
    for (int i = 0; i < m.a.n; ++i) full[i] = m.rhs[i] + 3.0;
    double* compatible = m.rhs;
    m.rhs = full;
    x = solve(&m, ty_linear_default(), &stats);
    m.rhs = compatible;
    assert_true(stats.converged && stats.incompatibility > 0.9);
    assert_true(residual_of(&m, x) < 2e-6);
    free(x);
    free(full);
    ty_model_free(&m);
}

static void droplets_are_counted_and_solved_exactly(void** state)
{
    (void)state;
    ty_model m = {0};
    assert_ok(ty_model_droplets(&m, 12, 10000));
    ty_linear_stats stats;
    double* x = solve(&m, ty_linear_default(), &stats);
    int closed = 0, empty = 0;
    for (int d = 0; d < 10000; ++d) {
        uint64_t h = ty_mix2(11, (uint64_t)d);
        bool one = h % 3 == 0 && h / 3 % 3 == 0 &&
                   h / 9 % 3 == 0;    // a closed cell has no face at all
        bool is_empty = d % 11 == 10 || (d % 5 == 4 && one);
        empty += is_empty;
        closed += d % 5 == 4 && !is_empty;
    }
    assert_int_equal(stats.singular_pieces, closed);
    assert_int_equal(stats.empty_rows, empty);
    assert_true(stats.converged && stats.iterations <= 15);
    assert_true(residual_of(&m, x) < 1e-6);
    free(x);
    ty_model_free(&m);
}

// Two closed balls of tets that share one vertex: singular twice, and the coarse vertex must not
// tie them.
static void pieces_that_touch_at_a_vertex_converge(void** state)
{
    (void)state;
    ty_model_mesh one, both = {0};
    assert_ok(ty_model_ball(&one, 4000, 0.05, 1.0));
    int n = one.n_verts, high = 0, low = 0;
    for (int v = 0; v < n; ++v) {
        if (one.pos[v][0] > one.pos[high][0]) high = v;
        if (one.pos[v][0] < one.pos[low][0]) low = v;
    }
    both.n_verts = 2 * n;
    both.n_tets = 2 * one.n_tets;
    both.pos = ty_alloc((size_t)both.n_verts, sizeof *both.pos);
    both.tet = ty_alloc((size_t)both.n_tets, sizeof *both.tet);
    for (int v = 0; v < n; ++v)
        for (int axis = 0; axis < 3; ++axis) {
            both.pos[v][axis] = one.pos[v][axis];
            both.pos[n + v][axis] = one.pos[v][axis] + one.pos[high][axis] - one.pos[low][axis];
        }
    for (int t = 0; t < one.n_tets; ++t)
        for (int i = 0; i < 4; ++i) {
            int v = one.tet[t][i];
            both.tet[t][i] = v;
            both.tet[one.n_tets + t][i] = v == low ? high : n + v;
        }
    ty_model m = {0}, alone = {0};
    assert_ok(ty_model_tets(&m, &both, TY_MODEL_FACE, TY_MODEL_AIR_NONE));
    assert_ok(ty_model_tets(&alone, &one, TY_MODEL_FACE, TY_MODEL_AIR_NONE));
    ty_linear_stats stats, alone_stats;
    free(solve(&m, ty_linear_default(), &stats));
    free(solve(&alone, ty_linear_default(), &alone_stats));
    assert_int_equal(stats.singular_pieces, 2);
    assert_true(stats.converged && stats.iterations <= alone_stats.iterations + 2);
    ty_model_free(&m);
    ty_model_free(&alone);
    ty_model_mesh_free(&one);
    ty_model_mesh_free(&both);
}

static void small_systems(void** state)
{
    (void)state;
    ty_model m = {0};
    ty_linear_stats stats;
    double nothing = 0.0, value = 6.0;
    assert_ok(ty_csr_from_entries(&m.a, 0, 0, 0, NULL));
    m.rhs = &nothing;
    for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
        ty_linear_def def = ty_linear_default();
        def.method = (ty_linear_method)method;
        free(solve(&m, def, &stats));
        assert_true(stats.converged);
    }
    ty_entry one = {0, 0, 3.0};
    assert_ok(ty_csr_from_entries(&m.a, 1, 1, 1, &one));
    m.rhs = &value;
    for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
        ty_linear_def def = ty_linear_default();
        def.method = (ty_linear_method)method;
        double* x = solve(&m, def, &stats);
        assert_near(x[0], 2.0, 1e-5);
        free(x);
    }
    ty_csr_free(&m.a);
}

static void a_row_of_zeros_gives_zero(void** state)
{
    (void)state;
    ty_entry entries[] = {{0, 0, 2.0}, {0, 2, -1.0}, {1, 1, 0.0}, {2, 2, 2.0}, {2, 0, -1.0}};
    double rhs[4] = {1.0, 0.0, 1.0,
                     5.0};    // row 3 has no entry at all, and its right-hand side cannot be met
    ty_model m = {.rhs = rhs};
    assert_ok(ty_csr_from_entries(&m.a, 4, 4, 5, entries));
    ty_linear_stats stats;
    double* x = solve(&m, ty_linear_default(), &stats);
    assert_near(x[0], 1.0, 1e-6);
    assert_near(x[2], 1.0, 1e-6);
    assert_true(x[1] == 0.0 && x[3] == 0.0);
    assert_int_equal(stats.empty_rows, 2);
    assert_near(stats.incompatibility, 1.0, 1e-12);
    free(x);
    ty_csr_free(&m.a);
}

static void warm_start_saves_iterations(void** state)
{
    (void)state;
    ty_model m = {0};
    make_system(&m, 6);
    ty_linear_def def = ty_linear_default();
    ty_linear* solver;
    ty_linear_stats cold, warm;
    double* x = calloc((size_t)m.a.n, sizeof *x);
    assert_ok(ty_linear_create(&solver, &def));
    assert_ok(ty_linear_setup(solver, &m.a, NULL));
    assert_ok(ty_linear_solve(solver, m.rhs, x, &cold));
    assert_near(cold.first_residual, 1.0, 1e-12);
    for (int i = 0; i < m.a.n; ++i) x[i] *= 1.001;
    assert_ok(ty_linear_solve(solver, m.rhs, x, &warm));
    assert_true(warm.first_residual < 2e-3 && warm.converged);
    assert_true(warm.iterations < cold.iterations / 2 + 2);
    assert_ok(ty_linear_solve(solver, m.rhs, x, &warm));
    assert_int_equal(warm.iterations, 0);
    ty_linear_destroy(solver);
    free(x);
    ty_model_free(&m);
}

static void steady_state_does_not_allocate(void** state)
{
    (void)state;
    static const int systems[] = {0, 2, 3, 10};
    ty_threads_set(
        1);    // with more, who gets which block of a product varies, and with it the buffers' sizes
    for (int s = 0; s < 4; ++s) {
        for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
            ty_model m = {0};
            make_system(&m, systems[s]);
            ty_linear_def def = ty_linear_default();
            def.method = (ty_linear_method)method;
            ty_linear* solver;
            double* x = calloc((size_t)m.a.n, sizeof *x);
            assert_ok(ty_linear_create(&solver, &def));
            int64_t count = 0;
            for (int step = 0; step < 3; ++step) {
                memset(x, 0, (size_t)m.a.n * sizeof *x);
                assert_ok(ty_linear_setup(solver, &m.a, m.prolongation.n ? &m.prolongation : NULL));
                assert_ok(ty_linear_solve(solver, m.rhs, x, NULL));
                if (step == 0) count = ty_memory_count();
            }
            assert_int_equal(ty_memory_count(), count);
            ty_linear_destroy(solver);
            free(x);
            ty_model_free(&m);
        }
    }
    ty_threads_set(2);
}

static void refresh_takes_new_values(void** state)
{
    (void)state;
    ty_model m = {0};
    make_system(&m, 0);
    ty_linear_def def = ty_linear_default();
    ty_linear* solver;
    ty_linear_stats stats;
    double* x = calloc((size_t)m.a.n, sizeof *x);
    assert_ok(ty_linear_create(&solver, &def));
    assert_ok(ty_linear_setup(solver, &m.a, NULL));
    for (int64_t k = 0; k < ty_csr_entries(&m.a); ++k) m.a.val[k] *= 5.0;
    assert_ok(ty_linear_refresh(solver));
    assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
    assert_true(stats.converged && residual_of(&m, x) < 1.01e-6);
    ty_linear_destroy(solver);
    free(x);
    ty_model_free(&m);
}

// Couplings change by up to 12 percent; row sums, and so what is tied, stay.
static void vary_couplings(ty_csr* a)
{
    for (int i = 0; i < a->n; ++i) {
        int diagonal = -1;
        double change = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            double more = a->col[k] == i ? 0.0 : a->val[k] * 0.12 * cos(0.01 * (i + a->col[k]));
            if (a->col[k] == i) diagonal = k;
            a->val[k] += more;
            change += more;
        }
        a->val[diagonal] -= change;
    }
}

// The coarse levels stay, and still serve.
static void refresh_keeps_coarse_levels(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        ty_model m = {0};
        make_system(&m, system);
        ty_linear_def def = ty_linear_default();
        ty_linear* solver;
        ty_linear_stats fresh, stats;
        double* x = calloc((size_t)m.a.n, sizeof *x);
        assert_ok(ty_linear_create(&solver, &def));
        assert_ok(ty_linear_setup(solver, &m.a, m.prolongation.n ? &m.prolongation : NULL));
        assert_ok(ty_linear_solve(solver, m.rhs, x, &fresh));
        vary_couplings(&m.a);
        int64_t allocated = ty_memory_count();
        assert_ok(ty_linear_refresh(solver));
        memset(x, 0, (size_t)m.a.n * sizeof *x);
        assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
        assert_int_equal(ty_memory_count(), allocated);
        assert_true(stats.converged && residual_of(&m, x) < 1.01e-6);
        assert_true(stats.iterations <= fresh.iterations + 3);
        ty_linear_destroy(solver);
        free(x);
        ty_model_free(&m);
    }
}

static double largest_entry(const ty_model* m, const double* x)
{
    double* r = calloc((size_t)m->a.n, sizeof *r);
    ty_csr_residual(&m->a, x, m->rhs, r);
    double largest = 0.0;
    for (int i = 0; i < m->a.n; ++i) largest = fmax(largest, fabs(r[i]));
    free(r);
    return largest;
}

// A largest entry of the residual that is allowed ends every method early, and a warm start that
// meets it takes no iteration. Its 2-norm may be larger then.
static void largest_entry_ends_a_solve(void** state)
{
    (void)state;
    ty_model m = {0};
    make_system(&m, 0);
    double* zero = calloc((size_t)m.a.n, sizeof *zero);
    double largest = 1e-2 * largest_entry(&m, zero);
    for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
        ty_linear_def def = ty_linear_default();
        def.method = (ty_linear_method)method;
        ty_linear* solver;
        ty_linear_stats tight, loose, warm;
        double* x = calloc((size_t)m.a.n, sizeof *x);
        assert_ok(ty_linear_create(&solver, &def));
        assert_ok(ty_linear_setup(solver, &m.a, NULL));
        assert_ok(ty_linear_solve_to(solver, largest, m.rhs, x, &loose));
        assert_true(loose.converged && loose.iterations > 0);
        assert_true(largest_entry(&m, x) <= 1.0001 * largest);
        assert_ok(ty_linear_solve_to(solver, largest, m.rhs, x, &warm));
        assert_true(warm.converged && warm.iterations == 0);
        memset(x, 0, (size_t)m.a.n * sizeof *x);
        assert_ok(ty_linear_solve(solver, m.rhs, x, &tight));
        assert_true(tight.converged && tight.iterations > loose.iterations);
        ty_linear_destroy(solver);
        free(x);
    }
    free(zero);
    ty_model_free(&m);
}

// A nodal system: IC does it at a moderate tolerance; at a tight one the multigrid has to end it
// and stays until it has next to nothing to do.
static void default_changes_its_preconditioner(void** state)
{
    (void)state;
    ty_model m = {0};
    ty_model_mesh ball;
    assert_ok(ty_model_ball(&ball, 100000, 0.1, 1.0));
    assert_ok(ty_model_tets(&m, &ball, TY_MODEL_NODAL, TY_MODEL_AIR_TOP));
    ty_linear_def def = ty_linear_default();
    def.tolerance = 1e-12;
    ty_linear* solver;
    ty_linear_stats stats;
    double* x = calloc((size_t)m.a.n, sizeof *x);
    assert_ok(ty_linear_create(&solver, &def));
    assert_ok(ty_linear_setup(solver, &m.a, NULL));
    assert_ok(ty_linear_solve_to(solver, 1e-4 * largest_entry(&m, x), m.rhs, x, &stats));
    assert_true(stats.converged && stats.levels == 1);
    memset(x, 0, (size_t)m.a.n * sizeof *x);
    assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
    assert_true(stats.converged && stats.levels > 1 && stats.iterations > 60 &&
                residual_of(&m, x) < 1.01e-12);
    assert_ok(ty_linear_setup(solver, &m.a, NULL));
    assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
    assert_true(stats.converged && stats.levels > 1 && stats.iterations == 0);
    assert_ok(ty_linear_setup(solver, &m.a, NULL));
    assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
    assert_true(stats.converged && stats.levels == 1);
    ty_linear_destroy(solver);
    free(x);
    ty_model_free(&m);
    ty_model_mesh_free(&ball);
}

static void what_does_not_converge_says_so(void** state)
{
    (void)state;
    ty_model m = {0};
    make_system(&m, 0);
    for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
        ty_linear_def def = ty_linear_default();
        ty_linear_stats stats;
        def.method = (ty_linear_method)method;
        def.max_iterations = 3;
        double* x = solve(&m, def, &stats);
        assert_false(stats.converged);
        assert_int_equal(stats.iterations, 3);
        assert_near(stats.last_residual, residual_of(&m, x), 1e-9);
        assert_true(stats.last_residual <= 1.0);    // no worse than the guess
        def.max_iterations = 1000;
        def.tolerance = 1e-30;    // out of reach
        free(x);
        x = solve(&m, def, &stats);
        assert_false(stats.converged);
        assert_true(stats.last_residual < 1e-12);
        free(x);
    }
    ty_model_free(&m);
}

static void bad_input_is_refused(void** state)
{
    (void)state;
    ty_linear_def def = ty_linear_default();
    ty_linear* solver;
    double rhs[2] = {1.0, NAN}, x[2] = {0.5, 0.25};
    ty_entry entries[] = {{0, 0, 2.0}, {1, 1, -2.0}};
    ty_csr a = {0};
    assert_ok(ty_linear_create(&solver, &def));
    assert_code(ty_linear_solve(solver, rhs, x, NULL), TY_BAD_INPUT);
    assert_ok(ty_csr_from_entries(&a, 2, 3, 2, entries));
    assert_code(ty_linear_setup(solver, &a, NULL), TY_BAD_INPUT);
    assert_ok(ty_csr_from_entries(&a, 2, 2, 2, entries));
    assert_code(ty_linear_setup(solver, &a, NULL), TY_BAD_INPUT);
    entries[1].val = 1.0;
    assert_ok(ty_csr_from_entries(&a, 2, 2, 2, entries));
    assert_ok(ty_linear_setup(solver, &a, NULL));
    assert_code(ty_linear_solve(solver, rhs, x, NULL), TY_DIVERGED);
    assert_true(x[0] == 0.5 && x[1] == 0.25);
    ty_linear_destroy(solver);
    ty_linear_destroy(NULL);
    ty_csr_free(&a);
}

static void any_failed_allocation_is_survived(void** state)
{
    (void)state;
    ty_threads_set(1);
    ty_model m = {0};
    ty_model_mesh ball;
    assert_ok(ty_model_ball(&ball, 1500, 0.1, 1.0));
    assert_ok(ty_model_tets(&m, &ball, TY_MODEL_FACE, TY_MODEL_AIR_NONE));
    double* x = calloc((size_t)m.a.n, sizeof *x);
    for (int method = 0; method < TY_LINEAR_N_METHODS; ++method) {
        ty_linear_def def = ty_linear_default();
        def.method = (ty_linear_method)method;
        int64_t alive = ty_memory_alive();
        bool done = false;
        for (int k = 1; !done; ++k) {
            assert_true(k < 1000);
            ty_linear* solver = NULL;
            ty_linear_stats stats;
            memset(x, 0, (size_t)m.a.n * sizeof *x);
            ty_memory_fail_after(k);
            ty_status status = ty_linear_create(&solver, &def);
            if (status.code == TY_OK) status = ty_linear_setup(solver, &m.a, &m.prolongation);
            if (status.code == TY_OK) status = ty_linear_solve(solver, m.rhs, x, &stats);
            ty_memory_fail_after(0);
            done = status.code == TY_OK;
            if (!done) assert_int_equal(status.code, TY_NO_MEMORY);
            if (solver && !done) {    // it works when there is memory again
                assert_ok(ty_linear_setup(solver, &m.a, &m.prolongation));
                assert_ok(ty_linear_solve(solver, m.rhs, x, &stats));
                assert_true(stats.converged);
            }
            ty_linear_destroy(solver);
            assert_int_equal(ty_memory_alive(), alive);
        }
    }
    free(x);
    ty_model_free(&m);
    ty_model_mesh_free(&ball);
    ty_threads_set(2);
}

static void method_names_round_trip(void** state)
{
    (void)state;
    ty_linear_method method;
    for (int m = 0; m < TY_LINEAR_N_METHODS; ++m) {
        assert_true(ty_linear_method_parse(ty_linear_method_name((ty_linear_method)m), &method));
        assert_int_equal(method, m);
    }
    assert_false(ty_linear_method_parse("magic", &method));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_solves_every_system),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(closed_box_has_zero_mean),
        cmocka_unit_test(droplets_are_counted_and_solved_exactly),
        cmocka_unit_test(pieces_that_touch_at_a_vertex_converge),
        cmocka_unit_test(small_systems),
        cmocka_unit_test(a_row_of_zeros_gives_zero),
        cmocka_unit_test(warm_start_saves_iterations),
        cmocka_unit_test(steady_state_does_not_allocate),
        cmocka_unit_test(refresh_takes_new_values),
        cmocka_unit_test(refresh_keeps_coarse_levels),
        cmocka_unit_test(largest_entry_ends_a_solve),
        cmocka_unit_test(default_changes_its_preconditioner),
        cmocka_unit_test(what_does_not_converge_says_so),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(any_failed_allocation_is_survived),
        cmocka_unit_test(method_names_round_trip),
    };
    ty_threads_set(2);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
