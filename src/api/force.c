// SPDX-License-Identifier: Apache-2.0
// Forces of an application's own: each is a row of world/force.h's table that passes the question
// on.
#include "tethys/force.h"

#include <string.h>

#include "core/memory.h"
#include "world/force.h"

typedef struct own_force {
    ty_force_type type;
    ty_force_fn add;
    void* self;
} own_force;

static own_force own[TY_MAX_FORCE_TYPES];
static int n_own;

static ty_status find_own(void** self, const ty_force_def* def, double cell)
{
    (void)cell;
    *self = NULL;
    for (int i = 0; i < n_own; ++i)
        if (def->custom && strcmp(own[i].type.name, def->custom) == 0) *self = &own[i];
    return *self ? ty_ok()
                 : ty_fail(TY_BAD_INPUT, "a force of an application is only known as 'custom'");
}

static void ask(const void* self, const ty_force_def* def, const ty_force_points* at,
                double (*acceleration)[3])
{
    const own_force* force = self;
    ty_force_query query = {.time = at->t,
                            .step = at->dt,
                            .n = at->n,
                            .x = at->x,
                            .v = at->v,
                            .strength = at->strength,
                            .vector = at->vector,
                            .radius = def->radius,
                            .scale = def->scale,
                            .speed = def->speed};
    memcpy(query.center, def->center, sizeof query.center);
    memcpy(query.axis, def->axis, sizeof query.axis);
    force->add(force->self, &query, acceleration);
}

ty_status ty_add_force(const char* name, ty_force_fn add, void* self)
{
    if (!name || !*name || !add)
        return ty_fail(TY_BAD_INPUT, "a kind of force needs a name and a function");
    if (n_own == TY_MAX_FORCE_TYPES)
        return ty_fail(TY_BAD_INPUT, "more than %d kinds of force", TY_MAX_FORCE_TYPES);
    char* copy = ty_strdup(name);
    if (!copy) return ty_no_memory("a kind of force");
    own_force* force = &own[n_own];
    *force = (own_force){{.name = copy, .create = find_own, .add = ask}, add, self};
    ty_status status = ty_force_register(&force->type);
    if (status.code == TY_OK) ++n_own;
    else ty_free(copy);
    return status;
}
