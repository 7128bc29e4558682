// SPDX-License-Identifier: Apache-2.0
#include "space/winding.h"

#include "space/simd.h"

typedef struct moments {
    ty_vec3 weighted, area;    // sum of area * centroid, of area vectors
    double weight;
} moments;

static moments leaf_moments(const ty_bvh* b, const ty_bvh_leaf* l)
{
    moments m = {0};
    ty_vec3 middle = ty_load3(b->centre);
    for (int k = 0; k < l->n; ++k) {
        ty_vec3 x[3];
        for (int i = 0; i < 3; ++i)
            x[i] = (ty_load3(b->vert[b->tri[l->id[k]][i]]) - middle) * b->inverse_scale;
        ty_vec3 area = 0.5 * ty_cross(x[1] - x[0], x[2] - x[0]);
        double weight = ty_norm(area);
        m.area += area;
        m.weight += weight;
        m.weighted += (weight / 3.0) * (x[0] + x[1] + x[2]);
    }
    return m;
}

static moments node_moments(const ty_winding_node* w, int n_children)
{
    moments m = {0};
    for (int k = 0; k < n_children; ++k) {
        double weight = w->weight[k];
        m.weight += weight;
        m.area += ty_vec(w->area[0][k], w->area[1][k], w->area[2][k]);
        m.weighted += weight * ty_vec(w->centre[0][k], w->centre[1][k], w->centre[2][k]);
    }
    return m;
}

static void set_lane(ty_winding_node* w, const ty_bvh_node* n, int k, const moments* m)
{
    double radius2 = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double lo = n->lo[axis][k], hi = n->hi[axis][k];
        double c = m->weight > 0.0 ? m->weighted[axis] / m->weight : 0.5 * (lo + hi);
        double far = fmax(hi - c, c - lo);
        radius2 += far * far;
        w->centre[axis][k] = (float)c;
        w->area[axis][k] = (float)m->area[axis];
    }
    w->radius[k] = (float)sqrt(radius2);
    w->weight[k] = (float)m->weight;
}

ty_status ty_winding_build(ty_winding* w, const ty_bvh* b)
{
    if (b->n_nodes > w->capacity) {
        w->capacity = 0;
        ty_free(w->node);
        w->node = ty_alloc((size_t)b->n_nodes + (size_t)b->n_nodes / 4, sizeof *w->node);
        if (!w->node) return ty_no_memory("winding numbers");
        w->capacity = b->n_nodes + b->n_nodes / 4;
    }
    for (int i = b->n_nodes - 1; i >= 0; --i) {
        const ty_bvh_node* n = &b->node[i];
        w->node[i] = (ty_winding_node){0};
        for (int k = 0; k < n->n_children; ++k) {
            int child = n->child[k];
            moments m = child < 0 ? leaf_moments(b, &b->leaf[~child])
                                  : node_moments(&w->node[child], b->node[child].n_children);
            set_lane(&w->node[i], n, k, &m);
        }
    }
    return ty_ok();
}

void ty_winding_free(ty_winding* w)
{
    ty_free(w->node);
    *w = (ty_winding){0};
}

// The solid angle of a triangle [VanOosterom1983], positive when x is behind it.
static double solid_angle(ty_vec3 x, const double* p, const double* q, const double* r)
{
    ty_vec3 a = ty_load3(p) - x, b = ty_load3(q) - x, c = ty_load3(r) - x;
    double la = ty_norm(a), lb = ty_norm(b), lc = ty_norm(c);
    double det = ty_dot(a, ty_cross(b, c));
    double den = la * lb * lc + ty_dot(a, b) * lc + ty_dot(b, c) * la + ty_dot(c, a) * lb;
    return det == 0.0 ? 0.0 : 2.0 * atan2(det, den);
}

static double leaf_angle(const ty_bvh* b, const ty_bvh_leaf* l, ty_vec3 x)
{
    double sum = 0.0;
    for (int k = 0; k < l->n; ++k) {
        const int* v = b->tri[l->id[k]];
        sum += solid_angle(x, b->vert[v[0]], b->vert[v[1]], b->vert[v[2]]);
    }
    return sum;
}

// Adds the dipoles of the far children to *angle; returns which are near.
static unsigned far_children(const ty_winding_node* w, const float p[3], float accuracy,
                             double* angle)
{
    ty_f8 r2 = ty_f8_all(0.0f), flux = r2;
    for (int axis = 0; axis < 3; ++axis) {
        ty_f8 v = ty_f8_load(w->centre[axis]) - ty_f8_all(p[axis]);
        r2 += v * v;
        flux += v * ty_f8_load(w->area[axis]);
    }
    ty_f8 reach = ty_f8_load(w->radius) * accuracy;
    ty_i8 far = r2 > reach * reach;
    r2 = ty_f8_max(r2, ty_f8_all(1e-20f));
    ty_f8 dipole = ty_f8_pick(far, flux / (r2 * ty_f8_sqrt(r2)), ty_f8_all(0.0f));
    float each[TY_BVH_WIDTH];
    ty_f8_store(each, dipole);
    for (int k = 0; k < TY_BVH_WIDTH; ++k) *angle += each[k];
    return ~ty_i8_bits(far);
}

double ty_winding_number(const ty_winding* w, const ty_bvh* b, ty_vec3 x, double accuracy)
{
    const float far_enough = 1e6f;    // units of the mesh: beyond, the number is zero to 1e-12
    int stack[TY_BVH_STACK], top = 0;
    float p[3];
    for (int axis = 0; axis < 3; ++axis) {
        p[axis] = (float)((x[axis] - b->centre[axis]) * b->inverse_scale);
        if (!(fabsf(p[axis]) < far_enough)) return 0.0;
    }
    if (b->n_nodes > 0) stack[top++] = 0;
    double angle = 0.0;
    while (top > 0) {
        const ty_bvh_node* n = &b->node[stack[--top]];
        unsigned near = far_children(&w->node[n - b->node], p, (float)accuracy, &angle);
        for (near &= (1u << n->n_children) - 1u; near; near &= near - 1) {
            int child = n->child[__builtin_ctz(near)];
            if (child >= 0) stack[top++] = child;
            else angle += leaf_angle(b, &b->leaf[~child], x);
        }
    }
    return angle / (4.0 * M_PI);
}
