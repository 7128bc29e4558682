// SPDX-License-Identifier: Apache-2.0
#include "world/shape.h"

#include <string.h>

#include "core/memory.h"
#include "world/shape_leaf.h"

static ty_status refuse(const ty_shape_def* def, ty_code code, const char* what)
{
    return ty_fail_at(code, def->place.file, def->place.line, def->place.column, "%s", what);
}

static ty_status check_keys(const ty_shape_def* def)
{
    for (int i = 0; i < def->n_keys; ++i) {
        const ty_pose_key* k = &def->keys[i];
        if (!(k->scale > 0.0))
            return refuse(def, TY_BAD_INPUT, "a key frame's scale must be above 0");
        if (k->degrees != 0.0 && !(ty_norm(ty_load3(k->axis)) > 0.0))
            return refuse(def, TY_BAD_INPUT, "a key frame turns about an axis of length 0");
        if (i > 0 && !(k[-1].time < k->time))
            return refuse(def, TY_BAD_INPUT, "the key frames' times must rise");
    }
    return ty_ok();
}

static bool has_children(ty_shape_kind kind)
{
    return kind == TY_SHAPE_UNION || kind == TY_SHAPE_INTERSECTION || kind == TY_SHAPE_DIFFERENCE;
}

static ty_status create_node(ty_shape* s, const ty_shape_def* def, double cell, ty_fault* fault,
                             int depth);

static ty_status create_children(ty_shape* s, int depth)
{
    const ty_shape_def* def = s->def;
    if (def->n_children < 1) return refuse(def, TY_BAD_INPUT, "a combination of no shapes");
    s->children = ty_alloc_zero((size_t)def->n_children, sizeof *s->children);
    if (!s->children) return ty_no_memory("shapes");
    for (int i = 0; i < def->n_children; ++i) {
        ++s->n_children;
        TY_TRY(create_node(&s->children[i], &def->children[i], s->cell, s->fault, depth + 1));
        s->changes_inside |= s->children[i].changes_ever;
    }
    return ty_ok();
}

static ty_status create_node(ty_shape* s, const ty_shape_def* def, double cell, ty_fault* fault,
                             int depth)
{
    *s = (ty_shape){.def = def, .cell = cell, .fault = fault};
    if (depth > TY_MAX_SHAPE_DEPTH)
        return refuse(def, TY_BAD_INPUT, "shapes are nested too deeply");
    TY_TRY(check_keys(def));
    TY_TRY(has_children(def->kind) ? create_children(s, depth) : ty_leaf_create(s));
    s->changes_ever = s->changes_inside || def->n_keys > 1;
    return ty_ok();
}

ty_status ty_shape_create(ty_shape* shape, const ty_shape_def* def, double cell, ty_fault* fault)
{
    TY_TRY(create_node(shape, def, cell, fault, 0));
    return ty_shape_move(shape, 0.0, 0.0);
}

void ty_shape_destroy(ty_shape* s)
{
    for (int i = 0; i < s->n_children; ++i) ty_shape_destroy(&s->children[i]);
    ty_free(s->children);
    ty_leaf_destroy(s);
    *s = (ty_shape){0};
}

// Whether the boxes of any two children come closer than nothing.
static bool children_touch(const ty_shape* s)
{
    for (int i = 0; i < s->n_children; ++i) {
        ty_box a = ty_shape_bounds(&s->children[i]);
        for (int j = 0; j < i; ++j) {
            ty_box b = ty_shape_bounds(&s->children[j]), both = ty_box_intersect(&a, &b);
            if (!ty_box_is_empty(&both)) return true;
        }
    }
    return false;
}

static double node_exact_band(const ty_shape* s)
{
    if (!has_children(s->def->kind)) return ty_leaf_exact_band(s);
    if (s->def->kind != TY_SHAPE_UNION || children_touch(s)) return 0.0;
    double band = INFINITY;
    for (int i = 0; i < s->n_children; ++i) band = fmin(band, s->children[i].exact_band);
    return s->pose.scale * band;
}

ty_status ty_shape_move(ty_shape* s, double t, double dt)
{
    const ty_shape_def* def = s->def;
    s->time = t;
    s->pose = ty_pose_at(def->n_keys, def->keys, def->linear, t, dt == 0.0);
    s->moves = s->pose.moves;
    if (!has_children(def->kind)) TY_TRY(ty_leaf_move(s, t, dt));
    for (int i = 0; i < s->n_children; ++i) {
        TY_TRY(ty_shape_move(&s->children[i], t, dt));
        s->moves |= s->children[i].moves;
    }
    s->exact_band = node_exact_band(s);
    return ty_ok();
}

static void distance_batch(const ty_shape* s, int n, const double (*x)[3], double* out);

// Keeps in out the distance of the child that rules, and in `which` (unless NULL) its number.
static void combine(const ty_shape* s, int n, const double (*x)[3], double* out, int* which)
{
    bool smallest = s->def->kind == TY_SHAPE_UNION;
    double sign = s->def->kind == TY_SHAPE_DIFFERENCE ? -1.0 : 1.0;
    double d[TY_SAMPLE_BATCH];
    distance_batch(&s->children[0], n, x, out);
    if (which) memset(which, 0, (size_t)n * sizeof *which);
    for (int k = 1; k < s->n_children; ++k) {
        distance_batch(&s->children[k], n, x, d);
        for (int i = 0; i < n; ++i) {
            double v = sign * d[i];
            if (smallest ? v >= out[i] : v <= out[i]) continue;
            out[i] = v;
            if (which) which[i] = k;
        }
    }
}

static void local_distance(const ty_shape* s, int n, const double (*p)[3], double* out)
{
    if (has_children(s->def->kind)) combine(s, n, p, out, NULL);
    else ty_leaf_distance(s, n, p, out);
}

static void to_local(const ty_shape* s, int n, const double (*x)[3], double (*p)[3])
{
    for (int i = 0; i < n; ++i) ty_store3(p[i], ty_pose_undo(&s->pose, ty_load3(x[i])));
}

static void distance_batch(const ty_shape* s, int n, const double (*x)[3], double* out)
{
    if (s->pose.identity) {
        local_distance(s, n, x, out);
    } else {
        double p[TY_SAMPLE_BATCH][3];
        to_local(s, n, x, p);
        local_distance(s, n, (const double(*)[3])p, out);
    }
    double factor = (s->def->invert ? -1.0 : 1.0) * s->pose.scale;
    if (factor != 1.0)
        for (int i = 0; i < n; ++i) out[i] *= factor;
}

void ty_shape_distance(const ty_shape* s, int n, const double (*x)[3], double* out)
{
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int m = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        distance_batch(s, m, x + at, out + at);
    }
}

static void velocity_batch(const ty_shape* s, int n, const double (*x)[3], double (*out)[3]);

// Each point gets the velocity of the child that rules there.
static void combined_velocity(const ty_shape* s, int n, const double (*p)[3], double (*out)[3])
{
    double d[TY_SAMPLE_BATCH], v[TY_SAMPLE_BATCH][3];
    int which[TY_SAMPLE_BATCH];
    combine(s, n, p, d, which);
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < s->n_children; ++k) {
        if (!s->children[k].moves) continue;
        velocity_batch(&s->children[k], n, p, v);
        for (int i = 0; i < n; ++i)
            if (which[i] == k) memcpy(out[i], v[i], sizeof v[i]);
    }
}

static void local_velocity(const ty_shape* s, int n, const double (*p)[3], double (*out)[3])
{
    if (has_children(s->def->kind)) combined_velocity(s, n, p, out);
    else ty_leaf_velocity(s, n, p, out);
}

// x' = velocity of the pose at x + scale R p'
static void velocity_batch(const ty_shape* s, int n, const double (*x)[3], double (*out)[3])
{
    double p[TY_SAMPLE_BATCH][3];
    to_local(s, n, x, p);
    local_velocity(s, n, (const double(*)[3])p, out);
    for (int i = 0; i < n; ++i) {
        ty_vec3 inner = s->pose.scale * ty_pose_turn(&s->pose, ty_load3(out[i]));
        ty_store3(out[i], ty_pose_velocity(&s->pose, ty_load3(x[i])) + inner);
    }
}

void ty_shape_velocity(const ty_shape* s, int n, const double (*x)[3], double (*out)[3])
{
    if (!s->moves) {
        memset(out, 0, (size_t)n * sizeof *out);
        return;
    }
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int m = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        velocity_batch(s, m, x + at, out + at);
    }
}

static void sample_distance(const void* self, int n, const double (*x)[3], double* out)
{
    ty_shape_distance(self, n, x, out);
}

ty_sampler ty_shape_sampler(const ty_shape* shape)
{
    return (ty_sampler){shape, 1, shape->exact_band, sample_distance};
}
