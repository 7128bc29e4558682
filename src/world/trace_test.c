// SPDX-License-Identifier: Apache-2.0
#include "world/trace.h"

#include <math.h>
#include <string.h>

#include "core/vec.h"
#include "test.h"

static void rotation(const void* self, int n, const double (*x)[3], double* out)
{
    double omega = *(const double*)self;
    for (int i = 0; i < n; ++i) {
        out[3 * i] = -omega * x[i][1];
        out[3 * i + 1] = omega * x[i][0];
        out[3 * i + 2] = 0.0;
    }
}

static void centripetal(const void* self, int n, const double (*x)[3], double* out)
{
    double omega = *(const double*)self;
    for (int i = 0; i < n; ++i)
        for (int c = 0; c < 3; ++c) out[3 * i + c] = c < 2 ? -omega * omega * x[i][c] : 0.0;
}

// A smooth flow that is no rotation.
static void shear(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self;
    for (int i = 0; i < n; ++i) {
        out[3 * i] = sin(x[i][1]) + 0.3 * cos(x[i][2]);
        out[3 * i + 1] = cos(x[i][0]) * sin(x[i][2]);
        out[3 * i + 2] = sin(x[i][0] + x[i][1]);
    }
}

static void free_fall(const void* self, int n, const double (*x)[3], double* out)
{
    (void)x;
    for (int i = 0; i < n; ++i) memcpy(out + 3 * i, self, 3 * sizeof(double));
}

static void falling(const void* self, int n, const double (*x)[3], double* out)
{
    (void)x;
    for (int i = 0; i < n; ++i) memcpy(out + 6 * i, self, 6 * sizeof(double));
}

enum { N = 700 };    // more than a batch

static void make_points(double (*x)[3])
{
    for (int i = 0; i < N; ++i)
        for (int c = 0; c < 3; ++c) x[i][c] = sin(1.7 * i + 2.1 * c) * 0.8;
}

static double largest_gap(const double (*a)[3], const double (*b)[3])
{
    double gap = 0.0;
    for (int i = 0; i < N; ++i) gap = fmax(gap, ty_norm(ty_load3(a[i]) - ty_load3(b[i])));
    return gap;
}

static ty_flow flow_of(void (*eval)(const void*, int, const double (*)[3], double*),
                       const void* self)
{
    return (ty_flow){.velocity = {self, 3, 0, eval}, .cell = 1e3, .max_speed = 2.0};
}

static double round_trip(const ty_flow* flow, double dt)
{
    double x[N][3], y[N][3];
    make_points(x);
    ty_trace_forward(flow, dt, N, (const double(*)[3])x, y);
    ty_trace_back(flow, dt, N, (const double(*)[3])y, y);
    return largest_gap((const double(*)[3])x, (const double(*)[3])y);
}

static void forward_and_back_return_to_fourth_order_per_step(void** state)
{
    (void)state;
    ty_flow flow = flow_of(shear, NULL);
    double coarse = round_trip(&flow, 0.2), fine = round_trip(&flow, 0.1);
    assert_true(coarse > 1e-12);
    assert_true(log2(coarse / fine) > 3.8);
}

// exp(i a) and its third-order polynomial differ by a^4 / 24.
static void rotation_is_right_to_third_order(void** state)
{
    (void)state;
    double omega = 1.0, x[1][3] = {{1, 0, 0}}, y[1][3];
    ty_flow flow = flow_of(rotation, &omega);
    ty_trace_forward(&flow, 0.1, 1, (const double(*)[3])x, y);
    double error = hypot(y[0][0] - cos(0.1), y[0][1] - sin(0.1));
    assert_near(error, pow(0.1, 4) / 24.0, 1e-7);
}

static void substeps_move_at_most_a_cell(void** state)
{
    (void)state;
    double omega = 1.0, x[1][3] = {{1, 0, 0}}, once[1][3], twice[1][3];
    ty_flow flow = flow_of(rotation, &omega);
    ty_trace_forward(&flow, 0.05, 1, (const double(*)[3])x, twice);
    ty_trace_forward(&flow, 0.05, 1, (const double(*)[3])twice, twice);
    flow.cell = 0.05;    // 1 m/s for 0.1 s are two cells, however fast the rest is
    flow.max_speed = 9.0;
    ty_trace_forward(&flow, 0.1, 1, (const double(*)[3])x, once);
    assert_memory_equal(once, twice, sizeof once);
}

static void a_path_through_a_changing_velocity_is_a_parabola(void** state)
{
    (void)state;
    double v[3] = {1, 2, -0.5}, g[3] = {0, -9.81, 0}, x[1][3] = {{0.1, 0.2, 0.3}}, y[1][3];
    ty_flow flow = flow_of(free_fall, v);
    const double both[6] = {v[0], v[1], v[2], g[0], g[1], g[2]};
    flow.motion = (ty_sampler){both, 6, 0, falling};
    flow.cell = 0.1;
    ty_trace_forward(&flow, 0.2, 1, (const double(*)[3])x, y);
    for (int c = 0; c < 3; ++c) assert_near(y[0][c], x[0][c] + 0.2 * v[c] + 0.02 * g[c], 1e-15);
    ty_trace_back(&flow, 0.2, 1, (const double(*)[3])y, y);
    for (int c = 0; c < 3; ++c) assert_near(y[0][c], x[0][c], 1e-15);
}

static void a_path_with_acceleration_is_a_parabola(void** state)
{
    (void)state;
    double v[3] = {1, 2, -0.5}, g[3] = {0, -9.81, 0}, x[1][3] = {{0.1, 0.2, 0.3}}, y[1][3];
    ty_flow flow = flow_of(free_fall, v);
    flow.acceleration = (ty_sampler){g, 3, 0, free_fall};
    ty_trace_forward(&flow, 0.2, 1, (const double(*)[3])x, y);
    for (int c = 0; c < 3; ++c) assert_near(y[0][c], x[0][c] + 0.2 * v[c] + 0.02 * g[c], 1e-15);
    ty_trace_back(&flow, 0.2, 1, (const double(*)[3])y, y);
    for (int c = 0; c < 3; ++c) assert_near(y[0][c], x[0][c], 1e-15);
}

static void a_path_with_acceleration_turns_and_returns(void** state)
{
    (void)state;
    double omega = 1.0, x[1][3] = {{1, 0, 0}}, y[1][3], z[1][3];
    ty_flow flow = flow_of(rotation, &omega);
    flow.cell = 0.01;
    flow.acceleration = (ty_sampler){&omega, 3, 0, centripetal};
    ty_trace_forward(&flow, 0.1, 1, (const double(*)[3])x, y);
    assert_near(y[0][0], 1.0 - 0.005, 1e-15);    // the second-order path, not a third-order one
    assert_near(y[0][1], 0.1, 1e-15);
    ty_trace_back(&flow, 0.1, 1, (const double(*)[3])y, z);
    assert_near(z[0][0], 1.0, 1e-6);
    assert_near(z[0][1], 0.0, 1e-6);
}

static void stagnation(const void* self, int n, const double (*x)[3], double* out)
{
    double s = *(const double*)self;
    for (int i = 0; i < n; ++i)
        out[3 * i] = s * x[i][0], out[3 * i + 1] = -s * x[i][1], out[3 * i + 2] = 0.0;
}

static void stagnation_pull(const void* self, int n, const double (*x)[3], double* out)
{
    double s = *(const double*)self;
    for (int i = 0; i < n; ++i)
        out[3 * i] = s * s * x[i][0], out[3 * i + 1] = s * s * x[i][1], out[3 * i + 2] = 0.0;
}

// A leap of u + dt/2 a ends where it began when s dt = 2.
static void a_path_that_a_floor_turns_is_followed(void** state)
{
    (void)state;
    double s = 2.0, x[1][3] = {{0.8, 0.1, 0.3}}, y[1][3], grown = exp(2.0);
    ty_flow flow = flow_of(stagnation, &s);
    flow.cell = 0.1;
    flow.acceleration = (ty_sampler){&s, 3, 0, stagnation_pull};
    ty_trace_back(&flow, 1.0, 1, (const double(*)[3])x, y);
    assert_near(y[0][0], 0.8 / grown, 0.01);
    assert_near(y[0][1], 0.1 * grown, 0.01);
    assert_near(y[0][2], 0.3, 1e-15);
    ty_trace_forward(&flow, 1.0, 1, (const double(*)[3])y, y);
    assert_near(y[0][0], 0.8, 0.01);
    assert_near(y[0][1], 0.1, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_and_back_return_to_fourth_order_per_step),
        cmocka_unit_test(rotation_is_right_to_third_order),
        cmocka_unit_test(substeps_move_at_most_a_cell),
        cmocka_unit_test(a_path_through_a_changing_velocity_is_a_parabola),
        cmocka_unit_test(a_path_with_acceleration_is_a_parabola),
        cmocka_unit_test(a_path_with_acceleration_turns_and_returns),
        cmocka_unit_test(a_path_that_a_floor_turns_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
