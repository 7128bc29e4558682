// SPDX-License-Identifier: Apache-2.0
// Liquid thinner than a cell. The lattice sees a sheet only where one of its nodes is inside, so a
// mesh of thin liquid is made too thick, and knows at every vertex how much: `inset`.
//
//        ....................  the mesh: at least a cell thick, so it has nodes inside wherever it goes
//             | inset
//        ====================  the liquid: distance = distance to the mesh + inset, as thin as it likes
//        ====================
//             |
//        ....................
//
// What others see (`shown`) is the mesh drawn back by `inset` along its normals. Without thin
// liquid `inset` is empty, and `shown` is the mesh.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/contour/slc.h"

enum { BLOCK = 1024 };
static const double BESIDE = 1.0,
                    NOT_BESIDE =
                        2.0;    // cells from the mesh of thin liquid: as fat as it is, not at all

double ty_slc_value_at(const ty_tri_mesh* m, const double* value, int triangle,
                       const double point[3])
{
    const int* id = m->tri[triangle];
    ty_vec3 arm[3];
    for (int k = 0; k < 3; ++k) arm[k] = ty_load3(m->vert[id[k]]) - ty_load3(point);
    ty_vec3 normal = ty_cross(arm[1] - arm[0], arm[2] - arm[0]);
    double sum = 0.0, total = 0.0;
    for (int k = 0; k < 3; ++k) {
        double w = ty_max(ty_dot(ty_cross(arm[(k + 1) % 3], arm[(k + 2) % 3]), normal), 0.0);
        sum += w * value[id[k]];
        total += w;
    }
    return total > 0.0 ? sum / total : value[id[0]];
}

double ty_slc_inset_share(const ty_slc* s, double away)
{
    return ty_clamp((NOT_BESIDE - away / s->def.cell) / (NOT_BESIDE - BESIDE), 0.0, 1.0);
}

typedef struct draw_args {
    const ty_slc_surface* s;
    ty_tri_mesh* to;
} draw_args;

static void draw_block(void* ctx, ty_range r)
{
    const draw_args* k = ctx;
    for (int64_t v = r.begin; v < r.end; ++v) {
        const float *side = ty_slc_side(k->s, v), *n = side ? side : k->s->bend.at + 4 * v;
        ty_vec3 normal = ty_vec((double)n[0], (double)n[1], (double)n[2]);
        ty_store3(k->to->vert[v], ty_load3(k->s->mesh.vert[v]) - k->s->inset.at[v] * normal);
    }
}

ty_status ty_slc_draw(ty_slc* s)
{
    if (s->now.inset.n == 0) return ty_ok();
    TY_TRY(ty_tri_mesh_copy(&s->shown, &s->now.mesh));
    draw_args k = {&s->now, &s->shown};
    ty_parallel_for(s->shown.n_verts, BLOCK, draw_block, &k);
    return ty_ok();
}

const ty_tri_mesh* ty_slc_shown(const ty_slc* s)
{
    return s->now.inset.n ? &s->shown : &s->now.mesh;
}

// Drops insets that are all zero.
void ty_slc_inset_tidy(ty_slc_surface* s)
{
    for (int64_t v = 0; v < s->inset.n; ++v)
        if (s->inset.at[v] > 0.0) return;
    s->inset.n = 0;
}

// Area of the triangles around each vertex, a third each, times the growth that its inset leaves
// room for.
static double full_growth(const ty_slc* s)
{
    const ty_tri_mesh* m = &s->shown;
    double sum = 0.0;
    for (int t = 0; t < m->n_tris; ++t) {
        const int* id = m->tri[t];
        double most = 0.0;
        for (int k = 0; k < 3; ++k) most += fmin(s->now.inset.at[id[k]], s->carried_grow.at[id[k]]);
        if (most == 0.0) continue;
        ty_vec3 a = ty_load3(m->vert[id[0]]);
        sum += 0.5 * ty_norm(ty_cross(ty_load3(m->vert[id[1]]) - a, ty_load3(m->vert[id[2]]) - a)) *
               most / 3.0;
    }
    return sum;
}

// What a step seems to lose of edges and bends, by where they lie in their cells, the next ones seem
// to gain: paid every time, but never taken back, it made 1 % of the slotted sphere in a turn.
ty_status ty_slc_grow(ty_slc* s, double lost)
{
    lost -= s->gained;
    s->gained = ty_max(-lost, 0.0);
    if (!(lost > 0.0) || s->now.inset.n == 0 || s->carried_grow.n != s->now.inset.n) return ty_ok();
    double full = full_growth(s), part = full > lost ? lost / full : 1.0;
    if (!(full > 0.0)) return ty_ok();
    for (int64_t v = 0; v < s->now.inset.n; ++v)
        s->now.inset.at[v] -= part * fmin(s->now.inset.at[v], s->carried_grow.at[v]);
    return ty_slc_draw(s);
}

static void eval_fattening(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc_surface* s = self;
    double d[TY_SAMPLE_BATCH], point[TY_SAMPLE_BATCH][3];
    int tri[TY_SAMPLE_BATCH];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        ty_slc_distance(s, count, x + at, d, tri, point);
        for (int i = 0; i < count; ++i)
            out[at + i] = tri[i] >= 0 ? ty_slc_value_at(&s->mesh, s->inset.at, tri[i], point[i])
                                      : 0.0;
    }
}

static void eval_fattened(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_slc_surface* s = self;
    double point[TY_SAMPLE_BATCH][3];
    int tri[TY_SAMPLE_BATCH];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        ty_slc_distance(s, count, x + at, out + at, tri, point);
        for (int i = 0; i < count; ++i)
            if (tri[i] >= 0)
                out[at + i] -= ty_slc_value_at(&s->mesh, s->inset.at, tri[i], point[i]);
    }
}

ty_sampler ty_slc_fattened(const ty_slc* s)
{
    if (s->now.inset.n == 0) return (ty_sampler){0};
    return (ty_sampler){.self = &s->now, .width = 1, .eval = eval_fattened};
}

ty_sampler ty_slc_fattening(const ty_slc* s)
{
    if (s->now.inset.n == 0) return (ty_sampler){0};
    return (ty_sampler){.self = &s->now, .width = 1, .eval = eval_fattening};
}
