// SPDX-License-Identifier: Apache-2.0
// What goes through faces: the liquid's own as the projection left them, before slivers are blended
// and solids continued, so that no liquid cell gains or loses; elsewhere continued velocities
// through the open parts. A source lets out its own velocity through what it closes.
#include <string.h>

#include "solve/grid/gridflow.h"

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
        for (int f = 0; f < gf->cells.count; ++f) {
            bool liquid = gf->mark[axis][f] == 1;
            gf->noted[f] = (uint8_t)((gf->noted[f] & ~bit) | (liquid ? bit : 0));
            if (!liquid) rate[f] = NAN;
        }
    }
}

void ty_gridflow_continue_rates(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis)
        for (int f = 0; f < gf->cells.count; ++f)
            if (isnan(gf->flux_rate[axis][f]))
                gf->flux_rate[axis][f] = gf->carries ? gf->open[axis][f] * gf->next_acc[axis][f]
                                                     : 0.0;
}

static void add_sources(ty_gridflow* gf, int axis)
{
    const ty_cut_faces* cut = &gf->cut[axis];
    uint8_t bit = (uint8_t)(8 << axis);    // the flux is that of a source
    for (int64_t k = 0; gf->has_spouts && k < cut->face.n; ++k) {
        int f = cut->face.at[k];
        if (cut->slip.at[k] >= 0.0 || gf->open[axis][f] == 1.0) continue;
        double scale = gf->emission.at[2 * (int)(-1.0 - cut->slip.at[k])], open = gf->open[axis][f];
        double emits = (1.0 - open) * scale * gf->body[axis][f];
        if (open > 0.0) {
            gf->flux[axis][f] += emits;
            continue;
        }
        if (gf->noted[f] & bit) gf->flux_rate[axis][f] = (emits - gf->flux[axis][f]) / gf->dt;
        gf->flux[axis][f] = emits;
        gf->noted[f] |= bit;
    }
}

void ty_gridflow_continue_flux(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis) {
        const double *open = gf->open[axis], *u = gf->next[axis];
        uint8_t source = (uint8_t)(8 << axis);
        for (int f = 0; f < gf->cells.count; ++f) {
            bool closed = open[f] == 0.0 && gf->mark[axis][f] == 1;    // by a source
            if (!closed) gf->noted[f] &= (uint8_t)~source;
            if (gf->mark[axis][f] != 1)
                gf->flux[axis][f] = gf->mark[axis][f] ? open[f] * u[f] : 0.0;
        }
        add_sources(gf, axis);
    }
}

void ty_gridflow_fluxes(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            int at[3];
            bool in = true;
            for (int d = 0; d < 3; ++d) {
                double cells = (x[i][d] - c->origin[d]) * c->per_h + (d == axis ? 0.5 : 0.0);
                at[d] = 1 + (int)floor(cells);
                in = in && at[d] >= 1 && at[d] <= c->n[d] + (d == axis);
            }
            int f = in ? ty_cell_index(c, at[0], at[1], at[2]) : 0;
            out[6 * i + axis] = in ? gf->flux[axis][f] : 0.0;
            out[6 * i + 3 + axis] = in && gf->carries && !gf->rides ? gf->flux_rate[axis][f] : 0.0;
        }
}
