// SPDX-License-Identifier: Apache-2.0
// What goes through faces: the liquid's own as the projection left them, before slivers are blended
// and solids continued, so that no liquid cell gains or loses; elsewhere continued velocities
// through the open parts. A source lets out its own velocity through what it closes.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 1 << 14 };

typedef struct flux_job {
    ty_gridflow* gf;
    int axis;
} flux_job;

// Everywhere: which faces are the liquid's; the rates of all others are not known.
static void note_block(void* ctx, ty_range r)
{
    const flux_job* job = ctx;
    const uint8_t* restrict mark = job->gf->mark[job->axis];
    uint8_t* restrict noted = job->gf->noted, bit = (uint8_t)(1 << job->axis);
    double* restrict rate = job->gf->flux_rate[job->axis];
    for (int64_t f = r.begin; f < r.end; ++f)
        noted[f] = (uint8_t)((noted[f] & ~bit) | (mark[f] == 1 ? bit : 0));
    for (int64_t f = r.begin; f < r.end; ++f) rate[f] = mark[f] == 1 ? rate[f] : NAN;
}

void ty_gridflow_note_flux(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis) {
        double *flux = gf->flux[axis], *rate = gf->flux_rate[axis];
        uint8_t bit = (uint8_t)(1 << axis);
        for (int64_t k = 0; k < gf->face[axis].n; ++k) {
            int f = gf->face[axis].at[k];
            double now = gf->open[axis][f] * gf->next[axis][f];
            rate[f] = gf->noted[f] & bit ? (now - flux[f]) / gf->dt : NAN;
            flux[f] = now;
        }
        flux_job job = {gf, axis};
        ty_parallel_for(gf->cells.count, BLOCK, note_block, &job);
    }
}

// The rate of what is continued is that of its velocity; forces are no part of rate[].
static ty_status force_batch(ty_gridflow* gf, int axis, int n, const int* face)
{
    double x[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3], a[TY_SAMPLE_BATCH][3];
    memset(a, 0, sizeof a);
    for (int i = 0; i < n; ++i) ty_face_center(&gf->cells, axis, face[i], x[i]);
    ty_face_vectors(gf, gf->u, axis, n, face, v);
    TY_TRY(ty_world_forces(gf->world, n, (const double(*)[3])x, (const double(*)[3])v, a));
    for (int i = 0; i < n; ++i) {
        double rate = gf->rate[axis][face[i]] + a[i][axis];
        gf->flux_rate[axis][face[i]] = gf->open[axis][face[i]] * rate;
    }
    return ty_ok();
}

static ty_status continue_forced(ty_gridflow* gf, int axis)
{
    int face[TY_SAMPLE_BATCH], n = 0;
    for (int f = 0; f < gf->cells.count; ++f) {
        if (!gf->mark[axis][f] || !isnan(gf->flux_rate[axis][f])) continue;
        face[n++] = f;
        if (n < TY_SAMPLE_BATCH) continue;
        TY_TRY(force_batch(gf, axis, n, face));
        n = 0;
    }
    return n ? force_batch(gf, axis, n, face) : ty_ok();
}

// rate[] is 0 where nothing is known.
static void continue_block(void* ctx, ty_range r)
{
    const flux_job* job = ctx;
    const double* restrict own = job->gf->rate[job->axis];
    const double* restrict open = job->gf->open[job->axis];
    double* restrict rate = job->gf->flux_rate[job->axis];
    for (int64_t f = r.begin; f < r.end; ++f) rate[f] = isnan(rate[f]) ? open[f] * own[f] : rate[f];
}

static void forget_block(void* ctx, ty_range r)
{
    const flux_job* job = ctx;
    double* rate = job->gf->flux_rate[job->axis];
    for (int64_t f = r.begin; f < r.end; ++f) rate[f] = isnan(rate[f]) ? 0.0 : rate[f];
}

ty_status ty_gridflow_continue_rates(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis) {
        flux_job job = {gf, axis};
        if (gf->carries && ty_world_has_forces(gf->world)) TY_TRY(continue_forced(gf, axis));
        ty_parallel_for(gf->cells.count, BLOCK, gf->carries ? continue_block : forget_block, &job);
    }
    return ty_ok();
}

void ty_gridflow_take_back_flux(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis)
        for (int f = 0; f < gf->cells.count; ++f) {
            double rate = gf->flux_rate[axis][f];
            if (!isnan(rate)) gf->flux[axis][f] -= gf->dt * rate;
            else if (gf->mark[axis][f] > 1)
                gf->flux[axis][f] -= gf->open[axis][f] * (gf->next[axis][f] - gf->u[axis][f]);
        }
}

// emitted[] from the closed parts, and how it changes where it was emitted before.
static ty_status emit(ty_gridflow* gf, int axis)
{
    const ty_cut_faces* cut = &gf->cut[axis];
    double *emitted = gf->emitted[axis], *rate = gf->flux_rate[axis];
    if (!emitted) return ty_ok();
    if (!ty_array_resize(&gf->scratch, cut->face.n)) return ty_no_memory("fluxes of sources");
    for (int64_t k = 0; k < cut->face.n; ++k) {
        int f = cut->face.at[k];
        double open = gf->open[axis][f];
        gf->scratch.at[k] = 0.0;
        if (!gf->has_spouts || cut->slip.at[k] >= 0.0 || open == 1.0) continue;
        double scale = gf->emission.at[2 * (int)(-1.0 - cut->slip.at[k])];
        gf->scratch.at[k] = (1.0 - open) * scale * gf->body[axis][f];
        if (open == 0.0) rate[f] = 0.0;
        if (emitted[f] != 0.0) rate[f] += (gf->scratch.at[k] - emitted[f]) / gf->dt;
    }
    memset(emitted, 0, sizeof(double) * (size_t)gf->cells.count);
    for (int64_t k = 0; k < cut->face.n; ++k) emitted[cut->face.at[k]] = gf->scratch.at[k];
    return ty_ok();
}

static void flux_block(void* ctx, ty_range r)
{
    const flux_job* job = ctx;
    const ty_gridflow* gf = job->gf;
    const double* restrict open = gf->open[job->axis], * restrict u = gf->next[job->axis];
    const uint8_t* restrict mark = gf->mark[job->axis];
    double* restrict flux = gf->flux[job->axis];
    for (int64_t f = r.begin; f < r.end; ++f) {
        double through = mark[f] == 1 ? flux[f] : open[f] * u[f];
        flux[f] = mark[f] && open[f] != 0.0 ? through : 0.0;
    }
}

ty_status ty_gridflow_continue_flux(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis) {
        flux_job job = {gf, axis};
        ty_parallel_for(gf->cells.count, BLOCK, flux_block, &job);
        TY_TRY(emit(gf, axis));
    }
    return ty_ok();
}

void ty_gridflow_fluxes(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    bool rates = gf->carries && !gf->rides;
    for (int i = 0; i < n; ++i) {
        int cell[3], face[3];    // memory coordinates
        for (int d = 0; d < 3; ++d) {
            double cells = (x[i][d] - c->origin[d]) * c->per_h;
            cell[d] = 1 + (int)floor(cells);
            face[d] = 1 + (int)floor(cells + 0.5);
        }
        for (int axis = 0; axis < 3; ++axis) {
            int at[3] = {cell[0], cell[1], cell[2]};
            at[axis] = face[axis];
            bool in = true;
            for (int d = 0; d < 3; ++d) in = in && at[d] >= 1 && at[d] <= c->n[d] + (d == axis);
            int f = in ? ty_cell_index(c, at[0], at[1], at[2]) : 0;
            double emitted = in && gf->emitted[axis] ? gf->emitted[axis][f] : 0.0;
            out[9 * i + axis] = in ? gf->flux[axis][f] + emitted : 0.0;
            out[9 * i + 3 + axis] = in && rates ? gf->flux_rate[axis][f] : 0.0;
            out[9 * i + 6 + axis] = emitted;
        }
    }
}
