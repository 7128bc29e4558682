// SPDX-License-Identifier: Apache-2.0
// How much liquid a step should leave in every cell at the surface, and how much of it it lost.
//
//     should = |old liquid in the cell| + what came in through its faces - what went out
//
// Through a face goes the solver's flux, and of it the share that was liquid: that of the old
// liquid along the way back from the face. What leaves a cell so comes into the next one, whatever
// the velocities: the sum over all cells is that of the old liquid, and of what sources let out.
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/levelset.h"
#include "world/trace.h"

enum { BLOCK = 128, SUB = 2 };
enum { FACE_POINTS = SUB * SUB, BATCH = TY_SAMPLE_BATCH / FACE_POINTS, MOST_PIECES = 16 };
enum { COVER = 4, COVER_POINTS = COVER * COVER };    // on faces beside sources

// Cells from the surface: farther cells hold nothing, or nothing but liquid. Inside it is deeper,
// because solvers change the velocity a cell below the surface (solve/grid/expose.c) and K reaches
// so far.
static const double NEAR = 1.6, DEEP = 2.6;
static const double FAR_SLACK = 0.3;    // cells by which linear values and their slope may be off
static const double HALF_DIAGONAL = 0.87;    // cells
static const double PATH_SLACK = 1.5;        // a path's length against that of its last velocity
static const double FULL = 0.99;             // cells^3: under water
static const double SAME_CELL = 1e-6;        // share by which lattices of the same size may differ

typedef struct weigh_job {
    ty_levelset* ls;
    const ty_flow* flow;
    ty_flow middle;    // the flow in the middle of the step
    double dt;
} weigh_job;

// Faces that the surface may have come through, and points on them on their way back.
typedef struct face_batch {
    int n, at[BATCH];                // place in the list of fluxes
    double flux[BATCH];              // of all that goes through
    double x[TY_SAMPLE_BATCH][3];    // points of faces
    double middle[BATCH][3];         // the faces' middles, which are followed; the points go along
    double reach;                    // metres that one of them may go
} face_batch;

// Whether a closed cell is open in part.
static bool may_hold(const ty_levelset* ls, int cell)
{
    double low[3];
    ty_levelset_low_corner(ls, cell, low);
    bool in = ls->solid && ls->solid[cell] > -HALF_DIAGONAL * ls->grid.cell;
    for (int axis = 0; axis < 3; ++axis)
        in = in && low[axis] + ls->grid.cell > ls->lo[axis] && low[axis] < ls->hi[axis];
    return in;
}

static ty_status list_cells(ty_levelset* ls)
{
    double near = NEAR * ls->grid.cell, deep = DEEP * ls->grid.cell;
    ls->kept.n = 0;
    for (int64_t i = 0; i < ls->active.n; ++i) {
        int cell = ls->active.at[i];
        double phi = ls->phi[cell];
        if (!(phi > -deep && phi < near) && !(fabs(ls->next[cell]) < near)) continue;
        if (ls->closed[cell] && !may_hold(ls, cell)) continue;
        if (ty_levelset_near_source(ls, cell, -HALF_DIAGONAL)) continue;
        if (!ty_array_push(&ls->kept, ((ty_kept){.cell = cell})))
            return ty_no_memory("cells at the surface");
    }
    return ty_ok();
}

// Listed cells and their upper neighbours, whose low faces are the listed cells' faces.
// slot[cell]: place among them.
static ty_status list_faces(ty_levelset* ls)
{
    int64_t size = ty_grid_size(&ls->grid);
    if (!ty_array_resize(&ls->slot, size)) return ty_no_memory("cells at the surface");
    for (int64_t c = 0; c < size; ++c) ls->slot.at[c] = -1;
    ls->corner.n = 0;
    for (int64_t i = 0; i < ls->kept.n; ++i)
        for (int k = 0; k < 4; ++k) {
            int64_t owner = ls->kept.at[i].cell + (k ? ty_grid_stride(&ls->grid, k - 1) : 0);
            if (ls->slot.at[owner] >= 0) continue;
            ls->slot.at[owner] = (int)ls->corner.n;
            if (!ty_array_push(&ls->corner, (int)owner))
                return ty_no_memory("cells at the surface");
        }
    bool ok = ty_array_resize(&ls->foot, 6 * ls->corner.n);
    return ok ? ty_ok() : ty_no_memory("cells at the surface");
}

static void middle_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const weigh_job* job = self;
    double motion[TY_SAMPLE_BATCH][6];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        ty_sample(&job->flow->motion, count, x + at, motion[0]);
        for (int i = 0; i < count; ++i)
            for (int axis = 0; axis < 3; ++axis)
                out[3 * (at + i) + axis] = motion[i][axis] + 0.5 * job->dt * motion[i][3 + axis];
    }
}

// Liquid shares of the boxes around points of faces at two places of their ways, the sum of both;
// phi[half][point of face].
static double two_shares(const double (*phi)[TY_SAMPLE_BATCH], int first)
{
    double sum = 0.0;
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < FACE_POINTS; ++k) {
            const double* p = phi[half] + first;
            double u = p[k ^ 1] - p[k], v = p[k ^ 2] - p[k], w = phi[1 - half][first + k] - p[k];
            sum += ty_share_below(p[k], sqrt(u * u + v * v + w * w));
        }
    return sum;
}

// The share of liquid that came through each face, by the values on the way.
static void follow(const weigh_job* job, face_batch* b)
{
    ty_levelset* ls = job->ls;
    double share[BATCH] = {0}, to[BATCH][3], at[TY_SAMPLE_BATCH][3], phi[2][TY_SAMPLE_BATCH];
    int n = b->n * FACE_POINTS;
    int pieces = (int)ty_clamp(ceil(b->reach / ls->grid.cell), 1.0, MOST_PIECES);
    for (int piece = 0; piece < pieces; ++piece) {
        ty_trace_back(&job->middle, job->dt / pieces, b->n, (const double(*)[3])b->middle, to);
        for (int half = 0; half < 2; ++half) {
            for (int i = 0; i < n; ++i) {
                int face = i / FACE_POINTS;
                ty_vec3 way = ty_load3(to[face]) - ty_load3(b->middle[face]);
                ty_store3(at[i], ty_load3(b->x[i]) + (0.25 + 0.5 * half) * way);
            }
            ty_grid_linear(&ls->grid, ls->next, n, (const double(*)[3])at, phi[half]);
            ty_levelset_fill_sources(ls, n, (const double(*)[3])at, phi[half]);
            for (int i = 0; i < n; ++i) {
                double out = ty_levelset_beyond_open(ls, at[i]);
                if (out > 0.0) phi[half][i] = ty_max(phi[half][i], out);
            }
        }
        for (int i = 0; i < b->n; ++i)
            share[i] += two_shares((const double(*)[TY_SAMPLE_BATCH])phi, i * FACE_POINTS);
        for (int i = 0; i < n; ++i) {
            int face = i / FACE_POINTS;
            ty_vec3 way = ty_load3(to[face]) - ty_load3(b->middle[face]);
            ty_store3(b->x[i], ty_load3(b->x[i]) + way);
        }
        memcpy(b->middle, to, (size_t)b->n * sizeof *to);
    }
    for (int i = 0; i < b->n; ++i)
        ls->foot.at[b->at[i]] = b->flux[i] * share[i] / (2 * pieces * FACE_POINTS);
    b->n = 0;
    b->reach = 0.0;
}

// Points of the low face of a cell, `sub` along each edge, and its centre at the end.
static void face_points(const ty_levelset* ls, int cell, int axis, int sub, double (*x)[3])
{
    double low[3], h = ls->grid.cell;
    ty_levelset_low_corner(ls, cell, low);
    for (int k = 0; k <= sub * sub; ++k) {
        bool last = k == sub * sub;
        memcpy(x[k], low, sizeof low);
        x[k][(axis + 1) % 3] += last ? 0.5 * h : (k % sub + 0.5) / sub * h;
        x[k][(axis + 2) % 3] += last ? 0.5 * h : (k / sub + 0.5) / sub * h;
    }
}

// The share of a face that sources cover; *liquid: and of what is liquid there and now.
static double source_share(const ty_levelset* ls, int cell, int axis, double* liquid)
{
    double x[COVER_POINTS + 1][3], phi[2][COVER_POINTS], share[2] = {0};
    for (int k = 0; k < COVER_POINTS; ++k) phi[0][k] = ls->band;
    face_points(ls, cell, axis, COVER, x);
    ty_grid_linear(&ls->grid, ls->next, COVER_POINTS, (const double(*)[3])x, phi[1]);
    for (int i = 0; i < 2; ++i) {
        ty_levelset_fill_sources(ls, COVER_POINTS, (const double(*)[3])x, phi[i]);
        for (int k = 0; k < COVER_POINTS; ++k) {
            double u = phi[i][k ^ 1] - phi[i][k], v = phi[i][k ^ COVER] - phi[i][k];
            share[i] += ty_share_below(phi[i][k], sqrt(u * u + v * v)) / COVER_POINTS;
        }
    }
    *liquid = share[1];
    return share[0];
}

// What goes through the low face of a cell, in cells^3 a step; into foot[at], and what of it is
// liquid after it.
static void face_flux(const weigh_job* job, face_batch* b, int cell, int axis, int at)
{
    ty_levelset* ls = job->ls;
    double x[FACE_POINTS + 1][3], v[3], h = ls->grid.cell, through[9], liquid;
    face_points(ls, cell, axis, SUB, x);
    ty_sample(&job->flow->flux, 1, (const double(*)[3])x[FACE_POINTS], through);
    double flux = (through[axis] + 0.5 * job->dt * through[3 + axis]) * job->dt / h;
    double phi = 0.5 * (ls->next[cell] + ls->next[cell - ty_grid_stride(&ls->grid, axis)]);
    ls->foot.at[at] = flux;
    ls->foot.at[at + 3] = phi < 0.0 ? flux : 0.0;
    if (ty_levelset_near_source(ls, cell, HALF_DIAGONAL) &&
        source_share(ls, cell, axis, &liquid) > 0.0) {
        ls->foot.at[at + 3] = flux * liquid;
        return;
    }
    double beside = (HALF_DIAGONAL + FAR_SLACK) * h, fastest = job->flow->max_speed * job->dt;
    if (flux == 0.0 || fabs(phi) > PATH_SLACK * fastest + beside) return;
    ty_sample(&job->middle.velocity, 1, (const double(*)[3])x[FACE_POINTS], v);
    double reach = sqrt(ty_dot(ty_load3(v), ty_load3(v))) * job->dt;
    if (fabs(phi) > PATH_SLACK * reach + beside) return;
    memcpy(b->x[b->n * FACE_POINTS], x, FACE_POINTS * sizeof *x);
    memcpy(b->middle[b->n], x[FACE_POINTS], sizeof *x);
    b->flux[b->n] = flux;
    b->at[b->n++] = at + 3;
    b->reach = ty_max(b->reach, reach);
    if (b->n == BATCH) follow(job, b);
}

static void weigh_faces(void* ctx, ty_range r)
{
    const weigh_job* job = ctx;
    face_batch b = {.n = 0};
    for (int64_t i = r.begin; i < r.end; ++i)
        for (int axis = 0; axis < 3; ++axis)
            face_flux(job, &b, job->ls->corner.at[i], axis, (int)(6 * i + axis));
    if (b.n) follow(job, &b);
}

// What sources let out through a cell's faces does not come out of the cell.
static double let_out(const weigh_job* job, int cell)
{
    const ty_levelset* ls = job->ls;
    double sum = 0.0;
    for (int side = 0; side < 6; ++side) {
        int axis = side / 2, owner = cell + (side % 2) * (int)ty_grid_stride(&ls->grid, axis);
        double x[FACE_POINTS + 1][3], through[9];
        face_points(ls, owner, axis, SUB, x);
        ty_sample(&job->flow->flux, 1, (const double(*)[3])x[FACE_POINTS], through);
        if (through[6 + axis] == 0.0) continue;
        double liquid, share = source_share(ls, owner, axis, &liquid);
        double out = ls->foot.at[6 * ls->slot.at[owner] + axis] * (side % 2 ? 1.0 : -1.0);
        sum += ty_max(0.0, share * out);
    }
    return sum;
}

static void weigh_old(void* ctx, ty_range r)
{
    const weigh_job* job = ctx;
    ty_levelset* ls = job->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->kept.at[i].cell;
        double area, all = 0.0, old = ty_levelset_liquid_in(ls, cell, ls->next, &area), sum = old;
        for (int axis = 0; axis < 3; ++axis) {
            int low = 6 * ls->slot.at[cell] + axis,
                high = 6 * ls->slot.at[cell + ty_grid_stride(&ls->grid, axis)] + axis;
            sum += ls->foot.at[low + 3] - ls->foot.at[high + 3];
            all += ls->foot.at[high] - ls->foot.at[low];
        }
        if (ty_levelset_near_source(ls, cell, HALF_DIAGONAL)) {
            sum = old > FULL ? sum + all : sum;
            if (sum < old) sum = ty_min(sum + let_out(job, cell), old);
        }
        ls->kept.at[i].lost = sum;
    }
}

static void weigh_new(void* ctx, ty_range r)
{
    ty_levelset* ls = ((const weigh_job*)ctx)->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_kept* k = &ls->kept.at[i];
        k->lost -= ty_levelset_liquid_in(ls, k->cell, ls->phi, &k->area);
    }
}

bool ty_levelset_can_weigh(const ty_levelset* ls, const ty_flow* flow)
{
    return flow->flux.eval && fabs(flow->cell - ls->grid.cell) < SAME_CELL * flow->cell;
}

ty_status ty_levelset_weigh(ty_levelset* ls, const ty_flow* flow, double dt)
{
    weigh_job job = {.ls = ls, .flow = flow, .dt = dt};
    job.middle = (ty_flow){.velocity = flow->velocity, .cell = flow->cell};
    if (flow->motion.eval) job.middle.velocity = (ty_sampler){&job, 3, 0.0, middle_velocity};
    TY_TRY(list_cells(ls));
    TY_TRY(list_faces(ls));
    ty_parallel_for(ls->corner.n, BLOCK, weigh_faces, &job);
    ty_parallel_for(ls->kept.n, BLOCK, weigh_old, &job);
    return ty_ok();
}

void ty_levelset_find_lost(ty_levelset* ls)
{
    weigh_job job = {.ls = ls};
    ty_parallel_for(ls->kept.n, BLOCK, weigh_new, &job);
}
