// SPDX-License-Identifier: Apache-2.0
#include "render/sky.h"

#include "render/optics.h"

static const double SUN_HALF_ANGLE = 5.0;    // degrees: shadows with soft edges
static const double WINDOW_COSINE = 0.80;    // where the soft box has faded to nothing
static const double SOFT_RIM = 0.15;         // share of the sun's disc over which it fades

static ty_vec3 turned(int up, double x, double y, double z)
{
    return up == 2 ? ty_normalize(ty_vec(x, -z, y)) : ty_normalize(ty_vec(x, y, z));
}

ty_sky ty_sky_studio(int up)
{
    return (ty_sky){.up = up,
                    .horizon = ty_vec(0.62, 0.69, 0.76),
                    .zenith = ty_vec(0.09, 0.20, 0.42),
                    .window = ty_vec(1.3, 1.3, 1.25),
                    .window_dir = turned(up, -0.50, 0.62, -0.60),
                    .sun_dir = turned(up, -0.50, 0.85, -0.30),
                    .sun = ty_vec(4.6, 4.2, 3.7),
                    .sun_cosine = cos(SUN_HALF_ANGLE * TY_PI / 180.0)};
}

ty_sky ty_sky_even(double radiance)
{
    ty_vec3 all = radiance * ty_vec(1, 1, 1);
    return (ty_sky){.up = 1,
                    .horizon = all,
                    .zenith = all,
                    .window_dir = ty_vec(0, 1, 0),
                    .sun_dir = ty_vec(0, 1, 0),
                    .sun_cosine = 1.0};
}

static double smooth(double lo, double hi, double x)
{
    double u = ty_clamp((x - lo) / (hi - lo), 0.0, 1.0);
    return u * u * (3.0 - 2.0 * u);
}

ty_vec3 ty_sky_radiance(const ty_sky* sky, ty_vec3 dir)
{
    double height = ty_max(0.0, dir[sky->up]);
    ty_vec3 light = ty_lerp3(sky->horizon, sky->zenith, 1.0 - (1.0 - height) * (1.0 - height));
    return light + smooth(WINDOW_COSINE, 1.0, ty_dot(dir, sky->window_dir)) * sky->window;
}

ty_vec3 ty_sky_sun(const ty_sky* sky, ty_vec3 dir)
{
    double cosine = ty_dot(dir, sky->sun_dir), inside = 1.0 - sky->sun_cosine;
    if (cosine <= sky->sun_cosine || !(inside > 0.0)) return ty_vec(0, 0, 0);
    double solid_angle = 2.0 * TY_PI * inside;
    return smooth(0.0, SOFT_RIM, (cosine - sky->sun_cosine) / inside) / solid_angle * sky->sun;
}
