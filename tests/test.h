// SPDX-License-Identifier: Apache-2.0
// What every test includes.
#ifndef TY_TESTS_TEST_H
#define TY_TESTS_TEST_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>

#include "core/status.h"

// The call must succeed; prints its message when it did not.
#define assert_ok(expr)                                                                            \
    do {                                                                                           \
        ty_status assert_status_ = (expr);                                                         \
        if (assert_status_.code != TY_OK) {                                                        \
            char text_[800];                                                                       \
            fail_msg("%s", ty_status_text(&assert_status_, text_, sizeof text_));                  \
        }                                                                                          \
    } while (0)

#define assert_code(expr, expected)                                                                \
    do {                                                                                           \
        ty_status assert_status_ = (expr);                                                         \
        if (assert_status_.code != (expected))                                                     \
            fail_msg("code %s instead of %s: %s", ty_code_name(assert_status_.code),               \
                     ty_code_name(expected), assert_status_.message);                              \
    } while (0)

// |a - b| <= tolerance, with the numbers when not.
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double a_ = (a), b_ = (b), t_ = (tolerance);                                               \
        if (!(a_ - b_ <= t_ && b_ - a_ <= t_)) fail_msg("%.17g is not %.17g +- %g", a_, b_, t_);   \
    } while (0)

#endif
