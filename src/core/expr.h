// SPDX-License-Identifier: Apache-2.0
// Expressions of x, y, z (metres) and t (seconds), compiled once and evaluated at many points.
//
//   numbers     1  0.5  1e-3  pi  e           variables    x y z t
//   operators   ^ (power, right to left, before a minus sign: -2^2 is -4), ! - +, * /, + -, < <= >
//   >= == !=, &&, ||, ?: functions   sin cos tan asin acos atan atan2 sinh cosh tanh sqrt exp log
//   (natural) log10 pow hypot
//               abs sign floor ceil round fract mod min max (two or more) clamp(v, low, high)
//               mix(a, b, weight) step(edge, v) smoothstep(low, high, v) noise(x, y, z): smooth,
//               about -1 to 1, features of size 1
//
// A comparison is 1 or 0; every value but 0 is true. Angles are radians. Both branches of ?: are
// evaluated and one is taken, so x > 0 ? sqrt(x) : 0 is safe.
#ifndef TY_CORE_EXPR_H
#define TY_CORE_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum {
    TY_EXPR_MAX_LENGTH = 4000,    // characters
    TY_EXPR_MAX_NESTING = 60,     // brackets, signs, powers and ?: inside each other
    TY_EXPR_MAX_STACK = 24        // intermediate values at one time
};

// Opaque; owns its copy of the text. Never changes: any number of threads may evaluate it at once.
typedef struct ty_expr ty_expr;

// A mistake gives TY_BAD_INPUT; status.column is its place (1-based, in characters) and the message
// ends with a remedy: "unknown name 'sn' at column 3; did you mean 'sin'?". *e is NULL then.
ty_status ty_expr_create(ty_expr** e, const char* text);
// The expression that is this number everywhere.
ty_status ty_expr_create_number(ty_expr** e, double value);
void ty_expr_destroy(ty_expr* e);

const char* ty_expr_text(const ty_expr* e);
bool ty_expr_uses_space(const ty_expr* e);    // x, y or z appears
bool ty_expr_uses_time(const ty_expr* e);     // t appears
bool ty_expr_is_constant(const ty_expr* e);

// out[i] = value at x[i] and t. Allocates nothing. The result for a point does not depend on the
// others. `x` may be NULL when the expression does not use space.
void ty_expr_eval(const ty_expr* e, int64_t n, const double (*x)[3], double t, double* out);
// The same with out[i * stride]: three expressions fill an array of vectors with stride 3.
void ty_expr_eval_strided(const ty_expr* e, int64_t n, const double (*x)[3], double t, double* out,
                          int stride);
// One point; x may be NULL as above.
double ty_expr_at(const ty_expr* e, const double x[3], double t);

// As ty_expr_eval; TY_BAD_INPUT that names the first point whose value is not finite.
ty_status ty_expr_eval_checked(const ty_expr* e, int64_t n, const double (*x)[3], double t,
                               double* out);

#endif
