// SPDX-License-Identifier: Apache-2.0
#include "core/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/memory.h"
#include "test.h"

static double value_of(const char* text, double x, double y, double z, double t)
{
    ty_expr* e;
    assert_ok(ty_expr_create(&e, text));
    double at[3] = {x, y, z}, value = ty_expr_at(e, at, t);
    ty_expr_destroy(e);
    return value;
}

static void operators_bind_as_written_mathematics(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        double value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"8/4/2", 1},
        {"8-4-2", 2},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"-2^-2", -0.25},
        {"2*-3", -6},
        {"--3", 3},
        {"!0 + !5", 1},
        {"1 < 2", 1},
        {"1+1 == 2 && 3 != 3 || 0", 0},
        {"2 >= 2 ? 5 : 6", 5},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"1 ? 0 ? 1 : 2 : 3", 2},
        {"1e3*.5", 500},
        {" 2\t*\n3 ", 6},
        {"(-2)^2", 4},
        {"(-2)^3", -8},
        {"min(3, 1, 2)", 1},
        {"max(3, 1, 2)", 3},
        {"hypot(2, 3, 6)", 7},
        {"mod(-1, 3)", 2},
        {"clamp(5, 0, 1)", 1},
        {"mix(2, 4, 0.25)", 2.5},
        {"step(0.5, 0.4)", 0},
        {"step(0.5, 0.5)", 1},
        {"smoothstep(0, 2, 1)", 0.5},
        {"sign(-3)", -1},
        {"sign(0)", 0},
        {"round(2.5)", 3},
        {"fract(-0.25)", 0.75},
        {"abs(-2)", 2},
        {"floor(-0.5)", -1},
        {"ceil(0.5)", 1},
        {"pow(2, 10)", 1024},
        {"atan2(1, 1)*4/pi", 1},
        {"log(e^2)", 2},
        {"log10(1000)", 3},
        {"sqrt(16)", 4},
        {"2^2", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_near(value_of(cases[i].text, 0, 0, 0, 0), cases[i].value, 1e-15);
}

static void functions_of_place_agree_with_c(void** state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; ++i) {
        double x = ty_unit(ty_mix(i)), y = ty_unit(ty_mix(i + 1000)), z = 3 * x - 1, t = 5 * y;
        assert_near(value_of("y - 0.5 - 0.01*cos(pi*x)", x, y, z, t),
                    y - 0.5 - 0.01 * cos(M_PI * x), 0);
        assert_near(value_of("-sin(pi*x)^2*sin(2*pi*y)", x, y, z, t),
                    -(sin(M_PI * x) * sin(M_PI * x)) * sin(2 * M_PI * y), 0);
        assert_near(value_of("z > 0 ? z^x : exp(z*t)", x, y, z, t), z > 0 ? pow(z, x) : exp(z * t),
                    0);
        assert_near(
            value_of("tanh(x)+sinh(y)-cosh(z)+atan(t)+asin(x)*acos(y)/tan(t+1)", x, y, z, t),
            tanh(x) + sinh(y) - cosh(z) + atan(t) + asin(x) * acos(y) / tan(t + 1), 0);
    }
}

static void batches_do_not_change_a_value(void** state)
{
    (void)state;
    enum { N = 1000 };
    static double x[N][3], all[N], vectors[N][3];
    for (int i = 0; i < N; ++i)
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = 4.0 * ty_unit(ty_mix((uint64_t)(3 * i + axis))) - 2.0;
    ty_expr* e;
    assert_ok(ty_expr_create(&e, "noise(3*x, 3*y, 3*z + t) + max(x, hypot(y, z)) * exp(-t) - x^3"));
    int64_t count = ty_memory_count();
    ty_expr_eval(e, N, x, 0.7, all);
    ty_expr_eval_strided(e, N, x, 0.7, &vectors[0][1], 3);
    for (int i = 0; i < N; ++i) {
        double one = ty_expr_at(e, x[i], 0.7);
        assert_memory_equal(&one, &all[i], sizeof one);
        assert_memory_equal(&one, &vectors[i][1], sizeof one);
    }
    assert_int_equal(ty_memory_count(), count);
    ty_expr_destroy(e);
}

static void what_an_expression_depends_on(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        bool space, time;
    } cases[] = {{"sin(pi/4)", 0, 0}, {"t", 0, 1}, {"2*z", 1, 0}, {"x*t", 1, 1}, {"0*y", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ty_expr* e;
        assert_ok(ty_expr_create(&e, cases[i].text));
        assert_string_equal(ty_expr_text(e), cases[i].text);
        assert_int_equal(ty_expr_uses_space(e), cases[i].space);
        assert_int_equal(ty_expr_uses_time(e), cases[i].time);
        assert_int_equal(ty_expr_is_constant(e), !cases[i].space && !cases[i].time);
        ty_expr_destroy(e);
    }
    ty_expr* e;
    assert_ok(ty_expr_create_number(&e, -0.1));
    assert_true(ty_expr_is_constant(e) && ty_expr_at(e, NULL, 3.0) == -0.1);
    ty_expr_destroy(e);
}

static void mistakes_name_their_column_and_a_remedy(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        int column;
        const char* part;
    } cases[] = {
        {"2*sn(x)", 3, "unknown name 'sn' at column 3; did you mean 'sin'?"},
        {"X + 1", 1, "did you mean 'x'?"},
        {"velocity", 1, "known are x, y"},
        {"", 1, "ends too early"},
        {"1 +", 4, "ends too early"},
        {"(1", 3, "a ')' should stand here"},
        {"1)", 2, "closes no bracket"},
        {"2x", 2, "2*x"},
        {"2 x", 3, "operator"},
        {"x**2", 2, "power is written ^"},
        {"x = 2", 3, "=="},
        {"0 < x < 1", 7, "0 < x && x < 1"},
        {"sin x", 1, "brackets"},
        {"sin(x, y)", 1, "it takes 1"},
        {"clamp(x)", 1, "it takes 3"},
        {"sin()", 1, "it takes 1"},
        {"max(x)", 1, "it takes 2 to"},
        {"x ? 1", 6, "':'"},
        {"1.2.3", 4, "operator"},
        {"1e999", 1, "cannot be read"},
        {"x \xC3\x97 y\xC3\x97", 3, "unexpected '\xC3\x97'"},
        {"\xC3\xA4 + 1", 1, "unexpected '\xC3\xA4'"},
        {"1 + \001", 5, "unexpected '?'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ty_expr* e = (ty_expr*)&cases;
        ty_status s = ty_expr_create(&e, cases[i].text);
        assert_null(e);
        assert_int_equal(s.code, TY_BAD_INPUT);
        if (s.column != cases[i].column || !strstr(s.message, cases[i].part))
            fail_msg("'%s': column %d, %s", cases[i].text, s.column, s.message);
    }
}

static void hostile_depth_and_length_are_refused(void** state)
{
    (void)state;
    static const char* const units[] = {"(",    "-",   "sin(",   "1^",    "1?",
                                        "1?1:", "1+(", "min(1,", "x+(x*", "!"};
    static char text[TY_EXPR_MAX_LENGTH + 50];
    for (size_t u = 0; u < sizeof units / sizeof *units; ++u) {
        text[0] = 0;
        while (strlen(text) + 10 < sizeof text) strcat(text, units[u]);
        ty_expr* e;
        assert_code(ty_expr_create(&e, text), TY_BAD_INPUT);
        text[TY_EXPR_MAX_LENGTH - 10] = 0;
        assert_code(ty_expr_create(&e, text), TY_BAD_INPUT);
    }
    ty_expr* e;
    text[0] = 0;
    while (strlen(text) + 10 < TY_EXPR_MAX_LENGTH) strcat(text, "1+");
    assert_ok(ty_expr_create(&e, strcat(text, "x")));
    assert_near(ty_expr_at(e, (double[3]){0.5, 0, 0}, 0), (double)(strlen(text) / 2) + 0.5, 0);
    ty_expr_destroy(e);
}

static void values_that_are_not_finite_name_their_point(void** state)
{
    (void)state;
    ty_expr* e;
    double x[3][3] = {{1, 2, 3}, {1, 0.25, 3}, {1, -1, 3}}, out[3];
    assert_ok(ty_expr_create(&e, "log(y - 0.25)"));
    ty_status s = ty_expr_eval_checked(e, 3, x, 0.5, out);
    assert_int_equal(s.code, TY_BAD_INPUT);
    assert_non_null(strstr(s.message, "infinite at x = 1, y = 0.25, z = 3, t = 0.5"));
    assert_ok(ty_expr_eval_checked(e, 1, x, 0.5, out));
    ty_expr_destroy(e);
    assert_true(isnan(value_of("min(1, sqrt(x))", -1, 0, 0, 0)));
    assert_true(isnan(value_of("max(sqrt(x), 1)", -1, 0, 0, 0)));
    assert_true(value_of("x > 0 ? sqrt(x) : 0", -1, 0, 0, 0) == 0.0);
}

static void noise_is_smooth_bounded_and_zero_on_the_lattice(void** state)
{
    (void)state;
    double largest = 0.0;
    for (int i = 0; i < 20000; ++i) {
        double x = 100.0 * ty_unit(ty_mix((uint64_t)i)) - 50.0, y = 0.37 * i, z = -0.21 * i;
        double here = value_of("noise(x, y, z)", x, y, z, 0);
        largest = fmax(largest, fabs(here));
        assert_near(here, value_of("noise(x, y, z)", x + 1e-6, y, z, 0), 1e-5);
    }
    assert_true(largest > 0.5 && largest < 1.1);
    assert_true(value_of("noise(x, y, z)", 3, -7, 11, 0) == 0.0);
    assert_true(value_of("noise(x, y, z)", 1e300, 0, 0, 0) == 0.0);
}

static void failing_memory_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    int64_t alive = ty_memory_alive();
    for (int k = 1; k < 10; ++k) {
        ty_expr* e;
        ty_memory_fail_after(k);
        ty_status s = ty_expr_create(&e, "sin(x)*cos(y)+1+x+y+z+t*x*y*z*t+x+y+z+t+x+y");
        ty_memory_fail_after(0);
        assert_true(s.code == TY_NO_MEMORY || s.code == TY_OK);
        if (k == 1) assert_int_equal(s.code, TY_NO_MEMORY);
        ty_expr_destroy(e);
        assert_int_equal(ty_memory_alive(), alive);
    }
}

// Random strings of the language's own pieces: never a crash, always a value or a column.
static void random_expressions_give_a_value_or_a_column(void** state)
{
    (void)state;
    static const char* const pieces[] = {
        "x",  "y", "t", "2", "0.5",  "pi",   "(",      ")",  "+", "-", "*", "/",  "^", "<",
        "==", "?", ":", ",", "sin(", "min(", "clamp(", "&&", "!", " ", "e", "1e", "$"};
    int good = 0;
    for (uint64_t i = 0; i < 200000; ++i) {
        char text[200] = "";
        int n = 1 + (int)(ty_mix(i) % 9);
        for (int k = 0; k < n; ++k)
            strcat(text, pieces[ty_mix2(i, (uint64_t)k) % (sizeof pieces / sizeof *pieces)]);
        ty_expr* e;
        ty_status s = ty_expr_create(&e, text);
        if (s.code == TY_OK) {
            ++good;
            ty_expr_at(e, (double[3]){0.1, 0.2, 0.3}, 0.4);
        } else {
            assert_int_equal(s.code, TY_BAD_INPUT);
            assert_in_range(s.column, 1, strlen(text) + 1);
        }
        ty_expr_destroy(e);
    }
    assert_true(good > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_written_mathematics),
        cmocka_unit_test(functions_of_place_agree_with_c),
        cmocka_unit_test(batches_do_not_change_a_value),
        cmocka_unit_test(what_an_expression_depends_on),
        cmocka_unit_test(mistakes_name_their_column_and_a_remedy),
        cmocka_unit_test(hostile_depth_and_length_are_refused),
        cmocka_unit_test(values_that_are_not_finite_name_their_point),
        cmocka_unit_test(noise_is_smooth_bounded_and_zero_on_the_lattice),
        cmocka_unit_test(failing_memory_is_reported_and_leaks_nothing),
        cmocka_unit_test(random_expressions_give_a_value_or_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
