// SPDX-License-Identifier: Apache-2.0
// Sharp edges of the liquid. Vertices lie beside an edge, on one of its sides, so triangles cut it
// off, and would more so in every step. There a vertex has the normal of its own side, and over a
// triangle with vertices on two sides the surface goes on until the sides meet:
//
//            . .             distance = max(A, B) at a convex edge, min(A, B) at a concave one,
//          .     .           A, B: distances to the sides, each a paraboloid from its vertices'
//     A__a---------b__B      normals and curvature
//
// The normal is that of the old surface where the vertex came from, turned as the flow turns
// gradients [Nave2010], and then brought towards what fits the vertices around on the same side: on
// a quadratic surface the mean of two normals is at right angles to their chord. (Carried alone,
// normals are off by ten times as much after every 20 steps; from differences of the pulled back
// function they are too rough from the start. Flat sides instead of paraboloids grow by h^2 / (8 r)
// where they are curved.)
//
// Only vertices of a triangle that is flat, by its vertices' normals, or beside such a vertex, can be
// at an edge: what is round, and be it the rim of a sheet, has none at its strongest bends. A ball
// of 2.4 cells' radius is off by 0.06 cells after a turn of 60 steps, without all this by 0.14.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/contour/slc.h"
#include "world/trace.h"

enum {
    BATCH = TY_SAMPLE_BATCH,
    CARRY = TY_SAMPLE_BATCH / 7,
    SLOPE = TY_SAMPLE_BATCH / 6,
    MOST_SHARP = 1 << 24    // vertices: floats count so far
};
// Cosines of normals: up to 26 degrees apart they may be on one side, from 40 on an edge is between
// them.
static const double ONE_SIDE = 0.9, EDGE = 0.77;
static const double FLAT = 0.98;           // cosine of a flat triangle's normal and its vertices'
static const double LEAST_AREA = 0.005;    // of a cell's face: smaller triangles tell no normal
static const double SHORT = 0.03;          // cells: shorter edges tell no slope
static const double MOST_SLOPE = 0.5;      // of a chord and a side's mean normal
static const double HIGHEST = 0.75;        // cells that an edge rises above a triangle
static const double MOST_CURVED = 0.3;     // per cell
static const double PROBE = 0.05;          // cells: differences of the paths' starts
static const double STEP = 1e-3;    // cells: differences of a function on one side of an edge
static const double KINK = 0.05;    // of a slope, by which it may differ in both directions
// Of the fit of normals to each other: weight of what was carried, in cells of edges, and how far
// to go; neighbours move, too.
static const double CARRIED = 0.5, HALF_WAY = 0.5;

static ty_vec3 vec_of(const float* n) { return ty_vec((double)n[0], (double)n[1], (double)n[2]); }

static const float* side_of(const ty_slc_surface* s, int v)
{
    const float* n = ty_slc_side(s, v);
    return n ? n : s->bend.at + 4 * (int64_t)v;
}

// A triangle at an edge: corner `alone` and the other two are on sides of their own (or all three,
// `corner`). out: 1 convex, -1 concave. share: how sharp it is.
typedef struct edge {
    ty_vec3 v[3], n[3];
    double curved[3], out, share;
    int alone;
    bool corner;
} edge;

// 1 when all sides see each other's vertices below themselves, -1 above, else 0.
static double side_out(const edge* e)
{
    bool below = true, above = true;
    for (int k = 0; k < 3; ++k)
        for (int j = 1; j < 3; ++j) {
            int other = (k + j) % 3;
            if (!e->corner && k != e->alone && other != e->alone) continue;
            double d = ty_dot(e->n[k], e->v[other] - e->v[k]);
            below &= d <= 0.0;
            above &= d >= 0.0;
        }
    return below ? 1.0 : above ? -1.0 : 0.0;
}

static bool find_edge(const ty_slc_surface* s, int t, edge* e)
{
    const int* id = s->mesh.tri[t];
    double most = -1.0, least = 1.0;
    for (int k = 0; k < 3; ++k) {
        const float* n = ty_slc_side(s, id[k]);
        if (!n) return false;
        e->n[k] = vec_of(n);
        e->curved[k] = (double)n[3] / s->tree.cell;
        e->v[k] = ty_load3(s->mesh.vert[id[k]]);
    }
    for (int k = 0; k < 3; ++k) {
        double cosine = ty_dot(e->n[(k + 1) % 3], e->n[(k + 2) % 3]);
        if (cosine > most) e->alone = k;
        most = ty_max(most, cosine);
        least = ty_min(least, cosine);
    }
    if (least >= ONE_SIDE) return false;
    e->share = ty_clamp((ONE_SIDE - least) / (ONE_SIDE - EDGE), 0.0, 1.0);
    e->corner = most <= ONE_SIDE;
    e->out = side_out(e);
    return e->out != 0.0;
}

// Distance to a side, and its normal there.
typedef struct side {
    double distance;
    ty_vec3 normal;
} side;

static side side_of_one(const edge* e, int k, ty_vec3 x)
{
    ty_vec3 y = x - e->v[k];
    double up = ty_dot(e->n[k], y);
    y = y - up * e->n[k];
    return (side){up + 0.5 * e->curved[k] * ty_dot(y, y), e->n[k] + e->curved[k] * y};
}

// Along the chord between two vertices as bend.c has it, across it by their curvature.
static side side_of_two(const edge* e, int i, int j, ty_vec3 x)
{
    ty_vec3 chord = e->v[j] - e->v[i], y = x - e->v[i], mean = e->n[i] + e->n[j];
    double square = ty_dot(chord, chord), along = ty_dot(y, chord) / square,
           w = ty_clamp(along, 0.0, 1.0), curved = 0.5 * (e->curved[i] + e->curved[j]);
    mean = ty_normalize(mean - ty_dot(mean, chord) / square * chord);
    double up = ty_dot(mean, y),
           planes = (1.0 - w) * ty_dot(e->n[i], y) + w * ty_dot(e->n[j], x - e->v[j]);
    y = y - along * chord - up * mean;
    return (side){0.5 * (up + planes) + 0.5 * curved * ty_dot(y, y),
                  (1.0 - w) * e->n[i] + w * e->n[j] + curved * y};
}

// The side that the surface at x belongs to.
static side outer_side(const edge* e, ty_vec3 x)
{
    int i = (e->alone + 1) % 3, j = (e->alone + 2) % 3;
    side out = side_of_one(e, e->alone, x);
    for (int k = 0; k < (e->corner ? 2 : 1); ++k) {
        side other = !e->corner ? side_of_two(e, i, j, x) : side_of_one(e, k ? j : i, x);
        if (e->out * other.distance > e->out * out.distance) out = other;
    }
    return out;
}

double ty_slc_sharp(const ty_slc_surface* s, int triangle, const double x[3], double flat,
                    double smooth)
{
    edge e;
    if (!find_edge(s, triangle, &e)) return smooth;
    double high = HIGHEST * s->tree.cell,
           sharp = ty_clamp(outer_side(&e, ty_load3(x)).distance, flat - high, flat + high);
    return smooth + e.share * (sharp - smooth);
}

// The normal of the surface near x, closest to point p of a triangle.
static ty_vec3 normal_near(const ty_slc_surface* s, int t, const double x[3], const double p[3])
{
    edge e;
    if (find_edge(s, t, &e) && e.share > 0.5) return outer_side(&e, ty_load3(x)).normal;
    const int* id = s->mesh.tri[t];
    ty_vec3 arm[3], sum = {0};
    for (int k = 0; k < 3; ++k) arm[k] = ty_load3(s->mesh.vert[id[k]]) - ty_load3(p);
    ty_vec3 normal = ty_cross(arm[1] - arm[0], arm[2] - arm[0]);
    for (int k = 0; k < 3; ++k) {
        double w = ty_max(ty_dot(ty_cross(arm[(k + 1) % 3], arm[(k + 2) % 3]), normal), 0.0);
        sum = sum + w * vec_of(side_of(s, id[k]));
    }
    return sum;
}

void ty_slc_apply_sharp(ty_slc_surface* s)
{
    for (int64_t i = 0; i < s->sharp_vert.n; ++i)
        s->bend.at[4 * (int64_t)s->sharp_vert.at[i] + 3] = -(float)(i + 1);
}

// Vertices at bends too strong for what is resolved, and those around them.
typedef struct bends {
    ty_slc* slc;
    ty_slc_surface* to;
    const ty_slc_remake_def* def;
    TY_ARRAY(int) vert;
    TY_ARRAY(int) tri;            // with one of them
    TY_ARRAY(float) normal;       // 4 each; the last: whether it is known
    TY_ARRAY(uint8_t) at_flat;    // each: 1 flat beside it, 2 beside one of those and on its side
    TY_ARRAY(double) sum;         // N_SUMS each
    TY_ARRAY(int) place;          // per vertex of the mesh: which it is, -1
} bends;

static void free_bends(bends* b)
{
    ty_array_free(&b->vert);
    ty_array_free(&b->tri);
    ty_array_free(&b->normal);
    ty_array_free(&b->at_flat);
    ty_array_free(&b->sum);
    ty_array_free(&b->place);
}

enum { N_SUMS = 9 };    // xx yy zz xy yz zx of edges' directions, and how far off they are

// turns: marked vertices, and one more ring.
static ty_status list_bends(bends* b, uint8_t* turns)
{
    const ty_tri_mesh* m = &b->to->mesh;
    for (int t = 0; t < m->n_tris; ++t) {
        const int* id = m->tri[t];
        if (turns[id[0]] != 1 && turns[id[1]] != 1 && turns[id[2]] != 1) continue;
        for (int k = 0; k < 3; ++k)
            if (!turns[id[k]]) turns[id[k]] = 2;
    }
    if (!ty_array_resize(&b->place, m->n_verts)) return ty_no_memory("edges");
    for (int v = 0; v < m->n_verts; ++v) {
        b->place.at[v] = turns[v] ? (int)b->vert.n : -1;
        if (turns[v] && !ty_array_push(&b->vert, v)) return ty_no_memory("edges");
    }
    for (int t = 0; t < m->n_tris; ++t) {
        const int* id = m->tri[t];
        if ((turns[id[0]] || turns[id[1]] || turns[id[2]]) && !ty_array_push(&b->tri, t))
            return ty_no_memory("edges");
    }
    if (!ty_array_resize(&b->normal, 4 * b->vert.n) || !ty_array_resize(&b->at_flat, b->vert.n) ||
        !ty_array_resize(&b->sum, N_SUMS * b->vert.n))
        return ty_no_memory("edges");
    memset(b->at_flat.at, 0, (size_t)b->vert.n);
    return ty_ok();
}

// In solids and outside the domain the surface is a continuation, which the flow did not bring.
static void find_open(const bends* b, ty_range r, const double (*x)[3], bool* open)
{
    double solid[BATCH];
    ty_sampler walls = ty_world_solid(b->slc->world);
    int n = (int)(r.end - r.begin);
    if (b->slc->has_solid) ty_sample(&walls, n, x, solid);
    for (int i = 0; i < n; ++i)
        open[i] = !(b->slc->has_solid && solid[i] < 0.0) &&
                  !(b->slc->has_domain && ty_slc_beyond(b->slc, x[i]) > 0.0);
}

static void set_normal(const bends* b, int64_t i, ty_vec3 normal, bool known)
{
    float* to = b->normal.at + 4 * i;
    normal = ty_normalize(normal);
    for (int axis = 0; axis < 3; ++axis) to[axis] = (float)normal[axis];
    to[3] = known ? 1.0f : 0.0f;
}

// J^T n, J the gradient of where points come from, n the old surface's normal there.
static void carry_block(void* ctx, ty_range r)
{
    const bends* b = ctx;
    const ty_slc_surface* old = &b->slc->now;
    double at[CARRY][3], x[7 * CARRY][3], from[CARRY][3], f[CARRY], foot[CARRY][3],
        h = PROBE * old->tree.cell;
    int n = (int)(r.end - r.begin), tri[CARRY];
    bool open[CARRY];
    for (int i = 0; i < n; ++i) {
        memcpy(at[i], b->to->mesh.vert[b->vert.at[r.begin + i]], sizeof at[0]);
        for (int q = 0; q < 7; ++q) memcpy(x[7 * i + q], at[i], sizeof x[0]);
        for (int q = 0; q < 6; ++q) x[7 * i + q][q / 2] += q & 1 ? h : -h;
    }
    find_open(b, r, (const double(*)[3])at, open);
    ty_trace_back(b->def->flow, b->def->dt, 7 * n, (const double(*)[3])x, x);
    for (int i = 0; i < n; ++i) memcpy(from[i], x[7 * i + 6], sizeof from[0]);
    ty_slc_distance(old, n, (const double(*)[3])from, f, tri, foot);
    for (int i = 0; i < n; ++i) {
        bool known = open[i] && tri[i] >= 0;
        ty_vec3 slope = vec_of(b->to->bend.at + 4 * (int64_t)b->vert.at[r.begin + i]);
        if (known) {
            ty_vec3 normal = normal_near(old, tri[i], from[i], foot[i]);
            for (int axis = 0; axis < 3; ++axis)
                slope[axis] = ty_dot(normal, ty_load3(x[7 * i + 2 * axis + 1]) -
                                                 ty_load3(x[7 * i + 2 * axis]));
        }
        set_normal(b, r.begin + i, slope, known);
    }
}

// Of a surface that did not move: the function's slope, where that is the same on both sides.
static void slope_block(void* ctx, ty_range r)
{
    const bends* b = ctx;
    double at[SLOPE][3], x[6 * SLOPE][3], f[6 * SLOPE], h = STEP * b->to->tree.cell;
    int n = (int)(r.end - r.begin);
    bool open[SLOPE];
    for (int i = 0; i < n; ++i) {
        memcpy(at[i], b->to->mesh.vert[b->vert.at[r.begin + i]], sizeof at[0]);
        for (int q = 0; q < 6; ++q) {
            memcpy(x[6 * i + q], at[i], sizeof x[0]);
            x[6 * i + q][q / 2] += q & 1 ? h : -h;
        }
    }
    find_open(b, r, (const double(*)[3])at, open);
    ty_sample(&b->def->phi, 6 * n, (const double(*)[3])x, f);
    for (int i = 0; i < n; ++i) {
        const double* g = f + 6 * i;
        ty_vec3 slope = ty_vec(g[1] - g[0], g[3] - g[2], g[5] - g[4]);
        double kink = 0.0, size = ty_norm(slope);
        for (int axis = 0; axis < 3; ++axis) kink = fmax(kink, fabs(g[2 * axis] + g[2 * axis + 1]));
        bool known = open[i] && size > 0.0 && kink <= KINK * size;
        if (!known) slope = vec_of(b->to->bend.at + 4 * (int64_t)b->vert.at[r.begin + i]);
        set_normal(b, r.begin + i, slope, known);
    }
}

static ty_vec3 normal_at(const bends* b, int v)
{
    int i = b->place.at[v];
    return vec_of(i >= 0 ? b->normal.at + 4 * (int64_t)i : b->to->bend.at + 4 * (int64_t)v);
}

static bool is_known(const bends* b, int v)
{
    int i = b->place.at[v];
    return i < 0 || b->normal.at[4 * (int64_t)i + 3] > 0.0f;
}

static bool is_flat(const bends* b, int t)
{
    const ty_tri_mesh* m = &b->to->mesh;
    const int* id = m->tri[t];
    ty_vec3 a = ty_load3(m->vert[id[0]]), n[3],
            up = ty_cross(ty_load3(m->vert[id[1]]) - a, ty_load3(m->vert[id[2]]) - a);
    double size = ty_norm(up), cell = b->to->tree.cell;
    if (size < 2.0 * LEAST_AREA * cell * cell) return false;
    for (int k = 0; k < 3; ++k) {
        n[k] = normal_at(b, id[k]);
        if (!is_known(b, id[k]) || ty_dot(n[k], up) < FLAT * size) return false;
    }
    return ty_dot(n[0], n[1]) >= ONE_SIDE && ty_dot(n[1], n[2]) >= ONE_SIDE &&
           ty_dot(n[2], n[0]) >= ONE_SIDE;
}

static void find_flat(bends* b)
{
    const ty_tri_mesh* m = &b->to->mesh;
    for (int64_t i = 0; i < b->tri.n; ++i) {
        const int* id = m->tri[b->tri.at[i]];
        if (!is_flat(b, b->tri.at[i])) continue;
        for (int k = 0; k < 3; ++k)
            if (b->place.at[id[k]] >= 0) b->at_flat.at[b->place.at[id[k]]] = 1;
    }
    for (int64_t i = 0; i < b->tri.n; ++i)
        for (int k = 0; k < 6; ++k) {
            const int* id = m->tri[b->tri.at[i]];
            int v = id[k % 3], beside = id[(k + 1 + k / 3) % 3], at = b->place.at[v],
                other = b->place.at[beside];
            if (at < 0 || b->at_flat.at[at] || !is_known(b, v)) continue;
            if (other >= 0 && b->at_flat.at[other] == 1 &&
                ty_dot(normal_at(b, v), normal_at(b, beside)) > ONE_SIDE)
                b->at_flat.at[at] = 2;
        }
}

// Edges of the mesh from a vertex at a bend to another on its side.
typedef void visit_edge(bends* b, int at, int beside, ty_vec3 way);

static void visit_sides(bends* b, visit_edge* visit)
{
    const ty_tri_mesh* m = &b->to->mesh;
    memset(b->sum.at, 0, (size_t)b->sum.n * sizeof *b->sum.at);
    for (int64_t i = 0; i < b->tri.n; ++i)
        for (int k = 0; k < 6; ++k) {
            const int* id = m->tri[b->tri.at[i]];
            int v = id[k % 3], beside = id[(k + 1 + k / 3) % 3], at = b->place.at[v],
                other = b->place.at[beside];
            if (at < 0 || !b->at_flat.at[at] || (other >= 0 && !b->at_flat.at[other])) continue;
            if (ty_dot(normal_at(b, v), normal_at(b, beside)) < ONE_SIDE) continue;
            visit(b, at, beside, ty_load3(m->vert[beside]) - ty_load3(m->vert[v]));
        }
}

static void add_fit(bends* b, int at, int beside, ty_vec3 way)
{
    double length = ty_norm(way) / b->to->tree.cell, *q = b->sum.at + N_SUMS * (int64_t)at;
    if (length < SHORT) return;
    ty_vec3 e = ty_normalize(way);
    double off = ty_dot(e, vec_of(b->normal.at + 4 * (int64_t)at) + normal_at(b, beside));
    if (fabs(off) > MOST_SLOPE) return;
    for (int axis = 0; axis < 3; ++axis) {
        q[axis] += length * e[axis] * e[axis];
        q[3 + axis] += length * e[axis] * e[(axis + 1) % 3];
        q[6 + axis] -= length * off * e[axis];
    }
}

// (sum e e^T + CARRIED) d = - sum e off
static ty_vec3 solve_fit(const double* q)
{
    double a = q[0] + CARRIED, b = q[1] + CARRIED, c = q[2] + CARRIED;
    double xy = q[3], yz = q[4], zx = q[5];
    ty_vec3 x = ty_vec(a, xy, zx), y = ty_vec(xy, b, yz), z = ty_vec(zx, yz, c);
    ty_vec3 yz_ = ty_cross(y, z), zx_ = ty_cross(z, x), xy_ = ty_cross(x, y);
    return (q[6] * yz_ + q[7] * zx_ + q[8] * xy_) / ty_dot(x, yz_);
}

static void fit_normals(bends* b)
{
    visit_sides(b, add_fit);
    for (int64_t i = 0; i < b->vert.n; ++i) {
        if (!b->at_flat.at[i]) continue;
        float* n = b->normal.at + 4 * i;
        set_normal(b, i, vec_of(n) + HALF_WAY * solve_fit(b->sum.at + N_SUMS * i), n[3] > 0.0f);
    }
}

// Least squares: normals turn by the curvature times the way.
static void add_curved(bends* b, int at, int beside, ty_vec3 way)
{
    double *q = b->sum.at + N_SUMS * (int64_t)at, square = ty_dot(way, way);
    ty_vec3 turn = normal_at(b, beside) - vec_of(b->normal.at + 4 * (int64_t)at);
    q[0] += square * ty_dot(turn, way);
    q[1] += square * square;
}

static ty_status keep_sharp(bends* b)
{
    ty_slc_surface* s = b->to;
    visit_sides(b, add_curved);
    for (int64_t i = 0; i < b->vert.n && s->sharp_vert.n < MOST_SHARP; ++i) {
        const double* q = b->sum.at + N_SUMS * i;
        if (!b->at_flat.at[i]) continue;
        if (!ty_array_push(&s->sharp_vert, b->vert.at[i]) ||
            !ty_array_reserve(&s->sharp, s->sharp.n + 4))
            return ty_no_memory("edges");
        float* to = s->sharp.at + s->sharp.n;
        memcpy(to, b->normal.at + 4 * i, 3 * sizeof *to);
        double curved = q[1] > 0.0 ? q[0] / q[1] * s->tree.cell : 0.0;
        to[3] = (float)ty_clamp(curved, -MOST_CURVED, MOST_CURVED);
        s->sharp.n += 4;
    }
    ty_slc_apply_sharp(s);
    return ty_ok();
}

static ty_status sharpen(bends* b, uint8_t* turns)
{
    TY_TRY(list_bends(b, turns));
    if (b->def->flow) ty_parallel_for(b->vert.n, CARRY, carry_block, b);
    else ty_parallel_for(b->vert.n, SLOPE, slope_block, b);
    TY_TRY(ty_world_status(b->slc->world));
    find_flat(b);
    if (b->def->flow) fit_normals(b);
    return keep_sharp(b);
}

ty_status ty_slc_sharpen(ty_slc* s, const ty_slc_remake_def* def)
{
    int n = s->next.mesh.n_verts;
    s->next.sharp.n = s->next.sharp_vert.n = 0;
    uint8_t* turns = ty_alloc_zero((size_t)n, 1);
    if (!turns) return ty_no_memory("edges");
    ty_status status = ty_slc_bend(&s->next, turns);
    bends b = {.slc = s, .to = &s->next, .def = def};
    if (status.code == TY_OK && memchr(turns, 1, (size_t)n)) status = sharpen(&b, turns);
    free_bends(&b);
    ty_free(turns);
    return status;
}
