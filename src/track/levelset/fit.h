// SPDX-License-Identifier: Apache-2.0
// Linear functions fitted to the values of open cells around a wall point by weighted least
// squares, and patterns: fits whose cells and weights were found once, for ghosts behind the
// domain's sides that all look alike.
#ifndef TY_TRACK_LEVELSET_FIT_H
#define TY_TRACK_LEVELSET_FIT_H

#include "track/levelset/levelset.h"

enum { TY_FIT_RADII = 3 };     // how often a fit may look farther
#define TY_FIT_WEIGHTS 25.0    // sum of absolute weights: more would amplify noise

// Linear continuation to lattice place x from cells with closed[] unset around lattice place w, and
// how well the fitted function fits them. False when they do not tell it with weights up to
// max_weights.
bool ty_fit_extend(const ty_levelset* ls, const unsigned char* closed, const double* phi, ty_vec3 x,
                   ty_vec3 w, int n_radii, double max_weights, double* value, double* misfit);

// The pattern of the fit of closed cell `cell` at lattice place x around w; -1: none, as cells are
// too few.
ty_status ty_fit_find_pattern(ty_levelset* ls, int cell, ty_vec3 x, ty_vec3 w, int* pattern);
// Whether the fits of two closed cells are of the same open cells around the same wall point: they
// are the same function.
bool ty_fit_same(const ty_levelset* ls, int cell_a, int pattern_a, int cell_b, int pattern_b);
// The function that ty_fit_extend fits, with a pattern, and its value in the closed cell. False where
// one of the open cells holds no distance.
bool ty_fit_apply(const ty_levelset* ls, int pattern, int cell, const double* phi, double c[4],
                  double* misfit);
double ty_fit_value(const ty_levelset* ls, int pattern, const double c[4]);

#endif
