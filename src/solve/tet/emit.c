// SPDX-License-Identifier: Apache-2.0
// What sources bring in under water. A source is filled up in every step where air is behind it, and
// what flows out in front is what it should bring. Where water or a wall is behind it nothing is left to
// fill: it only would pump. There its rate is a divergence of its tets.
#include <math.h>

#include "solve/tet/motion.h"

// Steps backward through a source, cells; and how far behind it one looks.
static const double STEP = 0.5, BEHIND = 0.25;
enum { MOST_STEPS = 1000 };

// Beyond a side that is open: what liquid there is there nobody sees, and the source goes on in it.
static bool is_outside(const ty_world_def* def, const double x[3])
{
    for (int axis = 0; axis < 3 && def->has_domain; ++axis)
        for (int high = 0; high < 2; ++high)
            if (!def->wall[2 * axis + high].closed &&
                (high ? x[axis] > def->max[axis] : x[axis] < def->min[axis]))
                return true;
    return false;
}

bool ty_tetflow_is_covered(const ty_tetflow* tf, const ty_liquid* liquid, const ty_source* s,
                           ty_vec3 x, ty_vec3 v)
{
    double h = tf->def->cell, d, at[1][3];
    ty_vec3 back = -STEP * h * ty_normalize(v);
    ty_store3(at[0], x);
    for (int k = 0; k < MOST_STEPS && ty_dot(v, v) > 0.0; ++k) {
        ty_store3(at[0], ty_load3(at[0]) + back);
        if (is_outside(ty_world_get_def(tf->world), at[0])) return false;
        ty_sample(&s->distance, 1, (const double(*)[3])at, &d);
        if (d > BEHIND * h) break;
    }
    ty_sampler solid = ty_world_solid(tf->world);
    ty_sample(&liquid->distance, 1, (const double(*)[3])at, &d);
    if (d < 0.0) return true;
    ty_sample(&solid, 1, (const double(*)[3])at, &d);
    return d < 0.0;
}

static void emit(ty_tetflow* tf, const ty_liquid* liquid, int k)
{
    const ty_tet_motion* m = ty_tetflow_new(tf);
    ty_source s = ty_world_source(tf->world, k);
    double volume = 0.0, covered = 0.0;
    if (!s.on || !s.velocity.eval || !(s.rate > 0.0)) return;
    for (int t = 0; t < m->state.mesh.n_tets; ++t) {
        double x[1][3], v[1][3], w = m->state.open.at[t] * m->volume.at[t];
        if (tf->source.at[t] != k) continue;
        ty_store3(x[0], m->centre.at[t]);
        ty_sample(&s.velocity, 1, (const double(*)[3])x, v[0]);
        volume += w;
        if (!ty_tet_is_held(&m->state, t) &&
            ty_tetflow_is_covered(tf, liquid, &s, m->centre.at[t], ty_load3(v[0])))
            covered += w;
    }
    double rate = volume > 0.0 ? s.rate * (covered / volume) / volume : 0.0;
    for (int t = 0; t < m->state.mesh.n_tets && rate > 0.0; ++t)
        if (tf->source.at[t] == k) tf->divergence.at[t] += rate;
}

void ty_tetflow_emit(ty_tetflow* tf, const ty_liquid* liquid)
{
    for (int k = 0; k < ty_world_n_sources(tf->world) && tf->source.n; ++k) emit(tf, liquid, k);
}
