// SPDX-License-Identifier: Apache-2.0
// How much liquid a step should leave in every cell at the surface, and how much of it it lost. By the
// solver's fluxes; swept.c does without.
//
//     should = |old liquid in the cell| + what came in through its faces - what went out
//
// Through a face goes the solver's flux, and of it the share that was liquid: that of the old
// liquid along the way back from the face. What leaves a cell so comes into the next one, whatever
// the velocities: the sum over all cells is that of the old liquid, and of what sources let out.
#include "track/levelset/weigh.h"

#include <string.h>

#include "core/parallel.h"

enum { BLOCK = 128, BATCH = TY_FACE_BATCH };
enum { MOST_PIECES = 16, N_BATCHES = 4 };            // paths of 1, 2, 3 pieces, and of more
enum { COVER = 4, COVER_POINTS = COVER * COVER };    // on faces beside sources

// Cells from the surface: farther cells hold nothing, or nothing but liquid. Inside it is deeper,
// because solvers change the velocity a cell below the surface (solve/grid/expose.c) and K reaches
// so far.
static const double NEAR = 1.6, DEEP = 2.6;
static const double HALF_DIAGONAL = 0.87;    // cells
static const double BOX_DIAGONAL = 1.74;     // cells: deeper in a source no box is cut
// Cells: as far from a face's middle as its own points tell, with slopes up to 1.3
static const double BESIDE = 0.8;
static const double BEND = 0.5;          // share of a way by which a straight one may miss it
static const double PATH_SLACK = 1.5;    // a path's length against that of its last velocity
static const double FULL = 0.99;         // cells^3: under water
static const double SAME_CELL = 1e-6;    // share by which lattices of the same size may differ

// Faces of a block of cells, with their middles and the velocities there.
typedef struct face_list {
    int n, cell[3 * BLOCK], axis[3 * BLOCK], at[3 * BLOCK];
    double middle[3 * BLOCK][3], v[3 * BLOCK][3];
} face_list;

// The lowest corners of a block of cells and the velocities at their lower faces.
typedef struct cell_block {
    double low[BLOCK][3], v[BLOCK][3][3];
} cell_block;

// Whether a closed cell is open in part.
static bool may_hold(const ty_levelset* ls, int cell)
{
    double low[3];
    double least = SAME_CELL *
                   ls->grid.cell;    // a row of cells that rounding alone puts inside is not
    ty_levelset_low_corner(ls, cell, low);
    bool in = ls->solid ? ls->solid[cell] > -HALF_DIAGONAL * ls->grid.cell : ls->by_surface;
    for (int axis = 0; axis < 3; ++axis)
        in = in && low[axis] + ls->grid.cell > ls->lo[axis] + least &&
             low[axis] < ls->hi[axis] - least;
    return in;
}

static ty_status list_cells(ty_levelset* ls, bool sources)
{
    double near = NEAR * ls->grid.cell, deep = DEEP * ls->grid.cell;
    ls->kept.n = 0;
    for (int64_t i = 0; i < ls->active.n; ++i) {
        int cell = ls->active.at[i];
        double phi = ls->phi[cell];
        if (!(phi > -deep && phi < near) && !(fabs(ls->next[cell]) < near)) continue;
        if (ls->closed[cell] && !may_hold(ls, cell)) continue;
        if (sources && ty_levelset_near_source(ls, cell, -BOX_DIAGONAL)) continue;
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
    ls->corner.n = 0;
    if (!ty_array_resize(&ls->slot, size) || !ty_array_reserve(&ls->corner, 4 * ls->kept.n + 1))
        return ty_no_memory("cells at the surface");
    memset(ls->slot.at, -1, (size_t)size * sizeof *ls->slot.at);
    for (int64_t i = 0; i < ls->kept.n; ++i)
        for (int k = 0; k < 4; ++k)
            ty_levelset_list(ls->kept.at[i].cell + (k ? ty_grid_stride(&ls->grid, k - 1) : 0),
                             ls->slot.at, ls->corner.at, &ls->corner.n);
    bool ok = ty_array_resize(&ls->foot, 6 * ls->corner.n);
    return ok ? ty_ok() : ty_no_memory("cells at the surface");
}

static void middle_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_weigh_job* job = self;
    double motion[TY_SAMPLE_BATCH][6];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        ty_sample(&job->flow->motion, count, x + at, motion[0]);
        for (int i = 0; i < count; ++i)
            for (int axis = 0; axis < 3; ++axis)
                out[3 * (at + i) + axis] = motion[i][axis] + 0.5 * job->dt * motion[i][3 + axis];
    }
}

// The faces' middles after a piece of their way: by the midpoint rule, from velocities that are
// known. `v` becomes those at the end when there is another piece.
static void step_back(const ty_weigh_job* job, double dt, bool more, ty_face_batch* b,
                      double (*to)[3])
{
    for (int i = 0; i < b->n; ++i)
        ty_store3(to[i], ty_load3(b->middle[i]) - 0.5 * dt * ty_load3(b->v[i]));
    ty_sample(&job->middle, b->n, (const double(*)[3])to, b->v[0]);
    for (int i = 0; i < b->n; ++i)
        ty_store3(to[i], ty_load3(b->middle[i]) - dt * ty_load3(b->v[i]));
    if (more) ty_sample(&job->middle, b->n, (const double(*)[3])to, b->v[0]);
}

// The share of liquid that came through each face, by the values on the way.
static void follow(const ty_weigh_job* job, ty_face_batch* b)
{
    ty_levelset* ls = job->ls;
    double share[BATCH] = {0}, to[BATCH][3];
    int pieces = (int)ty_clamp(ceil(b->reach / ls->grid.cell), 1.0, MOST_PIECES);
    for (int piece = 0; piece < pieces; ++piece) {
        step_back(job, job->dt / pieces, piece + 1 < pieces, b, to);
        ty_levelset_add_shares(job, b, (const double(*)[3])to, share);
        memcpy(b->middle, to, (size_t)b->n * sizeof *to);
    }
    for (int i = 0; i < b->n; ++i) ls->foot.at[b->at[i]] = b->flux[i] * share[i] / pieces;
    b->n = 0;
    b->reach = 0.0;
}

static void face_middle(const ty_levelset* ls, int cell, int axis, double x[3])
{
    ty_levelset_low_corner(ls, cell, x);
    for (int d = 0; d < 3; ++d)
        if (d != axis) x[d] += 0.5 * ls->grid.cell;
}

// Points of the low face of a cell, COVER along each edge.
static void cover_points(const ty_levelset* ls, int cell, int axis, double (*x)[3])
{
    double low[3], h = ls->grid.cell;
    ty_levelset_low_corner(ls, cell, low);
    for (int k = 0; k < COVER_POINTS; ++k) {
        memcpy(x[k], low, sizeof low);
        x[k][(axis + 1) % 3] += (k % COVER + 0.5) / COVER * h;
        x[k][(axis + 2) % 3] += (k / COVER + 0.5) / COVER * h;
    }
}

// The larger difference to the points before and after point k of a face: a source's distance is that
// of its nearest side, which changes where the surface does not.
static double steeper(const double* phi, int k, int place, int stride)
{
    double before = place > 0 ? fabs(phi[k] - phi[k - stride]) : 0.0;
    double after = place + 1 < COVER ? fabs(phi[k + stride] - phi[k]) : 0.0;
    return ty_max(before, after);
}

// The share of a face that sources cover; *liquid: and of what is liquid there and now.
static double source_share(const ty_levelset* ls, int cell, int axis, double* liquid)
{
    double x[COVER_POINTS][3], phi[2][COVER_POINTS], share[2] = {0};
    for (int k = 0; k < COVER_POINTS; ++k) phi[0][k] = ls->band;
    cover_points(ls, cell, axis, x);
    ty_grid_linear(&ls->grid, ls->next, COVER_POINTS, (const double(*)[3])x, phi[1]);
    for (int i = 0; i < 2; ++i) {
        ty_levelset_fill_sources(ls, COVER_POINTS, (const double(*)[3])x, phi[i]);
        for (int k = 0; k < COVER_POINTS; ++k) {
            double u = steeper(phi[i], k, k % COVER, 1), v = steeper(phi[i], k, k / COVER, COVER);
            share[i] += ty_share_below(phi[i][k], sqrt(u * u + v * v)) / COVER_POINTS;
        }
    }
    *liquid = share[1];
    return share[0];
}

// The velocities at a cell's low faces.
static void sample_faces(const ty_weigh_job* job, const double low[3], double (*v)[3])
{
    double middle[3][3];
    for (int axis = 0; axis < 3; ++axis)
        for (int d = 0; d < 3; ++d)
            middle[axis][d] = low[d] + (d == axis ? 0.0 : 0.5 * job->ls->grid.cell);
    ty_sample(&job->middle, 3, (const double(*)[3])middle, v[0]);
}

// What goes through the low faces of n cells, in cells^3 a step: into foot[], six per cell. One
// point per cell is nearest to all three of them.
static void sample_fluxes(const ty_weigh_job* job, int n, cell_block* b, double* foot)
{
    double x[BLOCK][3], through[BLOCK][9], h = job->ls->grid.cell;
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) x[i][axis] = b->low[i][axis] + 0.25 * h;
    ty_sample(&job->flow->flux, n, (const double(*)[3])x, through[0]);
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)
            foot[6 * i + axis] = (through[i][axis] + 0.5 * job->dt * through[i][3 + axis]) *
                                 job->dt / h;
    if (job->on_lattice) ty_sample(&job->flow->middle_faces, n, (const double(*)[3])x, b->v[0][0]);
    else
        for (int i = 0; i < n; ++i) sample_faces(job, b->low[i], b->v[i]);
}

static double phi_at_face(const ty_levelset* ls, int cell, int axis)
{
    return 0.5 * (ls->next[cell] + ls->next[cell - ty_grid_stride(&ls->grid, axis)]);
}

// Whether a source covers a part of a face; *liquid: what of its flux is. Where nothing passes beside
// the source, that is what it covers.
static bool beside_source(const ty_weigh_job* job, int cell, int axis, double* liquid)
{
    double x[1][3], through[9], covered = source_share(job->ls, cell, axis, liquid);
    face_middle(job->ls, cell, axis, x[0]);
    ty_sample(&job->flow->flux, 1, (const double(*)[3])x, through);
    if (through[axis] == through[6 + axis]) *liquid = covered;
    return covered > 0.0;
}

// What of a face's flux is liquid when the surface is far from it or it lies beside a source, into
// foot[at]; other faces are listed. `low`: the cell's corner, `v`: the velocity at the face.
static void sort_out(const ty_weigh_job* job, int cell, const double low[3], const double v[3],
                     int axis, int at, face_list* list)
{
    ty_levelset* ls = job->ls;
    double flux = ls->foot.at[at - 3], phi = phi_at_face(ls, cell, axis), liquid;
    ls->foot.at[at] = phi < 0.0 ? flux : 0.0;
    if (flux == 0.0) return;
    if (job->sources && ty_levelset_near_source(ls, cell, HALF_DIAGONAL) &&
        beside_source(job, cell, axis, &liquid)) {
        ls->foot.at[at] = flux * liquid;
        return;
    }
    double way = ty_norm(ty_load3(v)) * job->dt;
    if (fabs(phi) > PATH_SLACK * way + BESIDE * ls->grid.cell) return;
    int n = list->n++;
    list->cell[n] = cell;
    list->axis[n] = axis;
    list->at[n] = at;
    memcpy(list->v[n], v, sizeof list->v[n]);
    for (int d = 0; d < 3; ++d)
        list->middle[n][d] = low[d] + (d == axis ? 0.0 : 0.5 * ls->grid.cell);
}

// Puts a listed face into the batch for ways as long as its own.
static void take_up(const ty_weigh_job* job, const face_list* list, int i, ty_face_batch* batches)
{
    const ty_levelset* ls = job->ls;
    double reach = ty_norm(ty_load3(list->v[i])) * job->dt, h = ls->grid.cell;
    ty_face_batch* b = &batches[(int)ty_clamp(ceil(reach / h) - 1.0, 0.0, N_BATCHES - 1)];
    b->axis[b->n] = list->axis[i];
    memcpy(b->middle[b->n], list->middle[i], sizeof b->middle[0]);
    memcpy(b->v[b->n], list->v[i], sizeof b->v[0]);
    b->flux[b->n] = ls->foot.at[list->at[i] - 3];
    b->at[b->n++] = list->at[i];
    b->reach = ty_max(b->reach, reach);
    if (b->n == BATCH) follow(job, b);
}

// Follows the listed faces whose way, straight back, may come to the surface.
static void follow_near(const ty_weigh_job* job, face_list* list, ty_face_batch* batches)
{
    double half[3 * BLOCK][3], phi[3 * BLOCK];
    for (int i = 0; i < list->n; ++i)
        ty_store3(half[i], ty_load3(list->middle[i]) - 0.5 * job->dt * ty_load3(list->v[i]));
    ty_levelset_old_liquid(job, list->n, (const double(*)[3])half, phi);
    for (int i = 0; i < list->n; ++i) {
        double reach = ty_norm(ty_load3(list->v[i])) * job->dt;
        if (ty_levelset_far_from_way(job->ls, phi[i], (1.0 + BEND) * reach))
            job->ls->foot.at[list->at[i]] = phi[i] < 0.0 ? job->ls->foot.at[list->at[i] - 3] : 0.0;
        else take_up(job, list, i, batches);
    }
}

// What goes through the low faces of cells into foot[], and what of it is liquid after it.
static void weigh_faces(void* ctx, ty_range r)
{
    const ty_weigh_job* job = ctx;
    ty_face_batch batches[N_BATCHES];
    face_list list;
    cell_block b;
    const int* cell = job->ls->corner.at + r.begin;
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) ty_levelset_low_corner(job->ls, cell[i], b.low[i]);
    sample_fluxes(job, n, &b, job->ls->foot.at + 6 * r.begin);
    list.n = 0;
    for (int k = 0; k < N_BATCHES; ++k) batches[k].n = 0, batches[k].reach = 0.0;
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)
            sort_out(job, cell[i], b.low[i], b.v[i][axis], axis,
                     (int)(6 * (r.begin + i) + 3 + axis), &list);
    follow_near(job, &list, batches);
    for (int k = 0; k < N_BATCHES; ++k)
        if (batches[k].n) follow(job, &batches[k]);
}

// What sources let out through a cell's faces does not come out of the cell.
static double let_out(const ty_weigh_job* job, int cell)
{
    const ty_levelset* ls = job->ls;
    double sum = 0.0;
    for (int side = 0; side < 6; ++side) {
        int axis = side / 2, owner = cell + (side % 2) * (int)ty_grid_stride(&ls->grid, axis);
        double x[1][3], through[9];
        face_middle(ls, owner, axis, x[0]);
        ty_sample(&job->flow->flux, 1, (const double(*)[3])x, through);
        if (through[6 + axis] == 0.0) continue;
        double liquid, share = source_share(ls, owner, axis, &liquid);
        double out = ls->foot.at[6 * ls->slot.at[owner] + axis] * (side % 2 ? 1.0 : -1.0);
        sum += ty_max(0.0, share * out);
    }
    return sum;
}

static void weigh_old(void* ctx, ty_range r)
{
    const ty_weigh_job* job = ctx;
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
        double out = 0.0;
        if (job->sources && ty_levelset_near_source(ls, cell, HALF_DIAGONAL)) {
            out = let_out(job, cell);
            sum = old > FULL ? sum + all : sum;
            if (sum < old) sum = ty_min(sum + out, old);
        }
        ls->kept.at[i].lost = sum + ls->owed[cell];
        ls->kept.at[i].more = sum - old;
        ls->kept.at[i].let_out = out;
    }
}

static void weigh_new(void* ctx, ty_range r)
{
    ty_levelset* ls = ((const ty_weigh_job*)ctx)->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_kept* k = &ls->kept.at[i];
        double was = k->now;
        k->now = ty_levelset_liquid_in(ls, k->cell, ls->phi, &k->area);
        k->lost += was - k->now;
    }
}

static bool same_cells(const ty_levelset* ls, const ty_flow* flow)
{
    return fabs(flow->cell - ls->grid.cell) < SAME_CELL * flow->cell;
}

static bool has_fluxes(const ty_levelset* ls, const ty_flow* flow)
{
    return flow->flux.eval && same_cells(ls, flow);
}

// Makes distances again before a step; what that loses or makes is owed.
ty_status ty_levelset_redistance_owing(ty_levelset* ls, double reach)
{
    if (!ls->filled_by) return ty_levelset_redistance(ls, reach);
    memcpy(ls->next, ls->phi, (size_t)ty_grid_size(&ls->grid) * sizeof *ls->phi);
    TY_TRY(ty_levelset_activate(ls));
    TY_TRY(list_cells(ls, true));
    TY_TRY(ty_levelset_list_boxes(ls));
    ty_levelset_find_lost(ls, NULL);    // of nothing: what is there, negative
    TY_TRY(ty_levelset_redistance(ls, reach));
    ty_levelset_fill(ls, ls->phi);
    for (int64_t i = 0; i < ls->kept.n; ++i) ls->kept.at[i].lost = 0.0;
    ty_levelset_find_lost(ls, NULL);
    for (int64_t i = 0; i < ls->kept.n; ++i) ls->owed[ls->kept.at[i].cell] += ls->kept.at[i].lost;
    return ty_ok();
}

bool ty_levelset_can_weigh(const ty_levelset* ls, const ty_flow* flow)
{
    return has_fluxes(ls, flow) || flow->keeps_volume;
}

bool ty_levelset_on_lattice(const ty_levelset* ls, const ty_flow* flow, double dt)
{
    return flow->middle_center.eval && flow->middle_faces.eval && flow->middle_dt == dt &&
           same_cells(ls, flow);
}

ty_status ty_levelset_weigh(ty_levelset* ls, const ty_flow* flow, double dt)
{
    ty_weigh_job job = {.ls = ls, .flow = flow, .dt = dt, .middle = flow->velocity};
    if (flow->middle.eval && flow->middle_dt == dt) job.middle = flow->middle;
    else if (flow->motion.eval) job.middle = (ty_sampler){&job, 3, 0.0, middle_velocity};
    job.on_lattice = ty_levelset_on_lattice(ls, flow, dt);
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source source = ty_world_source(ls->world, i);
        job.sources |= ty_levelset_fills(ls, &source);
    }
    for (int side = 0; side < TY_N_SIDES; ++side) job.open |= !ls->closed_side[side];
    ty_levelset_fill(ls, ls->next);
    ls->by_surface = !has_fluxes(ls, flow);
    TY_TRY(list_cells(ls, job.sources));
    TY_TRY(ty_levelset_list_boxes(ls));
    if (ls->by_surface) return ty_levelset_weigh_swept(&job);
    TY_TRY(list_faces(ls));
    ty_parallel_for(ls->corner.n, BLOCK, weigh_faces, &job);
    ty_levelset_measure_boxes(ls, ls->next, NULL);
    ty_parallel_for(ls->kept.n, BLOCK, weigh_old, &job);
    return ls->filled_by ? ty_levelset_meet_sources(&job) : ty_ok();
}

void ty_levelset_find_lost(ty_levelset* ls, const double* before)
{
    ty_weigh_job job = {.ls = ls};
    ty_levelset_measure_boxes(ls, ls->phi, before);
    ty_parallel_for(ls->kept.n, BLOCK, weigh_new, &job);
}
