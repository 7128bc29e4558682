// SPDX-License-Identifier: Apache-2.0
#include "linear/pieces.h"

#include <math.h>
#include <stdlib.h>

#include "core/hash.h"
#include "linear/model_problems.h"
#include "test.h"

static void labels_agree_with_flood_fill(void** state)
{
    (void)state;
    enum {
        N = 40000,
        EDGES = 26000
    };    // random edges across all blocks; about a quarter in one large piece
    ty_entry* entries = malloc((size_t)(4 * EDGES + N) * sizeof *entries);
    int n = 0;
    for (int e = 0; e < EDGES; ++e) {
        int i = (int)(ty_mix2(1, (uint64_t)e) % N), j = (int)(ty_mix2(2, (uint64_t)e) % N);
        if (i == j) continue;
        entries[n++] = (ty_entry){i, j, -1.0};
        entries[n++] = (ty_entry){j, i, -1.0};
        entries[n++] = (ty_entry){i, i, 1.0};
        entries[n++] = (ty_entry){j, j, 1.0};
    }
    for (int i = 0; i < N; i += 7) entries[n++] = (ty_entry){i, i, 0.5};
    ty_csr a = {0};
    ty_pieces p = {0};
    assert_ok(ty_csr_from_entries(&a, N, N, n, entries));
    assert_ok(ty_pieces_find(&p, &a));
    int *label = malloc(N * sizeof *label), *stack = malloc(N * sizeof *stack), n_singular = 0,
        n_pieces = 0, n_empty = 0;
    for (int i = 0; i < N; ++i) label[i] = -1;
    for (int seed = 0; seed < N; ++seed) {
        if (label[seed] >= 0) continue;
        int top = 0;
        bool tied = false;
        stack[top++] = seed;
        label[seed] = seed;
        while (top > 0) {
            int i = stack[--top];
            tied = tied || i % 7 == 0;
            for (int k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
                if (label[a.col[k]] < 0) {
                    label[a.col[k]] = seed;
                    stack[top++] = a.col[k];
                }
        }
        bool empty = a.row_start[seed] == a.row_start[seed + 1];
        n_empty += empty;
        n_pieces += !empty;
        n_singular += !empty && !tied;
    }
    for (int i = 0; i < N; ++i) assert_int_equal(p.label.at[i], label[i]);
    assert_int_equal(p.n_pieces, n_pieces);
    assert_int_equal(p.n_singular, n_singular);
    assert_int_equal(p.n_empty, n_empty);
    free(label);
    free(stack);
    free(entries);
    ty_pieces_free(&p);
    ty_csr_free(&a);
}

static void projection_takes_means_off_singular_pieces_only(void** state)
{
    (void)state;
    ty_model m = {0};
    ty_pieces p = {0};
    assert_ok(ty_model_droplets(&m, 5, 300));
    assert_ok(ty_pieces_find(&p, &m.a));
    double *v = malloc((size_t)m.a.n * sizeof *v), *sum = calloc((size_t)m.a.n, sizeof *sum);
    for (int i = 0; i < m.a.n; ++i) v[i] = 1.0 + ty_unit(ty_mix((uint64_t)i));
    assert_near(ty_pieces_project(&p, v), 1.0,
                1e-12);    // all positive: nothing of it is compatible
    for (int i = 0; i < m.a.n; ++i) sum[p.label.at[i]] += v[i];
    for (int i = 0; i < m.a.n; ++i) {
        if (p.tied.at[p.label.at[i]]) assert_true(v[i] == 1.0 + ty_unit(ty_mix((uint64_t)i)));
        else assert_near(sum[p.label.at[i]], 0.0, 1e-12);
    }
    assert_true(ty_pieces_project(&p, v) < 1e-10);
    free(v);
    free(sum);
    ty_pieces_free(&p);
    ty_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_agree_with_flood_fill),
        cmocka_unit_test(projection_takes_means_off_singular_pieces_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
