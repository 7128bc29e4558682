// SPDX-License-Identifier: Apache-2.0
// Parts of the surface that no tet is near: drops and sheets thinner than the mesh resolves. A piece
// few of whose vertices are near a tet, and none is in one, is such a drop as a whole, though the tets of another be near: those of its vertices
// that were would go with that one. Each of their vertices has a velocity of its own, that which arrives along the flow, and falls freely;
// beside a wall it does not go into it. Their triangles join the skin, so that the tracker finds
// their velocity and not that of a body far away.
#include <string.h>

#include "core/parallel.h"
#include "geometry/slope.h"
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH };
static const double FAR = 0.5;        // cells from the mesh
static const double TOUCH = 0.5;      // cells from a wall
static const double PROBE = 0.125;    // cells

typedef struct loose_job {
    ty_tetflow* tf;
    ty_tet_motion* m;
    const ty_tri_mesh* surface;
    double dt;
    int first;    // of the loose vertices in the skin
} loose_job;

// loose_id becomes 0 where a vertex is loose, -1, TY_TET_IN or TY_TET_BURIED elsewhere.
static void find_block(void* ctx, ty_range r)
{
    const loose_job* job = ctx;
    const double(*x)[3] = (const double(*)[3])job->surface->vert + r.begin;
    int *id = job->tf->loose_id.at + r.begin, n = (int)(r.end - r.begin);
    ty_tet_place place[BATCH];
    double solid[BATCH];
    ty_tet_locate_within(job->m, FAR * job->tf->def->cell, n, x, place);
    for (int i = 0; i < n; ++i) id[i] = place[i].tet == -1 ? 0 : place[i].tet >= 0 ? TY_TET_IN : -1;
    ty_sampler walls = ty_world_solid(job->tf->world);
    ty_sample(&walls, n, x, solid);
    for (int i = 0; i < n; ++i)
        if (solid[i] < 0.0 && id[i] >= 0) id[i] = TY_TET_BURIED;
}

// Those of pieces that have no vertex in a tet, and fewer near one than not: all vertices of a ball lie a little outside
// the chords of its own mesh.
static ty_status loosen_drops(const loose_job* job, const ty_liquid* liquid)
{
    int *id = job->tf->loose_id.at, n = job->surface->n_verts;
    const int* piece = liquid->piece;
    if (!piece || liquid->n_pieces < 2) return ty_ok();
    int64_t* meshed = ty_alloc_zero((size_t)liquid->n_pieces, sizeof *meshed);
    if (!meshed) return ty_no_memory("loose drops");
    for (int v = 0; v < n; ++v)
        meshed[piece[v]] += id[v] == TY_TET_IN ? n : id[v] == -1 ? 1 : id[v] == 0 ? -1 : 0;
    for (int v = 0; v < n; ++v)
        if (id[v] == -1 && meshed[piece[v]] < 0) id[v] = 0;
    ty_free(meshed);
    return ty_ok();
}

static bool is_loose(const loose_job* job, int t)
{
    const int *v = job->surface->tri[t], *id = job->tf->loose_id.at;
    return id[v[0]] >= 0 && id[v[1]] >= 0 && id[v[2]] >= 0;
}

// Triangles of loose vertices. Numbers the vertices from job->first on; returns how many there are.
static int number_vertices(loose_job* job, int* n_tris)
{
    const ty_tri_mesh* s = job->surface;
    int *id = job->tf->loose_id.at, n = 0;
    *n_tris = 0;
    for (int t = 0; t < s->n_tris; ++t) *n_tris += is_loose(job, t);
    if (*n_tris == 0) return 0;
    for (int v = 0; v < s->n_verts; ++v)
        if (id[v] >= 0) id[v] = job->first + n++;
    return n;
}

// Falls freely, but not into a wall beside it.
static void fall(const loose_job* job, ty_vec3 x, double u[3], double a[3])
{
    const ty_world* world = job->tf->world;
    ty_vec3 g = ty_world_gravity(world);
    double theta = job->tf->theta, h = job->tf->def->cell, d, e[4], at[4][3], wall[3];
    ty_store3(at[0], x);
    ty_sampler solid = ty_world_solid(world), velocity = ty_world_solid_velocity(world);
    ty_vec3 v = ty_load3(u) + theta * job->dt * g, normal = {0};
    ty_sample(&solid, 1, (const double(*)[3])at, &d);
    if (d < TOUCH * h) {
        ty_sample(&velocity, 1, (const double(*)[3])at, wall);
        for (int c = 0; c < 4; ++c) ty_store3(at[c], x + PROBE * h * ty_load3(TY_TETRA[c]));
        ty_sample(&solid, 4, (const double(*)[3])at, e);
        for (int c = 0; c < 4; ++c) normal += e[c] * ty_load3(TY_TETRA[c]);
        normal = ty_normalize(normal);
        v -= ty_min(ty_dot(v - ty_load3(wall), normal), 0.0) * normal;
        g -= ty_min(ty_dot(g, normal), 0.0) * normal;
    }
    ty_store3(u, v);
    ty_store3(a, job->tf->carries ? g : ty_vec(0, 0, 0));
}

// Velocities of the skin's vertices from job->first on.
static void value_block(void* ctx, ty_range r)
{
    const loose_job* job = ctx;
    const double(*x)[3] = (const double(*)[3])job->m->skin.vert + job->first + r.begin;
    double u[BATCH][3], a[BATCH][3];
    int n = (int)(r.end - r.begin);
    if (job->dt > 0.0) ty_tetflow_arriving(job->tf, job->dt, n, x, u[0], a[0]);
    else {
        ty_sampler start = ty_world_liquid_velocity(job->tf->world);
        ty_sample(&start, n, x, u[0]);
    }
    for (int i = 0; i < n; ++i) {
        fall(job, ty_load3(x[i]), u[i], a[i]);
        job->m->u.skin.at[job->first + r.begin + i] = ty_load3(u[i]);
        job->m->a.skin.at[job->first + r.begin + i] = ty_load3(a[i]);
    }
}

static ty_status add_to_skin(loose_job* job, int n_verts, int n_tris)
{
    ty_tri_mesh *skin = &job->m->skin, grown = {0};
    int tri = skin->n_tris;
    TY_TRY(ty_tri_mesh_resize(&grown, skin->n_verts + n_verts, skin->n_tris + n_tris));
    if (skin->n_verts) memcpy(grown.vert, skin->vert, (size_t)skin->n_verts * sizeof *skin->vert);
    if (skin->n_tris) memcpy(grown.tri, skin->tri, (size_t)skin->n_tris * sizeof *skin->tri);
    ty_tri_mesh_free(skin);
    *skin = grown;
    const int* id = job->tf->loose_id.at;
    for (int v = 0; v < job->surface->n_verts; ++v)
        if (id[v] >= 0) memcpy(skin->vert[id[v]], job->surface->vert[v], sizeof *skin->vert);
    for (int t = 0; t < job->surface->n_tris; ++t) {
        if (!is_loose(job, t)) continue;
        for (int k = 0; k < 3; ++k) skin->tri[tri][k] = id[job->surface->tri[t][k]];
        ++tri;
    }
    job->m->n_loose_tris = n_tris;
    return ty_ok();
}

ty_status ty_tetflow_loose(ty_tetflow* tf, const ty_liquid* liquid, double dt)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    if (!liquid->surface || liquid->surface->n_tris == 0) return ty_ok();
    loose_job job = {
        .tf = tf, .m = m, .surface = liquid->surface, .dt = dt, .first = m->skin.n_verts};
    if (!ty_array_resize(&tf->loose_id, job.surface->n_verts)) return ty_no_memory("loose drops");
    ty_parallel_for(job.surface->n_verts, BATCH, find_block, &job);
    TY_TRY(loosen_drops(&job, liquid));
    int n_tris, n_verts = number_vertices(&job, &n_tris);
    if (n_verts == 0) return ty_ok();
    TY_TRY(add_to_skin(&job, n_verts, n_tris));
    int n = m->skin.n_verts;
    if (!ty_array_resize(&m->u.skin, n) || !ty_array_resize(&m->a.skin, n))
        return ty_no_memory("loose drops");
    ty_parallel_for(n_verts, BATCH, value_block, &job);
    return ty_bvh_build(&m->skin_tree, n, (const double(*)[3])m->skin.vert, m->skin.n_tris,
                        (const int(*)[3])m->skin.tri);
}
