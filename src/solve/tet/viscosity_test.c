// SPDX-License-Identifier: Apache-2.0
#include "solve/tet/viscosity.h"

#include "core/hash.h"
#include "test.h"

// Liquid in a box or a ball, with or without a tank around it.
typedef struct rig {
    ty_world_def def;
    ty_world* world;
    double lo[3], hi[3], radius, cell;    // radius > 0: a ball in the box's middle
    bool uniform;                         // tets do not grow inside
    bool whole;                           // the whole stress tensor
    ty_stuff stuff;
    ty_tet_motion m;
    ty_tet_stars stars;
    ty_tet_viscous* v;
    ty_solve_stats stats;
} rig;

static const ty_vec3 MIDDLE = {0.5, 0.5, 0.5};

static void liquid_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const rig* r = self;
    for (int i = 0; i < n; ++i) {
        out[i] = r->radius > 0.0 ? ty_norm(ty_load3(x[i]) - MIDDLE) - r->radius : -INFINITY;
        for (int axis = 0; axis < 3 && !(r->radius > 0.0); ++axis)
            out[i] = fmax(out[i], fmax(r->lo[axis] - x[i][axis], x[i][axis] - r->hi[axis]));
    }
}

static rig rig_default(double cell)
{
    rig r = {.def = ty_world_default(), .lo = {0, 0, 0}, .hi = {1, 1, 1}, .cell = cell};
    return r;
}

static void rig_build(rig* r)
{
    ty_stuff_def def = ty_stuff_default();
    ty_sampler liquid = {r, 1, 1e30, liquid_eval};
    const double lo[3] = {-0.5, -0.5, -0.5}, hi[3] = {1.5, 1.5, 1.5};
    def.cell = r->cell;
    def.uniform = r->uniform;
    def.origin[0] = 0.013, def.origin[1] = 0.021, def.origin[2] = 0.007;
    def.box = ty_box_empty();
    ty_box_add(&def.box, lo);
    ty_box_add(&def.box, hi);
    assert_ok(ty_world_create(&r->world, &r->def, r->cell));
    assert_ok(ty_stuff_mesh(&r->stuff, &liquid, &def, &r->m.state.mesh));
    assert_ok(ty_tet_shares(&r->m.state, &liquid, r->world, r->cell));
    assert_true(ty_array_resize(&r->m.state.u, r->m.state.mesh.n_tets));
    assert_ok(ty_tet_motion_measure(&r->m));
    assert_ok(ty_tet_stars_make(&r->stars, &r->m.state.mesh));
    assert_ok(ty_tet_viscous_create(
        &r->v, r->whole ? TY_VISCOSITY_VARIATIONAL : TY_VISCOSITY_DIFFUSION, 1e-10));
}

static void rig_free(rig* r)
{
    ty_tet_viscous_destroy(r->v);
    ty_tet_stars_free(&r->stars);
    ty_tet_motion_free(&r->m);
    ty_stuff_free(&r->stuff);
    ty_world_destroy(r->world);
    ty_world_def_free(&r->def);
}

static void diffuse(rig* r, double nu, double dt, int steps)
{
    for (int i = 0; i < steps; ++i)
        assert_ok(ty_tet_diffuse(r->v, &r->m, r->world, &r->stars, &nu, false, dt, &r->stats));
}

static double open_volume(const rig* r, int t) { return r->m.state.open.at[t] * r->m.volume.at[t]; }

static double energy(const rig* r)
{
    double sum = 0.0;
    for (int t = 0; t < r->m.state.mesh.n_tets; ++t)
        sum += open_volume(r, t) * ty_dot(r->m.state.u.at[t], r->m.state.u.at[t]);
    return sum;
}

static ty_vec3 momentum(const rig* r)
{
    ty_vec3 sum = {0};
    for (int t = 0; t < r->m.state.mesh.n_tets; ++t) sum += open_volume(r, t) * r->m.state.u.at[t];
    return sum;
}

static void uniform_motion_is_kept(void** unused)
{
    (void)unused;
    rig r = rig_default(0.1);
    r.radius = 0.43;
    rig_build(&r);
    ty_vec3 u = ty_vec(0.3, -1.2, 0.7);
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t) r.m.state.u.at[t] = u;
    diffuse(&r, 3.0, 0.1, 2);
    double off = 0.0;
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t) off = fmax(off, ty_norm(r.m.state.u.at[t] - u));
    assert_true(off < 1e-9);
    rig_free(&r);
}

// Cosine shear between free ends: du/dn = 0 there.
static double shear_rate(bool uniform, int waves, double nu, double dt, int steps)
{
    rig r = rig_default(0.1);
    r.uniform = uniform;
    rig_build(&r);
    double k = M_PI * waves, before = 0.0, after = 0.0;
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t) {
        double c = cos(k * r.m.centre.at[t][0]);
        r.m.state.u.at[t] = ty_vec(0, c, 0);
        before += open_volume(&r, t) * c * c;
    }
    diffuse(&r, nu, dt, steps);
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t)
        after += open_volume(&r, t) * cos(k * r.m.centre.at[t][0]) * r.m.state.u.at[t][1];
    rig_free(&r);
    return -log(after / before) / (nu * k * k * dt * steps);
}

static void shear_decays_at_its_rate(void** unused)
{
    (void)unused;
    // Half a wave on 10 cells, then a whole one; steps so small that backward Euler's own error is
    // 0.2 %. That of means over vertices and of the linear field's slope is at most (k h)^2 / 8 on
    // the lattice; a box of 10 cells is graded in its middle only.
    for (int uniform = 0; uniform < 2; ++uniform)
        for (int waves = 1; waves <= 2; ++waves) {
            double rate = shear_rate(uniform, waves, 0.01, 0.05 / (waves * waves), 10);
            print_message("rate / exact: %.4f at %d cells a wave, %s\n", rate, 20 / waves,
                          uniform ? "uniform" : "graded");
            double kh = 0.1 * M_PI * waves;
            assert_near(rate, 1.0, (uniform ? 1.0 : 1.5) * kh * kh / 8.0);
        }
}

// Flow along z between sticking planes x = 0.1 and 0.9, the mesh running on into them.
static void flow_between_sticking_walls_decays(void** unused)
{
    (void)unused;
    rig r = rig_default(0.08);
    r.def.obstacles = ty_alloc(1, sizeof *r.def.obstacles);
    r.def.obstacles[0] = ty_obstacle_default(TY_SHAPE_BOX);
    r.def.n_obstacles = 1;
    ty_obstacle_def* walls = &r.def.obstacles[0];
    for (int axis = 0; axis < 3; ++axis) walls->shape.min[axis] = -9, walls->shape.max[axis] = 9;
    walls->shape.min[0] = 0.1, walls->shape.max[0] = 0.9;
    walls->shape.invert = true;
    walls->slip = 0.0;
    r.lo[0] = 0.1 - TY_TET_DEPTH * r.cell, r.hi[0] = 0.9 + TY_TET_DEPTH * r.cell;
    rig_build(&r);
    double k = M_PI / 0.8, before = 0.0, after = 0.0, nu = 0.02, dt = 0.02;
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t) {
        double s = sin(k * (r.m.centre.at[t][0] - 0.1));
        r.m.state.u.at[t] = ty_vec(0, 0, s);
        before += open_volume(&r, t) * s * s;
    }
    diffuse(&r, nu, dt, 20);
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t)
        after += open_volume(&r, t) * sin(k * (r.m.centre.at[t][0] - 0.1)) * r.m.state.u.at[t][2];
    double rate = -log(after / before) / (nu * k * k * dt * 20);
    print_message("rate / exact between sticking walls: %.4f\n", rate);
    assert_near(rate, 1.0, 0.05);
    // Forever: at rest.
    diffuse(&r, 1e6, 1e3, 1);
    assert_true(sqrt(energy(&r)) < 1e-3);
    rig_free(&r);
}

static void no_viscosity_is_too_large(void** unused)
{
    (void)unused;
    rig r = rig_default(0.1);
    r.radius = 0.43;
    rig_build(&r);
    double volume = 0.0;
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t) {
        for (int axis = 0; axis < 3; ++axis)
            r.m.state.u.at[t][axis] = ty_unit(ty_mix2((uint64_t)t, (uint64_t)axis)) - 0.3;
        volume += open_volume(&r, t);
    }
    static const double nu[] = {1e-8, 1e-3, 1.0, 1e4, 1e10};
    for (int i = 0; i < 5; ++i) {
        double had = energy(&r);
        ty_vec3 before = momentum(&r);
        diffuse(&r, nu[i], 0.1, 1);
        assert_true(energy(&r) <=
                    had * (1.0 + 1e-7));    // what a tolerance of 1e-10 leaves where nu is largest
        assert_true(ty_norm(momentum(&r) - before) < 1e-7 * volume);
    }
    // All moves as one.
    ty_vec3 mean = momentum(&r) / volume;
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t)
        assert_true(ty_norm(r.m.state.u.at[t] - mean) < 1e-5);
    rig_free(&r);
}

// Components are not coupled, so the free surface holds a rotation back: by how much is known. In a
// ball of radius R the component -w y decays as the first mode of Neumann's problem, exp(-nu
// (2.0816 / R)^2 t), once the profile is its.
static void a_rotating_ball_is_held_back_as_the_form_says(void** unused)
{
    (void)unused;
    rig r = rig_default(0.08);
    r.radius = 0.45;
    rig_build(&r);
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t)
        r.m.state.u.at[t] = ty_cross(ty_vec(0, 0, 1), r.m.centre.at[t] - MIDDLE);
    double nu = 0.01, dt = 0.05, turning[2] = {0};
    diffuse(&r, nu, dt, 20);
    for (int pass = 0; pass < 2; ++pass) {
        for (int t = 0; t < r.m.state.mesh.n_tets; ++t)
            turning[pass] += open_volume(&r, t) *
                             ty_cross(r.m.centre.at[t] - MIDDLE, r.m.state.u.at[t])[2];
        if (pass == 0) diffuse(&r, nu, dt, 10);
    }
    double rate = -log(turning[1] / turning[0]) / (nu * dt * 10), k = 2.0816 / 0.45;
    print_message("rotation: decay / that of the form %.4f\n", rate / (k * k));
    assert_near(rate / (k * k), 1.0, 0.05);
    rig_free(&r);
}

static void with_the_whole_stress_a_ball_turns_on(void** unused)
{
    (void)unused;
    rig r = rig_default(0.08);
    r.radius = 0.45;
    r.whole = true;
    rig_build(&r);
    ty_vec3 spin = ty_vec(0.7, -0.3, 1.0), way = ty_vec(0.1, 0.2, -0.4);
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t)
        r.m.state.u.at[t] = way + ty_cross(spin, r.m.centre.at[t] - MIDDLE);
    diffuse(&r, 3.0, 0.1, 2);
    double off = 0.0;
    for (int t = 0; t < r.m.state.mesh.n_tets; ++t) {
        ty_vec3 exact = way + ty_cross(spin, r.m.centre.at[t] - MIDDLE);
        off = fmax(off, ty_norm(r.m.state.u.at[t] - exact));
    }
    print_message("the turning ball is off by %.1e\n", off);
    assert_true(off < 1e-7);
    rig_free(&r);
}

// A ball that is drawn out, u = (x, -y / 2, -z / 2): D is that everywhere, so its energy falls at 2 nu
// D:D V, by Rayleigh's quotient for the field it begins with; with the form by components at nu
// |grad u|^2 V, half of that. In a layer of 0.1 cells under the surface (the tie between tets and
// linear field) the latter gives way.
static void with_the_whole_stress_a_drawn_ball_loses_twice_as_much(void** unused)
{
    (void)unused;
    double loss[2], volume[2] = {0}, nu = 0.01, dt = 1e-4, layer = 0.0;
    for (int whole = 0; whole < 2; ++whole) {
        rig r = rig_default(0.08);
        r.radius = 0.45;
        r.whole = whole;
        rig_build(&r);
        for (int t = 0; t < r.m.state.mesh.n_tets; ++t) {
            r.m.state.u.at[t] = (r.m.centre.at[t] - MIDDLE) * ty_vec(1.0, -0.5, -0.5);
            volume[whole] += open_volume(&r, t);
        }
        double had = 0.5 * energy(&r);
        layer = 3.0 * 0.1 * r.cell / r.radius;
        diffuse(&r, nu, dt, 1);
        loss[whole] = (had - 0.5 * energy(&r)) / (nu * dt * volume[whole]);
        rig_free(&r);
    }
    print_message("loss / (nu V): %.4f by components, %.4f with the whole stress\n", loss[0],
                  loss[1]);
    assert_near(loss[0], 1.5, 1.5 * layer);
    assert_near(loss[1], 3.0, 3.0 * layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_whole_stress_a_ball_turns_on),
        cmocka_unit_test(with_the_whole_stress_a_drawn_ball_loses_twice_as_much),
        cmocka_unit_test(uniform_motion_is_kept),
        cmocka_unit_test(shear_decays_at_its_rate),
        cmocka_unit_test(flow_between_sticking_walls_decays),
        cmocka_unit_test(no_viscosity_is_too_large),
        cmocka_unit_test(a_rotating_ball_is_held_back_as_the_form_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
