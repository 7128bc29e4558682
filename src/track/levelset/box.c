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

// The divergence theorem for (x, 0, 0).
static double volume(const double p[8], const double cut[12])
{
    int inside = 0;
    for (int k = 0; k < 8; ++k) inside |= (p[k] < 0.0) << k;
    const ty_contour_case* c = &ty_contour_cases()[inside];
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

static bool is_cut(const double p[8], int edge)
{
    int a = ty_contour_edge_corner(edge);
    return (p[a] < 0.0) != (p[a | 1 << (edge >> 2)] < 0.0);
}

double ty_levelset_whole_box(const ty_levelset* ls, const double* values, int64_t low)
{
    const ty_grid* g = &ls->grid;
    double p[8], cut[12];
    int64_t node[8];
    for (int k = 0; k < 8; ++k) {
        node[k] = low + (k & 1) + (k >> 1 & 1) * ty_grid_stride(g, 1) +
                  (k >> 2) * ty_grid_stride(g, 2);
        p[k] = values[node[k]];
    }
    for (int edge = 0; edge < 12; ++edge) {
        if (!is_cut(p, edge)) continue;
        int64_t stride = ty_grid_stride(g, edge >> 2), a = node[ty_contour_edge_corner(edge)];
        double f[4] = {values[a - stride], values[a], values[a + stride], values[a + 2 * stride]};
        cut[edge] = ty_cubic_zero(f);
    }
    return volume(p, cut);
}

// The corners that a side cuts off lie on it, where the values are interpolated.
double ty_levelset_cut_box(const ty_levelset* ls, const double* values, int64_t low)
{
    double x[8][3], p[8], cut[12], from[12][3], to[12][3], fa[12], fb[12], t[12];
    int ijk[3], edges[12], n = 0;
    ty_levelset_field field = {&ls->grid, values};
    ty_sampler phi = {.self = &field, .width = 1, .eval = ty_levelset_eval};
    ty_grid_coords(&ls->grid, low, ijk);
    for (int k = 0; k < 8; ++k) {
        ty_grid_cell_center(&ls->grid, ijk[0] + (k & 1), ijk[1] + (k >> 1 & 1), ijk[2] + (k >> 2),
                            x[k]);
        for (int axis = 0; axis < 3; ++axis)
            x[k][axis] = ty_clamp(x[k][axis], ls->lo[axis], ls->hi[axis]);
    }
    ty_sample(&phi, 8, (const double(*)[3])x, p);
    for (int edge = 0; edge < 12; ++edge) {
        if (!is_cut(p, edge)) continue;
        int a = ty_contour_edge_corner(edge), b = a | 1 << (edge >> 2);
        ty_store3(from[n], ty_load3(x[a]));
        ty_store3(to[n], ty_load3(x[b]));
        fa[n] = p[a];
        fb[n] = p[b];
        edges[n++] = edge;
    }
    ty_find_zeros(&phi, TY_CONTOUR_REFINE, n, (const double(*)[3])from, (const double(*)[3])to, fa,
                  fb, t);
    for (int i = 0; i < n; ++i) cut[edges[i]] = t[i];
    return volume(p, cut);
}
