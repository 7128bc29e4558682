// SPDX-License-Identifier: Apache-2.0
// The mesh of the liquid: { liquid and not deeper than TY_TET_DEPTH in a solid }. The liquid's
// distance runs on linearly into solids, so the surface meets walls undisturbed; what is in solids
// is told by open shares.
//
// Departs from [Chentanez2007] section 3.3.1, the minimum of both distances: that bevels every
// contact line by up to a cell and a still pool is torn apart there.
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH };
static const double MARGIN = 2.0;    // cells around the surface: `filling` reaches a little farther

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

static ty_status make_mesh(ty_tetflow* tf, const ty_liquid* liquid, const ty_sampler* filling,
                           ty_tet_mesh* mesh)
{
    ty_stuff_def def = ty_stuff_default();
    embedded e = {*filling, ty_world_solid(tf->world), 0.0};
    if (!tf->conforms) e.depth = ty_min(TY_TET_DEPTH * tf->def->cell, liquid->overlap);
    ty_sampler phi = {.self = &e, .width = 1, .eval = eval};
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

ty_status ty_tetflow_fill(ty_tetflow* tf, const ty_liquid* liquid)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    const ty_sampler* filling = liquid->filling.eval ? &liquid->filling : &liquid->distance;
    TY_TRY(make_mesh(tf, liquid, filling, &m->state.mesh));
    ty_stuff_free(&tf->stuff);
    ty_tet_mesh_tidy(&m->state.mesh);
    if (tf->conforms) TY_TRY(ty_tetflow_snap(tf, &m->state.mesh));
    if (tf->conforms)
        TY_TRY(ty_tet_shares_conform(&m->state, filling, tf->world, tf->def->cell, tf->def->paper));
    else TY_TRY(ty_tet_shares(&m->state, filling, tf->world, tf->def->cell));
    TY_TRY(ty_world_status(tf->world));
    return ty_tet_motion_measure(m);
}
