// SPDX-License-Identifier: Apache-2.0
// tethys check: what a scene would cost, and what usually goes wrong with it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/scene_handle.h"
#include "api/text.h"
#include "core/memory.h"
#include "sim/sim.h"
#include "tethys/tethys.h"
#include "world/check.h"

enum { LOOK = 48 };    // samples a side that estimate how much liquid there is

// What a solver's cells and its tracker's triangles cost on one thread of a 2.3 GHz Xeon.
typedef struct price {
    double memory, checkpoint, seconds;    // bytes, bytes, seconds a step; per cell
    double memory_tri, checkpoint_tri, seconds_tri;
} price;

// Solver grid with trackers levelset and particle, from the statistics of `tethys bench dam`: peak
// memory and checkpoints (per cell of the domain), seconds a step (per cell in liquid) over the
// first second at 64 cells. At 32 cells a step takes 8.6e-6: more of them are at the surface.
static const price GRID = {.memory = 720.0, .checkpoint = 200.0, .seconds = 5.0e-6};
static const price PARTICLE = {.memory = 1010.0, .checkpoint = 265.0, .seconds = 6.7e-6};
// Solver tet with tracker contour, per tetrahedron: fitted to the first frames of
// scenes/tet/dam-break.yaml with 50 thousand to 1.7 million of them.
static const price TET = {.memory = 600.0,
                          .checkpoint = 160.0,
                          .seconds = 6.3e-6,
                          .memory_tri = 3300.0,
                          .checkpoint_tri = 100.0,
                          .seconds_tri = 2e-5};
// Tetrahedra for each cell in liquid, where most are wide, and for each along its surface; walls
// that it touches count as surface.
static const double TETS_INSIDE = 1.8, TETS_AT_SURFACE = 20.0;

typedef struct estimate {
    double cells, wet_cells,
        surface_cells;    // of the domain (or the liquid's box), in liquid, at its surface
    double tets;          // of solver tet
    int n[3];
    ty_box box;
} estimate;

// Counts lattice points in the liquid, and near its surface, over the box of everything.
static void look_at_liquid(const ty_world* world, const ty_sim_def* def, estimate* e)
{
    ty_sampler liquid = ty_world_liquid(world), solid = ty_world_solid(world);
    double size[3], wet = 0.0, near = 0.0;
    for (int axis = 0; axis < 3; ++axis) size[axis] = e->box.hi[axis] - e->box.lo[axis];
    double step = fmax(size[0], fmax(size[1], size[2])) / LOOK;
    for (int k = 0; k < LOOK; ++k)
        for (int j = 0; j < LOOK; ++j) {
            double x[LOOK][3], phi[LOOK], wall[LOOK];
            for (int i = 0; i < LOOK; ++i) {
                const int index[3] = {i, j, k};
                for (int axis = 0; axis < 3; ++axis)
                    x[i][axis] = e->box.lo[axis] + (index[axis] + 0.5) * size[axis] / LOOK;
            }
            ty_sample(&liquid, LOOK, (const double(*)[3])x, phi);
            ty_sample(&solid, LOOK, (const double(*)[3])x, wall);
            for (int i = 0; i < LOOK; ++i) {
                wet += phi[i] < 0.0 && wall[i] > 0.0;
                near += 2.0 * (phi[i] < 0.0 && phi[i] > -0.5 * step);    // walls have no outer side
            }
        }
    double points = (double)LOOK * LOOK * LOOK, volume = size[0] * size[1] * size[2], h = def->cell;
    double hs = def->track.cell;
    e->wet_cells = wet / points * volume / (h * h * h);
    e->surface_cells = near / points * volume / step / (hs * hs);
    e->tets = TETS_INSIDE * e->wet_cells + TETS_AT_SURFACE * e->surface_cells * (hs * hs) / (h * h);
}

static estimate make_estimate(const ty_world* world, const ty_sim_def* def)
{
    estimate e = {.box = ty_world_bounds(world), .cells = 1.0};
    for (int axis = 0; axis < 3; ++axis) {
        e.n[axis] = (int)fmax(1.0, ceil((e.box.hi[axis] - e.box.lo[axis]) / def->cell - 1e-9));
        e.cells *= e.n[axis];
    }
    look_at_liquid(world, def, &e);
    return e;
}

static double gravity_speed(const ty_world* world, const ty_sim_def* def, const estimate* e)
{
    int up = def->world.up;
    return sqrt(2.0 * ty_norm(ty_world_gravity(world)) * (e->box.hi[up] - e->box.lo[up]));
}

// Steps a frame needs when the liquid falls through the whole height.
static double steps_per_frame(const ty_world* world, const ty_sim_def* def, const estimate* e)
{
    double step = def->solve.cfl * def->cell / fmax(gravity_speed(world, def, e), 1e-6);
    return fmax(1.0, ceil(1.0 / def->frame_rate / step));
}

// Bytes in memory and of a checkpoint, and seconds a step.
typedef struct cost {
    double memory, checkpoint, seconds;
} cost;

static cost cost_of(const ty_sim_def* def, const estimate* e, double triangles)
{
    bool tet = strcmp(def->solve.kind, "tet") == 0;
    bool particle = strcmp(def->track.kind, "particle") == 0;
    const price* p = tet ? &TET : particle ? &PARTICLE : &GRID;
    double stored = tet ? e->tets : e->cells, moved = tet ? e->tets : e->wet_cells;
    return (cost){.memory = stored * p->memory + triangles * p->memory_tri,
                  .checkpoint = stored * p->checkpoint + triangles * p->checkpoint_tri,
                  .seconds = moved * p->seconds + triangles * p->seconds_tri};
}

static void print_cost(ty_text* text, const ty_world* world, const ty_sim_def* def)
{
    estimate e = make_estimate(world, def);
    double mib = 1.0 / (1024.0 * 1024.0), triangles = 2.0 * e.surface_cells;
    cost c = cost_of(def, &e, triangles);
    double surface = def->write_surface ? triangles * (13.0 + 0.5 * 24.0) : 0.0;
    double volume = def->write_volume ? (e.wet_cells + 7.0 * e.surface_cells) * 14.0 : 0.0;
    double checkpoint = def->checkpoint_every > 0 ? c.checkpoint : 0.0;
    double kept = def->checkpoint_keep > 0 ? def->checkpoint_keep : def->frame_count;
    double written = ceil((double)def->frame_count / def->output_every);
    double steps = steps_per_frame(world, def, &e), seconds = steps * c.seconds;
    ty_text_print(text, "cells        %d x %d x %d = %.0f of %g m, about %.0f in liquid\n", e.n[0],
                  e.n[1], e.n[2], e.cells, def->cell, e.wet_cells);
    if (strcmp(def->solve.kind, "tet") == 0)
        ty_text_print(text, "tetrahedra   about %.2g at the start\n", e.tets);
    ty_text_print(text, "surface      about %.0f triangles at the start\n", triangles);
    ty_text_print(text, "steps        about %.0f a frame at full speed (cfl %g)\n", steps,
                  def->solve.cfl);
    ty_text_print(text, "memory       about %.0f MiB\n", 60.0 + c.memory * mib);
    ty_text_print(text,
                  "disk         about %.0f MiB (%.2f MiB a frame, checkpoints %.1f MiB each)\n",
                  (written * (surface + volume) + kept * checkpoint) * mib,
                  (surface + volume) * mib, checkpoint * mib);
    ty_text_print(
        text,
        "time         about %.2g s a frame, %.2g min in all, on one thread of a 2.3 GHz Xeon\n",
        seconds, seconds * def->frame_count / 60.0);
}

static void print_outputs(ty_text* text, const ty_sim_def* def)
{
    ty_text_print(text, "outputs      ");
    const struct {
        bool on;
        const char* name;
    } kinds[] = {{def->write_surface, "surface (ply)"},
                 {def->write_volume, "volume (vdb)"},
                 {def->write_tets, "tets (vtu)"},
                 {def->write_particles, "particles (ply)"}};
    int n = 0;
    for (int i = 0; i < 4; ++i)
        if (kinds[i].on) ty_text_print(text, "%s%s", n++ ? ", " : "", kinds[i].name);
    ty_text_print(text, "%s; every %d frame%s\n", n ? "" : "none", def->output_every,
                  def->output_every > 1 ? "s" : "");
}

static void tell(ty_message_fn message, void* self, const ty_warning* w)
{
    char line[900];
    if (!message) return;
    if (w->place.file && w->place.line > 0)
        snprintf(line, sizeof line, "%s:%d:%d: warning: %s", w->place.file, w->place.line,
                 w->place.column, w->message);
    else snprintf(line, sizeof line, "warning: %s", w->message);
    message(self, 0, line, "");
}

static void print_scene(ty_text* text, const ty_world* world, const ty_sim_def* def)
{
    ty_text_print(text, "scene        %s: %d frames at %g a second\n", def->name, def->frame_count,
                  def->frame_rate);
    ty_text_print(text, "methods      solver %s", def->solve.kind);
    if (!def->smoke)
        ty_text_print(text, ", tracker %s (cell %g m)", def->track.kind, def->track.cell);
    ty_text_print(text, "\n");
    print_cost(text, world, def);
    print_outputs(text, def);
}

ty_status ty_check(const ty_scene* scene, ty_message_fn message, void* self, char** out)
{
    const ty_sim_def* def = &scene->def;
    ty_text text = {0};
    ty_world* world = NULL;
    ty_warnings found = {0};
    double end = ty_sim_frame_time(def, def->frame_count - 1);
    *out = NULL;
    ty_status status = ty_world_create(&world, &def->world, fmin(def->cell, def->track.cell));
    if (status.code == TY_OK) status = ty_world_move(world, 0.0, 0.0);
    if (status.code == TY_OK) status = ty_world_check(&def->world, def->cell, end, &found);
    if (status.code == TY_OK) print_scene(&text, world, def);
    for (int64_t i = 0; i < found.list.n; ++i) tell(message, self, &found.list.at[i]);
    ty_text_print(&text, found.list.n ? "warnings     %lld, above\n" : "warnings     none\n",
                  (long long)found.list.n);
    ty_warnings_free(&found);
    ty_world_destroy(world);
    ty_status taken = ty_text_take(&text, out);
    if (status.code == TY_OK) return taken;
    ty_free(*out);
    *out = NULL;
    return status;
}
