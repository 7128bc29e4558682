// SPDX-License-Identifier: Apache-2.0
// Implicit viscosity, one component at a time: (I - theta dt div nu grad) u = u* on the component's own
// faces. Air takes no stress (zero gradient); walls hold the liquid as much as they do not let it
// slip.
//
// Like the pressure it acts with theta of the step, and the rest is carried along with the
// acceleration: all of it at the end of the step is an error of first order (the steady flow in a
// cavity at Re 100, 64 cells, CFL 2, was off by 1.7 % of the lid's speed, now by 0.9 %).
//
// Departs from the full stress tensor: components are not coupled, so a turning or coiling free
// surface and varying viscosity are not exact; stress.c has them.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 1024 };

// A wall nearer than this share of a cell is taken to be this near.
static const double NEAREST_WALL = 0.25;

typedef struct viscous_job {
    ty_gridflow* gf;
    int axis;
    double k;            // solve_dt / (rho h^2)
    const double* mu;    // per face of the list; NULL: constant
    double constant;
    const ty_world_def* world;
} viscous_job;

static double mean_solid(const ty_gridflow* gf, int axis, int f)
{
    const double* s = gf->solid;
    int b = gf->cells.stride[(axis + 1) % 3], c = gf->cells.stride[(axis + 2) % 3];
    return 0.25 * (s[f] + s[f + b] + s[f + b + c] + s[f + c]);
}

// How a neighbour that is not liquid holds face f: weight of the tie and the velocity it ties to.
static double wall_tie(const viscous_job* job, int f, int d, int side, double* velocity)
{
    const ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    int nb = f + side * c->stride[d], at[3];
    ty_cell_coords(c, nb, at);
    *velocity = 0.0;
    if (d != job->axis && (at[d] < 1 || at[d] > c->n[d])) {
        int wall = 2 * d + (side > 0);
        if (!gf->closed[wall]) return 0.0;
        // The ghost behind the wall holds 2 wall - u for no slip: (u + ghost) / 2 is what the wall
        // has.
        *velocity = 0.5 * (gf->u[job->axis][nb] + gf->u[job->axis][f]);
        const ty_varying* v = &job->world->wall[wall].velocity;
        if (ty_varying_is_constant(v)) *velocity = v->constant[job->axis];
        return 2.0 * (1.0 - job->world->wall[wall].slip);
    }
    bool outside = at[job->axis] < 1 ||
                   at[job->axis] > c->n[job->axis] + 1;    // beyond an open side
    if (outside || gf->open[job->axis][nb] > 0.0) return 0.0;
    bool side_face = d == job->axis && (at[d] == 1 || at[d] == c->n[d] + 1);
    if (side_face || !gf->has_bodies) return 1.0;
    *velocity = gf->body[job->axis][nb];
    double near = mean_solid(gf, job->axis, f), far = mean_solid(gf, job->axis, nb);
    double theta = near > 0.0 && far < 0.0 ? fmax(near / (near - far), NEAREST_WALL) : 1.0;
    return (d == job->axis ? 1.0 : gf->hold[job->axis][nb]) / theta;
}

static double link(const viscous_job* job, int64_t row, int other)
{
    return job->k * (job->mu ? 0.5 * (job->mu[row] + job->mu[other]) : job->constant);
}

static void fill_rows(void* ctx, ty_range r)
{
    const viscous_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const uint8_t* mark = gf->mark[job->axis];
    for (int64_t row = r.begin; row < r.end; ++row) {
        int f = gf->face[job->axis].at[row], at = gf->matrix.row_start[row] + 1;
        double diagonal = 1.0, rhs = gf->next[job->axis][f];
        gf->x.at[row] = rhs;
        for (int d = 0; d < 3; ++d)
            for (int side = -1; side <= 1; side += 2) {
                int nb = f + side * gf->cells.stride[d];
                if (mark[nb] == 1) {
                    int other = gf->face_row[nb];
                    double k = link(job, row, other);
                    gf->matrix.col[at] = other;
                    gf->matrix.val[at++] = -k;
                    diagonal += k;
                    continue;
                }
                double velocity,
                    tie = wall_tie(job, f, d, side, &velocity) * link(job, row, (int)row);
                diagonal += tie;
                rhs += tie * velocity;
            }
        gf->matrix.col[gf->matrix.row_start[row]] = (int)row;
        gf->matrix.val[gf->matrix.row_start[row]] = diagonal;
        gf->rhs.at[row] = rhs;
    }
}

static ty_status prepare_rows(ty_gridflow* gf, int axis)
{
    int n = (int)gf->face[axis].n;
    TY_TRY(ty_csr_reserve(&gf->matrix, n, n, 7 * (int64_t)n));
    if (!ty_array_resize(&gf->rhs, n) || !ty_array_resize(&gf->x, n))
        return ty_no_memory("viscosity");
    for (int i = 0; i < n; ++i) gf->face_row[gf->face[axis].at[i]] = i;
    gf->matrix.row_start[0] = 0;
    for (int i = 0; i < n; ++i) {
        int entries = 1;
        for (int d = 0; d < 3; ++d) {
            int f = gf->face[axis].at[i], s = gf->cells.stride[d];
            entries += (gf->mark[axis][f - s] == 1) + (gf->mark[axis][f + s] == 1);
        }
        gf->matrix.row_start[i + 1] = gf->matrix.row_start[i] + entries;
    }
    return ty_ok();
}

static ty_status sample_viscosity(ty_gridflow* gf, int axis)
{
    const ty_ids* face = &gf->face[axis];
    if (!ty_array_resize(&gf->scratch, face->n)) return ty_no_memory("viscosity");
    for (int64_t begin = 0; begin < face->n; begin += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3];
        int n = (int)(face->n - begin < TY_SAMPLE_BATCH ? face->n - begin : TY_SAMPLE_BATCH);
        for (int i = 0; i < n; ++i) ty_face_center(&gf->cells, axis, face->at[begin + i], x[i]);
        TY_TRY(ty_varying_eval(&gf->def->viscosity, ty_world_time(gf->world), n,
                               (const double(*)[3])x, gf->scratch.at + begin));
    }
    return ty_ok();
}

void ty_gridflow_keep_holds(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t k = 0; k < gf->cut[axis].face.n; ++k) {
            double slip = gf->cut[axis].slip.at[k];
            gf->hold[axis][gf->cut[axis].face.at[k]] = slip < 0.0 ? 1.0 : 1.0 - slip;
        }
}

static ty_status reserve(ty_gridflow* gf)
{
    if (gf->viscous) return ty_ok();
    ty_linear_def def = ty_linear_default();
    def.method = TY_LINEAR_JACOBI;
    def.tolerance = gf->def->tolerance;
    if (!gf->face_row) gf->face_row = ty_alloc((size_t)gf->cells.count, sizeof(int));
    for (int axis = 0; axis < 3; ++axis)
        if (!gf->hold[axis])
            gf->hold[axis] = ty_alloc_zero((size_t)gf->cells.count, sizeof(double));
    if (!gf->face_row || !gf->hold[0] || !gf->hold[1] || !gf->hold[2])
        return ty_no_memory("viscosity");
    return ty_linear_create(&gf->viscous, &def);
}

ty_status ty_gridflow_viscosity(ty_gridflow* gf, double solve_dt, ty_solve_stats* stats)
{
    const ty_varying* mu = &gf->def->viscosity;
    bool constant = ty_varying_is_constant(mu);
    if (constant && mu->constant[0] <= 0.0) return ty_ok();
    TY_TRY(reserve(gf));
    ty_gridflow_keep_holds(gf);
    double h = gf->cells.h;
    for (int axis = 0; axis < 3; ++axis) {
        if (gf->face[axis].n == 0) continue;
        TY_TRY(prepare_rows(gf, axis));
        if (!constant) TY_TRY(sample_viscosity(gf, axis));
        viscous_job job = {.gf = gf,
                           .axis = axis,
                           .k = solve_dt / (gf->def->density * h * h),
                           .mu = constant ? NULL : gf->scratch.at,
                           .constant = mu->constant[0],
                           .world = ty_world_get_def(gf->world)};
        ty_parallel_for(gf->matrix.n, BLOCK, fill_rows, &job);
        ty_csr_sort(&gf->matrix);
        ty_linear_stats linear;
        TY_TRY(ty_linear_setup(gf->viscous, &gf->matrix, NULL));
        TY_TRY(ty_linear_solve(gf->viscous, gf->rhs.at, gf->x.at, &linear));
        stats->iterations += linear.iterations;
        for (int64_t i = 0; i < gf->face[axis].n; ++i) {
            int f = gf->face[axis].at[i];
            if (gf->carries) gf->next_acc[axis][f] += (gf->x.at[i] - gf->next[axis][f]) / solve_dt;
            gf->next[axis][f] = gf->x.at[i];
        }
    }
    return ty_ok();
}
