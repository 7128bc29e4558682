// SPDX-License-Identifier: Apache-2.0
// The speed that the next step goes by. In a splash a few cells go two to four times as fast as all
// others and would make as many more steps of it. So cfl holds but for these:
//
//     liquid cells            may go               when
//     one in a hundred        as far as there are  they fly: nothing but gravity acts on them, and on
//                             velocities           their way nothing will
//     one in a thousand       twice as far as cfl
//     one in ten thousand     as far as there are
//                             velocities
//
// What flies is carried along its parabola however long the step is. Long steps are wrong where liquid
// meets something or is pressed. (One in a hundred whether they fly or not was tried: a drain took 2.4 %
// more than was counted, and the first peak of D3's pressure, right after which a thin jet sets the
// step, was 20 instead of 9 % off. Any number that flies was tried: the energy of a dam break of 64 cells
// rose by 2e-3 to 3e-3 while a whole sheet went up the wall.)
#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 1024, HALVINGS = 8 };

static const double FLYING = 1e-2, SPRAY = 1e-3, FEW = 1e-4;    // shares of the liquid's cells
static const double SPRAY_BEYOND = 2.0, SPRAY_TIMES = 2.0;      // cells beyond cfl, times as far
static const double MOST_TIMES = 4.0;
// Cells: so much farther than in the step before the fastest may go.
static const double FARTHER = 1.5;
// Cells in a step: by so much what acts on flying liquid may move it, and so much farther or less far
// may go what is where it flies to.
static const double ACTED = 0.1, CHANGED = 1.0;

typedef struct pace_job {
    const ty_gridflow* gf;
    const double* square;    // of speeds, per liquid cell
    double above;            // m/s: what is counted
    double dt;               // of a step at that speed
} pace_job;

// m/s2 beside gravity's.
static double acting(const ty_gridflow* gf, int cell)
{
    ty_vec3 g = ty_world_gravity(gf->world);
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double* a = gf->acc[axis] + cell;
        double most = ty_max(fabs(a[0] - g[axis]), fabs(a[gf->cells.stride[axis]] - g[axis]));
        square += most * most;
    }
    return sqrt(square);
}

static bool flies(const pace_job* job, int cell)
{
    const ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    double v[3], changed = 0.0, dt = job->dt;
    int at[3], to[3];
    if (0.5 * acting(gf, cell) * dt * dt > ACTED * c->h) return false;
    ty_cell_coords(c, cell, at);
    for (int axis = 0; axis < 3; ++axis) {
        const double* u = gf->u[axis] + cell;
        v[axis] = 0.5 * (u[0] + u[c->stride[axis]]);
        double end = at[axis] + 0.5 + v[axis] * dt * c->per_h;
        if (!(end >= 1.0 && end < c->n[axis] + 1)) return false;
        to[axis] = (int)end;
    }
    int end = ty_cell_index(c, to[0], to[1], to[2]);
    for (int axis = 0; axis < 3; ++axis) {
        int s = c->stride[axis];
        const double *open = gf->open[axis] + end, *u = gf->u[axis] + end;
        bool meets = (to[axis] > at[axis] && open[s] < 1.0) ||
                     (to[axis] < at[axis] && open[0] < 1.0);
        if (meets) return false;
        double change = 0.5 * (u[0] + u[s]) - v[axis];
        changed += change * change;
    }
    return sqrt(changed) * dt < CHANGED * c->h;
}

static double count_block(void* ctx, ty_range r)
{
    const pace_job* job = ctx;
    int64_t count = 0;
    for (int64_t k = r.begin; k < r.end; ++k) count += job->square[k] > job->above * job->above;
    return (double)count;
}

static double count_not_flying(void* ctx, ty_range r)
{
    const pace_job* job = ctx;
    int64_t count = 0;
    for (int64_t k = r.begin; k < r.end; ++k)
        count += job->square[k] > job->above * job->above && !flies(job, job->gf->wet.at[k]);
    return (double)count;
}

static double waves(const ty_gridflow* gf)
{
    return sqrt(5.0 * gf->cells.h * ty_norm(ty_world_gravity(gf->world)));
}

// Whether a step may go by this speed.
static bool is_enough(const ty_gridflow* gf, const double* square, double speed)
{
    double cfl = gf->def->cfl, n = (double)gf->wet.n;
    bool may_fly = gf->carries && !gf->rides;
    pace_job job = {gf, square, speed, cfl * gf->cells.h / (speed + waves(gf))};
    double above = ty_parallel_sum(gf->wet.n, BLOCK, count_block, &job);
    if (above > (may_fly ? FLYING : SPRAY) * n) return false;
    if (above > SPRAY * n && ty_parallel_sum(gf->wet.n, BLOCK, count_not_flying, &job) > SPRAY * n)
        return false;
    job.above = speed * fmin(SPRAY_TIMES, (cfl + SPRAY_BEYOND) / cfl);
    above = ty_parallel_sum(gf->wet.n, BLOCK, count_block, &job);
    return !(above > FEW * n) ||
           (may_fly && !(ty_parallel_sum(gf->wet.n, BLOCK, count_not_flying, &job) > FEW * n));
}

// What goes farthest goes about as far as in the step before, and the layer beyond is needed for values
// between. Should it go yet farther, ty_gridflow_pace makes the step shorter.
int ty_gridflow_layers(const ty_gridflow* gf)
{
    double farthest = fmax(gf->max_speed * gf->dt_limit * gf->cells.per_h, gf->def->cfl);
    return (int)fmin(ceil((1.0 + TY_STEP_SLACK) * farthest + FARTHER) + 1.0, gf->most_layers);
}

double ty_gridflow_pace(const ty_gridflow* gf, const double* square, double top)
{
    double cfl = gf->def->cfl, fast = top;
    double slow = top * fmax(1.0 / MOST_TIMES, (1.0 + TY_STEP_SLACK) * cfl / (gf->layers - 1));
    for (int k = 0; k < HALVINGS; ++k) {
        double middle = 0.5 * (slow + fast);
        if (is_enough(gf, square, middle)) fast = middle;
        else slow = middle;
    }
    return fast;
}
