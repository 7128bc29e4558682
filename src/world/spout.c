// SPDX-License-Identifier: Apache-2.0
// Sources and drains, [Wrenninge2003] section 4.4.3.
//
// A source's outflow is the integral of max((v - s) . n, 0) over the part of its surface that is
// not in a solid, where v is its velocity and s the velocity of its own motion. So a source that is
// dragged through the air leaves liquid behind, and one that sits flush on a wall loses nothing
// through it.
//
// The liquid that leaves in a step is pushed by the solver before it, so there are two numbers:
// what the step that led here delivered, exactly, and the rate now.
#include <string.h>

#include "world/world_state.h"

// A patch this deep in a solid (cells) or deeper lets nothing out: the wall a source stands
// against.
static const double IN_SOLID = 1e-6;
// Trackers continue liquid beyond open sides of the domain as it is before them, and so sources go on: beyond this many
// cells before such a side. (Else the liquid above an open top fell past a nozzle that comes down through it, and 1.3
// to 3.2 times what was due came out.)
static const double DRAWN_IN = 0.25;
// Steps end where something is switched, to within this (seconds): rounding of frame times.
static const double SWITCH_SLACK = 1e-9;

static ty_status create_spout(ty_world* w, const ty_shape_def* shape, const double active[2])
{
    ty_spout* s = &w->spouts[w->n_spouts++];
    s->world = w;
    memcpy(s->active, active, sizeof s->active);
    s->velocity = ty_varying_vector(0, 0, 0);
    s->rate_def = ty_varying_number(0);
    s->gain = 1.0;
    return ty_shape_create(&s->shape, shape, w->cell, w->fault);
}

ty_status ty_world_create_spouts(ty_world* w)
{
    const ty_world_def* def = w->def;
    w->spouts = ty_alloc_zero((size_t)(def->n_sources + def->n_drains), sizeof *w->spouts);
    if (!w->spouts) return ty_no_memory("sources");
    for (int i = 0; i < def->n_sources; ++i) {
        const ty_source_def* d = &def->sources[i];
        TY_TRY(create_spout(w, &d->shape, d->active));
        w->spouts[i].is_source = true;
        w->spouts[i].velocity = d->velocity;
        w->spouts[i].rate_def = d->rate;
        w->spouts[i].has_rate = d->has_rate;
    }
    for (int i = 0; i < def->n_drains; ++i)
        TY_TRY(create_spout(w, &def->drains[i].shape, def->drains[i].active));
    return ty_ok();
}

void ty_world_destroy_spouts(ty_world* w)
{
    for (int i = 0; i < w->n_spouts; ++i) {
        ty_shape_destroy(&w->spouts[i].shape);
        ty_varying_unload(&w->spouts[i].velocity);
        ty_varying_unload(&w->spouts[i].rate_def);
        ty_patches_free(&w->spouts[i].patches);
    }
    ty_free(w->spouts);
}

// The outflow through at most TY_SAMPLE_BATCH patches, with the velocity of time t.
static double batch_flux(const ty_spout* s, double t, int n, const double* point,
                         const double* area)
{
    double x[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3], moved[TY_SAMPLE_BATCH][3],
        solid[TY_SAMPLE_BATCH];
    const double(*px)[3] = (const double(*)[3])x;
    for (int i = 0; i < n; ++i)
        ty_store3(x[i], ty_pose_apply(&s->shape.pose, ty_load3(point + 3 * i)));
    ty_world_eval_at(s->world, &s->velocity, t, n, px, v[0]);
    ty_shape_velocity(&s->shape, n, px, moved);
    ty_sampler in_solid = ty_world_solid(s->world);
    ty_sample(&in_solid, n, px, solid);
    double sum = 0.0, square = s->shape.pose.scale * s->shape.pose.scale;
    for (int i = 0; i < n; ++i) {
        if (solid[i] <= IN_SOLID * s->world->cell) continue;
        ty_vec3 outward = square * ty_pose_turn(&s->shape.pose, ty_load3(area + 3 * i));
        sum += ty_max(ty_dot(ty_load3(v[i]) - ty_load3(moved[i]), outward), 0.0);
    }
    return sum;
}

static double flux_at(const ty_spout* s, double t)
{
    int64_t n = s->patches.point.n / 3;
    double sum = 0.0;
    for (int64_t at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int m = n - at < TY_SAMPLE_BATCH ? (int)(n - at) : TY_SAMPLE_BATCH;
        sum += batch_flux(s, t, m, s->patches.point.at + 3 * at, s->patches.area.at + 3 * at);
    }
    return sum;
}

static double given_rate(const ty_spout* s, double t)
{
    double x[1][3] = {{0, 0, 0}}, rate;
    ty_world_eval_at(s->world, &s->rate_def, t, 1, (const double(*)[3])x, &rate);
    return ty_max(rate, 0.0);
}

// Simpson's rule: the mean of f over [a, b].
static double mean_over(const ty_spout* s, double (*f)(const ty_spout*, double), double a, double b)
{
    return b > a ? (f(s, a) + 4.0 * f(s, 0.5 * (a + b)) + f(s, b)) / 6.0 : f(s, b);
}

// The mean outflow over [begin, end].
static double mean_flux(ty_spout* s, double begin, double end)
{
    if (!ty_varying_in_time(&s->velocity)) return s->flux;
    return mean_over(s, flux_at, begin, end);
}

static ty_status update_flux(ty_spout* s, double t)
{
    if (s->measured) return ty_ok();
    bool steady = !s->shape.changes_ever && !s->world->solid_changes_ever;
    if (s->patches.point.n == 0 || s->shape.changes_inside)
        TY_TRY(ty_patches_make(&s->patches, &s->shape, &s->world->bounds));
    s->flux = flux_at(s, t);
    s->measured = steady && !ty_varying_in_time(&s->velocity);
    return ty_ok();
}

static ty_status update_rate(ty_spout* s, double t, double dt)
{
    double begin = ty_max(t - dt, s->active[0]), end = ty_min(t, s->active[1]);
    bool was_on = begin < end;
    s->on = s->active[0] <= t + SWITCH_SLACK && t < s->active[1] - SWITCH_SLACK;
    s->rate = s->delivered = 0.0;
    if (!s->is_source || !(s->on || was_on)) return ty_ok();
    TY_TRY(update_flux(s, t));
    if (was_on)
        s->delivered = (end - begin) * (s->has_rate ? mean_over(s, given_rate, begin, end)
                                                    : mean_flux(s, begin, end));
    double rate = s->has_rate ? given_rate(s, t) : s->flux;
    s->gain = s->has_rate && s->flux > 0.0 ? rate / s->flux : 1.0;
    s->rate = s->on ? rate : 0.0;
    return ty_ok();
}

ty_status ty_world_move_spouts(ty_world* w, double t, double dt)
{
    for (int i = 0; i < w->n_spouts; ++i) {
        ty_spout* s = &w->spouts[i];
        TY_TRY(ty_shape_move(&s->shape, t, dt));
        TY_TRY(ty_varying_prepare(&s->velocity, t - dt, t));
        TY_TRY(ty_varying_prepare(&s->rate_def, t - dt, t));
        TY_TRY(update_rate(s, t, dt));
    }
    return ty_ok();
}

// At most TY_SAMPLE_BATCH points.
static void draw_in(const ty_spout* s, int n, const double (*x)[3], double (*out)[3])
{
    const ty_world_def* def = s->world->def;
    double depth = DRAWN_IN * s->world->cell;
    memcpy(out, x, (size_t)n * sizeof *x);
    if (!def->has_domain || !s->is_source) return;
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            if (!def->wall[2 * axis].closed)
                out[i][axis] = ty_max(out[i][axis], def->min[axis] + depth);
            if (!def->wall[2 * axis + 1].closed)
                out[i][axis] = ty_min(out[i][axis], def->max[axis] - depth);
        }
}

static void spout_distance(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_spout* s = self;
    double at[TY_SAMPLE_BATCH][3];
    for (int begin = 0; begin < n; begin += TY_SAMPLE_BATCH) {
        int count = n - begin < TY_SAMPLE_BATCH ? n - begin : TY_SAMPLE_BATCH;
        draw_in(s, count, x + begin, at);
        ty_shape_distance(&s->shape, count, (const double(*)[3])at, out + begin);
    }
}

static void spout_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_spout* s = self;
    double at[TY_SAMPLE_BATCH][3];
    for (int begin = 0; begin < n; begin += TY_SAMPLE_BATCH) {
        int count = n - begin < TY_SAMPLE_BATCH ? n - begin : TY_SAMPLE_BATCH;
        draw_in(s, count, x + begin, at);
        ty_world_eval(s->world, &s->velocity, count, (const double(*)[3])at, out + 3 * begin);
    }
    for (int64_t i = 0; s->gain != 1.0 && i < 3 * (int64_t)n; ++i) out[i] *= s->gain;
}

static void spout_motion(const void* self, int n, const double (*x)[3], double* out)
{
    ty_shape_velocity(&((const ty_spout*)self)->shape, n, x, (double(*)[3])out);
}

static ty_source get(const ty_spout* s)
{
    return (ty_source){.on = s->on,
                       .distance = {s, 1, 0.0, spout_distance},
                       .velocity = {s, 3, 0.0, spout_velocity},
                       .motion = {s, 3, 0.0, spout_motion},
                       .moves = s->shape.changes_ever,
                       .has_rate = s->has_rate,
                       .rate = s->rate,
                       .delivered = s->delivered};
}

int ty_world_n_sources(const ty_world* w) { return w->def->n_sources; }
int ty_world_n_drains(const ty_world* w) { return w->def->n_drains; }
ty_source ty_world_source(const ty_world* w, int i) { return get(&w->spouts[i]); }
ty_source ty_world_drain(const ty_world* w, int i)
{
    return get(&w->spouts[w->def->n_sources + i]);
}

double ty_world_next_switch(const ty_world* w, double t)
{
    double next = INFINITY;
    for (int i = 0; i < w->n_spouts; ++i)
        for (int k = 0; k < 2; ++k)
            if (w->spouts[i].active[k] > t + SWITCH_SLACK)
                next = ty_min(next, w->spouts[i].active[k]);
    return next;
}
