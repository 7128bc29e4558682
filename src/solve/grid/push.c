// SPDX-License-Identifier: Apache-2.0
// Forces and steering at the faces of the liquid, and gravity where it is not part of the pressure.
// They act with all of the step at once and are not carried along: a stiff drag would ring.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

typedef struct push_job {
    ty_gridflow* gf;
    int axis;
    double dt;
    int* code;            // per block
    ty_status* status;    // of the block that runs alone to say what failed; or NULL
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
    if (ty_world_has_forces(world))
        s = ty_world_forces(world, n, (const double(*)[3])x, (const double(*)[3])v, a);
    for (int i = 0; i < n; ++i) v[i][axis] += job->dt * a[i][axis];
    if (s.code == TY_OK && ty_world_steers(world))
        s = ty_world_steer(world, job->dt, n, (const double(*)[3])x, v);
    for (int i = 0; i < n; ++i) gf->next[axis][face[i]] = v[i][axis];
    job->code[r.block] = s.code;
    if (job->status) *job->status = s;
}

ty_status ty_gridflow_push(ty_gridflow* gf, double dt)
{
    if (!ty_world_has_forces(gf->world) && !ty_world_steers(gf->world)) return ty_ok();
    for (int axis = 0; axis < 3; ++axis) {
        int64_t n = gf->face[axis].n, blocks = (n + TY_SAMPLE_BATCH - 1) / TY_SAMPLE_BATCH;
        if (!ty_array_resize(&gf->layer, blocks)) return ty_no_memory("forces");
        push_job job = {gf, axis, dt, gf->layer.at, NULL};
        ty_parallel_for(n, TY_SAMPLE_BATCH, push_block, &job);
        for (int64_t b = 0; b < blocks; ++b) {
            if (gf->layer.at[b] == TY_OK) continue;
            ty_status status;
            int64_t begin = b * TY_SAMPLE_BATCH, end = begin + TY_SAMPLE_BATCH;
            job.status = &status;
            push_block(&job, (ty_range){begin, end < n ? end : n, b, 0});
            return status;
        }
    }
    return ty_ok();
}
