// SPDX-License-Identifier: Apache-2.0
// Every step of the program runs over a batch of points before the next: the loops vectorise, and
// looking at the program costs next to nothing per point.
#include <math.h>

#include "core/expr_program.h"
#include "core/hash.h"
#include "core/vec.h"

enum { BATCH = 128 };    // the whole stack, 24 KiB, stays in the first-level cache

static double fade(double s) { return s * s * s * (s * (s * 6.0 - 15.0) + 10.0); }

// Dot product of an offset with one of the twelve edge directions of a cube, chosen by the lattice
// point.
static double edge_gradient(const int64_t cell[3], const double offset[3])
{
    uint64_t h = 0;
    for (int axis = 0; axis < 3; ++axis) h = ty_mix2(h, (uint64_t)cell[axis]);
    int skip = (int)(h % 3), first = skip == 0, second = skip == 2 ? 1 : 2;
    return (h & 1 << 8 ? -offset[first] : offset[first]) +
           (h & 1 << 9 ? -offset[second] : offset[second]);
}

// Gradient noise [Perlin2002] with hashed lattice points instead of a permutation table, so it
// never repeats.
static double noise(double x, double y, double z)
{
    double at[3] = {x, y, z}, part[3], sum = 0.0;
    int64_t cell[3];
    for (int axis = 0; axis < 3; ++axis) {
        if (!(fabs(at[axis]) < 0x1p52)) return at[axis] * 0.0;    // no fraction left; NaN stays NaN
        double base = floor(at[axis]);
        cell[axis] = (int64_t)base;
        part[axis] = at[axis] - base;
    }
    for (int corner = 0; corner < 8; ++corner) {
        double weight = 1.0, offset[3];
        int64_t lattice[3];
        for (int axis = 0; axis < 3; ++axis) {
            int up = corner >> axis & 1;
            lattice[axis] = cell[axis] + up;
            offset[axis] = part[axis] - up;
            weight *= fade(up ? part[axis] : 1.0 - part[axis]);
        }
        sum += weight * edge_gradient(lattice, offset);
    }
    return sum;
}

static double smoothstep(double low, double high, double v)
{
    double s = ty_clamp((v - low) / (high - low), 0.0, 1.0);
    return s * s * (3.0 - 2.0 * s);
}

static double sign(double v) { return v > 0.0 ? 1.0 : v < 0.0 ? -1.0 : v; }
static double mod(double a, double b) { return a - b * floor(a / b); }
// A NaN operand gives NaN, unlike fmin: a mistake must not vanish.
static double lower(double a, double b) { return a < b || a != a ? a : b; }
static double upper(double a, double b) { return a > b || a != a ? a : b; }

// clang-format off
#define EACH(value)                                                                                \
    for (int i = 0; i < n; ++i) a[i] = (value);                                                    \
    break

static void push(const expr_step* step, int n, const double (*x)[3], double t, double* restrict a)
{
    switch (step->op) {
    case OP_NUMBER: EACH(step->number);
    case OP_T: EACH(t);
    default:
        for (int i = 0; i < n; ++i) a[i] = x[i][step->op - OP_X];
    }
}

static void apply1(expr_op op, int n, double* restrict a)
{
    switch (op) {
    case OP_NEGATE: EACH(-a[i]);
    case OP_NOT: EACH(a[i] == 0.0);
    case OP_SQUARE: EACH(a[i] * a[i]);
    case OP_SIN: EACH(sin(a[i]));
    case OP_COS: EACH(cos(a[i]));
    case OP_TAN: EACH(tan(a[i]));
    case OP_ASIN: EACH(asin(a[i]));
    case OP_ACOS: EACH(acos(a[i]));
    case OP_ATAN: EACH(atan(a[i]));
    case OP_SINH: EACH(sinh(a[i]));
    case OP_COSH: EACH(cosh(a[i]));
    case OP_TANH: EACH(tanh(a[i]));
    case OP_SQRT: EACH(sqrt(a[i]));
    case OP_EXP: EACH(exp(a[i]));
    case OP_LOG: EACH(log(a[i]));
    case OP_LOG10: EACH(log10(a[i]));
    case OP_ABS: EACH(fabs(a[i]));
    case OP_SIGN: EACH(sign(a[i]));
    case OP_FLOOR: EACH(floor(a[i]));
    case OP_CEIL: EACH(ceil(a[i]));
    case OP_ROUND: EACH(round(a[i]));
    default: EACH(a[i] - floor(a[i]));    // OP_FRACT
    }
}

static void apply2(expr_op op, int n, double* restrict a, const double* restrict b)
{
    switch (op) {
    case OP_ADD: EACH(a[i] + b[i]);
    case OP_SUB: EACH(a[i] - b[i]);
    case OP_MUL: EACH(a[i] * b[i]);
    case OP_DIV: EACH(a[i] / b[i]);
    case OP_POW: EACH(pow(a[i], b[i]));
    case OP_LT: EACH(a[i] < b[i]);
    case OP_LE: EACH(a[i] <= b[i]);
    case OP_GT: EACH(a[i] > b[i]);
    case OP_GE: EACH(a[i] >= b[i]);
    case OP_EQ: EACH(a[i] == b[i]);
    case OP_NE: EACH(a[i] != b[i]);
    case OP_AND: EACH(a[i] != 0.0 && b[i] != 0.0);
    case OP_OR: EACH(a[i] != 0.0 || b[i] != 0.0);
    case OP_ATAN2: EACH(atan2(a[i], b[i]));
    case OP_HYPOT: EACH(hypot(a[i], b[i]));
    case OP_MOD: EACH(mod(a[i], b[i]));
    case OP_MIN: EACH(lower(a[i], b[i]));
    case OP_MAX: EACH(upper(a[i], b[i]));
    default: EACH(b[i] >= a[i]);    // OP_STEP
    }
}

static void apply3(expr_op op, int n, double* restrict a, const double* restrict b,
                   const double* restrict c)
{
    switch (op) {
    case OP_SELECT: EACH(a[i] != 0.0 ? b[i] : c[i]);
    case OP_CLAMP: EACH(ty_clamp(a[i], b[i], c[i]));
    case OP_MIX: EACH(a[i] + c[i] * (b[i] - a[i]));
    case OP_SMOOTHSTEP: EACH(smoothstep(a[i], b[i], c[i]));
    default: EACH(noise(a[i], b[i], c[i]));    // OP_NOISE
    }
}
// clang-format on

// The value ends in stack[0].
static void run(const ty_expr* e, int n, const double (*x)[3], double t, double (*stack)[BATCH])
{
    int depth = 0;
    for (int64_t s = 0; s < e->program.n; ++s) {
        const expr_step* step = &e->program.at[s];
        int operands = expr_op_operands(step->op);
        double(*a)[BATCH] = stack + depth - operands;
        switch (operands) {
        case 0: push(step, n, x, t, a[0]); break;
        case 1: apply1(step->op, n, a[0]); break;
        case 2: apply2(step->op, n, a[0], a[1]); break;
        default: apply3(step->op, n, a[0], a[1], a[2]);
        }
        depth += 1 - operands;
    }
}

void ty_expr_eval_strided(const ty_expr* e, int64_t n, const double (*x)[3], double t, double* out,
                          int stride)
{
    double stack[TY_EXPR_MAX_STACK][BATCH];
    for (int64_t begin = 0; begin < n; begin += BATCH) {
        int count = n - begin < BATCH ? (int)(n - begin) : BATCH;
        run(e, count, x ? x + begin : NULL, t, stack);
        for (int i = 0; i < count; ++i) out[(begin + i) * stride] = stack[0][i];
    }
}

void ty_expr_eval(const ty_expr* e, int64_t n, const double (*x)[3], double t, double* out)
{
    ty_expr_eval_strided(e, n, x, t, out, 1);
}

double ty_expr_at(const ty_expr* e, const double x[3], double t)
{
    double value;
    ty_expr_eval(e, 1, (const double(*)[3])x, t, &value);
    return value;
}

ty_status ty_expr_eval_checked(const ty_expr* e, int64_t n, const double (*x)[3], double t,
                               double* out)
{
    ty_expr_eval(e, n, x, t, out);
    for (int64_t i = 0; i < n; ++i) {
        if (isfinite(out[i])) continue;
        double at[3] = {0.0, 0.0, 0.0};
        for (int axis = 0; x && axis < 3; ++axis) at[axis] = x[i][axis];
        return ty_fail(TY_BAD_INPUT,
                       "expression '%.200s' is %s at x = %g, y = %g, z = %g, t = %g; guard it with "
                       "?: or clamp",
                       e->text, isnan(out[i]) ? "not a number" : "infinite", at[0], at[1], at[2],
                       t);
    }
    return ty_ok();
}
