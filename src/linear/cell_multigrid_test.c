// SPDX-License-Identifier: Apache-2.0
#include "linear/cell_multigrid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "linear/solve.h"
#include "test.h"

// Cells of a tank of n^3 in a lattice with a layer around: below a wavy surface, or all of them.
typedef struct tank {
    int n, size[3];
    int n_rows, *cell, *row;    // of rows; of cells, -1: none
    ty_csr a;
    double *rhs, *x;
} tank;

typedef enum tank_kind { WAVY, CLOSED, WALLED } tank_kind;

static double depth(const tank* t, int x, int y, int z)
{
    double top = 0.55 + 0.1 * sin(9.0 * x / t->n) * cos(5.0 * y / t->n);
    return top * t->n - z;
}

static double weight(const tank* t, tank_kind kind, int x, int axis)
{
    return kind == WALLED && axis == 0 && x == t->n / 2 + 1 ? 0.0 : 1.0;
}

static int cell_at(const tank* t, int x, int y, int z)
{
    return x + t->size[0] * (y + t->size[1] * z);
}

// Entries of cell (x, y, z) with its neighbour on a side; returns what it adds to the diagonal.
static double couple(const tank* t, tank_kind kind, const int at[3], int side, ty_entry* e, int* n)
{
    int axis = side / 2, up = side % 2, to[3] = {at[0], at[1], at[2]};
    to[axis] += up ? 1 : -1;
    if (to[axis] < 1 || to[axis] > t->n) return 0.0;
    double w = weight(t, kind, up ? to[0] : at[0], axis);
    int i = t->row[cell_at(t, at[0], at[1], at[2])], j = t->row[cell_at(t, to[0], to[1], to[2])];
    if (w > 0.0 && j >= 0) e[(*n)++] = (ty_entry){i, j, -w};
    if (j >= 0) return w;
    double here = depth(t, at[0], at[1], at[2]), there = depth(t, to[0], to[1], to[2]);
    return w * (here - there) / here;
}

static void make_tank(tank* t, int n, tank_kind kind)
{
    *t = (tank){.n = n, .size = {n + 2, n + 2, n + 3}};
    int count = t->size[0] * t->size[1] * t->size[2];
    t->cell = malloc((size_t)count * sizeof *t->cell);
    t->row = malloc((size_t)count * sizeof *t->row);
    for (int c = 0; c < count; ++c) {
        int x = c % t->size[0], y = c / t->size[0] % t->size[1], z = c / t->size[0] / t->size[1];
        bool in = x >= 1 && y >= 1 && z >= 1 && x <= n && y <= n && z <= n;
        in = in && (kind == CLOSED || depth(t, x, y, z) > 1e-3);
        t->row[c] = in ? t->n_rows : -1;
        if (in) t->cell[t->n_rows++] = c;
    }
    ty_entry* entries = malloc((size_t)(7 * t->n_rows) * sizeof *entries);
    int n_entries = 0;
    for (int row = 0; row < t->n_rows; ++row) {
        int c = t->cell[row];
        int at[3] = {c % t->size[0], c / t->size[0] % t->size[1], c / t->size[0] / t->size[1]};
        double diagonal = 0.0;
        for (int side = 0; side < 6; ++side)
            diagonal += couple(t, kind, at, side, entries, &n_entries);
        entries[n_entries++] = (ty_entry){row, row, diagonal};
    }
    assert_ok(ty_csr_from_entries(&t->a, t->n_rows, t->n_rows, n_entries, entries));
    free(entries);
    t->rhs = malloc((size_t)t->n_rows * sizeof *t->rhs);
    t->x = calloc((size_t)t->n_rows, sizeof *t->x);
    double mean = 0.0;
    for (int i = 0; i < t->n_rows; ++i) mean += t->rhs[i] = ty_unit(ty_mix((uint64_t)i)) - 0.5;
    for (int i = 0; i < t->n_rows; ++i) t->rhs[i] -= mean / t->n_rows;
}

static void free_tank(tank* t)
{
    free(t->cell);
    free(t->row);
    free(t->rhs);
    free(t->x);
    ty_csr_free(&t->a);
}

static int solve(tank* t)
{
    ty_linear* solver;
    ty_linear_def def = ty_linear_default();
    ty_linear_stats stats;
    memset(t->x, 0, (size_t)t->n_rows * sizeof *t->x);
    assert_ok(ty_linear_create(&solver, &def));
    assert_ok(ty_linear_setup_cells(solver, &t->a, t->cell, t->size));
    assert_ok(ty_linear_solve(solver, t->rhs, t->x, &stats));
    ty_linear_destroy(solver);
    double error = 0.0, norm = 0.0;
    for (int i = 0; i < t->n_rows; ++i) {
        double r = t->rhs[i];
        for (int k = t->a.row_start[i]; k < t->a.row_start[i + 1]; ++k)
            r -= t->a.val[k] * t->x[t->a.col[k]];
        error += r * r;
        norm += t->rhs[i] * t->rhs[i];
    }
    assert_true(error <= 1.01e-12 * norm);
    assert_true(stats.converged);
    return stats.iterations;
}

static void few_iterations_whatever_the_size(void** state)
{
    (void)state;
    for (int n = 10; n <= 60; n += 25) {
        tank t;
        make_tank(&t, n, WAVY);
        assert_true(solve(&t) <= 10);
        free_tank(&t);
    }
}

static void a_closed_tank_is_singular_and_converges(void** state)
{
    (void)state;
    tank t;
    make_tank(&t, 21, CLOSED);
    assert_true(solve(&t) <= 12);
    double mean = 0.0, most = 0.0;
    for (int i = 0; i < t.n_rows; ++i) mean += t.x[i], most = fmax(most, fabs(t.x[i]));
    assert_true(fabs(mean) <= 1e-9 * t.n_rows * most);
    free_tank(&t);
}

// The wall lies inside of coarse cells, on all levels.
static void a_wall_inside_of_coarse_cells(void** state)
{
    (void)state;
    tank t;
    make_tank(&t, 24, WALLED);
    solve(&t);
    free_tank(&t);
}

static void the_cycle_is_symmetric(void** state)
{
    (void)state;
    tank t;
    ty_cell_multigrid m = {0};
    make_tank(&t, 13, WAVY);
    assert_ok(ty_cell_multigrid_setup(&m, &t.a, t.cell, t.size));
    size_t bytes = (size_t)t.n_rows * sizeof(double);
    double *v = malloc(bytes), *mu = malloc(bytes), *mv = malloc(bytes), uv = 0.0, vu = 0.0,
           uu = 0.0;
    for (int i = 0; i < t.n_rows; ++i) v[i] = ty_unit(ty_mix2(7, (uint64_t)i)) - 0.4;
    ty_cell_multigrid_apply(&m, t.rhs, 1.0, mu);
    ty_cell_multigrid_apply(&m, v, 1.0, mv);
    for (int i = 0; i < t.n_rows; ++i)
        uv += t.rhs[i] * mv[i], vu += v[i] * mu[i], uu += t.rhs[i] * mu[i];
    assert_true(uu > 0.0);
    assert_true(fabs(uv - vu) <= 1e-5 * uu);
    free(v), free(mu), free(mv);
    ty_cell_multigrid_free(&m);
    free_tank(&t);
}

static void same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    tank one, three;
    make_tank(&one, 40, WAVY);
    make_tank(&three, 40, WAVY);
    ty_threads_set(1);
    solve(&one);
    ty_threads_set(3);
    solve(&three);
    ty_threads_set(1);
    assert_memory_equal(one.x, three.x, (size_t)one.n_rows * sizeof *one.x);
    free_tank(&one);
    free_tank(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_iterations_whatever_the_size),
        cmocka_unit_test(a_closed_tank_is_singular_and_converges),
        cmocka_unit_test(a_wall_inside_of_coarse_cells),
        cmocka_unit_test(the_cycle_is_symmetric),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
