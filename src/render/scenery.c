// SPDX-License-Identifier: Apache-2.0
#include "render/scenery.h"

#include "render/scenery_parts.h"

static const double SMALLEST = 1e-6;        // m: a scene without extent
static const double CLIP_MARGIN = 0.02;     // endless obstacles go on this far outside of the box
static const double OPEN_FLOOR = 0.02;      // the ground is this far below a box without a floor
static const double PLATE_DEPTH = 0.015;    // of the tank's floor
static const double FADE_FROM = 2.0,
                    FADE_TO = 7.0;    // box diagonals over which the ground becomes sky
// What clear water takes out per longest side of the tank, and a little more blue than in nature: a
// film's water.
static const double ABSORPTION[3] = {3.6, 0.95, 0.42};

static ty_status add_solids(ty_scenery* s)
{
    const ty_world_def* world = s->def.world;
    ty_box clip = s->box;
    for (int axis = 0; axis < 3; ++axis) {
        clip.lo[axis] -= CLIP_MARGIN * s->size;
        clip.hi[axis] += CLIP_MARGIN * s->size;
    }
    s->solids = ty_alloc_zero((size_t)world->n_obstacles, sizeof *s->solids);
    if (!s->solids) return ty_no_memory("obstacles");
    for (int i = 0; i < world->n_obstacles; ++i) {
        ++s->n_solids;
        TY_TRY(ty_solid_create(&s->solids[i], &world->obstacles[i].shape, s->def.cell, &clip,
                               TY_PANE_GAP * s->size));
    }
    return ty_ok();
}

ty_status ty_scenery_create(ty_scenery** scenery, const ty_scenery_def* def)
{
    *scenery = NULL;
    ty_scenery* s = ty_alloc_zero(1, sizeof *s);
    if (!s) return ty_no_memory("the scenery");
    s->def = *def;
    s->box = def->action;
    for (int axis = 0; axis < 3; ++axis) {
        if (def->world->has_domain) {
            s->box.lo[axis] = def->world->min[axis];
            s->box.hi[axis] = def->world->max[axis];
        }
        s->size = fmax(s->size, s->box.hi[axis] - s->box.lo[axis]);
    }
    s->size = fmax(s->size, SMALLEST);
    ty_status status = add_solids(s);
    if (status.code != TY_OK) {
        ty_scenery_destroy(s);
        return status;
    }
    *scenery = s;
    return ty_ok();
}

void ty_scenery_destroy(ty_scenery* s)
{
    if (!s) return;
    for (int i = 0; i < s->n_solids; ++i) ty_solid_destroy(&s->solids[i]);
    ty_free(s->solids);
    ty_free(s);
}

ty_box ty_scenery_box(const ty_scenery* s) { return s->box; }

static ty_status place_solid(ty_stage* stage, const ty_scenery* s, const ty_solid* solid, double t,
                             double open)
{
    size_t n = (size_t)solid->rest.n_verts;
    double(*start)[3] = ty_alloc(n, sizeof *start), (*end)[3] = ty_alloc(n, sizeof *end);
    float(*normal)[3] = ty_alloc(3 * (size_t)solid->rest.n_tris, sizeof *normal);
    ty_status status = start && end && normal ? ty_ok() : ty_no_memory("an obstacle");
    if (status.code == TY_OK) {
        bool blurred = open > 0.0 && solid->rigid && solid->shape.changes_ever;
        bool glass = solid->hollow && s->def.look == TY_LOOK_WATER;
        ty_solid_place(solid, blurred ? t - 0.5 * open : t, start);
        ty_solid_place(solid, t + 0.5 * open, end);
        ty_solid_normals(solid, t, normal);
        ty_matter matter = {.kind = glass ? TY_PANE : TY_MATTE,
                            .colour = glass ? ty_vec(0.97, 0.99, 0.98) : ty_vec(0.72, 0.40, 0.22)};
        status = ty_stage_add(stage,
                              &(ty_stage_mesh){.n_verts = solid->rest.n_verts,
                                               .n_tris = solid->rest.n_tris,
                                               .vert = (const double(*)[3])start,
                                               .end = blurred ? (const double(*)[3])end : NULL,
                                               .tri = (const int(*)[3])solid->rest.tri,
                                               .normal = (const float(*)[3])normal,
                                               .matter = matter});
    }
    ty_free(start);
    ty_free(end);
    ty_free(normal);
    return status;
}

static void lay_ground(ty_stage* stage, const ty_scenery* s)
{
    int up = s->def.world->up;
    ty_vec3 lo = ty_load3(s->box.lo), hi = ty_load3(s->box.hi);
    double diagonal = ty_norm(hi - lo);
    stage->ground = (ty_ground){.there = true,
                                .matter = {.kind = TY_MATTE, .colour = ty_vec(0.30, 0.31, 0.33)},
                                .centre = 0.5 * (lo + hi),
                                .fade_from = FADE_FROM * diagonal,
                                .fade_to = FADE_TO * diagonal};
    stage->ground.height = s->box.lo[up] -
                           (ty_scenery_has_plate(s) ? PLATE_DEPTH : OPEN_FLOOR) * s->size;
    stage->ground.centre[up] = stage->ground.height;
}

ty_status ty_scenery_stage(ty_scenery* s, const ty_tri_mesh* liquid, double t, double open,
                           ty_stage* stage)
{
    ty_vec3 size = ty_load3(s->box.hi) - ty_load3(s->box.lo);
    TY_TRY(ty_stage_create(stage, s->def.world->up, ty_norm(size)));
    for (int axis = 0; axis < 3; ++axis)
        stage->absorption[axis] = s->def.tint * ABSORPTION[axis] / s->size;
    lay_ground(stage, s);
    for (int i = 0; i < s->n_solids; ++i) {
        TY_TRY(ty_solid_move(&s->solids[i], t));
        TY_TRY(place_solid(stage, s, &s->solids[i], t, open));
    }
    if (s->def.tank) TY_TRY(ty_stage_add_tank(stage, s));
    TY_TRY(ty_stage_add_liquid(stage, s, liquid, open));
    TY_TRY(ty_stage_commit(stage));
    if (s->def.look != TY_LOOK_WATER || !ty_scenery_has_plate(s)) return ty_ok();
    ty_box floor = s->box;
    floor.hi[s->def.world->up] = s->box.lo[s->def.world->up];
    return ty_stage_map_sun(stage, &floor);
}
