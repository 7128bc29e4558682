// SPDX-License-Identifier: Apache-2.0
#include "linear/solve.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "linear/cg.h"
#include "linear/pieces.h"
#include "linear/vector.h"

struct ty_linear {
    ty_linear_def def;
    const ty_csr* a;
    ty_pieces pieces;
    ty_cg cg;
    TY_ARRAY(double) inverse_diagonal;
    double setup_seconds;
};

static const char* const method_names[TY_LINEAR_N_METHODS] = {"default", "paper", "ic", "jacobi"};

const char* ty_linear_method_name(ty_linear_method method) { return method_names[method]; }

bool ty_linear_method_parse(const char* name, ty_linear_method* method)
{
    for (int m = 0; m < TY_LINEAR_N_METHODS; ++m) {
        if (strcmp(name, method_names[m]) != 0) continue;
        *method = (ty_linear_method)m;
        return true;
    }
    return false;
}

ty_linear_def ty_linear_default(void)
{
    return (ty_linear_def){.method = TY_LINEAR_DEFAULT, .tolerance = 1e-6, .max_iterations = 1000, .sweeps = 2};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ty_status ty_linear_create(ty_linear** solver, const ty_linear_def* def)
{
    *solver = ty_alloc_zero(1, sizeof **solver);
    if (!*solver) return ty_no_memory("linear solver");
    (*solver)->def = *def;
    return ty_ok();
}

void ty_linear_destroy(ty_linear* s)
{
    if (!s) return;
    ty_pieces_free(&s->pieces);
    ty_cg_free(&s->cg);
    ty_array_free(&s->inverse_diagonal);
    ty_free(s);
}

static ty_status read_diagonal(ty_linear* s)
{
    if (!ty_array_resize(&s->inverse_diagonal, s->a->n)) return ty_no_memory("diagonal");
    for (int i = 0; i < s->a->n; ++i) {
        double d = ty_csr_get(s->a, i, i);
        if (!(d >= 0.0) || !isfinite(d))
            return ty_fail(TY_BAD_INPUT, "linear solve: the diagonal of row %d is %g", i, d);
        s->inverse_diagonal.at[i] = d > 0.0 ? 1.0 / d : 0.0;
    }
    return ty_ok();
}

static ty_status set_up(ty_linear* s)
{
    double start = now();
    TY_TRY(read_diagonal(s));
    TY_TRY(ty_pieces_find(&s->pieces, s->a));
    s->setup_seconds = now() - start;
    return ty_ok();
}

ty_status ty_linear_setup(ty_linear* s, const ty_csr* a, const ty_csr* first_prolongation)
{
    (void)first_prolongation;
    s->a = NULL;
    if (a->n != a->n_cols)
        return ty_fail(TY_BAD_INPUT, "linear solve: %d rows but %d columns", a->n, a->n_cols);
    s->a = a;
    return set_up(s);
}

ty_status ty_linear_refresh(ty_linear* s) { return set_up(s); }

static void apply_jacobi(void* self, const double* r, double* z)
{
    ty_linear* s = self;
    for (int i = 0; i < s->a->n; ++i) z[i] = s->inverse_diagonal.at[i] * r[i];
}

ty_status ty_linear_solve(ty_linear* s, const double* rhs, double* x, ty_linear_stats* stats)
{
    ty_linear_stats local;
    if (!stats) stats = &local;
    *stats = (ty_linear_stats){.levels = 1, .operator_complexity = 1.0, .setup_seconds = s->setup_seconds,
                               .singular_pieces = s->pieces.n_singular, .empty_rows = s->pieces.n_empty};
    if (!ty_vector_is_finite(s->a->n, rhs) || !ty_vector_is_finite(s->a->n, x))
        return ty_fail(TY_DIVERGED, "linear solve: the right-hand side or the starting guess is not finite");
    double start = now();
    ty_preconditioner jacobi = {s, apply_jacobi};
    TY_TRY(ty_cg_solve(&s->cg, s->a, &jacobi, &s->pieces, &s->def, rhs, x, stats));
    stats->solve_seconds = now() - start;
    return ty_ok();
}
