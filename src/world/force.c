// SPDX-License-Identifier: Apache-2.0
// The table of kinds, and the short ones.
#include "world/force.h"

#include <string.h>

#include "core/vec.h"
#include "world/force_kinds.h"

double ty_force_reach(double distance, double radius)
{
    if (radius <= 0.0) return 1.0;
    double q = distance / radius, r = 1.0 - q * q;
    return q < 1.0 ? r * r : 0.0;
}

static void add_to(double a[3], ty_vec3 more) { ty_store3(a, ty_load3(a) + more); }

// Closer to the centre than a cell the direction means nothing: the force fades there.
static ty_status keep_cell(void** self, const ty_force_def* def, double cell)
{
    (void)def;
    double* kept = ty_alloc(1, sizeof *kept);
    if (!kept) return ty_no_memory("force");
    *kept = cell;
    *self = kept;
    return ty_ok();
}

static ty_vec3 softened(ty_vec3 r, double cell) { return r / sqrt(ty_dot(r, r) + cell * cell); }

static void point(const void* self, const ty_force_def* def, const ty_force_points* at,
                  double (*a)[3])
{
    ty_vec3 center = ty_load3(def->center);
    for (int i = 0; i < at->n; ++i) {
        ty_vec3 r = center - ty_load3(at->x[i]);
        double reach = ty_force_reach(ty_norm(r), def->radius);
        add_to(a[i], at->strength[i] * reach * softened(r, *(const double*)self));
    }
}

static void vortex(const void* self, const ty_force_def* def, const ty_force_points* at,
                   double (*a)[3])
{
    ty_vec3 center = ty_load3(def->center), axis = ty_normalize(ty_load3(def->axis));
    for (int i = 0; i < at->n; ++i) {
        ty_vec3 round = ty_cross(axis, ty_load3(at->x[i]) - center);
        double reach = ty_force_reach(ty_norm(round), def->radius);
        add_to(a[i], at->strength[i] * reach * softened(round, *(const double*)self));
    }
}

// v' = k (w - v) solved over the step: stable for any k.
static void wind(const void* self, const ty_force_def* def, const ty_force_points* at,
                 double (*a)[3])
{
    (void)self, (void)def;
    for (int i = 0; i < at->n; ++i) {
        double k = at->strength[i];
        double mean = at->dt > 0.0 ? -expm1(-k * at->dt) / at->dt : k;
        add_to(a[i], mean * (ty_load3(at->vector[i]) - ty_load3(at->v[i])));
    }
}

static ty_status create_turbulence(void** self, const ty_force_def* def, double cell)
{
    (void)cell;
    if (!(def->scale > 0.0))
        return ty_fail_at(TY_BAD_INPUT, def->place.file, def->place.line, def->place.column,
                          "the turbulence's 'scale' must be above 0 (metres)");
    *self = ty_alloc(1, sizeof(ty_curl_noise));
    return *self ? ty_ok() : ty_no_memory("turbulence");
}

static void move_turbulence(void* self, const ty_force_def* def, double t)
{
    ty_curl_noise_set(self, def->speed * t);
}

static void turbulence(const void* self, const ty_force_def* def, const ty_force_points* at,
                       double (*a)[3])
{
    double inverse = 1.0 / def->scale;
    for (int i = 0; i < at->n; ++i) {
        double p[3], u[3];
        ty_store3(p, inverse * ty_load3(at->x[i]));
        ty_curl_noise_at(self, p, u);
        add_to(a[i], at->strength[i] * ty_load3(u));
    }
}

static void field(const void* self, const ty_force_def* def, const ty_force_points* at,
                  double (*a)[3])
{
    (void)self, (void)def;
    for (int i = 0; i < at->n; ++i) add_to(a[i], at->strength[i] * ty_load3(at->vector[i]));
}

static const ty_force_type BUILT_IN[] = {
    [TY_FORCE_GRAVITY] = {.name = "gravity", .add = field},
    [TY_FORCE_POINT] = {"point", keep_cell, NULL, point, ty_free},
    [TY_FORCE_VORTEX] = {"vortex", keep_cell, NULL, vortex, ty_free},
    [TY_FORCE_WIND] = {.name = "wind", .add = wind},
    [TY_FORCE_TURBULENCE] = {"turbulence", create_turbulence, move_turbulence, turbulence, ty_free},
    [TY_FORCE_SPLINE] = {"spline", ty_spline_create, NULL, ty_spline_add, ty_spline_destroy},
    [TY_FORCE_GUIDE] = {"guide", ty_guide_create, NULL, ty_guide_add, ty_guide_destroy},
    [TY_FORCE_FIELD] = {.name = "field", .add = field},
};
enum { N_BUILT_IN = sizeof BUILT_IN / sizeof *BUILT_IN };

static const ty_force_type* registered[TY_MAX_FORCE_TYPES];
static int n_registered;

const ty_force_type* ty_force_find(const char* name)
{
    for (int i = 0; i < N_BUILT_IN; ++i)
        if (strcmp(BUILT_IN[i].name, name) == 0) return &BUILT_IN[i];
    for (int i = 0; i < n_registered; ++i)
        if (strcmp(registered[i]->name, name) == 0) return registered[i];
    return NULL;
}

ty_status ty_force_register(const ty_force_type* type)
{
    if (!type->name || !type->add)
        return ty_fail(TY_BAD_INPUT, "a kind of force needs a name and 'add'");
    if (ty_force_find(type->name))
        return ty_fail(TY_EXISTS, "there is a force '%s' already", type->name);
    if (n_registered == TY_MAX_FORCE_TYPES)
        return ty_fail(TY_BAD_INPUT, "more than %d kinds of force", TY_MAX_FORCE_TYPES);
    registered[n_registered++] = type;
    return ty_ok();
}

const ty_force_type* ty_force_type_of(const ty_force_def* def)
{
    if (def->kind != TY_FORCE_CUSTOM) return &BUILT_IN[def->kind];
    return def->custom ? ty_force_find(def->custom) : NULL;
}
