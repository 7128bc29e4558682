// SPDX-License-Identifier: Apache-2.0
#include "geometry/tet_quality.h"

double ty_tet_volume(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d)
{
    return ty_dot(ty_cross(b - a, c - a), d - a) / 6.0;
}

static double angle_between(ty_vec3 u, ty_vec3 v)
{
    return atan2(ty_norm(ty_cross(u, v)), ty_dot(u, v));
}

void ty_tet_dihedral_angles(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d, double angle[6])
{
    static const int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                    {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
    ty_vec3 x[4] = {a, b, c, d};
    for (int e = 0; e < 6; ++e) {
        const int* v = edges[e];
        ty_vec3 edge = x[v[1]] - x[v[0]];
        ty_vec3 n = ty_cross(edge, x[v[2]] - x[v[0]]), m = ty_cross(edge, x[v[3]] - x[v[0]]);
        angle[e] = angle_between(n, m);
    }
}

double ty_tet_radius_ratio(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d)
{
    ty_vec3 u = b - a, v = c - a, w = d - a;
    ty_vec3 vw = ty_cross(v, w), wu = ty_cross(w, u), uv = ty_cross(u, v);
    double volume6 = ty_dot(u, vw);
    double area2 = ty_norm(vw) + ty_norm(wu) + ty_norm(uv) + ty_norm(ty_cross(v - u, w - u));
    // inradius = volume6 / area2; circumradius = |centre| / (2 volume6)
    ty_vec3 centre = ty_dot(u, u) * vw + ty_dot(v, v) * wu + ty_dot(w, w) * uv;
    double bottom = area2 * ty_norm(centre);
    return bottom > 0.0 ? 6.0 * volume6 * fabs(volume6) / bottom : 0.0;
}

double ty_tet_volume_length(ty_vec3 a, ty_vec3 b, ty_vec3 c, ty_vec3 d)
{
    ty_vec3 e[6] = {b - a, c - a, d - a, c - b, d - b, d - c};
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) sum += ty_dot(e[k], e[k]);
    double rms = sqrt(sum / 6.0);
    return rms > 0.0 ? 6.0 * M_SQRT2 * ty_tet_volume(a, b, c, d) / (rms * rms * rms) : 0.0;
}

void ty_triangle_angles(ty_vec3 a, ty_vec3 b, ty_vec3 c, double angle[3])
{
    angle[0] = angle_between(b - a, c - a);
    angle[1] = angle_between(c - b, a - b);
    angle[2] = angle_between(a - c, b - c);
}
