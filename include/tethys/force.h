// SPDX-License-Identifier: Apache-2.0
// Forces of an application's own, for scenes that name them:
//
//   forces:
//     - custom: {kind: tide, strength: 2, vector: [1, 0, 0]}
//       inside: {box: {min: [0, 0, 0], max: [1, 1, 1]}}
//       active: [0, 5]
//
//   ty_add_force("tide", tide, NULL);    before ty_scene_open
#ifndef TETHYS_FORCE_H
#define TETHYS_FORCE_H

#include "tethys/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Points of the liquid where the force acts, and what the scene says about it. Arrays hold n
// entries.
typedef struct ty_force_query {
    double time, step;    // s; the step that is under way, 0 at the start
    int n;
    const double (*x)[3];      // m
    const double (*v)[3];      // m/s, the liquid's
    const double* strength;    // the scene's, which may vary in space and time
    const double (*vector)[3];
    double center[3],
        axis[3];    // the scene's other numbers; what they mean is the force's own affair
    double radius, scale, speed;
} ty_force_query;

// Adds to acceleration[i], m/s2. Called from several threads at once, with the same `self`; the
// result must depend on the query alone, or a run cannot be repeated or resumed.
typedef void (*ty_force_fn)(void* self, const ty_force_query* query, double (*acceleration)[3]);

// Makes `name` a kind of force, for ever; the name is copied, `self` is borrowed. TY_EXISTS when
// the name is taken, TY_BAD_INPUT when there are more than 32 or something is missing. Not while
// scenes are opened in other threads.
TY_API ty_status ty_add_force(const char* name, ty_force_fn add, void* self);

#ifdef __cplusplus
}
#endif
#endif
