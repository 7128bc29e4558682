// SPDX-License-Identifier: Apache-2.0
// Forces and steering at the faces of the liquid, and gravity where it is not part of the pressure.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

typedef struct push_job {
    ty_gridflow* gf;
    int axis;
    double dt, solve_dt;
    ty_status* status;    // per block
} push_job;

// A face knows one component; the other two come from the old velocity around it.
static void face_velocities(const push_job* job, int n, const int* face, double (*v)[3])
{
    ty_face_vectors(job->gf, job->gf->u, job->axis, n, face, v);
    for (int i = 0; i < n; ++i) v[i][job->axis] = job->gf->next[job->axis][face[i]];
}

static void push_block(void* ctx, ty_range r)
{
    const push_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const ty_world* world = gf->world;
    const int* face = gf->face[job->axis].at + r.begin;
    double x[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3], a[TY_SAMPLE_BATCH][3];
    int n = (int)(r.end - r.begin), axis = job->axis;
    for (int i = 0; i < n; ++i) ty_face_center(&gf->cells, axis, face[i], x[i]);
    face_velocities(job, n, face, v);
    memset(a, 0, sizeof a);
    ty_status s = ty_ok();
    if (ty_world_has_forces(world)) s = ty_world_forces(world, n, (const double(*)[3])x, (const double(*)[3])v, a);
    for (int i = 0; i < n; ++i) v[i][axis] += job->solve_dt * a[i][axis];
    if (s.code == TY_OK && ty_world_steers(world)) s = ty_world_steer(world, job->dt, n, (const double(*)[3])x, v);
    for (int i = 0; i < n; ++i) gf->next[axis][face[i]] = v[i][axis];
    for (int i = 0; i < n && gf->carries; ++i) gf->next_acc[axis][face[i]] = a[i][axis];
    job->status[r.block] = s;
}

ty_status ty_gridflow_push(ty_gridflow* gf, double dt, double solve_dt)
{
    if (!ty_world_has_forces(gf->world) && !ty_world_steers(gf->world)) return ty_ok();
    for (int axis = 0; axis < 3; ++axis) {
        int64_t blocks = (gf->face[axis].n + TY_SAMPLE_BATCH - 1) / TY_SAMPLE_BATCH;
        ty_status* status = ty_alloc((size_t)blocks, sizeof *status);
        if (!status) return ty_no_memory("forces");
        push_job job = {gf, axis, dt, solve_dt, status};
        ty_parallel_for(gf->face[axis].n, TY_SAMPLE_BATCH, push_block, &job);
        ty_status first = ty_ok();
        for (int64_t b = 0; b < blocks && first.code == TY_OK; ++b) first = status[b];
        ty_free(status);
        TY_TRY(first);
    }
    return ty_ok();
}
