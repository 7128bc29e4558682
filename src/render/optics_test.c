// SPDX-License-Identifier: Apache-2.0
#include "render/optics.h"

#include "render/random.h"
#include "test.h"

static void fresnel_at_normal_incidence_and_beyond_the_critical_angle(void** state)
{
    (void)state;
    double once = (1.333 - 1.0) / (1.333 + 1.0);
    assert_near(ty_fresnel(1.0, 1.333), once * once, 1e-15);
    assert_near(ty_fresnel(1.0, 1.0 / 1.333), once * once, 1e-15);
    assert_near(ty_fresnel(0.0, 1.333), 1.0, 1e-12);
    double critical = asin(1.0 / 1.333);
    assert_near(ty_fresnel(cos(critical + 1e-6), 1.0 / 1.333), 1.0, 0.0);
    assert_true(ty_fresnel(cos(critical - 1e-2), 1.0 / 1.333) < 0.6);
}

// At Brewster's angle no light of one polarisation comes back; the other half is ((n2 - 1) / (n2 +
// 1))^2 with n2 = n n.
static void fresnel_at_brewsters_angle(void** state)
{
    (void)state;
    double n = 1.5, across = (n * n - 1.0) / (n * n + 1.0);
    assert_near(ty_fresnel(cos(atan(n)), n), 0.5 * across * across, 1e-14);
}

static void light_takes_the_same_way_back(void** state)
{
    (void)state;
    ty_vec3 normal = ty_vec(0, 1, 0);
    for (int i = 1; i < 90; ++i) {
        double angle = i * TY_PI / 180.0;
        ty_vec3 in = ty_vec(sin(angle), -cos(angle), 0), under = in, out = in;
        assert_true(ty_refract(in, normal, 1.333, &under));
        assert_near(under[0] * 1.333, in[0], 1e-14);
        assert_near(ty_norm(under), 1.0, 1e-14);
        assert_true(ty_refract(-under, -normal, 1.0 / 1.333, &out));
        assert_near(ty_norm(out + in), 0.0, 1e-7);
        assert_near(ty_fresnel(-in[1], 1.333), ty_fresnel(-under[1], 1.0 / 1.333), 1e-12);
    }
}

static void refraction_ends_at_the_critical_angle(void** state)
{
    (void)state;
    ty_vec3 out, normal = ty_vec(0, 1, 0);
    double critical = asin(1.0 / 1.333);
    assert_true(ty_refract(ty_vec(sin(critical - 1e-3), -cos(critical - 1e-3), 0), normal,
                           1.0 / 1.333, &out));
    assert_false(ty_refract(ty_vec(sin(critical + 1e-3), -cos(critical + 1e-3), 0), normal,
                            1.0 / 1.333, &out));
}

// Sixteen samples of a pair put one point into each cell of every 16-cell grid: 4 x 4, 2 x 8, 1 x
// 16, ...
static void samples_are_spread_like_a_net(void** state)
{
    (void)state;
    for (int pixel = 0; pixel < 50; ++pixel)
        for (int wide = 1; wide <= 16; wide *= 2) {
            int count[16] = {0};
            for (int sample = 0; sample < 16; ++sample) {
                ty_random r = ty_random_at(pixel, 7, 3, sample);
                double u[2] = {0};
                for (int skip = 0; skip <= pixel % 5; ++skip) ty_random_pair(&r, u);
                assert_true(u[0] >= 0.0 && u[0] < 1.0 && u[1] >= 0.0 && u[1] < 1.0);
                ++count[(int)(u[0] * wide) + wide * (int)(u[1] * (16 / wide))];
            }
            for (int i = 0; i < 16; ++i) assert_int_equal(count[i], 1);
        }
}

static void cosine_directions_have_the_mean_of_the_cosine_law(void** state)
{
    (void)state;
    enum { N = 4096 };
    ty_vec3 normal = ty_normalize(ty_vec(1, 2, -3)), sum = ty_vec(0, 0, 0);
    for (int i = 0; i < N; ++i) {
        ty_random r = ty_random_at(1, 2, 3, i);
        double u[2];
        ty_random_pair(&r, u);
        ty_vec3 d = ty_cosine_direction(normal, u);
        assert_near(ty_norm(d), 1.0, 1e-12);
        assert_true(ty_dot(d, normal) >= 0.0);
        sum += d / N;
    }
    assert_near(ty_norm(sum - 2.0 / 3.0 * normal), 0.0, 2e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresnel_at_normal_incidence_and_beyond_the_critical_angle),
        cmocka_unit_test(fresnel_at_brewsters_angle),
        cmocka_unit_test(light_takes_the_same_way_back),
        cmocka_unit_test(refraction_ends_at_the_critical_angle),
        cmocka_unit_test(samples_are_spread_like_a_net),
        cmocka_unit_test(cosine_directions_have_the_mean_of_the_cosine_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
