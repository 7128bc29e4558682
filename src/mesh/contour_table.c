// SPDX-License-Identifier: Apache-2.0
// [Lorensen1987] with the face rule of [Nielson1991] fixed to one choice. On every face the surface
// runs from an edge where the face's boundary, walked counter-clockwise from outside the cell,
// enters the liquid to one where it leaves it. An edge of the cell is entered on one of its two
// faces and left on the other, so these segments close to loops, and the loops run
// counter-clockwise seen from the air.
//
// A loop is cut into triangles by diagonals that join no two edges of one face: such a diagonal
// would lie in the face, the cell behind it could choose it too, and four triangles would share it.
// With one rule for all faces such a triangulation always exists (asserted while the table is
// made); with a choice per face it does not (116 of 656 cases need a vertex in the middle).
#include "mesh/contour_table.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { N_EDGES = 12, MAX_LOOP = 7, NONE = 255 };

static const int8_t FAR = 100;    // more than any sum of squared diagonals

static ty_contour_case cases[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// The corners of a face, counter-clockwise seen from outside the cell.
static void face_corners(int face, int corner[4])
{
    int axis = face >> 1, side = face & 1;
    for (int k = 0; k < 4; ++k) {
        int q = side ? k : 3 - k;
        int u = q == 1 || q == 2, v = q >= 2;
        corner[k] = side << axis | u << (axis + 1) % 3 | v << (axis + 2) % 3;
    }
}

static int edge_between(int a, int b)
{
    int bit = a ^ b, low = a & b, axis = bit >> 1;    // 1, 2, 4 -> 0, 1, 2
    return 4 * axis + (low >> (axis + 1) % 3 & 1) + 2 * (low >> (axis + 2) % 3 & 1);
}

// next[e]: the edge that follows e on its loop; NONE where e is not cut.
static void link_face(int inside, int face, uint8_t next[N_EDGES])
{
    int corner[4];
    face_corners(face, corner);
    for (int k = 0; k < 4; ++k) {
        int from = corner[k], to = corner[(k + 1) & 3];
        if ((inside >> from & 1) || !(inside >> to & 1)) continue;
        // Joined liquid: the segment goes around the air corners behind this edge.
        int m = k;
        while (!(inside >> corner[(m + 3) & 3] & 1)) m = (m + 3) & 3;
        next[edge_between(from, to)] = (uint8_t)edge_between(corner[(m + 3) & 3], corner[m]);
    }
}

static bool share_face(int e, int f)
{
    int a = ty_contour_edge_corner(e), b = a | 1 << (e >> 2);
    int c = ty_contour_edge_corner(f), d = c | 1 << (f >> 2);
    return (a & b & c & d) || (~a & ~b & ~c & ~d & 7);
}

// Squared length between the midpoints of two edges, in quarters of the cell.
static int diagonal_cost(int e, int f)
{
    if (share_face(e, f)) return FAR;
    int sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int x = e >> 2 == axis ? 1 : 2 * (ty_contour_edge_corner(e) >> axis & 1);
        int y = f >> 2 == axis ? 1 : 2 * (ty_contour_edge_corner(f) >> axis & 1);
        sum += (x - y) * (x - y);
    }
    return sum;
}

// The shortest diagonals: best[i][j] is the cost of the part i..j of the loop, apex[i][j] its
// triangle.
static void emit_part(ty_contour_case* c, const uint8_t* loop, uint8_t apex[MAX_LOOP][MAX_LOOP],
                      int i, int j)
{
    if (j < i + 2) return;
    int k = apex[i][j];
    assert(c->n_tris < TY_CONTOUR_MAX_TRIS);
    uint8_t* tri = c->edge[c->n_tris++];
    tri[0] = loop[i];
    tri[1] = loop[k];
    tri[2] = loop[j];
    emit_part(c, loop, apex, i, k);
    emit_part(c, loop, apex, k, j);
}

static void triangulate(ty_contour_case* c, const uint8_t* loop, int n)
{
    int best[MAX_LOOP][MAX_LOOP] = {{0}};
    uint8_t apex[MAX_LOOP][MAX_LOOP] = {{0}};
    for (int length = 2; length < n; ++length)
        for (int i = 0; i + length < n; ++i) {
            int j = i + length;
            best[i][j] = 4 * FAR;
            for (int k = i + 1; k < j; ++k) {
                int cost = best[i][k] + best[k][j];
                if (k > i + 1) cost += diagonal_cost(loop[i], loop[k]);
                if (k < j - 1) cost += diagonal_cost(loop[k], loop[j]);
                if (cost >= best[i][j]) continue;
                best[i][j] = cost;
                apex[i][j] = (uint8_t)k;
            }
        }
    assert(best[0][n - 1] < FAR);
    emit_part(c, loop, apex, 0, n - 1);
}

static void make_case(int inside)
{
    uint8_t next[N_EDGES];
    for (int e = 0; e < N_EDGES; ++e) next[e] = NONE;
    for (int face = 0; face < 6; ++face) link_face(inside, face, next);
    ty_contour_case* c = &cases[inside];
    for (int e = 0; e < N_EDGES; ++e)
        if (next[e] != NONE) c->cut[c->n_cuts++] = (uint8_t)e;
    for (int e = 0; e < N_EDGES; ++e) {
        uint8_t loop[MAX_LOOP];
        int n = 0;
        for (int at = e; next[at] != NONE;) {
            assert(n < MAX_LOOP);
            loop[n++] = (uint8_t)at;
            int to = next[at];
            next[at] = NONE;
            at = to;
        }
        if (n) triangulate(c, loop, n);
    }
}

static void make_all(void)
{
    for (int inside = 0; inside < 256; ++inside) make_case(inside);
}

const ty_contour_case* ty_contour_cases(void)
{
    pthread_once(&once, make_all);
    return cases;
}
