// SPDX-License-Identifier: Apache-2.0
// Contouring lists triangles cell by cell, so blocks of eight cells (the children of one octant)
// know theirs, and the hierarchy's leaves hold them in that order. A point close to the surface asks
// the leaves of its own block, then those of the blocks that reach into the ball around it: the
// answer is the hierarchy's, to the bit, without a descent.
#include <math.h>

#include "core/parallel.h"
#include "mesh/contour_table.h"
#include "track/contour/slc.h"

enum { BLOCK = 512 };
static const double CLOSE = 1.5;    // cells: farther points have too many blocks to ask
static const double ROUNDING =
    1e-6;    // cells by which a triangle may leave its block, and of reach

static void count_block(void* ctx, ty_range r)
{
    ty_slc_surface* s = ctx;
    const ty_contour_case* cases = ty_contour_cases();
    for (int64_t b = r.begin; b < r.end; ++b) {
        int n = 0;
        for (int64_t o = 8 * b; o < 8 * b + 8; ++o) n += cases[s->tree.inside.at[o]].n_tris;
        s->first_tri.at[b] = n;
    }
}

ty_status ty_slc_index_cells(ty_slc_surface* s)
{
    int64_t n = s->tree.level[0].octants.n / 8;
    if (!ty_array_resize(&s->first_tri, n + 1)) return ty_no_memory("triangles of cells");
    ty_parallel_for(n, BLOCK, count_block, s);
    int sum = 0;
    for (int64_t b = 0; b < n; ++b) {
        int here = s->first_tri.at[b];
        s->first_tri.at[b] = sum;
        sum += here;
    }
    s->first_tri.at[n] = sum;
    if (sum == s->mesh.n_tris) return ty_ok();
    return ty_fail(TY_DAMAGED, "the surface has %d triangles, its cells %d", s->mesh.n_tris, sum);
}

static void ask_block(const ty_slc_surface* s, int block, ty_bvh_search* q)
{
    const int *first = s->first_tri.at + block, *leaf_of = s->exact.bvh.leaf_of;
    if (first[0] < first[1])
        ty_bvh_search_leaves(&s->exact.bvh, q, leaf_of[first[0]], leaf_of[first[1] - 1]);
}

// In cells, of which there are `per_metre`, with room for rounding.
static double reach_of(const ty_slc_surface* s, double per_metre, const ty_bvh_search* q)
{
    return ty_bvh_search_reach(&s->exact.bvh, q) * per_metre + ROUNDING;
}

// Squared distance, in cells, from u to block b along one axis.
static double gap2(double u, int b)
{
    double way = ty_max(ty_max(2.0 * b - u, u - 2.0 * (b + 1)) - ROUNDING, 0.0);
    return way * way;
}

// All blocks within reach of u, in cells, but `own`.
static void ask_around(const ty_slc_surface* s, double per_metre, ty_lattice_cursor* cursor,
                       const double u[3], const int own[3], ty_bvh_search* q)
{
    const ty_lattice_set* blocks = &s->tree.level[1].split;
    double reach = reach_of(s, per_metre, q);
    int lo[3], hi[3], b[3];
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = (int)floor(0.5 * (u[axis] - reach));
        hi[axis] = (int)floor(0.5 * (u[axis] + reach));
    }
    for (b[2] = lo[2]; b[2] <= hi[2]; ++b[2])
        for (b[1] = lo[1]; b[1] <= hi[1]; ++b[1])
            for (b[0] = lo[0]; b[0] <= hi[0]; ++b[0]) {
                if (b[0] == own[0] && b[1] == own[1] && b[2] == own[2]) continue;
                double now = reach_of(s, per_metre, q);
                if (gap2(u[0], b[0]) + gap2(u[1], b[1]) + gap2(u[2], b[2]) > now * now) continue;
                int block = ty_lattice_id(blocks, cursor, b[0], b[1], b[2]);
                if (block >= 0) ask_block(s, block, q);
            }
}

bool ty_slc_foot_near(const ty_slc_surface* s, ty_slc_walk* walk, const ty_octant* o,
                      const double x[3], const double u[3], ty_slc_foot* foot)
{
    ty_bvh_search q;
    int own[3];
    double per_metre = 1.0 / s->tree.cell;
    if (o->id < 0 || o->level > 1) return false;
    ty_bvh_search_begin(&s->exact.bvh, &q, x);
    for (int axis = 0; axis < 3; ++axis) own[axis] = o->x[axis] >> (1 - o->level);
    if (o->level == 0) ask_block(s, o->id / 8, &q);
    if (walk->leaf >= 0 && !(reach_of(s, per_metre, &q) <= CLOSE))
        ty_bvh_search_leaves(&s->exact.bvh, &q, walk->leaf, walk->leaf);
    if (!(reach_of(s, per_metre, &q) <= CLOSE)) return false;
    ask_around(s, per_metre, &walk->block, u, own, &q);
    ty_bvh_search_end(&s->exact.bvh, &q);
    *foot = (ty_slc_foot){q.best, q.triangle};
    walk->leaf = s->exact.bvh.leaf_of[q.triangle];
    return true;
}
