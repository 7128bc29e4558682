// SPDX-License-Identifier: Apache-2.0
// The liquid inside solids. A point x below a wall has its wall point p and its mirror image m = 2
// p - x in the open; phi(x) = 2 phi(p) - phi(m) is exact for linear functions, so any plane of
// water meets the wall undisturbed. It ends TY_SLC_DEPTH cells below.
//
// A wall with two faces less than 2 TY_SLC_OVERLAP cells apart, between liquid and air, belongs by
// halves to either: the surface comes to its middle and stays there. Without that nothing would
// hold it, because the linear rule continues whatever surface there was. Liquid on both sides goes
// through as through any solid, and so does a free surface: planes stay planes.
//
// Departs from [Chentanez2007] section 3.3.1 (min with the obstacle): that bevels every contact
// line. What is written and counted is cut at obstacles by track/cut.h.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "geometry/slope.h"
#include "geometry/thickness.h"
#include "track/contour/slc.h"

enum { CHUNK = 256, BLOCK = 512, ASLANT = 8 };
// Cells: nearer to a point in the open than this, the free surface is there.
static const double SURFACE = 0.5;
static const double PROBE = 0.125;    // cells: step of the differences of a solid's distance
// Cells: wall points deeper in a solid are in another one; that of a curved wall is a little off
static const double ON_FACE = 0.05;
// Cells before a face: the liquid's slope there
static const double AHEAD = 0.25;
static const double BURIED = 2.0;    // cells below a wall: no triangle there comes out of it
static const double TOUCH = 2.0;     // cells from a wall where a region's surface may lie on it
// Cells by which the liquid at a wall point may be less deep than its continuation and still be
// continued to the end. By the distance's slope the linear continuation ends no more than that
// earlier, not before TY_SLC_OVERLAP.
static const double FULL_SLACK = TY_SLC_DEPTH - TY_SLC_OVERLAP;
// Thin walls' faces are less than this apart, cells. Thicker ones hold the solver's mesh, which ends
// TY_SLC_OVERLAP below either face.
static const double THIN = 2.0 * TY_SLC_OVERLAP;
// Of half of that: a point so far below a face is not as deep as in a thick wall
static const double NOT_DEEP = 0.98;

// Cells from the surface where what lies below a wall is air, whatever the linear rule makes of it: it
// looks TY_SLC_DEPTH cells out.
static const double DRY = 8.0;

double ty_slc_beyond(const ty_slc* s, const double x[3])
{
    double out = -INFINITY;
    for (int axis = 0; axis < 3; ++axis)
        out = ty_max(out, ty_max(s->lo[axis] - x[axis], x[axis] - s->hi[axis]));
    return out;
}

static void solid_normals(const ty_sampler* solid, double cell, int n, double (*x)[3],
                          ty_vec3* normal)
{
    double at[4 * CHUNK][3], d[4 * CHUNK], step = PROBE * cell;
    for (int i = 0; i < 4 * n; ++i)
        ty_store3(at[i], ty_load3(x[i / 4]) + step * ty_load3(TY_TETRA[i % 4]));
    ty_sample(solid, 4 * n, (const double(*)[3])at, d);
    for (int i = 0; i < n; ++i) {
        ty_vec3 g = ty_vec(0, 0, 0);
        for (int k = 0; k < 4; ++k) g += d[4 * i + k] * ty_load3(TY_TETRA[k]);
        bool middle = ty_norm(g) < TY_SOLID_MIDDLE * 4.0 * step;
        normal[i] = middle ? ty_solid_way_out(solid, cell, ty_load3(x[i])) : ty_normalize(g);
    }
}

// Points of one chunk that lie in a solid.
typedef struct buried {
    int n, id[CHUNK];
    double depth[CHUNK];
    ty_vec3 normal[CHUNK];
    double wall[CHUNK][3], mirror[CHUNK][3];
    bool creased[CHUNK];                     // one of the two is in another solid
    double parting[CHUNK], parted[CHUNK];    // how much a thin wall parts, and the value that makes
} buried;

static void keep_buried(buried* b, int from, int to)
{
    b->id[to] = b->id[from];
    b->depth[to] = b->depth[from];
    b->normal[to] = b->normal[from];
    b->creased[to] = b->creased[from];
    b->parting[to] = b->parting[from];
    b->parted[to] = b->parted[from];
    memmove(b->wall[to], b->wall[from], sizeof b->wall[0]);
    memmove(b->mirror[to], b->mirror[from], sizeof b->mirror[0]);
}

static void find_images(const ty_slc_walled* w, const double (*x)[3], buried* b)
{
    double at[CHUNK][3], wall[CHUNK], mirror[CHUNK], least = -ON_FACE * w->slc->def.cell;
    for (int i = 0; i < b->n; ++i) memcpy(at[i], x[b->id[i]], sizeof at[0]);
    solid_normals(&w->solid, w->slc->def.cell, b->n, at, b->normal);
    for (int i = 0; i < b->n; ++i) {
        ty_vec3 p = ty_load3(at[i]) + b->depth[i] * b->normal[i];
        ty_store3(b->wall[i], p);
        ty_store3(b->mirror[i], p + b->depth[i] * b->normal[i]);
    }
    ty_sample(&w->solid, b->n, (const double(*)[3])b->wall, wall);
    ty_sample(&w->solid, b->n, (const double(*)[3])b->mirror, mirror);
    for (int i = 0; i < b->n; ++i) b->creased[i] = wall[i] < least || mirror[i] < 0.0;
}

// The points of one chunk in the open.
typedef struct open_points {
    int n, id[CHUNK];
    double x[CHUNK][3];
} open_points;

static void add_open(open_points* o, const double (*x)[3], int i)
{
    memcpy(o->x[o->n], x[i], sizeof o->x[0]);
    o->id[o->n++] = i;
}

static void eval_open(const ty_sampler* inner, const open_points* o, double* out)
{
    double value[CHUNK];
    if (o->n == 0) return;
    ty_sample(inner, o->n, o->x, value);
    for (int i = 0; i < o->n; ++i) out[o->id[i]] = value[i];
}

// Where no free surface comes what is near stays where it was: the end of the liquid in walls. What is
// far needs no more than to be far (ty_slc_still). Leaves the others.
static void eval_still(const ty_slc_walled* w, open_points* o, double* out)
{
    double value[CHUNK];
    bool still[CHUNK];
    int n = 0;
    if (o->n == 0) return;
    ty_slc_still(w->slc, o->n, (const double(*)[3])o->x, still, value);
    for (int i = 0; i < o->n; ++i) {
        if (still[i]) out[o->id[i]] = value[i];
        else {
            memmove(o->x[n], o->x[i], sizeof o->x[0]);
            o->id[n++] = o->id[i];
        }
    }
    o->n = n;
}

// Departs: where the liquid at the wall is as deep as its continuation, this goes on to its end.
// There both values of the linear rule are those of the distance to that end: costly, and all they
// could do is wear it off. Nor does it matter far from all liquid. Leaves the others.
static void end_deep(const ty_slc_walled* w, buried* b, double* out)
{
    double value[CHUNK], h = w->slc->def.cell, end = TY_SLC_DEPTH * h;
    int n = 0;
    ty_sample(&w->rough, b->n, (const double(*)[3])b->wall, value);
    for (int i = 0; i < b->n; ++i) {
        if (value[i] < FULL_SLACK * h - end) {
            out[b->id[i]] = b->depth[i] - end;
            continue;
        }
        if (value[i] > DRY * h && b->parting[i] == 0.0) {
            out[b->id[i]] = value[i];
            continue;
        }
        keep_buried(b, i, n++);
    }
    b->n = n;
}

// The same for those of which that is known before.
static void end_surely_deep(const ty_slc_walled* w, buried* b, double* out)
{
    bool deep[CHUNK];
    int n = 0;
    ty_slc_is_deep(w->slc, b->n, (const double(*)[3])b->wall, deep);
    for (int i = 0; i < b->n; ++i) {
        if (deep[i]) out[b->id[i]] = b->depth[i] - TY_SLC_DEPTH * w->slc->def.cell;
        else keep_buried(b, i, n++);
    }
    b->n = n;
}

// Points of one chunk in walls that are thin.
typedef struct thin_walls {
    int n, at[CHUNK];    // of buried
    double thickness[CHUNK], face[2 * CHUNK][3];
} thin_walls;

static void find_thin(const ty_slc_walled* w, const buried* b, thin_walls* t)
{
    double h = w->slc->def.cell, half = 0.5 * THIN * h, below[CHUNK][3], d[CHUNK];
    t->n = 0;
    for (int i = 0; i < b->n; ++i) ty_store3(below[i], ty_load3(b->wall[i]) - half * b->normal[i]);
    ty_sample(&w->solid, b->n, (const double(*)[3])below, d);
    for (int i = 0; i < b->n; ++i) {
        ty_vec3 face = ty_load3(b->wall[i]);
        double* thickness = &t->thickness[t->n];
        if (d[i] < -NOT_DEEP * half ||
            !ty_solid_is_thin(&w->solid, h, face, b->normal[i], b->depth[i], 2.0 * half, thickness))
            continue;
        ty_store3(t->face[2 * t->n], face);
        ty_store3(t->face[2 * t->n + 1], face - *thickness * b->normal[i]);
        t->at[t->n++] = i;
    }
}

static double parting(const ty_slc_walled* w, ty_vec3 face, ty_vec3 out, double near, double far,
                      double thickness)
{
    double h = w->slc->def.cell, most = ty_solid_parting(near, far, thickness, h);
    if (most == 0.0) return 0.0;
    ty_vec3 slope = ty_slope_at(&w->inner, face + AHEAD * h * out, PROBE * h);
    bool passed = ty_solid_is_passed(&w->solid, &w->inner, h, face, out, thickness, near, slope);
    return passed ? 0.0 : most;
}

// Settles the points of walls wholly between liquid and air, and leaves the others.
static void part_thin(const ty_slc_walled* w, buried* b, double* out)
{
    thin_walls t;
    double value[2 * CHUNK];
    int n = 0;
    find_thin(w, b, &t);
    if (t.n == 0) return;
    ty_sample(&w->inner, 2 * t.n, (const double(*)[3])t.face, value);
    for (int k = 0; k < t.n; ++k) {
        int i = t.at[k];
        double near = value[2 * k], rest = ty_max(0.5 * t.thickness[k] - b->depth[i], 0.0);
        b->parting[i] = parting(w, ty_load3(b->wall[i]), b->normal[i], near, value[2 * k + 1],
                                t.thickness[k]);
        b->parted[i] = near < 0.0 ? -rest : rest;
    }
    for (int i = 0; i < b->n; ++i) {
        if (b->parting[i] == 1.0) out[b->id[i]] = b->parted[i];
        else keep_buried(b, i, n++);
    }
    b->n = n;
}

// Two directions across a unit vector.
static void find_across(ty_vec3 normal, ty_vec3* u, ty_vec3* v)
{
    *u = ty_normalize(ty_cross(normal, fabs(normal[1]) < 0.7 ? ty_vec(0, 1, 0) : ty_vec(1, 0, 0)));
    *v = ty_cross(normal, *u);
}

// Whether a surface that lies in a wall at x, across `normal`, is that of the open where it comes out.
static bool comes_out(const ty_slc_walled* w, ty_vec3 x, ty_vec3 normal)
{
    double h = w->slc->def.cell;
    ty_vec3 u, v;
    find_across(normal, &u, &v);
    for (int k = 0; k < ASLANT; ++k) {
        double angle = 2.0 * M_PI * k / ASLANT, reach;
        ty_vec3 out = cos(angle) * u + sin(angle) * v;
        if (ty_solid_is_thin(&w->solid, h, x, -out, 0.0, THIN * h, &reach) &&
            fabs(ty_value_at(&w->inner, x + reach * out)) < SURFACE * h)
            return true;
    }
    return false;
}

// The face is dry, but the liquid in the wall would come up to it: it may be that of another side, from which the wall
// is thin only aslant, as in the foot of a glass. There, too, either side has its half. (Nothing held it back, and drops of a
// dozen vertices came out of glasses with walls of a cell.)
static double part_aslant(const ty_slc_walled* w, const buried* b, int i, ty_vec3 x, double near,
                          double linear)
{
    double h = w->slc->def.cell, most = THIN * h, depth = b->depth[i], best = linear, reach;
    ty_vec3 normal = b->normal[i], u, v;
    find_across(normal, &u, &v);
    for (int k = 0; k < ASLANT; ++k) {
        double angle = 2.0 * M_PI * k / ASLANT;
        ty_vec3 out = ty_normalize(normal + cos(angle) * u + sin(angle) * v);
        if (!ty_solid_is_thin(&w->solid, h, x, out, 0.0, most, &reach)) continue;
        ty_vec3 face = ty_load3(b->wall[i]), behind = x - reach * out, line = face - behind;
        double far = ty_value_at(&w->inner, behind), thickness = ty_norm(line);
        if (!(far < 0.0)) continue;
        double share = parting(w, face, line / thickness, near, far, thickness);
        ty_vec3 middle = face - near / (near - far) * line;
        if (share == 0.0 ||
            comes_out(w, middle, ty_normalize(ty_slope_at(&w->inner, face, PROBE * h))))
            continue;
        double parted = ty_max(0.5 * (reach - depth), 0.0);
        best = ty_max(best, linear + share * (parted - linear));
    }
    return best;
}

// Where the liquid ends that is deep at a wall, `below` that end. Within a cell of it this is the
// distance, so that its zero is found at once; farther below it is nobody's.
static double ended(const ty_slc* s, double below)
{
    return below < s->def.cell ? below : below + s->def.cell;
}

// Images ask `inner`, so what is in the open beside a wall need be no better than elsewhere.
static void eval_chunk(const ty_slc_walled* w, int n, const double (*x)[3], double* out)
{
    const ty_slc* s = w->slc;
    double solid[CHUNK], ask[2 * CHUNK][3], value[2 * CHUNK], end = TY_SLC_DEPTH * s->def.cell;
    open_points open = {.n = 0};
    buried b = {.n = 0};
    ty_sample(&w->solid, n, x, solid);
    for (int i = 0; i < n; ++i) {
        if (solid[i] >= 0.0) add_open(&open, x, i);
        else if (-solid[i] >= end) out[i] = ended(s, -solid[i] - end);
        else {
            b.depth[b.n] = -solid[i];
            b.parting[b.n] = b.parted[b.n] = 0.0;
            b.id[b.n++] = i;
        }
    }
    if (w->knows_deep) eval_still(w, &open, out);
    eval_open(w->rough.eval ? &w->rough : &w->inner, &open, out);
    if (b.n == 0) return;
    find_images(w, x, &b);
    if (ty_world_has_obstacles(s->world)) part_thin(w, &b, out);
    if (b.n == 0) return;
    if (w->knows_deep) end_surely_deep(w, &b, out);
    if (w->rough.eval) end_deep(w, &b, out);
    if (b.n == 0) return;
    for (int i = 0; i < b.n; ++i) {
        memcpy(ask[2 * i], b.wall[i], sizeof ask[0]);
        memcpy(ask[2 * i + 1], b.mirror[i], sizeof ask[0]);
    }
    ty_sample(&w->inner, 2 * b.n, (const double(*)[3])ask, value);
    for (int i = 0; i < b.n; ++i) {
        double linear = 2.0 * value[2 * i] - value[2 * i + 1];
        if (b.creased[i] && !ty_slc_crease(w, ty_load3(x[b.id[i]]), &linear)) linear = value[2 * i];
        linear = fmax(linear, b.depth[i] - end);
        if (value[2 * i] > 0.0 && linear < 0.0 && ty_world_has_obstacles(s->world))
            linear = part_aslant(w, &b, i, ty_load3(x[b.id[i]]), value[2 * i], linear);
        out[b.id[i]] = linear + b.parting[i] * (b.parted[i] - linear);
    }
}

// Also what is in solids: an obstacle may reach out of an open side.
static void end_outside(const ty_slc* s, int n, const double (*x)[3], double* out)
{
    double end = TY_SLC_DEPTH * s->def.cell;
    for (int i = 0; s->has_domain && i < n; ++i)
        out[i] = ty_max(out[i], ty_slc_beyond(s, x[i]) - end);
}

static void eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc_walled* w = self;
    bool solid = w->slc->has_solid && !w->apart;
    if (!solid) ty_sample(w->rough.eval ? &w->rough : &w->inner, n, x, out);
    for (int at = 0; solid && at < n; at += CHUNK)
        eval_chunk(w, n - at < CHUNK ? n - at : CHUNK, x + at, out + at);
    if (!w->apart) end_outside(w->slc, n, x, out);
}

ty_slc_walled ty_slc_wall(const ty_slc* s, const ty_sampler* inner)
{
    return (ty_slc_walled){.slc = s, .inner = *inner, .solid = ty_world_solid(s->world)};
}

ty_sampler ty_slc_walled_sampler(const ty_slc_walled* w)
{
    double band = w->rough.eval ? w->rough.exact_band : w->inner.exact_band;
    return (ty_sampler){.self = w, .width = 1, .exact_band = band, .eval = eval};
}

void ty_slc_find_buried(const ty_slc* s, int n, const double (*x)[3], bool* hidden)
{
    double d[TY_SAMPLE_BATCH];
    ty_sampler solid = ty_world_solid(s->world);
    if (s->has_solid) ty_sample(&solid, n, x, d);
    for (int i = 0; i < n; ++i) hidden[i] = s->has_solid && d[i] < -BURIED * s->def.cell;
}

typedef struct touch_args {
    const ty_slc* s;
    const ty_tri_mesh* mesh;
    ty_sampler solid;
} touch_args;

static double nearest_wall(void* ctx, ty_range r)
{
    const touch_args* k = ctx;
    double d[BLOCK], least = INFINITY;
    int n = (int)(r.end - r.begin);
    const double(*x)[3] = (const double(*)[3])k->mesh->vert + r.begin;
    ty_sample(&k->solid, n, x, d);
    for (int i = 0; i < n; ++i)
        least = fmin(least, fmin(d[i], k->s->has_domain ? -ty_slc_beyond(k->s, x[i]) : INFINITY));
    return -least;
}

ty_status ty_slc_touches(const ty_slc* s, const ty_tri_mesh* mesh, bool* touches)
{
    touch_args k = {s, mesh, ty_world_solid(s->world)};
    *touches = -ty_parallel_max(mesh->n_verts, BLOCK, nearest_wall, &k) < TOUCH * s->def.cell;
    return ty_world_status(s->world);
}
