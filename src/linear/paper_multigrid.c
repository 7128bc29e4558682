// SPDX-License-Identifier: Apache-2.0
#include "linear/paper_multigrid.h"

#include <math.h>
#include <string.h>

#include "linear/vector.h"

enum {
    BOTTOM_SWEEPS = 50
};    // on a last level that coarsens no further and is too large to factor

// Rows for which a coarse unknown stands alone: nothing is left to factor or smooth there.
static void read_level(ty_paper_level* here)
{
    const ty_csr* a = here->a;
    for (int i = 0; i < a->n; ++i) {
        double diagonal = 0.0;
        bool has_neighbour = false;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            if (a->col[k] == i) diagonal = a->val[k];
            else has_neighbour = has_neighbour || a->val[k] != 0.0;
        }
        bool usable = diagonal > 0.0 && (has_neighbour || here->tied.at[i]);
        here->inverse.at[i] = usable ? 1.0 / diagonal : 0.0;
    }
}

static bool reserve(ty_paper_level* here, int n)
{
    return ty_array_fresh(&here->inverse, n) && ty_array_fresh(&here->x, n) &&
           ty_array_fresh(&here->b, n) && ty_array_fresh(&here->work, n) &&
           ty_array_fresh(&here->z, n);
}

static ty_status coarsen(ty_paper_multigrid* mg, ty_paper_level* here, ty_paper_level* next)
{
    TY_TRY(ty_split_prolongation(&here->splitting, here->a, &here->p));
    if (!ty_csrf_transpose(&here->r, &here->p)) return ty_no_memory("restriction");
    TY_TRY(ty_galerkin_product(&mg->galerkin, &next->own, &here->r, here->a, &here->p));
    next->a = &next->own;
    if (!ty_array_fresh(&next->tied, next->a->n)) return ty_no_memory("multigrid level");
    for (int row = 0; row < next->a->n; ++row) {
        next->tied.at[row] = 0;
        for (int k = here->r.start.at[row]; k < here->r.start.at[row + 1]; ++k)
            next->tied.at[row] |= here->tied.at[here->r.col.at[k]];
    }
    return ty_ok();
}

ty_status ty_paper_multigrid_setup(ty_paper_multigrid* mg, const ty_csr* a,
                                   const unsigned char* tied)
{
    double entries = 0.0;
    mg->n_levels = 0;
    mg->level[0].a = a;
    if (!ty_array_fresh(&mg->level[0].tied, a->n)) return ty_no_memory("multigrid level");
    if (a->n) memcpy(mg->level[0].tied.at, tied, (size_t)a->n);
    for (int l = 0; l < TY_PAPER_MAX_LEVELS; ++l) {
        ty_paper_level* here = &mg->level[l];
        mg->n_levels = l + 1;
        if (!reserve(here, here->a->n)) return ty_no_memory("multigrid level");
        read_level(here);
        entries += (double)ty_csr_entries(here->a);
        if (here->a->n <= TY_PAPER_COARSEST || l + 1 == TY_PAPER_MAX_LEVELS) break;
        TY_TRY(ty_split(&here->splitting, here->a));
        if (here->splitting.n_coarse == 0) break;
        TY_TRY(coarsen(mg, here, here + 1));
    }
    mg->operator_complexity = entries / fmax(1.0, (double)ty_csr_entries(a));
    const ty_paper_level* last = &mg->level[mg->n_levels - 1];
    mg->dense.n = 0;
    return last->a->n <= TY_PAPER_COARSEST ? ty_dense_factor(&mg->dense, last->a, last->tied.at)
                                           : ty_ok();
}

// S(A, x, b): Gauss-Seidel sweeps.
static void relax(const ty_paper_level* here, int sweeps, const double* b, double* x)
{
    const ty_csr* a = here->a;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int i = 0; i < a->n; ++i) {
            double sum = b[i];
            for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
                if (a->col[k] != i) sum -= a->val[k] * x[a->col[k]];
            x[i] = sum * here->inverse.at[i];
        }
    }
}

static void restrict_to(const ty_csrf* r, const double* fine, double* coarse)
{
    for (int i = 0; i < r->n; ++i) {
        double sum = 0.0;
        for (int k = r->start.at[i]; k < r->start.at[i + 1]; ++k)
            sum += r->val.at[k] * fine[r->col.at[k]];
        coarse[i] = sum;
    }
}

static void prolong_add(const ty_csrf* p, const double* coarse, double* fine)
{
    for (int i = 0; i < p->n; ++i)
        for (int k = p->start.at[i]; k < p->start.at[i + 1]; ++k)
            fine[i] += p->val.at[k] * coarse[p->col.at[k]];
}

// x <- A^-1 b on the last level.
static void solve_last(ty_paper_multigrid* mg, const double* b, double* x)
{
    const ty_paper_level* last = &mg->level[mg->n_levels - 1];
    if (mg->dense.n != last->a->n) {
        relax(last, BOTTOM_SWEEPS, b, x);
        return;
    }
    memcpy(mg->dense.x.at, b, (size_t)last->a->n * sizeof *b);
    ty_dense_solve(&mg->dense);
    memcpy(x, mg->dense.x.at, (size_t)last->a->n * sizeof *x);
}

static void v_cycle(ty_paper_multigrid* mg, int l, int sweeps, const double* b, double* x)
{
    ty_paper_level *here = &mg->level[l], *next = here + 1;
    if (l == mg->n_levels - 1) {
        solve_last(mg, b, x);
        return;
    }
    relax(here, sweeps, b, x);
    ty_csr_residual(here->a, x, b, here->work.at);
    restrict_to(&here->r, here->work.at, next->b.at);
    memset(next->x.at, 0, (size_t)next->a->n * sizeof(double));
    v_cycle(mg, l + 1, sweeps, next->b.at, next->x.at);
    prolong_add(&here->p, next->x.at, x);
    relax(here, sweeps, b, x);
}

// z <- FULLCYCLEMULTIGRID's correction of the residual in level[0].z; the result is level[0].x.
static void full_cycle(ty_paper_multigrid* mg, int sweeps)
{
    int last = mg->n_levels - 1;
    for (int l = 0; l < last; ++l)
        restrict_to(&mg->level[l].r, mg->level[l].z.at, mg->level[l + 1].z.at);
    memset(mg->level[last].x.at, 0, (size_t)mg->level[last].a->n * sizeof(double));
    solve_last(mg, mg->level[last].z.at, mg->level[last].x.at);
    for (int l = last - 1; l >= 0; --l) {
        ty_paper_level* here = &mg->level[l];
        memset(here->x.at, 0, (size_t)here->a->n * sizeof(double));
        prolong_add(&here->p, mg->level[l + 1].x.at, here->x.at);
        v_cycle(mg, l, sweeps, here->z.at, here->x.at);
    }
}

typedef struct run {
    ty_paper_multigrid* mg;
    ty_pieces* pieces;
    const double* rhs;
    double* x;
    double scale;
} run;

// The residual goes to level[0].z.
static double residual(run* s)
{
    ty_paper_level* finest = &s->mg->level[0];
    ty_csr_residual(finest->a, s->x, s->rhs, finest->z.at);
    ty_pieces_project(s->pieces, finest->z.at);
    return sqrt(ty_vector_dot(finest->a->n, finest->z.at, finest->z.at)) * s->scale;
}

// Full cycles until done, or until they no longer help; x is always the best so far.
static void iterate(run* s, const ty_linear_def* def, ty_linear_stats* stats)
{
    const double* z = s->mg->level[0].x.at;
    int n = s->mg->level[0].a->n;
    while (stats->last_residual > def->tolerance && stats->iterations < def->max_iterations) {
        full_cycle(s->mg, def->sweeps);
        for (int i = 0; i < n; ++i) s->x[i] += z[i];
        double now = residual(s);
        ++stats->iterations;
        if (!(now < stats->last_residual)) {
            for (int i = 0; i < n; ++i) s->x[i] -= z[i];
            return;
        }
        stats->last_residual = now;
    }
}

ty_status ty_paper_multigrid_solve(ty_paper_multigrid* mg, ty_pieces* pieces,
                                   const ty_linear_def* def, const double* rhs, double* x,
                                   ty_linear_stats* stats)
{
    ty_paper_level* finest = &mg->level[0];
    int n = finest->a->n;
    run s = {mg, pieces, rhs, x, 1.0};
    memcpy(finest->z.at, rhs, (size_t)n * sizeof *rhs);
    stats->incompatibility = ty_pieces_project(pieces, finest->z.at);
    double norm = sqrt(ty_vector_dot(n, finest->z.at, finest->z.at));
    if (norm == 0.0) ty_vector_zero(n, x);
    s.scale = norm > 0.0 ? 1.0 / norm : 1.0;
    stats->first_residual = stats->last_residual = residual(&s);
    ty_linear_def relative = *def;
    relative.tolerance = fmax(def->tolerance,
                              def->largest * s.scale);    // no entry is larger than the norm
    iterate(&s, &relative, stats);
    ty_pieces_project(pieces, x);
    stats->converged = stats->last_residual <= relative.tolerance;
    return ty_ok();
}

void ty_paper_multigrid_free(ty_paper_multigrid* mg)
{
    for (int l = 0; l < TY_PAPER_MAX_LEVELS; ++l) {
        ty_paper_level* here = &mg->level[l];
        ty_csr_free(&here->own);
        ty_splitting_free(&here->splitting);
        ty_csrf_free(&here->p);
        ty_csrf_free(&here->r);
        ty_array_free(&here->inverse);
        ty_array_free(&here->tied);
        ty_array_free(&here->x);
        ty_array_free(&here->b);
        ty_array_free(&here->work);
        ty_array_free(&here->z);
    }
    ty_galerkin_free(&mg->galerkin);
    ty_dense_free(&mg->dense);
    mg->n_levels = 0;
}
