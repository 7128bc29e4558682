// SPDX-License-Identifier: Apache-2.0
#include "solve/grid/thin_walls.h"

#include <string.h>

#include "core/parallel.h"

// Step of the difference quotient for normals, cells.
static const double NORMAL_STEP = 0.02;
// Normals of two ends of an edge that differ by more than about 107 degrees belong to two sides of
// a wall; the sides of a right-angled corner do not.
static const double OPPOSITE = -0.3;

typedef struct normals_job {
    const ty_gridflow* gf;
    const int* node;
    double (*normal)[3];
} normals_job;

static void node_position(const ty_cells* c, int node, double x[3])
{
    ty_cell_center(c, node, x);
    for (int axis = 0; axis < 3; ++axis) x[axis] -= 0.5 * c->h;
}

static void node_normals(void* ctx, ty_range r)
{
    const normals_job* job = ctx;
    const ty_cells* c = &job->gf->cells;
    ty_sampler solid = ty_world_obstacles(job->gf->world);
    double x[TY_SAMPLE_BATCH][3], base[TY_SAMPLE_BATCH], moved[TY_SAMPLE_BATCH];
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) node_position(c, job->node[r.begin + i], x[i]);
    ty_sample(&solid, n, (const double(*)[3])x, base);
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < n; ++i) x[i][axis] += NORMAL_STEP * c->h;
        ty_sample(&solid, n, (const double(*)[3])x, moved);
        for (int i = 0; i < n; ++i) {
            x[i][axis] -= NORMAL_STEP * c->h;
            job->normal[r.begin + i][axis] = moved[i] - base[i];
        }
    }
    for (int i = 0; i < n; ++i)
        ty_store3(job->normal[r.begin + i], ty_normalize(ty_load3(job->normal[r.begin + i])));
}

// Nodes outside the solid whose distance is below a cell; gf->row tells where each stands in the
// list.
static ty_status list_near_nodes(ty_gridflow* gf, const int lo[3], const int hi[3])
{
    gf->layer.n = 0;
    for (int k = lo[2]; k <= hi[2]; ++k)
        for (int j = lo[1]; j <= hi[1]; ++j)
            for (int i = lo[0]; i <= hi[0]; ++i) {
                int node = ty_cell_index(&gf->cells, i, j, k);
                if (gf->solid[node] <= 0.0 || gf->solid[node] >= gf->cells.h) continue;
                gf->row[node] = (int)gf->layer.n;
                if (!ty_array_push(&gf->layer, node)) return ty_no_memory("nodes near walls");
            }
    return ty_array_resize(&gf->scratch, 3 * gf->layer.n) ? ty_ok()
                                                          : ty_no_memory("nodes near walls");
}

// Whether a wall crosses the edge between two near nodes: their distances leave room for it, and
// its sides face away from each other along the edge.
static bool wall_between(const ty_gridflow* gf, int axis, int a, int b)
{
    double h = gf->cells.h, da = gf->solid[a], db = gf->solid[b];
    if (da <= 0.0 || db <= 0.0 || da + db >= h) return false;
    const double* na = gf->scratch.at + 3 * (int64_t)gf->row[a];
    const double* nb = gf->scratch.at + 3 * (int64_t)gf->row[b];
    return na[axis] < 0.0 && nb[axis] > 0.0 && ty_dot(ty_load3(na), ty_load3(nb)) < OPPOSITE;
}

static void find_crossed_edges(ty_gridflow* gf, const int hi[3])
{
    for (int64_t i = 0; i < gf->layer.n; ++i) {
        int node = gf->layer.at[i], at[3];
        ty_cell_coords(&gf->cells, node, at);
        for (int axis = 0; axis < 3; ++axis)
            if (at[axis] < hi[axis] && wall_between(gf, axis, node, node + gf->cells.stride[axis]))
                gf->mark[0][node] |= (uint8_t)(1 << axis);
    }
}

static bool split(const ty_gridflow* gf, int cell)
{
    const int* s = gf->cells.stride;
    int corner[8], open = 0, crossed = 0;
    for (int i = 0; i < 8; ++i) {
        corner[i] = cell + (i & 1) * s[0] + (i >> 1 & 1) * s[1] + (i >> 2) * s[2];
        if (gf->solid[corner[i]] > 0.0) open |= 1 << i;
        crossed |= gf->mark[0][corner[i]];
    }
    if (open == 0 || (open == 255 && !crossed)) return false;
    int reached = open & -open;
    for (int before = 0; before != reached;) {
        before = reached;
        for (int i = 0; i < 8; ++i)
            for (int axis = 0; axis < 3; ++axis) {
                int j = i | 1 << axis, pair = 1 << i | 1 << j;
                if (j == i || (open & pair) != pair || !(reached & pair)) continue;
                if (!(gf->mark[0][corner[i]] >> axis & 1)) reached |= pair;
            }
    }
    return reached != open;
}

ty_status ty_close_thin_walls(ty_gridflow* gf, const int lo[3], const int hi[3])
{
    TY_TRY(list_near_nodes(gf, lo, hi));
    normals_job job = {gf, gf->layer.at, (double(*)[3])gf->scratch.at};
    ty_parallel_for(gf->layer.n, TY_SAMPLE_BATCH, node_normals, &job);
    memset(gf->mark[0], 0, (size_t)gf->cells.count);
    find_crossed_edges(gf, hi);
    for (int k = lo[2]; k < hi[2]; ++k)
        for (int j = lo[1]; j < hi[1]; ++j)
            for (int i = lo[0]; i < hi[0]; ++i) {
                int cell = ty_cell_index(&gf->cells, i, j, k);
                if (!split(gf, cell)) continue;
                for (int axis = 0; axis < 3; ++axis)
                    gf->open[axis][cell] = gf->open[axis][cell + gf->cells.stride[axis]] = 0.0;
            }
    memset(gf->mark[0], 0, (size_t)gf->cells.count);
    return ty_ok();
}
