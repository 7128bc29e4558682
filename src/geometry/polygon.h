// SPDX-License-Identifier: Apache-2.0
// Parts of a triangle cut by planes normal to the axes, and what they stand for in a volume by the
// divergence theorem for (x, 0, 0).
#ifndef TY_GEOMETRY_POLYGON_H
#define TY_GEOMETRY_POLYGON_H

#include <string.h>

#include "core/vec.h"

enum { TY_POLYGON_CORNERS = 16 };

// Value. Flat and convex.
typedef struct ty_polygon {
    int n;
    double x[TY_POLYGON_CORNERS][3];
} ty_polygon;

static inline void ty_polygon_add(ty_polygon* p, const double x[3])
{
    memcpy(p->x[p->n++], x, sizeof p->x[0]);
}

// The parts on both sides of a plane normal to an axis. Fewer than three corners: nothing.
static inline void ty_polygon_split(const ty_polygon* p, int axis, double at, ty_polygon* low,
                                    ty_polygon* high)
{
    low->n = high->n = 0;
    for (int k = 0; k < p->n; ++k) {
        const double *a = p->x[k], *b = p->x[(k + 1) % p->n];
        if (a[axis] <= at) ty_polygon_add(low, a);
        if (a[axis] >= at) ty_polygon_add(high, a);
        if (!((a[axis] < at && b[axis] > at) || (a[axis] > at && b[axis] < at))) continue;
        double t = (at - a[axis]) / (b[axis] - a[axis]), x[3];
        for (int d = 0; d < 3; ++d) x[d] = a[d] + t * (b[d] - a[d]);
        x[axis] = at;
        ty_polygon_add(low, x);
        ty_polygon_add(high, x);
    }
}

static inline void ty_polygon_extent(const ty_polygon* p, int axis, double* least, double* most)
{
    *least = INFINITY, *most = -INFINITY;
    for (int k = 0; k < p->n; ++k) {
        *least = ty_min(*least, p->x[k][axis]);
        *most = ty_max(*most, p->x[k][axis]);
    }
}

// Its area seen along x, with sign, and the integral over that of how far it lies beyond `low`, with no
// triangle of its fan farther than `most`.
static inline double ty_polygon_seen_along_x(const ty_polygon* p, double low, double most,
                                             double* moment)
{
    double area = 0.0;
    *moment = 0.0;
    for (int k = 1; k + 1 < p->n; ++k) {
        const double *a = p->x[0], *b = p->x[k], *c = p->x[k + 1];
        double part = 0.5 * ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]));
        area += part;
        *moment += part * (ty_min((a[0] + b[0] + c[0]) / 3.0, most) - low);
    }
    return area;
}

#endif
