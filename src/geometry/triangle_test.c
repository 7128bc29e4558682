// SPDX-License-Identifier: Apache-2.0
#include "geometry/triangle.h"

#include "core/hash.h"
#include "geometry/triangle_four.h"
#include "test.h"

static ty_vec3 random_vec(uint64_t seed, double size)
{
    return size * (ty_vec(ty_unit(ty_mix2(seed, 1)), ty_unit(ty_mix2(seed, 2)),
                          ty_unit(ty_mix2(seed, 3))) -
                   0.5);
}

// The least distance over a barycentric grid, refined around the best: never less than the truth.
static double sampled_distance(ty_vec3 p, ty_vec3 a, ty_vec3 b, ty_vec3 c)
{
    double best = INFINITY, bu = 0.5, bv = 0.5;
    for (double width = 1.0; width > 1e-9; width *= 0.5) {
        double u0 = bu, v0 = bv;
        for (int i = -8; i <= 8; ++i)
            for (int j = -8; j <= 8; ++j) {
                double u = ty_clamp(u0 + i * width / 8, 0.0, 1.0),
                       v = ty_clamp(v0 + j * width / 8, 0.0, 1.0 - u);
                double d = ty_norm(p - (a + u * (b - a) + v * (c - a)));
                if (d < best) best = d, bu = u, bv = v;
            }
    }
    return best;
}

static void closest_point_is_the_closest(void** state)
{
    (void)state;
    int seen[7] = {0};
    for (uint64_t n = 0; n < 2000; ++n) {
        ty_vec3 a = random_vec(4 * n, 2), b = random_vec(4 * n + 1, 2),
                c = random_vec(4 * n + 2, 2);
        ty_vec3 p = random_vec(4 * n + 3, 3);
        if (n % 5 == 0) c = a + 1e-5 * (c - a) + 0.7 * (b - a);    // thin
        ty_closest r = ty_closest_on_triangle(p, a, b, c);
        assert_true(sqrt(r.distance2) <= sampled_distance(p, a, b, c) + 1e-12);    // none closer
        assert_near(ty_norm(p - r.point), sqrt(r.distance2), 1e-12);
        ++seen[r.feature];
        if (r.feature >= TY_VERTEX) {
            ty_vec3 corner = r.feature == TY_VERTEX ? a : r.feature == TY_VERTEX + 1 ? b : c;
            assert_true(ty_norm(corner - r.point) == 0.0);
        } else if (r.feature >= TY_EDGE) {
            ty_vec3 x[3] = {a, b, c}, from = x[r.feature - 1], to = x[r.feature % 3];
            assert_near(ty_norm(ty_cross(r.point - from, to - from)), 0.0, 1e-12);
            double t = ty_dot(r.point - from, to - from) / ty_dot(to - from, to - from);
            assert_true(t >= 0.0 && t <= 1.0);
        } else {
            ty_vec3 normal = ty_normalize(ty_cross(b - a, c - a)), x[3] = {a, b, c};
            for (int k = 0; k < 3; ++k) {    // on the triangle: on the inner side of every edge
                ty_vec3 inward = ty_cross(normal, ty_normalize(x[(k + 1) % 3] - x[k]));
                assert_true(ty_dot(inward, r.point - x[k]) >= -1e-12);
            }
            assert_near(fabs(ty_dot(normal, p - r.point)), ty_norm(p - r.point), 1e-9);
        }
    }
    for (int f = 0; f < 7; ++f) assert_true(seen[f] > 20);
}

// Thin triangles and points at edges and corners among them.
static void four_faces_at_once_are_answered_as_one_by_one(void** state)
{
    (void)state;
    int inside = 0;
    for (uint64_t n = 0; n < 2000; ++n) {
        ty_vec3 p[4], corner[3][4];
        ty_closest four[4];
        for (uint64_t i = 0; i < 4; ++i) {
            uint64_t seed = 16 * n + 4 * i;
            for (uint64_t k = 0; k < 3; ++k) corner[k][i] = random_vec(seed + k, 2);
            ty_vec3 a = corner[0][i], b = corner[1][i];
            p[i] = random_vec(seed + 3, 3);
            if (seed % 5 == 0) corner[2][i] = a + 1e-8 * corner[2][i] + 0.7 * (b - a);
            if (seed % 7 == 0) p[i] = a + (seed % 3) * 0.5 * (b - a);
        }
        ty_l4 mask = ty_closest_on_faces(p, corner, four);
        for (int i = 0; i < 4; ++i) {
            ty_closest one = ty_closest_on_triangle(p[i], corner[0][i], corner[1][i], corner[2][i]);
            assert_true((mask[i] != 0) == (one.feature == TY_FACE));
            if (!mask[i]) continue;
            ++inside;
            assert_true(four[i].distance2 == one.distance2 && four[i].feature == TY_FACE);
            for (int axis = 0; axis < 3; ++axis)
                assert_true(four[i].point[axis] == one.point[axis]);
        }
    }
    assert_true(inside > 400);
}

static void degenerate_triangles_are_segments_and_points(void** state)
{
    (void)state;
    ty_vec3 a = ty_vec(0, 0, 0), b = ty_vec(1, 0, 0), p = ty_vec(0.4, 1, 0);
    assert_near(ty_closest_on_triangle(p, a, b, a).distance2, 1.0, 0.0);
    assert_near(ty_closest_on_triangle(p, a, b, ty_vec(2, 0, 0)).distance2, 1.0, 0.0);
    assert_near(ty_closest_on_triangle(p, b, ty_vec(2, 0, 0), a).distance2, 1.0, 0.0);
    assert_near(ty_closest_on_triangle(p, a, a, a).distance2, 1.16, 1e-15);
    assert_near(ty_closest_on_triangle(p, b, b, a).distance2, 1.0, 0.0);
}

static void a_ray_through_an_edge_hits_one_neighbour(void** state)
{
    (void)state;
    // A fan around the origin; rays through its centre, edges and corners.
    enum { N = 8 };
    ty_vec3 ring[N];
    for (int k = 0; k < N; ++k) {
        static const double corner[N][2] = {{2, 0},  {2, 2},   {0, 2},  {-2, 2},
                                            {-2, 0}, {-2, -2}, {0, -2}, {2, -2}};
        ring[k] = ty_vec(corner[k][0], corner[k][1], 0);
    }
    for (int i = -3; i <= 3; ++i)
        for (int j = -3; j <= 3; ++j)
            for (int down = 0; down < 2; ++down) {
                ty_ray ray = ty_ray_make(ty_vec(0.5 * i, 0.5 * j, down ? 3 : -3),
                                         ty_vec(0, 0, down ? -2 : 2));
                int hits = 0;
                for (int k = 0; k < N; ++k) {
                    ty_ray_hit h = ty_ray_triangle(&ray, ty_vec(0, 0, 0), ring[k],
                                                   ring[(k + 1) % N]);
                    if (!h.facing) continue;
                    ++hits;
                    assert_near(h.t, 1.5, 1e-15);
                    assert_near(h.u + h.v + h.w, 1.0, 1e-15);
                    assert_int_equal(h.facing, down ? 1 : -1);
                }
                assert_int_equal(hits, 1);
            }
}

static bool meet(double p[3][3], double q[3][3], double place[3])
{
    const double *a[3] = {p[0], p[1], p[2]}, *b[3] = {q[0], q[1], q[2]};
    bool ab = ty_triangles_intersect(a, b, place), ba = ty_triangles_intersect(b, a, NULL);
    assert_int_equal(ab, ba);
    return ab;
}

static void triangles_meet_when_they_do(void** state)
{
    (void)state;
    double base[3][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, place[3];
    double through[3][3] = {{1, 1, -1}, {1, 1, 1}, {9, 9, 1}},
           beside[3][3] = {{5, 5, -1}, {5, 5, 1}, {9, 9, 0}};
    double touching[3][3] = {{1, 1, 0}, {1, 2, 3}, {2, 1, 3}},
           above[3][3] = {{1, 1, 0x1p-60}, {1, 2, 3}, {2, 1, 3}};
    assert_true(meet(base, through, place));
    assert_near(place[2], 0.0, 1e-12);
    assert_false(meet(base, beside, place));
    assert_true(meet(base, touching, place));
    assert_false(meet(base, above, place));
    double within[3][3] = {{1, 1, 0}, {1.5, 1, 0}, {1, 1.5, 0}},
           apart[3][3] = {{3, 3, 0}, {4, 3, 0}, {3, 4, 0}};
    double across[3][3] = {{-1, 1, 0}, {5, 1, 0}, {5, 1.5, 0}};
    assert_true(meet(base, within, place));
    assert_false(meet(base, apart, place));
    assert_true(meet(base, across, place));
    double needle[3][3] = {{1, 1, -1}, {1, 1, 1}, {1, 1, 0}},
           other[3][3] = {{0, 1, 0.5}, {2, 1, 0.5}, {1, 1, 0.5}};
    double missing[3][3] = {{0, 2, 0.5}, {2, 2, 0.5}, {1, 2, 0.5}};
    assert_true(meet(base, needle, place));
    assert_true(meet(needle, other, place));
    assert_false(meet(needle, missing, place));
}

// Two triangles meet exactly when an edge of one passes through the other; for random ones rays can
// tell.
static void random_triangles_agree_with_rays(void** state)
{
    (void)state;
    int n_meet = 0;
    for (uint64_t n = 0; n < 3000; ++n) {
        double t[2][3][3];
        for (int k = 0; k < 6; ++k) ty_store3(t[k / 3][k % 3], random_vec(6 * n + (uint64_t)k, 1));
        bool expected = false;
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < 3; ++k) {
                ty_vec3 from = ty_load3(t[side][k]), to = ty_load3(t[side][(k + 1) % 3]);
                ty_ray ray = ty_ray_make(from, to - from);
                double(*o)[3] = t[1 - side];
                ty_ray_hit h = ty_ray_triangle(&ray, ty_load3(o[0]), ty_load3(o[1]),
                                               ty_load3(o[2]));
                expected = expected || (h.facing && h.t >= 0.0 && h.t <= 1.0);
            }
        double place[3];
        assert_int_equal(meet(t[0], t[1], place), expected);
        if (!expected) continue;
        ++n_meet;
        for (int side = 0; side < 2; ++side) {
            ty_closest c = ty_closest_on_triangle(ty_load3(place), ty_load3(t[side][0]),
                                                  ty_load3(t[side][1]), ty_load3(t[side][2]));
            assert_near(sqrt(c.distance2), 0.0, 1e-12);
        }
    }
    assert_true(n_meet > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_point_is_the_closest),
        cmocka_unit_test(four_faces_at_once_are_answered_as_one_by_one),
        cmocka_unit_test(degenerate_triangles_are_segments_and_points),
        cmocka_unit_test(a_ray_through_an_edge_hits_one_neighbour),
        cmocka_unit_test(triangles_meet_when_they_do),
        cmocka_unit_test(random_triangles_agree_with_rays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
