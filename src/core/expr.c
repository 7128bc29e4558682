// SPDX-License-Identifier: Apache-2.0
// The compiler of expressions: recursive descent, one function per level of precedence, straight to
// the program. Operators on numbers alone are carried out at once.
#include "core/expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/expr_program.h"
#include "core/text.h"

enum { MAX_ARGUMENTS = 16, MAX_NAME = 31 };

typedef struct function {
    const char* name;
    expr_op op;
    bool chain;    // takes any number from two on, two by two
} function;

static const function functions[] = {
    {"sin", OP_SIN, 0},
    {"cos", OP_COS, 0},
    {"tan", OP_TAN, 0},
    {"asin", OP_ASIN, 0},
    {"acos", OP_ACOS, 0},
    {"atan", OP_ATAN, 0},
    {"atan2", OP_ATAN2, 0},
    {"sinh", OP_SINH, 0},
    {"cosh", OP_COSH, 0},
    {"tanh", OP_TANH, 0},
    {"sqrt", OP_SQRT, 0},
    {"exp", OP_EXP, 0},
    {"log", OP_LOG, 0},
    {"log10", OP_LOG10, 0},
    {"pow", OP_POW, 0},
    {"hypot", OP_HYPOT, 1},
    {"abs", OP_ABS, 0},
    {"sign", OP_SIGN, 0},
    {"floor", OP_FLOOR, 0},
    {"ceil", OP_CEIL, 0},
    {"round", OP_ROUND, 0},
    {"fract", OP_FRACT, 0},
    {"mod", OP_MOD, 0},
    {"min", OP_MIN, 1},
    {"max", OP_MAX, 1},
    {"clamp", OP_CLAMP, 0},
    {"mix", OP_MIX, 0},
    {"step", OP_STEP, 0},
    {"smoothstep", OP_SMOOTHSTEP, 0},
    {"noise", OP_NOISE, 0},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

typedef struct variable {
    const char* name;
    expr_op op;
    double number;
} variable;

static const variable variables[] = {
    {"x", OP_X, 0.0}, {"y", OP_Y, 0.0},        {"z", OP_Z, 0.0},
    {"t", OP_T, 0.0}, {"pi", OP_NUMBER, M_PI}, {"e", OP_NUMBER, M_E},
};
enum { N_VARIABLES = sizeof variables / sizeof *variables };

typedef struct parser {
    ty_expr* e;
    const char *at, *end;
    int nesting, depth;    // depth: values on the machine's stack here
    ty_status status;
} parser;

static bool choice(parser* p);

// Characters, not bytes: continuation bytes of UTF-8 do not count.
static int column_of(const parser* p, const char* place)
{
    int column = 1;
    for (const char* s = p->e->text; s < place; ++s) column += ((unsigned char)*s & 0xC0) != 0x80;
    return column;
}

static bool mistake(parser* p, const char* place, const char* what, const char* remedy)
{
    int column = column_of(p, place);
    p->status = ty_fail_at(TY_BAD_INPUT, "", 0, column, "%s at column %d; %s", what, column,
                           remedy);
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_space(parser* p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        ++p->at;
}

static bool take(parser* p, const char* symbol)
{
    skip_space(p);
    size_t n = strlen(symbol);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, symbol, n) != 0) return false;
    p->at += n;
    return true;
}

// Where a symbol was expected: what stands there instead, in the reader's words.
static bool unexpected(parser* p, const char* wanted)
{
    skip_space(p);
    char what[80];
    int n = 1;
    if (p->at >= p->end) return mistake(p, p->at, "the expression ends too early", wanted);
    while (p->at + n < p->end && ((unsigned char)p->at[n] & 0xC0) == 0x80 && n < 4) ++n;
    bool print = (unsigned char)*p->at >= 32;
    snprintf(what, sizeof what, "unexpected '%.*s'", print ? n : 1, print ? p->at : "?");
    return mistake(p, p->at, what, wanted);
}

static bool all_numbers(const ty_expr* e, int operands)
{
    if (operands == 0 || e->program.n < operands) return false;
    for (int k = 1; k <= operands; ++k)
        if (e->program.at[e->program.n - k].op != OP_NUMBER) return false;
    return true;
}

static void fold(ty_expr* e, expr_op op, int operands)
{
    expr_step* first = &e->program.at[e->program.n - operands];
    expr_step steps[4];
    memcpy(steps, first, (size_t)operands * sizeof *steps);
    steps[operands] = (expr_step){op, 0.0};
    ty_expr small = {.program = {steps, operands + 1, 4}};
    first->number = ty_expr_at(&small, NULL, 0.0);
    e->program.n -= operands - 1;
}

static bool emit(parser* p, expr_op op, double number)
{
    int operands = expr_op_operands(op);
    p->depth += 1 - operands;
    if (p->depth > TY_EXPR_MAX_STACK)
        return mistake(p, p->at, "the expression is too deep",
                       "compute the innermost brackets first");
    if (all_numbers(p->e, operands)) {
        fold(p->e, op, operands);
        return true;
    }
    if (op == OP_X || op == OP_Y || op == OP_Z) p->e->uses_space = true;
    if (op == OP_T) p->e->uses_time = true;
    if (ty_array_push(&p->e->program, ((expr_step){op, number}))) return true;
    p->status = ty_no_memory("an expression");
    return false;
}

static bool number(parser* p)
{
    double value;
    const char* stop = ty_read_double(p->at, p->end, &value);
    if (!stop)
        return mistake(p, p->at, "a number that cannot be read", "write it like 0.5 or 1e-3");
    p->at = stop;
    if (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at) || *p->at == '.'))
        return mistake(p, p->at, "a number runs into what follows",
                       "put an operator between, as in 2*x");
    return emit(p, OP_NUMBER, value);
}

static bool wrong_count(parser* p, const char* place, const function* f, int n)
{
    char what[120];
    int wanted = expr_op_operands(f->op);
    snprintf(what, sizeof what, "%s() with %d value%s", f->name, n, n == 1 ? "" : "s");
    char remedy[80];
    if (f->chain)
        snprintf(remedy, sizeof remedy, "it takes 2 to %d, separated by commas", MAX_ARGUMENTS);
    else
        snprintf(remedy, sizeof remedy, "it takes %d%s", wanted,
                 wanted > 1 ? ", separated by commas" : "");
    return mistake(p, place, what, remedy);
}

static bool call(parser* p, const char* place, const function* f)
{
    if (!take(p, "(")) {
        char what[80];
        snprintf(what, sizeof what, "'%s' is a function and lacks its brackets", f->name);
        return mistake(p, place, what, "write it like sin(x)");
    }
    int n = 0;
    if (take(p, ")")) return wrong_count(p, place, f, 0);
    do {
        if (++n > MAX_ARGUMENTS || (!f->chain && n > expr_op_operands(f->op)))
            return wrong_count(p, place, f, n);
        if (!choice(p)) return false;
        if (f->chain && n > 1 && !emit(p, f->op, 0.0)) return false;
    } while (take(p, ","));
    if (!take(p, ")")) return unexpected(p, "a ')' or ',' should stand here");
    if (n < expr_op_operands(f->op)) return wrong_count(p, place, f, n);
    return f->chain || emit(p, f->op, 0.0);
}

static bool unknown(parser* p, const char* place, const char* name)
{
    const char* names[N_FUNCTIONS + N_VARIABLES];
    for (int i = 0; i < N_FUNCTIONS; ++i) names[i] = functions[i].name;
    for (int i = 0; i < N_VARIABLES; ++i) names[N_FUNCTIONS + i] = variables[i].name;
    const char* nearest = ty_nearest_name(name, N_FUNCTIONS + N_VARIABLES, names);
    char what[80], remedy[400];
    snprintf(what, sizeof what, "unknown name '%s'", name);
    int n = snprintf(remedy, sizeof remedy,
                     nearest ? "did you mean '%s'?" : "known are x, y, z, t, pi, e", nearest);
    for (int i = 0; !nearest && i < N_FUNCTIONS; ++i)
        n += snprintf(remedy + n, sizeof remedy - (size_t)n, ", %s()", functions[i].name);
    return mistake(p, place, what, remedy);
}

static bool name(parser* p)
{
    const char* place = p->at;
    while (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at))) ++p->at;
    char word[MAX_NAME + 1];
    snprintf(word, sizeof word, "%.*s", (int)(p->at - place), place);
    for (int i = 0; i < N_FUNCTIONS; ++i)
        if (strcmp(word, functions[i].name) == 0) return call(p, place, &functions[i]);
    for (int i = 0; i < N_VARIABLES; ++i)
        if (strcmp(word, variables[i].name) == 0)
            return emit(p, variables[i].op, variables[i].number);
    return unknown(p, place, word);
}

static bool primary(parser* p)
{
    skip_space(p);
    if (p->at < p->end && (is_digit(*p->at) || *p->at == '.')) return number(p);
    if (p->at < p->end && is_letter(*p->at)) return name(p);
    if (!take(p, "(")) return unexpected(p, "a number, a name or '(' should stand here");
    if (!choice(p)) return false;
    return take(p, ")") || unexpected(p, "a ')' should stand here");
}

static bool enter(parser* p)
{
    if (++p->nesting <= TY_EXPR_MAX_NESTING) return true;
    return mistake(p, p->at, "the expression is nested too deeply", "make it simpler");
}

static bool emit_power(parser* p)
{
    const expr_step* exponent = &p->e->program.at[p->e->program.n - 1];
    if (exponent->op != OP_NUMBER || exponent->number != 2.0) return emit(p, OP_POW, 0.0);
    --p->e->program.n;    // x^2 is by far the most common power, and x*x exact
    --p->depth;
    return emit(p, OP_SQUARE, 0.0);
}

static bool unary(parser* p)
{
    if (!enter(p)) return false;
    bool ok;
    if (take(p, "-")) ok = unary(p) && emit(p, OP_NEGATE, 0.0);
    else if (take(p, "!")) ok = unary(p) && emit(p, OP_NOT, 0.0);
    else if (take(p, "+")) ok = unary(p);
    else {
        ok = primary(p);
        if (ok && take(p, "^")) ok = unary(p) && emit_power(p);
    }
    --p->nesting;
    return ok;
}

static bool product(parser* p)
{
    if (!unary(p)) return false;
    for (;;) {
        skip_space(p);
        if (p->end - p->at > 1 && p->at[0] == '*' && p->at[1] == '*')
            return mistake(p, p->at, "'**' is not an operator", "power is written ^");
        expr_op op = take(p, "*") ? OP_MUL : take(p, "/") ? OP_DIV : OP_NUMBER;
        if (op == OP_NUMBER) return true;
        if (!unary(p) || !emit(p, op, 0.0)) return false;
    }
}

static bool sum(parser* p)
{
    if (!product(p)) return false;
    for (;;) {
        expr_op op = take(p, "+") ? OP_ADD : take(p, "-") ? OP_SUB : OP_NUMBER;
        if (op == OP_NUMBER) return true;
        if (!product(p) || !emit(p, op, 0.0)) return false;
    }
}

static expr_op take_comparison(parser* p)
{
    if (take(p, "<=")) return OP_LE;
    if (take(p, ">=")) return OP_GE;
    if (take(p, "==")) return OP_EQ;
    if (take(p, "!=")) return OP_NE;
    if (take(p, "<")) return OP_LT;
    return take(p, ">") ? OP_GT : OP_NUMBER;
}

static bool comparison(parser* p)
{
    if (!sum(p)) return false;
    expr_op op = take_comparison(p);
    if (op == OP_NUMBER) return true;
    if (!sum(p) || !emit(p, op, 0.0)) return false;
    const char* place = p->at;
    if (take_comparison(p) != OP_NUMBER)
        return mistake(p, place, "a chain of comparisons", "write 0 < x && x < 1");
    return true;
}

static bool conjunction(parser* p)
{
    if (!comparison(p)) return false;
    while (take(p, "&&"))
        if (!comparison(p) || !emit(p, OP_AND, 0.0)) return false;
    return true;
}

static bool disjunction(parser* p)
{
    if (!conjunction(p)) return false;
    while (take(p, "||"))
        if (!conjunction(p) || !emit(p, OP_OR, 0.0)) return false;
    return true;
}

static bool choice(parser* p)
{
    if (!enter(p)) return false;
    bool ok = disjunction(p);
    if (ok && take(p, "?")) {
        ok = choice(p);
        if (ok && !take(p, ":")) ok = unexpected(p, "a ':' should stand here, as in x > 0 ? 1 : 2");
        ok = ok && choice(p) && emit(p, OP_SELECT, 0.0);
    }
    --p->nesting;
    return ok;
}

static bool whole(parser* p)
{
    if (!choice(p)) return false;
    skip_space(p);
    if (p->at == p->end) return true;
    if (*p->at == '=') return unexpected(p, "equality is written ==");
    if (*p->at == ')') return unexpected(p, "it closes no bracket");
    return unexpected(p, "an operator should stand here");
}

static ty_status compile(ty_expr* e)
{
    parser p = {.e = e, .at = e->text, .end = e->text + strlen(e->text), .status = ty_ok()};
    if (p.end - p.at > TY_EXPR_MAX_LENGTH)
        return ty_fail_at(TY_BAD_INPUT, "", 0, 1,
                          "the expression has more than %d characters; split it",
                          TY_EXPR_MAX_LENGTH);
    whole(&p);
    return p.status;
}

ty_status ty_expr_create(ty_expr** e, const char* text)
{
    *e = NULL;
    ty_expr* made = ty_alloc_zero(1, sizeof *made);
    if (made) made->text = ty_strdup(text);
    if (!made || !made->text) {
        ty_expr_destroy(made);
        return ty_no_memory("an expression");
    }
    ty_status status = compile(made);
    if (status.code == TY_OK) *e = made;
    else ty_expr_destroy(made);
    return status;
}

ty_status ty_expr_create_number(ty_expr** e, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    TY_TRY(ty_expr_create(e, "0"));
    ty_free((*e)->text);
    (*e)->text = ty_strdup(text);
    (*e)->program.at[0].number = value;
    if ((*e)->text) return ty_ok();
    ty_expr_destroy(*e);
    *e = NULL;
    return ty_no_memory("an expression");
}

void ty_expr_destroy(ty_expr* e)
{
    if (!e) return;
    ty_free(e->text);
    ty_array_free(&e->program);
    ty_free(e);
}

const char* ty_expr_text(const ty_expr* e) { return e->text; }
bool ty_expr_uses_space(const ty_expr* e) { return e->uses_space; }
bool ty_expr_uses_time(const ty_expr* e) { return e->uses_time; }
bool ty_expr_is_constant(const ty_expr* e) { return !e->uses_space && !e->uses_time; }
