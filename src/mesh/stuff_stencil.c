// SPDX-License-Identifier: Apache-2.0
// The one consistency condition is the face rule. A face with p, q inside and r outside leaves a
// quad p, q, cut(q r), cut(p r); its diagonal goes
//   from the cut of the long edge, when that is cut, to the vertex opposite it;
//   else (p q is the long edge) by parity: count the coordinates in which p exceeds r. Exactly one of p, q has
//   an odd count; the diagonal leaves from it when p, q are octant corners, from the other one when they are
//   centres, and ends at the other vertex's cut.
// On the wedge's third quad, which lies on the surface, it is what lets the wedge be cut into
// three.
#include "mesh/stuff_stencil.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#include "core/vec.h"
#include "mesh/tet_shapes.h"

static ty_stencil stencils[12 * TY_N_PATTERNS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

typedef struct maker {
    const ty_tet_shape* shape;
    ty_stencil* out;
} maker;

static bool is_long(int i, int j) { return (i ^ j) == 1; }    // 01 and 23

static bool odd_count(const maker* k, int p, int r)
{
    int count = 0;
    for (int axis = 0; axis < 3; ++axis) count += k->shape->at[p][axis] > k->shape->at[r][axis];
    return count & 1;
}

// The inside vertex from which the diagonal of the quad of face (p, q | r) leaves.
static int diagonal_from(const maker* k, int p, int q, int r)
{
    if (is_long(p, r)) return q;
    if (is_long(q, r)) return p;
    bool corners = p < 2;
    return odd_count(k, p, r) == corners ? p : q;
}

// Nominal place of a corner: cuts at the middle of their edges.
static ty_vec3 corner_at(const maker* k, int corner)
{
    static const uint8_t end[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    if (corner >= 4)
        return 0.5 * (corner_at(k, end[corner - 4][0]) + corner_at(k, end[corner - 4][1]));
    return ty_vec(k->shape->at[corner][0], k->shape->at[corner][1], k->shape->at[corner][2]);
}

static void add(const maker* k, int a, int b, int c, int d)
{
    ty_vec3 o = corner_at(k, a);
    double det = ty_dot(corner_at(k, b) - o, ty_cross(corner_at(k, c) - o, corner_at(k, d) - o));
    assert(det != 0.0 && k->out->n_tets < 3);
    uint8_t* corner = k->out->corner[k->out->n_tets++];
    corner[0] = (uint8_t)a;
    corner[1] = (uint8_t)b;
    corner[2] = (uint8_t)(det > 0.0 ? c : d);
    corner[3] = (uint8_t)(det > 0.0 ? d : c);
}

// Pyramid over the quad of face (p, q | r): two tetrahedra.
static void add_pyramid(const maker* k, int p, int q, int r, int apex)
{
    int pr = ty_cut_corner(p, r), qr = ty_cut_corner(q, r);
    if (diagonal_from(k, p, q, r) == p) {
        add(k, p, q, qr, apex);
        add(k, p, qr, pr, apex);
    } else {
        add(k, p, q, pr, apex);
        add(k, q, qr, pr, apex);
    }
}

// a, b inside, c, d outside: the wedge (a, ac, ad), (b, bc, bd).
static void add_wedge(const maker* k, int a, int b, int c, int d)
{
    if (diagonal_from(k, a, b, c) != a) {    // then the other face splits from a: take it as c's
        int swap = c;
        c = d;
        d = swap;
    }
    assert(diagonal_from(k, a, b, c) == a && diagonal_from(k, a, b, d) == b);
    int ac = ty_cut_corner(a, c), ad = ty_cut_corner(a, d);
    int bc = ty_cut_corner(b, c), bd = ty_cut_corner(b, d);
    add(k, a, ac, ad, bc);
    add(k, b, bc, bd, ad);
    add(k, a, b, bc, ad);
}

static void add_cut(const maker* k, const int in[4], const int out[4], const int on[4], int n_in,
                    int n_out)
{
    if (n_in == 1) {
        int corner[3];
        for (int i = 0; i < n_out; ++i) corner[i] = ty_cut_corner(in[0], out[i]);
        for (int i = n_out; i < 3; ++i) corner[i] = on[i - n_out];
        add(k, in[0], corner[0], corner[1], corner[2]);
    } else if (n_in == 2 && n_out == 1) {
        add_pyramid(k, in[0], in[1], out[0], on[0]);
    } else if (n_in == 2) {
        add_wedge(k, in[0], in[1], out[0], out[1]);
    } else {
        int d = out[0], a = d ^ 1;    // joined by the long edge
        int b = (a & 2) ^ 2, c = b + 1, ad = ty_cut_corner(a, d);
        add(k, a, b, c, ad);
        add_pyramid(k, b, c, d, ad);
    }
}

static void make_stencil(maker* k, int pattern)
{
    int in[4] = {0}, out[4] = {0}, on[4] = {0}, n_in = 0, n_out = 0, n_on = 0;
    for (int i = 0, p = pattern; i < 4; ++i, p /= 3) {
        if (p % 3 == 0) in[n_in++] = i;
        else if (p % 3 == 1) on[n_on++] = i;
        else out[n_out++] = i;
    }
    if (n_in == 0) return;
    if (n_out > 0) {
        add_cut(k, in, out, on, n_in, n_out);
        return;
    }
    k->out->whole = 1;
    add(k, 0, 1, 2, 3);
}

static void make_all(void)
{
    for (int shape = 0; shape < 12; ++shape)
        for (int pattern = 0; pattern < TY_N_PATTERNS; ++pattern) {
            maker k = {&ty_tet_shapes()[shape], &stencils[shape * TY_N_PATTERNS + pattern]};
            make_stencil(&k, pattern);
        }
}

const ty_stencil* ty_stencils(void)
{
    pthread_once(&once, make_all);
    return stencils;
}
