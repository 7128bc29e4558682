// SPDX-License-Identifier: Apache-2.0
#include "sim/energy.h"

#include <math.h>

// Of the scale: a little less than the 1e-3 that validation allows.
static const double ALLOWED = 8e-4;
// Of the kinetic energy that a step may lose: a jump of what is measured must not stop a splash.
static const double MOST = 5e-3;

static bool is_left_alone(const ty_world* world, const ty_solve_def* def)
{
    const ty_world_def* w = ty_world_get_def(world);
    bool open = false;
    for (int side = 0; side < TY_N_SIDES && w->has_domain; ++side) open |= !w->wall[side].closed;
    return !open && w->n_sources == 0 && w->n_drains == 0 && !ty_world_has_forces(world) &&
           !ty_world_steers(world) && !ty_world_solid_moves(world) &&
           !(ty_world_solid_speed(world) > 0.0) && !ty_varying_in_time(&w->gravity) &&
           def->surface_tension == 0.0;
}

// The potential energy that the liquid has above one that lies at its lowest point.
static double height_energy(const ty_tri_mesh* m, ty_vec3 g, double density, double potential)
{
    double lowest = INFINITY;
    for (int v = 0; v < m->n_verts; ++v) lowest = fmin(lowest, -ty_dot(g, ty_load3(m->vert[v])));
    return m->n_verts ? potential - density * ty_tri_mesh_volume(m) * lowest : 0.0;
}

// J that the step after the last one that was accounted for loses.
static double taken(const ty_energy* e) { return fmin(e->excess, MOST * e->kinetic); }

void ty_energy_account(ty_energy* e, const ty_world* world, const ty_solve_def* def,
                       const ty_tri_mesh* surface, double kinetic, double potential)
{
    double sum = kinetic + potential;
    bool alone = is_left_alone(world, def);
    if (!alone || e->begun == 0.0) *e = (ty_energy){.begun = alone, .lowest = sum, .sum = sum};
    if (!alone) return;
    if (e->scale == 0.0)
        e->scale = height_energy(surface, ty_world_gravity(world), def->density, potential);
    // The next step will gain what this one would have gained.
    double gain = fmax(0.0, sum - e->sum + taken(e));
    e->scale = fmax(e->scale, kinetic);
    e->lowest = fmin(e->lowest, sum);
    e->kinetic = kinetic;
    e->sum = sum;
    e->excess = fmax(0.0, sum + gain - e->lowest - ALLOWED * e->scale);
}

double ty_energy_share(const ty_energy* e)
{
    return e->kinetic > 0.0 ? sqrt(1.0 - taken(e) / e->kinetic) : 1.0;
}

ty_status ty_energy_archive(ty_energy* e, ty_archive* ar)
{
    return ty_archive_f64(ar, "energy", &e->begun, sizeof *e / sizeof(double));
}
