// SPDX-License-Identifier: Apache-2.0
#include "solve/tet/cut_tet.h"

#include <string.h>

// Corners of a piece in barycentric coordinates.
typedef double corner[4];

static void at_vertex(int i, corner out)
{
    memset(out, 0, sizeof(corner));
    out[i] = 1.0;
}

// The fraction t of the way from vertex i to vertex j.
static void on_edge(int i, int j, double t, corner out)
{
    memset(out, 0, sizeof(corner));
    out[i] = 1.0 - t;
    out[j] = t;
}

static void add_piece(ty_open_part* part, double share, corner c[4])
{
    part->share += share;
    for (int i = 0; i < 4; ++i) part->moment[i] += 0.25 * share * (c[0][i] + c[1][i] + c[2][i] + c[3][i]);
}

// The corner cut off around the vertex `tip`, whose sign stands alone.
static ty_open_part tip_part(const double d[4], int tip)
{
    ty_open_part part = {0};
    corner c[4];
    double share = 1.0;
    at_vertex(tip, c[0]);
    for (int k = 1; k < 4; ++k) {
        int j = (tip + k) % 4;
        double t = d[tip] / (d[tip] - d[j]);
        on_edge(tip, j, t, c[k]);
        share *= t;
    }
    add_piece(&part, share, c);
    return part;
}

// The wedge on the side of vertices a and b, in three pieces:
//
//   a ---- ad        (a, ac, ad, b), (ac, ad, b, bd), (ac, b, bc, bd)
//    \ac    |        with xy the point on the edge from x to y where d is zero
//     |     |
//   b | -- bd
//    \bc
static ty_open_part wedge_part(const double d[4], int a, int b, int c, int e)
{
    ty_open_part part = {0};
    double ac = d[a] / (d[a] - d[c]), ad = d[a] / (d[a] - d[e]);
    double bc = d[b] / (d[b] - d[c]), bd = d[b] / (d[b] - d[e]);
    corner at_a, at_b, at_ac, at_ad, at_bc, at_bd, piece[4];
    at_vertex(a, at_a), at_vertex(b, at_b);
    on_edge(a, c, ac, at_ac), on_edge(a, e, ad, at_ad);
    on_edge(b, c, bc, at_bc), on_edge(b, e, bd, at_bd);
    const double* corners[3][4] = {{at_a, at_ac, at_ad, at_b}, {at_ac, at_ad, at_b, at_bd}, {at_ac, at_b, at_bc, at_bd}};
    double share[3] = {ac * ad, ac * (1.0 - ad) * bd, (1.0 - ac) * bc * bd};
    for (int p = 0; p < 3; ++p) {
        for (int k = 0; k < 4; ++k) memcpy(piece[k], corners[p][k], sizeof(corner));
        add_piece(&part, share[p], piece);
    }
    return part;
}

static ty_open_part rest(ty_open_part part)
{
    part.share = 1.0 - part.share;
    for (int i = 0; i < 4; ++i) part.moment[i] = 0.25 - part.moment[i];
    return part;
}

ty_open_part ty_tet_open_part(const double d[4])
{
    int open[4], shut[4], n_open = 0, n_shut = 0;
    for (int i = 0; i < 4; ++i)
        if (d[i] > 0.0) open[n_open++] = i;
        else shut[n_shut++] = i;
    switch (n_open) {
    case 0: return (ty_open_part){0};
    case 1: return tip_part(d, open[0]);
    case 2: return wedge_part(d, open[0], open[1], shut[0], shut[1]);
    case 3: return rest(tip_part(d, shut[0]));
    default: return rest((ty_open_part){0});
    }
}

double ty_triangle_open_share(const double d[3])
{
    int n_open = (d[0] > 0.0) + (d[1] > 0.0) + (d[2] > 0.0);
    if (n_open == 0 || n_open == 3) return n_open / 3;
    for (int i = 0; i < 3; ++i) {
        if ((d[i] > 0.0) != (n_open == 1)) continue;
        double b = d[(i + 1) % 3], c = d[(i + 2) % 3], tip = d[i] / (d[i] - b) * (d[i] / (d[i] - c));
        return n_open == 1 ? tip : 1.0 - tip;
    }
    return 0.0;
}
