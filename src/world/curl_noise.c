// SPDX-License-Identifier: Apache-2.0
// Curl noise [Bridson2007]: the curl of three gradient noises, so its divergence is zero. Every
// lattice gradient turns about an axis of its own at a pace of its own, which animates the noise
// without a fourth dimension and without a period, after the rotating gradients of [Perlin2001].
//
//   psi_c(p) = sum over the corners q of the cell:  f(p - q) g_c(q) . (p - q)
//   f: product of quintic fades
#include "core/hash.h"
#include "core/vec.h"
#include "world/force.h"

// Makes the root mean square of the result 1; the test curl_noise_has_unit_size measures it.
static const double UNIT_SIZE = 0.8197;

// 1 at 0 and 0 at 1 with two derivatives zero at both, for 0 <= |u| <= 1.
static double fade(double u)
{
    double a = fabs(u);
    return 1.0 - a * a * a * (10.0 + a * (6.0 * a - 15.0));
}

static double fade_rate(double u)
{
    double a = fabs(u), r = -30.0 * a * a * (1.0 - a) * (1.0 - a);
    return u < 0.0 ? -r : r;
}

static ty_vec3 direction(uint64_t h)
{
    double z = 2.0 * ty_unit(h) - 1.0, angle = 2.0 * M_PI * ty_unit(ty_mix(h + 1)),
           r = sqrt(1.0 - z * z);
    return ty_vec(r * cos(angle), r * sin(angle), z);
}

void ty_curl_noise_set(ty_curl_noise* noise, double time)
{
    for (int i = 0; i < TY_CURL_GRADIENTS; ++i) {
        uint64_t h = ty_mix2((uint64_t)i, 0x5eed);
        ty_vec3 a = direction(h), axis = direction(ty_mix(h + 2));
        double angle = 2.0 * M_PI * time * (0.5 + ty_unit(ty_mix(h + 3))), c = cos(angle);
        ty_store3(noise->gradient[i],
                  c * a + sin(angle) * ty_cross(axis, a) + (1.0 - c) * ty_dot(axis, a) * axis);
    }
}

// One corner's share of the gradient of psi; r = p - q.
static ty_vec3 corner_share(ty_vec3 g, ty_vec3 r, double f, ty_vec3 f_rate)
{
    return f * g + ty_dot(g, r) * f_rate;
}

void ty_curl_noise_at(const ty_curl_noise* noise, const double p[3], double out[3])
{
    ty_vec3 gradient[3] = {{0}};    // of psi_0, psi_1, psi_2
    for (int k = 0; k < 8; ++k) {
        double q[3], f[3], rate[3];
        uint64_t h = 0;
        for (int axis = 0; axis < 3; ++axis) {
            q[axis] = floor(p[axis]) + (k >> axis & 1);
            f[axis] = fade(p[axis] - q[axis]);
            rate[axis] = fade_rate(p[axis] - q[axis]);
            h = ty_mix(h + 0x9e3779b97f4a7c15u + (uint64_t)(int64_t)q[axis]);
        }
        ty_vec3 f_rate = ty_vec(rate[0] * f[1] * f[2], f[0] * rate[1] * f[2],
                                f[0] * f[1] * rate[2]);
        for (int c = 0; c < 3; ++c) {
            ty_vec3 g = ty_load3(noise->gradient[(h >> 20 * c) % TY_CURL_GRADIENTS]);
            gradient[c] += corner_share(g, ty_load3(p) - ty_load3(q), f[0] * f[1] * f[2], f_rate);
        }
    }
    ty_vec3 curl = ty_vec(gradient[2][1] - gradient[1][2], gradient[0][2] - gradient[2][0],
                          gradient[1][0] - gradient[0][1]);
    ty_store3(out, UNIT_SIZE * curl);
}
