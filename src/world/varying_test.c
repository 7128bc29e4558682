// SPDX-License-Identifier: Apache-2.0
#include "world/varying.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "test.h"

static const double POINTS[3][3] = {{0, 0, 0}, {1, 2, 3}, {-1, 0.5, 2}};

static ty_varying swirl(void)
{
    ty_varying v = ty_varying_vector(0, 0, 7);
    v.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&v.expr[0], "-y * t"));
    assert_ok(ty_expr_create(&v.expr[1], "sqrt(x)"));
    v.place = (ty_place){"swirl.yaml", 12, 14};
    return v;
}

static void components_are_expressions_or_constants(void** state)
{
    (void)state;
    ty_varying v = swirl();
    double out[2][3];
    assert_ok(ty_varying_eval(&v, 0.5, 2, POINTS, out[0]));
    assert_near(out[1][0], -1.0, 0);
    assert_near(out[1][1], 1.0, 0);
    assert_near(out[1][2], 7.0, 0);
    assert_true(ty_varying_in_space(&v) && ty_varying_in_time(&v) && !ty_varying_is_constant(&v));
    ty_varying_free(&v);
}

static void a_value_that_is_no_number_is_reported_with_its_place(void** state)
{
    (void)state;
    ty_varying v = swirl();
    double out[3][3];
    ty_status s = ty_varying_eval(&v, 0.5, 3, POINTS, out[0]);
    assert_int_equal(s.code, TY_BAD_INPUT);
    assert_string_equal(s.file, "swirl.yaml");
    assert_int_equal(s.line, 12);
    assert_int_equal(s.column, 14);
    assert_non_null(strstr(s.message, "sqrt(x)"));
    assert_non_null(strstr(s.message, "(-1, 0.5, 2)"));
    ty_varying_free(&v);
}

static ty_varying ramp(bool linear)
{
    ty_varying v = ty_varying_number(0);
    v.kind = TY_VARY_KEYS;
    v.n_keys = 3;
    v.keys = ty_alloc(3, sizeof *v.keys);
    v.keys[0] = (ty_value_key){1.0, {2.0}};
    v.keys[1] = (ty_value_key){2.0, {4.0}};
    v.keys[2] = (ty_value_key){4.0, {0.0}};
    v.linear = linear;
    return v;
}

static double at(const ty_varying* v, double t)
{
    double out;
    assert_ok(ty_varying_eval(v, t, 1, POINTS, &out));
    return out;
}

static void keys_are_met_and_held_at_both_ends(void** state)
{
    (void)state;
    for (int linear = 0; linear < 2; ++linear) {
        ty_varying v = ramp(linear);
        assert_near(at(&v, -5), 2, 0);
        assert_near(at(&v, 1), 2, 0);
        assert_near(at(&v, 2), 4, 0);
        assert_near(at(&v, 4), 0, 0);
        assert_near(at(&v, 9), 0, 0);
        assert_near(at(&v, 3), 2, 1e-15);
        assert_near(at(&v, 1.25), linear ? 2.5 : 2 + 2 * 0.15625, 1e-15);
        assert_true(ty_varying_in_time(&v) && !ty_varying_in_space(&v));
        ty_varying_free(&v);
    }
}

static void smooth_keys_start_and_stop_gently(void** state)
{
    (void)state;
    ty_varying v = ramp(false);
    const double h = 1e-5;
    assert_near((at(&v, 1 + h) - at(&v, 1)) / h, 0, 1e-4);
    assert_near((at(&v, 2) - at(&v, 2 - h)) / h, 0, 1e-4);
    ty_varying_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_expressions_or_constants),
        cmocka_unit_test(a_value_that_is_no_number_is_reported_with_its_place),
        cmocka_unit_test(keys_are_met_and_held_at_both_ends),
        cmocka_unit_test(smooth_keys_start_and_stop_gently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
