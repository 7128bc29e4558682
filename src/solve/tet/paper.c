// SPDX-License-Identifier: Apache-2.0
// The velocity field of [Chentanez2007] section 3.1, for comparison. For x nearest to vertex v,
// over the tets t around v:
//
//     u(x) = sum w_t u_t / sum w_t,   w_t = 6 V_t / prod_i (p_i - p_v) . (c_t - x),   p_i the other
//     vertices, c_t the barycentre
//
// [Gong2008] eq. 8. Paths are traced through values at vertices, linear between them; what arrives
// at their end is u(x). Velocities arrive at the barycentres of faces, of which the normal part is
// kept.
//
// Departs: with barycentres for c_t weights are negative at 29 % of the points in graded and warped
// tets and reach 2000 of their sum; where their sizes add up to more than MOST_WEIGHT of it, the
// linear value of the vertices is taken. Outside the mesh the closest point of its boundary
// answers, not the octree. Paths are traced by RK3 instead of one Euler step.
#include "solve/tet/paper.h"
#include "core/parallel.h"

enum { BLOCK = 256, BATCH = TY_SAMPLE_BATCH };

static const double MOST_WEIGHT = 2.0;
// Of a squared edge: a point nearer to a dual face is taken to be this near.
static const double NEAREST = 1e-9;

static ty_vec3 vertex(const ty_tet_mesh* mesh, int v) { return ty_load3(mesh->vert[v]); }

// The weight of the tet of a corner, at x.
static double weight(const ty_tet_motion* m, int corner, ty_vec3 x)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int t = corner / 4, i = corner % 4;
    ty_vec3 v = vertex(mesh, mesh->tet[t][i]), to = m->centre.at[t] - x;
    double product = 1.0;
    for (int k = 1; k < 4; ++k) {
        ty_vec3 edge = vertex(mesh, mesh->tet[t][(i + k) % 4]) - v;
        double factor = ty_dot(edge, to), least = NEAREST * ty_dot(edge, edge);
        product *= fabs(factor) < least ? copysign(least, factor) : factor;
    }
    return 6.0 * m->volume.at[t] / product;
}

// False where weights cancel too much.
static bool dual_value(const ty_tet_motion* m, int v, ty_vec3 x, ty_vec3* value)
{
    ty_vec3 sum = ty_vec(0, 0, 0);
    double all = 0.0, sizes = 0.0;
    for (int k = m->around.first.at[v]; k < m->around.first.at[v + 1]; ++k) {
        double w = weight(m, m->around.corner.at[k], x);
        sum += w * m->state.u.at[m->around.corner.at[k] / 4];
        all += w, sizes += fabs(w);
    }
    if (!(sizes <= MOST_WEIGHT * fabs(all)) || !(sizes > 0.0)) return false;
    *value = sum / all;
    return true;
}

static ty_vec3 mean(const ty_tet_motion* m, int v)
{
    ty_vec3 sum = ty_vec(0, 0, 0);
    double all = 0.0;
    for (int k = m->around.first.at[v]; k < m->around.first.at[v + 1]; ++k) {
        int t = m->around.corner.at[k] / 4;
        sum += m->volume.at[t] * m->state.u.at[t], all += m->volume.at[t];
    }
    return all > 0.0 ? sum / all : sum;
}

static void vertex_block(void* ctx, ty_range r)
{
    ty_tet_motion* m = ctx;
    for (int64_t v = r.begin; v < r.end; ++v) {
        m->a.vert.at[v] = ty_vec(0, 0, 0);
        if (m->sticks && m->state.vert_kind.at[v] & TY_VERT_SOLID)
            m->u.vert.at[v] = ty_tet_wall_velocity(m, &m->around, (int)v);
        else if (!dual_value(m, (int)v, vertex(&m->state.mesh, (int)v), &m->u.vert.at[v]))
            m->u.vert.at[v] = mean(m, (int)v);
    }
}

ty_status ty_tet_paper_values(ty_tet_motion* m)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    TY_TRY(ty_tet_stars_make(&m->around, mesh));
    ty_parallel_for(mesh->n_verts, BLOCK, vertex_block, m);
    for (int t = 0; t < mesh->n_tets; ++t)
        m->u.deviation.at[t] = m->a.deviation.at[t] = ty_vec(0, 0, 0);
    return ty_ok();
}

static int nearest_vertex(const ty_tet_mesh* mesh, int t, ty_vec3 x)
{
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < 4; ++i) {
        ty_vec3 d = vertex(mesh, mesh->tet[t][i]) - x;
        if (ty_dot(d, d) < least) least = ty_dot(d, d), best = mesh->tet[t][i];
    }
    return best;
}

void ty_tet_sample_dual(const ty_tet_motion* m, const ty_world* world, int n, const double (*x)[3],
                        double* u)
{
    ty_tet_place place[BATCH];
    ty_tet_sample(m, world, false, n, x, u, NULL);
    ty_tet_locate(m, n, x, place);
    for (int i = 0; i < n; ++i) {
        ty_vec3 at = ty_load3(x[i]), value;
        if (place[i].tet < 0) continue;
        if (dual_value(m, nearest_vertex(&m->state.mesh, place[i].tet, at), at, &value))
            ty_store3(u + 3 * i, value);
    }
}

ty_status ty_tetflow_keep_unpushed(ty_tetflow* tf)
{
    const ty_tet_state* s = &ty_tetflow_new(tf)->state;
    if (!ty_array_resize(&tf->unpushed, s->u.n)) return ty_no_memory("velocities");
    for (int64_t t = 0; t < s->u.n; ++t) tf->unpushed.at[t] = s->u.at[t];
    return ty_ok();
}

typedef struct face_job {
    ty_tetflow* tf;
    ty_tet_motion* m;
    double dt;
} face_job;

static ty_vec3 pushed(const face_job* job, int t)
{
    return job->m->state.u.at[t] - job->tf->unpushed.at[t];
}

static int place_of(const ty_tet_mesh* mesh, int t, int64_t face)
{
    int i = 0;
    while (mesh->tet_face[t][i] != face) ++i;
    return i;
}

// Forces by volume, [Gong2008] eq. 11.
static double face_flux(const face_job* job, int64_t f, ty_vec3 u)
{
    const ty_tet_motion* m = job->m;
    const ty_tet_mesh* mesh = &m->state.mesh;
    int a = mesh->face_tet[f][0], b = mesh->face_tet[f][1];
    ty_vec3 change = pushed(job, a);
    if (b >= 0) {
        double va = m->volume.at[a], vb = m->volume.at[b];
        change = (va * change + vb * pushed(job, b)) / (va + vb);
    }
    return ty_dot(ty_load3(ty_tet_mesh_geometry(mesh, a).S[place_of(mesh, a, f)]), u + change);
}

static void face_block(void* ctx, ty_range r)
{
    const face_job* job = ctx;
    const ty_tet_mesh* mesh = &job->m->state.mesh;
    double x[BATCH][3], u[BATCH][3], a[BATCH][3];
    int n = (int)(r.end - r.begin);
    for (int k = 0; k < n; ++k) {
        int t = mesh->face_tet[r.begin + k][0], i = place_of(mesh, t, r.begin + k);
        ty_vec3 sum = ty_vec(0, 0, 0);
        for (int j = 1; j < 4; ++j) sum += vertex(mesh, mesh->tet[t][(i + j) % 4]);
        ty_store3(x[k], sum / 3.0);
    }
    ty_tetflow_arriving(job->tf, job->dt, n, (const double(*)[3])x, u[0], a[0]);
    for (int k = 0; k < n; ++k)
        job->m->state.flux.at[r.begin + k] = face_flux(job, r.begin + k, ty_load3(u[k]));
}

ty_status ty_tetflow_carry_faces(ty_tetflow* tf, double dt)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    int n = m->state.mesh.n_faces;
    if (!ty_array_resize(&m->state.flux, n)) return ty_no_memory("fluxes");
    face_job job = {tf, m, dt};
    if (m->state.mesh.n_tets) ty_parallel_for(n, BATCH, face_block, &job);
    return ty_world_status(tf->world);
}
