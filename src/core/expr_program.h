// SPDX-License-Identifier: Apache-2.0
// The compiled form of an expression: a program for a stack machine without jumps. Shared by the
// compiler (expr.c) and the evaluator (expr_eval.c) alone.
#ifndef TY_CORE_EXPR_PROGRAM_H
#define TY_CORE_EXPR_PROGRAM_H

#include <stdbool.h>

#include "core/expr.h"
#include "core/memory.h"

// clang-format off
typedef enum expr_op {
    OP_NUMBER, OP_X, OP_Y, OP_Z, OP_T,                                        // push one
    OP_NEGATE, OP_NOT, OP_SQUARE, OP_SIN, OP_COS, OP_TAN, OP_ASIN, OP_ACOS,   // replace one
    OP_ATAN, OP_SINH, OP_COSH, OP_TANH, OP_SQRT, OP_EXP, OP_LOG, OP_LOG10,
    OP_ABS, OP_SIGN, OP_FLOOR, OP_CEIL, OP_ROUND, OP_FRACT,
    OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_LT, OP_LE, OP_GT, OP_GE,       // two to one
    OP_EQ, OP_NE, OP_AND, OP_OR, OP_ATAN2, OP_HYPOT, OP_MOD, OP_MIN, OP_MAX, OP_STEP,
    OP_SELECT, OP_CLAMP, OP_MIX, OP_SMOOTHSTEP, OP_NOISE                      // three to one
} expr_op;
// clang-format on

static inline int expr_op_operands(expr_op op)
{
    return op < OP_NEGATE ? 0 : op < OP_ADD ? 1 : op < OP_SELECT ? 2 : 3;
}

typedef struct expr_step {
    expr_op op;
    double number;    // of OP_NUMBER
} expr_step;

struct ty_expr {
    char* text;
    TY_ARRAY(expr_step) program;    // leaves one value
    bool uses_space, uses_time;
};

#endif
