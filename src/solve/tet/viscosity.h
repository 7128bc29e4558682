// SPDX-License-Identifier: Apache-2.0
// Implicit viscosity of solver `tet`. Private to this folder.
#ifndef TY_SOLVE_TET_VISCOSITY_H
#define TY_SOLVE_TET_VISCOSITY_H

#include "solve/tet/motion.h"

// Matrix and solver, kept across steps. Opaque; destroy takes NULL.
typedef struct ty_tet_viscous ty_tet_viscous;
ty_status ty_tet_viscous_create(ty_tet_viscous** v, ty_viscosity_form form, double tolerance);
void ty_tet_viscous_destroy(ty_tet_viscous* v);

// m->state.u after dt of friction. `nu` (m2/s): one per tet, or a single one with `varies` false.
// `stars` are those of m's mesh. Stable for any nu dt; never adds energy where solids stand still;
// uniform motion is kept, and with the variational form that of rigid bodies.
ty_status ty_tet_diffuse(ty_tet_viscous* v, ty_tet_motion* m, const ty_world* world,
                         const ty_tet_stars* stars, const double* nu, bool varies, double dt,
                         ty_solve_stats* stats);

// The solver's: samples the scene's viscosity for the new motion. Nothing to do where it is zero.
ty_status ty_tetflow_viscosity(ty_tetflow* tf, double dt, ty_solve_stats* stats);
// Whether viscosity is so strong that accelerations must not be carried along (viscosity.c).
bool ty_tetflow_is_stiff(const ty_solve_def* def, const ty_world* world);

#endif
