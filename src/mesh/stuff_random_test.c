// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Random functions, smooth to hideous, at random places of the lattice: every promise of the
// mesher.
#include <math.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "mesh/stuff.h"
#include "test.h"

enum { N_WAVES = 8, N_SEEDS = 60 };

typedef struct field {
    double wave[N_WAVES][3], phase[N_WAVES], radius, factor;
} field;

static double draw(uint64_t seed, uint64_t which, double low, double high)
{
    return low + (high - low) * ty_unit(ty_mix2(seed, which));
}

static void field_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const field* f = self;
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]);
        double sum = 0.0;
        for (int w = 0; w < N_WAVES; ++w) sum += cos(ty_dot(ty_load3(f->wave[w]), p) + f->phase[w]);
        out[i] = f->factor * fmax(0.3 * sum / N_WAVES, ty_norm(p) - f->radius);
    }
}

// Wave lengths from two cells to the whole box; gradients from 0.003 to 300.
static field make_field(uint64_t seed)
{
    field f = {.radius = draw(seed, 1, 0.3, 0.9), .factor = pow(10.0, draw(seed, 2, -2.5, 2.5))};
    double number = pow(10.0, draw(seed, 3, 0.5, 1.9));
    for (int w = 0; w < N_WAVES; ++w) {
        f.phase[w] = draw(seed, (uint64_t)(10 + w), 0.0, 2.0 * M_PI);
        for (int axis = 0; axis < 3; ++axis)
            f.wave[w][axis] = number * draw(seed, (uint64_t)(100 + 3 * w + axis), -1.0, 1.0);
    }
    return f;
}

static void every_random_field_gives_a_valid_mesh(void** state)
{
    (void)state;
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    double least = 180.0, most = 0.0, tets = 0.0;
    for (uint64_t seed = 1; seed <= N_SEEDS; ++seed) {
        field f = make_field(seed);
        ty_sampler phi = {&f, 1, 0.0, field_eval};
        ty_stuff_def def = ty_stuff_default();
        def.cell = 1.0 / 24;
        def.box = (ty_box){{-1, -1, -1}, {1, 1, 1}};
        def.uniform = seed % 3 == 0;
        def.levels = 3 + (int)(seed % 4);
        for (int axis = 0; axis < 3; ++axis)
            def.origin[axis] = def.cell * draw(seed, (uint64_t)(5 + axis), 0.0, 1.0);
        print_message("seed %d\n", (int)seed);
        ty_status status = ty_stuff_mesh(&s, &phi, &def, &m);
        if (status.code == TY_EMPTY) continue;
        assert_ok(status);
        assert_ok(ty_octree_validate(&m.tree, TY_OCTREE_STUFF));
        assert_ok(ty_tet_mesh_validate(&m));
        ty_tet_quality q = ty_tet_mesh_quality(&m);
        least = fmin(least, q.min_dihedral);
        most = fmax(most, q.max_dihedral);
        tets += m.n_tets;
    }
    print_message("%.2f to %.2f degrees over %.0f tets\n", least, most, tets);
    assert_true(tets > 1e6);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_random_field_gives_a_valid_mesh)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
