// SPDX-License-Identifier: Apache-2.0
// The mesh of the liquid: { liquid and not deeper than TY_TET_DEPTH in a solid }. The liquid's
// distance runs on linearly into solids, so the surface meets walls undisturbed; what is in solids
// is told by open shares.
//
// Departs from [Chentanez2007] section 3.3.1, the minimum of both distances: that bevels every
// contact line by up to a cell and a still pool is torn apart there.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/deepen.h"
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH };
static const double MARGIN = 2.0;    // cells around the surface: `filling` reaches a little farther
// Cells: boundary vertices farther from the liquid are not its surface (0.25 does as well)
static const double LIFTED = 0.1;
// Of it: where the mesh is less thicker than that, its boundary is the surface to rounding
static const double SURELY = 0.9;

typedef struct embedded {
    ty_sampler liquid, solid;
    double depth;
} embedded;

static void eval(const void* self, int n, const double (*x)[3], double* out)
{
    const embedded* e = self;
    double solid[BATCH];
    ty_sample(&e->liquid, n, x, out);
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH;
        ty_sample(&e->solid, count, x + at, solid);
        for (int i = 0; i < count; ++i) out[at + i] = ty_max(out[at + i], -(solid[i] + e->depth));
    }
}

static bool bounds(const ty_tetflow* tf, const ty_liquid* liquid, ty_box* box)
{
    if (liquid->surface && liquid->surface->n_tris == 0) return false;
    *box = liquid->surface ? ty_tri_mesh_bounds(liquid->surface) : ty_world_bounds(tf->world);
    for (int axis = 0; axis < 3; ++axis) {
        box->lo[axis] -= MARGIN * tf->def->cell;
        box->hi[axis] += MARGIN * tf->def->cell;
    }
    return true;
}

// roughly: of `filling`; NULL: nothing is known sooner.
static ty_status make_mesh(ty_tetflow* tf, const ty_liquid* liquid, const ty_sampler* filling,
                           const ty_sampler* roughly, ty_tet_mesh* mesh)
{
    ty_stuff_def def = ty_stuff_default();
    embedded e = {*filling, ty_world_solid(tf->world), 0.0};
    if (!tf->conforms)
        e.depth = ty_clamp(liquid->overlap, TY_TET_LEAST_DEPTH * tf->def->cell,
                           TY_TET_DEPTH * tf->def->cell);
    ty_sampler phi = {.self = &e, .width = 1, .eval = eval};
    embedded r = e;
    if (roughly) r.liquid = *roughly;
    ty_sampler rough = {.self = &r, .width = 1, .eval = eval};
    if (roughly) rough.exact_band = roughly->exact_band, def.roughly = &rough;
    def.cell = tf->def->cell;
    for (int axis = 0; axis < 3; ++axis) def.origin[axis] = tf->origin[axis];
    if (bounds(tf, liquid, &def.box)) {
        ty_status status = ty_stuff_mesh(&tf->stuff, &phi, &def, mesh);
        if (status.code != TY_EMPTY) return status;
    }
    TY_TRY(ty_tet_mesh_resize(mesh, 0, 0));
    mesh->n_inner = 0;
    mesh->tree.cell = tf->def->cell;    // where there is no mesh there is still a scale
    return ty_ok();
}

typedef struct lift_job {
    ty_tet_motion* m;
    ty_sampler distance, thickening;
    double least;
} lift_job;

// Where the mesh is thicker than the liquid its boundary is nobody's surface: the liquid's lies
// inside, and moves with the velocity there, which is free of divergence. Moved with that of the
// closest boundary thin fronts lose volume (a dam break at 28 cells: 3 % in 0.3 s). The boundary is
// where the mesh is thicker by as much as it is away from the liquid, or in a solid.
static void lift_block(void* ctx, ty_range r)
{
    const lift_job* job = ctx;
    ty_tet_state* s = &job->m->state;
    double d[BATCH], thicker[BATCH], x[BATCH][3];
    int id[BATCH], n = 0;
    int64_t first = s->mesh.n_inner + r.begin;
    const double(*vert)[3] = (const double(*)[3])s->mesh.vert + first;
    ty_sample(&job->thickening, (int)(r.end - r.begin), vert, thicker);
    for (int v = 0; v < r.end - r.begin; ++v) {
        if (!(thicker[v] > SURELY * job->least)) continue;
        memcpy(x[n], vert[v], sizeof x[0]);
        id[n++] = v;
    }
    ty_sample(&job->distance, n, (const double(*)[3])x, d);
    for (int i = 0; i < n; ++i)
        if (d[i] > job->least) s->vert_kind.at[first + id[i]] |= TY_VERT_LIFTED;
}

ty_status ty_tetflow_fill(ty_tetflow* tf, const ty_liquid* liquid)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    ty_tet_deepened deeper[3] = {
        {liquid->distance, ty_world_solid(tf->world), liquid->overlap, tf->def->cell, NULL}};
    deeper[1] = deeper[0];
    deeper[1].liquid = liquid->filling;
    deeper[2] = deeper[liquid->filling.eval ? 1 : 0];
    deeper[2].roughly = &liquid->roughly_filling;
    bool deepens = !tf->conforms && ty_tet_ends_too_soon(liquid->overlap, tf->def->cell);
    ty_sampler distance = deepens ? ty_tet_deepened_sampler(&deeper[0]) : liquid->distance;
    ty_sampler thick = deepens ? ty_tet_deepened_sampler(&deeper[1]) : liquid->filling;
    const ty_sampler* filling = liquid->filling.eval ? &thick : &distance;
    bool is_rough = liquid->roughly_filling.eval &&
                    liquid->roughly_filling.exact_band >= tf->def->cell;
    ty_sampler roughly = deepens ? ty_tet_deepened_sampler(&deeper[2]) : liquid->roughly_filling;
    roughly.exact_band = liquid->roughly_filling.exact_band;
    TY_TRY(make_mesh(tf, liquid, filling, is_rough ? &roughly : NULL, &m->state.mesh));
    ty_stuff_free(&tf->stuff);
    ty_tet_mesh_tidy(&m->state.mesh);
    if (tf->conforms) TY_TRY(ty_tetflow_snap(tf, &m->state.mesh));
    if (tf->conforms)
        TY_TRY(ty_tet_shares_conform(&m->state, filling, tf->world, tf->def->cell, tf->def->paper));
    else TY_TRY(ty_tet_shares(&m->state, filling, tf->world, tf->def->cell));
    if (liquid->thickening.eval) {
        lift_job job = {m, distance, liquid->thickening, LIFTED * tf->def->cell};
        ty_parallel_for(m->state.mesh.n_verts - m->state.mesh.n_inner, BATCH, lift_block, &job);
    }
    TY_TRY(ty_world_status(tf->world));
    return ty_tet_motion_measure(m);
}
