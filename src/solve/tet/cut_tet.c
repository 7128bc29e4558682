// SPDX-License-Identifier: Apache-2.0
#include "solve/tet/cut_tet.h"

// Vertices with positive values, then the others; returns how many are positive.
static int sort_by_sign(const double d[4], int v[4])
{
    int n = 0, last = 4;
    for (int i = 0; i < 4; ++i)
        if (d[i] > 0.0) v[n++] = i;
    for (int i = 3; i >= 0; --i)
        if (!(d[i] > 0.0)) v[--last] = i;
    return n;
}

// How far from vertex a to vertex b the function is zero.
static double zero_at(const double d[4], int a, int b) { return d[a] / (d[a] - d[b]); }

// The corner cut off around vertex a, whose sign stands alone.
static double tip_share(const double d[4], int a)
{
    double share = 1.0;
    for (int k = 1; k < 4; ++k) share *= zero_at(d, a, (a + k) % 4);
    return share;
}

// The wedge on the side of vertices a and b, in three tets with xy the zero on the edge from x to
// y:
//
//   a ---- ae        (a, ac, ae, b), (ac, ae, b, be), (ac, b, bc, be)
//    \ac    |
//     |     |
//   b | -- be
//    \bc
static double wedge_share(const double d[4], int a, int b, int c, int e)
{
    double ac = zero_at(d, a, c), ae = zero_at(d, a, e), bc = zero_at(d, b, c),
           be = zero_at(d, b, e);
    return ac * ae + ac * (1.0 - ae) * be + (1.0 - ac) * bc * be;
}

double ty_tet_open_share(const double d[4])
{
    int v[4];
    switch (sort_by_sign(d, v)) {
    case 0: return 0.0;
    case 1: return tip_share(d, v[0]);
    case 2: return wedge_share(d, v[0], v[1], v[2], v[3]);
    case 3: return 1.0 - tip_share(d, v[3]);
    default: return 1.0;
    }
}

// Adds w times the point between vertices a and b where the function is zero.
static void add_zero(const double d[4], int a, int b, double w, double l[4])
{
    double z = zero_at(d, a, b);
    l[a] += w * (1.0 - z), l[b] += w * z;
}

static void tip_centre(const double d[4], int a, double l[4])
{
    for (int i = 0; i < 4; ++i) l[i] = 0.0;
    l[a] = 0.25;
    for (int k = 1; k < 4; ++k) add_zero(d, a, (a + k) % 4, 0.25, l);
}

static void wedge_centre(const double d[4], int a, int b, int c, int e, double l[4])
{
    double ac = zero_at(d, a, c), ae = zero_at(d, a, e), bc = zero_at(d, b, c),
           be = zero_at(d, b, e);
    double part[3] = {ac * ae, ac * (1.0 - ae) * be, (1.0 - ac) * bc * be},
           all = 4.0 * (part[0] + part[1] + part[2]);
    for (int i = 0; i < 4; ++i) l[i] = 0.0;
    l[a] += part[0] / all, l[b] += 0.25;
    add_zero(d, a, c, 0.25, l);
    add_zero(d, a, e, (part[0] + part[1]) / all, l);
    add_zero(d, b, c, part[2] / all, l);
    add_zero(d, b, e, (part[1] + part[2]) / all, l);
}

void ty_tet_open_centre(const double d[4], double l[4])
{
    int v[4], n = sort_by_sign(d, v);
    if (n == 1) tip_centre(d, v[0], l);
    else if (n == 2) wedge_centre(d, v[0], v[1], v[2], v[3], l);
    else {
        double closed = n == 3 ? tip_share(d, v[3]) : 0.0, tip[4] = {0};
        if (n == 3) tip_centre(d, v[3], tip);
        for (int i = 0; i < 4; ++i)
            l[i] = closed < 1.0 ? (0.25 - closed * tip[i]) / (1.0 - closed) : 0.25;
    }
}

// Corners of the zero set as pairs (positive, other), going round; indices into the vertices sorted
// by sign.
static const int n_corners[4] = {0, 3, 4, 3};
static const int corners[4][4][2] = {
    {{0}}, {{0, 1}, {0, 2}, {0, 3}}, {{0, 2}, {0, 3}, {1, 3}, {1, 2}}, {{0, 3}, {1, 3}, {2, 3}}};

ty_wall_part ty_tet_wall_part(const double d[4], const ty_vec3 x[4])
{
    ty_wall_part wall = {.area = ty_vec(0, 0, 0)};
    int v[4], n_open = sort_by_sign(d, v);
    if (n_open == 0 || n_open == 4) return wall;
    ty_vec3 at[4];
    double b[4][4] = {{0}}, total = 0.0;
    int n = n_corners[n_open];
    for (int k = 0; k < n; ++k) {
        int from = v[corners[n_open][k][0]], to = v[corners[n_open][k][1]];
        double t = zero_at(d, from, to);
        b[k][from] = 1.0 - t, b[k][to] = t;
        at[k] = ty_lerp3(x[from], x[to], t);
    }
    for (int k = 1; k + 1 < n; ++k) {
        ty_vec3 triangle = 0.5 * ty_cross(at[k] - at[0], at[k + 1] - at[0]);
        double size = ty_norm(triangle);
        wall.area += triangle;
        total += size;
        for (int i = 0; i < 4; ++i)
            wall.centre[i] += size / 3.0 * (b[0][i] + b[k][i] + b[k + 1][i]);
    }
    for (int i = 0; i < 4 && total > 0.0; ++i) wall.centre[i] /= total;
    // The function falls from v[0] to v[3].
    if (ty_dot(wall.area, x[v[3]] - x[v[0]]) < 0.0) wall.area = -wall.area;
    return wall;
}

// The corner cut off a triangle around the vertex whose sign stands alone: returns it, and where
// its edges are cut.
static int triangle_tip(const double d[3], int n_open, double t[2])
{
    int tip = 0;
    while ((d[tip] > 0.0) != (n_open == 1)) ++tip;
    for (int k = 0; k < 2; ++k) t[k] = d[tip] / (d[tip] - d[(tip + 1 + k) % 3]);
    return tip;
}

double ty_triangle_open_share(const double d[3])
{
    int n_open = (d[0] > 0.0) + (d[1] > 0.0) + (d[2] > 0.0);
    if (n_open == 0 || n_open == 3) return n_open / 3;
    double t[2];
    triangle_tip(d, n_open, t);
    return n_open == 1 ? t[0] * t[1] : 1.0 - t[0] * t[1];
}

void ty_triangle_open_moments(const double d[3], double moment[3])
{
    int n_open = (d[0] > 0.0) + (d[1] > 0.0) + (d[2] > 0.0);
    double t[2], all = n_open >= 2 ? 1.0 / 3.0 : 0.0, sign = n_open == 1 ? 1.0 : -1.0;
    for (int i = 0; i < 3; ++i) moment[i] = all;
    if (n_open == 0 || n_open == 3) return;
    int tip = triangle_tip(d, n_open, t);
    double share = sign * t[0] * t[1] / 3.0;
    moment[tip] += share * (3.0 - t[0] - t[1]);
    for (int k = 0; k < 2; ++k) moment[(tip + 1 + k) % 3] += share * t[k];
}

// A part of a triangle, by barycentric coordinates.
typedef struct part {
    int n;
    double l[3 + TY_MOST_CUTS][3];
} part;

// Where the function with values d at the triangle's corners is positive.
static void cut_part(part* p, const double d[3])
{
    part from = *p;
    p->n = 0;
    for (int k = 0; k < from.n; ++k) {
        const double *a = from.l[k], *b = from.l[(k + 1) % from.n];
        double at_a = d[0] * a[0] + d[1] * a[1] + d[2] * a[2];
        double at_b = d[0] * b[0] + d[1] * b[1] + d[2] * b[2];
        for (int i = 0; i < 3 && at_a > 0.0; ++i) p->l[p->n][i] = a[i];
        p->n += at_a > 0.0;
        if ((at_a > 0.0) == (at_b > 0.0)) continue;
        double t = at_a / (at_a - at_b);
        for (int i = 0; i < 3; ++i) p->l[p->n][i] = a[i] + t * (b[i] - a[i]);
        ++p->n;
    }
}

void ty_triangle_common_moments(int n, const double (*d)[3], double moment[3])
{
    part p = {.n = 3, .l = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    int n_cuts = 0;
    for (int i = 0; i < n; ++i) {
        if (d[i][0] > 0.0 && d[i][1] > 0.0 && d[i][2] > 0.0) continue;
        cut_part(&p, d[i]);
        ++n_cuts;
    }
    moment[0] = moment[1] = moment[2] = n_cuts ? 0.0 : 1.0 / 3.0;
    if (n_cuts == 0) return;
    for (int k = 1; k + 1 < p.n; ++k) {
        const double *a = p.l[0], *b = p.l[k], *c = p.l[k + 1];
        double share = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
        for (int i = 0; i < 3; ++i) moment[i] += share * (a[i] + b[i] + c[i]) / 3.0;
    }
}
