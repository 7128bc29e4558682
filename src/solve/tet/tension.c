// SPDX-License-Identifier: Apache-2.0
// Surface tension: the pressure at the free surface is that of the air and sigma kappa, kappa being
// twice the mean curvature of the tracked surface.
//
// Curvature. Around the point of the surface closest to a face's middle a quadric is fitted to the
// tracker's distance, weighted by a Gaussian; kappa is that of its level set. What is fitted is of
// degree 2, so on a flat surface a wave of wave number k is seen as exp(-(k s)^2 / 2) of itself, s being
// the width: never with the wrong sign, as it is by sums of few points. And a radial function has spheres
// for level sets whatever its smoothing: the fit errs on spheres only by what the points lack in roundness.
//
// Symmetry. The surface's place makes curvature, this pressure, that velocity, and that the surface's
// place again: a loop as that of gravity (vertex.c), but with a curvature that is no diagonal matrix. It has
// no growing modes if "pressures from places" is symmetric too. So curvatures are taken at faces, and
// a vertex has their mean by area: from faces to vertices is the transpose of how vertices move
// faces. Sampled at vertices instead, the currents around a drop at rest (13 cells across, inviscid) grew in energy
// 8-fold per unit of time, a hundredfold with a width of 0.9 cells, whatever theta is, and with a quarter of the step too.
//
// Width. Waves of a few cells that a wide fit does not see are bumps that nothing holds back: in the same
// drop the largest speed at t = 1 was 0.0024 with 0.5 cells, 0.017 with 0.6.
//
// Walls. The liquid meets them at 90 degrees: what lies behind a wall is asked at its mirror image, and of a
// face only the open part counts; vertices in walls continue what is in the open (contact.c). Half a drop on a wall,
// 12 cells across, after 20 steps: pressure 0.03 % off, largest speed 0.01; without mirror images 20 % and 0.8.
// What is left: without viscosity ripples gather at contact lines; that half drop has a largest speed of 0.14 at t = 0.5,
// with a millionth of the surface's energy (0.004 with a Laplace number of 12000).
#include <assert.h>

#include "core/parallel.h"
#include "core/union_find.h"
#include "geometry/slope.h"
#include "solve/tet/motion.h"

enum { BLOCK = 32, POINTS = 128, FEET = 2, TURNS = 3 };
static const double WIDTH = 0.5;      // cells: of the Gaussian
static const double SPACING = 1.2;    // widths, of the body-centred lattice of points
static const double REACH = 2.5;      // widths
// Per cell: no drop is rounder. What is less than a cell thick has no curvature that a cell could see.
static const double MOST_BENT = 2.0;
static const double PROBE = 0.25;    // cells: of the slopes that lead to the surface
static const double LEAST_SLOPE = 0.1;
static const double TRIFLE = 1e-6;

typedef struct tension_job {
    const ty_tetflow* tf;
    const ty_tet_motion* m;
    ty_sampler distance, solid;
    bool walled;
    double reach;    // metres
    int n;
    double at[POINTS][3], weight[POINTS];
    double square, fourth, mixed;    // moments: x^2, x^4, x^2 y^2
    double* bent;                    // per boundary face, 1/m
} tension_job;

static void make_points(tension_job* job)
{
    double s = WIDTH * job->tf->def->cell, all = 0.0;
    const int most = (int)(2.0 * REACH / SPACING);
    job->reach = REACH * s;
    for (int i = -most; i <= most; ++i)
        for (int j = -most; j <= most; ++j)
            for (int k = -most; k <= most; ++k) {
                ty_vec3 d = 0.5 * SPACING * ty_vec(i, j, k);
                if ((i + j) % 2 || (j + k) % 2 || ty_dot(d, d) > REACH * REACH) continue;
                assert(job->n < POINTS);
                ty_store3(job->at[job->n], s * d);
                all += job->weight[job->n++] = exp(-0.5 * ty_dot(d, d));
            }
    for (int i = 0; i < job->n; ++i) {
        double w = job->weight[i] /= all, x2 = job->at[i][0] * job->at[i][0];
        job->square += w * x2, job->fourth += w * x2 * x2;
        job->mixed += w * x2 * job->at[i][1] * job->at[i][1];
    }
}

// Points behind walls go to their mirror images; in corners more than once.
static void mirror(const tension_job* job, int n, double (*x)[3])
{
    double d[POINTS];
    for (int turn = 0; turn < TURNS && job->walled; ++turn) {
        bool behind = false;
        ty_sample(&job->solid, n, (const double(*)[3])x, d);
        for (int i = 0; i < n; ++i) {
            if (!(d[i] < 0.0)) continue;
            ty_vec3 at = ty_load3(x[i]);
            ty_vec3 out = ty_tet_way_out(&job->solid, job->tf->def->cell, at);
            ty_store3(x[i], at - 2.0 * d[i] * out);
            behind = true;
        }
        if (!behind) return;
    }
}

// The surface's point next to x. A face of a mesh that is thicker than the liquid is up to half a
// cell off it.
static ty_vec3 foot(const tension_job* job, ty_vec3 x)
{
    double e = PROBE * job->tf->def->cell, p[7][3], d[7];
    for (int turn = 0; turn < FEET; ++turn) {
        for (int i = 0; i < 7; ++i) ty_store3(p[i], x);
        for (int axis = 0; axis < 3; ++axis) p[1 + axis][axis] -= e, p[4 + axis][axis] += e;
        ty_sample(&job->distance, 7, (const double(*)[3])p, d);
        ty_vec3 slope = ty_vec(d[4] - d[1], d[5] - d[2], d[6] - d[3]) / (2.0 * e);
        if (!(ty_dot(slope, slope) > LEAST_SLOPE * LEAST_SLOPE)) return x;
        x -= d[0] / ty_dot(slope, slope) * slope;
    }
    return x;
}

// div (grad f / |grad f|) of the quadric f fitted around x: twice the mean curvature, positive for
// drops.
static double curvature(const tension_job* job, ty_vec3 x)
{
    double p[POINTS][3], f[POINTS], mean = 0.0, mixed[3] = {0};
    ty_vec3 slope = {0}, own = {0};    // own: second derivatives along the axes
    for (int i = 0; i < job->n; ++i) ty_store3(p[i], x + ty_load3(job->at[i]));
    if (job->walled && ty_value_at(&job->solid, x) < job->reach) mirror(job, job->n, p);
    ty_sample(&job->distance, job->n, (const double(*)[3])p, f);
    for (int i = 0; i < job->n; ++i) {
        const double* d = job->at[i];
        double v = job->weight[i] * f[i];
        ty_vec3 at = ty_load3(d);
        mean += v, slope += v * at, own += v * at * at;
        mixed[0] += v * d[1] * d[2], mixed[1] += v * d[2] * d[0], mixed[2] += v * d[0] * d[1];
    }
    double square = job->square, spread = job->mixed - square * square;
    slope /= square;
    double all = 2.0 * (own[0] + own[1] + own[2] - 3.0 * square * mean) /
                 (job->fourth - job->mixed + 3.0 * spread);
    double steep = ty_dot(slope, slope), along = 0.0;
    if (!(steep > 0.0)) return 0.0;
    for (int i = 0; i < 3; ++i) {
        double straight = (2.0 * (own[i] - square * mean) - all * spread) /
                          (job->fourth - job->mixed);
        along += slope[i] * slope[i] * straight +
                 2.0 * slope[(i + 1) % 3] * slope[(i + 2) % 3] * mixed[i] / job->mixed;
    }
    return (all - along / steep) / sqrt(steep);
}

// The place of a boundary face in its tet; -1 when it is not all air.
static int place_of(const ty_tet_state* s, int face)
{
    const ty_tet_mesh* mesh = &s->mesh;
    int t = mesh->face_tet[face][0], place = -1;
    for (int k = 0; k < 4; ++k)
        if (mesh->tet_face[t][k] == face) place = k;
        else if (!(s->vert_kind.at[mesh->tet[t][k]] & TY_VERT_AIR)) return -1;
    return place;
}

// How much of a face belongs to a corner: of its open part, but a trifle of what lies in walls too, so
// that there is something to take a mean of.
static double part(const ty_tet_state* s, int t, int j, int i)
{
    return ty_tet_face_moment(s, t, j, i) + TRIFLE;
}

static void bend_block(void* ctx, ty_range r)
{
    const tension_job* job = ctx;
    const ty_tet_state* s = &job->m->state;
    double most = MOST_BENT / job->tf->def->cell;
    for (int64_t f = r.begin; f < r.end; ++f) {
        int face = s->mesh.n_inner_faces + (int)f, j = place_of(s, face),
            t = s->mesh.face_tet[face][0];
        if (j < 0) continue;
        ty_vec3 sum = {0};
        double all = 0.0, x[1][3];
        for (int i = 0; i < 4; ++i) {
            if (i == j) continue;
            double w = part(s, t, j, i);
            sum += w * ty_load3(s->mesh.vert[s->mesh.tet[t][i]]), all += w;
        }
        ty_store3(x[0], sum / all);
        mirror(job, 1, x);
        job->bent[f] = ty_clamp(curvature(job, foot(job, ty_load3(x[0]))), -most, most);
    }
}

// sum: per vertex, of its parts of faces and of these times curvatures; then [1] is the pressure.
static void find_pressures(const tension_job* job, double sigma, double (*sum)[2])
{
    const ty_tet_state* s = &job->m->state;
    const ty_tet_mesh* mesh = &s->mesh;
    for (int f = 0; f < mesh->n_faces - mesh->n_inner_faces; ++f) {
        int face = mesh->n_inner_faces + f, j = place_of(s, face), t = mesh->face_tet[face][0];
        if (j < 0) continue;
        double area = ty_norm(ty_load3(ty_tet_mesh_geometry(mesh, t).S[j]));
        for (int i = 0; i < 4; ++i) {
            if (i == j) continue;
            double w = area * part(s, t, j, i);
            int v = mesh->tet[t][i];
            sum[v][0] += w, sum[v][1] += w * job->bent[f];
        }
    }
    for (int v = mesh->n_inner; v < mesh->n_verts; ++v)
        sum[v][1] = sum[v][0] > 0.0 ? sigma * sum[v][1] / sum[v][0] : 0.0;
}

// A body of liquid, by a vertex of it.
typedef struct body {
    double volume;
    ty_vec3 force, middle;    // of the tension; sum of places of vertices at the surface
    int n;
    bool held;    // by walls, or not all around it is free surface
} body;

static void add_bodies(const ty_tet_state* s, int* parent, const double (*sum)[2], body* bodies)
{
    const ty_tet_mesh* mesh = &s->mesh;
    for (int v = 0; v < mesh->n_verts; ++v) {
        body* b = &bodies[ty_find(parent, v)];
        if (v >= mesh->n_inner) b->middle += ty_load3(mesh->vert[v]), ++b->n;
        b->held |= (s->vert_kind.at[v] & (TY_VERT_WALL | TY_VERT_SOLID)) ||
                   (v >= mesh->n_inner && !(s->vert_kind.at[v] & TY_VERT_AIR));
    }
    for (int t = 0; t < mesh->n_tets; ++t) {
        body* b = &bodies[ty_find(parent, mesh->tet[t][0])];
        ty_tet_geometry g = ty_tet_mesh_geometry(mesh, t);
        b->volume += g.volume;
        for (int j = 0; j < 4; ++j)
            for (int i = 0; i < 4 && mesh->face_tet[mesh->tet_face[t][j]][1] < 0; ++i)
                if (i != j) b->force += sum[mesh->tet[t][i]][1] / 3.0 * ty_load3(g.S[j]);
    }
}

// The tension of a closed surface has no resultant. That of curvatures as they are known here has, and
// would drive a drop: a pressure that rises evenly takes it away.
static void balance(const ty_tet_state* s, int* parent, double (*sum)[2], body* bodies)
{
    const ty_tet_mesh* mesh = &s->mesh;
    for (int v = 0; v < mesh->n_verts; ++v) parent[v] = v;
    for (int t = 0; t < mesh->n_tets; ++t)
        for (int i = 1; i < 4; ++i) ty_join(parent, mesh->tet[t][0], mesh->tet[t][i]);
    add_bodies(s, parent, (const double(*)[2])sum, bodies);
    for (int v = mesh->n_inner; v < mesh->n_verts; ++v) {
        const body* b = &bodies[ty_find(parent, v)];
        if (!b->held && b->volume > 0.0)
            sum[v][1] -= ty_dot(b->force, ty_load3(mesh->vert[v]) - b->middle / b->n) / b->volume;
    }
}

static void add(ty_tetflow* tf, const double (*sum)[2])
{
    ty_tet_state* s = &ty_tetflow_new(tf)->state;
    for (int v = s->mesh.n_inner; v < s->mesh.n_verts; ++v)
        s->given.at[v] += sum[v][1], s->pressure.at[v] += sum[v][1];
}

ty_status ty_tetflow_tension(ty_tetflow* tf, const ty_liquid* liquid)
{
    const ty_tet_motion* m = ty_tetflow_new(tf);
    const ty_tet_mesh* mesh = &m->state.mesh;
    double sigma = tf->def->surface_tension / tf->def->density;
    int n = mesh->n_faces - mesh->n_inner_faces;
    if (!(sigma > 0.0) || n == 0) return ty_ok();
    tension_job job = {.tf = tf, .m = m, .distance = liquid->distance};
    job.solid = ty_world_solid(tf->world), job.walled = ty_tet_has_solids(tf->world);
    make_points(&job);
    job.bent = ty_alloc((size_t)n, sizeof *job.bent);
    size_t n_verts = (size_t)mesh->n_verts;
    double(*sum)[2] = ty_alloc_zero(n_verts, sizeof *sum);
    int* parent = ty_alloc(n_verts, sizeof *parent);
    body* bodies = ty_alloc_zero(n_verts, sizeof *bodies);
    bool ok = job.bent && sum && parent && bodies;
    if (ok) {
        ty_parallel_for(n, BLOCK, bend_block, &job);
        find_pressures(&job, sigma, sum);
        balance(&m->state, parent, sum, bodies);
        add(tf, (const double(*)[2])sum);
    }
    ty_free(job.bent);
    ty_free(sum);
    ty_free(parent);
    ty_free(bodies);
    return ok ? ty_ok() : ty_no_memory("surface tension");
}
