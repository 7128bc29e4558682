// SPDX-License-Identifier: Apache-2.0
// Rays. Boxes are ruled out in floats, in units of the mesh and from where the ray enters the
// mesh's box (so that rounding does not depend on how far away it starts); triangles are hit in
// doubles.
#include "space/bvh.h"
#include "space/simd.h"

// Beyond the margin that boxes have (bvh_fit.c): rounding of t itself, relative and absolute.
static const float T_MARGIN = 0x1p-19f;
static const double ROOT_MARGIN = 0x1p-19;    // the mesh's box is [-1, 1] and this
static const double LEAST_SLOPE = 1e-12;    // smaller components of a unit direction count as this

typedef struct caster {
    const ty_bvh* bvh;
    ty_ray ray;
    double t_min, t_max;
    float origin[3], direction[3], inverse[3],
        reach;               // in units of the mesh from where the ray enters its box
    double length, entry;    // of `direction` in these units; where it enters
} caster;

static void set_reach(caster* c)
{
    double reach = c->t_max * c->length - c->entry;
    c->reach = (float)ty_clamp(reach, -1.0, 8.0) * (1.0f + T_MARGIN) + T_MARGIN;
}

// False when the ray misses the box of the mesh or there is nothing to hit.
static bool begin(caster* c, const ty_bvh* b, ty_vec3 origin, ty_vec3 direction, double t_min,
                  double t_max)
{
    double size = ty_norm(direction);
    if (b->n_nodes == 0 || !(size > 0.0) || !isfinite(size) || !(t_min <= t_max)) return false;
    *c = (caster){.bvh = b, .ray = ty_ray_make(origin, direction), .t_min = t_min, .t_max = t_max};
    c->length = size * b->inverse_scale;
    double from = t_min * c->length, to = t_max * c->length, o[3], d[3];
    for (int axis = 0; axis < 3; ++axis) {
        o[axis] = (origin[axis] - b->centre[axis]) * b->inverse_scale;
        d[axis] = direction[axis] / size;
        if (fabs(d[axis]) < LEAST_SLOPE) d[axis] = copysign(LEAST_SLOPE, d[axis]);
        double low = (-1.0 - ROOT_MARGIN - o[axis]) / d[axis],
               high = (1.0 + ROOT_MARGIN - o[axis]) / d[axis];
        from = ty_max(ty_min(low, high), from);
        to = ty_min(ty_max(low, high), to);
    }
    if (!(from <= to) || !isfinite(from)) return false;
    c->entry = from;
    for (int axis = 0; axis < 3; ++axis) {
        c->origin[axis] = (float)(o[axis] + from * d[axis]);
        c->direction[axis] = (float)d[axis];
        c->inverse[axis] = (float)(1.0 / d[axis]);
    }
    set_reach(c);
    return true;
}

typedef struct entry {
    float t;
    int child;
} entry;

// Children that the ray meets within reach, farthest first; returns how many.
static int children_met(const ty_bvh_node* n, const caster* c, entry* out)
{
    ty_f8 near = ty_f8_all(0.0f), far = ty_f8_all(c->reach);
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 o = ty_f8_all(c->origin[axis]), inverse = ty_f8_all(c->inverse[axis]);
        ty_f8 low = (ty_f8_load(n->lo[axis]) - o) * inverse,
              high = (ty_f8_load(n->hi[axis]) - o) * inverse;
        near = ty_f8_max(near, ty_f8_min(low, high));
        far = ty_f8_min(far, ty_f8_max(low, high));
    }
    unsigned met = ty_i8_bits(near <= far * (1.0f + T_MARGIN) + T_MARGIN) &
                   ((1u << n->n_children) - 1u);
    float t[TY_BVH_WIDTH];
    ty_f8_store(t, near);
    int count = 0;
    for (; met; met &= met - 1) {
        int lane = __builtin_ctz(met), k = count++;
        for (; k > 0 && out[k - 1].t < t[lane]; --k) out[k] = out[k - 1];
        out[k] = (entry){t[lane], n->child[lane]};
    }
    return count;
}

// Triangles of a leaf that the ray may hit: it passes the ball around each one's middle, within
// reach.
static unsigned triangles_met(const ty_bvh_leaf* l, const caster* c)
{
    ty_f8 along = ty_f8_all(0.0f), square = along, to_a = along, to_b = along, to_c = along;
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 ab = ty_f8_load(l->ab[axis]), ac = ty_f8_load(l->ac[axis]),
              middle = (ab + ac) * (1.0f / 3.0f);
        ty_f8 to = ty_f8_load(l->a[axis]) + middle - ty_f8_all(c->origin[axis]);
        along = ty_f8_fma(to, ty_f8_all(c->direction[axis]), along);
        square = ty_f8_fma(to, to, square);
        to_a = ty_f8_fma(middle, middle, to_a);
        to_b = ty_f8_fma(middle - ab, middle - ab, to_b);
        to_c = ty_f8_fma(middle - ac, middle - ac, to_c);
    }
    ty_f8 radius = ty_f8_sqrt(ty_f8_max(ty_f8_max(to_a, to_b), to_c)) * (1.0f + T_MARGIN) +
                   4.0f * T_MARGIN;
    ty_f8 off = square * (1.0f - T_MARGIN) - along * along;
    ty_i8 met = (off <= radius * radius) & (along - radius <= ty_f8_all(c->reach)) &
                (along >= -radius);
    return ty_i8_bits(met) & ((1u << l->n) - 1u);
}

// Calls `hit` for every hit in reach until it returns false. It may shorten t_max (and set_reach).
static void cast(caster* c, bool (*hit)(void* ctx, caster* c, int triangle, const ty_ray_hit* h),
                 void* ctx)
{
    const ty_bvh* b = c->bvh;
    entry stack[TY_BVH_STACK];
    int top = 1;
    stack[0] = (entry){0.0f, 0};
    while (top > 0) {
        entry e = stack[--top];
        if (e.t > c->reach) continue;
        if (e.child >= 0) {
            top += children_met(&b->node[e.child], c, &stack[top]);
            continue;
        }
        const ty_bvh_leaf* l = &b->leaf[~e.child];
        for (unsigned met = triangles_met(l, c); met; met &= met - 1) {
            int k = __builtin_ctz(met);
            const int* v = b->tri[l->id[k]];
            ty_ray_hit h = ty_ray_triangle(&c->ray, ty_load3(b->vert[v[0]]),
                                           ty_load3(b->vert[v[1]]), ty_load3(b->vert[v[2]]));
            if (h.facing && h.t >= c->t_min && h.t <= c->t_max && !hit(ctx, c, l->id[k], &h))
                return;
        }
    }
}

static bool keep_nearest(void* ctx, caster* c, int triangle, const ty_ray_hit* h)
{
    ty_bvh_hit* best = ctx;
    if (best->triangle >= 0 && h->t == best->hit.t && triangle > best->triangle) return true;
    best->triangle = triangle;
    best->hit = *h;
    c->t_max = h->t;
    set_reach(c);
    return true;
}

ty_bvh_hit ty_bvh_nearest_hit(const ty_bvh* b, ty_vec3 origin, ty_vec3 direction, double t_min,
                              double t_max)
{
    ty_bvh_hit best = {.triangle = -1};
    caster c;
    if (begin(&c, b, origin, direction, t_min, t_max)) cast(&c, keep_nearest, &best);
    return best;
}

static bool stop_at_first(void* ctx, caster* c, int triangle, const ty_ray_hit* h)
{
    (void)c;
    (void)triangle;
    (void)h;
    *(bool*)ctx = true;
    return false;
}

bool ty_bvh_any_hit(const ty_bvh* b, ty_vec3 origin, ty_vec3 direction, double t_min, double t_max)
{
    bool any = false;
    caster c;
    if (begin(&c, b, origin, direction, t_min, t_max)) cast(&c, stop_at_first, &any);
    return any;
}

typedef struct tally {
    int crossings, hits;
} tally;

static bool count_hit(void* ctx, caster* c, int triangle, const ty_ray_hit* h)
{
    (void)c;
    (void)triangle;
    tally* t = ctx;
    t->crossings -= h->facing;
    ++t->hits;
    return true;
}

int ty_bvh_crossings(const ty_bvh* b, ty_vec3 origin, ty_vec3 direction, double t_min, double t_max,
                     int* n_hits)
{
    tally t = {0};
    caster c;
    if (begin(&c, b, origin, direction, t_min, t_max)) cast(&c, count_hit, &t);
    if (n_hits) *n_hits = t.hits;
    return t.crossings;
}
