// SPDX-License-Identifier: Apache-2.0
// Solver `prescribed`: the velocity is a function of place and time that the scene gives. For
// tracking tests and for liquids that only follow.
#include <math.h>

#include "core/parallel.h"
#include "solve/kinds.h"

enum { BOUNDS_SAMPLES = 17 };    // per axis, where there is no surface to sample the speed on

// The look ahead of the first step, whose length nobody knows yet.
static const double FIRST_LOOK = 1.0 / 48.0;

typedef struct prescribed {
    ty_varying* velocity;    // the def's
    double cell, cfl;
    double time;     // the liquid's
    double ahead;    // flow.velocity is that of time + ahead
    double max_speed;
} prescribed;

// Where the expression has no finite value the liquid stands; advance fails when that is on its
// surface.
static void velocity_at(const prescribed* self, double t, int n, const double (*x)[3], double* out)
{
    ty_status s = ty_varying_eval(self->velocity, t, n, x, out);
    if (s.code == TY_OK) return;
    for (int i = 0; i < n; ++i) {
        s = ty_varying_eval(self->velocity, t, 1, x + i, out + 3 * i);
        if (s.code != TY_OK) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = 0.0;
    }
}

static void eval_ahead(const void* self, int n, const double (*x)[3], double* out)
{
    const prescribed* p = self;
    velocity_at(p, p->time + p->ahead, n, x, out);
}

static void eval_now(const void* self, int n, const double (*x)[3], double* out)
{
    const prescribed* p = self;
    velocity_at(p, p->time, n, x, out);
}

static ty_status fastest(const prescribed* self, double t, int n, const double (*x)[3],
                         double* speed)
{
    double v[3 * TY_SAMPLE_BATCH];
    for (int begin = 0; begin < n; begin += TY_SAMPLE_BATCH) {
        int count = n - begin < TY_SAMPLE_BATCH ? n - begin : TY_SAMPLE_BATCH;
        TY_TRY(ty_varying_eval(self->velocity, t, count, x + begin, v));
        for (int i = 0; i < count; ++i) *speed = fmax(*speed, ty_norm(ty_load3(v + 3 * i)));
    }
    return ty_ok();
}

static ty_status fastest_in_box(const prescribed* self, ty_box box, double t, double* speed)
{
    for (int k = 0; k < BOUNDS_SAMPLES; ++k) {
        double x[BOUNDS_SAMPLES * BOUNDS_SAMPLES][3];
        for (int i = 0; i < BOUNDS_SAMPLES * BOUNDS_SAMPLES; ++i) {
            int at[3] = {i % BOUNDS_SAMPLES, i / BOUNDS_SAMPLES, k};
            for (int axis = 0; axis < 3; ++axis)
                x[i][axis] = box.lo[axis] +
                             (box.hi[axis] - box.lo[axis]) * at[axis] / (BOUNDS_SAMPLES - 1);
        }
        TY_TRY(fastest(self, t, BOUNDS_SAMPLES * BOUNDS_SAMPLES, (const double(*)[3])x, speed));
    }
    return ty_ok();
}

static ty_status advance(void* state, const ty_liquid* liquid, const ty_world* world, double t,
                         double dt, ty_solve_stats* stats)
{
    prescribed* self = state;
    self->time = t + dt;
    self->ahead = dt > 0.0 ? 0.5 * dt : 0.5 * FIRST_LOOK;
    TY_TRY(ty_varying_prepare(self->velocity, self->time, self->time + 2.0 * self->ahead));
    double speed = 0.0;
    const ty_tri_mesh* surface = liquid ? liquid->surface : NULL;
    for (int look = 0; look < 3; ++look) {
        double at = self->time + look * self->ahead;
        if (surface && surface->n_verts > 0)
            TY_TRY(fastest(self, at, surface->n_verts, (const double(*)[3])surface->vert, &speed));
        else TY_TRY(fastest_in_box(self, ty_world_bounds(world), at, &speed));
        if (!ty_varying_in_time(self->velocity)) break;
    }
    self->max_speed = speed;
    *stats = (ty_solve_stats){0};
    return ty_ok();
}

static ty_flow flow(const void* state)
{
    const prescribed* self = state;
    return (ty_flow){
        .velocity = {self, 3, 0.0, eval_ahead},
        .cell = self->cell,
        .max_speed = self->max_speed,
        .dt_limit = self->max_speed > 0.0 ? self->cfl * self->cell / self->max_speed : INFINITY,
    };
}

static int fields(const void* state, int max, ty_named_field* out)
{
    if (max < 1) return 0;
    out[0] = (ty_named_field){"velocity", {state, 3, 0.0, eval_now}};
    return 1;
}

static ty_status archive(void* state, ty_archive* ar)
{
    prescribed* self = state;
    double values[3] = {self->time, self->ahead, self->max_speed};
    TY_TRY(ty_archive_f64(ar, "prescribed", values, 3));
    if (!ar->loading) return ty_ok();
    self->time = values[0], self->ahead = values[1], self->max_speed = values[2];
    return ty_varying_prepare(self->velocity, self->time, self->time + 2.0 * self->ahead);
}

static void destroy(void* state) { ty_free(state); }

static ty_status create(void** state, const ty_solve_def* def, const ty_world* world)
{
    (void)world;
    prescribed* self = *state = ty_alloc_zero(1, sizeof *self);
    if (!self) return ty_no_memory("prescribed velocity");
    // The def is borrowed as it is: only the cache of volume files inside it changes.
    self->velocity = (ty_varying*)&def->velocity;
    self->cell = def->cell;
    self->cfl = def->cfl;
    self->ahead = 0.5 * FIRST_LOOK;
    return ty_ok();
}

const ty_solver_kind ty_solver_prescribed = {
    .name = "prescribed",
    .create = create,
    .advance = advance,
    .flow = flow,
    .fields = fields,
    .archive = archive,
    .destroy = destroy,
};
