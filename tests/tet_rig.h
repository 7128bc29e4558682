// SPDX-License-Identifier: Apache-2.0
// What the tests of solver `tet` in motion share.
#ifndef TY_TESTS_TET_RIG_H
#define TY_TESTS_TET_RIG_H

#include <string.h>

#include "pair.h"
#include "solve/tet/motion.h"

// pair.h's ball in the unit box, `n` cells of the solver a side, two of the surface in each.
static inline ty_sim_def tet_def(const char* tracker, int n, const double centre[3], double radius)
{
    ty_sim_def def = pair_def(tracker, "tet", n, centre, radius);
    def.cell = def.track.cell = 0.5 * def.solve.cell;
    def.solve.cfl = 1.0;
    return def;
}

static inline ty_varying expressions(const char* a, const char* b, const char* c)
{
    ty_varying v = ty_varying_vector(0, 0, 0);
    v.kind = TY_VARY_EXPRESSION;
    assert_ok(ty_expr_create(&v.expr[0], a));
    assert_ok(ty_expr_create(&v.expr[1], b));
    assert_ok(ty_expr_create(&v.expr[2], c));
    return v;
}

// Sums over the liquid.
typedef struct tet_sums {
    double volume, square;                // of speeds
    ty_vec3 centre, velocity, turning;    // means; angular momentum about the box's middle
} tet_sums;

static inline tet_sums tet_measure(const ty_sim* sim)
{
    const ty_tetflow* tf = sim->solver;
    const ty_tet_motion* m = &tf->motion[tf->now];
    tet_sums s = {0};
    for (int t = 0; t < m->state.mesh.n_tets; ++t) {
        double w = m->volume.at[t] * m->state.open.at[t];
        ty_vec3 u = m->state.u.at[t], x = m->centre.at[t];
        s.volume += w;
        s.square += w * ty_dot(u, u);
        s.centre += w * x;
        s.velocity += w * u;
        s.turning += w * ty_cross(x - ty_vec(0.5, 0.5, 0.5), u);
    }
    s.centre /= s.volume, s.velocity /= s.volume, s.square /= s.volume;
    return s;
}

static inline void run_steps(ty_sim* sim, int n)
{
    bool done;
    for (int i = 0; i < n; ++i) assert_ok(ty_sim_step(sim, &done));
}

// A pool at rest under gravity that is tilted by 14 degrees, with a ball and a leaning column in
// it.
static inline ty_sim_def tilted_pool(const char* tracker, int n)
{
    const double g[3] = {1.9, -9.43, 1.4}, nowhere[3] = {0, 0, 0};
    ty_sim_def def = tet_def(tracker, n, nowhere, 0.1);
    make_pool(&def, g);
    return def;
}

#endif
