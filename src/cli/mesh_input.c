// SPDX-License-Identifier: Apache-2.0
// What can be meshed, and what is wrong with it when it cannot.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/mesh.h"
#include "core/clock.h"
#include "core/parallel.h"
#include "core/text.h"
#include "format/mesh_io.h"

enum { MAX_OPEN_EDGES = 20000 };    // holes are looked at edge against edge

// Holes up to this many cells wide are bridged by the winding number: the surface across them is
// below what the mesh resolves.
static const double BRIDGED_CELLS = 2.0;

static void primitive_eval(const void* self, int n, const double (*x)[3], double* out)
{
    ty_primitive_distance(self, n, x, out);
}

static void timed_eval(const void* self, int n, const double (*x)[3], double* out)
{
    mesh_input* in = (mesh_input*)self;
    double start = ty_clock();
    ty_sample(&in->inner, n, x, out);
    __atomic_fetch_add(&in->asked, (int64_t)(1e9 * (ty_clock() - start)), __ATOMIC_RELAXED);
}

static ty_status open_shape(mesh_input* in, const char* name)
{
    static const char* const names[] = {"sphere", "torus", "box", "cylinder", "capsule"};
    static const ty_shape_def defs[] = {
        {.kind = TY_SHAPE_SPHERE, .radius = 0.5},
        {.kind = TY_SHAPE_TORUS, .radius = 0.35, .tube = 0.15, .axis = {0, 1, 0}},
        {.kind = TY_SHAPE_BOX, .min = {-0.5, -0.4, -0.3}, .max = {0.5, 0.4, 0.3}},
        {.kind = TY_SHAPE_CYLINDER, .from = {0, -0.5, 0}, .to = {0, 0.5, 0}, .radius = 0.3},
        {.kind = TY_SHAPE_CAPSULE, .from = {0, -0.3, 0}, .to = {0, 0.3, 0}, .radius = 0.2},
    };
    for (int i = 0; i < 5; ++i)
        if (strcmp(name, names[i]) == 0) {
            in->primitive = defs[i];
            in->box = ty_primitive_bounds(&in->primitive);
            return ty_ok();
        }
    const char* near = ty_nearest_name(name, 5, names);
    return ty_fail(TY_BAD_INPUT,
                   "there is no shape '%s'%s%s%s; there are sphere, torus, box, cylinder, capsule",
                   name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static ty_status open_volume(mesh_input* in, const char* path)
{
    TY_TRY(ty_volume_read(&in->volume, path, NULL));
    if (!in->volume.level_set || in->volume.width != 1)
        return ty_fail_at(
            TY_BAD_INPUT, path, 0, 0,
            "the grid '%s' is no level set: only the inside of a level set can be meshed",
            in->volume.name);
    in->box = ty_volume_bounds(&in->volume);
    in->voxel = in->volume.cell;
    if (!(in->box.lo[0] <= in->box.hi[0]))
        return ty_fail_at(TY_EMPTY, path, 0, 0, "the level set '%s' has no voxels",
                          in->volume.name);
    return ty_ok();
}

ty_status mesh_input_open(mesh_input* in, const mesh_options* o)
{
    if (o->shape) return open_shape(in, o->shape);
    double start = ty_clock();
    const char* dot = strrchr(o->input, '.');
    if (dot && strcasecmp(dot, ".vdb") == 0) return open_volume(in, o->input);
    TY_TRY(ty_mesh_read(&in->surface, o->input));
    in->read_seconds = ty_clock() - start;
    if (!in->surface.n_tris)
        return ty_fail_at(TY_EMPTY, o->input, 0, 0,
                          "the file has no triangles: nothing encloses a volume");
    in->box = ty_tri_mesh_bounds(&in->surface);
    return ty_ok();
}

typedef struct open_edge {
    ty_vec3 a, b;
} open_edge;

typedef struct half_edge {
    uint64_t key;
    int from, to;
} half_edge;

static int compare_halves(const void* a, const void* b)
{
    uint64_t p = ((const half_edge*)a)->key, q = ((const half_edge*)b)->key;
    return (p > q) - (p < q);
}

// Edges of one triangle only; returns how many, -1 when out of memory.
static int find_open_edges(const ty_tri_mesh* m, open_edge* out, int most)
{
    int64_t n = 3 * (int64_t)m->n_tris;
    half_edge* half = ty_alloc((size_t)n, sizeof *half);
    if (!half) return -1;
    for (int64_t i = 0; i < n; ++i) {
        int a = m->tri[i / 3][i % 3], b = m->tri[i / 3][(i + 1) % 3];
        half[i] = (half_edge){(uint64_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a), a, b};
    }
    qsort(half, (size_t)n, sizeof *half, compare_halves);
    int count = 0;
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && half[j].key == half[i].key;) ++j;
        if ((j - i) % 2 == 0) continue;
        if (count < most)
            out[count] = (open_edge){ty_load3(m->vert[half[i].from]),
                                     ty_load3(m->vert[half[i].to])};
        ++count;
    }
    ty_free(half);
    return count;
}

static double point_segment(ty_vec3 p, const open_edge* e)
{
    ty_vec3 d = e->b - e->a;
    double t = ty_clamp(ty_dot(p - e->a, d) / fmax(ty_dot(d, d), 1e-300), 0.0, 1.0);
    return ty_norm(p - e->a - t * d);
}

// The widest hole: the farthest any open edge is from an open edge that runs the other way.
static double hole_width(const open_edge* e, int n, ty_vec3* place)
{
    double widest = 0.0;
    for (int i = 0; i < n; ++i) {
        double nearest = INFINITY;
        ty_vec3 middle = 0.5 * (e[i].a + e[i].b), along = e[i].b - e[i].a;
        for (int j = 0; j < n; ++j)
            if (j != i && ty_dot(along, e[j].b - e[j].a) < 0.0)
                nearest = fmin(nearest, point_segment(middle, &e[j]));
        if (nearest <= widest) continue;
        widest = nearest;
        *place = middle;
    }
    return widest;
}

static ty_status judge_holes(const mesh_input* in, const mesh_options* o, double cell,
                             const ty_tri_mesh_report* r)
{
    open_edge* e = ty_alloc(MAX_OPEN_EDGES, sizeof *e);
    if (!e) return ty_no_memory("open edges");
    ty_vec3 place = ty_load3(r->open_at);
    int n = find_open_edges(&in->surface, e, MAX_OPEN_EDGES);
    double width = n > MAX_OPEN_EDGES ? INFINITY : hole_width(e, n, &place);
    ty_free(e);
    if (n < 0) return ty_no_memory("open edges");
    if (n > MAX_OPEN_EDGES)
        return ty_fail_at(TY_BAD_INPUT, o->input, 0, 0,
                          "the surface has %d open edges, the first near (%g, %g, %g): join its "
                          "vertices (merge by "
                          "distance) in a modelling program",
                          n, place[0], place[1], place[2]);
    if (width > BRIDGED_CELLS * cell)
        return ty_fail_at(TY_BAD_INPUT, o->input, 0, 0,
                          "the surface is open: %d open edges, a hole %.3g m wide near (%g, %g, "
                          "%g); close it (fill holes) "
                          "in a modelling program, or take --cell %.3g or more to bridge it",
                          n, width, place[0], place[1], place[2], width / BRIDGED_CELLS);
    if (!o->quiet)
        fprintf(stderr,
                "tethys: %s: %d open edges, cracks up to %.3g m wide near (%g, %g, %g): bridged\n",
                o->input, n, width, place[0], place[1], place[2]);
    return ty_ok();
}

static void turn_outward(mesh_input* in, const mesh_options* o)
{
    ty_tri_mesh* m = &in->surface;
    if (ty_tri_mesh_volume(m) >= 0.0) return;
    for (int t = 0; t < m->n_tris; ++t) {
        int swap = m->tri[t][1];
        m->tri[t][1] = m->tri[t][2];
        m->tri[t][2] = swap;
    }
    if (!o->quiet) fprintf(stderr, "tethys: %s: the surface is inside out: turned\n", o->input);
}

static void report_crossings(const mesh_input* in, const mesh_options* o)
{
    ty_bvh_pair pair;
    int64_t n = 0;
    if (in->distance.n_self_intersections == 0 || o->quiet) return;    // -1: not looked for yet
    if (ty_bvh_self_intersections(&in->distance.bvh, 1, &pair, &n).code != TY_OK || !n) return;
    fprintf(stderr,
            "tethys: %s: the surface crosses itself in %lld pairs of triangles, first at (%g, %g, "
            "%g): everything "
            "enclosed is filled; unite the parts in a modelling program if that is not meant\n",
            o->input, (long long)n, pair.place[0], pair.place[1], pair.place[2]);
}

static ty_status prepare_surface(mesh_input* in, const mesh_options* o, double cell)
{
    ty_tri_mesh_report report;
    ty_mesh_distance_def def = ty_mesh_distance_default();
    TY_TRY(ty_tri_mesh_inspect(&in->surface, &report));
    if (report.open_edges) TY_TRY(judge_holes(in, o, cell, &report));
    else turn_outward(in, o);
    double start = ty_clock();
    const ty_tri_mesh* m = &in->surface;
    TY_TRY(ty_mesh_distance_build(&in->distance, &def, m->n_verts, (const double(*)[3])m->vert,
                                  m->n_tris, (const int(*)[3])m->tri));
    in->build_seconds = ty_clock() - start;
    report_crossings(in, o);
    return ty_ok();
}

ty_status mesh_input_prepare(mesh_input* in, const mesh_options* o, double cell)
{
    if (o->shape) {
        in->inner = (ty_sampler){&in->primitive, 1, INFINITY, primitive_eval};
    } else if (in->voxel > 0.0) {
        in->inner = ty_volume_sampler(&in->volume);
    } else {
        TY_TRY(prepare_surface(in, o, cell));
        in->inner = ty_mesh_distance_sampler(&in->distance);
    }
    in->phi = (ty_sampler){in, 1, in->inner.exact_band, timed_eval};
    return ty_ok();
}

void mesh_input_free(mesh_input* in)
{
    ty_tri_mesh_free(&in->surface);
    ty_mesh_distance_free(&in->distance);
    ty_volume_free(&in->volume);
}
