// SPDX-License-Identifier: Apache-2.0
#include "geometry/triangle.h"

#include <string.h>

#include "geometry/predicates.h"

ty_ray ty_ray_make(ty_vec3 origin, ty_vec3 direction)
{
    ty_ray ray = {.origin = origin, .direction = direction};
    int z = 0;
    for (int axis = 1; axis < 3; ++axis)
        if (fabs(direction[axis]) > fabs(direction[z])) z = axis;
    int x = (z + 1) % 3, y = (z + 2) % 3;
    if (direction[z] < 0.0) {    // keeps the winding
        int swap = x;
        x = y;
        y = swap;
    }
    ray.axis[0] = x;
    ray.axis[1] = y;
    ray.axis[2] = z;
    ray.shear[0] = direction[x] / direction[z];
    ray.shear[1] = direction[y] / direction[z];
    ray.shear[2] = 1.0 / direction[z];
    return ray;
}

typedef struct sheared {
    double x, y, z;
} sheared;

static sheared shear(const ty_ray* ray, ty_vec3 vertex)
{
    ty_vec3 d = vertex - ray->origin;
    double z = d[ray->axis[2]];
    return (sheared){d[ray->axis[0]] - ray->shear[0] * z, d[ray->axis[1]] - ray->shear[1] * z,
                     ray->shear[2] * z};
}

// The sign of the edge function p x q at the ray, the ray thought at (e, e^2) for an infinitesimal
// e > 0 when it is zero. Changes sign when p and q are swapped, to the bit: neighbours agree.
static int edge_sign(sheared p, sheared q, double value)
{
    if (value == 0.0) value = p.y - q.y;
    if (value == 0.0) value = q.x - p.x;
    return (value > 0.0) - (value < 0.0);
}

ty_ray_hit ty_ray_triangle(const ty_ray* ray, ty_vec3 a, ty_vec3 b, ty_vec3 c)
{
    ty_ray_hit miss = {0};
    sheared A = shear(ray, a), B = shear(ray, b), C = shear(ray, c);
    double u = B.x * C.y - B.y * C.x;
    double v = C.x * A.y - C.y * A.x;
    double w = A.x * B.y - A.y * B.x;
    int side = edge_sign(B, C, u);
    if (side == 0 || edge_sign(C, A, v) != side || edge_sign(A, B, w) != side) return miss;
    double det = u + v + w;
    if (det == 0.0) return miss;
    ty_ray_hit hit = {.u = u / det, .v = v / det, .w = w / det, .facing = -side};
    hit.t = hit.u * A.z + hit.v * B.z + hit.w * C.z;
    return hit;
}

// The closed segments p q and r s, projected along an axis, exactly.
static bool meet_seen_along(int drop, const double* p, const double* q, const double* r,
                            const double* s)
{
    const double* x[4] = {p, q, r, s};
    double y[4][2];
    for (int k = 0; k < 4; ++k)
        for (int axis = 0; axis < 2; ++axis) y[k][axis] = x[k][(drop + 1 + axis) % 3];
    for (int axis = 0; axis < 2; ++axis)
        if (fmax(y[0][axis], y[1][axis]) < fmin(y[2][axis], y[3][axis]) ||
            fmax(y[2][axis], y[3][axis]) < fmin(y[0][axis], y[1][axis]))
            return false;
    return ty_orient2d(y[0], y[1], y[2]) * ty_orient2d(y[0], y[1], y[3]) <= 0 &&
           ty_orient2d(y[2], y[3], y[0]) * ty_orient2d(y[2], y[3], y[1]) <= 0;
}

// In one plane, and meeting as seen along every axis: one of these projections is one-to-one on the
// plane.
static bool segments_meet(const double* p, const double* q, const double* r, const double* s)
{
    if (ty_orient3d(p, q, r, s) != 0) return false;
    for (int drop = 0; drop < 3; ++drop)
        if (!meet_seen_along(drop, p, q, r, s)) return false;
    return true;
}

// x in t's plane. Along an axis that sees t edge-on there is nothing to learn.
static bool contains(const double* const t[3], const double* x)
{
    bool seen = false;
    for (int drop = 0; drop < 3; ++drop) {
        int i = (drop + 1) % 3, j = (drop + 2) % 3, s[3];
        for (int k = 0; k < 3; ++k) {
            const double *a = t[k], *b = t[(k + 1) % 3];
            s[k] = ty_orient2d((double[2]){a[i], a[j]}, (double[2]){b[i], b[j]},
                               (double[2]){x[i], x[j]});
        }
        if (s[0] == 0 && s[1] == 0 && s[2] == 0) continue;
        seen = true;
        bool in = (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
        if (!in) return false;
    }
    return seen;
}

static void crossing_of_segments(const double* p, const double* q, const double* r, const double* s,
                                 double place[3])
{
    ty_vec3 a = ty_load3(p), u = ty_load3(q) - a, v = ty_load3(s) - ty_load3(r),
            w = ty_load3(r) - a;
    ty_vec3 n = ty_cross(u, v);
    double n2 = ty_dot(n, n), u2 = ty_dot(u, u);
    double t = n2 > 0.0 ? ty_dot(ty_cross(w, v), n) / n2 : u2 > 0.0 ? ty_dot(w, u) / u2 : 0.0;
    ty_store3(place, a + ty_clamp(t, 0.0, 1.0) * u);
}

static bool coplanar_meet(const double* const p[3], const double* const q[3], double place[3])
{
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            if (segments_meet(p[i], p[(i + 1) % 3], q[k], q[(k + 1) % 3])) {
                crossing_of_segments(p[i], p[(i + 1) % 3], q[k], q[(k + 1) % 3], place);
                return true;
            }
    const double* inner = contains(q, p[0]) ? p[0] : contains(p, q[0]) ? q[0] : NULL;
    if (inner) memcpy(place, inner, 3 * sizeof *place);
    return inner != NULL;
}

// A segment that does not lie in the plane of t (sp, sq: sides of its ends) against t.
static bool segment_meets(const double* p, const double* q, int sp, int sq,
                          const double* const t[3], double place[3])
{
    if (sp * sq > 0 || (sp == 0 && sq == 0)) return false;
    int s[3];
    for (int k = 0; k < 3; ++k) s[k] = ty_orient3d(p, q, t[k], t[(k + 1) % 3]);
    bool inside = (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
    if (!inside) return false;
    ty_vec3 a = ty_load3(t[0]), n = ty_cross(ty_load3(t[1]) - a, ty_load3(t[2]) - a);
    double hp = fabs(ty_dot(n, ty_load3(p) - a)), hq = fabs(ty_dot(n, ty_load3(q) - a));
    double where = sp == 0 ? 0.0 : sq == 0 ? 1.0 : hp + hq > 0.0 ? hp / (hp + hq) : 0.5;
    ty_store3(place, ty_lerp3(ty_load3(p), ty_load3(q), where));
    return true;
}

static void sides(const double* const t[3], const double* const x[3], int out[3])
{
    for (int k = 0; k < 3; ++k) out[k] = ty_orient3d(t[0], t[1], t[2], x[k]);
}

static bool same_side(const int s[3])
{
    return (s[0] > 0 && s[1] > 0 && s[2] > 0) || (s[0] < 0 && s[1] < 0 && s[2] < 0);
}

static bool edges_meet(const double* const p[3], const int side[3], const double* const q[3],
                       double place[3])
{
    for (int k = 0; k < 3; ++k) {
        int next = (k + 1) % 3;
        if (segment_meets(p[k], p[next], side[k], side[next], q, place)) return true;
    }
    return false;
}

bool ty_triangles_intersect(const double* const p[3], const double* const q[3], double place[3])
{
    double unused[3];
    if (!place) place = unused;
    int of_p[3], of_q[3];
    sides(q, p, of_p);
    if (same_side(of_p)) return false;
    sides(p, q, of_q);
    if (same_side(of_q)) return false;
    bool flat = !of_p[0] && !of_p[1] && !of_p[2] && !of_q[0] && !of_q[1] && !of_q[2];
    if (flat) return coplanar_meet(p, q, place);
    return edges_meet(p, of_p, q, place) || edges_meet(q, of_q, p, place);
}
