// SPDX-License-Identifier: Apache-2.0
// Obstacles that change their volume: meshes and level sets that deform, shapes that are scaled.
//
// What a body pushes into a cell is the flux of its velocity b through its surface S there.
// project.c takes it from the closed parts of the cell's faces; by the divergence theorem on the
// body's part of the cell
//
//     integral over S of b . n = - (flux out of the closed parts) + integral of div b
//
// the two are the same where b is that of a rigid motion. Where the body swells the last term is
// missing, h / R of everything: a ball of three cells displaced half of what it should. Here the
// flux through S is taken from b at S itself, with the area that the closed parts leave over, and
// the difference is kept for the projection.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = TY_SAMPLE_BATCH };

// The closed part of a face that obstacles close; the domain's sides do not swell.
static double shut(const ty_gridflow* gf, int axis, int f)
{
    int at[3];
    ty_cell_coords(&gf->cells, f, at);
    bool side = at[axis] == 1 || at[axis] == gf->cells.n[axis] + 1;
    return side ? 0.0 : 1.0 - gf->open[axis][f];
}

static bool is_cut(const ty_gridflow* gf, int cell)
{
    if (gf->has_spouts && gf->spout[cell]) return false;
    for (int axis = 0; axis < 3; ++axis)
        if (shut(gf, axis, cell) > 0.0 || shut(gf, axis, cell + gf->cells.stride[axis]) > 0.0)
            return true;
    return false;
}

// The point of the solid's surface next to a cell's centre, from the distances at its nodes.
static ty_vec3 surface_point(const ty_gridflow* gf, int cell)
{
    const int* s = gf->cells.stride;
    double distance = 0.0, slope[3] = {0}, x[3];
    for (int k = 0; k < 8; ++k) {
        double d = gf->solid[cell + (k & 1) * s[0] + (k >> 1 & 1) * s[1] + (k >> 2) * s[2]];
        distance += d / 8.0;
        for (int axis = 0; axis < 3; ++axis) slope[axis] += (k >> axis & 1 ? d : -d);
    }
    ty_cell_center(&gf->cells, cell, x);
    return ty_load3(x) - distance * ty_normalize(ty_load3(slope));
}

static double beyond_rigid(const ty_gridflow* gf, int cell, const double velocity[3])
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        int high = cell + gf->cells.stride[axis];
        double a = shut(gf, axis, cell), b = shut(gf, axis, high);
        sum += a * (velocity[axis] - gf->body[axis][cell]) -
               b * (velocity[axis] - gf->body[axis][high]);
    }
    return sum;
}

static void swell_block(void* ctx, ty_range r)
{
    ty_gridflow* gf = ctx;
    double x[BLOCK][3], v[BLOCK][3];
    int n = 0, cell[BLOCK];
    for (int64_t i = r.begin; i < r.end; ++i) {
        if (!is_cut(gf, gf->wet.at[i])) continue;
        cell[n] = gf->wet.at[i];
        ty_store3(x[n], surface_point(gf, cell[n]));
        ++n;
    }
    ty_sampler velocity = ty_world_solid_velocity(gf->world);
    ty_sample(&velocity, n, (const double(*)[3])x, v[0]);
    for (int i = 0; i < n; ++i) gf->swell[cell[i]] = beyond_rigid(gf, cell[i], v[i]);
}

ty_status ty_gridflow_swell(ty_gridflow* gf)
{
    if (gf->swell) memset(gf->swell, 0, (size_t)gf->cells.count * sizeof *gf->swell);
    if (!ty_world_solid_deforms(gf->world)) return ty_ok();
    if (!gf->swell) gf->swell = ty_alloc_zero((size_t)gf->cells.count, sizeof *gf->swell);
    if (!gf->swell) return ty_no_memory("obstacles that swell");
    ty_parallel_for(gf->wet.n, BLOCK, swell_block, gf);
    return ty_ok();
}
