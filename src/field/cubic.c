// SPDX-License-Identifier: Apache-2.0
#include "field/cubic.h"

// Catmull-Rom weights of the values at -1, 0, 1, 2 and their derivatives. A value beyond the border is the linear
// continuation of the two next to it, so its weight goes to those.
static inline void weights(double t, int base, int n, double w[4], double d[4])
{
    double t2 = t * t, t3 = t2 * t;
    w[0] = -0.5 * t3 + t2 - 0.5 * t;
    w[1] = 1.5 * t3 - 2.5 * t2 + 1.0;
    w[2] = -1.5 * t3 + 2.0 * t2 + 0.5 * t;
    w[3] = 0.5 * t3 - 0.5 * t2;
    d[0] = -1.5 * t2 + 2.0 * t - 0.5;
    d[1] = 4.5 * t2 - 5.0 * t;
    d[2] = -4.5 * t2 + 4.0 * t + 0.5;
    d[3] = 1.5 * t2 - t;
    if (base == 0) {
        w[1] += 2.0 * w[0], w[2] -= w[0], w[0] = 0.0;
        d[1] += 2.0 * d[0], d[2] -= d[0], d[0] = 0.0;
    }
    if (base >= n - 2) {
        w[2] += 2.0 * w[3], w[1] -= w[3], w[3] = 0.0;
        d[2] += 2.0 * d[3], d[1] -= d[3], d[3] = 0.0;
    }
    if (n == 1) {
        w[1] = 1.0, w[2] = 0.0;
        d[1] = d[2] = 0.0;
    }
}

static inline int split(double s, int n, double* t)
{
    s = s > 0.0 ? s : 0.0;
    s = s < n - 1.0 ? s : n - 1.0;
    int base = (int)s;
    base = base < n - 2 ? base : n - 2;
    base = base > 0 ? base : 0;
    *t = s - base;
    return base;
}

double ty_cubic_gradient(const ty_cubic* f, const double s[3], double gradient[3])
{
    const ty_grid* g = f->grid;
    double w[3][4], d[3][4];
    int64_t offset[3][4] = {{0}};
    int base[3];
    for (int axis = 0; axis < 3; ++axis) {
        double t;
        int n = g->n[axis];
        base[axis] = split(s[axis], n, &t);
        weights(t, base[axis], n, w[axis], d[axis]);
        for (int c = 0; c < 4; ++c) {
            int at = base[axis] + c - 1;
            at = at < 0 ? 0 : at > n - 1 ? n - 1 : at;
            offset[axis][c] = at * ty_grid_stride(g, axis);
        }
    }
    double value = 0.0, dx = 0.0, dy = 0.0, dz = 0.0;
    for (int c = 0; c < 4; ++c) {
        double plane = 0.0, plane_dx = 0.0, plane_dy = 0.0;
        for (int b = 0; b < 4; ++b) {
            const double* v = f->values + offset[2][c] + offset[1][b];
            double v0 = v[offset[0][0]], v1 = v[offset[0][1]], v2 = v[offset[0][2]], v3 = v[offset[0][3]];
            double row = w[0][0] * v0 + w[0][1] * v1 + w[0][2] * v2 + w[0][3] * v3;
            plane += w[1][b] * row;
            plane_dy += d[1][b] * row;
            plane_dx += w[1][b] * (d[0][0] * v0 + d[0][1] * v1 + d[0][2] * v2 + d[0][3] * v3);
        }
        value += w[2][c] * plane;
        dx += w[2][c] * plane_dx;
        dy += w[2][c] * plane_dy;
        dz += d[2][c] * plane;
    }
    gradient[0] = f->scale * dx;
    gradient[1] = f->scale * dy;
    gradient[2] = f->scale * dz;
    return f->scale * value;
}
