// SPDX-License-Identifier: Apache-2.0
// Offsets of a small part of a cell, without a remake: every vertex moves along its lattice edge,
// and stops where that ends. So triangles, tree and signs stay what they are, and nothing moves
// farther than the offset. Where the liquid has an inset, that takes it.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/contour/slc.h"

enum { BLOCK = TY_SAMPLE_BATCH };
// Cells: the most that vertices may move so. What stops at the end of its edge is off by no more,
// and a frame's offset is seldom larger.
static const double MOST = 0.05;
// Of the normal along the edge: on those that are nearly in the surface a vertex moves no farther
// than it would here. It would leave the surface where that is curved; so it comes short of the
// offset, on one edge in 16 and by a third of it.
static const double GRAZING = 0.25;
// Cells from where the liquid ends in solids, and outside the domain: there it stays.
static const double AT_END = 0.5;

bool ty_slc_may_nudge(const ty_slc* s, double most)
{
    return most <= MOST * s->def.cell && s->contour.key.n == s->now.mesh.n_verts;
}

// Whether vertices are on the free surface or its continuation.
static void find_free(const ty_slc* s, int n, const double (*x)[3], bool* free)
{
    double solid[BLOCK], end = (TY_SLC_DEPTH - AT_END) * s->def.cell;
    ty_sampler walls = ty_world_solid(s->world);
    if (s->has_solid) ty_sample(&walls, n, x, solid);
    for (int i = 0; i < n; ++i)
        free[i] = !(s->has_solid && solid[i] < -end) &&
                  !(s->has_domain && ty_slc_beyond(s, x[i]) > end);
}

// The vertex of an edge along `axis` from `low` on moves `by` metres along the surface's normal.
static void move_along(double x[3], double low, int axis, double cell, double normal, double by)
{
    double least = TY_CONTOUR_OCTREE_MIN_CUT * cell, slope = fmax(fabs(normal), GRAZING);
    x[axis] = ty_clamp(x[axis] + copysign(by / slope, by * normal), low + least,
                       low + cell - least);
}

typedef struct nudge_job {
    const ty_slc* s;
    ty_slc_surface* now;
    const double* amount;
} nudge_job;

static void nudge_block(void* ctx, ty_range r)
{
    const nudge_job* job = ctx;
    const ty_slc* s = job->s;
    ty_slc_surface* now = job->now;
    bool free[BLOCK];
    ty_lattice_walk walk = {0};
    find_free(s, (int)(r.end - r.begin), (const double(*)[3])now->mesh.vert + r.begin, free);
    for (int64_t v = r.begin; v < r.end; ++v) {
        uint64_t key = s->contour.key.at[v];
        int axis = (int)(key & 3);
        const int* at = ty_lattice_walk_to(&now->tree.corners, &walk, (int)(key >> 2));
        double by = job->amount[v];
        if (now->inset.n && now->inset.at[v] > 0.0) {
            double rest = now->inset.at[v] - by;
            now->inset.at[v] = fmax(rest, 0.0);
            by = -fmin(rest, 0.0);
        }
        if (by == 0.0 || !free[v - r.begin]) continue;
        move_along(now->mesh.vert[v], now->tree.origin[axis] + now->tree.cell * at[axis], axis,
                   now->tree.cell, (double)now->bend.at[4 * v + axis], by);
    }
}

void ty_slc_nudge_along(const ty_slc* s, ty_slc_surface* surface, const double* amount)
{
    nudge_job job = {s, surface, amount};
    ty_parallel_for(surface->mesh.n_verts, BLOCK, nudge_block, &job);
}

ty_status ty_slc_nudge(ty_slc* s)
{
    ty_slc_nudge_along(s, &s->now, s->amount.at);
    s->ray.n = 0;
    TY_TRY(ty_world_status(s->world));
    ty_slc_inset_tidy(&s->now);
    TY_TRY(ty_slc_bend(&s->now, NULL));    // as an archive has it
    TY_TRY(ty_slc_surface_finish(&s->now));
    return ty_slc_draw(s);
}
