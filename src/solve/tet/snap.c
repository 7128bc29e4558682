// SPDX-License-Identifier: Apache-2.0
// `obstacles: conform`: boundary vertices near a solid are moved onto it, [Chentanez2007]
// section 3.3.1, so that no thin gap stays between liquid and solid. No tet becomes flat: none gets
// its fourth vertex onto a solid ([Gong2008] section 9), and none loses most of its volume.
#include "core/parallel.h"
#include "solve/tet/motion.h"

enum { BLOCK = TY_SAMPLE_BATCH };

static const double LEAST_VOLUME = 0.2;    // of what the tet had
static const double ON = 1e-6;             // cells: a vertex as near as this is on the solid

typedef struct snap_job {
    const ty_tetflow* tf;
    ty_tet_mesh* mesh;
    ty_sampler solid;
    double* distance;    // of boundary vertices
} snap_job;

static void distance_block(void* ctx, ty_range r)
{
    const snap_job* job = ctx;
    const double(*x)[3] = (const double(*)[3])job->mesh->vert + job->mesh->n_inner + r.begin;
    ty_sample(&job->solid, (int)(r.end - r.begin), x, job->distance + r.begin);
}

static double volume(const ty_tet_mesh* m, int t, int corner, ty_vec3 at)
{
    ty_vec3 x[4];
    for (int i = 0; i < 4; ++i) x[i] = i == corner ? at : ty_load3(m->vert[m->tet[t][i]]);
    return ty_dot(x[1] - x[0], ty_cross(x[2] - x[0], x[3] - x[0])) / 6.0;
}

static bool is_on(const snap_job* job, int v)
{
    int b = v - job->mesh->n_inner;
    return b >= 0 && fabs(job->distance[b]) <= ON * job->tf->def->cell;
}

static bool may_move(const snap_job* job, int v, ty_vec3 to)
{
    const ty_tet_mesh* m = job->mesh;
    const ty_tet_stars* stars = &job->tf->stars;
    for (int k = stars->first.at[v]; k < stars->first.at[v + 1]; ++k) {
        int t = stars->corner.at[k] / 4, i = stars->corner.at[k] % 4, on = 0;
        for (int j = 1; j < 4; ++j) on += is_on(job, m->tet[t][(i + j) % 4]);
        double had = volume(m, t, i, ty_load3(m->vert[v]));
        if (on == 3 || volume(m, t, i, to) < LEAST_VOLUME * had) return false;
    }
    return true;
}

static void move(const snap_job* job, int v, ty_vec3 to)
{
    const ty_tet_stars* stars = &job->tf->stars;
    ty_store3(job->mesh->vert[v], to);
    job->distance[v - job->mesh->n_inner] = 0.0;
    for (int k = stars->first.at[v]; k < stars->first.at[v + 1]; ++k) {
        ty_tet_kind* kind = &job->mesh->kind[stars->corner.at[k] / 4];
        *kind = ty_make_kind(TY_TET_IRREGULAR, ty_kind_level(*kind));
    }
}

// One after the other in the order of vertices: what one does decides what the next may.
ty_status ty_tetflow_snap(ty_tetflow* tf, ty_tet_mesh* mesh)
{
    int n = mesh->n_verts - mesh->n_inner;
    double reach = tf->def->snap * tf->def->cell;
    if (!(reach > 0.0) || mesh->n_tets == 0) return ty_ok();
    if (!ty_array_resize(&tf->snapped, n)) return ty_no_memory("vertices near obstacles");
    TY_TRY(ty_tet_stars_make(&tf->stars, mesh));
    snap_job job = {tf, mesh, ty_world_solid(tf->world), tf->snapped.at};
    ty_parallel_for(n, BLOCK, distance_block, &job);
    for (int v = mesh->n_inner; v < mesh->n_verts; ++v) {
        double d = job.distance[v - mesh->n_inner];
        if (is_on(&job, v) || !(fabs(d) < reach)) continue;
        ty_vec3 x = ty_load3(mesh->vert[v]),
                to = x - d * ty_tet_way_out(&job.solid, tf->def->cell, x);
        if (may_move(&job, v, to)) move(&job, v, to);
    }
    return ty_world_status(tf->world);
}
