// SPDX-License-Identifier: Apache-2.0
#include "sim/energy.h"

#include <math.h>

// Of the scale. Validation allows 1e-3, of energies that waver with the volume, 3e-4.
static const double ALLOWED = 5e-4;
// Of the kinetic energy that a step may lose: a jump of what is measured must not stop a splash.
static const double MOST = 5e-3;

static bool is_left_alone(const ty_world* world, const ty_solve_def* def)
{
    const ty_world_def* w = ty_world_get_def(world);
    return w->n_sources == 0 && w->n_drains == 0 && !ty_world_has_forces(world) &&
           !ty_world_steers(world) && !ty_world_solid_moves(world) &&
           !(ty_world_solid_speed(world) > 0.0) && !ty_varying_in_time(&w->gravity) &&
           def->surface_tension == 0.0;
}

// The potential energy of the place where the liquid is lowest.
static double floor_energy(const ty_tri_mesh* m, ty_vec3 g, double density)
{
    double lowest = INFINITY;
    for (int v = 0; v < m->n_verts; ++v) lowest = fmin(lowest, -ty_dot(g, ty_load3(m->vert[v])));
    return density * lowest;
}

// What the rest has of a sum that all had, when what left took its potential energy along. `rest`:
// m3 of it; as the ledger has it, for so it belongs to what left.
static double of_the_rest(double sum, double rest, double density, ty_outflow left)
{
    return sum + (sum * left.volume - density * left.potential) / rest;
}

static double loss_of(const ty_energy* e)
{
    return e->excess > 0.0 ? fmin(MOST, e->excess / e->kinetic) : 0.0;
}

void ty_energy_account(ty_energy* e, const ty_world* world, const ty_solve_def* def,
                       const ty_tri_mesh* surface, const ty_frame_stats* row, ty_outflow left)
{
    bool alone = row->volume > 0.0 && row->expected_volume > 0.0 && is_left_alone(world, def);
    if (!alone) {
        *e = (ty_energy){0};
        return;
    }
    double kinetic = row->kinetic_energy / row->volume;
    double potential = row->potential_energy / row->volume;
    double sum = kinetic + potential;
    if (e->begun == 0.0) {
        double floor = floor_energy(surface, ty_world_gravity(world), def->density);
        *e = (ty_energy){.begun = 1.0, .lowest = sum, .sum = sum, .scale = potential - floor};
    }
    e->lowest = of_the_rest(e->lowest, row->expected_volume, def->density, left);
    e->sum = of_the_rest(e->sum, row->expected_volume, def->density, left);
    // The next step will gain what this one would have gained.
    double gain = fmax(0.0, sum - e->sum + loss_of(e) * e->kinetic);
    e->scale = fmax(e->scale, kinetic);
    e->lowest = fmin(e->lowest, sum);
    e->kinetic = kinetic;
    e->sum = sum;
    e->excess = fmax(0.0, sum + gain - e->lowest - ALLOWED * e->scale);
}

ty_slow ty_energy_slow(const ty_energy* e, const ty_world* world, const ty_solve_def* def,
                       const ty_frame_stats* row, ty_outflow left)
{
    ty_slow slow = {.loss = loss_of(e), .most = INFINITY};
    bool alone = row->volume > 0.0 && row->expected_volume > 0.0 && is_left_alone(world, def);
    if (!alone || e->begun == 0.0) return slow;
    double lowest = of_the_rest(e->lowest, row->expected_volume, def->density, left);
    double potential = row->potential_energy / row->volume;
    slow.most = fmax(0.0, lowest + ALLOWED * e->scale - potential);
    return slow;
}

ty_status ty_energy_archive(ty_energy* e, ty_archive* ar)
{
    return ty_archive_f64(ar, "energy", &e->begun, sizeof *e / sizeof(double));
}
