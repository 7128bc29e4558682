// SPDX-License-Identifier: Apache-2.0
// Where the light comes from: a sky that is bright at the horizon, and a soft sun.
#ifndef TY_RENDER_SKY_H
#define TY_RENDER_SKY_H

#include "core/vec.h"

// Value. Colours are linear RGB radiance in the lanes of a vector.
typedef struct ty_sky {
    int up;    // axis
    ty_vec3 horizon, zenith;
    ty_vec3 window;    // a large soft box for reflections, around window_dir
    ty_vec3 window_dir;
    ty_vec3 sun_dir, sun;    // irradiance across sun_dir
    double sun_cosine;       // of the half angle of its disc
} ty_sky;

ty_sky ty_sky_studio(int up);
// The same light from everywhere, no sun: for tests.
ty_sky ty_sky_even(double radiance);
// Radiance from a direction, without the sun's disc.
ty_vec3 ty_sky_radiance(const ty_sky* sky, ty_vec3 dir);
// Radiance of the disc when dir points into it, else zero.
ty_vec3 ty_sky_sun(const ty_sky* sky, ty_vec3 dir);

#endif
