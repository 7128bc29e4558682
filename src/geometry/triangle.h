// SPDX-License-Identifier: Apache-2.0
// One triangle against a point, a ray, another triangle. Pure functions, values in and out.
//
//                c                 features of a triangle a b c:
//              2/ \1                 TY_FACE
//              /   \                 TY_EDGE + k    from corner k to corner k + 1
//             a-----b                TY_VERTEX + k  corner k
//                0
#ifndef TY_GEOMETRY_TRIANGLE_H
#define TY_GEOMETRY_TRIANGLE_H

#include <stdbool.h>

#include "core/vec.h"

enum { TY_FACE = 0, TY_EDGE = 1, TY_VERTEX = 4 };

typedef struct ty_closest {
    ty_vec3 point;       // on the triangle
    double distance2;    // metres squared
    int feature;         // where `point` lies
} ty_closest;

// The closest point by the regions of [Ericson2005] section 5.1.5. Departs: inside the face the
// plane's normal gives point and distance (error eps / sin of the smallest angle instead of its
// square), and triangles too thin for that are taken as their three edges. Degenerate triangles are
// segments or points.
static inline ty_closest ty_closest_on_triangle(ty_vec3 p, ty_vec3 a, ty_vec3 b, ty_vec3 c);

// A ray made ready for many triangles [Woop2013]: axes permuted so that `axis[2]` is where it is
// longest.
typedef struct ty_ray {
    ty_vec3 origin, direction;    // t counts in lengths of `direction`, which need not be 1
    int axis[3];
    double shear[3];
} ty_ray;

ty_ray ty_ray_make(ty_vec3 origin, ty_vec3 direction);

typedef struct ty_ray_hit {
    double t;
    double u, v, w;    // barycentric weights of a, b, c
    int facing;    // +1 when the ray enters from the counter-clockwise side, -1 from the other, 0: no hit
} ty_ray_hit;

// [Woop2013]; watertight. Departs: where the ray meets an edge or a corner exactly, the ray is
// thought shifted by an infinitesimal amount, so that of the triangles around it a ray crossing a
// closed surface hits exactly one (crossings can be counted). Triangles seen edge-on are not hit. t
// may be negative: the caller judges.
ty_ray_hit ty_ray_triangle(const ty_ray* ray, ty_vec3 a, ty_vec3 b, ty_vec3 c);

// Whether the closed triangles p and q have a point in common; exact (orientation predicates), also
// for coplanar and degenerate ones. `place`, which may be NULL, gets a common point to rounding.
bool ty_triangles_intersect(const double* const p[3], const double* const q[3], double place[3]);

static inline ty_closest ty_closest_on_segment_(ty_vec3 p, ty_vec3 a, ty_vec3 b, int edge)
{
    ty_vec3 ab = b - a;
    double t = ty_dot(p - a, ab), length2 = ty_dot(ab, ab);
    ty_closest r = {a, 0.0, TY_VERTEX + edge};
    if (t > 0.0 && t < length2) {
        r.point = a + (t / length2) * ab;
        r.feature = TY_EDGE + edge;
    } else if (t > 0.0) {
        r.point = b;
        r.feature = TY_VERTEX + (edge + 1) % 3;
    }
    r.distance2 = ty_dot(p - r.point, p - r.point);
    return r;
}

static inline ty_closest ty_closest_on_edges_(ty_vec3 p, ty_vec3 a, ty_vec3 b, ty_vec3 c)
{
    ty_closest best = ty_closest_on_segment_(p, a, b, 0);
    ty_closest r = ty_closest_on_segment_(p, b, c, 1);
    if (r.distance2 < best.distance2) best = r;
    r = ty_closest_on_segment_(p, c, a, 2);
    return r.distance2 < best.distance2 ? r : best;
}

static inline ty_closest ty_closest_at_vertex_(ty_vec3 v, ty_vec3 vp, int corner)
{
    return (ty_closest){v, ty_dot(vp, vp), TY_VERTEX + corner};
}

// Below this sin^2 the normal is rounding: such a triangle lies within 1e-8 lengths of its edges.
static const double TY_THIN2 = 1e-16;

static inline ty_closest ty_closest_on_triangle(ty_vec3 p, ty_vec3 a, ty_vec3 b, ty_vec3 c)
{
    ty_vec3 ab = b - a, ac = c - a, ap = p - a;
    double d1 = ty_dot(ab, ap), d2 = ty_dot(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) return ty_closest_at_vertex_(a, ap, 0);
    ty_vec3 bp = p - b, cp = p - c;
    double d3 = ty_dot(ab, bp), d4 = ty_dot(ac, bp);
    if (d3 >= 0.0 && d4 <= d3) return ty_closest_at_vertex_(b, bp, 1);
    double d5 = ty_dot(ab, cp), d6 = ty_dot(ac, cp);
    if (d6 >= 0.0 && d5 <= d6) return ty_closest_at_vertex_(c, cp, 2);
    ty_vec3 n = ty_cross(ab, ac), m = ty_cross(ap, n);
    double n2 = ty_dot(n, n);
    // Edge functions, positive inside: of ab, of ca, of bc.
    double f_ab = ty_dot(ab, m), f_ca = -ty_dot(ac, m), f_bc = ty_dot(c - b, ty_cross(bp, n));
    bool fat = n2 > TY_THIN2 * ty_dot(ab, ab) * ty_dot(ac, ac);
    if (fat && f_ab > 0.0 && f_ca > 0.0 && f_bc > 0.0) {
        double t = ty_dot(n, ap) / n2;
        return (ty_closest){p - t * n, t * t * n2, TY_FACE};
    }
    if (fat && f_ab <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return ty_closest_on_segment_(p, a, b, 0);
    if (fat && f_ca <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return ty_closest_on_segment_(p, c, a, 2);
    if (fat && f_bc <= 0.0 && d4 >= d3 && d5 >= d6) return ty_closest_on_segment_(p, b, c, 1);
    return ty_closest_on_edges_(p, a, b, c);
}

#endif
