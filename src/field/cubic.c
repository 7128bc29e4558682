// SPDX-License-Identifier: Apache-2.0
#include "field/cubic.h"

static const double KINK = 3.0;    // ratio of neighbouring second differences that no resolved surface has

// The four values of a row; beyond the border they go on linearly.
typedef struct stencil {
    int64_t offset[4];
    double t;
    bool low, high;    // offset[0], offset[3] is beyond the border
    bool single;       // one cell only
} stencil;

static inline stencil place(double s, int n, int64_t stride)
{
    stencil p;
    s = s > 0.0 ? s : 0.0;    // also for NaN
    s = s < n - 1.0 ? s : n - 1.0;
    int base = (int)s;
    base = base < n - 2 ? base : n - 2;
    base = base > 0 ? base : 0;
    p.t = s - base;
    p.low = base == 0;
    p.high = base >= n - 2;
    p.single = n == 1;
    for (int c = 0; c < 4; ++c) {
        int at = base + c - 1;
        at = at < 0 ? 0 : at > n - 1 ? n - 1 : at;
        p.offset[c] = at * stride;
    }
    return p;
}

// Shares of the second differences a and b in the limited ones: a' = aa a + ab b, b' = ba a + bb b.
typedef struct limited {
    double aa, ab, ba, bb;
} limited;

static inline limited limit(double a, double b)
{
    if (!(a * b > 0.0)) return (limited){0.0, 0.0, 0.0, 0.0};
    if (fabs(a) > KINK * fabs(b)) return (limited){0.0, KINK, 0.0, 1.0};
    if (fabs(b) > KINK * fabs(a)) return (limited){1.0, 0.0, KINK, 0.0};
    return (limited){1.0, 0.0, 0.0, 1.0};
}

static inline void extend(const stencil* p, double f[4])
{
    if (p->single) f[2] = f[1];
    if (p->low) f[0] = 2.0 * f[1] - f[2];
    if (p->high) f[3] = 2.0 * f[2] - f[1];
}

static inline double bent(double t, double a, double b) { return 0.5 * t * (1.0 - t) * ((1.0 - t) * a + t * b); }
static inline double bent_slope(double t, double a, double b)
{
    return 0.5 * ((1.0 - 2.0 * t) * ((1.0 - t) * a + t * b) + t * (1.0 - t) * (b - a));
}

// The value along one axis. `slope` gets the derivative when not NULL.
static inline double along(const stencil* p, double f[4], double* slope, limited* shares)
{
    extend(p, f);
    double a = f[0] - 2.0 * f[1] + f[2], b = f[1] - 2.0 * f[2] + f[3];
    limited l = limit(a, b);
    double la = l.aa * a + l.ab * b, lb = l.ba * a + l.bb * b;
    if (slope) *slope = f[2] - f[1] - bent_slope(p->t, la, lb);
    if (shares) *shares = l;
    return f[1] + p->t * (f[2] - f[1]) - bent(p->t, la, lb);
}

// Something that goes along with the values: the same linear combination.
static inline double carried(const stencil* p, double f[4], limited l)
{
    extend(p, f);
    double a = f[0] - 2.0 * f[1] + f[2], b = f[1] - 2.0 * f[2] + f[3];
    return f[1] + p->t * (f[2] - f[1]) - bent(p->t, l.aa * a + l.ab * b, l.ba * a + l.bb * b);
}

static inline void load(const double* v, const stencil* x, double f[4])
{
    for (int i = 0; i < 4; ++i) f[i] = v[x->offset[i]];
}

double ty_cubic_gradient(const ty_cubic* f, const double s[3], double gradient[3])
{
    stencil p[3];
    for (int axis = 0; axis < 3; ++axis) p[axis] = place(s[axis], f->grid->n[axis], ty_grid_stride(f->grid, axis));
    double plane[4], plane_dx[4], plane_dy[4];
    limited shares;
    for (int c = 0; c < 4; ++c) {
        double row[4], row_dx[4];
        for (int b = 0; b < 4; ++b) {
            double v[4];
            load(f->values + p[2].offset[c] + p[1].offset[b], &p[0], v);
            row[b] = along(&p[0], v, &row_dx[b], NULL);
        }
        plane[c] = along(&p[1], row, &plane_dy[c], &shares);
        plane_dx[c] = carried(&p[1], row_dx, shares);
    }
    double dz, value = along(&p[2], plane, &dz, &shares);
    gradient[0] = f->scale * carried(&p[2], plane_dx, shares);
    gradient[1] = f->scale * carried(&p[2], plane_dy, shares);
    gradient[2] = f->scale * dz;
    return f->scale * value;
}

static double value_at(const ty_grid* g, const double* values, const double s[3])
{
    stencil p[3];
    for (int axis = 0; axis < 3; ++axis) p[axis] = place(s[axis], g->n[axis], ty_grid_stride(g, axis));
    double plane[4];
    for (int c = 0; c < 4; ++c) {
        double row[4];
        for (int b = 0; b < 4; ++b) {
            double v[4];
            load(values + p[2].offset[c] + p[1].offset[b], &p[0], v);
            row[b] = along(&p[0], v, NULL, NULL);
        }
        plane[c] = along(&p[1], row, NULL, NULL);
    }
    return along(&p[2], plane, NULL, NULL);
}

void ty_grid_distance(const ty_grid* g, const double* values, int n, const double (*x)[3], double* out)
{
    double inverse = 1.0 / g->cell;
    for (int i = 0; i < n; ++i) {
        double s[3];
        for (int axis = 0; axis < 3; ++axis) s[axis] = (x[i][axis] - g->origin[axis]) * inverse - 0.5;
        out[i] = value_at(g, values, s);
    }
}
