// SPDX-License-Identifier: Apache-2.0
// Thin places for the solver's mesh [Chentanez2007] section 3.4.2: the mesh encloses all of the
// surface.
//
//   filling(p) = phi(p) - sum W(p - m_i) (offset - d_i) / sum W(p - m_i),   W(z) = (h^2 - |z|^2)^3,   h = `kernel` cells
//
// with `offset`, `kernel` and gamma in cells of the solver's mesh.
//
// Departs: places within half a cell of that mesh stand as one, with their number as its weight: the kernel is
// eight times as wide, and every vertex on either side of a sheet has found one. And the mean fades out with the
// nearest of them: wherever there was one within the kernel the mesh was as thick as there, so a film on a glass's wall
// lifted all of the water's surface in it off the mesh's boundary, and sweep.c had nothing to balance it with.
#include <math.h>
#include <string.h>

#include "track/contour/slc.h"

static const double TOGETHER = 0.5;    // cells of the solver's mesh
// The same, from the nearest place: so far the mesh is as thick as there, and so far it is thicker at all.
static const double WHOLE = 1.5, FADED = 2.5;
// The same: no edge of its lattice is longer than one, so a distance that is larger tells its sign.
static const double EDGE = 1.05;
// Cells of the surface: nearer to thin liquid its values at corners are too rough to tell anything.
static const double THIN = 1.2;

// Whether the surface at vertex v and beyond the middle m is the liquid's: in solids it only ends
// (walls.c).
static bool is_open(const ty_slc* s, int64_t v, const double m[3])
{
    double x[3][3], d[3];
    ty_vec3 here = ty_load3(s->now.mesh.vert[v]), middle = ty_load3(m);
    if (!s->has_solid) return true;
    ty_sampler solid = ty_world_solid(s->world);
    ty_store3(x[0], here);
    ty_store3(x[1], middle);
    ty_store3(x[2], 2.0 * middle - here);
    ty_sample(&solid, 3, (const double(*)[3])x, d);
    return d[0] >= 0.0 && d[1] >= 0.0 && d[2] >= 0.0;
}

static ty_status find_middles(ty_slc* s)
{
    ty_slc_particles* p = &s->mesh_thin;
    double gamma = s->def.thicken_gamma * s->mesh_cell;
    TY_TRY(ty_slc_thickness(s, gamma));
    for (int64_t v = 0; v < s->thickness.n; ++v) {
        double half = 0.5 * s->thickness.at[v], m[1][3], d;
        if (!(2.0 * half <= gamma)) continue;
        ty_store3(m[0], ty_slc_middle(s, v));
        if (!is_open(s, v, m[0])) continue;
        ty_slc_distance(&s->now, 1, (const double(*)[3])m, &d, NULL, NULL);
        if (!(-d >= s->def.thicken_reject * half)) continue;
        if (!ty_array_reserve(&p->x, p->x.n + 3) || !ty_array_push(&p->radius, -d))
            return ty_no_memory("thin places");
        memcpy(p->x.at + p->x.n, m[0], sizeof m[0]);
        p->x.n += 3;
    }
    return ty_ok();
}

static void box_of(const ty_slc* s, const double x[3], int at[3])
{
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = (int)floor((x[axis] - s->origin[axis]) / (TOGETHER * s->mesh_cell));
}

// From the sums over each box's places to their means.
static void take_means(ty_slc* s, int n)
{
    ty_slc_particles* p = &s->mesh_thin;
    p->radius.n = n;
    p->x.n = 3 * (int64_t)n;
    for (int i = 0; i < n; ++i) {
        double part = 1.0 / s->mesh_weight.at[i];
        ty_store3(p->x.at + 3 * (int64_t)i, part * ty_load3(p->way.at + 4 * (int64_t)i));
        p->radius.at[i] = part * p->way.at[4 * (int64_t)i + 3];
    }
}

// Places in a box of TOGETHER become one.
static ty_status unite(ty_slc* s, ty_lattice_set* box)
{
    ty_slc_particles* p = &s->mesh_thin;
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    int at[3];
    for (int64_t i = 0; i < p->radius.n; ++i) {
        box_of(s, p->x.at + 3 * i, at);
        if (!ty_lattice_put(box, &cursor, at[0], at[1], at[2])) return ty_no_memory("thin places");
    }
    TY_TRY(ty_lattice_set_finish(box));
    if (!ty_array_resize(&p->way, 4 * (int64_t)box->n) || !ty_array_resize(&s->mesh_weight, box->n))
        return ty_no_memory("thin places");
    for (int64_t i = 0; i < p->way.n; ++i) p->way.at[i] = 0.0;
    for (int64_t i = 0; i < box->n; ++i) s->mesh_weight.at[i] = 0.0;
    cursor = ty_lattice_cursor_start();
    for (int64_t i = 0; i < p->radius.n; ++i) {
        box_of(s, p->x.at + 3 * i, at);
        int64_t id = ty_lattice_id(box, &cursor, at[0], at[1], at[2]);
        for (int axis = 0; axis < 3; ++axis) p->way.at[4 * id + axis] += p->x.at[3 * i + axis];
        p->way.at[4 * id + 3] += p->radius.at[i];
        s->mesh_weight.at[id] += 1.0;
    }
    take_means(s, box->n);
    return ty_ok();
}

ty_status ty_slc_mesh_particles_finish(ty_slc* s)
{
    ty_slc_particles* p = &s->mesh_thin;
    if (p->radius.n == 0) return ty_ok();
    return ty_hash_grid_build(&p->grid, (int)p->radius.n, (const double(*)[3])p->x.at,
                              s->def.thicken_kernel * s->mesh_cell);
}

ty_status ty_slc_thicken_mesh(ty_slc* s)
{
    ty_lattice_set box = {0};
    s->mesh_thin.x.n = s->mesh_thin.radius.n = s->mesh_weight.n = 0;
    if (!(s->mesh_cell > 0.0) || s->now.mesh.n_tris == 0) return ty_ok();
    TY_TRY(find_middles(s));
    ty_status united = unite(s, &box);
    ty_lattice_set_free(&box);
    TY_TRY(united);
    return ty_slc_mesh_particles_finish(s);
}

typedef struct mean {
    const ty_slc* s;
    double reach2, sum, weight;
    double nearest2;
} mean;

static void add_particle(void* ctx, int id, double distance2)
{
    mean* m = ctx;
    double k = m->reach2 - distance2, offset = m->s->def.thicken_offset * m->s->mesh_cell;
    if (!(k > 0.0)) return;
    m->nearest2 = ty_min(m->nearest2, distance2);
    k = k * k * k * m->s->mesh_weight.at[id];
    m->weight += k;
    m->sum += k * (offset - m->s->mesh_thin.radius.at[id]);
}

static double thickening(const ty_slc* s, ty_hash_cursor* last, double reach, const double x[3])
{
    mean m = {.s = s, .reach2 = reach * reach, .nearest2 = INFINITY};
    ty_hash_grid_near_last(&s->mesh_thin.grid, last, x, reach, add_particle, &m);
    if (!(m.weight > 0.0)) return 0.0;
    double fade = (FADED - sqrt(m.nearest2) / s->mesh_cell) / (FADED - WHOLE);
    return ty_clamp(fade, 0.0, 1.0) * m.sum / m.weight;
}

static void eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc* s = self;
    double reach = s->def.thicken_kernel * s->mesh_cell;
    ty_hash_cursor last = ty_hash_cursor_start();
    ty_slc_distance(&s->now, n, x, out, NULL, NULL);
    for (int i = 0; i < n; ++i)
        if (fabs(out[i]) < reach) out[i] -= thickening(s, &last, reach, x[i]);
}

static double band(const ty_slc* s) { return fmax(EDGE * s->mesh_cell, THIN * s->def.cell); }

// What is thickened into the band is asked exactly.
static void eval_roughly(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc* s = self;
    double reach = s->def.thicken_kernel * s->mesh_cell, exact = band(s), near[TY_SAMPLE_BATCH][3],
           d[TY_SAMPLE_BATCH], thicker[TY_SAMPLE_BATCH];
    ty_hash_cursor last = ty_hash_cursor_start();
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH, id[TY_SAMPLE_BATCH],
            n_near = 0;
        ty_slc_distance_within(&s->now, exact, count, x + at, out + at);
        for (int i = at; i < at + count && s->mesh_thin.radius.n; ++i) {
            if (!(fabs(out[i]) < reach)) continue;
            double thick = thickening(s, &last, reach, x[i]);
            if (fabs(out[i]) > exact && fabs(out[i] - thick) <= exact) {
                memcpy(near[n_near], x[i], sizeof near[0]);
                thicker[n_near] = thick;
                id[n_near++] = i;
            } else out[i] -= thick;
        }
        ty_slc_distance(&s->now, n_near, (const double(*)[3])near, d, NULL, NULL);
        for (int i = 0; i < n_near; ++i) out[id[i]] = d[i] - thicker[i];
    }
}

static void eval_thickening(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc* s = self;
    double reach = s->def.thicken_kernel * s->mesh_cell;
    ty_hash_cursor last = ty_hash_cursor_start();
    for (int i = 0; i < n; ++i) out[i] = thickening(s, &last, reach, x[i]);
}

ty_sampler ty_slc_filling(const ty_slc* s)
{
    if (s->mesh_thin.radius.n == 0) return (ty_sampler){0};
    return (ty_sampler){.self = s, .width = 1, .eval = eval};
}

ty_sampler ty_slc_roughly_filling(const ty_slc* s)
{
    if (!(s->mesh_cell > 0.0)) return (ty_sampler){0};
    return (ty_sampler){.self = s, .width = 1, .exact_band = band(s), .eval = eval_roughly};
}

ty_sampler ty_slc_thickening(const ty_slc* s)
{
    if (s->mesh_thin.radius.n == 0) return (ty_sampler){0};
    return (ty_sampler){.self = s, .width = 1, .eval = eval_thickening};
}
