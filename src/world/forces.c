// SPDX-License-Identifier: Apache-2.0
// The forces of a world: which act, where, and how strongly. What each does is in force.h.
#include "world/world_state.h"

static ty_status create_force(ty_world* w, ty_force* f, const ty_force_def* def)
{
    f->def = def;
    f->vector = def->vector;
    f->strength = def->strength;
    f->bounded = def->bounded;
    const ty_place* p = &def->place;
    f->type = ty_force_type_of(def);
    if (!f->type)
        return ty_fail_at(TY_BAD_INPUT, p->file, p->line, p->column,
                          "there is no force '%s'; was it registered?",
                          def->custom ? def->custom : "");
    if (f->bounded) TY_TRY(ty_shape_create(&f->region, &def->region, w->cell, w->fault));
    return f->type->create ? f->type->create(&f->self, def, w->cell) : ty_ok();
}

ty_status ty_world_create_forces(ty_world* w)
{
    w->forces = ty_alloc_zero((size_t)w->def->n_forces, sizeof *w->forces);
    if (!w->forces) return ty_no_memory("forces");
    for (int i = 0; i < w->def->n_forces; ++i) {
        ++w->n_forces;
        TY_TRY(create_force(w, &w->forces[i], &w->def->forces[i]));
    }
    return ty_ok();
}

void ty_world_destroy_forces(ty_world* w)
{
    for (int i = 0; i < w->n_forces; ++i) {
        ty_force* f = &w->forces[i];
        if (f->self && f->type->destroy) f->type->destroy(f->self);
        if (f->bounded) ty_shape_destroy(&f->region);
        ty_varying_unload(&f->vector);
        ty_varying_unload(&f->strength);
    }
    ty_free(w->forces);
}

ty_status ty_world_move_forces(ty_world* w, double t, double dt)
{
    for (int i = 0; i < w->n_forces; ++i) {
        ty_force* f = &w->forces[i];
        f->on = f->def->active[0] <= t && t <= f->def->active[1];
        if (!f->on) continue;
        if (f->type->move) f->type->move(f->self, f->def, t);
        if (f->bounded) TY_TRY(ty_shape_move(&f->region, t, dt));
        TY_TRY(ty_varying_prepare(&f->vector, t - dt, t));
        TY_TRY(ty_varying_prepare(&f->strength, t - dt, t));
    }
    return ty_ok();
}

// The points of a batch inside the region, without gaps; id[k] is where the k-th came from.
static int gather(const ty_force* f, int n, const double (*x)[3], const double (*v)[3],
                  double (*in_x)[3], double (*in_v)[3], int* id)
{
    double d[TY_SAMPLE_BATCH];
    int m = 0;
    if (f->bounded) ty_shape_distance(&f->region, n, x, d);
    for (int i = 0; i < n; ++i) {
        if (f->bounded && d[i] >= 0.0) continue;
        ty_store3(in_x[m], ty_load3(x[i]));
        ty_store3(in_v[m], ty_load3(v[i]));
        id[m++] = i;
    }
    return m;
}

static ty_status add_batch(const ty_world* w, const ty_force* f, int n, const double (*x)[3],
                           const double (*v)[3], double (*acceleration)[3])
{
    double in_x[TY_SAMPLE_BATCH][3], in_v[TY_SAMPLE_BATCH][3], vector[TY_SAMPLE_BATCH][3];
    double strength[TY_SAMPLE_BATCH], a[TY_SAMPLE_BATCH][3] = {{0}};
    int id[TY_SAMPLE_BATCH], m = gather(f, n, x, v, in_x, in_v, id);
    const double(*px)[3] = (const double(*)[3])in_x;
    TY_TRY(ty_varying_eval(&f->strength, w->time, m, px, strength));
    TY_TRY(ty_varying_eval(&f->vector, w->time, m, px, vector[0]));
    ty_force_points at = {
        w->time, w->step, m, px, (const double(*)[3])in_v, strength, (const double(*)[3])vector};
    f->type->add(f->self, f->def, &at, a);
    for (int k = 0; k < m; ++k)
        ty_store3(acceleration[id[k]], ty_load3(acceleration[id[k]]) + ty_load3(a[k]));
    return ty_ok();
}

bool ty_world_has_forces(const ty_world* w)
{
    for (int i = 0; i < w->n_forces; ++i)
        if (w->forces[i].on) return true;
    return false;
}

ty_status ty_world_forces(const ty_world* w, int n, const double (*x)[3], const double (*v)[3],
                          double (*acceleration)[3])
{
    for (int k = 0; k < w->n_forces; ++k)
        for (int at = 0; w->forces[k].on && at < n; at += TY_SAMPLE_BATCH) {
            int m = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
            TY_TRY(add_batch(w, &w->forces[k], m, x + at, v + at, acceleration + at));
        }
    return ty_ok();
}
