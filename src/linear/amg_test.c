// SPDX-License-Identifier: Apache-2.0
#include "linear/amg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "linear/model_problems.h"
#include "linear/pieces.h"
#include "linear/smoothed_prolongation.h"
#include "test.h"

static double noise(int i, int seed)
{
    return 2.0 * ty_unit(ty_mix2((uint64_t)i, (uint64_t)seed)) - 1.0;
}

static double dot(int n, const double* x, const double* y)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

typedef struct fixture {
    ty_model m;
    ty_pieces pieces;
    ty_amg* amg;
} fixture;

static void begin(fixture* f, ty_model_system system, ty_model_air air)
{
    ty_model_mesh ball;
    memset(f, 0, sizeof *f);
    f->amg = calloc(1, sizeof *f->amg);
    assert_ok(ty_model_ball(&ball, 9000, 0.1, 1.0));
    assert_ok(ty_model_tets(&f->m, &ball, system, air));
    ty_model_mesh_free(&ball);
    assert_ok(ty_pieces_find(&f->pieces, &f->m.a));
    assert_ok(ty_amg_setup(f->amg, &f->m.a, f->m.prolongation.n ? &f->m.prolongation : NULL,
                           f->pieces.tied.at));
}

static void end(fixture* f)
{
    ty_amg_free(f->amg);
    free(f->amg);
    ty_pieces_free(&f->pieces);
    ty_model_free(&f->m);
}

static void preconditioner_is_symmetric_and_positive(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        fixture f;
        begin(&f, (ty_model_system)system, TY_MODEL_AIR_TOP);
        int n = f.m.a.n;
        double* v[4];
        for (int k = 0; k < 4; ++k) v[k] = malloc((size_t)n * sizeof(double));
        for (int i = 0; i < n; ++i) {
            v[0][i] = noise(i, 1);
            v[1][i] = noise(i, 2);
        }
        ty_amg_apply(f.amg, v[0], sqrt(dot(n, v[0], v[0])), v[2]);
        ty_amg_apply(f.amg, v[1], sqrt(dot(n, v[1], v[1])), v[3]);
        double xy = dot(n, v[1], v[2]), yx = dot(n, v[0], v[3]), xx = dot(n, v[0], v[2]),
               yy = dot(n, v[1], v[3]);
        assert_true(xx > 0.0 && yy > 0.0);
        assert_near(xy, yx, 1e-5 * sqrt(xx * yy));    // single precision
        for (int k = 0; k < 4; ++k) free(v[k]);
        end(&f);
    }
}

// E(x) = x.Ax/2 - b.x falls with every cycle used as an iteration, and by a good factor in all.
static void every_cycle_lowers_the_energy(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        fixture f;
        begin(&f, (ty_model_system)system, TY_MODEL_AIR_ALL);
        int n = f.m.a.n;
        double *x = calloc((size_t)n, sizeof *x), *r = malloc((size_t)n * sizeof *r),
               *z = malloc((size_t)n * sizeof *z);
        double before = INFINITY, first = 0.0, norm = 0.0;
        for (int cycle = 0; cycle < 12; ++cycle) {
            ty_csr_residual(&f.m.a, x, f.m.rhs, r);
            norm = sqrt(dot(n, r, r));
            if (cycle == 0) first = norm;
            double energy = -0.5 * (dot(n, x, f.m.rhs) + dot(n, x, r));    // x.Ax = x.b - x.r
            assert_true(energy < before);
            before = energy;
            ty_amg_apply(f.amg, r, norm, z);
            for (int i = 0; i < n; ++i) x[i] += z[i];
        }
        assert_true(norm < 0.1 * first);
        free(x);
        free(r);
        free(z);
        end(&f);
    }
}

static void coarse_matrix_is_r_a_p(void** state)
{
    (void)state;
    ty_model m = {0};
    assert_ok(ty_model_grid(&m, 1500, 0.0, false));
    double* diagonal = malloc((size_t)m.a.n * sizeof *diagonal);
    for (int i = 0; i < m.a.n; ++i) diagonal[i] = ty_csr_get(&m.a, i, i);
    ty_aggregates agg = {0};
    ty_csrf p = {0}, r = {0};
    ty_galerkin g = {0};
    ty_csr coarse = {0};
    assert_ok(ty_aggregate(&agg, &m.a, diagonal, 0.08, true));
    assert_ok(ty_smoothed_prolongation(&p, &r, &m.a, diagonal, &agg, 0.08));
    assert_true(ty_csrf_transpose(&r, &p));
    assert_ok(ty_galerkin_product(&g, &coarse, &r, &m.a, &p));
    ty_csr_sort(&coarse);
    assert_ok(ty_csr_validate_symmetric(&coarse, 1e-13));
    double *x = malloc((size_t)coarse.n * sizeof *x), *y = malloc((size_t)coarse.n * sizeof *y);
    double *fine = calloc((size_t)m.a.n, sizeof *fine), *af = malloc((size_t)m.a.n * sizeof *af);
    for (int i = 0; i < coarse.n; ++i) x[i] = noise(i, 5);
    for (int i = 0; i < m.a.n; ++i)
        for (int k = p.start.at[i]; k < p.start.at[i + 1]; ++k)
            fine[i] += (double)p.val.at[k] * x[p.col.at[k]];
    ty_csr_apply(&m.a, fine, af);
    ty_csr_apply(&coarse, x, y);
    for (int i = 0; i < m.a.n; ++i)
        for (int k = p.start.at[i]; k < p.start.at[i + 1]; ++k)
            y[p.col.at[k]] -= (double)p.val.at[k] * af[i];
    for (int i = 0; i < coarse.n; ++i) assert_near(y[i], 0.0, 1e-11);
    free(x);
    free(y);
    free(fine);
    free(af);
    free(diagonal);
    ty_galerkin_free(&g);
    ty_csr_free(&coarse);
    ty_csrf_free(&p);
    ty_csrf_free(&r);
    ty_aggregates_free(&agg);
    ty_model_free(&m);
}

static void prolongation_keeps_constants(void** state)
{
    (void)state;
    ty_model m = {0};
    assert_ok(ty_model_octree(&m, 4, 2));
    double* diagonal = malloc((size_t)m.a.n * sizeof *diagonal);
    ty_aggregates agg = {0};
    ty_csrf p = {0}, r = {0};
    for (int i = 0; i < m.a.n; ++i) diagonal[i] = ty_csr_get(&m.a, i, i);
    assert_ok(ty_aggregate(&agg, &m.a, diagonal, 0.08, false));
    assert_ok(ty_smoothed_prolongation(&p, &r, &m.a, diagonal, &agg, 0.08));
    int inner = 0;
    for (int i = 0; i < m.a.n; ++i) {
        double row = 0.0, sum = 0.0;
        for (int k = m.a.row_start[i]; k < m.a.row_start[i + 1]; ++k) row += m.a.val[k];
        for (int k = p.start.at[i]; k < p.start.at[i + 1]; ++k) sum += p.val.at[k];
        assert_true(agg.of.at[i] >= 0 && agg.of.at[i] < agg.n);
        assert_true(p.start.at[i + 1] - p.start.at[i] <= TY_PROLONGATION_ROW);
        if (fabs(row) > 1e-12 * diagonal[i]) continue;    // beside the air
        assert_near(sum, 1.0, 1e-6);
        ++inner;
    }
    assert_true(inner > m.a.n / 2);
    free(diagonal);
    ty_csrf_free(&p);
    ty_csrf_free(&r);
    ty_aggregates_free(&agg);
    ty_model_free(&m);
}

// The vertices' space is part of the faces': P^T A_face P is the nodal matrix.
static void face_system_coarsens_to_the_nodal_one(void** state)
{
    (void)state;
    fixture f;
    ty_model nodal = {0};
    ty_model_mesh ball;
    begin(&f, TY_MODEL_FACE, TY_MODEL_AIR_TOP);
    assert_ok(ty_model_ball(&ball, 9000, 0.1, 1.0));
    assert_ok(ty_model_tets(&nodal, &ball, TY_MODEL_NODAL, TY_MODEL_AIR_TOP));
    const ty_csr* coarse = f.amg->level[1].a;
    assert_int_equal(coarse->n, nodal.a.n);
    for (int i = 0; i < coarse->n; ++i) {
        double scale = ty_csr_get(&nodal.a, i, i);
        for (int k = coarse->row_start[i]; k < coarse->row_start[i + 1]; ++k)
            assert_near(coarse->val[k], ty_csr_get(&nodal.a, i, coarse->col[k]), 1e-6 * scale);
    }
    ty_model_free(&nodal);
    ty_model_mesh_free(&ball);
    end(&f);
}

static void hierarchy_is_lean(void** state)
{
    (void)state;
    for (int system = 0; system < 3; ++system) {
        fixture f;
        begin(&f, (ty_model_system)system, TY_MODEL_AIR_ALL);
        assert_true(f.amg->operator_complexity < 1.8);
        assert_true(f.amg->level[f.amg->n_levels - 1].a->n <= TY_AMG_COARSEST);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preconditioner_is_symmetric_and_positive),
        cmocka_unit_test(every_cycle_lowers_the_energy),
        cmocka_unit_test(coarse_matrix_is_r_a_p),
        cmocka_unit_test(prolongation_keeps_constants),
        cmocka_unit_test(face_system_coarsens_to_the_nodal_one),
        cmocka_unit_test(hierarchy_is_lean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
