// SPDX-License-Identifier: Apache-2.0
// The solver interface: how does the liquid move? A kind is one row of the table in kinds.c.
#ifndef TY_SOLVE_SOLVE_H
#define TY_SOLVE_SOLVE_H

#include "core/archive.h"
#include "solve/slow.h"
#include "world/exchange.h"
#include "world/world.h"

typedef enum ty_advection {
    TY_ADVECT_SEMI_LAGRANGIAN,
    TY_ADVECT_MACCORMACK,
    TY_ADVECT_CUBIC
} ty_advection;

typedef enum ty_viscosity_form {
    TY_VISCOSITY_DIFFUSION,
    TY_VISCOSITY_VARIATIONAL
} ty_viscosity_form;

// Everything the scene's `solver:` says. Value; strings are borrowed.
typedef struct ty_solve_def {
    const char* kind;
    double cell, cfl;
    double density, surface_tension, tolerance;
    ty_varying viscosity;                // Pa s
    ty_viscosity_form viscosity_form;    // with grid variational carries no acceleration: theta 1
    ty_advection advection;    // MacCormack needs theta 1: it adds energy to a carried acceleration
    double theta;              // carried acceleration: weight of the new one; 1 turns it off
    bool reduced_pressure;
    bool paper;                 // `method: paper`
    const char* pressure;       // tet: face, nodal, two-point
    const char* obstacles;      // tet: embed, conform
    double snap;                // tet, conform: how far a vertex is moved onto a solid, cells
    bool no_slip;               // tet, conform: the liquid sticks to solids
    bool traced_interpolant;    // tet, `method: paper`: Gong's: paths through dual cells too
    double
        outside_share;      // tet, two-point: Gong's share of the pressure outside; 0: air pressure
    int sweeps;             // tet, `method: paper`: of the multigrid's smoother
    ty_varying velocity;    // prescribed
} ty_solve_def;

ty_solve_def ty_solve_default(void);

// What a step did. Value, filled by advance.
typedef struct ty_solve_stats {
    int64_t cells, unknowns;
    int iterations;
    double residual;
    double max_divergence;    // 1/s
    double
        flux_jump;    // tet: largest difference of a face's fluxes seen from both sides / largest flux
    double
        surface_divergence;    // tet: rms at the surface of the interpolated field that moves it, 1/s
    // tet: vertices of the surface that hang outside the mesh; not those of drops that no tet is near
    double outside;
    double kinetic_energy;    // J, of the liquid
    double moving_volume;     // m3 that it was summed over when that is not the liquid's; 0: it is
    double mesh_seconds, advect_seconds, project_seconds;
} ty_solve_stats;

typedef struct ty_solver_kind {
    const char* name;
    bool needs_domain;
    // On failure *self is NULL and nothing is left. `world` is at time 0. Borrows the def, which
    // outlives the solver.
    ty_status (*create)(void** self, const ty_solve_def*, const ty_world*);
    // From t to t + dt. `liquid` is at t + dt already (NULL for smoke), `world` too. dt 0, once
    // before the first step: makes the initial velocities consistent.
    ty_status (*advance)(void* self, const ty_liquid* liquid, const ty_world*, double t, double dt,
                         ty_solve_stats*);
    // Before a step of dt: the flow may be made to fit it. `liquid` is at its beginning (NULL for
    // smoke). NULL: nothing to do.
    ty_status (*lead)(void* self, const ty_liquid* liquid, double dt);
    // What the next step does with its kinetic energy (slow.h). NULL: velocities are given.
    void (*slow)(void* self, ty_slow slow);
    ty_flow (*flow)(const void* self);
    // What can be written into volumes; returns how many.
    int (*fields)(const void* self, int max, ty_named_field*);
    // The tetrahedra and what they hold into a .vtu file; NULL: the solver has none.
    ty_status (*write_tets)(const void* self, const char* path);
    ty_status (*archive)(void* self, ty_archive*);
    void (*destroy)(void* self);
} ty_solver_kind;

const ty_solver_kind* ty_solver_find(const char* name);
const ty_solver_kind* const* ty_solver_kinds(void);

#endif
