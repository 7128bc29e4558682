// SPDX-License-Identifier: Apache-2.0
#include "space/bvh.h"
#include "space/bvh_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "test.h"

typedef struct soup {
    int n_verts, n_tris;
    double vert[6000][3];
    int tri[12000][3];
} soup;

static soup mesh;    // too large for a stack

static double unit(uint64_t a, uint64_t b) { return ty_unit(ty_mix2(a, b)); }

typedef enum kind { TORUS, SPLINTERS, FLAT, DEGENERATE, ONE, FAR_AWAY, TINY, PILE, N_KINDS } kind;

static void make_torus(int rows, int columns)
{
    mesh.n_verts = rows * columns;
    mesh.n_tris = 2 * mesh.n_verts;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            double u = 2.0 * M_PI * j / columns, v = 2.0 * M_PI * i / rows;
            int a = i * columns + j, right = i * columns + (j + 1) % columns,
                up = (i + 1) % rows * columns;
            double ring = 1.0 + 0.4 * cos(v);
            memcpy(mesh.vert[a], (double[3]){ring * cos(u), 0.4 * sin(v), ring * sin(u)},
                   sizeof mesh.vert[a]);
            memcpy(mesh.tri[2 * a], (int[3]){a, up + j, right}, sizeof mesh.tri[a]);
            memcpy(mesh.tri[2 * a + 1], (int[3]){right, up + j, up + (j + 1) % columns},
                   sizeof mesh.tri[a]);
        }
}

// Unconnected triangles of many sizes, `thin` of them nearly lines.
static void make_splinters(int n, double size, bool flat)
{
    mesh.n_tris = n;
    mesh.n_verts = 3 * n;
    for (int t = 0; t < n; ++t) {
        double length = size * pow(10.0, -3.0 * unit((uint64_t)t, 20));
        for (int k = 0; k < 3; ++k) {
            mesh.tri[t][k] = 3 * t + k;
            for (int axis = 0; axis < 3; ++axis)
                mesh.vert[3 * t + k][axis] = unit((uint64_t)t, (uint64_t)axis) +
                                             length *
                                                 unit((uint64_t)(3 * t + k), (uint64_t)axis + 3);
            if (flat) mesh.vert[3 * t + k][1] = 0.5;
        }
        if (t % 4 == 0)
            for (int axis = 0; axis < 3; ++axis)
                mesh.vert[3 * t + 2][axis] =
                    mesh.vert[3 * t][axis] +
                    0.6 * (mesh.vert[3 * t + 1][axis] - mesh.vert[3 * t][axis]) +
                    1e-7 * (mesh.vert[3 * t + 2][axis] - mesh.vert[3 * t][axis]);
    }
}

static void make(kind which)
{
    make_torus(30, 60);
    if (which == SPLINTERS) make_splinters(1500, 0.4, false);
    if (which == FLAT) make_splinters(1000, 0.2, true);
    if (which == DEGENERATE) {
        make_splinters(500, 0.3, false);
        for (int t = 0; t < mesh.n_tris; t += 2) mesh.tri[t][2] = mesh.tri[t][t % 4 ? 1 : 0];
        mesh.vert[3][1] = NAN;
        mesh.tri[7][1] = mesh.n_verts;
        mesh.tri[8][0] = -1;
    }
    if (which == ONE) mesh.n_tris = 1;
    if (which == PILE) {
        for (int t = 0; t < 400; ++t) memcpy(mesh.tri[t], mesh.tri[0], sizeof mesh.tri[0]);
        mesh.n_tris = 400;
    }
    for (int v = 0; v < mesh.n_verts; ++v)
        for (int axis = 0; axis < 3; ++axis) {
            if (which == FAR_AWAY) mesh.vert[v][axis] += 1e7 * (axis + 1);
            if (which == TINY) mesh.vert[v][axis] *= 1e-9;
        }
}

static void build(ty_bvh* bvh)
{
    assert_ok(ty_bvh_build(bvh, mesh.n_verts, (const double(*)[3])mesh.vert, mesh.n_tris,
                           (const int(*)[3])mesh.tri));
    assert_ok(ty_bvh_validate(bvh));
}

// In and around the mesh, on vertices, far away.
static ty_vec3 query_point(const ty_bvh* b, int i)
{
    ty_vec3 r = ty_vec(unit((uint64_t)i, 30), unit((uint64_t)i, 31), unit((uint64_t)i, 32)) * 2.0 -
                1.0;
    double size = i % 11 == 0 ? 1e3 : i % 13 == 0 ? 1e6 : 1.2;
    if (i % 7 == 0) {
        const double* v = mesh.vert[(i * 37) % mesh.n_verts];
        double off = i % 2 ? 0.0 : 1e-3 * b->scale;
        if (isfinite(v[1])) return ty_load3(v) + off * r;
    }
    return ty_load3(b->centre) + size * b->scale * r;
}

static bool usable(int t)
{
    for (int k = 0; k < 3; ++k) {
        int v = mesh.tri[t][k];
        if (v < 0 || v >= mesh.n_verts || !isfinite(mesh.vert[v][1])) return false;
    }
    return true;
}

static ty_vec3 corner(int t, int k) { return ty_load3(mesh.vert[mesh.tri[t][k]]); }

static int brute_closest(ty_vec3 p, double limit, ty_closest* best)
{
    int id = -1;
    best->distance2 = limit * limit;
    for (int t = 0; t < mesh.n_tris; ++t) {
        if (!usable(t)) continue;
        ty_closest c = ty_closest_on_triangle(p, corner(t, 0), corner(t, 1), corner(t, 2));
        if (c.distance2 < best->distance2 || (id < 0 && c.distance2 <= best->distance2)) {
            *best = c;
            id = t;
        }
    }
    return id;
}

enum { N_POINTS = 700 };

static void closest_points_are_those_of_brute_force(void** state)
{
    (void)state;
    static double x[N_POINTS][3], d2[N_POINTS], point[N_POINTS][3];
    static int tri[N_POINTS];
    static unsigned char feature[N_POINTS];
    ty_bvh bvh = {0};
    for (int which = 0; which < N_KINDS; ++which) {
        make((kind)which);
        build(&bvh);
        double limit = which == SPLINTERS ? 0.05 : INFINITY;
        for (int i = 0; i < N_POINTS; ++i) ty_store3(x[i], query_point(&bvh, i));
        ty_closest_points out = {d2, tri, point, feature};
        ty_bvh_closest(&bvh, N_POINTS, (const double(*)[3])x, limit, &out);
        for (int i = 0; i < N_POINTS; ++i) {
            ty_closest expected;
            int id = brute_closest(ty_load3(x[i]), limit, &expected);
            assert_int_equal(tri[i], id);
            if (id < 0) {
                assert_true(d2[i] == INFINITY);
                continue;
            }
            double p[3];
            ty_store3(p, expected.point);
            assert_memory_equal(&d2[i], &expected.distance2, sizeof *d2);
            assert_memory_equal(point[i], p, sizeof p);
            assert_int_equal(feature[i], expected.feature);
        }
    }
    ty_bvh_free(&bvh);
}

static void answers_do_not_depend_on_batches(void** state)
{
    (void)state;
    static double x[N_POINTS][3], all[N_POINTS], single[N_POINTS];
    ty_bvh bvh = {0};
    make(TORUS);
    build(&bvh);
    for (int i = 0; i < N_POINTS; ++i) ty_store3(x[i], query_point(&bvh, i));
    ty_bvh_closest(&bvh, N_POINTS, (const double(*)[3])x, INFINITY,
                   &(ty_closest_points){.distance2 = all});
    for (int i = N_POINTS - 1; i >= 0; --i)
        ty_bvh_closest(&bvh, 1, (const double(*)[3])x[i], INFINITY,
                       &(ty_closest_points){.distance2 = &single[i]});
    assert_memory_equal(all, single, sizeof all);
    x[3][1] = NAN;
    x[5][0] = INFINITY;
    ty_bvh_closest(&bvh, N_POINTS, (const double(*)[3])x, INFINITY,
                   &(ty_closest_points){.distance2 = single});
    assert_true(single[3] == INFINITY && single[5] == INFINITY);
    for (int i = 0; i < N_POINTS; ++i)
        if (i != 3 && i != 5) assert_memory_equal(&all[i], &single[i], sizeof *all);
    ty_bvh_free(&bvh);
}

static void scattered_points_are_answered_in_their_own_places(void** state)
{
    (void)state;
    enum { POINTS = 10000, BATCH = 500 };
    static double x[POINTS][3], all[POINTS], few[POINTS];
    static int tri_all[POINTS], tri_few[POINTS];
    ty_bvh b = {0};
    make(TORUS);
    build(&b);
    for (int i = 0; i < POINTS; ++i)
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = 4.0 * ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis)) - 2.0;
    x[7000][2] = NAN;
    int* order = ty_bvh_order_scattered(POINTS, (const double(*)[3])x);
    assert_non_null(order);
    ty_free(order);
    ty_bvh_closest(&b, POINTS, (const double(*)[3])x, INFINITY,
                   &(ty_closest_points){.distance2 = all, .triangle = tri_all});
    for (int i = 0; i < POINTS; i += BATCH)
        ty_bvh_closest(&b, BATCH, (const double(*)[3])(x + i), INFINITY,
                       &(ty_closest_points){.distance2 = few + i, .triangle = tri_few + i});
    assert_memory_equal(all, few, sizeof all);
    assert_memory_equal(tri_all, tri_few, sizeof tri_all);
    ty_bvh_free(&b);
}

static void nearly_closest_points_are_no_farther_than_said(void** state)
{
    (void)state;
    enum { POINTS = 2000 };
    static double x[POINTS][3], exact[POINTS], nearly[POINTS];
    ty_bvh b = {0};
    make(TORUS);
    build(&b);
    for (int i = 0; i < POINTS; ++i) ty_store3(x[i], query_point(&b, i));
    ty_bvh_closest(&b, POINTS, (const double(*)[3])x, INFINITY,
                   &(ty_closest_points){.distance2 = exact});
    ty_bvh_nearly_closest(&b, POINTS, (const double(*)[3])x, 0.1,
                          &(ty_closest_points){.distance2 = nearly});
    for (int i = 0; i < POINTS; ++i) {
        assert_true(nearly[i] >= exact[i]);
        assert_true(sqrt(nearly[i]) <= 1.1 * sqrt(exact[i]) + 1e-5);
    }
    ty_bvh_free(&b);
}

static void an_empty_mesh_is_nowhere(void** state)
{
    (void)state;
    ty_bvh bvh = {0};
    assert_ok(ty_bvh_build(&bvh, 0, NULL, 0, NULL));
    double x[1][3] = {{1, 2, 3}}, d2;
    int64_t n;
    ty_bvh_closest(&bvh, 1, (const double(*)[3])x, INFINITY,
                   &(ty_closest_points){.distance2 = &d2});
    assert_true(d2 == INFINITY);
    assert_int_equal(
        ty_bvh_nearest_hit(&bvh, ty_vec(0, 0, 0), ty_vec(1, 0, 0), 0, INFINITY).triangle, -1);
    assert_int_equal(ty_bvh_overlaps(&bvh, &(ty_box){{0, 0, 0}, {9, 9, 9}}, 0, NULL), 0);
    assert_ok(ty_bvh_self_intersections(&bvh, 0, NULL, &n));
    assert_int_equal(n, 0);
    ty_bvh_refit(&bvh, NULL);
    ty_bvh_free(&bvh);
}

// Large enough for several tasks and for the parallel cuts.
static void trees_have_the_same_bytes_for_any_number_of_threads(void** state)
{
    (void)state;
    enum { ROWS = 150, COLUMNS = 300, N = ROWS * COLUMNS };
    double(*vert)[3] = ty_alloc(N, sizeof *vert);
    int(*tri)[3] = ty_alloc(2 * N, sizeof *tri);
    for (int i = 0; i < N; ++i) {
        double u = 2.0 * M_PI * (i % COLUMNS) / COLUMNS, v = 2.0 * M_PI * (i / COLUMNS) / ROWS;
        memcpy(vert[i], (double[3]){(2 + cos(v)) * cos(u), sin(v), (2 + cos(v)) * sin(u)},
               sizeof *vert);
        int right = i / COLUMNS * COLUMNS + (i + 1) % COLUMNS, up = (i + COLUMNS) % N,
            across = (right + COLUMNS) % N;
        memcpy(tri[2 * i], (int[3]){i, up, right}, sizeof *tri);
        memcpy(tri[2 * i + 1], (int[3]){right, up, across}, sizeof *tri);
    }
    uint64_t expected = 0;
    ty_bvh bvh = {0};
    for (int threads = 1; threads <= 4; ++threads) {
        ty_threads_set(threads);
        assert_ok(ty_bvh_build(&bvh, N, (const double(*)[3])vert, 2 * N, (const int(*)[3])tri));
        assert_ok(ty_bvh_validate(&bvh));
        assert_true(bvh.n_tasks > 2);
        ty_hash h = ty_hash_begin();
        for (int i = 0; i < bvh.n_nodes; ++i)
            ty_hash_add(&h, &bvh.node[i], offsetof(ty_bvh_node, n_children));
        for (int i = 0; i < bvh.n_leaves; ++i)
            ty_hash_add(&h, bvh.leaf[i].id, sizeof bvh.leaf[i].id);
        if (threads == 1) expected = ty_hash_end(&h);
        assert_true(ty_hash_end(&h) == expected);
    }
    int64_t blocks = ty_memory_count();
    assert_ok(ty_bvh_build(&bvh, N, (const double(*)[3])vert, 2 * N, (const int(*)[3])tri));
    assert_true(ty_memory_count() == blocks);    // memory is reused
    int64_t n_pairs;
    assert_ok(ty_bvh_self_intersections(&bvh, 0, NULL, &n_pairs));
    assert_int_equal(n_pairs, 0);
    ty_bvh_free(&bvh);
    ty_free(vert);
    ty_free(tri);
}

static const double ORIGIN[3] = {0.1, 0.2, 0.3};

static ty_status build_ordered(ty_bvh* bvh, double cell)
{
    return ty_bvh_build_ordered(bvh, mesh.n_verts, (const double(*)[3])mesh.vert, mesh.n_tris,
                                (const int(*)[3])mesh.tri, ORIGIN, cell);
}

// Whatever order the triangles have: here seldom that of the lattice, and once all in one cell.
static void ordered_trees_give_the_same_answers(void** state)
{
    (void)state;
    const double cell[3] = {0.05, 0.4, 1e3};
    make(TORUS);
    mesh.tri[7][1] = mesh.n_verts;    // to be ignored
    for (int k = 0; k < 3; ++k) {
        ty_bvh bvh = {0};
        uint64_t expected = 0;
        for (int threads = 1; threads <= 3; ++threads) {
            ty_threads_set(threads);
            assert_ok(build_ordered(&bvh, cell[k]));
            assert_ok(ty_bvh_validate(&bvh));
            ty_hash h = ty_hash_begin();
            for (int i = 0; i < bvh.n_nodes; ++i)
                ty_hash_add(&h, &bvh.node[i], offsetof(ty_bvh_node, n_children));
            if (threads == 1) expected = ty_hash_end(&h);
            assert_true(ty_hash_end(&h) == expected);
        }
        for (int i = 0; i < 200; ++i) {
            double x[1][3], d2;
            ty_closest brute;
            ty_store3(x[0], query_point(&bvh, i));
            brute_closest(ty_load3(x[0]), INFINITY, &brute);
            ty_bvh_closest(&bvh, 1, (const double(*)[3])x, INFINITY,
                           &(ty_closest_points){.distance2 = &d2});
            assert_memory_equal(&d2, &brute.distance2, sizeof d2);
            ty_bvh_search q;    // of all leaves
            ty_bvh_search_begin(&bvh, &q, x[0]);
            ty_bvh_search_leaves(&bvh, &q, 0, bvh.n_leaves - 1);
            ty_bvh_search_end(&bvh, &q);
            assert_memory_equal(&q.best.distance2, &brute.distance2, sizeof d2);
            assert_true(ty_bvh_search_reach(&bvh, &q) >= sqrt(d2));
        }
        ty_bvh_refit(&bvh, (const double(*)[3])mesh.vert);
        assert_ok(ty_bvh_validate(&bvh));
        ty_bvh_free(&bvh);
    }
}

static void refitting_keeps_answers_exact(void** state)
{
    (void)state;
    ty_bvh bvh = {0};
    make(TORUS);
    build(&bvh);
    for (int v = 0; v < mesh.n_verts; ++v) {    // twist, stretch and move
        double* x = mesh.vert[v];
        double c = cos(2 * x[1]), s = sin(2 * x[1]),
               y[3] = {c * x[0] - s * x[2], 5 * x[1] + 100, s * x[0] + c * x[2]};
        memcpy(x, y, sizeof y);
    }
    ty_bvh_refit(&bvh, (const double(*)[3])mesh.vert);
    assert_ok(ty_bvh_validate(&bvh));
    for (int i = 0; i < 200; ++i) {
        double x[1][3], d2;
        ty_store3(x[0], query_point(&bvh, i));
        ty_closest expected;
        brute_closest(ty_load3(x[0]), INFINITY, &expected);
        ty_bvh_closest(&bvh, 1, (const double(*)[3])x, INFINITY,
                       &(ty_closest_points){.distance2 = &d2});
        assert_memory_equal(&d2, &expected.distance2, sizeof d2);
    }
    ty_bvh_free(&bvh);
}

static void check_ray(const ty_bvh* b, ty_vec3 o, ty_vec3 d, double t_min, double t_max)
{
    ty_ray ray = ty_ray_make(o, d);
    int nearest = -1, crossings = 0, hits = 0;
    double least = INFINITY;
    for (int t = 0; t < mesh.n_tris; ++t) {
        if (!usable(t)) continue;
        ty_ray_hit h = ty_ray_triangle(&ray, corner(t, 0), corner(t, 1), corner(t, 2));
        if (!h.facing || !(h.t >= t_min && h.t <= t_max)) continue;
        ++hits;
        crossings -= h.facing;
        if (h.t < least) least = h.t, nearest = t;
    }
    int n_hits;
    ty_bvh_hit hit = ty_bvh_nearest_hit(b, o, d, t_min, t_max);
    assert_int_equal(hit.triangle, nearest);
    if (nearest >= 0) assert_true(hit.hit.t == least);
    assert_int_equal(ty_bvh_any_hit(b, o, d, t_min, t_max), nearest >= 0);
    assert_int_equal(ty_bvh_crossings(b, o, d, t_min, t_max, &n_hits), crossings);
    assert_int_equal(n_hits, hits);
}

static void rays_are_those_of_brute_force(void** state)
{
    (void)state;
    ty_bvh bvh = {0};
    for (int which = 0; which < N_KINDS; ++which) {
        make((kind)which);
        build(&bvh);
        for (int i = 0; i < 150; ++i) {
            ty_vec3 o = query_point(&bvh, i), target = query_point(&bvh, 1000 + 7 * i);
            ty_vec3 d = i % 5 == 0
                            ? ty_vec(i % 3 == 0, i % 3 == 1, i % 3 == 2) * (i % 2 ? 1.0 : -1.0)
                            : target - o;
            check_ray(&bvh, o, d, i % 4 ? 0.0 : -INFINITY, i % 3 ? INFINITY : 0.9);
        }
    }
    ty_bvh_free(&bvh);
}

static void a_closed_surface_is_left_as_often_as_entered(void** state)
{
    (void)state;
    ty_bvh bvh = {0};
    make(TORUS);
    build(&bvh);
    for (int v = 0; v < mesh.n_verts; ++v) {    // straight at vertices, the hardest place
        ty_vec3 outside = ty_vec(3, 4, 5), x = ty_load3(mesh.vert[v]);
        assert_int_equal(ty_bvh_crossings(&bvh, outside, x - outside, 0.0, INFINITY, NULL), 0);
        assert_int_equal(
            ty_bvh_crossings(&bvh, ty_vec(1, 0, 0), x - ty_vec(1, 0, 0), 0.0, INFINITY, NULL), 1);
    }
    ty_bvh_free(&bvh);
}

static void boxes_find_what_they_meet(void** state)
{
    (void)state;
    static int found[6000];
    ty_bvh bvh = {0};
    make(SPLINTERS);
    build(&bvh);
    for (int i = 0; i < 50; ++i) {
        ty_box box = ty_box_empty();
        double p[3];
        for (int k = 0; k < 2; ++k) {
            ty_store3(p, ty_vec(unit((uint64_t)i, 50 + (uint64_t)k),
                                unit((uint64_t)i, 60 + (uint64_t)k),
                                unit((uint64_t)i, 70 + (uint64_t)k)));
            ty_box_add(&box, p);
        }
        int64_t n = ty_bvh_overlaps(&bvh, &box, 6000, found), expected = 0;
        for (int t = 0; t < mesh.n_tris; ++t) {
            ty_box b = ty_box_empty();
            for (int k = 0; k < 3; ++k) ty_box_add(&b, mesh.vert[mesh.tri[t][k]]);
            bool meets = true;
            for (int axis = 0; axis < 3; ++axis)
                meets = meets && b.lo[axis] <= box.hi[axis] && b.hi[axis] >= box.lo[axis];
            if (meets) assert_int_equal(found[expected++], t);
        }
        assert_int_equal(n, expected);
    }
    ty_bvh_free(&bvh);
}

static void self_intersections_are_those_of_brute_force(void** state)
{
    (void)state;
    static ty_bvh_pair pair[20];
    ty_bvh bvh = {0};
    make_splinters(800, 3.0, false);
    build(&bvh);
    int64_t n, expected = 0;
    assert_ok(ty_bvh_self_intersections(&bvh, 20, pair, &n));
    for (int s = 0; s < mesh.n_tris; ++s)
        for (int t = s + 1; t < mesh.n_tris; ++t) {
            const double* p[3] = {mesh.vert[mesh.tri[s][0]], mesh.vert[mesh.tri[s][1]],
                                  mesh.vert[mesh.tri[s][2]]};
            const double* q[3] = {mesh.vert[mesh.tri[t][0]], mesh.vert[mesh.tri[t][1]],
                                  mesh.vert[mesh.tri[t][2]]};
            if (!ty_triangles_intersect(p, q, NULL)) continue;
            if (expected < 20) {
                assert_int_equal(pair[expected].first, s);
                assert_int_equal(pair[expected].second, t);
            }
            ++expected;
        }
    assert_int_equal(n, expected);
    assert_true(n > 20);
    ty_bvh_free(&bvh);
}

static void running_out_of_memory_is_survived(void** state)
{
    (void)state;
    make(TORUS);
    int64_t alive = ty_memory_alive();
    for (int k = 1; k < 12; ++k) {
        ty_bvh bvh = {0};
        ty_memory_fail_after(k);
        ty_status s = ty_bvh_build(&bvh, mesh.n_verts, (const double(*)[3])mesh.vert, mesh.n_tris,
                                   (const int(*)[3])mesh.tri);
        ty_memory_fail_after(0);
        if (k < 8) assert_int_equal(s.code, TY_NO_MEMORY);
        if (s.code != TY_OK)
            assert_int_equal(
                ty_bvh_nearest_hit(&bvh, ty_vec(0, 9, 0), ty_vec(0, -1, 0), 0, INFINITY).triangle,
                -1);
        ty_bvh_free(&bvh);
    }
    for (int k = 1; k < 30; ++k) {
        ty_bvh bvh = {0};
        ty_memory_fail_after(k);
        ty_status s = build_ordered(&bvh, 0.1);
        ty_memory_fail_after(0);
        if (k < 7) assert_int_equal(s.code, TY_NO_MEMORY);
        assert_int_equal(bvh.n_nodes > 0, s.code == TY_OK);
        ty_bvh_free(&bvh);
    }
    assert_int_equal(ty_memory_alive(), alive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_points_are_those_of_brute_force),
        cmocka_unit_test(answers_do_not_depend_on_batches),
        cmocka_unit_test(scattered_points_are_answered_in_their_own_places),
        cmocka_unit_test(nearly_closest_points_are_no_farther_than_said),
        cmocka_unit_test(an_empty_mesh_is_nowhere),
        cmocka_unit_test(trees_have_the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(ordered_trees_give_the_same_answers),
        cmocka_unit_test(refitting_keeps_answers_exact),
        cmocka_unit_test(rays_are_those_of_brute_force),
        cmocka_unit_test(a_closed_surface_is_left_as_often_as_entered),
        cmocka_unit_test(boxes_find_what_they_meet),
        cmocka_unit_test(self_intersections_are_those_of_brute_force),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
