// SPDX-License-Identifier: Apache-2.0
#include "world/shape_leaf.h"

#include <string.h>

#include "core/memory.h"
#include "world/formula.h"
#include "world/primitive.h"

// Points a side at which the speed of a formula or a level set is looked at.
enum { SPEED_SAMPLES = 6 };

static ty_status create_volume(ty_shape* s)
{
    const ty_shape_def* def = s->def;
    ty_sequence files;
    TY_TRY(ty_sequence_open(&files, def->file, def->file_rate, def->file_start, def->place));
    return ty_volume_cache_create(&s->volume, &files, def->grid, 1);
}

ty_status ty_leaf_create(ty_shape* s)
{
    switch (s->def->kind) {
    case TY_SHAPE_FORMULA:
        s->formula = s->def->formula;
        s->changes_inside = ty_varying_in_time(&s->formula);
        return ty_ok();
    case TY_SHAPE_MESH:
        TY_TRY(ty_mesh_body_create(&s->mesh, s->def, s->cell));
        s->changes_inside = ty_sequence_changes(&s->mesh->files);
        return ty_ok();
    case TY_SHAPE_VOLUME:
        TY_TRY(create_volume(s));
        s->changes_inside = ty_volume_cache_changes(s->volume);
        return ty_ok();
    default: return ty_primitive_check(s->def);
    }
}

void ty_leaf_destroy(ty_shape* s)
{
    ty_varying_unload(&s->formula);
    ty_mesh_body_destroy(s->mesh);
    ty_volume_cache_destroy(s->volume);
}

ty_status ty_leaf_move(ty_shape* s, double t, double dt)
{
    s->moves |= s->changes_inside;
    if (s->def->kind == TY_SHAPE_FORMULA) return ty_varying_prepare(&s->formula, t - dt, t);
    if (s->volume) return ty_volume_cache_load(s->volume, t, t);
    if (!s->mesh) return ty_ok();
    TY_TRY(ty_mesh_body_move(s->mesh, t, dt == 0.0));
    s->moves = s->pose.moves || s->mesh->moves;
    return ty_ok();
}

double ty_leaf_exact_band(const ty_shape* s)
{
    return ty_is_primitive(s->def->kind) || (s->mesh && s->mesh->exact) ? INFINITY : 0.0;
}

// Outside the blocks of a level set its background holds; the way to the blocks is a better bound
// where it is longer.
static void volume_distance(const ty_shape* s, int n, const double (*x)[3], double* out)
{
    ty_box b = ty_volume_cache_bounds(s->volume, s->time);
    ty_volume_cache_eval(s->volume, s->time, n, x, out);
    for (int i = 0; i < n; ++i) {
        double square = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            double q = ty_max(ty_max(b.lo[axis] - x[i][axis], x[i][axis] - b.hi[axis]), 0.0);
            square += q * q;
        }
        if (out[i] > 0.0 && isfinite(square)) out[i] = ty_max(out[i], sqrt(square));
    }
}

static void volume_velocity(const ty_shape* s, int n, const double (*x)[3], double (*out)[3])
{
    double rate[TY_SAMPLE_BATCH], at[TY_SAMPLE_BATCH][3], lo[TY_SAMPLE_BATCH], hi[TY_SAMPLE_BATCH];
    double h = 0.5 * ty_volume_cache_cell(s->volume, s->time);
    ty_volume_cache_rate(s->volume, s->time, n, x, rate);
    memcpy(at, x, (size_t)n * sizeof *at);
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < n; ++i) at[i][axis] = x[i][axis] - h;
        ty_volume_cache_eval(s->volume, s->time, n, (const double(*)[3])at, lo);
        for (int i = 0; i < n; ++i) at[i][axis] = x[i][axis] + h;
        ty_volume_cache_eval(s->volume, s->time, n, (const double(*)[3])at, hi);
        for (int i = 0; i < n; ++i)
            at[i][axis] = x[i][axis], out[i][axis] = (hi[i] - lo[i]) / (2.0 * h);
    }
    for (int i = 0; i < n; ++i) {
        ty_vec3 g = ty_load3(out[i]);
        double square = ty_dot(g, g);
        ty_store3(out[i], square > 0.0 ? -rate[i] / square * g : g);
    }
}

void ty_leaf_distance(const ty_shape* s, int n, const double (*x)[3], double* out)
{
    switch (s->def->kind) {
    case TY_SHAPE_FORMULA:
        ty_formula_distance(&s->formula, s->time, s->cell, s->fault, n, x, out);
        break;
    case TY_SHAPE_MESH: ty_mesh_body_distance(s->mesh, n, x, out); break;
    case TY_SHAPE_VOLUME: volume_distance(s, n, x, out); break;
    default: ty_primitive_distance(s->def, n, x, out);
    }
}

void ty_leaf_velocity(const ty_shape* s, int n, const double (*x)[3], double (*out)[3])
{
    if (!s->changes_inside || s->velocity_is_given) memset(out, 0, (size_t)n * sizeof *out);
    else if (s->mesh) ty_mesh_body_velocity(s->mesh, n, x, out);
    else if (s->volume) volume_velocity(s, n, x, out);
    else ty_formula_velocity(&s->formula, s->time, s->cell, s->fault, n, x, out);
}

ty_box ty_leaf_bounds(const ty_shape* s, bool ever)
{
    if (s->def->invert || s->def->kind == TY_SHAPE_FORMULA) return ty_box_infinite();
    if (ever && s->changes_inside) return ty_box_infinite();
    if (s->mesh) return ty_mesh_body_bounds(s->mesh);
    if (s->volume) return ty_volume_cache_bounds(s->volume, s->time);
    return ty_primitive_bounds(s->def);
}

// Of a formula or level set: near the surface only, from a lattice of points.
static double sampled_speed(const ty_shape* s, const ty_box* box)
{
    enum { N = SPEED_SAMPLES, ALL = N * N * N };
    double x[ALL][3], d[ALL], v[ALL][3], largest = 0.0, near = 0.0;
    for (int i = 0; i < ALL; ++i) {
        const int k[3] = {i % N, i / N % N, i / N / N};
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = box->lo[axis] + (box->hi[axis] - box->lo[axis]) * k[axis] / (N - 1);
    }
    for (int axis = 0; axis < 3; ++axis)
        near = ty_max(near, (box->hi[axis] - box->lo[axis]) / (N - 1));
    ty_leaf_distance(s, ALL, (const double(*)[3])x, d);
    ty_leaf_velocity(s, ALL, (const double(*)[3])x, v);
    for (int i = 0; i < ALL; ++i)
        if (fabs(d[i]) < near) largest = ty_max(largest, ty_norm(ty_load3(v[i])));
    return largest;
}

double ty_leaf_speed(const ty_shape* s, const ty_box* within)
{
    if (!s->changes_inside || s->velocity_is_given) return 0.0;
    if (s->mesh) return ty_mesh_body_speed(s->mesh);
    ty_box own = ty_leaf_bounds(s, false), box = ty_box_intersect(&own, within);
    return ty_box_is_finite(&box) && !ty_box_is_empty(&box) ? sampled_speed(s, &box) : 0.0;
}
