// SPDX-License-Identifier: Apache-2.0
// `method: paper`: the interpolation and the face velocities of [Chentanez2007] section 3.1,
// [Gong2008] section 6. Private to this folder.
#ifndef TY_SOLVE_TET_PAPER_H
#define TY_SOLVE_TET_PAPER_H

#include "solve/tet/motion.h"

// Values at vertices from dual cells; no deviations: between vertices values are linear. Makes
// m->around.
ty_status ty_tet_paper_values(ty_tet_motion* m);
// As ty_tet_sample without `surface`, but from dual cells. u: 3 values per point; n at most
// TY_SAMPLE_BATCH.
void ty_tet_sample_dual(const ty_tet_motion* m, const ty_world* world, int n, const double (*x)[3],
                        double* u);
// state.flux of the new motion: what arrives at faces' barycentres, and what `push` changed in the
// tets beside them since tf->unpushed was kept.
ty_status ty_tetflow_keep_unpushed(ty_tetflow* tf);
ty_status ty_tetflow_carry_faces(ty_tetflow* tf, double dt);

#endif
