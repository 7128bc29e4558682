// SPDX-License-Identifier: Apache-2.0
// What an experiment would measure, one row per step.
#include <stdio.h>
#include <string.h>

#include "sim/step.h"

enum { COLUMN_SAMPLES = 64 };

// A wire this near to a wall stands on it, not in it (cells).
static const double ON_WALL = 1e-9;

static bool append(ty_sim* sim, const char* text)
{
    size_t n = strlen(text);
    if (!ty_array_reserve(&sim->probe_rows, sim->probe_rows.n + (int64_t)n)) return false;
    memcpy(sim->probe_rows.at + sim->probe_rows.n, text, n);
    sim->probe_rows.n += (int64_t)n;
    return true;
}

// Narrows [part[0], part[1]] of a segment to where a linear function with these end values is
// negative.
static void narrow(double a, double b, double part[2])
{
    if (a >= 0.0 && b >= 0.0) part[1] = part[0];
    if (a < 0.0 && b >= 0.0) part[1] = fmin(part[1], a / (a - b));
    if (a >= 0.0 && b < 0.0) part[0] = fmax(part[0], a / (a - b));
}

// The share of a segment that is in the liquid and not in a solid. The two are cut out one after
// the other: their maximum is not linear along a wire that stands on a wall.
static double wet_share(const double phi[2], const double solid[2])
{
    double part[2] = {0.0, 1.0};
    narrow(phi[0], phi[1], part);
    narrow(solid[0], solid[1], part);
    return fmax(part[1] - part[0], 0.0);
}

// The wetted length of a vertical wire, as a resistance gauge measures it.
static double wetted_length(const ty_sim* sim, const double at[3])
{
    ty_liquid liquid = ty_sim_liquid(sim);
    ty_sampler solid = ty_world_solid(sim->world);
    ty_box box = ty_world_bounds(sim->world);
    int up = sim->def->world.up;
    double step = 0.5 * liquid.cell, length = 0.0, on_wall = ON_WALL * liquid.cell, wet[2] = {0},
           buried[2] = {0};
    int n = (int)ceil((box.hi[up] - box.lo[up]) / step) + 1;
    step = (box.hi[up] - box.lo[up]) / (n - 1);
    for (int first = 0; first < n; first += COLUMN_SAMPLES) {
        double x[COLUMN_SAMPLES][3], phi[COLUMN_SAMPLES], wall[COLUMN_SAMPLES];
        int count = n - first < COLUMN_SAMPLES ? n - first : COLUMN_SAMPLES;
        for (int i = 0; i < count; ++i) {
            memcpy(x[i], at, sizeof x[i]);
            x[i][up] = box.lo[up] + (first + i) * step;
        }
        ty_sample(&liquid.distance, count, (const double(*)[3])x, phi);
        ty_sample(&solid, count, (const double(*)[3])x, wall);
        for (int i = 0; i < count; ++i) {
            wet[1] = phi[i];
            buried[1] = -wall[i] - on_wall;
            if (first + i > 0) length += step * wet_share(wet, buried);
            wet[0] = wet[1];
            buried[0] = buried[1];
        }
    }
    return length;
}

static double front(const ty_sim* sim, int axis)
{
    double farthest = -INFINITY;
    for (int v = 0; v < sim->surface.n_verts; ++v)
        farthest = fmax(farthest, sim->surface.vert[v][axis]);
    return sim->surface.n_verts ? farthest : 0.0;
}

static int probe_values(const ty_sim* sim, const ty_probe_def* probe, double value[3])
{
    ty_flow flow = ty_sim_flow(sim);
    const double(*at)[3] = &probe->at;
    value[0] = 0.0;
    switch (probe->kind) {
    case TY_PROBE_HEIGHT:
        value[0] = sim->tracker_kind ? wetted_length(sim, probe->at) : 0.0;
        return 1;
    case TY_PROBE_PRESSURE:
        if (flow.pressure.eval) ty_sample(&flow.pressure, 1, at, value);
        return 1;
    case TY_PROBE_VELOCITY: ty_sample(&flow.velocity, 1, at, value); return 3;
    case TY_PROBE_FRONT: value[0] = front(sim, probe->axis); return 1;
    }
    return 0;
}

ty_status ty_sim_probe(ty_sim* sim)
{
    if (sim->def->n_probes == 0) return ty_ok();
    char text[40];
    snprintf(text, sizeof text, "%.10g", sim->time);
    bool ok = append(sim, text);
    for (int i = 0; i < sim->def->n_probes; ++i) {
        double value[3];
        int n = probe_values(sim, &sim->def->probes[i], value);
        for (int k = 0; k < n; ++k) {
            snprintf(text, sizeof text, ",%.10g", value[k]);
            ok = ok && append(sim, text);
        }
    }
    return ok && append(sim, "\n") ? ty_ok() : ty_no_memory("probes");
}

ty_status ty_probe_header(const ty_sim_def* def, char** text)
{
    size_t size = 16;
    for (int i = 0; i < def->n_probes; ++i) size += 3 * (strlen(def->probes[i].name) + 4);
    char* out = *text = ty_alloc(size, 1);
    if (!out) return ty_no_memory("probes");
    out += sprintf(out, "time");
    for (int i = 0; i < def->n_probes; ++i) {
        if (def->probes[i].kind == TY_PROBE_VELOCITY)
            for (int axis = 0; axis < 3; ++axis)
                out += sprintf(out, ",%s.%c", def->probes[i].name, "xyz"[axis]);
        else out += sprintf(out, ",%s", def->probes[i].name);
    }
    sprintf(out, "\n");
    return ty_ok();
}
