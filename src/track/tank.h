// SPDX-License-Identifier: Apache-2.0
// For tests: a world that is a box, with shapes of liquid and obstacles in it.
#ifndef TY_TRACK_TANK_H
#define TY_TRACK_TANK_H

#include <string.h>

#include "core/archive.h"
#include "test.h"
#include "track/cut.h"
#include "track/track.h"

enum { TANK_SHAPES = 4 };

typedef struct tank {
    ty_world_def def;
    ty_liquid_def liquid[TANK_SHAPES];
    ty_obstacle_def obstacle[TANK_SHAPES];
    ty_world* world;
} tank;

static inline void tank_begin(tank* t, double x, double y, double z)
{
    memset(t, 0, sizeof *t);
    t->def = ty_world_default();
    t->def.has_domain = true;
    double size[3] = {x, y, z};
    memcpy(t->def.max, size, sizeof size);
    for (int side = 0; side < TY_N_SIDES; ++side) t->def.wall[side].closed = true;
    t->def.liquids = t->liquid;
    t->def.obstacles = t->obstacle;
}

static inline ty_shape_def ball(double x, double y, double z, double radius)
{
    ty_shape_def s = ty_shape_default(TY_SHAPE_SPHERE);
    double center[3] = {x, y, z};
    memcpy(s.center, center, sizeof center);
    s.radius = radius;
    return s;
}

static inline ty_shape_def block(double x0, double y0, double z0, double x1, double y1, double z1)
{
    ty_shape_def s = ty_shape_default(TY_SHAPE_BOX);
    double lo[3] = {x0, y0, z0}, hi[3] = {x1, y1, z1};
    memcpy(s.min, lo, sizeof lo);
    memcpy(s.max, hi, sizeof hi);
    return s;
}

static inline void tank_liquid(tank* t, ty_shape_def shape)
{
    ty_liquid_def* l = &t->liquid[t->def.n_liquids++];
    l->shape = shape;
    l->velocity = ty_varying_vector(0.0, 0.0, 0.0);
}

static inline void tank_obstacle(tank* t, ty_shape_def shape)
{
    t->obstacle[t->def.n_obstacles++].shape = shape;
}

static inline void tank_open(tank* t, double cell)
{
    assert_ok(ty_world_create(&t->world, &t->def, cell));
    assert_ok(ty_world_move(t->world, 0.0, 0.0));
}

// `to` becomes what `from` is, by way of an archive.
static inline void tank_reload(const ty_tracker_kind* kind, void* from, void* to)
{
    ty_archive out = ty_archive_save_begin("memory"), in;
    assert_ok(kind->archive(from, &out));
    assert_ok(ty_archive_save_finish(&out));
    assert_ok(ty_archive_load_begin(&in, "memory", out.bytes.at, out.bytes.n));
    assert_ok(kind->archive(to, &in));
    assert_ok(ty_archive_load_finish(&in));
    ty_archive_free(&in);
    ty_archive_free(&out);
}

static inline void tank_close(tank* t) { ty_world_destroy(t->world); }

#endif
