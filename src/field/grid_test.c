// SPDX-License-Identifier: Apache-2.0
#include "field/grid.h"

#include <stdlib.h>

#include "core/hash.h"
#include "test.h"

typedef double (*function)(const double x[3]);

static double linear(const double x[3]) { return 1.5 - 2.0 * x[0] + 0.25 * x[1] + 3.0 * x[2]; }
static double quadratic(const double x[3])
{
    return x[0] * x[0] - 2.0 * x[1] * x[2] + x[2] + 3.0 * x[1] * x[1];
}
static double smooth(const double x[3])
{
    return sin(2.0 * x[0]) * cos(1.5 * x[1]) + sin(x[2] - x[0]);
}

static const ty_grid small = {.origin = {-0.3, 0.2, 1.0}, .cell = 0.1, .n = {7, 9, 6}};

static double* fill(const ty_grid* g, function f)
{
    double* values = ty_alloc((size_t)ty_grid_size(g), sizeof *values);
    for (int64_t c = 0; c < ty_grid_size(g); ++c) {
        int ijk[3];
        double x[3];
        ty_grid_coords(g, c, ijk);
        assert_int_equal(ty_grid_index(g, ijk[0], ijk[1], ijk[2]), c);
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x);
        values[c] = f(x);
    }
    return values;
}

// Random points at least `inset` cells from the border of the centres' box.
static void scatter(const ty_grid* g, double inset, int n, double (*x)[3])
{
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            double t = ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis));
            double width = g->n[axis] - 1 - 2.0 * inset;
            x[i][axis] = g->origin[axis] + g->cell * (0.5 + inset + t * width);
        }
}

enum { N = 500 };

typedef void (*sampler)(const ty_grid*, const double*, int, const double (*)[3], double*);

static double largest_error(const ty_grid* g, function f, sampler sample, double inset)
{
    double x[N][3], out[N], worst = 0.0;
    double* values = fill(g, f);
    scatter(g, inset, N, x);
    sample(g, values, N, (const double(*)[3])x, out);
    for (int i = 0; i < N; ++i) worst = fmax(worst, fabs(out[i] - f(x[i])));
    ty_free(values);
    return worst;
}

static void linear_functions_are_exact_up_to_the_border(void** state)
{
    (void)state;
    assert_near(largest_error(&small, linear, ty_grid_linear, 0.0), 0.0, 1e-14);
    assert_near(largest_error(&small, linear, ty_grid_cubic, 0.0), 0.0, 1e-14);
    assert_near(largest_error(&small, linear, ty_grid_cubic_limited, 1.0), 0.0, 1e-14);
}

static void cubic_is_exact_for_quadratics_inside(void** state)
{
    (void)state;
    assert_near(largest_error(&small, quadratic, ty_grid_cubic, 1.0), 0.0, 1e-14);
    assert_true(largest_error(&small, quadratic, ty_grid_linear, 1.0) > 1e-3);
}

static void orders_of_convergence(void** state)
{
    (void)state;
    ty_grid coarse = {.cell = 0.1, .n = {16, 16, 16}}, fine = {.cell = 0.05, .n = {32, 32, 32}};
    double second = largest_error(&coarse, smooth, ty_grid_linear, 2) /
                    largest_error(&fine, smooth, ty_grid_linear, 4);
    double third = largest_error(&coarse, smooth, ty_grid_cubic, 2) /
                   largest_error(&fine, smooth, ty_grid_cubic, 4);
    assert_true(second > 3.4);
    assert_true(third > 6.8);
}

static void limited_cubic_and_bounds_do_not_overshoot(void** state)
{
    (void)state;
    double* values = ty_alloc((size_t)ty_grid_size(&small), sizeof *values);
    for (int64_t c = 0; c < ty_grid_size(&small); ++c)
        values[c] = ty_unit(ty_mix((uint64_t)c)) > 0.5;
    double x[N][3], out[N], plain[N], lo[N], hi[N];
    scatter(&small, -0.7, N, x);
    ty_grid_cubic_limited(&small, values, N, (const double(*)[3])x, out);
    ty_grid_linear_bounds(&small, values, N, (const double(*)[3])x, plain, lo, hi);
    for (int i = 0; i < N; ++i) {
        assert_true(out[i] >= -1e-15 && out[i] <= 1.0 + 1e-15);
        assert_true(lo[i] <= plain[i] && plain[i] <= hi[i]);
    }
    ty_free(values);
}

static void outside_is_constant_and_nan_is_harmless(void** state)
{
    (void)state;
    double* values = fill(&small, linear);
    double corner[3];
    ty_grid_cell_center(&small, 0, 0, 0, corner);
    double x[3][3] = {
        {-1e9, -1e300, -5.0}, {NAN, corner[1], -INFINITY}, {corner[0], corner[1], corner[2]}};
    double out[3], cubic[3];
    ty_grid_linear(&small, values, 3, (const double(*)[3])x, out);
    ty_grid_cubic(&small, values, 3, (const double(*)[3])x, cubic);
    for (int i = 0; i < 3; ++i) {
        assert_near(out[i], linear(corner), 1e-14);
        assert_near(cubic[i], linear(corner), 1e-14);
    }
    ty_free(values);
}

static void gradient_of_linear_is_exact(void** state)
{
    (void)state;
    double* values = fill(&small, linear);
    double x[N][3], out[N][3];
    scatter(&small, 0.0, N, x);
    ty_grid_gradient(&small, values, N, (const double(*)[3])x, out);
    for (int i = 0; i < N; ++i) {
        assert_near(out[i][0], -2.0, 1e-12);
        assert_near(out[i][1], 0.25, 1e-12);
        assert_near(out[i][2], 3.0, 1e-12);
    }
    ty_free(values);
}

static void one_cell_is_a_constant(void** state)
{
    (void)state;
    ty_grid one = {.cell = 1.0, .n = {1, 1, 1}};
    double value = 7.0, x[2][3] = {{0.1, 0.9, 3.0}, {-5.0, 0.5, 0.5}}, out[2], slope[2][3];
    sampler all[] = {ty_grid_linear, ty_grid_cubic, ty_grid_cubic_limited};
    for (int s = 0; s < 3; ++s) {
        all[s](&one, &value, 2, (const double(*)[3])x, out);
        assert_near(out[0], 7.0, 0.0);
        assert_near(out[1], 7.0, 0.0);
    }
    ty_grid_gradient(&one, &value, 2, (const double(*)[3])x, slope);
    assert_near(slope[0][0], 0.0, 0.0);
}

static void cover_meets_whole_boxes_exactly(void** state)
{
    (void)state;
    double lo[3] = {0, 0, 0}, hi[3] = {1, 0.3, 0.35};
    ty_grid g = ty_grid_cover(lo, hi, 0.1, 2);
    assert_int_equal(g.n[0], 14);
    assert_int_equal(g.n[1], 7);
    assert_int_equal(g.n[2], 8);
    assert_near(g.origin[0], -0.2, 1e-15);
}

static void staggered_linear_velocity_is_exact(void** state)
{
    (void)state;
    ty_mac mac;
    assert_ok(ty_mac_create(&mac, &small));
    for (int axis = 0; axis < 3; ++axis) {
        assert_int_equal(mac.lattice[axis].n[axis], small.n[axis] + 1);
        for (int64_t f = 0; f < ty_grid_size(&mac.lattice[axis]); ++f) {
            int ijk[3];
            double x[3];
            ty_grid_coords(&mac.lattice[axis], f, ijk);
            ty_grid_cell_center(&mac.lattice[axis], ijk[0], ijk[1], ijk[2], x);
            mac.face[axis][f] = (axis + 1) * linear(x);
        }
    }
    double x[N][3], out[N][3];
    scatter(&small, 0.0, N, x);
    ty_mac_linear(&mac, N, (const double(*)[3])x, out);
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis)
            assert_near(out[i][axis], (axis + 1) * linear(x[i]), 1e-13);
    ty_mac_cubic(&mac, N, (const double(*)[3])x, out);
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis)
            assert_near(out[i][axis], (axis + 1) * linear(x[i]), 1e-13);
    ty_mac_free(&mac);
    ty_memory_fail_after(2);
    assert_code(ty_mac_create(&mac, &small), TY_NO_MEMORY);
    ty_memory_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_functions_are_exact_up_to_the_border),
        cmocka_unit_test(cubic_is_exact_for_quadratics_inside),
        cmocka_unit_test(orders_of_convergence),
        cmocka_unit_test(limited_cubic_and_bounds_do_not_overshoot),
        cmocka_unit_test(outside_is_constant_and_nan_is_harmless),
        cmocka_unit_test(gradient_of_linear_is_exact),
        cmocka_unit_test(one_cell_is_a_constant),
        cmocka_unit_test(cover_meets_whole_boxes_exactly),
        cmocka_unit_test(staggered_linear_velocity_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
