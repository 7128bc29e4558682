// SPDX-License-Identifier: Apache-2.0
// Which cells are liquid, and which faces carry its velocity.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

// A face between two air cells flies freely when its centre is this deep in liquid, cells: drops
// and sheets that no cell centre meets. Less is the rounding of an ordinary surface.
static const double FREE_DEPTH = 0.1;
static const double SAME_PLACE = 1e-9;    // cells

typedef struct sample_job {
    ty_gridflow* gf;
    ty_sampler distance;
    int axis;
    double* out;
    const double* values;    // of the tracker, at memory coordinates 0, 0, 0; or NULL
    int64_t stride[3];
} sample_job;

void ty_gridflow_find_box(ty_gridflow* gf, const ty_liquid* liquid)
{
    const ty_cells* c = &gf->cells;
    const ty_tri_mesh* surface = liquid->surface;
    ty_box box = ty_box_empty();
    for (int v = 0; surface && v < surface->n_verts; ++v) ty_box_add(&box, surface->vert[v]);
    int margin = gf->layers + 2;
    for (int axis = 0; axis < 3; ++axis) {
        double low = (box.lo[axis] - c->origin[axis]) / c->h,
               high = (box.hi[axis] - c->origin[axis]) / c->h;
        if (!surface) low = 0.0, high = c->n[axis];
        if (!(low <= high)) low = high = -margin - 2.0;    // no liquid: an empty box
        gf->lo[axis] = (int)ty_clamp(floor(low) - margin, 0.0, c->n[axis]) + 1;
        gf->hi[axis] = (int)ty_clamp(ceil(high) + margin, 0.0, c->n[axis]) + 1;
    }
}

// The tracker's own values where its lattice has the cells' centres.
static const double* same_values(const ty_cells* c, const ty_liquid* liquid, int64_t stride[3])
{
    const ty_lattice* l = &liquid->lattice;
    const double* at = liquid->values;
    int64_t step = 1;
    if (!at || l->cell != c->h) return NULL;
    for (int axis = 0; axis < 3; ++axis) {
        double shift = (c->origin[axis] - l->origin[axis]) * c->per_h +
                       0.5;    // of memory coordinate 1
        int64_t first = llround(shift);
        if (fabs(shift - (double)first) > SAME_PLACE || first < 0 ||
            first + c->n[axis] > l->n[axis])
            return NULL;
        at += (first - 1) * step;
        stride[axis] = step;
        step *= l->n[axis];
    }
    return at;
}

static void copy_rows(void* ctx, ty_range r)
{
    const sample_job* job = ctx;
    ty_gridflow* gf = job->gf;
    int rows = gf->hi[1] - gf->lo[1];
    for (int64_t row = r.begin; row < r.end; ++row) {
        int j = gf->lo[1] + (int)(row % rows), k = gf->lo[2] + (int)(row / rows);
        const double* from = job->values + job->stride[1] * j + job->stride[2] * k;
        memcpy(gf->phi + ty_cell_index(&gf->cells, gf->lo[0], j, k), from + gf->lo[0],
               (size_t)(gf->hi[0] - gf->lo[0]) * sizeof *from);
    }
}

static void cell_rows(void* ctx, ty_range r)
{
    const sample_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    int rows = gf->hi[1] - gf->lo[1];
    for (int64_t row = r.begin; row < r.end; ++row) {
        int j = gf->lo[1] + (int)(row % rows), k = gf->lo[2] + (int)(row / rows);
        for (int begin = gf->lo[0]; begin < gf->hi[0]; begin += TY_SAMPLE_BATCH) {
            int n = gf->hi[0] - begin < TY_SAMPLE_BATCH ? gf->hi[0] - begin : TY_SAMPLE_BATCH;
            double x[TY_SAMPLE_BATCH][3];
            int first = ty_cell_index(c, begin, j, k);
            ty_cell_center(c, first, x[0]);
            for (int i = 1; i < n; ++i) {
                x[i][0] = c->origin[0] + c->h * (begin + i - 0.5);
                x[i][1] = x[0][1], x[i][2] = x[0][2];
            }
            ty_sample(&job->distance, n, (const double(*)[3])x, gf->phi + first);
        }
    }
}

static void reset_phi(void* ctx, ty_range r)
{
    ty_gridflow* gf = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) gf->phi[i] = gf->cells.h;
}

static bool has_open_face(const ty_gridflow* gf, int cell)
{
    for (int axis = 0; axis < 3; ++axis)
        if (gf->open[axis][cell] > 0.0 || gf->open[axis][cell + gf->cells.stride[axis]] > 0.0)
            return true;
    return false;
}

static ty_status list_cells(ty_gridflow* gf)
{
    const ty_cells* c = &gf->cells;
    double near = TY_NEAR * c->h;
    bool ok = true;
    memset(gf->state, TY_CELL_AIR, (size_t)c->count);
    gf->wet.n = gf->near.n = 0;
    for (int k = gf->lo[2]; k < gf->hi[2]; ++k)
        for (int j = gf->lo[1]; j < gf->hi[1]; ++j)
            for (int i = gf->lo[0]; i < gf->hi[0]; ++i) {
                int cell = ty_cell_index(c, i, j, k);
                if (!(gf->phi[cell] < near)) continue;
                if (!ty_is_wet(gf, gf->phi[cell]) || !has_open_face(gf, cell)) {
                    ok = ok && ty_array_push(&gf->near, cell);
                    continue;
                }
                gf->state[cell] = TY_CELL_LIQUID;
                gf->row[cell] = (int)gf->wet.n;
                ok = ok && ty_array_push(&gf->wet, cell);
            }
    return ok ? ty_ok() : ty_no_memory("liquid cells");
}

static bool add_face(ty_gridflow* gf, int axis, int f)
{
    gf->mark[axis][f] = 1;
    return ty_array_push(&gf->face[axis], f);
}

// Every open face of a liquid cell, once: the upper ones only where no liquid cell follows.
static ty_status list_faces(ty_gridflow* gf)
{
    bool ok = true;
    for (int axis = 0; axis < 3; ++axis) {
        int up = gf->cells.stride[axis];
        memset(gf->mark[axis], 0, (size_t)gf->cells.count);
        gf->face[axis].n = 0;
        for (int64_t i = 0; i < gf->wet.n && ok; ++i) {
            int cell = gf->wet.at[i];
            if (gf->open[axis][cell] > 0.0) ok = add_face(gf, axis, cell);
            if (gf->state[cell + up] == TY_CELL_LIQUID) continue;
            // On an open side the pressure is given at the side itself: a ghost as far outside as
            // we are inside.
            int at[3];
            if (gf->within[cell] & TY_BESIDE_SIDE) {
                ty_cell_coords(&gf->cells, cell, at);
                if (at[axis] == gf->cells.n[axis]) gf->phi[cell + up] = -gf->phi[cell];
            }
            if (gf->open[axis][cell + up] > 0.0) ok = ok && add_face(gf, axis, cell + up);
            if (!ok) break;
        }
        for (int64_t i = 0; i < gf->wet.n; ++i) {
            int cell = gf->wet.at[i], at[3];
            if (!(gf->within[cell] & TY_BESIDE_SIDE)) continue;
            ty_cell_coords(&gf->cells, cell, at);
            if (at[axis] == 1) gf->phi[cell - up] = -gf->phi[cell];
        }
    }
    return ok ? ty_ok() : ty_no_memory("liquid faces");
}

static bool beside_liquid(const ty_gridflow* gf, int cell)
{
    for (int axis = 0; axis < 3; ++axis) {
        int up = gf->cells.stride[axis];
        if (gf->state[cell - up] == TY_CELL_LIQUID && gf->open[axis][cell] > 0.0) return true;
        if (gf->state[cell + up] == TY_CELL_LIQUID && gf->open[axis][cell + up] > 0.0) return true;
    }
    return false;
}

// Where thin liquid at a face would be deepest: its centre, or beside a closed side the point on
// it. Not so where liquid cells are beside: a slanting surface that goes on to the side is not thin.
static void deepest_point(const ty_gridflow* gf, int axis, int f, double x[3])
{
    const ty_cells* c = &gf->cells;
    int at[3];
    ty_cell_coords(c, f, at);
    ty_face_center(c, axis, f, x);
    if (beside_liquid(gf, f) || beside_liquid(gf, f - c->stride[axis])) return;
    for (int e = 0; e < 3; ++e) {
        if (e == axis) continue;
        if (at[e] == 1 && gf->closed[2 * e]) x[e] -= 0.5 * c->h;
        if (at[e] == c->n[e] && gf->closed[2 * e + 1]) x[e] += 0.5 * c->h;
    }
}

static void face_distances(void* ctx, ty_range r)
{
    const sample_job* job = ctx;
    double x[TY_SAMPLE_BATCH][3];
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i)
        deepest_point(job->gf, job->axis, job->gf->layer.at[r.begin + i], x[i]);
    ty_sample(&job->distance, n, (const double(*)[3])x, job->out + r.begin);
}

static ty_status list_candidates(ty_gridflow* gf, int axis)
{
    int back = gf->cells.stride[axis];
    double near = 0.5 * gf->cells.h;
    gf->layer.n = 0;
    for (int64_t k = 0; k < gf->near.n; ++k) {
        int f = gf->near.at[k];
        if (!(gf->phi[f] < near) || !(gf->phi[f - back] < near)) continue;
        if (gf->state[f - back] || gf->open[axis][f] <= 0.0) continue;
        if (!ty_array_push(&gf->layer, f)) return ty_no_memory("thin liquid");
    }
    return ty_ok();
}

static ty_status list_free_faces(ty_gridflow* gf, const ty_liquid* liquid)
{
    for (int axis = 0; axis < 3; ++axis) {
        gf->n_wet_faces[axis] = gf->face[axis].n;
        TY_TRY(list_candidates(gf, axis));
        if (!ty_array_resize(&gf->scratch, gf->layer.n)) return ty_no_memory("thin liquid");
        sample_job job = {
            .gf = gf, .distance = liquid->distance, .axis = axis, .out = gf->scratch.at};
        ty_parallel_for(gf->layer.n, TY_SAMPLE_BATCH, face_distances, &job);
        for (int64_t i = 0; i < gf->layer.n; ++i)
            if (gf->scratch.at[i] < -FREE_DEPTH * gf->cells.h &&
                !add_face(gf, axis, gf->layer.at[i]))
                return ty_no_memory("thin liquid");
    }
    return ty_ok();
}

ty_status ty_gridflow_classify(ty_gridflow* gf, const ty_liquid* liquid)
{
    sample_job job = {.gf = gf, .distance = liquid->distance};
    ty_parallel_for(gf->cells.count, 1 << 16, reset_phi, gf);
    int64_t rows = (int64_t)(gf->hi[1] - gf->lo[1]) * (gf->hi[2] - gf->lo[2]);
    job.values = same_values(&gf->cells, liquid, job.stride);
    if (gf->hi[0] > gf->lo[0]) ty_parallel_for(rows, 8, job.values ? copy_rows : cell_rows, &job);
    TY_TRY(list_cells(gf));
    TY_TRY(ty_gridflow_close_pockets(gf));
    if (gf->pocket.n) TY_TRY(list_cells(gf));    // without those that have no other open face
    TY_TRY(list_faces(gf));
    return list_free_faces(gf, liquid);
}
