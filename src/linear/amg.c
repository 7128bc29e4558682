// SPDX-License-Identifier: Apache-2.0
#include "linear/amg.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linear/smoothed_prolongation.h"
#include "linear/vector.h"

enum {
    ROW_BLOCK = 4096,
    SHORT_ROW = 8,        // mean entries of a row below which aggregates are wide
    DENSE_LIMIT = 600,    // a level that coarsens no further is factored up to this size
    BOTTOM_SWEEPS = 4     // pairs of sweeps on a last level that is larger
};

// Strength of level 0; halved on each coarser level, where rows are longer.
static const double THETA = 0.04;
// Nodal: small entries count there, 0.04 makes aggregates too small
static const double THETA_LONG_ROWS = 0.01;

// Change of a diagonal entry, as a part of it, up to which the coarse levels may stay: changes of
// 0.15 everywhere cost one iteration in 13.
static const double LARGEST_REFRESH = 0.2;

// A next level with more than this part of the rows is not worth its cost.
static const double SLOWEST_COARSENING = 0.8;

// Diagonal, rows that are all that is left of a singular piece, and the most neighbours of a row.
typedef struct reading {
    ty_amg_level* here;
    double* to;
} reading;

static double read_rows(void* ctx, ty_range r)
{
    reading* q = ctx;
    ty_amg_level* here = q->here;
    const ty_csr* a = here->a;
    int most = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int neighbours = 0;
        double diagonal = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            if (a->col[k] == i) diagonal = a->val[k];
            else neighbours += a->val[k] != 0.0;
        }
        q->to[i] = diagonal;
        here->singular.at[i] = neighbours == 0 && !here->tied.at[i];
        if (neighbours > most) most = neighbours;
    }
    return most;
}

// The diagonal and the aggregates are of no use once P is there, so they live where the next
// level's matrix will. Of that no more is known than that A's size will do, unless it is given.
static ty_status borrow(ty_amg* amg, const ty_amg_level* here, ty_csr* next)
{
    bool given = here == amg->level && amg->coarse;
    int64_t n = here->a->n, room = ty_csr_entries(given ? amg->coarse : here->a);
    if (room < 2 * n) room = 2 * n;
    TY_TRY(ty_csr_reserve(next, 0, 0, room > next->entry_capacity ? room : next->entry_capacity));
    amg->diagonal = next->val;
    amg->aggregates.of.at = next->col;
    amg->aggregates.scratch.at = next->col + n;
    amg->aggregates.of.capacity = amg->aggregates.scratch.capacity = n;
    return ty_ok();
}

static ty_status read_level(ty_amg* amg, ty_amg_level* here)
{
    TY_TRY(borrow(amg, here, &here[1].own));
    if (!ty_array_fresh(&here->singular, here->a->n)) return ty_no_memory("multigrid level");
    reading q = {here, amg->diagonal};
    here->most_neighbours = (int)fmax(0.0, ty_parallel_max(here->a->n, ROW_BLOCK, read_rows, &q));
    return ty_ok();
}

typedef struct ties {
    const ty_csr* a;
    const ty_csrf *p, *r;
    const unsigned char* tied;
    unsigned char *mark, *next;
} ties;

static bool is_dropped(const ties* t, int row)
{
    return t->p->start.at[row] == t->p->start.at[row + 1];
}

// A row passes a tie on when it is tied, or beside a row without a coarse part.
static void mark_ties(void* ctx, ty_range range)
{
    const ties* t = ctx;
    const ty_csr* a = t->a;
    for (int64_t i = range.begin; i < range.end; ++i) {
        unsigned char mark = t->tied[i];
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && !mark; ++k)
            mark = a->val[k] != 0.0 && is_dropped(t, a->col[k]);
        t->mark[i] = mark;
    }
}

static void pass_ties(void* ctx, ty_range range)
{
    const ties* t = ctx;
    for (int64_t i = range.begin; i < range.end; ++i) {
        unsigned char tied = 0;
        for (int k = t->r->start.at[i]; k < t->r->start.at[i + 1] && !tied; ++k)
            tied = t->mark[t->r->col.at[k]];
        t->next[i] = tied;
    }
}

// A coarse unknown is tied when a row it reaches passes a tie on.
static ty_status spread_ties(ty_amg* amg, const ty_amg_level* here, ty_amg_level* next)
{
    if (!ty_array_fresh(&next->tied, next->a->n) || !ty_array_fresh(&amg->mark, here->a->n))
        return ty_no_memory("multigrid level");
    ties t = {here->a, &amg->p, &amg->r, here->tied.at, amg->mark.at, next->tied.at};
    ty_parallel_for(here->a->n, ROW_BLOCK, mark_ties, &t);
    ty_parallel_for(next->a->n, ROW_BLOCK, pass_ties, &t);
    return ty_ok();
}

static bool has_short_rows(const ty_csr* a)
{
    return ty_csr_entries(a) < SHORT_ROW * (int64_t)a->n;
}

// P, R and the next level's matrix; *done when the next level would not be worth it.
static ty_status coarsen(ty_amg* amg, int level, const ty_csr* first, bool* done)
{
    ty_amg_level *here = &amg->level[level], *next = here + 1;
    double theta = ldexp(has_short_rows(amg->level[0].a) ? THETA : THETA_LONG_ROWS, -level);
    if (level == 0 && first) {
        if (!ty_csrf_from_csr(&amg->p, first)) return ty_no_memory("prolongation");
        if (amg->taken) ty_csr_free(amg->taken);
    } else {
        TY_TRY(
            ty_aggregate(&amg->aggregates, here->a, amg->diagonal, theta, has_short_rows(here->a)));
        *done = amg->aggregates.n == 0 || amg->aggregates.n > SLOWEST_COARSENING * here->a->n;
        if (*done) return ty_ok();
        TY_TRY(ty_smoothed_prolongation(&amg->p, &amg->r, here->a, amg->diagonal, &amg->aggregates,
                                        theta));
    }
    if (!ty_csrf_transpose(&amg->r, &amg->p)) return ty_no_memory("restriction");
    if (level == 0 && amg->coarse) {
        TY_TRY(ty_csr_copy(&next->own, amg->coarse));
        ty_csr_free(amg->coarse);
    } else TY_TRY(ty_galerkin_product(&amg->galerkin, &next->own, &amg->r, here->a, &amg->p));
    next->a = &next->own;
    return spread_ties(amg, here, next);
}

// Vectors of level 0 and of conjugate gradients live in memory that the set-up needs no more when a
// solve begins.
static ty_status lend_memory(ty_amg* amg, int n)
{
    bool ok = ty_array_fresh(&amg->p.start, (int64_t)n + 1) &&
              ty_array_fresh(&amg->p.col, 2 * (int64_t)n) &&
              ty_array_fresh(&amg->p.val, 2 * (int64_t)n) &&
              ty_array_fresh(&amg->r.col, 2 * (int64_t)n) &&
              ty_array_fresh(&amg->r.val, 2 * (int64_t)n);
    return ok ? ty_ok() : ty_no_memory("multigrid level");
}

double* ty_amg_lend(const ty_amg* amg, int k)
{
    void* memory[TY_AMG_LENT] = {amg->p.col.at, amg->p.val.at, amg->r.col.at, amg->r.val.at};
    return memory[k];
}

static ty_status reserve_vectors(ty_amg* amg)
{
    for (int l = 1; l < amg->n_levels; ++l) {
        ty_amg_level* here = &amg->level[l];
        int n = here->a->n;
        if (!ty_array_fresh(&here->own_x, n) || !ty_array_fresh(&here->own_b, n) ||
            !ty_array_fresh(&here->own_residual, n))
            return ty_no_memory("multigrid level");
        here->x = here->own_x.at;
        here->b = here->own_b.at;
        here->residual = here->own_residual.at;
    }
    ty_amg_level* finest = &amg->level[0];
    finest->x = (void*)finest[1].own.col;
    finest->b = finest->x + finest->a->n;
    finest->residual = (void*)amg->p.start.at;
    return ty_ok();
}

// The smoother keeps its order; what else colouring needs goes from level to level.
static ty_status setup_smoother(ty_amg* amg, ty_amg_level* here, bool new_values_only)
{
    ty_colouring *own = &here->smoother.colouring, *shared = &amg->colouring;
    own->rank.at = shared->rank.at, own->rank.capacity = shared->rank.capacity;
    own->clash.at = shared->clash.at, own->clash.capacity = shared->clash.capacity;
    own->scratch.at = shared->scratch.at, own->scratch.capacity = shared->scratch.capacity;
    ty_status status = new_values_only
                           ? ty_smoother_refresh(&here->smoother, here->a, amg->scale,
                                                 here->singular.at)
                           : ty_smoother_setup(&here->smoother, here->a, here->most_neighbours,
                                               amg->scale, here->singular.at);
    shared->rank.at = own->rank.at, shared->rank.capacity = own->rank.capacity;
    shared->clash.at = own->clash.at, shared->clash.capacity = own->clash.capacity;
    shared->scratch.at = own->scratch.at, shared->scratch.capacity = own->scratch.capacity;
    own->rank.at = own->scratch.at = NULL;
    own->clash.at = NULL;
    own->rank.n = own->rank.capacity = own->clash.n = own->clash.capacity = own->scratch.n =
        own->scratch.capacity = 0;
    return status;
}

static double largest_diagonal(void* ctx, ty_range r)
{
    const double* d = ctx;
    double largest = 0.0;
    for (int64_t i = r.begin; i < r.end; ++i) largest = fmax(largest, d[i]);
    return largest;
}

// A power of two that brings the largest diagonal near one: single precision has no room for SI
// units.
static double unit_scale(const ty_amg* amg)
{
    double largest = ty_parallel_max(amg->level[0].a->n, ROW_BLOCK, largest_diagonal,
                                     amg->diagonal);
    int exponent = 0;
    if (largest > 0.0) frexp(largest, &exponent);
    return ldexp(1.0, -exponent);
}

static ty_status build_levels(ty_amg* amg, const ty_csr* first)
{
    double entries = 0.0;
    amg->scale = unit_scale(amg);
    for (int level = 0;; ++level) {
        ty_amg_level* here = &amg->level[level];
        bool done = false;
        if (level > 0) TY_TRY(read_level(amg, here));
        entries += (double)ty_csr_entries(here->a);
        amg->n_levels = level + 1;
        amg->is_dense = here->a->n <= TY_AMG_COARSEST;
        if (!amg->is_dense && level + 1 < TY_AMG_MAX_LEVELS)
            TY_TRY(coarsen(amg, level, first, &done));
        else done = true;
        if (done && here->a->n <= DENSE_LIMIT) amg->is_dense = true;
        if (!done || !amg->is_dense) TY_TRY(setup_smoother(amg, here, false));
        if (!done)
            TY_TRY(ty_transfer_setup(&here->transfer, &amg->p, &amg->r, here->smoother.open.at));
        if (done) break;
    }
    TY_TRY(lend_memory(amg, amg->level[0].a->n));
    TY_TRY(reserve_vectors(amg));
    amg->operator_complexity = entries / fmax(1.0, (double)ty_csr_entries(amg->level[0].a));
    const ty_amg_level* last = &amg->level[amg->n_levels - 1];
    return amg->is_dense ? ty_dense_factor(&amg->dense, last->a, last->tied.at) : ty_ok();
}

ty_status ty_amg_setup(ty_amg* amg, const ty_csr* a, const ty_csr* first, const unsigned char* tied)
{
    amg->level[0].a = a;
    amg->n_levels = 0;
    if (!ty_array_fresh(&amg->level[0].tied, a->n)) return ty_no_memory("multigrid level");
    if (a->n) memcpy(amg->level[0].tied.at, tied, (size_t)a->n);
    TY_TRY(read_level(amg, &amg->level[0]));
    return build_levels(amg, first);
}

typedef struct comparison {
    const ty_smoother* smoother;
    const double* diagonal;
    double scale;
} comparison;

static double largest_change(void* ctx, ty_range r)
{
    const comparison* c = ctx;
    double largest = 0.0;
    for (int64_t at = r.begin; at < r.end; ++at) {
        double now = c->diagonal[c->smoother->colouring.order.at[at]] * c->scale,
               inverse = c->smoother->inverse.at[at];
        if (now > 0.0 || inverse > 0.0) largest = fmax(largest, fabs(now * inverse - 1.0));
    }
    return largest;
}

ty_status ty_amg_refresh(ty_amg* amg, const unsigned char* tied, bool* done)
{
    ty_amg_level* finest = &amg->level[0];
    int n = finest->a->n, width = finest->smoother.width;
    *done = false;
    if (amg->n_levels < 2 || memcmp(finest->tied.at, tied, (size_t)n) != 0) return ty_ok();
    ty_csr* next = &finest[1].own;
    int n_next = next->n;
    ty_status status = read_level(amg, finest);
    next->n = next->n_cols = n_next;    // its values are gone, its size is not
    TY_TRY(status);
    comparison c = {&finest->smoother, amg->diagonal, amg->scale};
    bool fits = width == 0 || finest->most_neighbours <= width;
    *done = fits && ty_parallel_max(n, ROW_BLOCK, largest_change, &c) <= LARGEST_REFRESH;
    return *done ? setup_smoother(amg, finest, true) : ty_ok();
}

// The last level. Its matrix is not scaled by the smoothers' unit, so the solution is.
static void solve_bottom(ty_amg* amg, ty_amg_level* here)
{
    if (!amg->is_dense) {
        ty_smoother_from_zero(&here->smoother, here->b, here->x);
        for (int sweep = 1; sweep < 2 * BOTTOM_SWEEPS; ++sweep)
            ty_smoother_sweep(&here->smoother, sweep >= BOTTOM_SWEEPS, here->b, here->x);
        return;
    }
    for (int i = 0; i < here->a->n; ++i) amg->dense.x.at[i] = here->b[i];
    ty_dense_solve(&amg->dense);
    for (int i = 0; i < here->a->n; ++i) here->x[i] = (float)(amg->dense.x.at[i] / amg->scale);
}

static void v_cycle(ty_amg* amg, int level)
{
    ty_amg_level *here = &amg->level[level], *next = here + 1;
    if (level == amg->n_levels - 1) {
        solve_bottom(amg, here);
        return;
    }
    ty_smoother_from_zero(&here->smoother, here->b, here->x);
    ty_smoother_residual(&here->smoother, here->b, here->x, here->residual);
    ty_transfer_restrict(&here->transfer, here->residual, next->b);
    v_cycle(amg, level + 1);
    ty_transfer_prolong(&here->transfer, next->x, here->x);
    ty_smoother_sweep(&here->smoother, true, here->b, here->x);
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
    conversion in = {.from = r, .single = finest->b, .scale = ldexp(1.0, -exponent)};
    ty_parallel_for(finest->a->n, TY_VECTOR_BLOCK, to_single, &in);
    v_cycle(amg, 0);
    conversion out = {.single = finest->x, .to = z, .scale = ldexp(amg->scale, exponent)};
    ty_parallel_for(finest->a->n, TY_VECTOR_BLOCK, to_double, &out);
}

void ty_amg_free(ty_amg* amg)
{
    for (int l = 0; l <= TY_AMG_MAX_LEVELS; ++l) {
        ty_amg_level* here = &amg->level[l];
        ty_csr_free(&here->own);
        ty_array_free(&here->tied);
        ty_array_free(&here->singular);
        ty_smoother_free(&here->smoother);
        ty_transfer_free(&here->transfer);
        ty_array_free(&here->own_x);
        ty_array_free(&here->own_b);
        ty_array_free(&here->own_residual);
    }
    amg->aggregates.of.at = amg->aggregates.scratch.at = NULL;    // they were borrowed
    ty_aggregates_free(&amg->aggregates);
    ty_array_free(&amg->mark);
    ty_colouring_free(&amg->colouring);
    ty_csrf_free(&amg->p);
    ty_csrf_free(&amg->r);
    ty_galerkin_free(&amg->galerkin);
    ty_dense_free(&amg->dense);
    amg->n_levels = 0;
}
