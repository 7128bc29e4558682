// SPDX-License-Identifier: Apache-2.0
// The tank: a white floor, panes of clear glass, and bars along their edges.
#include "render/scenery_parts.h"

static const double PLATE = 0.015, BAR = 0.002;    // thickness, of the longest side

static bool closed(const ty_scenery* s, int side)
{
    return s->def.world->has_domain && s->def.world->wall[side].closed;
}

bool ty_scenery_has_plate(const ty_scenery* s)
{
    return s->def.tank && closed(s, 2 * s->def.world->up);
}

static bool is_pane(const ty_scenery* s, int side)
{
    return closed(s, side) && side != 2 * s->def.world->up;
}

static ty_status add(ty_stage* stage, const ty_tri_mesh* m, ty_matter matter)
{
    return ty_stage_add(stage, &(ty_stage_mesh){.n_verts = m->n_verts,
                                                .n_tris = m->n_tris,
                                                .matter = matter,
                                                .vert = (const double(*)[3])m->vert,
                                                .tri = (const int(*)[3])m->tri});
}

static ty_status make_plate(const ty_scenery* s, ty_tri_mesh* mesh)
{
    int up = s->def.world->up;
    double lo[3], hi[3], rim = (TY_PANE_GAP + 2.0 * BAR) * s->size;
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = s->box.lo[axis] - rim;
        hi[axis] = s->box.hi[axis] + rim;
    }
    hi[up] = s->box.lo[up];
    lo[up] = s->box.lo[up] - PLATE * s->size;
    return ty_add_box(mesh, lo, hi);
}

// A rectangle just outside of a side.
static ty_status make_pane(const ty_scenery* s, int side, ty_tri_mesh* mesh)
{
    int axis = side / 2, a = (axis + 1) % 3, b = (axis + 2) % 3, v = mesh->n_verts,
        t = mesh->n_tris;
    double gap = TY_PANE_GAP * s->size;
    TY_TRY(ty_tri_mesh_resize(mesh, v + 4, t + 2));
    for (int i = 0; i < 4; ++i) {
        double* x = mesh->vert[v + i];
        x[axis] = side % 2 ? s->box.hi[axis] + gap : s->box.lo[axis] - gap;
        x[a] = i & 1 ? s->box.hi[a] + gap : s->box.lo[a] - gap;
        x[b] = i & 2 ? s->box.hi[b] + gap : s->box.lo[b] - gap;
        int up = s->def.world->up;
        if (closed(s, 2 * up)) x[up] = fmax(x[up], s->box.lo[up]);
    }
    const int pair[2][3] = {{v, v + 1, v + 2}, {v + 1, v + 3, v + 2}};
    for (int i = 0; i < 6; ++i) mesh->tri[t + i / 3][i % 3] = pair[i / 3][i % 3];
    return ty_ok();
}

// Along the edge between two sides when one of them is a pane and neither the plate.
static ty_status make_bar(const ty_scenery* s, int one, int other, ty_tri_mesh* mesh)
{
    int floor_side = 2 * s->def.world->up, sides[2] = {one, other};
    if (one == floor_side || other == floor_side || !(is_pane(s, one) || is_pane(s, other)))
        return ty_ok();
    double lo[3], hi[3], gap = TY_PANE_GAP * s->size, width = BAR * s->size;
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = s->box.lo[axis] - gap - width;
        hi[axis] = s->box.hi[axis] + gap + width;
    }
    if (closed(s, floor_side)) lo[floor_side / 2] = s->box.lo[floor_side / 2];
    for (int i = 0; i < 2; ++i) {
        int axis = sides[i] / 2;
        if (sides[i] % 2) lo[axis] = hi[axis] - width;
        else hi[axis] = lo[axis] + width;
    }
    return ty_add_box(mesh, lo, hi);
}

static ty_status make_bars(const ty_scenery* s, ty_tri_mesh* mesh)
{
    for (int one = 0; one < TY_N_SIDES; ++one)
        for (int other = one + 1; other < TY_N_SIDES; ++other)
            if (one / 2 != other / 2) TY_TRY(make_bar(s, one, other, mesh));
    return ty_ok();
}

static ty_status make_panes(const ty_scenery* s, ty_tri_mesh* mesh)
{
    for (int side = 0; side < TY_N_SIDES; ++side)
        if (is_pane(s, side)) TY_TRY(make_pane(s, side, mesh));
    return ty_ok();
}

ty_status ty_stage_add_tank(ty_stage* stage, const ty_scenery* s)
{
    ty_tri_mesh mesh[3] = {0};
    const ty_matter matter[3] = {
        {.kind = TY_MATTE, .colour = ty_vec(0.36, 0.37, 0.37), .mapped = true},
        {.kind = TY_MATTE, .colour = ty_vec(0.55, 0.66, 0.64)},
        {.kind = TY_PANE, .colour = ty_vec(0.97, 0.99, 0.98)}};
    ty_status status = ty_scenery_has_plate(s) ? make_plate(s, &mesh[0]) : ty_ok();
    if (status.code == TY_OK) status = make_bars(s, &mesh[1]);
    if (status.code == TY_OK && s->def.look == TY_LOOK_WATER) status = make_panes(s, &mesh[2]);
    for (int i = 0; i < 3 && status.code == TY_OK; ++i) status = add(stage, &mesh[i], matter[i]);
    for (int i = 0; i < 3; ++i) ty_tri_mesh_free(&mesh[i]);
    return status;
}
