// SPDX-License-Identifier: Apache-2.0
#include "field/redistance.h"

#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "field/cubic.h"
#include "test.h"

typedef double (*shape)(const double x[3]);

static const double center[3] = {0.51, 0.487, 0.503};
static double radius;

static double ball(const double x[3]) { return ty_norm(ty_load3(x) - ty_load3(center)) - radius; }
static double plane(const double x[3])
{
    return (2.0 * x[0] - x[1] + 0.5 * x[2] - 0.7) / sqrt(5.25);
}
static double half_thickness;
static double sheet(const double x[3]) { return fabs(plane(x)) - half_thickness; }
static double steep(const double x[3]) { return 3.0 * ball(x) * (1.0 + 0.3 * x[0]); }

static double* fill(const ty_grid* g, shape f)
{
    double* phi = ty_alloc((size_t)ty_grid_size(g), sizeof *phi);
    for (int64_t c = 0; c < ty_grid_size(g); ++c) {
        int ijk[3];
        double x[3];
        ty_grid_coords(g, c, ijk);
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x);
        phi[c] = f(x);
    }
    return phi;
}

static double* redistanced(const ty_grid* g, shape f, int times)
{
    double* phi = fill(g, f);
    ty_redistance r = {0};
    for (int i = 0; i < times; ++i) assert_ok(ty_redistance_run(&r, g, 6.0 * g->cell, NULL, phi));
    ty_redistance_free(&r);
    return phi;
}

// Largest |phi - f| in cells where |f| is below `within` cells, far enough from the border that the
// closest point is inside.
static double worst(const ty_grid* g, const double* phi, shape f, double within)
{
    double most = 0.0;
    for (int64_t c = 0; c < ty_grid_size(g); ++c) {
        int ijk[3];
        double x[3];
        ty_grid_coords(g, c, ijk);
        bool border = false;
        for (int axis = 0; axis < 3; ++axis) border |= ijk[axis] < 6 || ijk[axis] >= g->n[axis] - 6;
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x);
        if (!border && fabs(f(x)) < within * g->cell)
            most = fmax(most, fabs(phi[c] - f(x)) / g->cell);
    }
    return most;
}

// How far the zero set is from the sphere along rays, in cells: largest, and mean with its sign.
static double moved(const ty_grid* g, const double* phi, double* mean)
{
    enum { RAYS = 1000 };
    double most = 0.0;
    *mean = 0.0;
    for (int i = 0; i < RAYS; ++i) {
        double z = 2.0 * ty_unit(ty_mix2((uint64_t)i, 1)) - 1.0,
               a = 2.0 * M_PI * ty_unit(ty_mix2((uint64_t)i, 2));
        double s = sqrt(1.0 - z * z), lo = radius - 1.5 * g->cell, hi = radius + 1.5 * g->cell;
        ty_vec3 d = ty_vec(s * cos(a), s * sin(a), z);
        for (int step = 0; step < 50; ++step) {
            double middle = 0.5 * (lo + hi), x[1][3], v;
            ty_store3(x[0], ty_load3(center) + middle * d);
            ty_grid_distance(g, phi, 1, (const double(*)[3])x, &v);
            if (v < 0.0) lo = middle;
            else hi = middle;
        }
        most = fmax(most, fabs(lo - radius) / g->cell);
        *mean += (lo - radius) / g->cell / RAYS;
    }
    return most;
}

static const ty_grid cells32 = {.cell = 1.0 / 32, .n = {32, 32, 32}};

static void planes_stay_to_rounding(void** state)
{
    (void)state;
    double* phi = redistanced(&cells32, plane, 10);
    assert_near(worst(&cells32, phi, plane, 4.0), 0.0, 1e-12);
    ty_free(phi);
}

static void spheres_stay_for_a_hundred_times(void** state)
{
    (void)state;
    const struct {
        double radius, most, mean;
    } bounds[] = {{10.0 / 32, 1e-3, 1e-4}, {5.0 / 32, 5e-3, 1e-3}};
    for (int i = 0; i < 2; ++i) {
        double mean;
        radius = bounds[i].radius;
        double* phi = redistanced(&cells32, ball, 100);
        double most = moved(&cells32, phi, &mean);
        print_message("radius %g cells: moved %.2g cells, %.2g on average\n", 32 * radius, most,
                      mean);
        assert_true(most < bounds[i].most);
        assert_near(mean, 0.0, bounds[i].mean);
        ty_free(phi);
    }
}

// The share of its volume that a sheet has after 20 times, away from the border.
static double kept(double thickness)
{
    half_thickness = 0.5 * thickness / 32;
    double* phi = redistanced(&cells32, sheet, 20);
    double after = 0.0, before = 0.0;
    for (int64_t c = 0; c < ty_grid_size(&cells32); ++c) {
        int ijk[3];
        double x[3];
        bool border = false;
        ty_grid_coords(&cells32, c, ijk);
        for (int axis = 0; axis < 3; ++axis) border |= ijk[axis] < 6 || ijk[axis] >= 26;
        ty_grid_cell_center(&cells32, ijk[0], ijk[1], ijk[2], x);
        if (border) continue;
        after += ty_clamp(0.5 - phi[c] * 32, 0.0, 1.0);
        before += ty_clamp(0.5 - sheet(x) * 32, 0.0, 1.0);
    }
    print_message("sheet of %g cells: %.3f of its volume\n", thickness, after / before);
    ty_free(phi);
    return after / before;
}

static void thin_sheets_neither_thicken_nor_vanish(void** state)
{
    (void)state;
    assert_near(kept(2.5), 1.0, 1e-3);
    assert_near(kept(1.6), 1.0, 0.07);
    assert_near(kept(1.2), 1.0, 0.07);
}

static void any_function_becomes_a_distance(void** state)
{
    (void)state;
    radius = 9.0 / 32;
    double mean;
    double* phi = redistanced(&cells32, steep, 1);
    assert_near(worst(&cells32, phi, ball, 3.0), 0.0, 0.03);
    assert_true(moved(&cells32, phi, &mean) < 0.02);
    ty_free(phi);
}

static void signs_and_far_values(void** state)
{
    (void)state;
    double* phi = ty_alloc((size_t)ty_grid_size(&cells32), sizeof *phi);
    double* old = ty_alloc((size_t)ty_grid_size(&cells32), sizeof *old);
    ty_redistance r = {0};
    for (int64_t c = 0; c < ty_grid_size(&cells32); ++c)
        phi[c] = old[c] = ty_unit(ty_mix((uint64_t)c)) - 0.02;
    assert_ok(ty_redistance_run(&r, &cells32, 0.1, NULL, phi));
    for (int64_t c = 0; c < ty_grid_size(&cells32); ++c) {
        assert_int_equal(phi[c] < 0.0, old[c] < 0.0);
        assert_true(fabs(phi[c]) <= 0.1);
    }
    for (int64_t c = 0; c < ty_grid_size(&cells32); ++c) phi[c] = 1e30;
    assert_ok(ty_redistance_run(&r, &cells32, 0.1, NULL, phi));
    assert_near(phi[77], 0.1, 1e-15);
    ty_redistance_free(&r);
    ty_free(old);
    ty_free(phi);
}

static void same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    uint64_t hash[4];
    const int threads[4] = {1, 2, 3, 5};
    radius = 0.3;
    for (int i = 0; i < 4; ++i) {
        ty_threads_set(threads[i]);
        double* phi = redistanced(&cells32, steep, 2);
        hash[i] = ty_hash_bytes(phi, (size_t)ty_grid_size(&cells32) * sizeof *phi);
        assert_int_equal(hash[i], hash[0]);
        ty_free(phi);
    }
    ty_threads_set(0);
}

// Also where a row is straight, has a kink or rises the other way, and whatever is asked with it.
static void zeros_by_four_are_those_one_by_one(void** state)
{
    (void)state;
    enum { N = 1001 };
    double f[N][4], t[N];
    for (int i = 0; i < N; ++i) {
        double sign = i % 2 ? 1.0 : -1.0;
        for (int k = 0; k < 4; ++k)
            f[i][k] = sign * (k - 1.0 - ty_unit(ty_mix2(17, (uint64_t)i)) +
                              (i % 5 ? 0.4 * ty_unit(ty_mix2((uint64_t)i, (uint64_t)k + 1)) : 0.0));
        if (f[i][1] * f[i][2] >= 0.0) f[i][1] = -f[i][2];
    }
    ty_cubic_zeros(N, (const double(*)[4])f, t);
    for (int i = 0; i < N; ++i) {
        assert_true(t[i] == ty_cubic_zero(f[i]));
        assert_true(t[i] >= 0.0 && t[i] <= 1.0);
    }
}

// Small balls whose values are no distances, so that slopes around them lead anywhere.
static void scatter(const ty_grid* g, uint64_t seed, double* phi)
{
    enum { BALLS = 24 };
    for (int64_t c = 0; c < ty_grid_size(g); ++c) {
        int ijk[3];
        double x[3];
        ty_grid_coords(g, c, ijk);
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x);
        phi[c] = 6.0 * g->cell;
        for (int b = 0; b < BALLS; ++b) {
            uint64_t key = ty_mix2(seed, (uint64_t)b);
            ty_vec3 at = ty_vec(ty_unit(ty_mix2(key, 1)), ty_unit(ty_mix2(key, 2)),
                                ty_unit(ty_mix2(key, 3)));
            double size = (0.5 + 2.0 * ty_unit(ty_mix2(key, 4))) * g->cell;
            double steep = 0.3 + 2.0 * ty_unit(ty_mix2(key, 5));
            phi[c] = fmin(phi[c], steep * (ty_norm(ty_load3(x) - at) - size));
        }
        phi[c] += 0.4 * g->cell * (ty_unit(ty_mix2(seed + 77, (uint64_t)c)) - 0.5);
    }
}

// Cells of the other sign are farther than the surface by a cell at most.
static double too_small(const ty_grid* g, const double* phi)
{
    double worst = 0.0;
    for (int64_t c = 0; c < ty_grid_size(g); ++c) {
        int here[3], there[3];
        double nearest = 6.0;
        ty_grid_coords(g, c, here);
        for (int64_t o = 0; o < ty_grid_size(g); ++o) {
            if ((phi[o] < 0.0) == (phi[c] < 0.0)) continue;
            ty_grid_coords(g, o, there);
            ty_vec3 d = ty_vec(here[0] - there[0], here[1] - there[1], here[2] - there[2]);
            nearest = fmin(nearest, ty_norm(d));
        }
        worst = fmax(worst, nearest - 1.0 - fabs(phi[c]) / g->cell);
    }
    return worst;
}

static void nothing_far_comes_near(void** state)
{
    (void)state;
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    ty_grid g = ty_grid_cover(lo, hi, 1.0 / 16, 0);
    double* phi = ty_alloc((size_t)ty_grid_size(&g), sizeof *phi);
    ty_redistance r = {.linear_far = true};
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        scatter(&g, seed, phi);
        assert_ok(ty_redistance_run(&r, &g, 6.0 * g.cell, NULL, phi));
        worst = fmax(worst, too_small(&g, phi));
    }
    print_message("  too near by %.3f cells at most\n", worst);
    assert_true(worst < 1.5);
    ty_redistance_free(&r);
    ty_free(phi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_stay_to_rounding),
        cmocka_unit_test(spheres_stay_for_a_hundred_times),
        cmocka_unit_test(thin_sheets_neither_thicken_nor_vanish),
        cmocka_unit_test(any_function_becomes_a_distance),
        cmocka_unit_test(signs_and_far_values),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(zeros_by_four_are_those_one_by_one),
        cmocka_unit_test(nothing_far_comes_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
