// SPDX-License-Identifier: Apache-2.0
// Flow along a space curve, after [Foster2001]: near the curve the liquid is driven along
// its tangent.
//
// Departs: it is a force and not a velocity that is set, so that the projection and the ledger see
// an ordinary liquid (a velocity is what `steer` is for); and it also pulls toward the curve, by
// distance / radius, so that fast liquid does not leave it at a bend.
#include <string.h>

#include "core/vec.h"
#include "world/force_kinds.h"

enum {
    PIECES = 16
};    // straight pieces between two points: 0.2 % of the span off the curve at a right angle

typedef struct curve {
    int n;    // nodes of the polyline
    double (*node)[3];
    double (*tangent)[3];
    double cell;
    ty_box reach;    // nothing outside is in reach
} curve;

// Catmull-Rom through p1, p2 at u, and its derivative.
static void catmull_rom(const double (*p)[3], const int id[4], double u, double point[3],
                        double tangent[3])
{
    ty_vec3 a = ty_load3(p[id[0]]), b = ty_load3(p[id[1]]), c = ty_load3(p[id[2]]),
            d = ty_load3(p[id[3]]);
    ty_vec3 k1 = 0.5 * (c - a), k2 = a - 2.5 * b + 2.0 * c - 0.5 * d,
            k3 = 1.5 * (b - c) + 0.5 * (d - a);
    ty_store3(point, b + u * (k1 + u * (k2 + u * k3)));
    ty_store3(tangent, ty_normalize(k1 + u * (2.0 * k2 + 3.0 * u * k3)));
}

static void sample_curve(curve* c, const ty_force_def* def)
{
    int last = def->n_points - 1;
    c->reach = ty_box_empty();
    for (int i = 0; i < c->n; ++i) {
        int span = i / PIECES < last ? i / PIECES : last - 1;
        const int id[4] = {span > 0 ? span - 1 : 0, span, span + 1,
                           span + 2 <= last ? span + 2 : last};
        catmull_rom((const double(*)[3])def->points, id, (double)(i - span * PIECES) / PIECES,
                    c->node[i], c->tangent[i]);
        ty_box_add(&c->reach, c->node[i]);
    }
    double radius = def->radius > 0.0 ? def->radius : INFINITY;
    ty_store3(c->reach.lo, ty_load3(c->reach.lo) - radius);
    ty_store3(c->reach.hi, ty_load3(c->reach.hi) + radius);
}

ty_status ty_spline_create(void** self, const ty_force_def* def, double cell)
{
    *self = NULL;
    if (def->n_points < 2)
        return ty_fail_at(TY_BAD_INPUT, def->place.file, def->place.line, def->place.column,
                          "a spline needs at least two points");
    curve* c = ty_alloc_zero(1, sizeof *c);
    if (!c) return ty_no_memory("spline");
    *self = c;
    c->n = (def->n_points - 1) * PIECES + 1;
    c->cell = cell;
    c->node = ty_alloc((size_t)c->n, sizeof *c->node);
    c->tangent = ty_alloc((size_t)c->n, sizeof *c->tangent);
    if (!c->node || !c->tangent) return ty_no_memory("spline");
    sample_curve(c, def);
    return ty_ok();
}

void ty_spline_destroy(void* self)
{
    curve* c = self;
    if (!c) return;
    ty_free(c->node);
    ty_free(c->tangent);
    ty_free(c);
}

static bool in_reach(const ty_box* b, const double x[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (x[axis] < b->lo[axis] || x[axis] > b->hi[axis]) return false;
    return true;
}

// The offset to the nearest point of the polyline and the tangent there.
static ty_vec3 nearest(const curve* c, ty_vec3 x, ty_vec3* tangent)
{
    double best = INFINITY;
    ty_vec3 offset = ty_vec(0, 0, 0);
    for (int i = 0; i + 1 < c->n; ++i) {
        ty_vec3 a = ty_load3(c->node[i]), ab = ty_load3(c->node[i + 1]) - a, ax = x - a;
        double square = ty_dot(ab, ab),
               u = square > 0.0 ? ty_clamp(ty_dot(ax, ab) / square, 0.0, 1.0) : 0.0;
        ty_vec3 r = u * ab - ax;
        double d2 = ty_dot(r, r);
        if (d2 >= best) continue;
        best = d2;
        offset = r;
        *tangent = ty_normalize(ty_lerp3(ty_load3(c->tangent[i]), ty_load3(c->tangent[i + 1]), u));
    }
    return offset;
}

void ty_spline_add(const void* self, const ty_force_def* def, const ty_force_points* at,
                   double (*a)[3])
{
    const curve* c = self;
    for (int i = 0; i < at->n; ++i) {
        if (!in_reach(&c->reach, at->x[i])) continue;
        ty_vec3 tangent = ty_vec(0, 0, 0), offset = nearest(c, ty_load3(at->x[i]), &tangent);
        double d = ty_norm(offset), scale = at->strength[i] * ty_force_reach(d, def->radius);
        ty_vec3 pull = def->radius > 0.0 ? offset / def->radius : ty_vec(0, 0, 0);
        ty_store3(a[i], ty_load3(a[i]) + scale * (tangent + pull));
    }
}
