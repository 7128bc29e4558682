// SPDX-License-Identifier: Apache-2.0
#include "geometry/thickness.h"

#include "test.h"

typedef struct slab {
    ty_vec3 normal;
    double half, floor;    // the floor is a solid below y = floor
} slab;

static void eval(const void* self, int n, const double (*x)[3], double* out)
{
    const slab* s = self;
    for (int i = 0; i < n; ++i)
        out[i] = fmin(fabs(ty_dot(s->normal, ty_load3(x[i]))) - s->half, x[i][1] - s->floor);
}

static ty_sampler solid_of(const slab* s)
{
    return (ty_sampler){.self = s, .width = 1, .eval = eval};
}

static void a_slab_has_two_faces(void** unused)
{
    (void)unused;
    slab s = {ty_normalize(ty_vec(1, 2, -0.5)), 0.8, -1e3};
    ty_sampler solid = solid_of(&s);
    for (double at = -0.7; at < 0.75; at += 0.1) {
        ty_vec3 x = at * s.normal, out = ty_solid_way_out(&solid, 1.0, x);
        double cosine = ty_dot(out, s.normal), depth = 0.8 - (cosine > 0.0 ? at : -at), thickness;
        bool middle = fabs(at) < 0.25;    // differences reach over it
        assert_near(fabs(cosine), 1.0, middle ? 0.25 : 1e-12);
        assert_true(middle || cosine * at > 0.0);
        assert_true(ty_solid_is_thin(&solid, 1.0, x + depth * out, out, depth, 4.0, &thickness));
        assert_near(thickness, 1.6, middle ? 0.3 : 0.06);
        assert_false(ty_solid_is_thin(&solid, 1.0, x + depth * out, out, depth, 1.3, &thickness));
    }
}

// A plate that lies on the floor, with a slit of a tenth of a cell below it.
static void a_slit_is_no_end(void** unused)
{
    (void)unused;
    slab s = {ty_vec(0, 1, 0), 0.5, -0.6};
    ty_sampler solid = solid_of(&s);
    double thickness;
    ty_vec3 face = ty_vec(0, 0.5, 0), out = ty_vec(0, 1, 0);
    assert_false(ty_solid_is_thin(&solid, 1.0, face, out, 0.1, 6.0, &thickness));
    s.floor = -0.9;
    assert_true(ty_solid_is_thin(&solid, 1.0, face, out, 0.1, 6.0, &thickness));
    assert_near(thickness, 1.0, 0.06);
}

// Water on one side of a wall of two cells, its surface in the wall's middle; a plane of water
// through the wall, tilted by 20 degrees.
static void a_wall_parts_liquid_from_air(void** unused)
{
    (void)unused;
    const double tilt = 2.0 * sin(20.0 * 3.14159265358979 / 180.0);
    for (double near = 0.1; near < 2.0; near += 0.1)
        assert_true(ty_solid_parting(-near, 2.0 - near, 2.0, 1.0) == 1.0);
    assert_true(ty_solid_parting(-1.4, 4.6, 6.0, 1.0) == 0.0);
    assert_near(ty_solid_parting(4.125, -1.875, 6.0, 1.0), 0.5, 1e-12);
    assert_true(ty_solid_parting(-3.0, 3.0, 6.0, 1.0) == 1.0);
    assert_true(ty_solid_parting(-1.0, -0.1, 2.0, 1.0) == 0.0);
    for (double near = -1.0; near < 1.0; near += 0.05)
        assert_true(ty_solid_parting(near, near + tilt, 2.0, 1.0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slab_has_two_faces),
        cmocka_unit_test(a_slit_is_no_end),
        cmocka_unit_test(a_wall_parts_liquid_from_air),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
