// SPDX-License-Identifier: Apache-2.0
// The pressure that acts in a step. A projection finds the one that acts for theta dt; what acts
// before it is what the liquid carries as its acceleration. In a blow nothing was carried, or less
// than the last pressure made (calm.c), and the new one alone is up to 1 / theta times what stops the
// liquid.
#include "core/parallel.h"
#include "solve/tet/motion.h"

enum { BLOCK = 4096 };

static double full_pressure(const ty_tet_motion* m, double reduced, int64_t v)
{
    return reduced + ty_dot(m->gravity, ty_load3(m->state.mesh.vert[v])) - m->level;
}

typedef struct acting_job {
    ty_tet_motion* m;
    double theta;
} acting_job;

static void acting_block(void* ctx, ty_range r)
{
    const acting_job* job = ctx;
    ty_tet_motion* m = job->m;
    for (int64_t v = r.begin; v < r.end; ++v)
        m->acting.at[v] = job->theta * full_pressure(m, m->state.pressure.at[v], v) +
                          (1.0 - job->theta) * m->acting.at[v];
}

void ty_tetflow_acting_pressure(ty_tetflow* tf, double theta)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    acting_job job = {m, theta};
    ty_parallel_for(m->acting.n, BLOCK, acting_block, &job);
}

// Around a vertex as large a share of it as of the accelerations there.
ty_status ty_tetflow_carried_pressure(ty_tetflow* tf)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    const ty_tet_state* s = &m->state;
    int n = s->mesh.n_verts;
    double(*sum)[2] = ty_alloc_zero((size_t)n, sizeof *sum);
    if (!sum || !ty_array_resize(&m->carried, n)) {
        ty_free(sum);
        return ty_no_memory("pressures");
    }
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        double w = s->open.at[t] * m->volume.at[t];
        for (int i = 0; i < 4; ++i) {
            int v = s->mesh.tet[t][i];
            sum[v][0] += w * tf->limited.at[t], sum[v][1] += w;
        }
    }
    for (int v = 0; v < n; ++v) {
        double share = sum[v][1] > 0.0 ? sum[v][0] / sum[v][1] : 1.0;
        m->carried.at[v] = full_pressure(m, share * s->pressure.at[v], v);
    }
    ty_free(sum);
    ty_array_free(&tf->limited);
    return ty_ok();
}
