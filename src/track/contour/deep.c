// SPDX-License-Identifier: Apache-2.0
// Where no free surface comes in a step. Most of a wall below liquid is far from any, and what lies
// in the wall there is known without a trace: the liquid goes on to its end (walls.c).
//
// Blocks of SIDE cells are marked around the vertices of the surface that do not lie on that end, as
// far as a step and the continuation reach.
#include <math.h>

#include "core/parallel.h"
#include "track/contour/slc.h"

enum { SIDE = 4, BATCH = TY_SAMPLE_BATCH, STILL_LEVEL = 2 };
static const double ENDS = 0.5;      // cells above the end of the liquid in walls that belong to it
static const double SLACK = 1.0;     // cells that a path may be longer than the fastest one
static const double INSIDE = 2.0;    // cells: so deep at a wall is inside, whatever is interpolated

typedef struct mark_args {
    const ty_slc* s;
    ty_sampler solid;
    uint8_t* free;
} mark_args;

static void free_block(void* ctx, ty_range r)
{
    const mark_args* k = ctx;
    double d[BATCH], end = (TY_SLC_DEPTH - ENDS) * k->s->def.cell;
    int n = (int)(r.end - r.begin);
    ty_sample(&k->solid, n, (const double(*)[3])k->s->now.mesh.vert + r.begin, d);
    for (int i = 0; i < n; ++i) k->free[r.begin + i] = d[i] > -end;
}

static void block_of(const ty_slc* s, const double x[3], int at[3])
{
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = (int)floor((x[axis] - s->origin[axis]) / (SIDE * s->def.cell));
}

static bool mark(ty_slc* s, const uint8_t* free)
{
    const ty_tri_mesh* m = &s->now.mesh;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    for (int v = 0; v < m->n_verts; ++v) {
        int at[3];
        block_of(s, m->vert[v], at);
        if (free[v] && !ty_lattice_put(&s->free_at, &c, at[0], at[1], at[2])) return false;
    }
    return true;
}

// Blocks within `reach` blocks of marked ones.
static ty_status widen(ty_slc* s, int reach)
{
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    TY_TRY(ty_lattice_set_finish(&s->free_at));
    for (int b = 0; b < s->free_at.n; ++b) {
        const int* at = ty_lattice_walk_to(&s->free_at, &walk, b);
        for (int k = -reach; k <= reach; ++k)
            for (int j = -reach; j <= reach; ++j)
                for (int i = -reach; i <= reach; ++i)
                    if (!ty_lattice_put(&s->free_near, &c, at[0] + i, at[1] + j, at[2] + k))
                        return ty_no_memory("blocks at the free surface");
    }
    return ty_ok();
}

ty_status ty_slc_find_deep(ty_slc* s, double reach)
{
    int n = s->now.mesh.n_verts;
    ty_lattice_set_clear(&s->free_at);
    ty_lattice_set_clear(&s->free_near);
    uint8_t* free = ty_alloc((size_t)n, sizeof *free);
    if (!free) return ty_no_memory("blocks at the free surface");
    mark_args k = {s, ty_world_solid(s->world), free};
    ty_parallel_for(n, BATCH, free_block, &k);
    bool ok = mark(s, free);
    ty_free(free);
    if (!ok) return ty_no_memory("blocks at the free surface");
    return widen(s, (int)ceil((reach / s->def.cell + TY_SLC_DEPTH + SLACK) / SIDE));
}

// Values of the octree's corners: in leaves up to STILL_LEVEL the surface is so near that coarser octants
// are split by them whatever comes nearer, and what may come stays farther than such a leaf's half
// diagonal.
void ty_slc_still(const ty_slc* s, int n, const double (*x)[3], bool* still, double* value)
{
    const ty_slc_surface* from = &s->now;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_octree_cursor leaf = ty_octree_cursor_start();
    for (int i = 0; i < n; ++i) {
        int at[3];
        double u[3];
        block_of(s, x[i], at);
        still[i] = false;
        if (ty_lattice_has(&s->free_near, &c, at[0], at[1], at[2])) continue;
        ty_octree_cells_of(&from->tree, x[i], u, at);
        ty_octant o = ty_octree_leaf(&from->tree, &leaf, at);
        still[i] = o.id >= 0 && o.level <= STILL_LEVEL && ty_slc_told(from, &o, u, &value[i]);
    }
}

void ty_slc_is_deep(const ty_slc* s, int n, const double (*x)[3], bool* deep)
{
    ty_lattice_cursor c = ty_lattice_cursor_start();
    double ask[BATCH][3], d[BATCH];
    int id[BATCH], m = 0;
    for (int i = 0; i < n; ++i) {
        int at[3];
        block_of(s, x[i], at);
        deep[i] = false;
        if (ty_lattice_has(&s->free_near, &c, at[0], at[1], at[2])) continue;
        for (int axis = 0; axis < 3; ++axis) ask[m][axis] = x[i][axis];
        id[m++] = i;
    }
    ty_slc_rough_distance(&s->now, m, (const double(*)[3])ask, d, NULL, NULL);
    for (int i = 0; i < m; ++i) deep[id[i]] = d[i] < -INSIDE * s->def.cell;
}
