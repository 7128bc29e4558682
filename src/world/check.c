// SPDX-License-Identifier: Apache-2.0
#include "world/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "world/check_parts.h"

enum { CAMERA_TIMES = 25 };    // looked at over the run

void ty_warnings_free(ty_warnings* w) { ty_array_free(&w->list); }

ty_status ty_warn(ty_warnings* found, ty_warning w, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w.message, sizeof w.message, format, args);
    va_end(args);
    return ty_array_push(&found->list, w) ? ty_ok() : ty_no_memory("warnings");
}

static double at_point(ty_sampler s, const double x[3])
{
    double d, at[1][3] = {{x[0], x[1], x[2]}};
    ty_sample(&s, 1, (const double(*)[3])at, &d);
    return d;
}

// What the camera's eye is inside of; NULL: nothing.
static const char* eye_inside(const ty_world* w, const double eye[3])
{
    if (at_point(ty_world_obstacles(w), eye) < 0.0) return "an obstacle";
    if (w->n_liquids > 0 && at_point(ty_world_liquid(w), eye) < 0.0) return "the liquid";
    bool inside = w->def->has_domain;
    for (int axis = 0; axis < 3; ++axis)
        inside &= w->def->min[axis] < eye[axis] && eye[axis] < w->def->max[axis];
    return inside ? "the tank" : NULL;
}

static ty_status check_camera(ty_world* w, int index, double end_time, ty_warnings* found)
{
    const ty_camera_def* camera = &w->def->cameras[index];
    for (int i = 0; i < CAMERA_TIMES; ++i) {
        double t = end_time * i / (CAMERA_TIMES - 1), eye[3], origin[1][3] = {{0}};
        TY_TRY(ty_varying_eval(&camera->eye, t, 1, (const double(*)[3])origin, eye));
        TY_TRY(ty_world_move(w, t, 0.0));
        const char* what = eye_inside(w, eye);
        if (!what) continue;
        ty_warning warning = {
            .kind = TY_WARN_CAMERA_INSIDE, .index = index, .amount = t, .place = camera->eye.place};
        ty_store3(warning.at, ty_load3(eye));
        return ty_warn(
            found, warning,
            "camera '%s' is inside %s at t = %.3g s, eye (%.4g, %.4g, %.4g); move it out, or "
            "its pictures show little",
            camera->name ? camera->name : "", what, t, eye[0], eye[1], eye[2]);
    }
    return ty_ok();
}

static ty_status check_all(ty_world* w, double cell, double end_time, ty_warnings* found)
{
    TY_TRY(ty_check_liquid(w, found));
    TY_TRY(ty_check_thin_walls(w, cell, found));
    TY_TRY(ty_check_meshes(w, found));
    TY_TRY(ty_check_sources(w, end_time, found));
    for (int i = 0; i < w->def->n_cameras; ++i) TY_TRY(check_camera(w, i, end_time, found));
    return ty_ok();
}

ty_status ty_world_check(const ty_world_def* def, double cell, double end_time, ty_warnings* found)
{
    ty_world* w;
    TY_TRY(ty_world_create(&w, def, cell));
    ty_status status = check_all(w, cell, end_time, found);
    if (status.code == TY_OK) status = ty_world_status(w);
    ty_world_destroy(w);
    return status;
}
