// SPDX-License-Identifier: Apache-2.0
#include "world/primitive.h"

static ty_status refuse(const ty_shape_def* def, const char* what)
{
    return ty_fail_at(TY_BAD_INPUT, def->place.file, def->place.line, def->place.column, "%s",
                      what);
}

ty_status ty_primitive_check(const ty_shape_def* def)
{
    bool segment = def->kind == TY_SHAPE_CYLINDER || def->kind == TY_SHAPE_CAPSULE;
    bool round = segment || def->kind == TY_SHAPE_SPHERE || def->kind == TY_SHAPE_TORUS;
    if (round && !(def->radius > 0.0)) return refuse(def, "the radius must be above 0");
    if (def->kind == TY_SHAPE_CYLINDER && !(ty_norm(ty_load3(def->to) - ty_load3(def->from)) > 0.0))
        return refuse(def, "'from' and 'to' are the same point; give the cylinder a length");
    if (def->kind == TY_SHAPE_PLANE && !(ty_norm(ty_load3(def->normal)) > 0.0))
        return refuse(def, "the plane's normal is zero; give it a direction such as [0, 1, 0]");
    if (def->kind == TY_SHAPE_TORUS && !(ty_norm(ty_load3(def->axis)) > 0.0))
        return refuse(def, "the torus' axis is zero; give it a direction such as [0, 1, 0]");
    if (def->kind == TY_SHAPE_TORUS && !(def->tube > 0.0))
        return refuse(def, "the radius of the tube must be above 0");
    for (int axis = 0; def->kind == TY_SHAPE_BOX && axis < 3; ++axis)
        if (!(def->min[axis] < def->max[axis]))
            return refuse(def,
                          "the box is empty: every number of 'min' must be below that of 'max'");
    return ty_ok();
}

// The signed distance of a product of two or three convex sets from their own distances q.
static double corner3(double q0, double q1, double q2)
{
    double a = ty_max(q0, 0.0), b = ty_max(q1, 0.0), c = ty_max(q2, 0.0);
    return sqrt(a * a + b * b + c * c) + ty_min(ty_max(q0, ty_max(q1, q2)), 0.0);
}

static double corner2(double q0, double q1)
{
    double a = ty_max(q0, 0.0), b = ty_max(q1, 0.0);
    return sqrt(a * a + b * b) + ty_min(ty_max(q0, q1), 0.0);
}

static void box(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    const double *lo = def->min, *hi = def->max;
    for (int i = 0; i < n; ++i) {
        double q[3];
        for (int axis = 0; axis < 3; ++axis)
            q[axis] = ty_max(lo[axis] - x[i][axis], x[i][axis] - hi[axis]);
        out[i] = corner3(q[0], q[1], q[2]);
    }
}

static void sphere(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    ty_vec3 center = ty_load3(def->center);
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - center) - def->radius;
}

static void cylinder(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    ty_vec3 from = ty_load3(def->from), span = ty_load3(def->to) - from;
    double length = ty_norm(span);
    ty_vec3 axis = span / length;
    for (int i = 0; i < n; ++i) {
        ty_vec3 r = ty_load3(x[i]) - from;
        double along = ty_dot(r, axis);
        out[i] = corner2(ty_norm(r - along * axis) - def->radius, ty_max(-along, along - length));
    }
}

static void capsule(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    ty_vec3 from = ty_load3(def->from), span = ty_load3(def->to) - from;
    double square = ty_dot(span, span), inverse = square > 0.0 ? 1.0 / square : 0.0;
    for (int i = 0; i < n; ++i) {
        ty_vec3 r = ty_load3(x[i]) - from;
        out[i] = ty_norm(r - ty_clamp(ty_dot(r, span) * inverse, 0.0, 1.0) * span) - def->radius;
    }
}

static void plane(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    ty_vec3 normal = ty_normalize(ty_load3(def->normal)), point = ty_load3(def->point);
    for (int i = 0; i < n; ++i) out[i] = ty_dot(ty_load3(x[i]) - point, normal);
}

static void torus(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    ty_vec3 axis = ty_normalize(ty_load3(def->axis)), center = ty_load3(def->center);
    for (int i = 0; i < n; ++i) {
        ty_vec3 r = ty_load3(x[i]) - center;
        double along = ty_dot(r, axis), ring = ty_norm(r - along * axis) - def->radius;
        out[i] = sqrt(ring * ring + along * along) - def->tube;
    }
}

void ty_primitive_distance(const ty_shape_def* def, int n, const double (*x)[3], double* out)
{
    static void (*const table[])(const ty_shape_def*, int, const double(*)[3], double*) = {
        [TY_SHAPE_BOX] = box,         [TY_SHAPE_SPHERE] = sphere, [TY_SHAPE_CYLINDER] = cylinder,
        [TY_SHAPE_CAPSULE] = capsule, [TY_SHAPE_PLANE] = plane,   [TY_SHAPE_TORUS] = torus};
    table[def->kind](def, n, x, out);
}

// Half the extent of a disc along each coordinate axis: radius * sqrt(1 - axis^2).
static ty_vec3 disc_extent(ty_vec3 axis, double radius)
{
    ty_vec3 e = ty_vec(0, 0, 0);
    for (int i = 0; i < 3; ++i) e[i] = radius * sqrt(ty_max(1.0 - axis[i] * axis[i], 0.0));
    return e;
}

static ty_box around(ty_vec3 a, ty_vec3 b, ty_vec3 extent)
{
    ty_box box;
    ty_store3(box.lo, ty_min3(a, b) - extent);
    ty_store3(box.hi, ty_max3(a, b) + extent);
    return box;
}

ty_box ty_primitive_bounds(const ty_shape_def* def)
{
    ty_vec3 a = ty_load3(def->from), b = ty_load3(def->to), c = ty_load3(def->center);
    ty_vec3 r = def->radius * ty_vec(1, 1, 1), none = ty_vec(0, 0, 0);
    switch (def->kind) {
    case TY_SHAPE_BOX: return around(ty_load3(def->min), ty_load3(def->max), none);
    case TY_SHAPE_SPHERE: return around(c, c, r);
    case TY_SHAPE_CYLINDER: return around(a, b, disc_extent(ty_normalize(b - a), def->radius));
    case TY_SHAPE_CAPSULE: return around(a, b, r);
    case TY_SHAPE_TORUS:
        return around(c, c,
                      disc_extent(ty_normalize(ty_load3(def->axis)), def->radius) +
                          def->tube * ty_vec(1, 1, 1));
    default: return around(none, none, INFINITY * ty_vec(1, 1, 1));
    }
}
