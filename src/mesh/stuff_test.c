// SPDX-License-Identifier: Apache-2.0
#include "mesh/stuff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "mesh/stuff_stage.h"
#include "test.h"

static void sphere_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // centre, radius
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(s)) - s[3];
}

static void torus_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;
    for (int i = 0; i < n; ++i) out[i] = hypot(hypot(x[i][0], x[i][2]) - s[0], x[i][1]) - s[1];
}

// A box turned by an angle that no lattice plane has; exact inside, a bound outside.
static void box_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // half widths, angle
    double c = cos(s[3]), d = sin(s[3]);
    for (int i = 0; i < n; ++i) {
        double p[3] = {c * x[i][0] - d * x[i][1], d * x[i][0] + c * x[i][1], x[i][2]},
               most = -INFINITY;
        for (int axis = 0; axis < 3; ++axis) most = fmax(most, fabs(p[axis]) - s[axis]);
        out[i] = most;
    }
}

// Plane waves of about two cells' length inside a ball.
static void noise_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // seed, wave number, radius, factor
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int w = 0; w < 8; ++w) {
            double phase = 0.0;
            for (int axis = 0; axis < 3; ++axis)
                phase += s[1] *
                         (2.0 * ty_unit(ty_mix2((uint64_t)s[0], (uint64_t)(8 * axis + w))) - 1.0) *
                         x[i][axis];
            sum += cos(phase + w);
        }
        out[i] = s[3] * fmax(sum / 8.0, ty_norm(ty_load3(x[i])) - s[2]);
    }
}

// Two drops that touch, and a tilted sheet.
static void drops_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // distance of the centres from the middle, radius
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]), d = ty_normalize(ty_vec(1.0, 0.31, 0.17));
        out[i] = fmin(ty_norm(p - s[0] * d), ty_norm(p + s[0] * d)) - s[1];
    }
}

static void sheet_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // half thickness, radius
    ty_vec3 normal = ty_normalize(ty_vec(0.3, 1.0, 0.21));
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]);
        out[i] = fmax(fabs(ty_dot(p, normal)) - s[0], ty_norm(p) - s[1]);
    }
}

// A sheet along the lattice's planes of edges.
static void diagonal_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;    // half thickness, radius, where its middle is
    ty_vec3 normal = ty_normalize(ty_vec(1.0, 1.0, 0.0));
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]);
        out[i] = fmax(fabs(ty_dot(p, normal) - s[2]) - s[0], ty_norm(p) - s[1]);
    }
}

static ty_stuff_def unit_def(double cell)
{
    ty_stuff_def def = ty_stuff_default();
    def.cell = cell;
    def.box = (ty_box){{-1, -1, -1}, {1, 1, 1}};
    return def;
}

static void spheres_and_tori_have_the_right_topology_and_volume(void** state)
{
    (void)state;
    double sphere[4] = {0.013, 0.021, -0.017, 0.626}, torus[2] = {0.54, 0.222};
    ty_sampler phi[2] = {{sphere, 1, 10.0, sphere_eval}, {torus, 1, 10.0, torus_eval}};
    double exact[2] = {4.0 / 3.0 * M_PI * pow(0.626, 3), 2.0 * M_PI * M_PI * 0.54 * 0.222 * 0.222};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_tri_mesh boundary = {0};
    for (int shape = 0; shape < 2; ++shape)
        for (int uniform = 0; uniform < 2; ++uniform) {
            double error[2];
            for (int fine = 0; fine < 2; ++fine) {
                ty_stuff_def def = unit_def(1.0 / (16 << fine));
                def.uniform = uniform;
                assert_ok(ty_stuff_mesh(&s, &phi[shape], &def, &m));
                assert_ok(ty_tet_mesh_validate(&m));
                assert_ok(ty_tet_mesh_boundary(&m, &boundary));
                ty_tri_mesh_report report;
                assert_ok(ty_tri_mesh_inspect(&boundary, &report));
                assert_int_equal(report.euler, shape == 0 ? 2 : 0);
                assert_int_equal(report.nonmanifold_edges + report.flipped + report.open_edges, 0);
                for (int v = m.n_inner; v < m.n_verts; ++v) {
                    double f;
                    ty_sample(&phi[shape], 1, (const double(*)[3]) & m.vert[v], &f);
                    assert_true(fabs(f) < 1e-6 * def.cell);
                }
                error[fine] = ty_tet_mesh_volume(&m) / exact[shape] - 1.0;
                assert_near(ty_tri_mesh_volume(&boundary), ty_tet_mesh_volume(&m), 1e-12);
            }
            assert_true(fabs(error[1]) < 2e-2);
            assert_near(error[0] / error[1], 4.0, 0.5);    // second order
        }
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
    ty_tri_mesh_free(&boundary);
}

static void hideous_input_keeps_the_bound(void** state)
{
    (void)state;
    double cell = 1.0 / 12, noise[4] = {1, 100.0, 0.8, 0.05}, wild[4] = {2, 100.0, 0.7, 500.0};
    double drops[2] = {0.4, 0.4}, sheet[2] = {0.5 * 0.5 * cell, 0.7}, box[4] = {0.5, 0.4, 0.3, 0.4};
    double aligned[4] = {0.5, 0.75, 0.25, 0.0}, thin[2] = {0.6 * cell, 0.7};
    ty_sampler phi[] = {{noise, 1, 0.0, noise_eval},  {wild, 1, 0.0, noise_eval},
                        {drops, 1, 10.0, drops_eval}, {sheet, 1, 10.0, sheet_eval},
                        {box, 1, 0.0, box_eval},      {aligned, 1, 0.0, box_eval},
                        {thin, 1, 10.0, sheet_eval}};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    for (int which = 0; which < 7; ++which)
        for (int uniform = 0; uniform < 2; ++uniform)
            for (int repeat = 0; repeat < 2; ++repeat) {
                ty_stuff_def def = unit_def(cell);
                def.uniform = uniform;
                if (which == 1) def.levels = 3;    // |grad| of 500: found by the signs alone
                noise[0] = wild[0] = repeat;
                for (int axis = 0; axis < 3; ++axis) def.origin[axis] = 0.31 * cell * axis * repeat;
                ty_status status = ty_stuff_mesh(&s, &phi[which], &def, &m);
                if (which == 3 && status.code == TY_EMPTY)
                    continue;    // a sheet of half a cell may vanish
                assert_ok(status);
                assert_ok(ty_octree_validate(&m.tree, TY_OCTREE_STUFF));
                assert_ok(ty_tet_mesh_validate(&m));
            }
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

// Rule 4 of the octree: nothing but finest lattice tets is cut or warped.
// Half way between two layers of vertices, all of which move to its sides: no vertex is left inside.
static void sheets_are_filled_wherever_the_lattice_lies(void** state)
{
    (void)state;
    enum { CELLS = 16 };
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / CELLS);
    double apart = def.cell / sqrt(2.0);
    for (int at = 0; at < 4; ++at) {
        double sheet[3] = {0.6 * def.cell, 0.8, 0.25 * at * apart};
        ty_sampler phi = {sheet, 1, 10.0, diagonal_eval};
        assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
        assert_ok(ty_tet_mesh_validate(&m));
        assert_near(ty_tet_mesh_volume(&m) / (M_PI * 0.8 * 0.8 * 2.0 * sheet[0]), 1.0, 0.1);
    }
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

static void coarse_tets_are_never_warped(void** state)
{
    (void)state;
    double drops[2] = {0.4, 0.45};
    ty_sampler phi = {drops, 1, 10.0, drops_eval};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / 32);
    assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
    ty_tet_quality q = ty_tet_mesh_quality(&m);
    for (int shape = 0; shape < 5; ++shape) assert_true(q.by_shape[shape] > 0);
    for (int o = m.tree.level[1].first; o < m.tree.n_octants; ++o)
        for (int t = m.first_tet[o]; t < m.first_tet[o + 1]; ++t)
            assert_true(ty_kind_shape(m.kind[t]) != TY_TET_IRREGULAR &&
                        ty_kind_level(m.kind[t]) > 0);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

static void looked_up_geometry_is_that_of_the_vertices(void** state)
{
    (void)state;
    double sphere[4] = {0.01, 0.02, 0.03, 0.8};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / 16);
    assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
    for (int t = 0; t < m.n_tets; ++t) {
        ty_tet_geometry looked = ty_tet_mesh_geometry(&m, t);
        m.kind[t] = ty_make_kind(TY_TET_IRREGULAR, 0);
        ty_tet_geometry made = ty_tet_mesh_geometry(&m, t);
        assert_near(looked.volume / made.volume, 1.0, 1e-10);
        for (int i = 0; i < 4; ++i)
            for (int axis = 0; axis < 3; ++axis)
                assert_near(looked.S[i][axis], made.S[i][axis], 1e-14);
    }
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

static bool holds(const ty_tet_mesh* m, int t, const double x[3])
{
    ty_vec3 p[4];
    for (int i = 0; i < 4; ++i) p[i] = ty_load3(m->vert[m->tet[t][i]]) - ty_load3(x);
    double v[4] = {ty_dot(p[1], ty_cross(p[2], p[3])), -ty_dot(p[0], ty_cross(p[2], p[3])),
                   ty_dot(p[3], ty_cross(p[0], p[1])), -ty_dot(p[2], ty_cross(p[0], p[1]))};
    return v[0] > -1e-15 && v[1] > -1e-15 && v[2] > -1e-15 && v[3] > -1e-15;
}

// Points made from tets must be found in a tet that holds them; points outside the surface in none.
static void points_are_located(void** state)
{
    (void)state;
    double noise[4] = {4, 30.0, 0.8, 0.05};
    ty_sampler phi = {noise, 1, 0.0, noise_eval};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / 16);
    assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
    double(*x)[3] = malloc(sizeof *x * (size_t)m.n_tets);
    int* found = malloc(sizeof *found * (size_t)m.n_tets);
    for (int t = 0; t < m.n_tets; ++t) {
        ty_vec3 p = ty_vec(0, 0, 0);
        double weight = 0.0;
        for (int i = 0; i < 4; ++i) {
            double w = ty_unit(ty_mix2((uint64_t)t, (uint64_t)i));
            p += w * ty_load3(m.vert[m.tet[t][i]]);
            weight += w;
        }
        ty_store3(x[t], p / weight);
    }
    for (int pass = 0; pass < 2; ++pass) {
        ty_tet_mesh_locate(&m, m.n_tets, (const double(*)[3])x, found);
        for (int t = 0; t < m.n_tets; ++t) assert_true(found[t] >= 0 && holds(&m, found[t], x[t]));
        for (int t = m.n_tets - 1; t > 0; --t) {    // then in random order
            int other = (int)(ty_mix((uint64_t)t) % (uint64_t)(t + 1));
            double swap[3];
            memcpy(swap, x[t], sizeof swap);
            memcpy(x[t], x[other], sizeof swap);
            memcpy(x[other], swap, sizeof swap);
        }
    }
    double out[3][3] = {{5, 5, 5}, {-0.99, 0.99, 0.99}, {1e300, 0, 0}};
    ty_tet_mesh_locate(&m, 3, (const double(*)[3])out, found);
    for (int i = 0; i < 3; ++i) assert_int_equal(found[i], -1);
    free(x);
    free(found);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

static uint64_t mesh_hash(const ty_tet_mesh* m)
{
    ty_hash h = ty_hash_begin();
    ty_hash_add(&h, m->vert, (size_t)m->n_verts * sizeof *m->vert);
    ty_hash_add(&h, m->tet, (size_t)m->n_tets * sizeof *m->tet);
    ty_hash_add(&h, m->kind, (size_t)m->n_tets * sizeof *m->kind);
    ty_hash_add(&h, m->tet_face, (size_t)m->n_tets * sizeof *m->tet_face);
    ty_hash_add(&h, m->face_tet, (size_t)m->n_faces * sizeof *m->face_tet);
    return ty_hash_end(&h);
}

// A steep function: some cut edges end where it is more than the band, and is only told roughly.
static void steep_eval(const void* self, int n, const double (*x)[3], double* out)
{
    torus_eval(self, n, x, out);
    for (int i = 0; i < n; ++i) out[i] *= 1.0 + 0.5 * sin(20.0 * x[i][0]);
}

static void roughly_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;
    steep_eval(s, n, x, out);
    for (int i = 0; i < n; ++i)
        if (fabs(out[i]) > s[2]) out[i] = copysign((3.0 + sin(7.0 * x[i][1])) * s[2], out[i]);
}

static void rough_values_far_from_the_surface_change_nothing(void** state)
{
    (void)state;
    double torus[3] = {0.5, 0.2, 0.02};
    ty_sampler phi = {torus, 1, 0.0, steep_eval}, roughly = {torus, 1, torus[2], roughly_eval};
    ty_stuff_def def = ty_stuff_default();
    def.cell = 0.02;
    def.box = (ty_box){{-0.8, -0.8, -0.8}, {0.8, 0.8, 0.8}};
    ty_stuff scratch = {0};
    ty_tet_mesh one = {0}, two = {0};
    assert_ok(ty_stuff_mesh(&scratch, &phi, &def, &one));
    def.roughly = &roughly;
    assert_ok(ty_stuff_mesh(&scratch, &phi, &def, &two));
    assert_int_equal(one.n_verts, two.n_verts);
    assert_int_equal(one.n_tets, two.n_tets);
    assert_memory_equal(one.vert, two.vert, sizeof *one.vert * (size_t)one.n_verts);
    assert_memory_equal(one.tet, two.tet, sizeof *one.tet * (size_t)one.n_tets);
    ty_tet_mesh_free(&one);
    ty_tet_mesh_free(&two);
    ty_stuff_free(&scratch);
}

static void same_bits_for_any_number_of_threads(void** state)
{
    (void)state;
    double noise[4] = {5, 60.0, 0.8, 0.05};
    ty_sampler phi = {noise, 1, 0.0, noise_eval};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / 16);
    ty_threads_set(1);
    assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
    uint64_t expected = mesh_hash(&m);
    for (int threads = 2; threads <= 4; ++threads) {
        ty_threads_set(threads);
        assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
        assert_true(mesh_hash(&m) == expected);
    }
    ty_threads_set(2);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

static void a_thousand_rebuilds_take_no_new_memory(void** state)
{
    (void)state;
    double sphere[4] = {0, 0, 0, 0.3};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / 8);
    int64_t count = 0;
    for (int i = 0; i < 1000; ++i) {
        if (i == 8) count = ty_memory_count();
        for (int axis = 0; axis < 3; ++axis) sphere[axis] = 0.2 * sin((double)(i % 8) * (axis + 1));
        assert_ok(ty_stuff_mesh(&s, &phi, &def, &m));
    }
    // The arrays may grow once more when places repeat in another order; not a hundred times.
    assert_true(ty_memory_count() - count <= 8);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

static void empty_input_and_failed_allocations_are_reported(void** state)
{
    (void)state;
    double sphere[4] = {0, 0, 0, -1.0};
    ty_sampler phi = {sphere, 1, 10.0, sphere_eval};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    ty_stuff_def def = unit_def(1.0 / 8);
    assert_code(ty_stuff_mesh(&s, &phi, &def, &m), TY_EMPTY);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
    sphere[3] = 0.4;
    int64_t alive = ty_memory_alive();
    bool done = false;
    for (int k = 1; !done; ++k) {
        ty_memory_fail_after(k);
        ty_status status = ty_stuff_mesh(&s, &phi, &def, &m);
        ty_memory_fail_after(0);
        done = status.code == TY_OK;
        assert_true(done || status.code == TY_NO_MEMORY);
        ty_stuff_free(&s);
        ty_tet_mesh_free(&m);
        assert_int_equal(ty_memory_alive(), alive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_and_tori_have_the_right_topology_and_volume),
        cmocka_unit_test(hideous_input_keeps_the_bound),
        cmocka_unit_test(sheets_are_filled_wherever_the_lattice_lies),
        cmocka_unit_test(coarse_tets_are_never_warped),
        cmocka_unit_test(looked_up_geometry_is_that_of_the_vertices),
        cmocka_unit_test(points_are_located),
        cmocka_unit_test(rough_values_far_from_the_surface_change_nothing),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_thousand_rebuilds_take_no_new_memory),
        cmocka_unit_test(empty_input_and_failed_allocations_are_reported),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
