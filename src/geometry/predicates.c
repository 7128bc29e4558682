// SPDX-License-Identifier: Apache-2.0
// Expansions are sums of doubles that do not overlap, smallest first [Shewchuk1997] section 2. The
// exact stage is written for clarity, not speed: the filter lets it run only within rounding of
// degeneracy. Departs: two stages (filter, exact) instead of four, because the middle ones pay only
// on inputs that are nearly all degenerate.
#include "geometry/predicates.h"

#include <math.h>

enum {
    DIFF = 2,                       // components of a difference
    MINOR = 2 * 2 * DIFF * DIFF,    // of a 2 x 2 determinant of differences
    TERM = 2 * MINOR * DIFF,        // of a minor times a difference
    DET3 = 3 * TERM
};

// Half an ulp of 1 times the number of roundings, after [Shewchuk1997] (7 + 56 eps) eps and (3 + 16
// eps) eps.
static const double ORIENT3D_FILTER = 7.7715611723761027e-16;
static const double ORIENT2D_FILTER = 3.3306690738754716e-16;

static void two_sum(double a, double b, double* sum, double* error)
{
    *sum = a + b;
    double b_virtual = *sum - a;
    *error = (a - (*sum - b_virtual)) + (b - b_virtual);
}

static int difference(double a, double b, double out[DIFF])
{
    two_sum(a, -b, &out[1], &out[0]);
    return DIFF;
}

// h = e + b, one component more than e; h may be e.
static int grow(int n, const double* e, double b, double* h)
{
    for (int i = 0; i < n; ++i) {
        double sum, error;
        two_sum(b, e[i], &sum, &error);
        h[i] = error;
        b = sum;
    }
    h[n] = b;
    return n + 1;
}

// h += e, by growing with one component at a time; zeros are dropped.
static int add(int n, double* h, int m, const double* e)
{
    for (int i = 0; i < m; ++i) {
        n = grow(n, h, e[i], h);
        int kept = 0;
        for (int k = 0; k < n; ++k)
            if (h[k] != 0.0) h[kept++] = h[k];
        n = kept;
    }
    return n;
}

// h = e * f; fma gives the exact error of a product.
static int multiply(int n, const double* e, int m, const double* f, double* h)
{
    int size = 0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < m; ++k) {
            double product = e[i] * f[k];
            double pair[2] = {fma(e[i], f[k], -product), product};
            size = add(size, h, 2, pair);
        }
    return size;
}

// h = p q - r s for differences p, q, r, s.
static int minor(const double* p, const double* q, const double* r, const double* s, double* h)
{
    double product[MINOR], minus_r[DIFF] = {-r[0], -r[1]};
    int n = multiply(DIFF, p, DIFF, q, h);
    int m = multiply(DIFF, minus_r, DIFF, s, product);
    return add(n, h, m, product);
}

// The largest component is the last and carries the sign.
static int sign_of(int n, const double* e)
{
    return n == 0 ? 0 : (e[n - 1] > 0.0) - (e[n - 1] < 0.0);
}

static int orient3d_exact(const double a[3], const double b[3], const double c[3],
                          const double d[3])
{
    double u[3][DIFF], v[3][DIFF], w[3][DIFF], det[DET3];
    for (int axis = 0; axis < 3; ++axis) {
        difference(b[axis], a[axis], u[axis]);
        difference(c[axis], a[axis], v[axis]);
        difference(d[axis], a[axis], w[axis]);
    }
    int n = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int y = (axis + 1) % 3, z = (axis + 2) % 3;
        double m[MINOR], term[TERM];
        int n_minor = minor(u[y], v[z], u[z], v[y], m);
        int n_term = multiply(n_minor, m, DIFF, w[axis], term);
        n = add(n, det, n_term, term);
    }
    return sign_of(n, det);
}

int ty_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double u[3], v[3], w[3], det = 0.0, bound = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = b[axis] - a[axis];
        v[axis] = c[axis] - a[axis];
        w[axis] = d[axis] - a[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        int y = (axis + 1) % 3, z = (axis + 2) % 3;
        double p = u[y] * v[z], q = u[z] * v[y];
        det += (p - q) * w[axis];
        bound += (fabs(p) + fabs(q)) * fabs(w[axis]);
    }
    if (fabs(det) > ORIENT3D_FILTER * bound) return det > 0.0 ? 1 : -1;
    return orient3d_exact(a, b, c, d);
}

int ty_orient2d(const double a[2], const double b[2], const double c[2])
{
    double p = (b[0] - a[0]) * (c[1] - a[1]), q = (b[1] - a[1]) * (c[0] - a[0]);
    double det = p - q;
    if (fabs(det) > ORIENT2D_FILTER * (fabs(p) + fabs(q))) return det > 0.0 ? 1 : -1;
    double u[2][DIFF], v[2][DIFF], m[MINOR];
    for (int axis = 0; axis < 2; ++axis) {
        difference(b[axis], a[axis], u[axis]);
        difference(c[axis], a[axis], v[axis]);
    }
    return sign_of(minor(u[0], v[1], u[1], v[0], m), m);
}
