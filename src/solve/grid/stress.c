// SPDX-License-Identifier: Apache-2.0
// Viscosity by the whole stress tensor, as a minimum [Batty2008]: of all velocities u take the one
// with the least
//
//     sum over faces  V_f (u - u*)^2  +  dt / rho  sum over samples  2 mu V_s D(u)^2
//
// Diagonal entries of D = (grad u + grad u^T) / 2 are sampled at cell centres, the others at edges:
//
//        +-----v-----+-----v-----+       cell:   D_xx = (u_right - u_left) / h
//        |           |     .     |       edge e: D_xy = ((u_above - u_below) + (v_right - v_left)) / (2 h)
//        u     p     u     p     u
//        |           |     .     |       V is the part of a face's or sample's cube that is liquid. Nothing has to be
//        +-----v-----e-----v-----+       said about the free surface: no stress goes through it by itself. Motion of a
//                                        rigid body has D = 0 and stays as it is, which is what lets honey coil.
//
// The system is symmetric and positive definite for any mu: a step is stable for any coefficient.
// Faces of solids are given; walls hold the liquid along them as much as they do not let it slip.
//
// Departs: fractions come from the distance at the middle of a cube, exact for surfaces along the
// lattice; obstacles take no part of them.
#include <string.h>

#include "core/log.h"
#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum {
    BLOCK = 512,
    MAX_ROW = 24,
    MAX_ITERATIONS = 2000,
    LIGHT = 4
};    // LIGHT: added to the axis of a face with next to no mass

// A face that moves liquid has at least this share of its cube, whatever the distance says: the
// system stays definite.
static const double LEAST_SHARE = 0.01;
// Where a velocity beside the liquid is only a guess it has next to none: it becomes whatever the
// stress makes it.
static const double BESIDE_SHARE = 1e-4;

// One sample: weight (sum of coef * u + given)^2 / 2 over at most four faces.
typedef struct sample {
    double weight, given;
    int n, row[4];
    double coef[4];
} sample;

typedef struct stress_job {
    ty_gridflow* gf;
    const ty_world_def* world;
    double k;            // dt / (rho h^2)
    double constant;     // mu
    const double* mu;    // per cell; NULL: constant
} stress_job;

static bool inside(const ty_cells* c, int axis, const int at[3])
{
    for (int d = 0; d < 3; ++d)
        if (at[d] < 1 || at[d] > c->n[d] + (d == axis)) return false;
    return true;
}

static double share(double phi, double h) { return ty_clamp(0.5 - phi / h, 0.0, 1.0); }

static bool in_domain(const ty_cells* c, int cell)
{
    int at[3];
    ty_cell_coords(c, cell, at);
    return inside(c, -1, at);
}

// The means of phi and mu over those of the given cells that are in the domain; false when none is.
static bool mean_at(const stress_job* job, int n, const int* cell, double* phi, double* mu)
{
    int met = 0;
    *phi = *mu = 0.0;
    for (int i = 0; i < n; ++i) {
        if (!in_domain(&job->gf->cells, cell[i])) continue;
        *phi += job->gf->phi[cell[i]];
        *mu += job->mu ? job->mu[cell[i]] : job->constant;
        ++met;
    }
    if (!met) return false;
    *phi /= met, *mu /= met;
    return true;
}

// Adds coef * (velocity of face f) to a sample. False when the sample does not count: air, or a
// wall that lets slip what the sample would hold (`along`: the face moves along the wall).
static bool add_face(const stress_job* job, sample* s, int axis, int f, double coef, bool along)
{
    const ty_gridflow* gf = job->gf;
    if (gf->stress_row[axis][f] >= 0) {
        s->row[s->n] = gf->stress_row[axis][f];
        s->coef[s->n++] = coef;
        return true;
    }
    if (gf->open[axis][f] > 0.0) return false;
    s->given += coef * gf->body[axis][f];
    int at[3];
    ty_cell_coords(&gf->cells, f, at);
    bool side = at[axis] == 1 ||
                at[axis] ==
                    gf->cells.n[axis] + 1;    // its own motion across; it holds nothing along
    if (along && !side) s->weight *= gf->hold[axis][f];
    return s->weight > 0.0;
}

static sample cell_sample(const stress_job* job, int axis, int cell)
{
    const ty_gridflow* gf = job->gf;
    sample s = {0};
    if (!in_domain(&gf->cells, cell)) return s;
    double mu = job->mu ? job->mu[cell] : job->constant;
    s.weight = 2.0 * job->k * mu * share(gf->phi[cell], gf->cells.h);
    if (s.weight <= 0.0) return s;
    bool ok = add_face(job, &s, axis, cell + gf->cells.stride[axis], 1.0, false) &&
              add_face(job, &s, axis, cell, -1.0, false);
    if (!ok) s.weight = 0.0;
    return s;
}

// The difference of component `a` across edge e along b. At a side of the domain the wall is in the
// middle of it.
static bool add_difference(const stress_job* job, sample* s, int a, int b, int e)
{
    const ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    int above = e, below = e - c->stride[b], at[3];
    ty_cell_coords(c, e, at);
    bool low = at[b] == 1, high = at[b] == c->n[b] + 1;
    if (!low && !high)
        return add_face(job, s, a, above, 1.0, true) && add_face(job, s, a, below, -1.0, true);
    int side = 2 * b + high;
    s->weight *= 0.5;                      // half of its cube is outside
    if (!gf->closed[side]) return true;    // it goes on outside as it is
    double x[1][3], wall[3] = {0};
    const ty_wall_def* w = &job->world->wall[side];
    ty_face_center(c, a, e, x[0]);
    x[0][b] -= 0.5 * c->h;
    if (ty_varying_eval(&w->velocity, ty_world_time(gf->world), 1, (const double(*)[3])x, wall)
            .code != TY_OK)
        return false;
    s->weight *= 1.0 - w->slip;
    s->given += (low ? -2.0 : 2.0) * wall[a];
    return s->weight > 0.0 && add_face(job, s, a, low ? above : below, low ? 2.0 : -2.0, true);
}

static sample edge_sample(const stress_job* job, int a, int b, int e)
{
    const ty_gridflow* gf = job->gf;
    const int* stride = gf->cells.stride;
    const int cell[4] = {e, e - stride[a], e - stride[b], e - stride[a] - stride[b]};
    sample s = {0};
    double phi, mu;
    if (!mean_at(job, 4, cell, &phi, &mu)) return s;
    s.weight = job->k * mu * share(phi, gf->cells.h);
    if (s.weight <= 0.0) return s;
    if (!add_difference(job, &s, a, b, e) || !add_difference(job, &s, b, a, e)) s.weight = 0.0;
    return s;
}

// Adds a sample's part to the row of face `row`.
static void add_sample(const sample* s, int row, int* n, int* col, double* val, double* rhs)
{
    double own = 0.0;
    if (s->weight <= 0.0) return;
    for (int i = 0; i < s->n; ++i)
        if (s->row[i] == row) own += s->coef[i];
    for (int i = 0; i < s->n; ++i) {
        int at = 0;
        while (at < *n && col[at] != s->row[i]) ++at;
        if (at == *n) col[at] = s->row[i], val[at] = 0.0, ++*n;
        val[at] += s->weight * own * s->coef[i];
    }
    *rhs -= s->weight * own * s->given;
}

// A face's row: its own share, two cells, four edges. Columns come out in rising order.
static int make_row(const stress_job* job, int axis, int f, int row, int* col, double* val,
                    double* rhs)
{
    const ty_gridflow* gf = job->gf;
    const int* stride = gf->cells.stride;
    const int side[2] = {f, f - stride[axis]};
    double phi, mu, own = LEAST_SHARE;
    if (mean_at(job, 2, side, &phi, &mu)) own = fmax(own, share(phi, gf->cells.h));
    if (gf->stress_face.at[2 * (int64_t)row] >= LIGHT) own = BESIDE_SHARE;
    if (!in_domain(&gf->cells, side[0]) || !in_domain(&gf->cells, side[1]))
        own *= 0.5;    // on an open side
    int n = 1;
    col[0] = row, val[0] = own, *rhs = own * gf->next[axis][f];
    for (int i = 0; i < 2; ++i) {
        sample s = cell_sample(job, axis, side[i]);
        add_sample(&s, row, &n, col, val, rhs);
    }
    for (int d = 1; d < 3; ++d)
        for (int up = 0; up < 2; ++up) {
            int b = (axis + d) % 3;
            sample s = edge_sample(job, axis, b, f + up * stride[b]);
            add_sample(&s, row, &n, col, val, rhs);
        }
    for (int i = 1; i < n; ++i)
        for (int k = i; k > 0 && col[k - 1] > col[k]; --k) {
            int c = col[k];
            double v = val[k];
            col[k] = col[k - 1], val[k] = val[k - 1];
            col[k - 1] = c, val[k - 1] = v;
        }
    return n;
}

static void fill_rows(void* ctx, ty_range r)
{
    const stress_job* job = ctx;
    ty_gridflow* gf = job->gf;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int axis = gf->stress_face.at[2 * row] % LIGHT, f = gf->stress_face.at[2 * row + 1];
        int* col = gf->matrix.col + row * MAX_ROW;
        double* val = gf->matrix.val + row * MAX_ROW;
        int n = make_row(job, axis, f, (int)row, col, val, &gf->rhs.at[row]);
        gf->matrix.row_start[row + 1] = n;
        gf->x.at[row] = gf->next[axis][f];
    }
}

// Rows stand MAX_ROW apart; brings them together.
static void close_gaps(ty_csr* m)
{
    m->row_start[0] = 0;
    for (int row = 0; row < m->n; ++row) {
        int n = m->row_start[row + 1], to = m->row_start[row];
        memmove(m->col + to, m->col + (int64_t)row * MAX_ROW, (size_t)n * sizeof *m->col);
        memmove(m->val + to, m->val + (int64_t)row * MAX_ROW, (size_t)n * sizeof *m->val);
        m->row_start[row + 1] = to + n;
    }
}

// next[] continued to a face beside the liquid, linearly (so that rigid motion stays) or else as
// the mean of the neighbours; false when there is nothing to continue.
static bool continue_to(const ty_gridflow* gf, int axis, int f, bool* linear, double* u)
{
    int n = 0, n_lines = 0;
    double sum = 0.0, lines = 0.0;
    for (int side = 0; side < 6; ++side) {
        int step = (side % 2 ? 1 : -1) * gf->cells.stride[side / 2], nb = f + step;
        if (gf->mark[axis][nb] != 1) continue;
        sum += gf->next[axis][nb], ++n;
        if (gf->mark[axis][nb + step] == 1)
            lines += 2.0 * gf->next[axis][nb] - gf->next[axis][nb + step], ++n_lines;
    }
    *linear = n_lines > 0;
    *u = n_lines ? lines / n_lines : n ? sum / n : 0.0;
    return n > 0;
}

// Unknowns: the liquid's faces, and open ones beside them whose cube reaches into the liquid, with
// continued velocities. In the order of the lattice: neighbours stay together.
static ty_status list_unknowns(ty_gridflow* gf)
{
    const ty_cells* c = &gf->cells;
    double reach = 0.5 * c->h;
    gf->stress_face.n = 0;
    for (int axis = 0; axis < 3; ++axis)
        memset(gf->stress_row[axis], 0xff, sizeof(int) * (size_t)c->count);    // -1
    for (int k = gf->lo[2]; k <= gf->hi[2] && k <= c->n[2] + 1; ++k)
        for (int j = gf->lo[1]; j <= gf->hi[1] && j <= c->n[1] + 1; ++j)
            for (int i = gf->lo[0]; i <= gf->hi[0] && i <= c->n[0] + 1; ++i)
                for (int axis = 0; axis < 3; ++axis) {
                    int f = ty_cell_index(c, i, j, k), at[3] = {i, j, k},
                        back = f - c->stride[axis];
                    if (!inside(c, axis, at)) continue;
                    bool linear = true;
                    if (gf->mark[axis][f] != 1) {
                        bool near = at[axis] > 1 && at[axis] <= c->n[axis] &&
                                    0.5 * (gf->phi[f] + gf->phi[back]) < reach;
                        if (!near || gf->open[axis][f] <= 0.0 ||
                            !continue_to(gf, axis, f, &linear, &gf->next[axis][f]))
                            continue;
                    }
                    gf->stress_row[axis][f] = (int)(gf->stress_face.n / 2);
                    if (!ty_array_push(&gf->stress_face, linear ? axis : axis + LIGHT) ||
                        !ty_array_push(&gf->stress_face, f))
                        return ty_no_memory("viscosity");
                }
    return ty_ok();
}

static ty_status sample_mu(ty_gridflow* gf)
{
    const ty_cells* c = &gf->cells;
    if (!ty_array_resize(&gf->scratch, c->count)) return ty_no_memory("viscosity");
    for (int begin = 0; begin < c->count; begin += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3], *mu = gf->scratch.at + begin;
        int n = c->count - begin < TY_SAMPLE_BATCH ? c->count - begin : TY_SAMPLE_BATCH;
        for (int i = 0; i < n; ++i) ty_cell_center(c, begin + i, x[i]);
        TY_TRY(ty_varying_eval(&gf->def->viscosity, ty_world_time(gf->world), n,
                               (const double(*)[3])x, mu));
        for (int i = 0; i < n; ++i) mu[i] = fmax(mu[i], 0.0);
    }
    return ty_ok();
}

static ty_status reserve(ty_gridflow* gf)
{
    if (gf->viscous) return ty_ok();
    ty_linear_def def = ty_linear_default();
    def.method = TY_LINEAR_IC;
    def.tolerance = gf->def->tolerance;
    def.max_iterations = MAX_ITERATIONS;
    for (int axis = 0; axis < 3; ++axis) {
        if (!gf->hold[axis])
            gf->hold[axis] = ty_alloc_zero((size_t)gf->cells.count, sizeof(double));
        if (!gf->stress_row[axis])
            gf->stress_row[axis] = ty_alloc((size_t)gf->cells.count, sizeof(int));
        if (!gf->hold[axis] || !gf->stress_row[axis]) return ty_no_memory("viscosity");
    }
    return ty_linear_create(&gf->viscous, &def);
}

static ty_status solve(stress_job* job, ty_solve_stats* stats)
{
    ty_gridflow* gf = job->gf;
    int64_t n = gf->stress_face.n / 2;
    TY_TRY(ty_csr_reserve(&gf->matrix, (int)n, (int)n, n * MAX_ROW));
    if (!ty_array_resize(&gf->rhs, n) || !ty_array_resize(&gf->x, n))
        return ty_no_memory("viscosity");
    ty_parallel_for(n, BLOCK, fill_rows, job);
    close_gaps(&gf->matrix);
    ty_linear_stats linear;
    TY_TRY(ty_linear_setup(gf->viscous, &gf->matrix, NULL));
    TY_TRY(ty_linear_solve(gf->viscous, gf->rhs.at, gf->x.at, &linear));
    stats->iterations += linear.iterations;
    if (!linear.converged)
        ty_log(TY_LOG_WARNING, "viscosity: residual %.1e after %d iterations", linear.last_residual,
               linear.iterations);
    for (int64_t row = 0; row < n; ++row) {
        int axis = gf->stress_face.at[2 * row] % LIGHT, f = gf->stress_face.at[2 * row + 1];
        gf->next[axis][f] = gf->x.at[row];
    }
    return ty_ok();
}

ty_status ty_gridflow_stress(ty_gridflow* gf, double dt, ty_solve_stats* stats)
{
    const ty_varying* mu = &gf->def->viscosity;
    bool constant = ty_varying_is_constant(mu);
    if (constant && mu->constant[0] <= 0.0) return ty_ok();
    TY_TRY(reserve(gf));
    ty_gridflow_keep_holds(gf);
    TY_TRY(list_unknowns(gf));
    if (gf->stress_face.n == 0) return ty_ok();
    if (!constant) TY_TRY(sample_mu(gf));
    stress_job job = {.gf = gf,
                      .world = ty_world_get_def(gf->world),
                      .k = dt / (gf->def->density * gf->cells.h * gf->cells.h),
                      .constant = mu->constant[0],
                      .mu = constant ? NULL : gf->scratch.at};
    return solve(&job, stats);
}
