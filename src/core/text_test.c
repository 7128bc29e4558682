// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "test.h"

static const char* read_all(const char* text, double* value)
{
    return ty_read_double(text, text + strlen(text), value);
}

static void numbers_are_what_strtod_reads(void** state)
{
    (void)state;
    static const char* const formats[] = {"%.17g", "%.3f", "%.9e", "%.0f", "%.25g"};
    for (uint64_t i = 0; i < 60000; ++i) {
        double scale = pow(10.0, (double)(int)(ty_mix(3 * i) % 600) - 300.0), value;
        char text[400];
        snprintf(text, sizeof text, formats[i % 5],
                 (ty_unit(ty_mix(i)) - 0.5) * (i % 2 ? scale : 1e3));
        if (strlen(text) > 120) continue;
        const char* stop = read_all(text, &value);
        assert_non_null(stop);
        assert_int_equal(*stop, 0);
        double expected = strtod(text, NULL);
        assert_memory_equal(&value, &expected, sizeof value);
    }
}

static void numbers_stop_where_they_end(void** state)
{
    (void)state;
    double value;
    assert_string_equal(read_all("2em", &value), "em");
    assert_true(value == 2.0);
    assert_string_equal(read_all("1e+", &value), "e+");
    assert_string_equal(read_all("1,5", &value), ",5");
    assert_string_equal(read_all("-.5.5", &value), ".5");
    assert_true(value == -0.5);
    const char* text = "1234";
    assert_ptr_equal(ty_read_double(text, text + 2, &value), text + 2);
    assert_true(value == 12.0);
}

static void what_is_no_number_is_refused(void** state)
{
    (void)state;
    double value;
    static const char* const bad[] = {"",    "-",   ".",     "e5", "nan",
                                      "inf", "+-1", "1e999", "x",  "-.e1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) assert_null(read_all(bad[i], &value));
    char lengthy[200];
    memset(lengthy, '1', sizeof lengthy);
    assert_null(ty_read_double(lengthy, lengthy + sizeof lengthy, &value));
}

static void misspelt_names_are_found(void** state)
{
    (void)state;
    static const char* const names[] = {"solver", "surface", "sources", "cell", "x"};
    assert_string_equal(ty_nearest_name("sorces", 5, names), "sources");
    assert_string_equal(ty_nearest_name("Cell", 5, names), "cell");
    assert_string_equal(ty_nearest_name("clel", 5, names), "cell");
    assert_string_equal(ty_nearest_name("X", 5, names), "x");
    assert_null(ty_nearest_name("q", 5, names));
    assert_null(ty_nearest_name("temperature", 5, names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_what_strtod_reads),
        cmocka_unit_test(numbers_stop_where_they_end),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(misspelt_names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
