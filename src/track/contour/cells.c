// SPDX-License-Identifier: Apache-2.0
// Contouring lists triangles cell by cell, so the cells know theirs. A point close to the surface
// asks its own cell, then those neighbours that reach into the ball around it: the answer is the
// hierarchy's, to the bit.
#include <math.h>

#include "core/parallel.h"
#include "mesh/contour_table.h"
#include "track/contour/slc.h"

enum { BLOCK = 4096 };
static const double CLOSE = 0.5;    // cells: farther points have too many neighbours to be worth it
static const double ROUNDING = 1e-9;    // cells by which a triangle may leave its cell

static void count_block(void* ctx, ty_range r)
{
    ty_slc_surface* s = ctx;
    const ty_contour_case* cases = ty_contour_cases();
    for (int64_t o = r.begin; o < r.end; ++o) {
        const int* corner = s->tree.corner.at + 8 * o;
        unsigned inside = 0;
        for (int v = 0; v < 8; ++v)
            inside |= (unsigned)(s->tree.corner_value.at[corner[v]] < 0.0) << v;
        s->first_tri.at[o] = cases[inside].n_tris;
    }
}

ty_status ty_slc_index_cells(ty_slc_surface* s)
{
    int64_t n = s->tree.level[0].octants.n;
    if (!ty_array_resize(&s->first_tri, n + 1)) return ty_no_memory("triangles of cells");
    ty_parallel_for(n, BLOCK, count_block, s);
    int sum = 0;
    for (int64_t o = 0; o < n; ++o) {
        int here = s->first_tri.at[o];
        s->first_tri.at[o] = sum;
        sum += here;
    }
    s->first_tri.at[n] = sum;
    if (sum == s->mesh.n_tris) return ty_ok();
    return ty_fail(TY_DAMAGED, "the surface has %d triangles, its cells %d", s->mesh.n_tris, sum);
}

static void ask_cell(const ty_slc_surface* s, int cell, ty_vec3 x, ty_slc_foot* best)
{
    const ty_tri_mesh* m = &s->mesh;
    for (int t = s->first_tri.at[cell]; t < s->first_tri.at[cell + 1]; ++t) {
        const int* v = m->tri[t];
        ty_vec3 a = ty_load3(m->vert[v[0]]), b = ty_load3(m->vert[v[1]]),
                e = ty_load3(m->vert[v[2]]);
        ty_closest c = ty_closest_on_triangle(x, a, b, e);
        if (c.distance2 > best->at.distance2) continue;
        if (c.distance2 == best->at.distance2 && best->triangle >= 0 && t > best->triangle)
            continue;
        *best = (ty_slc_foot){c, t};
    }
}

// Squared distance, in cells, of a point at u of its cell from the neighbour at d.
static double neighbour_distance2(const double u[3], const int d[3])
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double way = d[axis] > 0 ? 1.0 - u[axis] : d[axis] < 0 ? u[axis] : 0.0;
        way = ty_max(way - ROUNDING, 0.0);
        sum += way * way;
    }
    return sum;
}

bool ty_slc_foot_near(const ty_slc_surface* s, ty_lattice_cursor* cursor, const ty_octant* o,
                      const double x[3], ty_slc_foot* foot)
{
    const ty_octree* t = &s->tree;
    double u[3], inverse2 = 1.0 / (t->cell * t->cell);
    int lo[3], hi[3], d[3];
    *foot = (ty_slc_foot){.at.distance2 = INFINITY, .triangle = -1};
    if (o->id < 0 || o->level > 0) return false;
    ask_cell(s, o->id, ty_load3(x), foot);
    if (!(foot->at.distance2 * inverse2 <= CLOSE * CLOSE)) return false;
    double reach = sqrt(foot->at.distance2 * inverse2) + 2.0 * ROUNDING;
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = (x[axis] - t->origin[axis]) / t->cell - o->x[axis];
        lo[axis] = u[axis] <= reach ? -1 : 0;
        hi[axis] = u[axis] >= 1.0 - reach ? 1 : 0;
    }
    for (d[2] = lo[2]; d[2] <= hi[2]; ++d[2])
        for (d[1] = lo[1]; d[1] <= hi[1]; ++d[1])
            for (d[0] = lo[0]; d[0] <= hi[0]; ++d[0]) {
                double bound = foot->at.distance2 * inverse2 + ROUNDING;
                if (!(d[0] | d[1] | d[2]) || neighbour_distance2(u, d) > bound) continue;
                int at[3] = {o->x[0] + d[0], o->x[1] + d[1], o->x[2] + d[2]};
                int cell = ty_lattice_id(&t->level[0].octants, cursor, at[0], at[1], at[2]);
                if (cell >= 0) ask_cell(s, cell, ty_load3(x), foot);
            }
    return true;
}
