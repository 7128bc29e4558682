// SPDX-License-Identifier: Apache-2.0
#include "sim/track_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "format/file.h"
#include "format/mesh_io.h"
#include "sim/ledger.h"
#include "sim/track_flow.h"
#include "track/cut.h"

enum { MAX_STEPS = 100000 };

typedef struct track_run {
    const ty_track_case_def* def;
    ty_track_case_result* result;
    ty_track_flow flow;
    ty_shape_def children[2];
    ty_liquid_def liquid;
    ty_world_def world_def;
    ty_world* world;
    const ty_tracker_kind* kind;
    void* tracker;
    double cell;
    int steps;
    double given;    // m3 that the ledger gave back
    ty_tri_mesh before, cut;
    ty_cutter* cutter;
    ty_ledger ledger;
    ty_rows rows;
    bool rows_open;
} track_run;

ty_track_case_def ty_track_case_default(void)
{
    ty_track_case_def def = {.name = "enright",
                             .resolution = 64,
                             .surfaces = 8,
                             .radius = NAN,
                             .period = NAN,
                             .cfl = 1.0,
                             .size = 1.0,
                             .track = ty_track_default()};
    for (int i = 0; i < 3; ++i) def.center[i] = def.axis[i] = NAN;
    return def;
}

static ty_status open_world(track_run* r)
{
    r->world_def = ty_world_default();
    r->world_def.has_domain = true;
    for (int axis = 0; axis < 3; ++axis) r->world_def.max[axis] = r->flow.size;
    r->liquid.shape = ty_track_flow_shape(&r->flow, r->children);
    r->liquid.velocity = ty_varying_vector(0.0, 0.0, 0.0);
    r->world_def.liquids = &r->liquid;
    r->world_def.n_liquids = 1;
    TY_TRY(ty_world_create(&r->world, &r->world_def, r->cell));
    return ty_world_move(r->world, 0.0, 0.0);
}

static ty_flow flow_of(const track_run* r)
{
    return (ty_flow){.velocity = ty_track_flow_velocity(&r->flow),
                     .cell = r->cell,
                     .dt_limit = INFINITY,
                     .max_speed = r->flow.max_speed *
                                  fabs(r->flow.kind->reverses ? r->flow.scale : 1.0)};
}

static const ty_tri_mesh* surface_of(const track_run* r)
{
    return r->kind->liquid(r->tracker).surface;
}

static ty_status open_output(track_run* r)
{
    char path[4096];
    if (!r->def->out) return ty_ok();
    snprintf(path, sizeof path, "%s/surface", r->def->out);
    TY_TRY(ty_make_folders(path));
    snprintf(path, sizeof path, "%s/track.csv", r->def->out);
    TY_TRY(ty_rows_open(&r->rows, path, 0));
    r->rows_open = true;
    return ty_rows_append(&r->rows, "step,time,triangles,volume,volume_uncorrected,area,seconds\n",
                          false);
}

// A row for every step; a surface for the start, the end, and those between that fall on a step.
static ty_status write_step(track_run* r, int step, double t)
{
    const ty_tri_mesh* m = surface_of(r);
    double volume = ty_tri_mesh_volume(m), area = ty_tri_mesh_area(m);
    if (2 * step == r->steps) r->result->area_mid = area;
    if (m->n_tris > r->result->triangles_max) r->result->triangles_max = m->n_tris;
    if (!r->def->out) return ty_ok();
    char text[4096];
    snprintf(text, sizeof text, "%d,%.9g,%d,%.12g,%.12g,%.12g,%.6g\n", step, t, m->n_tris, volume,
             volume - r->given, area, r->result->seconds);
    TY_TRY(ty_rows_append(&r->rows, text, false));
    int k = r->def->surfaces, now = (int)((int64_t)step * k / r->steps);
    if (step > 0 && now == (int)((int64_t)(step - 1) * k / r->steps)) return ty_ok();
    snprintf(text, sizeof text, "%s/surface/surface.%04d.ply", r->def->out, now + 1);
    return ty_ply_write(m, text, 0, NULL);
}

static ty_status give_back(track_run* r, const ty_flow* flow, double dt)
{
    ty_liquid liquid = r->kind->liquid(r->tracker);
    double before = ty_tri_mesh_volume(liquid.surface);
    bool moved = false;
    TY_TRY(ty_cut_surface(r->cutter, &liquid, r->world, &r->cut));
    TY_TRY(ty_ledger_balance(&r->ledger, &liquid, flow, r->world, &r->cut, dt));
    TY_TRY(ty_ledger_correct(&r->ledger, r->kind, r->tracker, false, &moved));
    r->given += ty_tri_mesh_volume(surface_of(r)) - before;
    return ty_ok();
}

static ty_status step_once(track_run* r, double t, double dt)
{
    TY_TRY(ty_track_flow_step(&r->flow, t, dt));
    ty_flow flow = flow_of(r);
    if (r->def->correct) {
        ty_liquid before = r->kind->liquid(r->tracker);
        TY_TRY(ty_ledger_remember(&r->ledger, &before, &flow, r->world, &r->cut, dt));
    }
    TY_TRY(ty_world_move(r->world, t + dt, dt));
    double begin = ty_clock();
    TY_TRY(r->kind->advance(r->tracker, &flow, r->world, t, dt));
    r->result->seconds += ty_clock() - begin;
    return r->def->correct ? give_back(r, &flow, dt) : ty_ok();
}

// An even number of equal steps, so that one ends at half time.
static ty_status choose_steps(track_run* r)
{
    double wanted = ceil(r->flow.max_speed * r->flow.period / (r->def->cfl * r->cell) *
                         (1.0 - 1e-9));
    if (!(wanted <= MAX_STEPS))
        return ty_fail(TY_BAD_INPUT, "%g steps are too many; choose a larger cfl", wanted);
    r->steps = wanted < 2.0 ? 2 : 2 * (int)ceil(wanted / 2.0);
    r->result->steps = r->steps;
    return ty_ok();
}

static ty_status open_run(track_run* r)
{
    const ty_track_case_def* def = r->def;
    TY_TRY(ty_track_flow_open(&r->flow, def));
    if (def->resolution < 4 || !(def->cfl > 0.0))
        return ty_fail(TY_BAD_INPUT, "resolution must be 4 at least, cfl positive");
    r->kind = ty_tracker_find(def->track.kind);
    if (!r->kind) return ty_fail(TY_BAD_INPUT, "there is no tracker '%s'", def->track.kind);
    r->cell = r->flow.size / def->resolution;
    TY_TRY(choose_steps(r));
    TY_TRY(open_world(r));
    ty_track_def track = def->track;
    track.cell = r->cell;
    TY_TRY(r->kind->create(&r->tracker, &track, r->world));
    if (surface_of(r)->n_tris == 0)
        return ty_fail(TY_EMPTY, "the shape is smaller than a cell, or outside");
    TY_TRY(ty_tri_mesh_copy(&r->before, surface_of(r)));
    if (def->correct) {
        ty_liquid liquid = r->kind->liquid(r->tracker);
        TY_TRY(ty_cutter_create(&r->cutter));
        TY_TRY(ty_ledger_open(&r->ledger, 0));
        TY_TRY(ty_cut_surface(r->cutter, &liquid, r->world, &r->cut));
        TY_TRY(ty_ledger_start(&r->ledger, &liquid, r->world, &r->cut));
    }
    return open_output(r);
}

typedef struct moved_shape {
    ty_sampler shape;
    double by[3];
} moved_shape;

static void eval_moved(const void* self, int n, const double (*x)[3], double* out)
{
    const moved_shape* m = self;
    double y[TY_SAMPLE_BATCH][3];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        for (int i = 0; i < count; ++i) ty_store3(y[i], ty_load3(x[at + i]) - ty_load3(m->by));
        ty_sample(&m->shape, count, (const double(*)[3])y, out + at);
    }
}

static ty_status finish(track_run* r)
{
    ty_track_case_result* result = r->result;
    result->volume_start = ty_tri_mesh_volume(&r->before);
    result->area_start = ty_tri_mesh_area(&r->before);
    result->volume_end = ty_tri_mesh_volume(surface_of(r));
    result->volume_error = result->volume_end / result->volume_start - 1.0;
    result->volume_error_uncorrected = (result->volume_end - r->given) / result->volume_start - 1.0;
    result->symmetric_difference = result->mean_distance = result->max_distance = NAN;
    if (r->flow.field && !r->def->returns) return ty_ok();
    moved_shape exact = {.shape = ty_world_liquid(r->world)};
    ty_track_flow_moved(&r->flow, exact.by);
    for (int v = 0; v < r->before.n_verts; ++v)
        ty_store3(r->before.vert[v], ty_load3(r->before.vert[v]) + ty_load3(exact.by));
    ty_sampler phi = {.self = &exact, .width = 1, .eval = eval_moved};
    return ty_track_measure(surface_of(r), &phi, &r->before, r->cell,
                            ty_track_flow_volume(&r->flow), result);
}

static ty_status run(track_run* r)
{
    TY_TRY(open_run(r));
    TY_TRY(write_step(r, 0, 0.0));
    double dt = r->flow.period / r->steps;
    for (int step = 0; step < r->steps; ++step) {
        TY_TRY(step_once(r, step * dt, dt));
        TY_TRY(write_step(r, step + 1, (step + 1) * dt));
    }
    return finish(r);
}

ty_status ty_track_case_run(const ty_track_case_def* def, ty_track_case_result* result)
{
    *result = (ty_track_case_result){.tracker = def->track.kind, .resolution = def->resolution};
    track_run r = {.def = def, .result = result};
    ty_status status = run(&r);
    if (r.kind) r.kind->destroy(r.tracker);
    ty_world_destroy(r.world);
    ty_cutter_destroy(r.cutter);
    if (def->correct) ty_ledger_free(&r.ledger);
    ty_tri_mesh_free(&r.before);
    ty_tri_mesh_free(&r.cut);
    if (r.rows_open) ty_rows_close(&r.rows);
    return status;
}
