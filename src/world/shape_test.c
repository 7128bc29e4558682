// SPDX-License-Identifier: Apache-2.0
#include "world/shape.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/memory.h"
#include "test.h"

static double uniform(uint64_t* seed, double lo, double hi)
{
    *seed += 1;
    return lo + (hi - lo) * ty_unit(ty_mix(*seed));
}

static ty_shape_def primitives(int k)
{
    ty_shape_def d = ty_shape_default((ty_shape_kind)k);
    memcpy(d.min, (double[]){-0.4, -0.7, -0.2}, sizeof d.min);
    memcpy(d.max, (double[]){0.5, 0.6, 0.9}, sizeof d.max);
    memcpy(d.center, (double[]){0.1, -0.2, 0.3}, sizeof d.center);
    memcpy(d.from, (double[]){-0.3, -0.4, 0.1}, sizeof d.from);
    memcpy(d.to, (double[]){0.5, 0.6, 0.4}, sizeof d.to);
    memcpy(d.point, (double[]){0.1, 0.2, 0.3}, sizeof d.point);
    memcpy(d.normal, (double[]){1, 2, -1}, sizeof d.normal);
    memcpy(d.axis, (double[]){1, 1, 0.5}, sizeof d.axis);
    d.tube = 0.2;
    return d;
}

static ty_vec3 gradient(const ty_shape* s, ty_vec3 x)
{
    const double h = 1e-6;
    double at[6][3], d[6];
    for (int axis = 0; axis < 3; ++axis) {
        ty_vec3 e = h * ty_vec(axis == 0, axis == 1, axis == 2);
        ty_store3(at[2 * axis], x - e);
        ty_store3(at[2 * axis + 1], x + e);
    }
    ty_shape_distance(s, 6, (const double(*)[3])at, d);
    return ty_vec(d[1] - d[0], d[3] - d[2], d[5] - d[4]) / (2.0 * h);
}

static double at(const ty_shape* s, ty_vec3 x)
{
    double p[1][3], d;
    ty_store3(p[0], x);
    ty_shape_distance(s, 1, (const double(*)[3])p, &d);
    return d;
}

static void check_eikonal(const ty_shape* s, uint64_t* seed)
{
    int kinks = 0;
    for (int i = 0; i < 2000; ++i) {
        ty_vec3 x = ty_vec(uniform(seed, -1.5, 1.5), uniform(seed, -1.5, 1.5),
                           uniform(seed, -1.5, 1.5));
        ty_vec3 g = gradient(s, x);
        double d = at(s, x);
        if (fabs(ty_norm(g) - 1.0) > 1e-4) {    // beside the medial axis only
            ++kinks;
            continue;
        }
        // The foot of the gradient is on the surface: with norm 1 this makes the distance exact.
        assert_near(at(s, x - d * g), 0.0, 2e-5);
    }
    assert_true(kinks < 10);
}

static void distances_of_primitives_are_exact(void** state)
{
    (void)state;
    uint64_t seed = 1;
    for (int k = TY_SHAPE_BOX; k <= TY_SHAPE_TORUS; ++k) {
        ty_shape_def def = primitives(k);
        ty_shape s;
        assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
        check_eikonal(&s, &seed);
        assert_true(s.exact_band == INFINITY);
        ty_shape_destroy(&s);
    }
}

static void bounds_hold_the_inside_and_touch_it(void** state)
{
    (void)state;
    uint64_t seed = 7;
    for (int k = TY_SHAPE_BOX; k <= TY_SHAPE_TORUS; ++k) {
        if (k == TY_SHAPE_PLANE) continue;
        ty_shape_def def = primitives(k);
        ty_shape s;
        assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
        ty_box b = ty_shape_bounds(&s), seen = ty_box_empty();
        for (int i = 0; i < 200000; ++i) {
            double x[3] = {uniform(&seed, -1.2, 1.5), uniform(&seed, -1.2, 1.5),
                           uniform(&seed, -1.2, 1.5)};
            if (at(&s, ty_load3(x)) < 0.0) ty_box_add(&seen, x);
        }
        for (int axis = 0; axis < 3; ++axis) {
            assert_true(seen.lo[axis] >= b.lo[axis] && seen.lo[axis] < b.lo[axis] + 0.08);
            assert_true(seen.hi[axis] <= b.hi[axis] && seen.hi[axis] > b.hi[axis] - 0.08);
        }
        ty_shape_destroy(&s);
    }
}

static void sizes_that_make_no_shape_are_refused_with_their_place(void** state)
{
    (void)state;
    ty_shape_def def = ty_shape_default(TY_SHAPE_BOX);
    def.max[1] = def.min[1];
    def.place = (ty_place){"dam.yaml", 7, 5};
    ty_shape s;
    ty_status status = ty_shape_create(&s, &def, 0.1, NULL);
    assert_int_equal(status.code, TY_BAD_INPUT);
    assert_int_equal(status.line, 7);
    ty_shape_destroy(&s);
    def = ty_shape_default(TY_SHAPE_SPHERE);
    def.radius = 0.0;
    assert_code(ty_shape_create(&s, &def, 0.1, NULL), TY_BAD_INPUT);
    ty_shape_destroy(&s);
}

static ty_shape_def pair_of(ty_shape_kind kind, ty_shape_def a, ty_shape_def b)
{
    ty_shape_def def = ty_shape_default(kind);
    def.n_children = 2;
    def.children = ty_alloc(2, sizeof *def.children);
    def.children[0] = a;
    def.children[1] = b;
    return def;
}

static void combinations_follow_set_algebra(void** state)
{
    (void)state;
    uint64_t seed = 3;
    const ty_shape_kind kinds[] = {TY_SHAPE_UNION, TY_SHAPE_INTERSECTION, TY_SHAPE_DIFFERENCE};
    for (int k = 0; k < 3; ++k) {
        ty_shape_def def = pair_of(kinds[k], primitives(TY_SHAPE_BOX), primitives(TY_SHAPE_SPHERE));
        def.invert = k == 1;
        ty_shape s, a, b;
        assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
        assert_ok(ty_shape_create(&a, &def.children[0], 0.1, NULL));
        assert_ok(ty_shape_create(&b, &def.children[1], 0.1, NULL));
        for (int i = 0; i < 3000; ++i) {
            ty_vec3 x = ty_vec(uniform(&seed, -1, 1), uniform(&seed, -1, 1), uniform(&seed, -1, 1));
            bool in_a = at(&a, x) < 0.0, in_b = at(&b, x) < 0.0;
            bool in = k == 0 ? in_a || in_b : k == 1 ? !(in_a && in_b) : in_a && !in_b;
            assert_int_equal(at(&s, x) < 0.0, in);
        }
        assert_true(s.exact_band == 0.0);
        ty_shape_destroy(&s), ty_shape_destroy(&a), ty_shape_destroy(&b);
        ty_shape_def_free(&def);
    }
}

static void a_union_of_parts_that_keep_apart_is_exact(void** state)
{
    (void)state;
    uint64_t seed = 5;
    ty_shape_def ball = primitives(TY_SHAPE_SPHERE);
    ball.center[0] = 1.2;
    ty_shape_def def = pair_of(TY_SHAPE_UNION, primitives(TY_SHAPE_BOX), ball);
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.1, NULL));
    check_eikonal(&s, &seed);
    assert_true(s.exact_band == INFINITY);
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_of_primitives_are_exact),
        cmocka_unit_test(bounds_hold_the_inside_and_touch_it),
        cmocka_unit_test(sizes_that_make_no_shape_are_refused_with_their_place),
        cmocka_unit_test(combinations_follow_set_algebra),
        cmocka_unit_test(a_union_of_parts_that_keep_apart_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
