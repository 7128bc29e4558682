// SPDX-License-Identifier: Apache-2.0
#include "world/force.h"

#include <math.h>
#include <string.h>

#include "world/world_test.h"

static ty_vec3 push(const ty_world* w, ty_vec3 at, ty_vec3 moving)
{
    double x[1][3], v[1][3], a[1][3] = {{0}};
    ty_store3(x[0], at);
    ty_store3(v[0], moving);
    assert_ok(ty_world_forces(w, 1, (const double(*)[3])x, (const double(*)[3])v, a));
    return ty_load3(a[0]);
}

static ty_force_def* add_force(ty_world_def* def, ty_force_kind kind)
{
    ty_force_def* f = grow(def->forces, def->n_forces);
    *f = ty_force_default(kind);
    set3(f->center, 1, 0.5, 0.5);
    f->radius = 0.4;
    f->strength = ty_varying_number(2);
    return f;
}

static const ty_vec3 STILL = {0, 0, 0, 0};

static void a_point_attracts_within_its_reach(void** state)
{
    (void)state;
    ty_world_def def = tank();
    add_force(&def, TY_FORCE_POINT);
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 1e-6));
    assert_true(ty_world_has_forces(w));
    assert_near(ty_norm(push(w, ty_vec(1.2, 0.5, 0.5), STILL) - ty_vec(-2 * 0.5625, 0, 0)), 0,
                1e-9);
    assert_near(ty_norm(push(w, ty_vec(1.4, 0.5, 0.5), STILL)), 0, 1e-12);
    assert_near(ty_norm(push(w, ty_vec(1, 0.5, 0.5), STILL)), 0, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void a_vortex_turns_about_its_axis(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_force_def* f = add_force(&def, TY_FORCE_VORTEX);
    set3(f->axis, 0, 3, 0);
    f->radius = 0;
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 1e-6));
    assert_near(ty_norm(push(w, ty_vec(1, 0.9, 0.7), STILL) - ty_vec(2, 0, 0)), 0, 1e-9);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

// Explicit steps with the mean acceleration follow the exact solution, for any strength.
static void wind_drags_to_its_velocity_for_any_strength(void** state)
{
    (void)state;
    const double strengths[] = {0.5, 20, 1e6};
    for (int k = 0; k < 3; ++k) {
        ty_world_def def = tank();
        ty_force_def* f = add_force(&def, TY_FORCE_WIND);
        f->vector = ty_varying_vector(3, 0, 0);
        f->strength = ty_varying_number(strengths[k]);
        ty_world* w;
        assert_ok(ty_world_create(&w, &def, 0.1));
        ty_vec3 v = STILL;
        for (int i = 1; i <= 10; ++i) {
            assert_ok(ty_world_move(w, 0.1 * i, 0.1));
            v += 0.1 * push(w, ty_vec(1, 0.5, 0.5), v);
        }
        assert_near(v[0], 3 * (1 - exp(-strengths[k])), 1e-12);
        ty_world_destroy(w);
        ty_world_def_free(&def);
    }
}

static void curl_noise_is_free_of_divergence(void** state)
{
    (void)state;
    static ty_curl_noise noise;
    ty_curl_noise_set(&noise, 3.3);
    const double h = 1e-4;
    uint64_t seed = 9;
    for (int i = 0; i < 500; ++i) {
        double p[3] = {uniform(&seed, -9, 9), uniform(&seed, -9, 9), uniform(&seed, -9, 9)},
               divergence = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            double q[3] = {p[0], p[1], p[2]}, lo[3], hi[3];
            q[axis] = p[axis] - h;
            ty_curl_noise_at(&noise, q, lo);
            q[axis] = p[axis] + h;
            ty_curl_noise_at(&noise, q, hi);
            divergence += (hi[axis] - lo[axis]) / (2 * h);
        }
        assert_near(divergence, 0.0, 1e-5);    // its slopes are about 5
    }
}

static void curl_noise_has_unit_size(void** state)
{
    (void)state;
    static ty_curl_noise noise;
    uint64_t seed = 2;
    double sum = 0.0, mean = 0.0;
    enum { N = 200000 };
    for (int i = 0; i < N; ++i) {
        if (i % 1000 == 0) ty_curl_noise_set(&noise, i * 0.01);
        double p[3] = {uniform(&seed, -50, 50), uniform(&seed, -50, 50), uniform(&seed, -50, 50)},
               u[3];
        ty_curl_noise_at(&noise, p, u);
        sum += ty_dot(ty_load3(u), ty_load3(u));
        mean += u[0];
    }
    assert_near(sqrt(sum / N), 1.0, 0.02);
    assert_near(mean / N, 0.0, 0.02);
}

static void turbulence_changes_smoothly_in_time(void** state)
{
    (void)state;
    ty_world_def def = tank();
    add_force(&def, TY_FORCE_TURBULENCE);
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    ty_vec3 at = ty_vec(0.77, 0.31, 0.42), last = push(w, at, STILL), first = last;
    double total = 0.0;
    for (int i = 1; i <= 200; ++i) {
        assert_ok(ty_world_move(w, 0.005 * i, 0.005));
        ty_vec3 now = push(w, at, STILL);
        assert_true(ty_norm(now - last) < 0.3);
        total += ty_norm(now - last);
        last = now;
    }
    assert_true(total > 1.0 && ty_norm(last - first) > 0.01);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void a_spline_drives_along_its_tangent_and_holds(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_force_def* f = add_force(&def, TY_FORCE_SPLINE);
    for (int i = 0; i < 4; ++i) set3(*grow(f->points, f->n_points), 0.4 * i, 0.5, 0.5);
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_near(ty_norm(push(w, ty_vec(0.55, 0.5, 0.5), STILL) - ty_vec(2, 0, 0)), 0, 1e-12);
    ty_vec3 a = push(w, ty_vec(0.55, 0.6, 0.5), STILL);
    double reach = (1 - 1.0 / 16) * (1 - 1.0 / 16);
    assert_near(ty_norm(a - 2 * reach * ty_vec(1, -0.25, 0)), 0, 1e-12);
    assert_near(ty_norm(push(w, ty_vec(0.55, 0.95, 0.5), STILL)), 0, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void regions_and_times_bound_a_force(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_force_def* f = add_force(&def, TY_FORCE_FIELD);
    f->vector.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&f->vector.expr[1], "x"));
    f->bounded = true;
    f->region = ty_shape_default(TY_SHAPE_BOX);
    f->active[0] = 1;
    f->active[1] = 2;
    ty_world* w;
    assert_ok(ty_world_create(&w, &def, 0.1));
    assert_false(ty_world_has_forces(w));
    assert_ok(ty_world_move(w, 1.5, 0.1));
    expect3(push(w, ty_vec(0.5, 0.5, 0.5), STILL), 0, 1, 0);
    expect3(push(w, ty_vec(1.5, 0.5, 0.5), STILL), 0, 0, 0);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

static void add_pull(const void* self, const ty_force_def* def, const ty_force_points* at,
                     double (*a)[3])
{
    (void)self, (void)def;
    for (int i = 0; i < at->n; ++i) a[i][2] += at->strength[i] * at->x[i][0];
}

static void an_application_adds_its_own_kind(void** state)
{
    (void)state;
    static const ty_force_type kind = {.name = "pull", .add = add_pull};
    ty_world_def def = tank();
    ty_force_def* f = add_force(&def, TY_FORCE_CUSTOM);
    f->custom = ty_strdup("pull");
    ty_world* w;
    assert_code(ty_world_create(&w, &def, 0.1), TY_BAD_INPUT);
    assert_ok(ty_force_register(&kind));
    assert_code(ty_force_register(&kind), TY_EXISTS);
    assert_ptr_equal(ty_force_find("pull"), &kind);
    assert_ok(ty_world_create(&w, &def, 0.1));
    expect3(push(w, ty_vec(0.3, 0.5, 0.5), STILL), 0, 0, 0.6);
    ty_world_destroy(w);
    ty_world_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_attracts_within_its_reach),
        cmocka_unit_test(a_vortex_turns_about_its_axis),
        cmocka_unit_test(wind_drags_to_its_velocity_for_any_strength),
        cmocka_unit_test(curl_noise_is_free_of_divergence),
        cmocka_unit_test(curl_noise_has_unit_size),
        cmocka_unit_test(turbulence_changes_smoothly_in_time),
        cmocka_unit_test(a_spline_drives_along_its_tangent_and_holds),
        cmocka_unit_test(regions_and_times_bound_a_force),
        cmocka_unit_test(an_application_adds_its_own_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
