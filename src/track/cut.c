// SPDX-License-Identifier: Apache-2.0
// At a side of the domain:
//
//       air |  contour's own border vertices, TY_CONTOUR_MIN_CUT outside, go back onto the side:
//    ---o---|---o---   the bevel at the domain's edges and corners collapses, its triangles vanish,
//       in  |   in     and the liquid ends sharply.
#include "track/cut.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "field/cubic.h"
#include "geometry/slope.h"
#include "mesh/contour.h"
#include "track/crease.h"
#include "track/cut_film.h"
#include "track/cut_tree.h"
#include "world/shape.h"

enum { BLOCK = TY_SAMPLE_BATCH, ROW_BLOCK = 64, MAX_NODES = 1 << 20 };
static const double SAME_PLACE = 1e-9;    // cells
static const double NARROW = 0.05;        // cells: a centre closer to the far side is left out
static const double DRAW_STEP = 0.05;     // cells: of the differences that point back to the liquid
// Cells: what is farther from the fattened liquid lies on an obstacle
static const double ON_LIQUID = 0.01;

typedef struct corner {
    int64_t node;
    int vertex;
} corner;

typedef ty_cut_part part;

struct ty_cutter {
    ty_contour contour;
    part part;
    ty_cut_tree tree;    // of liquids that have one,
    bool is_tree;        // as the last one
    TY_ARRAY(double) values;
    TY_ARRAY(uint8_t) film;    // per node: it lies below a film on an obstacle; empty: no obstacles
    TY_ARRAY(double) obstacles;    // at the nodes they were asked for
    part known;                    // those nodes: the whole lattice
    bool is_known;
    TY_ARRAY(int) renumber;
    TY_ARRAY(corner) corners;
    ty_crease crease;
    TY_ARRAY(uint8_t) far;    // per vertex: no obstacle near
    ty_tri_mesh mesh;         // of ty_cut_volume
};

ty_status ty_cutter_create(ty_cutter** cutter)
{
    *cutter = ty_alloc_zero(1, sizeof **cutter);
    return *cutter ? ty_ok() : ty_no_memory("cut surface");
}

void ty_cutter_rest(ty_cutter* c)
{
    ty_contour_free(&c->contour);
    ty_cut_tree_rest(&c->tree);
    ty_array_free(&c->values);
    ty_array_free(&c->film);
    ty_array_free(&c->corners);
    ty_array_free(&c->far);
    ty_crease_free(&c->crease);
    ty_tri_mesh_free(&c->mesh);
}

void ty_cutter_destroy(ty_cutter* c)
{
    if (!c) return;
    ty_cutter_rest(c);
    ty_array_free(&c->obstacles);
    ty_cut_tree_free(&c->tree);
    ty_array_free(&c->renumber);
    ty_free(c);
}

static void node_of(const part* p, int64_t index, double s[3])
{
    int64_t row = index / p->n[0];
    s[0] = (double)(index - row * p->n[0] + p->first[0]);
    s[1] = (double)(row % p->n[1] + p->first[1]);
    s[2] = (double)(row / p->n[1] + p->first[2]);
}

static int64_t n_nodes(const part* p) { return (int64_t)p->n[0] * p->n[1] * p->n[2]; }

void ty_cut_distance(const part* p, int n, const double (*x)[3], double* out)
{
    ty_sample(p->fattened.eval ? &p->fattened : &p->distance, n, x, out);
}

static void eval_part(const void* self, int n, const double (*s)[3], double* out)
{
    const part* p = self;
    for (int at = 0; at < n; at += BLOCK) {
        int m = n - at < BLOCK ? n - at : BLOCK;
        double x[BLOCK][3], d[BLOCK];
        for (int i = 0; i < m; ++i) ty_cut_to_space(p, s[at + i], x[i]);
        ty_cut_distance(p, m, (const double(*)[3])x, out + at);
        if (!p->has_obstacles) continue;
        ty_sampler obstacles = ty_world_obstacles(p->world);
        ty_sample(&obstacles, m, (const double(*)[3])x, d);
        for (int i = 0; i < m; ++i) out[at + i] = ty_max(out[at + i], -d[i]);
    }
}

ty_sampler ty_cut_function(const part* p)
{
    return (ty_sampler){.self = p, .width = 1, .eval = eval_part};
}

static void sample_nodes(ty_cutter* c, int64_t begin, int n)
{
    double x[BLOCK][3];
    for (int i = 0; i < n; ++i) {
        double s[3];
        node_of(&c->part, begin + i, s);
        ty_cut_to_space(&c->part, s, x[i]);
    }
    ty_cut_distance(&c->part, n, (const double(*)[3])x, c->values.at + begin);
}

static void sample_liquid(void* ctx, ty_range r)
{
    sample_nodes(ctx, r.begin, (int)(r.end - r.begin));
}

// Rows of nodes: those on the domain's sides are sampled, the others are the tracker's own values.
static void copy_liquid(void* ctx, ty_range r)
{
    ty_cutter* c = ctx;
    const part* p = &c->part;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int64_t first = row * p->n[0], j = row % p->n[1], k = row / p->n[1];
        if (j == 0 || k == 0 || j == p->n[1] - 1 || k == p->n[2] - 1) {
            for (int i = 0; i < p->n[0]; i += BLOCK)
                sample_nodes(c, first + i, p->n[0] - i < BLOCK ? p->n[0] - i : BLOCK);
            continue;
        }
        const double* from = p->centers + p->stride[1] * j + p->stride[2] * k;
        sample_nodes(c, first, 1);
        memcpy(c->values.at + first + 1, from + 1, (size_t)(p->n[0] - 2) * sizeof *from);
        sample_nodes(c, first + p->n[0] - 1, 1);
    }
}

// Sets p->centers when the tracker has values at all nodes inside the domain.
static void find_centers(part* p, const ty_liquid* liquid)
{
    const ty_lattice* l = &liquid->lattice;
    const double* at = liquid->values;
    int64_t stride = 1;
    p->centers = NULL;
    if (!at || l->cell != p->cell) return;
    for (int axis = 0; axis < 3; ++axis) {
        double shift = (p->lo[axis] - l->origin[axis]) / p->cell -
                       0.5;    // of node 0 along with the others
        int64_t first = llround(shift);
        if (fabs(shift - (double)first) > SAME_PLACE || first < 0 ||
            first + p->whole[axis] > l->n[axis])
            return;
        p->stride[axis] = stride;
        at += first * stride;
        stride *= l->n[axis];
    }
    p->centers = at;
}

static void sample_obstacles(void* ctx, ty_range r)
{
    ty_cutter* c = ctx;
    ty_sampler obstacles = ty_world_obstacles(c->part.world);
    double x[BLOCK][3];
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) {
        double s[3];
        node_of(&c->known, r.begin + i, s);
        ty_cut_to_space(&c->known, s, x[i]);
    }
    ty_sample(&obstacles, n, (const double(*)[3])x, c->obstacles.at + r.begin);
}

// Nodes with liquid or its continuation, `solid` from obstacles: what these take away. Below films they stay.
static void cut_nodes(ty_cutter* c, int n, const int64_t* id, const double* solid)
{
    double x[BLOCK][3];
    bool below[BLOCK];
    for (int i = 0; i < n; ++i) {
        double s[3];
        node_of(&c->part, id[i], s);
        ty_cut_to_space(&c->part, s, x[i]);
    }
    ty_cut_below_film(&c->part, n, (const double(*)[3])x, solid, below);
    for (int i = 0; i < n; ++i) {
        c->film.at[id[i]] = below[i];
        if (!below[i]) c->values.at[id[i]] = ty_max(c->values.at[id[i]], -solid[i]);
    }
}

// Obstacles are asked for only where there is liquid: nodes in the air stay air.
static void cut_obstacles(void* ctx, ty_range r)
{
    ty_cutter* c = ctx;
    ty_sampler obstacles = ty_world_obstacles(c->part.world);
    double x[BLOCK][3], d[BLOCK];
    int64_t id[BLOCK];
    int n = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double s[3];
        if (!(c->values.at[i] < 0.0)) continue;
        node_of(&c->part, i, s);
        ty_cut_to_space(&c->part, s, x[n]);
        id[n++] = i;
    }
    if (n) ty_sample(&obstacles, n, (const double(*)[3])x, d);
    cut_nodes(c, n, id, d);
}

static void cut_known(void* ctx, ty_range r)
{
    ty_cutter* c = ctx;
    double solid[BLOCK];
    int64_t id[BLOCK];
    int n = 0;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double d = c->obstacles.at[i];
        bool shallow = c->values.at[i] < 0.0 && c->values.at[i] > -TY_CUT_FILM_DEEP * c->part.cell;
        if (!shallow || !(d < 0.0)) {
            c->values.at[i] = ty_max(c->values.at[i], -d);
            continue;
        }
        solid[n] = d;
        id[n++] = i;
        if (n == BLOCK) cut_nodes(c, n, id, solid), n = 0;
    }
    cut_nodes(c, n, id, solid);
}

static bool same_lattice(const part* a, const part* b)
{
    return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && a->cell == b->cell &&
           memcmp(a->whole, b->whole, sizeof a->whole) == 0;
}

// Asks for the obstacles on the whole lattice, unless they are known.
static ty_status know_obstacles(ty_cutter* c)
{
    if (c->is_known && same_lattice(&c->known, &c->part)) return ty_ok();
    c->known = c->part;
    for (int axis = 0; axis < 3; ++axis)
        c->known.first[axis] = 0, c->known.n[axis] = c->known.whole[axis];
    int64_t n = n_nodes(&c->known);
    if (!ty_array_resize(&c->obstacles, n)) return ty_no_memory("cut surface");
    ty_parallel_for(n, BLOCK, sample_obstacles, c);
    c->is_known = true;
    return ty_ok();
}

// Keeping the values changes no bit: ty_max(phi, -d) is the same wherever phi >= 0 makes the node
// air.
static ty_status fill_values(ty_cutter* c, bool keep)
{
    int64_t n = n_nodes(&c->part);
    if (!ty_array_resize(&c->values, n)) return ty_no_memory("cut surface");
    if (c->part.centers)
        ty_parallel_for((int64_t)c->part.n[1] * c->part.n[2], ROW_BLOCK, copy_liquid, c);
    else ty_parallel_for(n, BLOCK, sample_liquid, c);
    c->film.n = 0;
    if (!c->part.has_obstacles) return ty_ok();
    if (!ty_array_resize(&c->film, n)) return ty_no_memory("cut surface");
    memset(c->film.at, 0, (size_t)n);
    if (!keep || ty_world_solid_moves(c->part.world)) {
        c->is_known = c->is_known && !keep;
        ty_parallel_for(n, BLOCK, cut_obstacles, c);
        return ty_ok();
    }
    TY_TRY(know_obstacles(c));
    ty_parallel_for(n, 16 * BLOCK, cut_known, c);
    return ty_ok();
}

static int64_t node_index(const part* p, const int node[3])
{
    return node[0] + p->n[0] * (node[1] + (int64_t)p->n[1] * node[2]);
}

static double node_value(const ty_cutter* c, const int node[3])
{
    return c->values.at[node_index(&c->part, node)];
}

typedef struct placing {
    ty_cutter* c;
    ty_tri_mesh* mesh;
} placing;

// The end of a vertex's edge that is inside; *border when the other one is outside the lattice.
static int inside_end(const ty_cutter* c, int vertex, int node[3], bool* border)
{
    int axis = ty_contour_edge(c->contour.key.at[vertex], node);
    *border = node[axis] < 0 || node[axis] + 1 >= c->part.n[axis];
    bool high = c->is_tree ? c->contour.key.at[vertex] >> TY_CUT_HIGH & 1
                           : node[axis] < 0 || (!*border && !(node_value(c, node) < 0.0));
    node[axis] += high;
    return axis;
}

// A vertex that the contour kept away from a node goes where the function is zero.
static double true_cut(const ty_cutter* c, const int low[3], int axis)
{
    double a[1][3], b[1][3], t[1], fa = node_value(c, low), fb;
    int high[3] = {low[0], low[1], low[2]};
    ++high[axis];
    fb = node_value(c, high);
    for (int d = 0; d < 3; ++d) {
        a[0][d] = low[d] + c->part.first[d];
        b[0][d] = high[d] + c->part.first[d];
    }
    ty_sampler f = {.self = &c->part, .width = 1, .eval = eval_part};
    ty_find_zeros(&f, TY_CONTOUR_REFINE, 1, (const double(*)[3])a, (const double(*)[3])b, &fa, &fb,
                  t);
    return ty_clamp(t[0], TY_CUT_LEAST, 1.0 - TY_CUT_LEAST);
}

// Whether the tracker's own values tell where an edge is cut: it lies between centres of cells.
// f: those on its line.
static bool between_centers(const part* p, const int low[3], int axis, double f[4])
{
    const double* at = p->centers;
    if (!at || p->has_obstacles) return false;
    for (int d = 0; d < 3; ++d) {
        if (low[d] < 1 || low[d] + (d == axis) > p->whole[d] - 2) return false;
        at += low[d] * p->stride[d];
    }
    for (int i = 0; i < 4; ++i) f[i] = at[(i - 1) * p->stride[axis]];
    return true;
}

// On the edge from `inside`, a node below a film, whose lower end is at `low` along `axis`.
static void place_film(const ty_cutter* c, const int inside[3], int axis, int low, double x[3])
{
    double from[3], to[3], a[3], b[3];
    for (int d = 0; d < 3; ++d) from[d] = to[d] = inside[d] + c->part.first[d];
    to[axis] += inside[axis] > low ? -1.0 : 1.0;
    ty_cut_to_space(&c->part, from, a);
    ty_cut_to_space(&c->part, to, b);
    ty_cut_film(&c->part, a, b, x);
}

static void place_vertices(void* ctx, ty_range r)
{
    placing* p = ctx;
    const ty_cutter* c = p->c;
    double f[BLOCK][4], zero[BLOCK];
    int id[BLOCK], n = 0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        int low[3], axis = ty_contour_edge(c->contour.key.at[v], low);
        if (between_centers(&c->part, low, axis, f[n])) id[n++] = (int)v;
    }
    ty_cubic_zeros(n, (const double(*)[4])f, zero);
    for (int64_t v = r.begin, next = 0; v < r.end; ++v) {
        int node[3], low[3];
        bool border;
        double* x = p->mesh->vert[v];
        int axis = inside_end(c, (int)v, node, &border);
        ty_contour_edge(c->contour.key.at[v], low);
        double t = x[axis] - (low[axis] + c->part.first[axis]);
        if (!border && c->film.n && c->film.at[node_index(&c->part, node)]) {
            place_film(c, node, axis, low[axis], x);
            continue;
        }
        if (next < n && id[next] == v) {
            x[axis] = low[axis] + ty_clamp(zero[next++], TY_CUT_LEAST, 1.0 - TY_CUT_LEAST);
        } else if (border) {
            for (int d = 0; d < 3; ++d) x[d] = node[d] + c->part.first[d];
        } else if (c->part.refine == 0 || ty_min(t, 1.0 - t) <= TY_CONTOUR_MIN_CUT * 1.001) {
            x[axis] = low[axis] + c->part.first[axis] + true_cut(c, low, axis);
        }
        double s[3] = {x[0], x[1], x[2]};
        ty_cut_to_space(&c->part, s, x);
    }
}

void ty_cut_draw_back(const part* p, double x[3])
{
    double at[5][3], d[5], fat, step = DRAW_STEP * p->cell;
    for (int k = 0; k < 5; ++k)
        ty_store3(at[k], ty_load3(x) + (k ? step : 0.0) * ty_load3(TY_TETRA[k ? k - 1 : 0]));
    ty_sample(&p->fattening, 1, (const double(*)[3])x, &fat);
    if (!(fat > 0.0)) return;
    ty_sample(&p->distance, 5, (const double(*)[3])at, d);
    if (fabs(d[0] - fat) > ON_LIQUID * p->cell) return;
    ty_vec3 slope = ty_vec(0, 0, 0);
    for (int k = 0; k < 4; ++k) slope += d[1 + k] * ty_load3(TY_TETRA[k]);
    ty_store3(x, ty_load3(x) - d[0] * ty_normalize(slope));
    const ty_world_def* def = ty_world_get_def(p->world);
    for (int axis = 0; axis < 3 && def->has_domain; ++axis)
        x[axis] = ty_clamp(x[axis], def->min[axis], def->max[axis]);
}

static int by_node(const void* a, const void* b)
{
    const corner *p = a, *q = b;
    if (p->node != q->node) return p->node < q->node ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

// Border vertices of nodes that lie on two or three sides: there the same place has more than one.
static ty_status find_corners(ty_cutter* c, int n_verts)
{
    const part* p = &c->part;
    c->corners.n = 0;
    for (int v = 0; v < n_verts; ++v) {
        int node[3], sides = 0;
        bool border;
        inside_end(c, v, node, &border);
        for (int axis = 0; axis < 3; ++axis)
            sides += (node[axis] == 0) + (node[axis] == p->n[axis] - 1);
        if (!border || sides < 2) continue;
        corner one = {node_index(p, node), v};
        if (!ty_array_push(&c->corners, one)) return ty_no_memory("cut surface");
    }
    if (c->corners.n) qsort(c->corners.at, (size_t)c->corners.n, sizeof *c->corners.at, by_node);
    return ty_ok();
}

// Vertices at the same corner become one; triangles that lose a side by it vanish.
static ty_status collapse_corners(ty_cutter* c, ty_tri_mesh* m)
{
    TY_TRY(find_corners(c, m->n_verts));
    if (!ty_array_resize(&c->renumber, m->n_verts)) return ty_no_memory("cut surface");
    int* to = c->renumber.at;
    for (int v = 0; v < m->n_verts; ++v) to[v] = v;
    for (int64_t i = 1; i < c->corners.n; ++i)
        if (c->corners.at[i].node == c->corners.at[i - 1].node)
            to[c->corners.at[i].vertex] = to[c->corners.at[i - 1].vertex];
    int n_verts = 0, n_tris = 0;
    for (int v = 0; v < m->n_verts; ++v) {
        bool kept = to[v] == v;
        if (kept) {
            memcpy(m->vert[n_verts], m->vert[v], sizeof m->vert[0]);
            c->contour.key.at[n_verts] = c->contour.key.at[v];
        }
        to[v] = kept ? n_verts++ : to[to[v]];
    }
    for (int t = 0; t < m->n_tris; ++t) {
        int a = to[m->tri[t][0]], b = to[m->tri[t][1]], d = to[m->tri[t][2]];
        if (a == b || b == d || d == a) continue;
        m->tri[n_tris][0] = a, m->tri[n_tris][1] = b, m->tri[n_tris++][2] = d;
    }
    return ty_tri_mesh_resize(m, n_verts, n_tris);
}

// The number, in the whole lattice, of a node of the part.
static int64_t known_index(const ty_cutter* c, const int node[3])
{
    const int *n = c->known.n, *first = c->part.first;
    return first[0] + node[0] + n[0] * (first[1] + node[1] + (int64_t)n[1] * (first[2] + node[2]));
}

// Where it is known which vertices are beside obstacles.
static void find_far(void* ctx, ty_range r)
{
    placing* p = ctx;
    ty_cutter* c = p->c;
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    for (int64_t v = r.begin; v < r.end; ++v) {
        int node[3];
        bool border;
        inside_end(c, (int)v, node, &border);
        c->far.at[v] = c->is_tree
                           ? !ty_cut_tree_beside(&c->tree, &cursor, node)
                           : c->obstacles.at[known_index(c, node)] > TY_CUT_BESIDE * c->part.cell;
    }
}

static ty_status split_creases(ty_cutter* c, ty_tri_mesh* m, bool keep)
{
    const part* p = &c->part;
    ty_crease_def def = {p->distance, ty_world_obstacles(p->world), .cell = p->cell};
    placing place = {c, m};
    memcpy(def.lo, p->lo, sizeof def.lo);
    memcpy(def.hi, p->hi, sizeof def.hi);
    if (c->is_tree || (keep && c->is_known)) {
        if (!ty_array_resize(&c->far, m->n_verts)) return ty_no_memory("cut surface");
        ty_parallel_for(m->n_verts, BLOCK, find_far, &place);
        def.far = c->far.at;
    }
    int n = m->n_verts;
    TY_TRY(ty_crease_split(&c->crease, &def, m));
    c->contour.key.n = n;
    if (!ty_array_resize(&c->contour.key, m->n_verts)) return ty_no_memory("cut surface");
    for (int v = n; v < m->n_verts; ++v)    // they belong to the same body
        c->contour.key.at[v] = c->contour.key.at[c->crease.parent.at[v - n]];
    return ty_ok();
}

static ty_status contour_part(ty_cutter* c, ty_tri_mesh* out, bool keep)
{
    part* p = &c->part;
    TY_TRY(fill_values(c, keep));
    ty_contour_lattice lattice = {.cell = 1.0, .values = c->values.at};
    for (int axis = 0; axis < 3; ++axis) {
        lattice.origin[axis] = p->first[axis];
        lattice.n[axis] = p->n[axis];
    }
    ty_sampler f = ty_cut_function(p);
    // Where nearly all vertices are placed by values alone, the others are on their own.
    p->refine = p->has_obstacles ? TY_CONTOUR_REFINE_KINKS : p->centers ? 0 : TY_CONTOUR_REFINE;
    TY_TRY(ty_contour_grid(&c->contour, &lattice, &f, p->refine, out));
    placing place = {c, out};
    ty_parallel_for(out->n_verts, BLOCK, place_vertices, &place);
    return ty_ok();
}

static ty_status finish(ty_cutter* c, ty_tri_mesh* out, bool keep)
{
    TY_TRY(collapse_corners(c, out));
    return c->part.has_obstacles ? split_creases(c, out, keep) : ty_ok();
}

// A lattice from lo to hi.
static ty_status set_lattice(part* p, const double lo[3], const double hi[3], double cell)
{
    p->cell = cell;
    for (int axis = 0; axis < 3; ++axis) {
        double centers = ty_max(0.0, ceil((hi[axis] - lo[axis]) / cell - 0.5 - NARROW));
        if (!(centers < MAX_NODES - 4))
            return ty_fail(TY_BAD_INPUT,
                           "the surface would have %.3g cells along an axis; choose a larger cell",
                           centers);
        p->lo[axis] = lo[axis];
        p->hi[axis] = hi[axis];
        p->whole[axis] = p->n[axis] = (int)centers + 2;
        p->first[axis] = 0;
    }
    return ty_ok();
}

static ty_status set_part(part* p, const ty_sampler* distance, const ty_world* world, double cell,
                          const ty_box* bounds)
{
    const ty_world_def* def = ty_world_get_def(world);
    p->distance = *distance;
    p->fattening = p->fattened = (ty_sampler){0};
    p->world = world;
    p->has_obstacles = ty_world_has_obstacles(world);
    if (def->has_domain) return set_lattice(p, def->min, def->max, cell);
    double lo[3], hi[3];
    for (int axis = 0; axis < 3;
         ++axis) {    // on multiples of the cell, so that it stays where it is
        lo[axis] = cell * (floor(bounds->lo[axis] / cell) - 1.0);
        hi[axis] = cell * (ceil(bounds->hi[axis] / cell) + 1.0);
    }
    return set_lattice(p, lo, hi, cell);
}

// Only the nodes in the box, and one around; false when there are none.
static bool narrow(part* p, const ty_box* box)
{
    for (int axis = 0; axis < 3; ++axis) {
        double from = floor((box->lo[axis] - p->lo[axis]) / p->cell + 0.5);
        double to = ceil((box->hi[axis] - p->lo[axis]) / p->cell + 0.5);
        int last = (int)ty_min(to, p->whole[axis] - 1.0);
        p->first[axis] = (int)ty_max(from, 0.0);
        p->n[axis] = last - p->first[axis] + 1;
        if (p->n[axis] < 2) return false;
    }
    return true;
}

ty_status ty_cut_surface(ty_cutter* c, const ty_liquid* liquid, const ty_world* world,
                         ty_tri_mesh* out)
{
    ty_box bounds = ty_tri_mesh_bounds(liquid->surface);
    part* p = &c->part;
    if (liquid->surface->n_tris == 0) return ty_tri_mesh_resize(out, 0, 0);
    TY_TRY(set_part(p, &liquid->distance, world, liquid->cell, &bounds));
    c->is_tree = liquid->tree != NULL;
    if (c->is_tree) {
        p->fattening = liquid->fattening;
        p->fattened = liquid->fattened;
        p->refine = p->has_obstacles ? TY_CONTOUR_REFINE_KINKS : TY_CONTOUR_REFINE;
        TY_TRY(ty_cut_tree_contour(&c->tree, p, liquid, &c->contour, out));
    } else {
        find_centers(p, liquid);
        TY_TRY(contour_part(c, out, true));
    }
    return finish(c, out, true);
}

ty_status ty_cut_volume(ty_cutter* c, const ty_sampler* distance, double cell,
                        const ty_world* world, const ty_box* box, double* volume)
{
    part* p = &c->part;
    *volume = 0.0;
    TY_TRY(set_part(p, distance, world, cell, box));
    p->centers = NULL;
    c->is_tree = false;
    if (!narrow(p, box)) return ty_ok();
    TY_TRY(contour_part(c, &c->mesh, false));
    TY_TRY(finish(c, &c->mesh, false));
    *volume = ty_tri_mesh_volume(&c->mesh);
    return ty_ok();
}
