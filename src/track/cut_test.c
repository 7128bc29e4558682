// SPDX-License-Identifier: Apache-2.0
#include "track/cut.h"

#include <stdlib.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "mesh/contour.h"
#include "track/tank.h"

// Liquid below a plane.
typedef struct pool {
    double normal[3], level;
} pool;

static void eval_pool(const void* self, int n, const double (*x)[3], double* out)
{
    const pool* p = self;
    for (int i = 0; i < n; ++i) out[i] = ty_dot(ty_load3(p->normal), ty_load3(x[i])) - p->level;
}

// Blobs without any order.
static void eval_noise(const void* self, int n, const double (*x)[3], double* out)
{
    uint64_t seed = *(const uint64_t*)self;
    for (int i = 0; i < n; ++i) {
        uint64_t h = seed;
        for (int axis = 0; axis < 3; ++axis)
            h = ty_mix2(h, (uint64_t)(int64_t)floor(13.0 * x[i][axis]));
        out[i] = 0.1 * (ty_unit(h) - 0.5);
    }
}

static const int one_triangle[3] = {0, 1, 2};

// A liquid that is its distance alone; the surface only has to be there.
static ty_liquid liquid_of(ty_tri_mesh* some, const void* self,
                           void (*eval)(const void*, int, const double (*)[3], double*),
                           double cell)
{
    assert_ok(ty_tri_mesh_resize(some, 3, 1));
    memset(some->vert, 0, 3 * sizeof *some->vert);
    memcpy(some->tri[0], one_triangle, sizeof one_triangle);
    return (ty_liquid){
        .distance = {.self = self, .width = 1, .eval = eval}, .surface = some, .cell = cell};
}

static double cut_volume(const tank* t, const void* self,
                         void (*eval)(const void*, int, const double (*)[3], double*), double cell)
{
    ty_cutter* cutter;
    ty_tri_mesh some = {0}, out = {0};
    ty_liquid liquid = liquid_of(&some, self, eval, cell);
    assert_ok(ty_cutter_create(&cutter));
    assert_ok(ty_cut_surface(cutter, &liquid, t->world, &out));
    assert_ok(ty_tri_mesh_validate(&out));
    double volume = ty_tri_mesh_volume(&out);
    ty_tri_mesh_free(&out);
    ty_tri_mesh_free(&some);
    ty_cutter_destroy(cutter);
    return volume;
}

static void pools_are_exact(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 0.7, 0.53);    // no whole number of cells
    tank_open(&t, 0.05);
    pool level = {{0, 1, 0}, 0.3137}, tilted = {{-0.1, 1, 0.05}, 0.35}, full = {{0, 1, 0}, 2.0};
    assert_near(cut_volume(&t, &level, eval_pool, 0.05), 0.3137 * 0.53, 1e-14);
    double mean = 0.35 + 0.1 * 0.5 - 0.05 * 0.265;    // the plane at the middle of the floor
    assert_near(cut_volume(&t, &tilted, eval_pool, 0.05), mean * 0.53, 1e-9);
    assert_near(cut_volume(&t, &full, eval_pool, 0.05), 0.7 * 0.53, 1e-14);
    tank_close(&t);
}

static void a_level_at_a_node_is_no_exception(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_open(&t, 0.1);
    for (int i = -3; i <= 3; ++i) {
        pool level = {{0, 1, 0}, 0.5 + 1e-5 * i};
        assert_near(cut_volume(&t, &level, eval_pool, 0.1), level.level, 2e-7);
    }
    tank_close(&t);
}

// Water between two walls that cut the cells, at levels between two nodes and at one: the corner
// between surface and wall is not bevelled off. (It was, by up to 0.9 % of the volume.)
static void levels_between_walls_are_exact(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 0.5);
    tank_obstacle(&t, block(-1, -1, -1, 0.13, 2, 2));
    tank_obstacle(&t, block(0.78, -1, -1, 2, 2, 2));
    tank_open(&t, 0.1);
    double worst = 0.0;
    for (int i = 0; i <= 20; ++i) {
        pool level = {{0, 1, 0}, 0.45 + 0.01 * i};
        double volume = cut_volume(&t, &level, eval_pool, 0.1);
        worst = ty_max(worst, fabs(volume / (0.65 * 0.5 * level.level) - 1.0));
    }
    print_message("volume off by at most %.3g\n", worst);
    assert_true(worst < 1e-6);
    tank_close(&t);
}

static double error_with_sphere(double cell)
{
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_obstacle(&t, ball(0.5, 0.4, 0.5, 0.23));
    tank_open(&t, cell);
    pool level = {{0, 1, 0}, 0.8137};
    double expected = 0.8137 - 4.0 / 3.0 * M_PI * 0.23 * 0.23 * 0.23;
    double error = fabs(cut_volume(&t, &level, eval_pool, cell) - expected);
    tank_close(&t);
    return error;
}

static void obstacles_are_cut_to_second_order(void** state)
{
    (void)state;
    double coarse = error_with_sphere(0.1), fine = error_with_sphere(0.05),
           finer = error_with_sphere(0.025);
    print_message("volume errors %.3g %.3g %.3g m3\n", coarse, fine, finer);
    assert_true(coarse < 5e-3);    // a tenth of the sphere, 2.3 cells in radius
    assert_true(coarse > 3.3 * fine);
    assert_true(fine > 3.3 * finer);
}

static void any_liquid_gives_a_closed_surface(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 0.8, 0.9, 1.0);
    tank_obstacle(&t, ball(0.3, 0.4, 0.5, 0.3));
    tank_open(&t, 0.1);
    for (uint64_t seed = 0; seed < 20; ++seed) cut_volume(&t, &seed, eval_noise, 0.1);
    tank_close(&t);
}

static void same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 0.8, 0.9, 1.0);
    tank_obstacle(&t, ball(0.3, 0.4, 0.5, 0.3));
    tank_open(&t, 0.05);
    uint64_t seed = 7, hash[4];
    const int threads[4] = {1, 2, 3, 5};
    for (int i = 0; i < 4; ++i) {
        ty_cutter* cutter;
        ty_tri_mesh some = {0}, out = {0};
        ty_liquid liquid = liquid_of(&some, &seed, eval_noise, 0.05);
        ty_threads_set(threads[i]);
        assert_ok(ty_cutter_create(&cutter));
        assert_ok(ty_cut_surface(cutter, &liquid, t.world, &out));
        assert_ok(ty_cut_surface(cutter, &liquid, t.world, &out));    // from what it kept
        hash[i] = ty_mix2(ty_hash_bytes(out.vert, (size_t)out.n_verts * sizeof *out.vert),
                          ty_hash_bytes(out.tri, (size_t)out.n_tris * sizeof *out.tri));
        assert_int_equal(hash[i], hash[0]);
        ty_tri_mesh_free(&out);
        ty_tri_mesh_free(&some);
        ty_cutter_destroy(cutter);
    }
    ty_threads_set(0);
    tank_close(&t);
}

// The liquid of a tilted pool and of a ball above it, in a tank with an obstacle; counts where it
// is asked.
typedef struct asked {
    pool pool;
    double center[3], radius;
    int64_t* n;
    double hollow;    // > 0: nor is there any so near to the ball's centre
} asked;

static void eval_asked(const void* self, int n, const double (*x)[3], double* out)
{
    const asked* a = self;
    eval_pool(&a->pool, n, x, out);
    for (int i = 0; i < n; ++i) {
        double away = ty_norm(ty_load3(x[i]) - ty_load3(a->center));
        out[i] = fmin(out[i], away - a->radius);
        if (a->hollow > 0.0) out[i] = fmax(out[i], a->hollow - away);
    }
    __atomic_fetch_add(a->n, n, __ATOMIC_RELAXED);
}

// The same as a tracker has it: it ends four cells outside the tank.
typedef struct ended {
    asked liquid;
    double size[3], cell;
} ended;

static void eval_ended(const void* self, int n, const double (*x)[3], double* out)
{
    const ended* e = self;
    eval_asked(&e->liquid, n, x, out);
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)
            out[i] = fmax(out[i], fmax(-x[i][axis], x[i][axis] - e->size[axis]) - 4.0 * e->cell);
}

typedef struct contoured {
    ty_octree tree;
    ty_tri_mesh hull;
} contoured;

static void contour_liquid(const ended* e, contoured* c)
{
    ty_sampler phi = {.self = e, .width = 1, .eval = eval_ended};
    ty_octree_def def = ty_octree_default();
    ty_contour contour = {0};
    def.cell = e->cell;
    def.rule = TY_OCTREE_CONTOUR;
    for (int axis = 0; axis < 3; ++axis) {
        def.origin[axis] = 0.5 * e->cell;
        def.box.lo[axis] = -5.0 * e->cell;
        def.box.hi[axis] = e->size[axis] + 5.0 * e->cell;
    }
    *c = (contoured){0};
    assert_ok(ty_octree_build(&c->tree, &phi, &def));
    assert_ok(ty_contour_octree(&contour, &c->tree, &phi, TY_CONTOUR_REFINE_KINKS, &c->hull));
    ty_contour_free(&contour);
}

static void cut_with_tree(const tank* t, const ended* e, const contoured* c, ty_tri_mesh* out)
{
    ty_cutter* cutter;
    ty_tri_mesh some = {0};
    ty_liquid liquid = liquid_of(&some, e, eval_ended, e->cell);
    if (c) liquid.tree = &c->tree, liquid.hull = liquid.surface = &c->hull;
    assert_ok(ty_cutter_create(&cutter));
    assert_ok(ty_cut_surface(cutter, &liquid, t->world, out));
    assert_ok(ty_tri_mesh_validate(out));
    assert_true(out->n_tris > 100);
    ty_tri_mesh_free(&some);
    ty_cutter_destroy(cutter);
}

static int by_place(const void* a, const void* b)
{
    const double *p = a, *q = b;
    for (int axis = 0; axis < 3; ++axis) {
        long i = lround(1e6 * p[axis]), j = lround(1e6 * q[axis]);
        if (i != j) return i < j ? -1 : 1;
    }
    return 0;
}

// How far the vertices of one mesh are from those of the other, in order of their places.
static double apart(ty_tri_mesh* a, ty_tri_mesh* b)
{
    double most = 0.0;
    assert_int_equal(a->n_verts, b->n_verts);
    qsort(a->vert, (size_t)a->n_verts, sizeof *a->vert, by_place);
    qsort(b->vert, (size_t)b->n_verts, sizeof *b->vert, by_place);
    for (int v = 0; v < a->n_verts; ++v)
        most = fmax(most, ty_norm(ty_load3(a->vert[v]) - ty_load3(b->vert[v])));
    return most;
}

// A liquid's own octree gives the surface that the whole lattice gives, and asks for little of it.
static void a_tree_gives_the_same_surface(void** state)
{
    (void)state;
    int64_t n = 0;
    tank t;
    tank_begin(&t, 0.9, 0.83, 1.0);
    tank_obstacle(&t, ball(0.5, 0.1, 0.5, 0.21));
    tank_open(&t, 0.025);
    asked liquids[4] = {
        {{{-0.3, 1, 0.15}, 0.2}, {0.3, 0.6, 0.4}, 0.1, &n, 0.0},
        {{{0, 1, 0}, -1.0}, {0.3, 0.6, 0.4}, 0.1, &n, 0.0},    // the ball alone
        {{{0, 1, 0}, 0.81}, {0.3, 0.6, 0.4}, 0.1, &n, 0.0},    // nearly full
        {{{0, 1, 0}, 0.9}, {0.3, 0.6, 0.4}, 0.1, &n, 0.0}};    // full, the surface is outside
    for (int i = 0; i < 4; ++i) {
        ended e = {liquids[i], {0.9, 0.83, 1.0}, 0.025};
        contoured c;
        ty_tri_mesh whole = {0}, sparse = {0};
        contour_liquid(&e, &c);
        n = 0;
        cut_with_tree(&t, &e, NULL, &whole);
        int64_t everywhere = n;
        n = 0;
        cut_with_tree(&t, &e, &c, &sparse);
        assert_int_equal(sparse.n_tris, whole.n_tris);
        assert_near(ty_tri_mesh_volume(&sparse), ty_tri_mesh_volume(&whole), 1e-6);
        double off = apart(&sparse, &whole) / e.cell;
        print_message("asked at %lld points instead of %lld, vertices %.3g cells off\n",
                      (long long)n, (long long)everywhere, off);
        assert_true(5 * n < everywhere);
        assert_true(off < 1e-3);
        ty_tri_mesh_free(&whole);
        ty_tri_mesh_free(&sparse);
        ty_octree_free(&c.tree);
        ty_tri_mesh_free(&c.hull);
    }
    tank_close(&t);
}

// Films thinner than a cell, on a floor wherever it lies in its cells and on a ball. Liquid around the ball
// goes on inside of it.
static void films_on_obstacles_are_as_thin_as_they_are(void** state)
{
    (void)state;
    const double cell = 0.05, films[4] = {0.07, 0.3, 0.6, 0.95};    // cells
    double worst = 0.0;
    int64_t n = 0;
    for (int place = 0; place < 5; ++place) {
        double floor = 0.3 + 0.2 * place * cell;
        tank t;
        tank_begin(&t, 0.8, 1.0, 0.6);
        tank_obstacle(&t, block(-1, -1, -1, 2, floor, 2));
        tank_open(&t, cell);
        for (int i = 0; i < 4; ++i) {
            pool level = {{0, 1, 0}, floor + films[i] * cell};
            double volume = cut_volume(&t, &level, eval_pool, cell);
            worst = fmax(worst, fabs(volume / (0.48 * films[i] * cell) - 1.0));
        }
        tank_close(&t);
    }
    print_message("on a floor off by %.3g\n", worst);
    assert_true(worst < 1e-6);
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_obstacle(&t, ball(0.51, 0.49, 0.52, 0.31));
    tank_open(&t, cell);
    for (int i = 0; i < 4; ++i) {
        double radius = 0.31 + films[i] * cell, off[2];
        double should = 4.0 / 3.0 * M_PI * (pow(radius, 3.0) - pow(0.31, 3.0));
        ended e = {{{{0, 1, 0}, -9.0}, {0.51, 0.49, 0.52}, radius, &n, 0.0}, {1, 1, 1}, cell};
        e.liquid.pool.level = -9.0;
        contoured c;
        contour_liquid(&e, &c);
        for (int tree = 0; tree < 2; ++tree) {
            ty_tri_mesh out = {0};
            cut_with_tree(&t, &e, tree ? &c : NULL, &out);
            off[tree] = ty_tri_mesh_volume(&out) / should - 1.0;
            ty_tri_mesh_free(&out);
        }
        print_message("%.2f cells on a ball: off by %.3g, %.3g\n", films[i], off[0], off[1]);
        assert_true(fabs(off[0]) < 0.1 && fabs(off[1]) < 0.1);
        ty_octree_free(&c.tree);
        ty_tri_mesh_free(&c.hull);
    }
    tank_close(&t);
}

// A liquid between two levels.
typedef struct layer {
    double low, high;
} layer;

static void eval_layer(const void* self, int n, const double (*x)[3], double* out)
{
    const layer* l = self;
    for (int i = 0; i < n; ++i) out[i] = fmax(l->low - x[i][1], x[i][1] - l->high);
}

static ty_shape_def shell(double x, double y, double z, double radius, double thickness)
{
    static ty_shape_def parts[2];
    ty_shape_def s = ty_shape_default(TY_SHAPE_DIFFERENCE);
    parts[0] = ball(x, y, z, radius);
    parts[1] = ball(x, y, z, radius - thickness);
    s.children = parts;
    s.n_children = 2;
    return s;
}

// The same on plates and shells that are dry on the other side: there the liquid ends in their middle.
static void films_on_thin_obstacles_are_as_thin_as_they_are(void** state)
{
    (void)state;
    const double cell = 0.05, films[4] = {0.07, 0.3, 0.6, 0.95};    // cells
    const double walls[5] = {1.6, 2.05, 2.45, 3.0, 3.9};
    double worst = 0.0;
    int64_t n = 0;
    for (int place = 0; place < 20; ++place) {    // half of a plate holds a node but in the thinnest wall
        double wall = walls[1 + place % 4] * cell, floor = 0.5 + 0.2 * (place / 4) * cell;
        tank t;
        tank_begin(&t, 0.8, 1.0, 0.6);
        tank_obstacle(&t, block(-1, floor - wall, -1, 2, floor, 2));
        tank_open(&t, cell);
        for (int i = 0; i < 4; ++i) {
            layer film = {floor - 0.5 * wall, floor + films[i] * cell};
            double volume = cut_volume(&t, &film, eval_layer, cell);
            worst = fmax(worst, fabs(volume / (0.48 * films[i] * cell) - 1.0));
        }
        tank_close(&t);
    }
    print_message("on plates off by %.3g\n", worst);
    assert_true(worst < 1e-6);
    for (int i = 0; i < 20; ++i) {
        double film = films[i % 4], wall = walls[i / 4] * cell, radius = 0.31 + film * cell, off[2];
        double should = 4.0 / 3.0 * M_PI * (pow(radius, 3.0) - pow(0.31, 3.0));
        tank t;
        tank_begin(&t, 1.0, 1.0, 1.0);
        tank_obstacle(&t, shell(0.51, 0.49, 0.52, 0.31, wall));
        tank_open(&t, cell);
        ended e = {{{{0, 1, 0}, -9.0}, {0.51, 0.49, 0.52}, radius, &n, 0.31 - 0.5 * wall},
                   {1, 1, 1},
                   cell};
        contoured c;
        contour_liquid(&e, &c);
        for (int tree = 0; tree < 2; ++tree) {
            ty_tri_mesh out = {0};
            cut_with_tree(&t, &e, tree ? &c : NULL, &out);
            off[tree] = ty_tri_mesh_volume(&out) / should - 1.0;
            ty_tri_mesh_free(&out);
        }
        print_message("%.2f cells on a shell of %.2f: off by %.3g, %.3g\n", film, walls[i / 4],
                      off[0], off[1]);
        assert_true(fmax(fabs(off[0]), fabs(off[1])) * film < 0.02);    // a chord's height, cells
        ty_octree_free(&c.tree);
        ty_tri_mesh_free(&c.hull);
        tank_close(&t);
    }
}

static void a_part_measures_a_change_inside_it(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_obstacle(&t, ball(0.5, 0.0, 0.5, 0.23));
    tank_open(&t, 0.05);
    pool before = {{0, 1, 0}, 0.4}, after = {{0, 1, 0}, 0.41};
    ty_sampler low = {.self = &before, .width = 1, .eval = eval_pool};
    ty_sampler high = {.self = &after, .width = 1, .eval = eval_pool};
    ty_box box = {{-0.2, 0.325, -0.2}, {1.2, 0.525, 1.2}};
    double v[2];
    ty_cutter* cutter;
    assert_ok(ty_cutter_create(&cutter));
    assert_ok(ty_cut_volume(cutter, &low, 0.05, t.world, &box, &v[0]));
    assert_ok(ty_cut_volume(cutter, &high, 0.05, t.world, &box, &v[1]));
    assert_near(v[0], 0.4 - 0.325, 1e-7);
    assert_near(v[1] - v[0], 0.01, 1e-7);
    ty_cutter_destroy(cutter);
    tank_close(&t);
}

static void nothing_gives_nothing(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_open(&t, 0.1);
    ty_cutter* cutter;
    ty_tri_mesh none = {0}, out = {0};
    pool dry = {{0, 1, 0}, -1.0};
    ty_liquid liquid = {
        .distance = {.self = &dry, .width = 1, .eval = eval_pool}, .surface = &none, .cell = 0.1};
    assert_ok(ty_cutter_create(&cutter));
    assert_ok(ty_cut_surface(cutter, &liquid, t.world, &out));
    assert_int_equal(out.n_tris, 0);
    assert_near(cut_volume(&t, &dry, eval_pool, 0.1), 0.0, 0.0);
    ty_cutter_destroy(cutter);
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_are_exact),
        cmocka_unit_test(a_level_at_a_node_is_no_exception),
        cmocka_unit_test(levels_between_walls_are_exact),
        cmocka_unit_test(obstacles_are_cut_to_second_order),
        cmocka_unit_test(any_liquid_gives_a_closed_surface),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_tree_gives_the_same_surface),
        cmocka_unit_test(films_on_obstacles_are_as_thin_as_they_are),
        cmocka_unit_test(films_on_thin_obstacles_are_as_thin_as_they_are),
        cmocka_unit_test(a_part_measures_a_change_inside_it),
        cmocka_unit_test(nothing_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
