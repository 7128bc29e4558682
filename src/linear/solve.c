// SPDX-License-Identifier: Apache-2.0
#include "linear/solve.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "linear/amg.h"
#include "linear/cell_multigrid.h"
#include "linear/cg.h"
#include "linear/incomplete_cholesky.h"
#include "linear/paper_multigrid.h"
#include "linear/pieces.h"
#include "linear/separate.h"
#include "linear/vector.h"

// When TY_LINEAR_DEFAULT uses IC, see solve.h. Set-up and solve of the multigrid take as long as 70
// iterations with IC.
enum { IC_LARGEST = 200000, IC_ROW = 8, IC_TRIAL = 60, IC_AGAIN = 3 };
// With the multigrid of cells 6 to 10 iterations are usual; walls inside of coarse cells make it more.
enum { CELLS_TRIAL = 40 };

struct ty_linear {
    ty_linear_def def;
    bool gave_up, uses_ic;    // TY_LINEAR_DEFAULT: IC took too long; IC is in use
    bool uses_cells;          // TY_LINEAR_DEFAULT: the multigrid of cells is in use
    const ty_csr* a;
    ty_pieces pieces;
    ty_cg cg;
    ty_amg amg;
    ty_cell_multigrid cells;
    ty_paper_multigrid paper;
    ty_ic ic;
    TY_ARRAY(double) inverse_diagonal;    // jacobi only
    const ty_csr* first;                  // prolongation as given
    ty_csr* taken;                        // the same where it is to be freed, or NULL
    ty_csr* coarse;                       // the first coarse matrix, to be freed; or NULL
    ty_separation separation;
    double setup_seconds;
};

static const char* const method_names[TY_LINEAR_N_METHODS] = {"default", "multigrid", "paper", "ic",
                                                              "jacobi"};

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
    return (ty_linear_def){
        .method = TY_LINEAR_DEFAULT, .tolerance = 1e-6, .max_iterations = 1000, .sweeps = 2};
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

void ty_linear_rest(ty_linear* s)
{
    s->a = s->first = NULL;
    ty_pieces_free(&s->pieces);
    ty_cg_free(&s->cg);
    ty_amg_free(&s->amg);
    ty_cell_multigrid_free(&s->cells);
    ty_paper_multigrid_free(&s->paper);
    ty_ic_free(&s->ic);
    ty_separation_free(&s->separation);
    ty_array_free(&s->inverse_diagonal);
}

void ty_linear_destroy(ty_linear* s)
{
    if (!s) return;
    ty_linear_rest(s);
    ty_free(s);
}

static double bad_diagonal_block(void* ctx, ty_range r)
{
    const ty_csr* a = ctx;
    double bad = -1.0;
    for (int64_t i = r.begin; i < r.end; ++i)
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
            if (a->col[k] == i && !(a->val[k] >= 0.0 && isfinite(a->val[k]))) bad = (double)i;
    return bad;
}

static ty_status check_matrix(const ty_csr* a)
{
    if (a->n != a->n_cols)
        return ty_fail(TY_BAD_INPUT, "linear solve: %d rows but %d columns", a->n, a->n_cols);
    int bad = (int)ty_parallel_max(a->n, TY_VECTOR_BLOCK, bad_diagonal_block, (void*)a);
    if (a->n > 0 && bad >= 0)
        return ty_fail(TY_BAD_INPUT, "linear solve: the diagonal of row %d is %g", bad,
                       ty_csr_get(a, bad, bad));
    return ty_ok();
}

static ty_status setup_jacobi(ty_linear* s)
{
    s->inverse_diagonal.n = 0;
    if (!ty_array_resize(&s->inverse_diagonal, s->a->n)) return ty_no_memory("diagonal");
    for (int i = 0; i < s->a->n; ++i) {
        double d = ty_csr_get(s->a, i, i);
        s->inverse_diagonal.at[i] = d > 0.0 ? 1.0 / d : 0.0;
    }
    return ty_ok();
}

static ty_status setup_multigrid(ty_linear* s)
{
    const ty_csr* first = s->first;
    if (first && s->pieces.n_pieces > 1)
        TY_TRY(ty_separate(&s->separation, first, s->pieces.label.at, &first));
    if (s->taken && first != s->taken) ty_csr_free(s->taken);
    s->amg.taken = !s->taken ? NULL : first == s->taken ? s->taken : &s->separation.p;
    s->amg.coarse = first == s->taken ? s->coarse : NULL;    // not of separated pieces
    ty_status status = ty_amg_setup(&s->amg, s->a, first, s->pieces.tied.at);
    if (s->taken) s->first = s->taken = s->amg.taken = NULL;
    s->amg.coarse = NULL;
    return status;
}

// The method in use.
static ty_linear_method method_of(const ty_linear* s)
{
    if (s->def.method != TY_LINEAR_DEFAULT) return s->def.method;
    return s->uses_ic ? TY_LINEAR_IC : TY_LINEAR_MULTIGRID;
}

static bool suits_ic(const ty_linear* s)
{
    return !s->gave_up && !s->first && s->a->n <= IC_LARGEST &&
           ty_csr_entries(s->a) >= IC_ROW * (int64_t)s->a->n;
}

static ty_status setup_method(ty_linear* s)
{
    s->uses_ic = suits_ic(s);
    switch (method_of(s)) {
    case TY_LINEAR_PAPER: return ty_paper_multigrid_setup(&s->paper, s->a, s->pieces.tied.at);
    case TY_LINEAR_IC: return ty_ic_setup(&s->ic, s->a);
    case TY_LINEAR_JACOBI: return setup_jacobi(s);
    default: return setup_multigrid(s);
    }
}

ty_status ty_linear_setup(ty_linear* s, const ty_csr* a, const ty_csr* first_prolongation)
{
    double start = now();
    s->a = NULL;
    TY_TRY(check_matrix(a));
    if (first_prolongation && first_prolongation->n != a->n)
        return ty_fail(TY_BAD_INPUT, "linear solve: the prolongation has %d rows for %d unknowns",
                       first_prolongation->n, a->n);
    s->a = a;
    s->first = first_prolongation;
    s->uses_cells = false;
    ty_status status = ty_pieces_find(&s->pieces, a);
    if (status.code == TY_OK) status = setup_method(s);
    if (status.code != TY_OK) s->a = NULL;
    s->setup_seconds = now() - start;
    return status;
}

ty_status ty_linear_setup_cells(ty_linear* s, const ty_csr* a, const int* cell, const int size[3])
{
    if (s->def.method != TY_LINEAR_DEFAULT) return ty_linear_setup(s, a, NULL);
    double start = now();
    s->a = NULL;
    s->first = NULL;
    TY_TRY(check_matrix(a));
    TY_TRY(ty_pieces_find(&s->pieces, a));
    TY_TRY(ty_cell_multigrid_setup(&s->cells, a, cell, size));
    s->uses_ic = false;
    s->uses_cells = true;
    s->a = a;
    s->setup_seconds = now() - start;
    return ty_ok();
}

ty_status ty_linear_setup_taking(ty_linear* s, const ty_csr* a, ty_csr* first_prolongation,
                                 ty_csr* coarse)
{
    s->taken = first_prolongation;
    s->coarse = coarse;
    ty_status status = ty_linear_setup(s, a, first_prolongation);
    if (coarse) ty_csr_free(coarse);
    s->taken = s->coarse = NULL;
    return status;
}

ty_status ty_linear_refresh(ty_linear* s)
{
    double start = now();
    bool done = false;
    if (!s->a) return ty_fail(TY_BAD_INPUT, "linear solve: no matrix was set up");
    if (method_of(s) == TY_LINEAR_MULTIGRID) {
        ty_status status = check_matrix(s->a);
        if (status.code == TY_OK) status = ty_pieces_find(&s->pieces, s->a);
        if (status.code == TY_OK) status = ty_amg_refresh(&s->amg, s->pieces.tied.at, &done);
        if (status.code != TY_OK) s->a = NULL;
        TY_TRY(status);
    }
    if (!done) return ty_linear_setup(s, s->a, s->first);
    s->setup_seconds = now() - start;
    return ty_ok();
}

static void apply_jacobi(void* self, const double* r, double norm, double* z)
{
    (void)norm;
    ty_linear* s = self;
    for (int i = 0; i < s->a->n; ++i) z[i] = s->inverse_diagonal.at[i] * r[i];
}

static ty_status run_method(ty_linear* s, const ty_linear_def* def, const double* rhs, double* x,
                            ty_linear_stats* stats)
{
    bool amg = method_of(s) == TY_LINEAR_MULTIGRID && !s->uses_cells;
    ty_preconditioner m = {&s->amg, ty_amg_apply};
    for (int k = 0; k < TY_CG_VECTORS; ++k) s->cg.lent[k] = amg ? ty_amg_lend(&s->amg, k) : NULL;
    if (s->def.method == TY_LINEAR_JACOBI) m = (ty_preconditioner){s, apply_jacobi};
    if (method_of(s) == TY_LINEAR_IC) m = (ty_preconditioner){&s->ic, ty_ic_apply};
    if (s->uses_cells) {
        m = (ty_preconditioner){&s->cells, ty_cell_multigrid_apply};
        stats->levels = s->cells.n_levels;
    } else if (amg) {
        stats->levels = s->amg.n_levels;
        stats->operator_complexity = s->amg.operator_complexity;
    }
    if (s->def.method == TY_LINEAR_PAPER) {
        stats->levels = s->paper.n_levels;
        stats->operator_complexity = s->paper.operator_complexity;
        return ty_paper_multigrid_solve(&s->paper, &s->pieces, def, rhs, x, stats);
    }
    return ty_cg_solve(&s->cg, s->a, &m, &s->pieces, def, rhs, x, stats);
}

static ty_status run_default(ty_linear* s, const ty_linear_def* def, const double* rhs, double* x,
                             ty_linear_stats* stats)
{
    ty_linear_def part = *def;
    int trial_length = s->uses_ic ? IC_TRIAL : s->uses_cells ? CELLS_TRIAL : def->max_iterations;
    if (part.max_iterations > trial_length) part.max_iterations = trial_length;
    TY_TRY(run_method(s, &part, rhs, x, stats));
    if (!s->uses_ic)
        s->gave_up = s->gave_up && !(stats->converged && stats->iterations <= IC_AGAIN);
    if (stats->converged || def->max_iterations <= trial_length) return ty_ok();
    s->gave_up = s->gave_up || s->uses_ic;
    s->uses_ic = s->uses_cells = false;
    TY_TRY(setup_multigrid(s));
    ty_linear_stats trial = *stats;
    part.max_iterations = def->max_iterations - trial.iterations;
    TY_TRY(run_method(s, &part, rhs, x, stats));
    stats->iterations += trial.iterations;
    stats->first_residual = trial.first_residual;
    return ty_ok();
}

ty_status ty_linear_solve(ty_linear* s, const double* rhs, double* x, ty_linear_stats* stats)
{
    return ty_linear_solve_to(s, s->def.largest, rhs, x, stats);
}

ty_status ty_linear_solve_to(ty_linear* s, double largest, const double* rhs, double* x,
                             ty_linear_stats* stats)
{
    ty_linear_def def = s->def;
    def.largest = largest;
    ty_linear_stats local;
    if (!stats) stats = &local;
    *stats = (ty_linear_stats){.levels = 1, .operator_complexity = 1.0};
    if (!s->a) return ty_fail(TY_BAD_INPUT, "linear solve: no matrix was set up");
    stats->setup_seconds = s->setup_seconds;
    stats->singular_pieces = s->pieces.n_singular;
    stats->empty_rows = s->pieces.n_empty;
    if (!ty_vector_is_finite(s->a->n, rhs) || !ty_vector_is_finite(s->a->n, x))
        return ty_fail(TY_DIVERGED,
                       "linear solve: the right-hand side or the starting guess is not finite");
    if (s->a->n == 0) {
        stats->converged = true;
        return ty_ok();
    }
    double start = now();
    TY_TRY(s->def.method == TY_LINEAR_DEFAULT ? run_default(s, &def, rhs, x, stats)
                                              : run_method(s, &def, rhs, x, stats));
    stats->solve_seconds = now() - start;
    return ty_ok();
}
