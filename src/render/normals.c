// SPDX-License-Identifier: Apache-2.0
#include "render/normals.h"

#include "core/parallel.h"

enum { BLOCK = 1024 };

typedef struct normals_job {
    const ty_tri_mesh* mesh;
    const int8_t* group;
    double crease;
    ty_vec3* face;    // unit normals of triangles
    int *first, *around;
    float (*out)[3];
} normals_job;

static void face_normals(void* ctx, ty_range r)
{
    normals_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* t = job->mesh->tri[i];
        ty_vec3 a = ty_load3(job->mesh->vert[t[0]]);
        job->face[i] = ty_normalize(
            ty_cross(ty_load3(job->mesh->vert[t[1]]) - a, ty_load3(job->mesh->vert[t[2]]) - a));
    }
}

// first[v] .. first[v + 1]: triangles around v, rising.
static void collect_around(normals_job* job)
{
    const ty_tri_mesh* m = job->mesh;
    for (int v = 0; v <= m->n_verts; ++v) job->first[v] = 0;
    for (int i = 0; i < 3 * m->n_tris; ++i) ++job->first[m->tri[i / 3][i % 3] + 1];
    for (int v = 0; v < m->n_verts; ++v) job->first[v + 1] += job->first[v];
    for (int i = 0; i < 3 * m->n_tris; ++i) job->around[job->first[m->tri[i / 3][i % 3]]++] = i / 3;
    for (int v = m->n_verts; v > 0; --v) job->first[v] = job->first[v - 1];
    job->first[0] = 0;
}

static double corner_angle(const ty_tri_mesh* m, int tri, int vert)
{
    const int* t = m->tri[tri];
    int i = t[0] == vert ? 0 : t[1] == vert ? 1 : 2;
    ty_vec3 at = ty_load3(m->vert[vert]);
    ty_vec3 a = ty_normalize(ty_load3(m->vert[t[(i + 1) % 3]]) - at);
    ty_vec3 b = ty_normalize(ty_load3(m->vert[t[(i + 2) % 3]]) - at);
    return acos(ty_clamp(ty_dot(a, b), -1.0, 1.0));
}

static ty_vec3 corner_normal(const normals_job* job, int tri, int vert)
{
    ty_vec3 own = job->face[tri], sum = ty_vec(0, 0, 0);
    if (job->group && job->group[tri] < 0) return own;
    for (int i = job->first[vert]; i < job->first[vert + 1]; ++i) {
        int other = job->around[i];
        if (job->group && job->group[other] != job->group[tri]) continue;
        if (ty_dot(job->face[other], own) < job->crease) continue;
        sum += corner_angle(job->mesh, other, vert) * job->face[other];
    }
    return ty_norm(sum) > 1e-9 ? ty_normalize(sum) : own;
}

static void corner_normals(void* ctx, ty_range r)
{
    normals_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        for (int c = 0; c < 3; ++c) {
            ty_vec3 n = corner_normal(job, (int)i, job->mesh->tri[i][c]);
            for (int axis = 0; axis < 3; ++axis) job->out[3 * i + c][axis] = (float)n[axis];
        }
}

ty_status ty_corner_normals(const ty_tri_mesh* mesh, const int8_t* group, double crease_cosine,
                            float (*out)[3])
{
    normals_job job = {mesh, group, crease_cosine, .out = out};
    job.face = ty_alloc((size_t)mesh->n_tris, sizeof *job.face);
    job.first = ty_alloc((size_t)mesh->n_verts + 1, sizeof *job.first);
    job.around = ty_alloc(3 * (size_t)mesh->n_tris, sizeof *job.around);
    bool ok = job.face && job.first && job.around;
    if (ok) {
        ty_parallel_for(mesh->n_tris, BLOCK, face_normals, &job);
        collect_around(&job);
        ty_parallel_for(mesh->n_tris, BLOCK, corner_normals, &job);
    }
    ty_free(job.face);
    ty_free(job.first);
    ty_free(job.around);
    return ok ? ty_ok() : ty_no_memory("normals");
}
