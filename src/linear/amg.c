// SPDX-License-Identifier: Apache-2.0
#include "linear/amg.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linear/smoothed_prolongation.h"
#include "linear/vector.h"

enum {
    ROW_BLOCK = 4096,
    SHORT_ROW = 8,           // mean entries of a row below which aggregates are wide
    DENSE_LIMIT = 600,       // a level that coarsens no further is factored up to this size
    BOTTOM_SWEEPS = 4        // pairs of sweeps on a last level that is larger
};

// Strength of level 0; halved on each coarser level, where rows are longer.
static const double THETA = 0.04;

// A next level with more than this part of the rows is not worth its cost.
static const double SLOWEST_COARSENING = 0.8;

// Diagonal, rows that are all that is left of a singular piece, and the most neighbours of a row.
static double read_rows(void* ctx, ty_range r)
{
    ty_amg_level* here = ctx;
    const ty_csr* a = here->a;
    int most = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int neighbours = 0;
        double diagonal = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            if (a->col[k] == i)
                diagonal = a->val[k];
            else
                neighbours += a->val[k] != 0.0;
        }
        here->diagonal.at[i] = diagonal;
        here->singular.at[i] = neighbours == 0 && !here->tied.at[i];
        if (neighbours > most) most = neighbours;
    }
    return most;
}

static ty_status read_level(ty_amg_level* here)
{
    if (!ty_array_fresh(&here->diagonal, here->a->n) || !ty_array_fresh(&here->singular, here->a->n))
        return ty_no_memory("multigrid level");
    here->most_neighbours = (int)fmax(0.0, ty_parallel_max(here->a->n, ROW_BLOCK, read_rows, here));
    return ty_ok();
}

// A coarse unknown is tied when a row it reaches is, or a row beside one that has no coarse part.
static void spread_ties(const ty_csrf* p, const ty_amg_level* here, ty_amg_level* next)
{
    const ty_csr* a = here->a;
    const int *start = p->start.at, *col = p->col.at;
    memset(next->tied.at, 0, (size_t)next->a->n);
    for (int i = 0; i < a->n; ++i) {
        bool is_dropped = start[i] == start[i + 1];
        if (here->tied.at[i])
            for (int t = start[i]; t < start[i + 1]; ++t) next->tied.at[col[t]] = 1;
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && is_dropped; ++k)
            for (int t = start[a->col[k]]; t < start[a->col[k] + 1] && a->val[k] != 0.0; ++t) next->tied.at[col[t]] = 1;
    }
}

static bool has_short_rows(const ty_csr* a) { return ty_csr_entries(a) < SHORT_ROW * (int64_t)a->n; }

// P, R and the next level's matrix; *done when the next level would not be worth it.
static ty_status coarsen(ty_amg* amg, int level, const ty_csr* first, bool* done)
{
    ty_amg_level *here = &amg->level[level], *next = here + 1;
    double theta = ldexp(THETA, -level);
    if (level == 0 && first) {
        if (!ty_csrf_from_csr(&amg->p, first)) return ty_no_memory("prolongation");
    } else {
        TY_TRY(ty_aggregate(&amg->aggregates, here->a, here->diagonal.at, theta, has_short_rows(here->a)));
        *done = amg->aggregates.n == 0 || amg->aggregates.n > SLOWEST_COARSENING * here->a->n;
        if (*done) return ty_ok();
        TY_TRY(ty_smoothed_prolongation(&amg->p, here->a, here->diagonal.at, &amg->aggregates, theta));
    }
    if (!ty_csrf_transpose(&amg->r, &amg->p)) return ty_no_memory("restriction");
    TY_TRY(ty_galerkin_product(&amg->galerkin, &next->own, &amg->r, here->a, &amg->p));
    next->a = &next->own;
    if (!ty_array_fresh(&next->tied, next->a->n)) return ty_no_memory("multigrid level");
    spread_ties(&amg->p, here, next);
    return ty_ok();
}

static ty_status reserve_vectors(ty_amg_level* here)
{
    int n = here->a->n;
    if (!ty_array_fresh(&here->x, n) || !ty_array_fresh(&here->b, n) || !ty_array_fresh(&here->residual, n))
        return ty_no_memory("multigrid level");
    return ty_ok();
}

static double largest_diagonal(void* ctx, ty_range r)
{
    const double* d = ctx;
    double largest = 0.0;
    for (int64_t i = r.begin; i < r.end; ++i) largest = fmax(largest, d[i]);
    return largest;
}

// A power of two that brings the largest diagonal near one: single precision has no room for SI units.
static double unit_scale(const ty_amg_level* finest)
{
    double largest = ty_parallel_max(finest->a->n, ROW_BLOCK, largest_diagonal, finest->diagonal.at);
    int exponent = 0;
    if (largest > 0.0) frexp(largest, &exponent);
    return ldexp(1.0, -exponent);
}

static ty_status build_levels(ty_amg* amg, const ty_csr* first)
{
    double scale = amg->scale = unit_scale(&amg->level[0]), entries = 0.0;
    for (int level = 0;; ++level) {
        ty_amg_level* here = &amg->level[level];
        bool done = false;
        if (level > 0) TY_TRY(read_level(here));
        TY_TRY(reserve_vectors(here));
        entries += (double)ty_csr_entries(here->a);
        amg->n_levels = level + 1;
        amg->is_dense = here->a->n <= TY_AMG_COARSEST;
        if (!amg->is_dense && level + 1 < TY_AMG_MAX_LEVELS) TY_TRY(coarsen(amg, level, first, &done));
        else done = true;
        if (done && here->a->n <= DENSE_LIMIT) amg->is_dense = true;
        if (!done || !amg->is_dense)
            TY_TRY(ty_smoother_setup(&here->smoother, here->a, here->most_neighbours, scale, here->singular.at));
        if (!done) TY_TRY(ty_transfer_setup(&here->transfer, &amg->p, &amg->r, here->smoother.open.at));
        if (done) break;
    }
    amg->operator_complexity = entries / fmax(1.0, (double)ty_csr_entries(amg->level[0].a));
    const ty_amg_level* last = &amg->level[amg->n_levels - 1];
    return amg->is_dense ? ty_dense_factor(&amg->dense, last->a, last->tied.at) : ty_ok();
}

ty_status ty_amg_setup(ty_amg* amg, const ty_csr* a, const ty_csr* first, const unsigned char* tied)
{
    amg->level[0].a = a;
    amg->n_levels = 0;
    if (!ty_array_fresh(&amg->level[0].tied, a->n)) return ty_no_memory("multigrid level");
    memcpy(amg->level[0].tied.at, tied, (size_t)a->n);
    TY_TRY(read_level(&amg->level[0]));
    return build_levels(amg, first);
}

// The last level. Its matrix is not scaled by the smoothers' unit, so the solution is.
static void solve_bottom(ty_amg* amg, ty_amg_level* here)
{
    if (!amg->is_dense) {
        ty_smoother_from_zero(&here->smoother, here->b.at, here->x.at);
        for (int sweep = 1; sweep < 2 * BOTTOM_SWEEPS; ++sweep)
            ty_smoother_sweep(&here->smoother, sweep >= BOTTOM_SWEEPS, here->b.at, here->x.at);
        return;
    }
    for (int i = 0; i < here->a->n; ++i) amg->dense.x.at[i] = here->b.at[i];
    ty_dense_solve(&amg->dense);
    for (int i = 0; i < here->a->n; ++i) here->x.at[i] = (float)(amg->dense.x.at[i] / amg->scale);
}

static void v_cycle(ty_amg* amg, int level)
{
    ty_amg_level *here = &amg->level[level], *next = here + 1;
    if (level == amg->n_levels - 1) {
        solve_bottom(amg, here);
        return;
    }
    ty_smoother_from_zero(&here->smoother, here->b.at, here->x.at);
    ty_smoother_residual(&here->smoother, here->b.at, here->x.at, here->residual.at);
    ty_transfer_restrict(&here->transfer, here->residual.at, next->b.at);
    v_cycle(amg, level + 1);
    ty_transfer_prolong(&here->transfer, next->x.at, here->x.at);
    ty_smoother_sweep(&here->smoother, true, here->b.at, here->x.at);
}

typedef struct conversion {
    const double* from;
    double* to;
    float* single;
    double scale;
} conversion;

static void to_single(void* ctx, ty_range r)
{
    conversion* c = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) c->single[i] = (float)(c->from[i] * c->scale);
}

static void to_double(void* ctx, ty_range r)
{
    conversion* c = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) c->to[i] = (double)c->single[i] * c->scale;
}

void ty_amg_apply(void* self, const double* r, double norm, double* z)
{
    ty_amg* amg = self;
    ty_amg_level* finest = &amg->level[0];
    int exponent = 0;
    if (norm > 0.0) frexp(norm / sqrt(finest->a->n + 1.0), &exponent);
    conversion in = {.from = r, .single = finest->b.at, .scale = ldexp(1.0, -exponent)};
    ty_parallel_for(finest->a->n, TY_VECTOR_BLOCK, to_single, &in);
    v_cycle(amg, 0);
    conversion out = {.single = finest->x.at, .to = z, .scale = ldexp(amg->scale, exponent)};
    ty_parallel_for(finest->a->n, TY_VECTOR_BLOCK, to_double, &out);
}

void ty_amg_free(ty_amg* amg)
{
    for (int l = 0; l < TY_AMG_MAX_LEVELS; ++l) {
        ty_amg_level* here = &amg->level[l];
        ty_csr_free(&here->own);
        ty_array_free(&here->diagonal);
        ty_array_free(&here->tied);
        ty_array_free(&here->singular);
        ty_smoother_free(&here->smoother);
        ty_transfer_free(&here->transfer);
        ty_array_free(&here->x);
        ty_array_free(&here->b);
        ty_array_free(&here->residual);
    }
    ty_aggregates_free(&amg->aggregates);
    ty_csrf_free(&amg->p);
    ty_csrf_free(&amg->r);
    ty_galerkin_free(&amg->galerkin);
    ty_dense_free(&amg->dense);
    amg->n_levels = 0;
}
