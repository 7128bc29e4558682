// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 1024 };

// Waves as long as a cell need this many per second: dt <= 0.75 sqrt(h/g), or they grow.
static const double WAVE_STEP = 0.75;
// Cells: farther from the surface a cell is liquid or air.
static const double HALF_DIAGONAL = 0.9;

typedef struct measure_job {
    const ty_gridflow* gf;
    int axis;
    double* square;         // of speeds, per liquid cell
    const ty_ids* cells;    // whose energy
} measure_job;

// The difference of phi from a cell's centre to the next one's, toward side `up`; at the domain's
// sides, beyond which there is none, that from the other one.
static inline double phi_slope(const ty_gridflow* gf, int cell, const int at[3], int axis, int up)
{
    const ty_cells* c = &gf->cells;
    bool inside = up ? at[axis] < c->n[axis] : at[axis] > 1;
    if (c->n[axis] == 1) return 0.0;
    int s = inside == (up == 1) ? c->stride[axis] : -c->stride[axis];
    double d = gf->phi[cell + s] - gf->phi[cell];
    return inside ? d : -d;
}

// The share of a cell that is liquid. Each of its eight parts has its own slopes, for a film may
// have both its surfaces in a cell.
static double fill(const ty_gridflow* gf, int cell, const int at[3])
{
    double h = gf->cells.h, phi = gf->phi[cell], slope[3][2], sum = 0.0;
    if (fabs(phi) > HALF_DIAGONAL * h) return phi < 0.0 ? 1.0 : 0.0;
    for (int axis = 0; axis < 3; ++axis)
        for (int up = 0; up < 2; ++up) slope[axis][up] = phi_slope(gf, cell, at, axis, up);
    for (int part = 0; part < 8; ++part) {
        double dx = slope[0][part & 1], dy = slope[1][part >> 1 & 1], dz = slope[2][part >> 2];
        double middle = phi + 0.25 * (dx + dy + dz);
        double across = 0.5 * sqrt(dx * dx + dy * dy + dz * dz);
        if (across > fabs(2.0 * middle)) sum += 0.5 - middle / across;
        else if (middle < 0.0) sum += 1.0;
    }
    return sum / 8.0;
}

// The liquid's squared speeds over a cell, h^3 m2/s2: each face has the half cell beside it as far
// as it is open. What is left of a cell beside a closed face moves with that.
static double cell_energy(const ty_gridflow* gf, int cell)
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        int up = cell + gf->cells.stride[axis];
        const double *u = gf->u[axis], *w = gf->open[axis];
        sum += 0.5 * (w[cell] * u[cell] * u[cell] + w[up] * u[up] * u[up]);
    }
    return sum;
}

static double energy_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    const ty_gridflow* gf = job->gf;
    double sum = 0.0;
    ty_cell_walk walk = {0};
    for (int64_t k = r.begin; k < r.end; ++k) {
        int cell = job->cells->at[k];
        ty_walk_to(&gf->cells, &walk, cell);
        double share = fill(gf, cell, walk.at);
        if (share > 0.0) sum += share * cell_energy(gf, cell);
    }
    return sum;
}

static inline double square_speed(const ty_gridflow* gf, int cell)
{
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        int up = cell + gf->cells.stride[axis];
        double u = ty_max(fabs(gf->u[axis][cell]), fabs(gf->u[axis][up]));
        square += u * u;
    }
    return square;
}

static double speed_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    double top = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k) {
        job->square[k] = square_speed(job->gf, job->gf->wet.at[k]);
        top = ty_max(job->square[k], top);
    }
    return top;
}

static double free_speed_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    double top = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k)
        top = ty_max(fabs(job->gf->u[job->axis][job->gf->face[job->axis].at[k]]), top);
    return top;
}

// Of what sources pour: it is there before any cell is wet.
static double spout_speed(const ty_gridflow* gf)
{
    double top = 0.0;
    for (int axis = 0; gf->has_spouts && axis < 3; ++axis) {
        const ty_cut_faces* cut = &gf->cut[axis];
        for (int64_t k = 0; k < cut->face.n; ++k)
            if (cut->slip.at[k] < 0.0) top = fmax(top, ty_norm(cut->velocity.at[k]));
    }
    return top;
}

static double wave_step(const ty_gridflow* gf)
{
    double g = ty_norm(ty_world_gravity(gf->world));
    return g > 0.0 ? WAVE_STEP * sqrt(gf->cells.h / g) : INFINITY;
}

// Whether liquid comes from or goes where the solver ends. Longer steps cost volume there: F14, a tank that
// drains through an open side, is off by 3.2 instead of 1.9 % with slack.
static bool comes_or_goes(const ty_gridflow* gf)
{
    bool open = ty_world_n_sources(gf->world) + ty_world_n_drains(gf->world) > 0;
    for (int side = 0; side < TY_N_SIDES; ++side) open |= !gf->closed[side];
    return open;
}

double ty_gridflow_slack(const ty_gridflow* gf)
{
    if (gf->rides || comes_or_goes(gf) || !(gf->dt_limit < INFINITY)) return 0.0;
    return fmin(TY_STEP_SLACK, wave_step(gf) / gf->dt_limit - 1.0);
}

static double energy_sum(measure_job* job)
{
    double sum = 0.0;
    job->cells = &job->gf->wet;
    sum += ty_parallel_sum(job->cells->n, BLOCK, energy_block, job);
    job->cells = &job->gf->near;
    return sum + ty_parallel_sum(job->cells->n, BLOCK, energy_block, job);
}

ty_status ty_gridflow_measure(ty_gridflow* gf, ty_solve_stats* stats)
{
    double h = gf->cells.h, square = 0.0;
    if (!ty_array_resize(&gf->scratch, gf->wet.n)) return ty_no_memory("speeds");
    measure_job job = {.gf = gf, .square = gf->scratch.at};
    if (gf->wet.n) square = fmax(0.0, ty_parallel_max(gf->wet.n, BLOCK, speed_block, &job));
    double top = fmax(sqrt(square), spout_speed(gf));
    for (job.axis = 0; job.axis < 3; ++job.axis) {
        top = fmax(top, ty_parallel_max(gf->face[job.axis].n, BLOCK, free_speed_block, &job));
    }
    gf->max_speed = top;
    gf->drain_rate = ty_gridflow_drain_rate(gf);
    double g = ty_norm(ty_world_gravity(gf->world));
    double waves = sqrt(5.0 * h * g), solids = ty_world_solid_speed(gf->world);
    double speed = fmax(ty_gridflow_pace(gf, job.square, top), solids) + waves;
    gf->dt_limit = speed > 0.0 ? gf->def->cfl * h / speed : INFINITY;
    gf->dt_limit = fmin(gf->dt_limit, wave_step(gf));
    stats->kinetic_energy = 0.5 * gf->def->density * h * h * h * energy_sum(&job);
    stats->cells = gf->wet.n;
    stats->unknowns = gf->wet.n;
    return ty_ok();
}
