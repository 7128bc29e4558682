// SPDX-License-Identifier: Apache-2.0
// Exhaustive: every pattern of signs in every orientation, every warped vertex at every extreme
// place, every cut at both ends of its range.
#include "mesh/stuff_stencil.h"

#include <math.h>
#include <string.h>

#include "core/vec.h"
#include "mesh/stuff.h"
#include "mesh/tet_mesh.h"
#include "test.h"

typedef struct extremes {
    double least, most, least_volume;
    long n_tets;
} extremes;

enum { N_PLACES = 15 };    // itself and the ends of 14 moves

// Moves of a lattice vertex in cells: 6 long edges, 8 short ones.
static ty_vec3 move_of(int i)
{
    if (i == 0) return ty_vec(0, 0, 0);
    if (i <= 6) {
        ty_vec3 d = ty_vec(0, 0, 0);
        d[(i - 1) / 2] = (i & 1 ? 1.0 : -1.0) * TY_ALPHA_LONG;
        return d;
    }
    int v = i - 7;
    return 0.5 * TY_ALPHA_SHORT * ty_vec(v & 1 ? 1 : -1, v & 2 ? 1 : -1, v & 4 ? 1 : -1);
}

// Where vertex i of the tet goes with move m: the vertex at the end of that edge, -1 when it is
// none of the tet.
static int target(int shape, int i, int m)
{
    const int8_t(*at)[3] = ty_tet_shapes()[shape].at;
    ty_vec3 step = m == 0 ? move_of(0)
                          : move_of(m) * 2.0 / (m <= 6 ? TY_ALPHA_LONG : TY_ALPHA_SHORT);
    for (int j = 0; j < 4 && m; ++j) {
        bool same = true;
        for (int axis = 0; axis < 3; ++axis)
            same &= at[j][axis] == at[i][axis] + (int)lrint(step[axis]);
        if (same) return j;
    }
    return -1;
}

// Two vertices cannot have moved to the cut of one edge.
static bool is_possible(int shape, const int move[4])
{
    for (int i = 0; i < 4; ++i) {
        int j = target(shape, i, move[i]);
        if (j >= 0 && target(shape, j, move[j]) == i) return false;
    }
    return true;
}

static void measure(const ty_stencil* s, const ty_vec3 at[10], extremes* e)
{
    for (int t = 0; t < s->n_tets; ++t) {
        double v[4][3], angle[6];
        for (int i = 0; i < 4; ++i) ty_store3(v[i], at[s->corner[t][i]]);
        ty_vec3 o = ty_load3(v[0]);
        double six = ty_dot(ty_load3(v[1]) - o, ty_cross(ty_load3(v[2]) - o, ty_load3(v[3]) - o));
        e->least_volume = fmin(e->least_volume, six);
        ty_dihedral_angles(v, angle);
        for (int k = 0; k < 6; ++k) {
            e->least = fmin(e->least, angle[k]);
            e->most = fmax(e->most, angle[k]);
        }
        ++e->n_tets;
    }
}

// Runs through all places of the vertices on the surface and all ends of the cuts: digits of
// `state`.
static void enumerate(int shape, int pattern, extremes* e)
{
    static const int end[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const ty_stencil* s = &ty_stencils()[shape * TY_N_PATTERNS + pattern];
    int sign[4], n_states = 1, on[4], cut[6];
    for (int i = 0, p = pattern; i < 4; ++i, p /= 3) {
        sign[i] = p % 3 - 1;
        on[i] = sign[i] == 0;
        if (on[i]) n_states *= N_PLACES;
    }
    for (int k = 0; k < 6; ++k) {
        cut[k] = sign[end[k][0]] * sign[end[k][1]] < 0;
        if (cut[k]) n_states *= 2;
    }
    if (!s->n_tets) return;
    for (int state = 0; state < n_states; ++state) {
        ty_vec3 at[10];
        int rest = state, move[4] = {0};
        for (int i = 0; i < 4; ++i) {
            const int8_t* x = ty_tet_shapes()[shape].at[i];
            at[i] = 0.5 * ty_vec(x[0], x[1], x[2]);
            if (!on[i]) continue;
            move[i] = rest % N_PLACES;
            at[i] += move_of(move[i]);
            rest /= N_PLACES;
        }
        if (!is_possible(shape, move)) continue;
        for (int k = 0; k < 6; ++k) {
            if (!cut[k]) continue;
            double alpha = k == 0 || k == 5 ? TY_ALPHA_LONG : TY_ALPHA_SHORT;
            at[4 + k] = ty_lerp3(at[end[k][0]], at[end[k][1]], rest & 1 ? alpha : 1.0 - alpha);
            rest >>= 1;
        }
        measure(s, at, e);
    }
}

static extremes enumerate_all(int shape)
{
    extremes e = {180.0, 0.0, 1.0, 0};
    for (int pattern = 0; pattern < TY_N_PATTERNS; ++pattern) enumerate(shape, pattern, &e);
    assert_true(e.n_tets > 10000);
    assert_true(e.least_volume > 0.0);
    assert_true(e.least >= TY_MIN_DIHEDRAL && e.most <= TY_MAX_DIHEDRAL);
    return e;
}

static void every_angle_is_within_the_bound(void** state)
{
    (void)state;
    for (int shape = 0; shape < 12; ++shape) {
        extremes e = enumerate_all(shape);
        assert_near(e.least, 10.784, 0.005);    // what others found by the same enumeration
        assert_near(e.most, 164.74, 0.01);
    }
}

// The triangles a stencil puts on face `face` (opposite vertex `face`), as bit sets of corners, by
// the places of corners.
static int triangles_on_face(const ty_stencil* s, int face, int out[8])
{
    int on_face = 0, n = 0;
    for (int i = 0; i < 4; ++i) on_face |= (i != face) << i;
    static const int end[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int k = 0; k < 6; ++k)
        if (end[k][0] != face && end[k][1] != face) on_face |= 1 << (4 + k);
    for (int t = 0; t < s->n_tets; ++t)
        for (int i = 0; i < 4; ++i) {
            int set = 0;
            for (int j = 0; j < 4; ++j)
                if (j != i) set |= 1 << s->corner[t][j];
            if ((set & ~on_face) == 0) out[n++] = set;
        }
    return n;
}

// Corner c of one tet in the numbering of another that shares vertices: map[i] = its vertex i
// there.
static int translate(int set, const int map[4])
{
    static const int end[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    int out = 0;
    for (int i = 0; i < 4; ++i)
        if (set >> i & 1) out |= 1 << map[i];
    for (int k = 0; k < 6; ++k)
        if (set >> (4 + k) & 1) out |= 1 << ty_cut_corner(map[end[k][0]], map[end[k][1]]);
    return out;
}

static bool same_place(const int8_t a[3], const int8_t b[3], const int shift[3])
{
    return a[0] == b[0] + shift[0] && a[1] == b[1] + shift[1] && a[2] == b[2] + shift[2];
}

// Compares both sides of a face for all signs of its three vertices.
static int compare_sides(int p, int q, int face_p, int face_q, const int map[4])
{
    int n_compared = 0;
    for (int pattern = 0; pattern < TY_N_PATTERNS; ++pattern) {
        int sign[4], other[4] = {0}, a[8], b[8];
        for (int i = 0, x = pattern; i < 4; ++i, x /= 3) sign[i] = x % 3 - 1;
        for (int i = 0; i < 4; ++i)
            if (i != face_p) other[map[i]] = sign[i];
        other[face_q] = -1;
        if (sign[face_p] != -1) continue;    // the apexes are inside: both sides are filled
        int there = ty_pattern(other[0], other[1], other[2], other[3]);
        int n = triangles_on_face(&ty_stencils()[p * TY_N_PATTERNS + pattern], face_p, a);
        int m = triangles_on_face(&ty_stencils()[q * TY_N_PATTERNS + there], face_q, b);
        assert_int_equal(n, m);
        for (int i = 0; i < n; ++i) {
            bool found = false;
            for (int j = 0; j < m; ++j) found |= translate(a[i], map) == b[j];
            assert_true(found);
        }
        n_compared += n;
    }
    return n_compared;
}

// All pairs of lattice tets that share a face, found by place: a corner must stay a corner, so
// shifts are even.
static void neighbours_agree_on_every_face(void** state)
{
    (void)state;
    int n_pairs = 0;
    for (int p = 0; p < 12; ++p)
        for (int q = 0; q < 12; ++q)
            for (int n = 0; n < 125; ++n) {
                int shift[3] = {2 * (n % 5) - 4, 2 * (n / 5 % 5) - 4, 2 * (n / 25) - 4}, map[4],
                    n_shared = 0;
                int face_p = -1, seen = 0;
                for (int i = 0; i < 4; ++i) {
                    map[i] = -1;
                    for (int j = 0; j < 4; ++j)
                        if (same_place(ty_tet_shapes()[p].at[i], ty_tet_shapes()[q].at[j], shift))
                            map[i] = j;
                    if (map[i] < 0) face_p = i;
                    else ++n_shared, seen |= 1 << map[i];
                }
                if (n_shared != 3) continue;
                int face_q = __builtin_ctz(~(unsigned)seen);
                map[face_p] = face_q;
                assert_true(compare_sides(p, q, face_p, face_q, map) > 0);
                ++n_pairs;
            }
    assert_int_equal(n_pairs, 12 * 4);    // every face of every orientation has one neighbour
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_angle_is_within_the_bound),
        cmocka_unit_test(neighbours_agree_on_every_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
