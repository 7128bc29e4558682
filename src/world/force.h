// SPDX-License-Identifier: Apache-2.0
// Kinds of force, one row of a table each, and how an application adds its own.
//
//   kind         acceleration (m/s2) at x moving with v                     strength     reach
//   point        toward `center`; negative strength repels                  m/s2         `radius`
//   vortex       round `axis` through `center`, right-handed                m/s2         `radius` from the axis
//   wind         strength (vector - v), as the mean over the step           1/s
//   turbulence   curl noise, features of size `scale`, changing `speed`
//                times a second; free of divergence, root mean square 1     m/s2
//   spline       along the smooth curve through `points`, and toward it
//                by distance / radius                                       m/s2         `radius` from the curve
//   guide        toward the mesh's surface by distance / radius, and
//                along `vector` without its part across the surface         m/s2         `radius` from the surface
//   field        vector, times strength                                     1
//
// Reach: times (1 - (d / radius)^2)^2, which ends smoothly; radius 0: no end. A force with a region
// acts inside it only, one with `active` times between them only: a kind sees only the points where
// it acts.
#ifndef TY_WORLD_FORCE_H
#define TY_WORLD_FORCE_H

#include "world/world_def.h"

// What a kind is asked. `dt` is the step, 0 at the start.
typedef struct ty_force_points {
    double t, dt;
    int n;
    const double (*x)[3];
    const double (*v)[3];
    const double* strength;       // the def's, at each point
    const double (*vector)[3];    // the def's, at each point
} ty_force_points;

// One row. `move` comes once per step, from one thread; `add` is re-entrant and adds to what is
// there.
typedef struct ty_force_type {
    const char* name;
    ty_status (*create)(void** self, const ty_force_def* def, double cell);    // NULL: self is NULL
    void (*move)(void* self, const ty_force_def* def, double t);    // NULL: nothing to do
    void (*add)(const void* self, const ty_force_def* def, const ty_force_points* at,
                double (*acceleration)[3]);
    void (*destroy)(void* self);    // NULL: nothing to do
} ty_force_type;

enum { TY_MAX_FORCE_TYPES = 32 };

// Adds a kind for scenes read from now on; borrows it for ever. Not while worlds are created in
// other threads. TY_EXISTS when the name is taken, TY_BAD_INPUT when the table is full or the row
// is not complete.
ty_status ty_force_register(const ty_force_type* type);
// NULL when there is none.
const ty_force_type* ty_force_find(const char* name);
const ty_force_type* ty_force_type_of(const ty_force_def* def);

// The factor of a reach.
double ty_force_reach(double distance, double radius);

// Curl noise at a time: free of divergence, root mean square 1, features of size 1. Value;
// re-entrant.
enum { TY_CURL_GRADIENTS = 1024 };
typedef struct ty_curl_noise {
    double gradient[TY_CURL_GRADIENTS][3];
} ty_curl_noise;
void ty_curl_noise_set(ty_curl_noise* noise, double time);
void ty_curl_noise_at(const ty_curl_noise* noise, const double p[3], double out[3]);

#endif
