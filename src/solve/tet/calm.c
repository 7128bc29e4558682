// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "solve/tet/motion.h"

enum { BLOCK = 4096 };
// Tets less open than this share are slivers.
static const double SLIVER = 0.1;
// By which share of the speed an acceleration may change the velocity in a step beyond what it did
// a step before, and the most that a step resolves: a turn by so many radians.
static const double BLOW = 0.05, MOST_TURN = 0.15;

// A sliver of liquid along a wall has hardly a part in the pressure's balance and may run faster
// than what is around it. The less open it is, the more it moves as those do that are open; they
// are not changed.
static void calm_block(void* ctx, ty_range r)
{
    ty_tet_state* s = ctx;
    const ty_tet_mesh* m = &s->mesh;
    for (int64_t t = r.begin; t < r.end; ++t) {
        if (!(s->open.at[t] > 0.0 && s->open.at[t] < SLIVER)) continue;
        double own = s->open.at[t] / SLIVER, all = 0.0;
        ty_vec3 u = ty_vec(0, 0, 0), a = u;
        for (int i = 0; i < 4; ++i) {
            const int* side = m->face_tet[m->tet_face[t][i]];
            int other = side[0] == t ? side[1] : side[0];
            double w = other < 0 ? 0.0 : s->open.at[other];
            if (w < SLIVER) continue;
            u += w * s->u.at[other], a += w * s->a.at[other], all += w;
        }
        if (!(all > 0.0)) continue;
        s->u.at[t] = own * s->u.at[t] + (1.0 - own) / all * u;
        s->a.at[t] = own * s->a.at[t] + (1.0 - own) / all * a;
    }
}

void ty_tetflow_calm_slivers(ty_tetflow* tf)
{
    ty_tet_state* s = &ty_tetflow_new(tf)->state;
    ty_parallel_for(s->mesh.n_tets, BLOCK, calm_block, s);
}

typedef struct acceleration_job {
    ty_tetflow* tf;
    double dt, still;    // still: what there may be without any speed
    bool limited;
} acceleration_job;

// Departs from solver `grid`, which takes most of theta's damping of waves back by letting the
// acceleration lag behind: here that keeps alive what the remade mesh stirs up at walls (ripples of
// 0.001 cells: rms speed after 200 steps 1.0 instead of 2.1 times that of the start), and a wave of
// 32 cells loses but 2 % a period.
//
// A blow (water meets a wall) changes the velocity at once, and the projection has seen to all of
// it. Carried along its acceleration would act for another (1 - theta) dt on liquid that flies
// freely by then. So an acceleration changes by no more than itself, gravity and BLOW of the speed
// in a step, as in solver `grid`, and turns it by MOST_TURN at most. Not a cure for jets at walls:
// with both, a toe of 5 m/s still goes up a wall at 10.7 for a step (40 cells, CFL 3), which the
// projection itself makes. MOST_TURN was not measured by itself.
static void limit_block(void* ctx, ty_range r)
{
    const acceleration_job* job = ctx;
    ty_tetflow* tf = job->tf;
    ty_tet_state* s = &ty_tetflow_new(tf)->state;
    for (int64_t t = r.begin; t < r.end; ++t) {
        ty_vec3 before = tf->before.at[t], force = tf->force.n ? tf->force.at[t] : ty_vec(0, 0, 0),
                a = s->a.at[t] + force, change = a - before;
        double speed = ty_norm(s->u.at[t]), pushed = job->still + ty_norm(force);
        double room = ty_norm(before) + pushed + BLOW * speed / job->dt, size = ty_norm(change);
        if (job->limited && size > room) a = before + (room / size) * change;
        double most = 2.0 * pushed + MOST_TURN * speed / job->dt, all = ty_norm(a);
        if (job->limited && all > most) a *= most / all;
        double whole = ty_norm(s->a.at[t] + force), left = ty_norm(a);
        tf->limited.at[t] = left < whole ? left / whole : 1.0;
        s->a.at[t] = a;
    }
}

ty_status ty_tetflow_limit_accelerations(ty_tetflow* tf, double dt, bool limited)
{
    int n = ty_tetflow_new(tf)->state.mesh.n_tets;
    if (!ty_array_resize(&tf->limited, n)) return ty_no_memory("accelerations");
    double h = tf->def->cell, tension = tf->def->surface_tension / (tf->def->density * h * h);
    acceleration_job job = {tf, dt, ty_norm(ty_world_gravity(tf->world)) + tension, limited};
    ty_parallel_for(n, BLOCK, limit_block, &job);
    return ty_ok();
}
