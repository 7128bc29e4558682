// SPDX-License-Identifier: Apache-2.0
// The pressure projection: finite volumes with open face fractions [Batty2007], the free surface
// between centres by the ghost fluid method [Enright2003], gravity as a boundary value (reduced
// pressure).
//
// Unknown x = solve_dt / (rho h) p' in m/s, so the matrix holds face fractions only. Liquid cell i:
//     sum_f w_f (x_i - x_j)/theta_f = - sum_f s_f (w_f u_f + (1 - w_f) u_body) + wanted divergence
// with theta = 1 and x_j unknown where the neighbour is liquid, and with x_j = given at the surface
// where it is air.
#include <string.h>

#include "core/log.h"
#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 1024, ROWS = 32, RELAXATIONS = 2 };

// Rows with a larger diagonal lie right under the surface.
static const double STIFF_DIAGONAL = 8.0;
// Residuals below this share of the speeds around are rounding.
static const double ROUNDING = 1e-12;

typedef struct project_job {
    ty_gridflow* gf;
    const ty_liquid* liquid;
    double solve_dt;
    double scale;         // x = scale * p'/rho
    double gravity[3];    // in the boundary values: zero when not reduced
    double push[3];       // on faces without pressure
    double level;         // g . ref
    int axis;
    const double* divergence;
} project_job;

static inline double along_gravity(const double g[3], const double x[3])
{
    return g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
}

// The given x on the surface between liquid cell i and the air beyond it along axis; theta is how
// far it is.
static inline double surface_value(const project_job* job, int i, int axis, double toward,
                                   double theta)
{
    const ty_cells* c = &job->gf->cells;
    double x[3];
    ty_cell_center(c, i, x);
    x[axis] += toward * theta * c->h;
    return -job->scale * (along_gravity(job->gravity, x) - job->level);
}

static inline double theta_between(const ty_gridflow* gf, int liquid, int air)
{
    return gf->def->paper ? 1.0 : ty_surface_fraction(gf->phi[liquid], gf->phi[air]);
}

// The mean height of the surface along gravity, over all faces between liquid and air: sums and
// counts of blocks.
typedef struct level_job {
    const ty_gridflow* gf;
    const double* gravity;
    double (*sums)[2];
} level_job;

static inline double level_of(const level_job* job, int i, int j, int axis, double toward)
{
    double x[3];
    ty_cell_center(&job->gf->cells, i, x);
    x[axis] += toward * job->gf->cells.h * theta_between(job->gf, i, j);
    return along_gravity(job->gravity, x);
}

static void level_block(void* ctx, ty_range r)
{
    const level_job* job = ctx;
    const ty_gridflow* gf = job->gf;
    double sum = 0.0, count = 0.0;
    for (int64_t row = r.begin; row < r.end; ++row)
        for (int axis = 0; axis < 3; ++axis) {
            int i = gf->wet.at[row], s = gf->cells.stride[axis];
            if (gf->state[i - s] != TY_CELL_LIQUID && gf->open[axis][i] > 0.0)
                sum += level_of(job, i, i - s, axis, -1.0), count += 1.0;
            if (gf->state[i + s] != TY_CELL_LIQUID && gf->open[axis][i + s] > 0.0)
                sum += level_of(job, i, i + s, axis, 1.0), count += 1.0;
        }
    job->sums[r.block][0] = sum;
    job->sums[r.block][1] = count;
}

static ty_status mean_level(ty_gridflow* gf, const double gravity[3], double* level)
{
    int64_t blocks = (gf->wet.n + BLOCK - 1) / BLOCK;
    if (!ty_array_resize(&gf->scratch, 2 * blocks)) return ty_no_memory("pressure");
    level_job job = {gf, gravity, (double(*)[2])gf->scratch.at};
    ty_parallel_for(gf->wet.n, BLOCK, level_block, &job);
    double sum = 0.0, count = 0.0, x[3];
    for (int64_t b = 0; b < blocks; ++b) sum += job.sums[b][0], count += job.sums[b][1];
    ty_cell_center(&gf->cells, gf->wet.at[0], x);
    *level = count > 0.0 ? sum / count : along_gravity(gravity, x);
    return ty_ok();
}

static void count_row(void* ctx, ty_range r)
{
    ty_gridflow* gf = ((project_job*)ctx)->gf;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int i = gf->wet.at[row], n = 1;
        for (int axis = 0; axis < 3; ++axis) {
            int s = gf->cells.stride[axis];
            n += gf->state[i - s] == TY_CELL_LIQUID && gf->open[axis][i] > 0.0;
            n += gf->state[i + s] == TY_CELL_LIQUID && gf->open[axis][i + s] > 0.0;
        }
        gf->matrix.row_start[row + 1] = n;
    }
}

// What flows into cell i, m/s, less what is wanted to come out of it: the right-hand side.
static double net_inflow(const project_job* job, int64_t row)
{
    const ty_gridflow* gf = job->gf;
    int i = gf->wet.at[row];
    double sum = job->divergence ? job->divergence[row] * gf->cells.h : 0.0;
    bool spout = gf->has_spouts && gf->spout[i];
    for (int axis = 0; axis < 3; ++axis) {
        int j = i + gf->cells.stride[axis];
        const double *u = gf->next[axis], *w = gf->open[axis], *b = gf->body[axis];
        double low = w[i] * u[i], high = w[j] * u[j];
        sum += low - high;
        if (!spout) sum += (1.0 - w[i]) * b[i] - (1.0 - w[j]) * b[j];
    }
    if (!spout) return gf->swell ? sum + gf->swell[i] : sum;
    const double* scale = gf->emission.at + 2 * (gf->spout[i] - 1);
    double area, displaced, emitted = ty_gridflow_emitted(gf, i, &area, &displaced);
    return sum + scale[0] * emitted + scale[1] * area + displaced;
}

static void fill_row(void* ctx, ty_range r)
{
    project_job* job = ctx;
    ty_gridflow* gf = job->gf;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int i = gf->wet.at[row], at = gf->matrix.row_start[row];
        double diagonal = 0.0, given = 0.0;
        int diagonal_at = -1;
        for (int side = 0; side < 6; ++side) {
            // Rising columns: -z, -y, -x, diagonal, +x, +y, +z.
            int up = side >= 3, axis = up ? side - 3 : 2 - side, s = gf->cells.stride[axis];
            if (side == 3) diagonal_at = at++;
            int j = up ? i + s : i - s;
            double w = gf->open[axis][up ? j : i];
            if (w <= 0.0) continue;
            if (gf->state[j] == TY_CELL_LIQUID) {
                gf->matrix.col[at] = gf->row[j];
                gf->matrix.val[at++] = -w;
                diagonal += w;
            } else {
                double theta = theta_between(gf, i, j);
                diagonal += w / theta;
                given += w / theta * surface_value(job, i, axis, up ? 1.0 : -1.0, theta);
            }
        }
        gf->matrix.col[diagonal_at] = (int)row;
        gf->matrix.val[diagonal_at] = diagonal;
        gf->rhs.at[row] = net_inflow(job, row) + given;
    }
}

static ty_status assemble(project_job* job)
{
    ty_gridflow* gf = job->gf;
    int n = (int)gf->wet.n;
    TY_TRY(ty_csr_reserve(&gf->matrix, n, n, 7 * (int64_t)n));
    if (!ty_array_resize(&gf->rhs, n) || !ty_array_resize(&gf->x, n) ||
        !ty_array_resize(&gf->guess, n))
        return ty_no_memory("pressure");
    gf->matrix.row_start[0] = 0;
    ty_parallel_for(n, BLOCK, count_row, job);
    for (int i = 0; i < n; ++i) gf->matrix.row_start[i + 1] += gf->matrix.row_start[i];
    ty_parallel_for(n, BLOCK, fill_row, job);
    return ty_ok();
}

// What turns x into p' / rho and back: this step's gravity and level, and whether x is reduced.
typedef struct pressure_job {
    const project_job* project;
    double gravity[3], level, last_level;
    bool reduced;
} pressure_job;

// p / rho of still liquid.
static inline double still_pressure(const pressure_job* job, const double x[3])
{
    return along_gravity(job->gravity, x) - job->level;
}

// p / rho of the last step in a cell; at first that of still liquid.
static inline double last_pressure(const pressure_job* job, int cell, const double x[3])
{
    const ty_gridflow* gf = job->project->gf;
    if (!gf->started) return still_pressure(job, x);
    return gf->pressure[cell] + along_gravity(gf->gravity, x) - job->last_level;
}

// The last pressure, restated for this step's gravity and level.
static void guess_block(void* ctx, ty_range r)
{
    const pressure_job* job = ctx;
    ty_gridflow* gf = job->project->gf;
    ty_cell_walk walk = {0};
    for (int64_t row = r.begin; row < r.end; ++row) {
        double x[3];
        ty_walk_to_center(&gf->cells, &walk, gf->wet.at[row], x);
        double still = job->reduced ? still_pressure(job, x) : 0.0;
        gf->guess.at[row] = job->project->scale * (last_pressure(job, gf->wet.at[row], x) - still);
    }
}

// Rows right under the surface follow it closely; a guess from where it was leaves residuals of p /
// theta there, which would spoil the measure of convergence for all others. A few Gauss-Seidel
// visits mend them.
static ty_status relax_stiff_rows(ty_gridflow* gf)
{
    const ty_csr* a = &gf->matrix;
    ty_ids* stiff = &gf->layer;    // two each: row and place of its diagonal
    if (!ty_array_resize(stiff, 2 * (int64_t)a->n)) return ty_no_memory("pressure");
    stiff->n = 0;
    for (int row = 0; row < a->n; ++row)
        for (int k = a->row_start[row]; k < a->row_start[row + 1]; ++k) {
            if (a->col[k] != row || !(a->val[k] > STIFF_DIAGONAL)) continue;
            stiff->at[stiff->n++] = row;
            stiff->at[stiff->n++] = k;
        }
    for (int64_t i = 0; i < RELAXATIONS * stiff->n; i += 2) {
        int row = stiff->at[i % stiff->n], diagonal = stiff->at[i % stiff->n + 1];
        double sum = gf->rhs.at[row];
        for (int k = a->row_start[row]; k < a->row_start[row + 1]; ++k)
            if (k != diagonal) sum -= a->val[k] * gf->guess.at[a->col[k]];
        gf->guess.at[row] = sum / a->val[diagonal];
    }
    return ty_ok();
}

static double largest(const double* values, int64_t n)
{
    double top = 0.0;
    for (int64_t i = 0; i < n; ++i) top = ty_max(fabs(values[i]), top);
    return top;
}

// Solves for the change from the guess: the residual is measured against what there is to do in
// this step.
static ty_status solve(project_job* job, ty_solve_stats* stats)
{
    ty_gridflow* gf = job->gf;
    int n = gf->matrix.n;
    TY_TRY(relax_stiff_rows(gf));
    ty_csr_residual(&gf->matrix, gf->guess.at, gf->rhs.at, gf->rhs.at);
    double speed = gf->max_speed + job->solve_dt * sqrt(along_gravity(job->push, job->push));
    memset(gf->x.at, 0, sizeof(double) * (size_t)n);
    if (largest(gf->rhs.at, n) > ROUNDING * speed) {
        ty_linear_stats linear;
        TY_TRY(ty_linear_setup_cells(gf->linear, &gf->matrix, gf->wet.at, gf->cells.m));
        TY_TRY(ty_linear_solve(gf->linear, gf->rhs.at, gf->x.at, &linear));
        stats->iterations += linear.iterations;
        stats->residual = fmax(stats->residual, linear.last_residual);
        if (!linear.converged)
            ty_log(TY_LOG_WARNING, "pressure: residual %.1e after %d iterations",
                   linear.last_residual, linear.iterations);
    }
    for (int i = 0; i < n; ++i) gf->x.at[i] += gf->guess.at[i];
    return ty_ok();
}

static void apply_block(void* ctx, ty_range r)
{
    const project_job* job = ctx;
    ty_gridflow* gf = job->gf;
    int axis = job->axis, s = gf->cells.stride[axis];
    for (int64_t k = r.begin; k < r.end; ++k) {
        int high = gf->face[axis].at[k], low = high - s;
        bool wet_low = gf->state[low] == TY_CELL_LIQUID,
             wet_high = gf->state[high] == TY_CELL_LIQUID;
        double change;
        if (wet_low && wet_high) change = gf->x.at[gf->row[low]] - gf->x.at[gf->row[high]];
        else if (wet_low || wet_high) {
            int i = wet_low ? low : high;
            double theta = theta_between(gf, i, wet_low ? high : low),
                   toward = wet_low ? 1.0 : -1.0;
            change = toward * (gf->x.at[gf->row[i]] - surface_value(job, i, axis, toward, theta)) /
                     theta;
        } else change = job->push[axis] * job->solve_dt;
        gf->next[axis][high] += change;
        if (gf->carries) gf->next_acc[axis][high] += change / job->solve_dt;
    }
}

static void add_gravity(void* ctx, ty_range r)
{
    const project_job* job = ctx;
    ty_gridflow* gf = job->gf;
    double g = job->push[job->axis];
    for (int64_t k = r.begin; k < r.end; ++k) {
        int f = gf->face[job->axis].at[k];
        gf->next[job->axis][f] += g * job->solve_dt;
        if (gf->carries) gf->next_acc[job->axis][f] += g;
    }
}

static void on_faces(project_job* job, void (*body)(void*, ty_range))
{
    for (job->axis = 0; job->axis < 3; ++job->axis)
        ty_parallel_for(job->gf->face[job->axis].n, BLOCK, body, job);
}

static double divergence_block(void* ctx, ty_range r)
{
    double top = 0.0;
    for (int64_t row = r.begin; row < r.end; ++row) top = ty_max(fabs(net_inflow(ctx, row)), top);
    return top;
}

static ty_status want_divergence(project_job* job)
{
    ty_gridflow* gf = job->gf;
    if (!job->liquid->divergence.eval) return ty_ok();
    if (!ty_array_resize(&gf->scratch, gf->wet.n)) return ty_no_memory("divergence");
    for (int64_t begin = 0; begin < gf->wet.n; begin += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3];
        int n = (int)(gf->wet.n - begin < TY_SAMPLE_BATCH ? gf->wet.n - begin : TY_SAMPLE_BATCH);
        for (int i = 0; i < n; ++i) ty_cell_center(&gf->cells, gf->wet.at[begin + i], x[i]);
        ty_sample(&job->liquid->divergence, n, (const double(*)[3])x, gf->scratch.at + begin);
    }
    job->divergence = gf->scratch.at;
    return ty_ok();
}

// The new pressure in p' / rho, for the flow and the next guess. What acts in a step is theta of it
// and the rest of the old one, which the liquid carries as its acceleration: after a blow the two
// alternate around it.
static void keep_block(void* ctx, ty_range r)
{
    const pressure_job* job = ctx;
    ty_gridflow* gf = job->project->gf;
    double share = job->project->solve_dt / gf->dt, x[3];
    ty_cell_walk walk = {0};
    for (int64_t row = r.begin; row < r.end; ++row) {
        int i = gf->wet.at[row];
        ty_walk_to_center(&gf->cells, &walk, i, x);
        double still = still_pressure(job, x);
        double now = gf->x.at[row] / job->project->scale - (job->reduced ? 0.0 : still);
        double before = last_pressure(job, i, x) - still;
        gf->acting[i] = gf->started ? share * now + (1.0 - share) * before : now;
        gf->pressure[i] = now;
    }
}

// Air has p = 0.
static void keep_air(void* ctx, ty_range r)
{
    const pressure_job* job = ctx;
    ty_gridflow* gf = job->project->gf;
    const ty_cells* c = &gf->cells;
    int rows = gf->hi[1] - gf->lo[1];
    for (int64_t row = r.begin; row < r.end; ++row) {
        int j = gf->lo[1] + (int)(row % rows), k = gf->lo[2] + (int)(row / rows);
        int first = ty_cell_index(c, 0, j, k);
        double x[3];
        ty_cell_center(c, first, x);
        for (int i = gf->lo[0]; i < gf->hi[0]; ++i) {
            if (gf->state[first + i] == TY_CELL_LIQUID) continue;
            x[0] = c->origin[0] + c->h * (i - 0.5);
            gf->pressure[first + i] = gf->acting[first + i] = -still_pressure(job, x);
        }
    }
}

static void keep_pressure(pressure_job* job)
{
    ty_gridflow* gf = job->project->gf;
    ty_parallel_for(gf->wet.n, BLOCK, keep_block, job);
    double g2 = along_gravity(job->gravity, job->gravity);
    for (int axis = 0; axis < 3; ++axis) {
        gf->gravity[axis] = job->gravity[axis];
        gf->ref[axis] = g2 > 0.0 ? job->gravity[axis] * (job->level / g2) : 0.0;
    }
    int64_t rows = (int64_t)(gf->hi[1] - gf->lo[1]) * (gf->hi[2] - gf->lo[2]);
    ty_parallel_for(rows, ROWS, keep_air, job);
    gf->started = true;
}

ty_status ty_gridflow_project(ty_gridflow* gf, const ty_liquid* liquid, double solve_dt,
                              bool physical, ty_solve_stats* stats)
{
    if (gf->wet.n == 0 && gf->face[0].n + gf->face[1].n + gf->face[2].n == 0) return ty_ok();
    bool reduced = gf->def->reduced_pressure && !gf->def->paper;
    ty_vec3 g = physical ? ty_world_gravity(gf->world) : ty_vec(0, 0, 0);
    project_job job = {
        .gf = gf, .liquid = liquid, .solve_dt = solve_dt, .scale = solve_dt / gf->cells.h};
    ty_store3(job.push, g);
    double level = 0.0;
    if (gf->wet.n) TY_TRY(mean_level(gf, job.push, &level));
    if (reduced) ty_store3(job.gravity, g), job.level = level;
    else on_faces(&job, add_gravity);
    TY_TRY(want_divergence(&job));
    pressure_job pressure = {&job, .level = level,
                             .last_level = along_gravity(gf->gravity, gf->ref), .reduced = reduced};
    ty_store3(pressure.gravity, g);
    if (gf->wet.n) {
        TY_TRY(assemble(&job));
        if (physical) ty_parallel_for(gf->wet.n, BLOCK, guess_block, &pressure);
        else memset(gf->guess.at, 0, sizeof(double) * (size_t)gf->wet.n);
        TY_TRY(solve(&job, stats));
    }
    if (!reduced) memset(job.push, 0, sizeof job.push);
    on_faces(&job, apply_block);
    if (gf->wet.n == 0) return ty_ok();
    stats->max_divergence = ty_parallel_max(gf->wet.n, BLOCK, divergence_block, &job) / gf->cells.h;
    if (physical) keep_pressure(&pressure);
    return ty_ok();
}
