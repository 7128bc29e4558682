// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 1024 };

// Waves as long as a cell need this many per second: dt <= 0.75 sqrt(h/g), or they grow.
static const double WAVE_STEP = 0.75;
// One liquid cell in so many may go farther in a step than cfl allows, and so far, in cells, what
// is continued into the air reaches beyond it (EXTRA_LAYERS of grid.c and one to spare).
static const double SPRAY_SHARE = 1e-3, SPRAY_BEYOND = 2.0;
enum { SPRAY_HALVINGS = 4 };

typedef struct measure_job {
    const ty_gridflow* gf;
    int axis;
    double above;    // m/s: what is counted
} measure_job;

// How much liquid moves with a face, in h^3: from each of its two cells up to a half, up to the
// surface.
static double face_share(const ty_gridflow* gf, int axis, int f)
{
    int low = f - gf->cells.stride[axis];
    bool wet_low = gf->state[low] == TY_CELL_LIQUID, wet_high = gf->state[f] == TY_CELL_LIQUID;
    if (wet_low && wet_high) return gf->open[axis][f];
    if (!wet_low && !wet_high) return 0.0;
    double theta = ty_surface_fraction(gf->phi[wet_low ? low : f], gf->phi[wet_low ? f : low]);
    return gf->open[axis][f] * fmin(theta, 1.0);
}

static double energy_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    const double* u = job->gf->u[job->axis];
    double sum = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k) {
        int f = job->gf->face[job->axis].at[k];
        sum += face_share(job->gf, job->axis, f) * u[f] * u[f];
    }
    return sum;
}

static double share_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    double sum = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k)
        sum += face_share(job->gf, job->axis, job->gf->face[job->axis].at[k]);
    return sum;
}

// Half a cell for each that lies on a closed side: liquid that moves with a face that does not
// move.
static double side_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    const ty_gridflow* gf = job->gf;
    double sum = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k) {
        int at[3];
        if (!(gf->within[gf->wet.at[k]] & TY_BESIDE_SIDE)) continue;
        ty_cell_coords(&gf->cells, gf->wet.at[k], at);
        if (at[job->axis] == 1 && gf->closed[2 * job->axis]) sum += 0.5;
        if (at[job->axis] == gf->cells.n[job->axis] && gf->closed[2 * job->axis + 1]) sum += 0.5;
    }
    return sum;
}

// The mean square of one component over the liquid, and the volume it was taken over, h^3. The
// shares of faces add up to the liquid's volume only to second order (0.6 % too much for a ball 20
// cells across), the mean is far better.
static double mean_square(const measure_job* job, double* volume)
{
    const ty_ids* face = &job->gf->face[job->axis];
    double energy = ty_parallel_sum(face->n, BLOCK, energy_block, (void*)job);
    *volume = ty_parallel_sum(face->n, BLOCK, share_block, (void*)job) +
              ty_parallel_sum(job->gf->wet.n, BLOCK, side_block, (void*)job);
    return *volume > 0.0 ? energy / *volume : 0.0;
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
    const ty_gridflow* gf = ((const measure_job*)ctx)->gf;
    double top = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k) top = ty_max(square_speed(gf, gf->wet.at[k]), top);
    return top;
}

static double count_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    int64_t count = 0;
    for (int64_t k = r.begin; k < r.end; ++k)
        count += square_speed(job->gf, job->gf->wet.at[k]) > job->above * job->above;
    return (double)count;
}

// Faces that fly freely count as cells.
static double count_free_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    const ty_gridflow* gf = job->gf;
    int64_t count = 0;
    for (int64_t k = r.begin; k < r.end; ++k) {
        int f = gf->face[job->axis].at[k];
        bool wet = gf->state[f] == TY_CELL_LIQUID ||
                   gf->state[f - gf->cells.stride[job->axis]] == TY_CELL_LIQUID;
        count += !wet && fabs(gf->u[job->axis][f]) > job->above;
    }
    return (double)count;
}

// The speed that the step goes by. In a splash a few cells of spray, one in a thousand, go twice as
// fast as all others and would double the number of steps: they may go farther than cfl, as far as
// there are velocities to follow.
static double step_speed(const ty_gridflow* gf, double top)
{
    double cfl = gf->def->cfl, slow = top * fmax(0.5, cfl / (cfl + SPRAY_BEYOND)), fast = top;
    for (int k = 0; k < SPRAY_HALVINGS; ++k) {
        measure_job job = {gf, 0, 0.5 * (slow + fast)};
        double count = ty_parallel_sum(gf->wet.n, BLOCK, count_block, &job);
        for (; job.axis < 3; ++job.axis)
            count += ty_parallel_sum(gf->face[job.axis].n, BLOCK, count_free_block, &job);
        if (count > SPRAY_SHARE * (double)gf->wet.n) slow = job.above;
        else fast = job.above;
    }
    return fast;
}

static double free_speed_block(void* ctx, ty_range r)
{
    const measure_job* job = ctx;
    double top = 0.0;
    for (int64_t k = r.begin; k < r.end; ++k)
        top = fmax(top, fabs(job->gf->u[job->axis][job->gf->face[job->axis].at[k]]));
    return top;
}

// Liquid leaving through open sides, m3/s: the wet part of each face is taken from its cell's
// distance.
static double open_flux(const ty_gridflow* gf)
{
    const ty_cells* c = &gf->cells;
    double sum = 0.0;
    bool open = false;
    for (int side = 0; side < TY_N_SIDES; ++side) open |= !gf->closed[side];
    if (!open) return 0.0;
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t k = 0; k < gf->face[axis].n; ++k) {
            int f = gf->face[axis].at[k], at[3];
            ty_cell_coords(c, f, at);
            if (at[axis] != 1 && at[axis] != c->n[axis] + 1) continue;
            int inner = at[axis] == 1 ? f : f - c->stride[axis];
            double out = at[axis] == 1 ? -gf->u[axis][f] : gf->u[axis][f];
            double wet = ty_clamp(0.5 - gf->phi[inner] / c->h, 0.0, 1.0);
            sum += fmax(out, 0.0) * wet * gf->open[axis][f] * c->h * c->h;
        }
    return sum;
}

void ty_gridflow_measure(ty_gridflow* gf, double dt, ty_solve_stats* stats)
{
    double h = gf->cells.h, mean = 0.0, square = 0.0, volume[3];
    measure_job job = {.gf = gf};
    if (gf->wet.n) square = fmax(0.0, ty_parallel_max(gf->wet.n, BLOCK, speed_block, &job));
    double top = sqrt(square);
    for (job.axis = 0; job.axis < 3; ++job.axis) {
        mean += mean_square(&job, &volume[job.axis]);
        top = fmax(top, ty_parallel_max(gf->face[job.axis].n, BLOCK, free_speed_block, &job));
    }
    gf->max_speed = top;
    gf->drain_rate = ty_gridflow_drain_rate(gf);
    double g = ty_norm(ty_world_gravity(gf->world));
    double speed = fmax(step_speed(gf, top), ty_world_solid_speed(gf->world)) + sqrt(5.0 * h * g);
    gf->dt_limit = speed > 0.0 ? gf->def->cfl * h / speed : INFINITY;
    if (g > 0.0) gf->dt_limit = fmin(gf->dt_limit, WAVE_STEP * sqrt(h / g));
    stats->moving_volume = h * h * h * (volume[0] + volume[1] + volume[2]) / 3.0;
    stats->kinetic_energy = 0.5 * gf->def->density * stats->moving_volume * mean;
    stats->open_outflow = dt * open_flux(gf);
    stats->cells = gf->wet.n;
    stats->unknowns = gf->wet.n;
}
