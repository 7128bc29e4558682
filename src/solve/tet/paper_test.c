// SPDX-License-Identifier: Apache-2.0
// The paper's interpolation: exact where the lattice is regular, and what surrounds it.
#include "solve/tet/paper.h"

#include "core/hash.h"
#include "test.h"

static const double CELL = 0.1, RADIUS = 0.83;
static const ty_vec3 MIDDLE = {0.52, 0.47, 0.5};

static void ball_eval(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - MIDDLE) - RADIUS;
}

static ty_vec3 linear(ty_vec3 x)
{
    return ty_vec(1.0 + 0.7 * x[0] - 2.0 * x[1], 0.3 * x[2] - 0.5 * x[1],
                  0.4 - 1.1 * x[0] - 0.2 * x[2]);
}

static void fill(ty_tet_motion* m, bool uniform, bool constant)
{
    ty_stuff stuff = {0};
    ty_stuff_def def = ty_stuff_default();
    ty_sampler phi = {NULL, 1, 1e30, ball_eval};
    ty_world_def world_def = ty_world_default();
    ty_world* world;
    ty_tet_stars stars = {0};
    def.cell = CELL;
    def.uniform = uniform;
    def.box = (ty_box){{-0.5, -0.5, -0.5}, {1.5, 1.5, 1.5}};
    assert_ok(ty_world_create(&world, &world_def, CELL));
    assert_ok(ty_stuff_mesh(&stuff, &phi, &def, &m->state.mesh));
    assert_ok(ty_tet_shares(&m->state, &phi, world, CELL));
    ty_tet_state* s = &m->state;
    assert_true(ty_array_resize(&s->u, s->mesh.n_tets) && ty_array_resize(&s->a, s->mesh.n_tets));
    assert_ok(ty_tet_motion_measure(m));
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        s->u.at[t] = constant ? ty_vec(1, 2, 3) : linear(m->centre.at[t]);
        s->a.at[t] = ty_vec(0, 0, 0);
    }
    m->paper = true;
    assert_ok(ty_tet_motion_finish(m, &stars));
    ty_tet_stars_free(&stars);
    ty_stuff_free(&stuff);
    ty_world_destroy(world);
    ty_world_def_free(&world_def);
}

static void random_point(uint64_t seed, double radius, double x[3])
{
    ty_vec3 d;
    do {
        for (int axis = 0; axis < 3; ++axis) x[axis] = 2.0 * ty_unit(seed = ty_mix2(seed, 3)) - 1.0;
        d = ty_load3(x);
    } while (ty_dot(d, d) > 1.0);
    ty_store3(x, MIDDLE + radius * d);
}

// On the regular lattice barycentres are circumcentres, and there the formula was made.
static void linear_fields_are_exact_on_the_lattice(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    fill(&m, true, false);
    for (int i = 0; i < 2000; ++i) {
        double x[1][3], u[3];
        random_point((uint64_t)i, RADIUS - 3.0 * CELL, x[0]);
        ty_tet_sample_dual(&m, NULL, 1, (const double(*)[3])x, u);
        assert_true(ty_norm(ty_load3(u) - linear(ty_load3(x[0]))) < 1e-9);
    }
    ty_tet_motion_free(&m);
}

// Elsewhere they are not: the flaw is of the order of a cell's change, and bounded.
static void graded_tets_spoil_them(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    fill(&m, false, false);
    double worst = 0.0, sum = 0.0;
    for (int i = 0; i < 2000; ++i) {
        double x[1][3], u[3];
        random_point((uint64_t)i, RADIUS, x[0]);
        ty_tet_sample_dual(&m, NULL, 1, (const double(*)[3])x, u);
        double off = ty_norm(ty_load3(u) - linear(ty_load3(x[0]))) /
                     (2.4 * CELL);    // 2.4: the field's steepest slope
        worst = fmax(worst, off), sum += off * off;
    }
    print_message("off by, in the change over a cell: rms %.3f, largest %.3f\n", sqrt(sum / 2000),
                  worst);
    assert_true(worst > 0.05 && worst < 2.0);
    ty_tet_motion_free(&m);
}

static void uniform_fields_are_exact_everywhere(void** unused)
{
    (void)unused;
    ty_tet_motion m = {0};
    fill(&m, false, true);
    for (int v = 0; v < m.state.mesh.n_verts; ++v)
        assert_true(ty_norm(m.u.vert.at[v] - ty_vec(1, 2, 3)) < 1e-12);
    for (int i = 0; i < 1000; ++i) {
        double x[1][3], u[3];
        random_point((uint64_t)i, 1.5 * RADIUS, x[0]);
        ty_tet_sample_dual(&m, NULL, 1, (const double(*)[3])x, u);
        assert_true(ty_norm(ty_load3(u) - ty_vec(1, 2, 3)) < 1e-12);
    }
    ty_tet_motion_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_fields_are_exact_on_the_lattice),
        cmocka_unit_test(graded_tets_spoil_them),
        cmocka_unit_test(uniform_fields_are_exact_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
