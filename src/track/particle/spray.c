// SPDX-License-Identifier: Apache-2.0
// Escaped particles that the level set has nothing of around them. Liquid ones become drops: they
// keep their velocity, fall, glide along solids and are particles again where they meet liquid. Air
// ones are forgotten. Drops have no volume of their own; the ledger counts the level set alone.
#include "track/particle/particle.h"

static const float LOOSE =
    3.0f;    // cells from the surface: nearer, the flow's velocity still tells where liquid goes
// Departs: air that is deeper in the liquid than this is dropped. Where two surfaces meet, the air
// between them vanishes, and its particles would eat the liquid: a ball that falls into a pool (32
// cells, 15 frames, no volume correction) lost 10 % with 3 cells here, 2.3 % with this; the
// deformation test (50 cells, CFL 5) is the same within 2e-4. Errors of the transport come little
// by little and are seen before.
static const float LOOSE_AIR = 0.25f;

// A liquid particle leaves the swarm.
static bool loosen(ty_particle* p, const ty_flow* flow, int64_t i)
{
    ty_drop drop = {.radius = -(double)p->now.radius.at[i] * p->ls->grid.cell};
    ty_particle_place(p, i, drop.x);
    ty_sample(&flow->velocity, 1, (const double(*)[3]) & drop.x, drop.v);
    return ty_array_push(&p->drop, drop);
}

ty_status ty_particle_loosen(ty_particle* p, const ty_flow* flow)
{
    for (int plane = 0; plane < p->ls->grid.n[2]; ++plane)
        for (int k = 0; k < p->count.at[plane]; ++k) {
            int64_t i = p->order.at[p->plane.at[plane] + k];
            float* radius = &p->now.radius.at[i];
            if (*radius < 0.0f ? p->value.at[i] < LOOSE : p->value.at[i] > -LOOSE_AIR) continue;
            if (*radius < 0.0f && !loosen(p, flow, i)) return ty_no_memory("drops");
            *radius = 0.0f;
        }
    return ty_ok();
}

// False when it is gone.
static bool fall(const ty_levelset* ls, ty_drop* d, ty_vec3 gravity, double dt)
{
    double to[3], free[3];
    ty_store3(free, ty_load3(d->x) + dt * (ty_load3(d->v) + 0.5 * dt * gravity));
    ty_store3(d->v, ty_load3(d->v) + dt * gravity);
    ty_store3(to, ty_load3(free));
    if (ty_particle_left(ls, to) || !ty_levelset_push_out(ls, to)) return false;
    if (!ty_levelset_in_sight(ls, ty_load3(d->x), ty_load3(to))) return false;
    ty_vec3 normal = ty_normalize(ty_load3(to) -
                                  ty_load3(free));    // zero where nothing was in the way
    ty_store3(d->v, ty_load3(d->v) - ty_min(0.0, ty_dot(ty_load3(d->v), normal)) * normal);
    ty_store3(d->x, ty_load3(to));
    return true;
}

static ty_status rejoin(ty_particle* p, const ty_drop* d)
{
    int64_t at = ty_swarm_count(&p->now);
    TY_TRY(ty_swarm_resize(&p->now, at + 1));
    p->now.radius.at[at] = -ty_particle_radius((float)(d->radius / p->ls->grid.cell));
    if (!ty_particle_put(p, at, d->x)) p->now.radius.at[at] = 0.0f, p->now.cell.at[at] = 0;
    return ty_ok();
}

ty_status ty_particle_fall(ty_particle* p, const ty_world* world, double dt)
{
    const ty_levelset* ls = p->ls;
    int64_t left = 0;
    for (int64_t i = 0; i < p->drop.n; ++i) {
        ty_drop d = p->drop.at[i];
        double phi;
        if (!fall(ls, &d, ty_world_gravity(world), dt)) continue;
        ty_grid_linear(&ls->grid, ls->phi, 1, (const double(*)[3]) & d.x, &phi);
        if (phi < 0.0) TY_TRY(rejoin(p, &d));
        else p->drop.at[left++] = d;
    }
    p->drop.n = left;
    return ty_ok();
}
