// SPDX-License-Identifier: Apache-2.0
// phi as a function of space, its triangles, and which body of liquid a vertex belongs to.
#include <string.h>

#include "core/parallel.h"
#include "field/cubic.h"
#include "track/levelset/levelset.h"

enum { BATCH = TY_SAMPLE_BATCH, CHUNK = 128 };
static const double AT_CENTER = 1e-12;    // cells
static const double CUBIC_REACH = 2.5;    // cells: beyond it no zero is near and trilinear will do

// How far x lies outside the box of the outermost centres: there the liquid ends.
static double beyond_grid(const ty_grid* g, const double x[3])
{
    double out = -INFINITY, half = 0.5 * g->cell;
    for (int axis = 0; axis < 3; ++axis) {
        double s = x[axis] - g->origin[axis];
        out = ty_max(out, ty_max(half - s, s - (g->n[axis] * g->cell - half)));
    }
    return out;
}

// Where all interpolants are the value itself.
static bool at_center(const ty_grid* g, const double x[3])
{
    double per_cell = 1.0 / g->cell;
    for (int axis = 0; axis < 3; ++axis) {
        double s = (x[axis] - g->origin[axis]) * per_cell - 0.5;
        if (fabs(s - rint(s)) > AT_CENTER) return false;
    }
    return true;
}

static void eval_chunk(const ty_levelset_field* f, int n, const double (*x)[3], double* out)
{
    double near_x[CHUNK][3], value[CHUNK];
    int id[CHUNK], n_near = 0;
    ty_grid_linear(f->grid, f->values, n, x, out);
    for (int i = 0; i < n; ++i)
        if (fabs(out[i]) < CUBIC_REACH * f->grid->cell && !at_center(f->grid, x[i])) {
            memcpy(near_x[n_near], x[i], sizeof near_x[0]);
            id[n_near++] = i;
        }
    ty_grid_distance(f->grid, f->values, n_near, (const double(*)[3])near_x, value);
    for (int i = 0; i < n_near; ++i) out[id[i]] = value[i];
    for (int i = 0; i < n; ++i) {
        double outside = beyond_grid(f->grid, x[i]);
        if (outside > 0.0) out[i] = ty_max(out[i], outside);
    }
}

void ty_levelset_eval(const void* field, int n, const double (*x)[3], double* out)
{
    for (int at = 0; at < n; at += CHUNK)
        eval_chunk(field, n - at < CHUNK ? n - at : CHUNK, x + at, out + at);
}

// The cell on the liquid's side of a vertex's edge.
static void inside_cell(const ty_levelset* ls, int vertex, int ijk[3])
{
    const ty_grid* g = &ls->grid;
    int axis = ty_contour_edge(ls->contour.key.at[vertex], ijk);
    bool here = ijk[axis] >= 0;
    if (!here || !(ls->phi[ty_grid_index(g, ijk[0], ijk[1], ijk[2])] < 0.0)) ++ijk[axis];
}

// The run of open cells that a vertex bounds; -1 when its liquid is all inside solids.
static int run_of_vertex(const ty_levelset* ls, int vertex)
{
    int ijk[3];
    inside_cell(ls, vertex, ijk);
    return ty_label_run_at(&ls->label, ijk[0], ijk[1], ijk[2]);
}

// Bodies that touch only across the corner of a cell are one where the triangles connect them.
static void unite_across_triangles(ty_levelset* ls)
{
    const ty_tri_mesh* m = &ls->surface;
    for (int t = 0; t < m->n_tris; ++t) {
        int a = ls->piece.at[m->tri[t][0]], b = ls->piece.at[m->tri[t][1]],
            c = ls->piece.at[m->tri[t][2]];
        if (a >= 0 && b >= 0 && a != b) ty_label_unite(&ls->label, a, b);
        if (b >= 0 && c >= 0 && b != c) ty_label_unite(&ls->label, b, c);
    }
}

static void find_runs(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    for (int64_t v = r.begin; v < r.end; ++v) ls->piece.at[v] = run_of_vertex(ls, (int)v);
}

// Lowest piece of a triangle's corners to those that have none; whether some had none.
static bool spread_on(ty_levelset* ls, const int v[3], bool* changed)
{
    int best = -1, *piece = ls->piece.at;
    bool any = false;
    for (int i = 0; i < 3; ++i) {
        any |= piece[v[i]] < 0;
        if (piece[v[i]] >= 0 && (best < 0 || piece[v[i]] < best)) best = piece[v[i]];
    }
    if (!any || best < 0) return any;
    for (int i = 0; i < 3; ++i)
        if (piece[v[i]] < 0) piece[v[i]] = best;
    *changed = true;
    return false;
}

// Vertices inside solids take the piece of the surface that they continue: labels spread over the
// triangles.
static ty_status spread_into_solids(ty_levelset* ls)
{
    const ty_tri_mesh* m = &ls->surface;
    bool changed = false;
    ls->corner.n = 0;
    for (int t = 0; t < m->n_tris; ++t)
        if (spread_on(ls, m->tri[t], &changed) && !ty_array_push(&ls->corner, t))
            return ty_no_memory("pieces of liquid");
    while (changed) {
        int64_t left = 0;
        changed = false;
        for (int64_t i = 0; i < ls->corner.n; ++i)
            if (spread_on(ls, m->tri[ls->corner.at[i]], &changed))
                ls->corner.at[left++] = ls->corner.at[i];
        ls->corner.n = left;
    }
    return ty_ok();
}

static ty_status label_pieces(ty_levelset* ls)
{
    TY_TRY(ty_label_scan(&ls->label, ls->grid.n, ls->phi, ls->closed));
    if (!ty_array_resize(&ls->piece, ls->surface.n_verts)) return ty_no_memory("pieces of liquid");
    ty_parallel_for(ls->surface.n_verts, BATCH, find_runs, ls);
    unite_across_triangles(ls);
    ty_label_number(&ls->label);
    bool in_solid = false;
    for (int v = 0; v < ls->surface.n_verts; ++v) {
        int run = ls->piece.at[v];
        ls->piece.at[v] = run < 0 ? -1 : ls->label.run.at[run].label;
        in_solid |= run < 0;
    }
    if (in_solid) TY_TRY(spread_into_solids(ls));
    ls->n_pieces = ls->label.n_labels;
    for (int v = 0; v < ls->surface.n_verts; ++v)    // liquid that is in solids only
        if (ls->piece.at[v] < 0) {
            ls->piece.at[v] = 0;
            if (ls->n_pieces == 0) ls->n_pieces = 1;
        }
    return ty_ok();
}

typedef struct placing {
    ty_levelset* ls;
    const double* values;
} placing;

// Puts vertices onto the zeros of the values' interpolant, which along an edge depends on four.
static void place_vertices(void* ctx, ty_range r)
{
    const placing* p = ctx;
    ty_levelset* ls = p->ls;
    const ty_grid* g = &ls->grid;
    double f[BATCH][4], t[BATCH], low[BATCH], *to[BATCH];    // to: the coordinate along the edge
    int n = 0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        int ijk[3], axis = ty_contour_edge(ls->contour.key.at[v], ijk);
        if (ijk[axis] < 1 || ijk[axis] + 2 >= g->n[axis]) continue;
        int64_t stride = ty_grid_stride(g, axis);
        const double* at = p->values + ty_grid_index(g, ijk[0], ijk[1], ijk[2]);
        for (int k = 0; k < 4; ++k) f[n][k] = at[(k - 1) * stride];
        low[n] = ijk[axis] + 0.5;
        to[n++] = &ls->surface.vert[v][axis];
    }
    ty_cubic_zeros(n, (const double(*)[4])f, t);
    for (int i = 0; i < n; ++i) {
        int axis = (int)((to[i] - ls->surface.vert[0]) % 3);
        double cut = ty_clamp(t[i], TY_CONTOUR_MIN_CUT, 1.0 - TY_CONTOUR_MIN_CUT);
        *to[i] = g->origin[axis] + g->cell * (low[i] + cut);
    }
}

ty_status ty_levelset_triangles(ty_levelset* ls, const double* values)
{
    const ty_grid* g = &ls->grid;
    placing p = {ls, values};
    ty_contour_lattice lattice = {
        .cell = g->cell, .n = {g->n[0], g->n[1], g->n[2]}, .values = values};
    for (int axis = 0; axis < 3; ++axis) lattice.origin[axis] = g->origin[axis] + 0.5 * g->cell;
    TY_TRY(ty_contour_grid(&ls->contour, &lattice, NULL, 0, &ls->surface));
    ty_parallel_for(ls->surface.n_verts, BATCH, place_vertices, &p);
    return ty_ok();
}

ty_status ty_levelset_contour(ty_levelset* ls)
{
    TY_TRY(ty_levelset_triangles(ls, ls->phi));
    return label_pieces(ls);
}
