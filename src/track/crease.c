// SPDX-License-Identifier: Apache-2.0
#include "track/crease.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "geometry/slope.h"

enum { BLOCK = TY_SAMPLE_BATCH, EDGE_BLOCK = 16, STEPS = 4 };
enum { INNER, ON_OBSTACLE, ON_LIQUID };    // kinds of vertices

// Cells: nearer to a zero than this a vertex is on it. Kinks leave the contour so far off.
static const double ON = 1e-2;
// Cells: how close the crease must be met, and how far from the edge it may lie.
static const double MET = 1e-3, FARTHEST = 0.75;
// Cells: closer to an end of its edge a vertex is left out. As TY_CONTOUR_MIN_CUT.
static const double SHORTEST = 1e-3;
static const double SLOPE_STEP = 0.02;    // cells
// Sine squared of the angle between both surfaces below which they do not meet in a line.
static const double LEAST_ANGLE = 0.03;
static const double SAME_SIDE = 1e-9;    // cells

typedef struct crease_job {
    ty_crease* crease;
    const ty_crease_def* def;
    const ty_tri_mesh* mesh;
} crease_job;

static void find_kinds(void* ctx, ty_range r)
{
    const crease_job* job = ctx;
    const ty_crease_def* def = job->def;
    double x[BLOCK][3], liquid[BLOCK], solid[BLOCK], on = ON * def->cell;
    int id[BLOCK], n = 0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        job->crease->kind.at[v] = INNER;
        if (def->far && def->far[v]) continue;
        memcpy(x[n], job->mesh->vert[v], sizeof x[n]);
        id[n++] = (int)v;
    }
    if (!n) return;
    ty_sample(&def->obstacles, n, (const double(*)[3])x, solid);
    ty_sample(&def->liquid, n, (const double(*)[3])x, liquid);
    for (int i = 0; i < n; ++i) {
        bool wall = fabs(solid[i]) < on, surface = fabs(liquid[i]) < on;
        if (wall == surface) continue;
        if (wall ? liquid[i] < 0.0 : solid[i] > 0.0)
            job->crease->kind.at[id[i]] = wall ? ON_OBSTACLE : ON_LIQUID;
    }
}

static bool crosses(const ty_crease* crease, int a, int b)
{
    return crease->kind.at[a] + crease->kind.at[b] == ON_OBSTACLE + ON_LIQUID &&
           crease->kind.at[a] != INNER && crease->kind.at[b] != INNER;
}

static int by_ends(const void* a, const void* b)
{
    const ty_crease_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return p->high < q->high ? -1 : p->high > q->high;
}

// Every edge is listed by the triangle that goes along it upwards: once, for the mesh is closed.
static ty_status list_edges(ty_crease* crease, const ty_tri_mesh* m)
{
    crease->edge.n = 0;
    for (int t = 0; t < m->n_tris; ++t)
        for (int k = 0; k < 3; ++k) {
            int a = m->tri[t][k], b = m->tri[t][(k + 1) % 3];
            if (a > b || !crosses(crease, a, b)) continue;
            ty_crease_edge edge = {.low = a, .high = b, .vertex = -1};
            if (!ty_array_push(&crease->edge, edge)) return ty_no_memory("cut surface");
        }
    if (crease->edge.n)
        qsort(crease->edge.at, (size_t)crease->edge.n, sizeof *crease->edge.at, by_ends);
    return ty_ok();
}

// 1 along the axes that the point may move along: not across a side of the domain that its edge
// lies in.
static ty_vec3 free_axes(const ty_crease_def* def, const double a[3], const double b[3])
{
    double axes[3], near = SAME_SIDE * def->cell;
    for (int d = 0; d < 3; ++d) {
        bool low = fabs(a[d] - def->lo[d]) < near && fabs(b[d] - def->lo[d]) < near;
        bool high = fabs(a[d] - def->hi[d]) < near && fabs(b[d] - def->hi[d]) < near;
        axes[d] = low || high ? 0.0 : 1.0;
    }
    return ty_load3(axes);
}

// The shortest way to where both distances, taken for linear, are zero.
static bool step_to_both(const ty_crease_def* def, ty_vec3 axes, ty_vec3* x)
{
    double step = SLOPE_STEP * def->cell;
    double l = ty_value_at(&def->liquid, *x), s = ty_value_at(&def->obstacles, *x);
    ty_vec3 gl = axes * ty_slope_at(&def->liquid, *x, step),
            gs = axes * ty_slope_at(&def->obstacles, *x, step);
    double ll = ty_dot(gl, gl), ls = ty_dot(gl, gs), ss = ty_dot(gs, gs), det = ll * ss - ls * ls;
    if (!(det > LEAST_ANGLE * ll * ss)) return false;
    *x -= ((l * ss - s * ls) * gl + (s * ll - l * ls) * gs) / det;
    return true;
}

static bool find_crease(const ty_crease_def* def, const double a[3], const double b[3],
                        double at[3])
{
    ty_vec3 from = ty_load3(a), to = ty_load3(b), axes = free_axes(def, a, b);
    ty_vec3 middle = 0.5 * (from + to), x = middle;
    for (int k = 0; k < STEPS; ++k) {
        if (!step_to_both(def, axes, &x)) return false;
        if (!(ty_norm(x - middle) < FARTHEST * def->cell)) return false;
    }
    double met = MET * def->cell, shortest = SHORTEST * def->cell;
    ty_store3(at, x);
    for (int d = 0; d < 3; ++d)
        if (!(at[d] >= def->lo[d] && at[d] <= def->hi[d])) return false;
    return fabs(ty_value_at(&def->liquid, x)) < met &&
           fabs(ty_value_at(&def->obstacles, x)) < met && ty_norm(x - from) > shortest &&
           ty_norm(x - to) > shortest;
}

static void place_edges(void* ctx, ty_range r)
{
    const crease_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_crease_edge* e = &job->crease->edge.at[i];
        const double(*x)[3] = (const double(*)[3])job->mesh->vert;
        if (find_crease(job->def, x[e->low], x[e->high], e->x)) e->vertex = 0;
    }
}

static ty_status add_vertices(ty_crease* crease, ty_tri_mesh* m)
{
    int n = m->n_verts;
    crease->parent.n = 0;
    for (int64_t i = 0; i < crease->edge.n; ++i) {
        ty_crease_edge* e = &crease->edge.at[i];
        if (e->vertex < 0) continue;
        e->vertex = n++;
        int parent = crease->kind.at[e->low] == ON_OBSTACLE ? e->low : e->high;
        if (!ty_array_push(&crease->parent, parent)) return ty_no_memory("cut surface");
    }
    TY_TRY(ty_tri_mesh_resize(m, n, m->n_tris));
    for (int64_t i = 0; i < crease->edge.n; ++i) {
        const ty_crease_edge* e = &crease->edge.at[i];
        if (e->vertex >= 0) memcpy(m->vert[e->vertex], e->x, sizeof e->x);
    }
    return ty_ok();
}

static int vertex_on(const ty_crease* crease, int a, int b)
{
    if (!crosses(crease, a, b)) return -1;
    ty_crease_edge edge = {.low = a < b ? a : b, .high = a < b ? b : a};
    const ty_crease_edge* found = bsearch(&edge, crease->edge.at, (size_t)crease->edge.n,
                                          sizeof edge, by_ends);
    return found ? found->vertex : -1;
}

static ty_status add_triangle(ty_tri_mesh* m, int a, int b, int c)
{
    TY_TRY(ty_tri_mesh_resize(m, m->n_verts, m->n_tris + 1));
    int* tri = m->tri[m->n_tris - 1];
    tri[0] = a, tri[1] = b, tri[2] = c;
    return ty_ok();
}

static double squared_length(const ty_tri_mesh* m, int a, int b)
{
    ty_vec3 d = ty_load3(m->vert[a]) - ty_load3(m->vert[b]);
    return ty_dot(d, d);
}

// Triangle t with vertices on one or two of its edges: at most two, for of three vertices two are
// of the same kind.
static ty_status split_triangle(const ty_crease* crease, ty_tri_mesh* m, int t)
{
    int on[3], corner[3], count = 0, k = 0;
    for (int i = 0; i < 3; ++i) {
        corner[i] = m->tri[t][i];
        on[i] = vertex_on(crease, m->tri[t][i], m->tri[t][(i + 1) % 3]);
        count += on[i] >= 0;
    }
    if (count == 0) return ty_ok();
    // Turned so that the split edges are the first, or the last and the first.
    while (on[k] < 0 || (count == 2 && on[(k + 2) % 3] < 0)) ++k;
    int a = corner[k], b = corner[(k + 1) % 3], c = corner[(k + 2) % 3];
    int ab = on[k], ca = on[(k + 2) % 3], *tri = m->tri[t];
    tri[0] = a, tri[1] = ab, tri[2] = count == 2 ? ca : c;
    if (count == 1) return add_triangle(m, ab, b, c);
    bool from_b = squared_length(m, b, ca) < squared_length(m, ab, c);
    TY_TRY(add_triangle(m, ab, b, from_b ? ca : c));
    return from_b ? add_triangle(m, b, c, ca) : add_triangle(m, ab, c, ca);
}

ty_status ty_crease_split(ty_crease* crease, const ty_crease_def* def, ty_tri_mesh* m)
{
    crease_job job = {crease, def, m};
    crease->parent.n = 0;
    if (!ty_array_resize(&crease->kind, m->n_verts)) return ty_no_memory("cut surface");
    ty_parallel_for(m->n_verts, BLOCK, find_kinds, &job);
    TY_TRY(list_edges(crease, m));
    ty_parallel_for(crease->edge.n, EDGE_BLOCK, place_edges, &job);
    TY_TRY(add_vertices(crease, m));
    int n_tris = m->n_tris;
    for (int t = 0; t < n_tris && crease->parent.n; ++t) TY_TRY(split_triangle(crease, m, t));
    return ty_ok();
}

void ty_crease_free(ty_crease* crease)
{
    ty_array_free(&crease->kind);
    ty_array_free(&crease->edge);
    ty_array_free(&crease->parent);
}
