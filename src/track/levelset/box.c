// SPDX-License-Identifier: Apache-2.0
// What of a box between eight centres of cells is liquid, as the contour that is written and counted
// has it (track/cut.c): marching cubes whose vertices are the zeros of phi's interpolant along the
// box's edges. In the first frames of a jet what is rounded off at its front counts, and straight
// edges and tetrahedra measure it otherwise.
#include "field/cubic.h"
#include "mesh/contour.h"
#include "mesh/contour_table.h"
#include "track/levelset/levelset.h"

// The area of liquid on a box's upper face along x; liquid at two opposite corners is joined.
static double face_area(const double p[8], const double cut[12])
{
    static const int ring[4] = {1, 3, 7, 5}, edge[4] = {6, 11, 7, 9};
    double area = 0.0, x[8][2];    // liquid corners and cuts, in ring order
    int n = 0;
    for (int k = 0; k < 4; ++k) {
        int here = ring[k], next = ring[(k + 1) % 4], low = here < next ? here : next;
        if (p[here] < 0.0) {
            x[n][0] = here >> 1 & 1;
            x[n++][1] = here >> 2;
        }
        if ((p[here] < 0.0) == (p[next] < 0.0)) continue;
        x[n][0] = low >> 1 & 1;
        x[n][1] = low >> 2;
        x[n++][(here ^ next) >> 2] += cut[edge[k]];
    }
    for (int k = 0; k < n; ++k) {
        int next = (k + 1) % n;
        area += 0.5 * (x[k][0] * x[next][1] - x[k][1] * x[next][0]);
    }
    return area;
}

static const ty_contour_case* case_of(const double p[8])
{
    int inside = 0;
    for (int k = 0; k < 8; ++k) inside |= (p[k] < 0.0) << k;
    return &ty_contour_cases()[inside];
}

// The divergence theorem for (x, 0, 0).
static double volume(const ty_contour_case* c, const double p[8], const double cut[12])
{
    double sum = face_area(p, cut);
    for (int t = 0; t < c->n_tris; ++t) {
        ty_vec3 x[3];
        for (int k = 0; k < 3; ++k) {
            int edge = c->edge[t][k], low = ty_contour_edge_corner(edge);
            double at[3] = {low & 1, low >> 1 & 1, low >> 2};
            at[edge >> 2] += cut[edge];
            x[k] = ty_load3(at);
        }
        double area = 0.5 * ty_cross(x[1] - x[0], x[2] - x[0])[0];
        sum += area * (x[0][0] + x[1][0] + x[2][0]) / 3.0;
    }
    return sum;
}

double ty_levelset_whole_box(const ty_levelset* ls, const double* values, int64_t low)
{
    const ty_grid* g = &ls->grid;
    double p[8], cut[12], f[12][4], zero[12];
    int64_t node[8];
    for (int k = 0; k < 8; ++k) {
        node[k] = low + (k & 1) + (k >> 1 & 1) * ty_grid_stride(g, 1) +
                  (k >> 2) * ty_grid_stride(g, 2);
        p[k] = values[node[k]];
    }
    const ty_contour_case* c = case_of(p);
    for (int i = 0; i < c->n_cuts; ++i) {
        int64_t stride = ty_grid_stride(g, c->cut[i] >> 2);
        const double* at = values + node[ty_contour_edge_corner(c->cut[i])];
        for (int k = 0; k < 4; ++k) f[i][k] = at[(k - 1) * stride];
    }
    ty_cubic_zeros(c->n_cuts, (const double(*)[4])f, zero);
    for (int i = 0; i < c->n_cuts; ++i) cut[c->cut[i]] = zero[i];
    return volume(c, p, cut);
}

// phi at t after a centre along an axis.
static inline double along(const double* at, int64_t stride, double t)
{
    const double f[4] = {at[-stride], at[0], at[stride], at[2 * stride]};
    return ty_cubic_value(f, t);
}

// phi t[axis] cells after a centre along each of the first n axes.
static double value_at(const double* at, const int64_t stride[3], const double t[3], int n)
{
    while (n > 0 && t[n - 1] == 0.0) --n;
    if (n == 0) return *at;
    int lower = n - 1;
    while (lower > 0 && t[lower - 1] == 0.0) --lower;
    if (lower == 0) return along(at, stride[n - 1], t[n - 1]);
    double f[4];
    for (int k = 0; k < 4; ++k) f[k] = value_at(at + (k - 1) * stride[n - 1], stride, t, lower);
    return ty_cubic_value(f, t[n - 1]);
}

// The zero between a corner at t[] after the centre `at` and the next one along an axis, as a share
// of the edge; p, q: phi at the two.
static double cut_of(const double* at, const int64_t stride[3], const double t[3], int axis,
                     double from, double to, double p, double q)
{
    double f[4], across[3] = {t[0], t[1], t[2]};
    across[axis] = 0.0;
    bool whole = from == 0.0 && to == 1.0;    // then the middle two are known
    for (int k = 0; k < 4; ++k)
        f[k] = whole && k == 1   ? p
               : whole && k == 2 ? q
                                 : value_at(at + (k - 1) * stride[axis], stride, across, 3);
    if (whole) return ty_cubic_zero(f);
    return (ty_cubic_zero_between(f, from, to) - from) / (to - from);
}

// The corners that a side cuts off lie on it, where the values are interpolated.
double ty_levelset_cut_box(const ty_levelset* ls, const double* values, int64_t low,
                           const double from[3], const double to[3])
{
    double t[8][3], p[8], cut[12];
    const double* at[8];
    int64_t stride[3];
    for (int axis = 0; axis < 3; ++axis) stride[axis] = ty_grid_stride(&ls->grid, axis);
    for (int k = 0; k < 8; ++k) {
        at[k] = values + low;
        for (int axis = 0; axis < 3; ++axis) {
            t[k][axis] = k >> axis & 1 ? to[axis] : from[axis];
            if (t[k][axis] < 1.0) continue;
            at[k] += stride[axis];
            t[k][axis] = 0.0;
        }
        p[k] = value_at(at[k], stride, t[k], 3);
    }
    const ty_contour_case* c = case_of(p);
    for (int i = 0; i < c->n_cuts; ++i) {
        int edge = c->cut[i], axis = edge >> 2, k = ty_contour_edge_corner(edge);
        cut[edge] = cut_of(at[k], stride, t[k], axis, from[axis], to[axis], p[k], p[k | 1 << axis]);
    }
    return volume(c, p, cut);
}
