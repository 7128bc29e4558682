// SPDX-License-Identifier: Apache-2.0
#include "linear/cg.h"

#include <math.h>
#include <string.h>

#include "linear/vector.h"

enum {
    SAFE_ITERATIONS = 60,    // from here on a solve is in trouble: every better x is kept aside
    FEW_ITERATIONS = 120,    // where no more are allowed, from the first on
    MAX_RESTARTS = 5         // times that the true residual may contradict the recursive one
};

void ty_cg_free(ty_cg* cg)
{
    for (int k = 0; k < TY_CG_VECTORS; ++k) ty_array_free(&cg->own[k]);
}

typedef struct run {
    ty_cg* cg;
    const ty_csr* a;
    const ty_preconditioner* m;
    ty_pieces* pieces;
    const double* rhs;
    double* x;
    double scale;             // 1 / |b|
    double goal, residual;    // relative
    double largest;           // entry of the residual that is small enough, in the unit of b
    double best;              // residual of cg->best
    int iterations, max_iterations, keep_from;
} run;

typedef struct product {
    const ty_csr* a;
    const double* p;
    double* q;
} product;

static double apply_dot_block(void* ctx, ty_range r)
{
    product* t = ctx;
    const int *start = t->a->row_start, *col = t->a->col;
    const double *val = t->a->val, *p = t->p;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double sum = 0.0;
        for (int k = start[i]; k < start[i + 1]; ++k) sum += val[k] * p[col[k]];
        t->q[i] = sum;
    }
    return ty_vector_dot_block(p + r.begin, t->q + r.begin, r.end - r.begin);
}

// q = A p, returns p . q.
static double apply_dot(const ty_csr* a, const double* p, double* q)
{
    product t = {a, p, q};
    return ty_parallel_sum(a->n, TY_VECTOR_BLOCK, apply_dot_block, &t);
}

static ty_status reserve(ty_cg* cg, int n)
{
    double** vector[TY_CG_VECTORS] = {&cg->r, &cg->z, &cg->p, &cg->best};
    for (int k = 0; k < TY_CG_VECTORS; ++k) {
        if (!cg->lent[k] && !ty_array_resize(&cg->own[k], n))
            return ty_no_memory("conjugate gradients");
        *vector[k] = cg->lent[k] ? cg->lent[k] : cg->own[k].at;
    }
    return ty_ok();
}

// r = b - A x, of which the part along null vectors is removed.
static double true_residual(run* s)
{
    ty_csr_residual(s->a, s->x, s->rhs, s->cg->r);
    ty_pieces_project(s->pieces, s->cg->r);
    return sqrt(ty_vector_dot(s->a->n, s->cg->r, s->cg->r)) * s->scale;
}

// Whether the residual in cg->r is small enough. Its largest entry is only looked at where it may be.
static bool is_enough(const run* s)
{
    if (s->residual <= s->goal) return true;
    int n = s->a->n;
    return s->residual <= sqrt(n) * s->largest * s->scale &&
           ty_vector_largest(n, s->cg->r) <= s->largest;
}

static void keep(run* s)
{
    memcpy(s->cg->best, s->x, (size_t)s->a->n * sizeof *s->x);
    s->best = s->residual;
}

// Iterates until the recursive residual is small enough, or no more progress is possible.
static void iterate(run* s)
{
    int n = s->a->n;
    double *r = s->cg->r, *z = s->cg->z, *p = s->cg->p, *q = z;
    double rz_old = 0.0;
    while (!is_enough(s) && s->iterations < s->max_iterations) {
        s->m->apply(s->m->self, r, s->residual / s->scale, z);
        ty_pieces_project(s->pieces, z);
        double rz = ty_vector_dot(n, r, z);
        if (!(rz > 0.0) || !isfinite(rz)) break;
        ty_vector_xpsy(n, z, rz_old > 0.0 ? rz / rz_old : 0.0, p);
        double pq = apply_dot(s->a, p, q);
        if (!(pq > 0.0) || !isfinite(pq)) break;
        s->residual = sqrt(ty_vector_step(n, rz / pq, p, q, s->x, r)) * s->scale;
        rz_old = rz;
        ++s->iterations;
        if (s->iterations >= s->keep_from && s->residual < s->best) keep(s);
    }
}

static void finish(run* s, ty_linear_stats* stats)
{
    if (!(s->residual <= s->best)) {    // also when it is not a number
        memcpy(s->x, s->cg->best, (size_t)s->a->n * sizeof *s->x);
        s->residual = true_residual(s);
    }
    ty_pieces_project(s->pieces, s->x);
    stats->iterations = s->iterations;
    stats->last_residual = s->residual;
    stats->converged = is_enough(s);
}

ty_status ty_cg_solve(ty_cg* cg, const ty_csr* a, const ty_preconditioner* m, ty_pieces* pieces,
                      const ty_linear_def* def, const double* rhs, double* x,
                      ty_linear_stats* stats)
{
    TY_TRY(reserve(cg, a->n));
    run s = {.cg = cg,
             .a = a,
             .m = m,
             .pieces = pieces,
             .rhs = rhs,
             .x = x,
             .goal = def->tolerance,
             .largest = def->largest,
             .max_iterations = def->max_iterations};
    memcpy(cg->r, rhs, (size_t)a->n * sizeof *rhs);
    stats->incompatibility = ty_pieces_project(pieces, cg->r);
    double norm = sqrt(ty_vector_dot(a->n, cg->r, cg->r));
    if (norm == 0.0) ty_vector_zero(a->n, x);    // the solution, whatever the guess
    s.scale = norm > 0.0 ? 1.0 / norm : 1.0;
    s.keep_from = def->max_iterations < FEW_ITERATIONS ? 0 : SAFE_ITERATIONS;
    stats->first_residual = s.residual = true_residual(&s);
    keep(&s);
    for (int restart = 0; !is_enough(&s) && restart <= MAX_RESTARTS; ++restart) {
        double before = s.residual;
        ty_vector_zero(a->n, cg->p);
        iterate(&s);
        s.residual = true_residual(&s);
        if (s.iterations >= s.max_iterations || !(s.residual < 0.5 * before)) break;
    }
    finish(&s, stats);
    return ty_ok();
}
