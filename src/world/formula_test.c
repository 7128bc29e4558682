// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "world/shape.h"
#include "world/world_test.h"

static ty_shape_def formula_def(const char* text)
{
    ty_shape_def def = ty_shape_default(TY_SHAPE_FORMULA);
    def.formula.kind = TY_VARY_EXPRESSION;
    def.formula.place = (ty_place){"wave.yaml", 4, 12};
    assert_ok(ty_expr_create(&def.formula.expr[0], text));
    return def;
}

static double at(const ty_shape* s, double x, double y, double z)
{
    double p[1][3] = {{x, y, z}}, d;
    ty_shape_distance(s, 1, (const double(*)[3])p, &d);
    return d;
}

static void a_plane_is_exact_however_steep_its_formula(void** state)
{
    (void)state;
    ty_shape_def def = formula_def("7 * (y - 0.5)");
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.05, NULL));
    for (double y = -1; y < 2; y += 0.1) assert_near(at(&s, 0.3, y, 0.1), y - 0.5, 1e-5);
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

// x^2 + y^2 + z^2 - r^2 is no distance: phi / |grad phi| alone is wrong by d^2 / 2r.
static void a_ball_is_a_distance_near_its_surface(void** state)
{
    (void)state;
    ty_shape_def def = formula_def("x^2 + y^2 + z^2 - 0.25");
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.02, NULL));
    uint64_t seed = 3;
    for (int i = 0; i < 2000; ++i) {
        ty_vec3 x = ty_vec(uniform(&seed, -1, 1), uniform(&seed, -1, 1), uniform(&seed, -1, 1));
        double exact = ty_norm(x) - 0.5, d = at(&s, x[0], x[1], x[2]);
        assert_int_equal(d < 0, exact < 0);
        if (fabs(exact) < 0.04)
            assert_near(d, exact, 2e-4);    // two cells: within a hundredth of a cell
    }
    assert_true(isfinite(at(&s, 0, 0, 0)) && at(&s, 0, 0, 0) < 0);    // where the gradient vanishes
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

static void a_formula_in_time_moves_its_surface(void** state)
{
    (void)state;
    ty_shape_def def = formula_def("3 * (y - 0.5 - 0.2 * t^2)");
    ty_shape s;
    assert_ok(ty_shape_create(&s, &def, 0.05, NULL));
    assert_ok(ty_shape_move(&s, 2.0, 0.1));
    double x[1][3] = {{0.2, 1.3, 0.4}}, v[1][3];
    assert_near(at(&s, 0.2, 1.3, 0.4), 0, 1e-9);
    ty_shape_velocity(&s, 1, (const double(*)[3])x, v);
    assert_near(ty_norm(ty_load3(v[0]) - ty_vec(0, 0.8, 0)), 0, 1e-6);
    assert_true(s.moves);
    ty_shape_destroy(&s);
    ty_shape_def_free(&def);
}

static void a_formula_that_gives_no_number_is_reported(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_liquid_def* liquid = grow(def.liquids, def.n_liquids);
    *liquid = ty_liquid_default(TY_SHAPE_FORMULA);
    liquid->shape = formula_def("log(x)");
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_true(sample1(ty_world_liquid(w), -1, 0.5, 0.5) > 0);
    ty_status s = ty_world_status(w);
    assert_int_equal(s.code, TY_BAD_INPUT);
    assert_int_equal(s.line, 4);
    assert_int_equal(s.column, 12);
    assert_non_null(strstr(s.message, "log(x)"));
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_is_exact_however_steep_its_formula),
        cmocka_unit_test(a_ball_is_a_distance_near_its_surface),
        cmocka_unit_test(a_formula_in_time_moves_its_surface),
        cmocka_unit_test(a_formula_that_gives_no_number_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
