// SPDX-License-Identifier: Apache-2.0
// What the surface sweeps in a step. To first order that is the flux through it, which is balanced
// (vertex.c, balance.c). To second order it is what accelerations add and what the surface's own
// stretching and turning do on the way; of an incompressible liquid these add up to nothing, but
// not as they are known here: the one from pressures, the other from velocities that are constant
// beside the surface, and near walls neither. What was left over is most of what a dam break gained
// and lost: at 32 cells and CFL 3, without an obstacle, the ledger gave back 3.5 % of the volume a
// second, now 0.7 %.
//
// So the whole is measured, on the liquid's own surface and along the paths that trackers will
// follow, and what outward second-order motion is too much is taken away from it, and added to the
// inward one, in proportion, or the other way round: no motion changes its sign, and where there is
// none nothing changes. Each body of liquid by itself. Not beside solids that move: what they
// displace is not known so exactly.
#include <string.h>

#include "core/parallel.h"
#include "core/union_find.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/motion.h"
#include "world/trace.h"

enum { BATCH = TY_SAMPLE_BATCH, BLOCK = 1024 };
// |sum of area vectors| / sum of areas around a vertex: less is a crease, which is left alone
static const double LEAST_FLAT = 0.5;
// Cells: no more second-order motion of a vertex counts
static const double MOST = 0.05;

typedef struct sweep {
    ty_tetflow* tf;
    const ty_tri_mesh* surface;
    double dt;
    bool walled;
    ty_sampler walls;
    ty_flow flow;
    ty_vec3* way;     // per vertex of the surface
    double* solid;    // the same: distance to solids
    double* swept;    // per triangle, m3
} sweep;

// A skin vertex's share of the free surface around it.
typedef struct share {
    ty_vec3 area;
    double plain, second;    // m2, m3
} share;

static ty_vec3 area_of(const ty_vec3 x[3]) { return 0.5 * ty_cross(x[1] - x[0], x[2] - x[0]); }

// The mean area vector of a triangle whose corners go straight along `way`.
static ty_vec3 area_on_way(const ty_vec3 x[3], const ty_vec3 way[3])
{
    ty_vec3 half[3], end[3];
    for (int k = 0; k < 3; ++k) half[k] = x[k] + 0.5 * way[k], end[k] = x[k] + way[k];
    return (area_of(x) + 4.0 * area_of(half) + area_of(end)) / 6.0;
}

// What would end behind a wall ends at it.
static void way_block(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    const double(*x)[3] = (const double(*)[3])s->surface->vert + r.begin;
    double end[BATCH][3], depth[BATCH];
    int n = (int)(r.end - r.begin);
    ty_trace_forward(&s->flow, s->dt, n, x, end);
    if (s->walled) {
        ty_sample(&s->walls, n, x, s->solid + r.begin);
        ty_sample(&s->walls, n, (const double(*)[3])end, depth);
    }
    for (int i = 0; i < n; ++i) {
        ty_vec3 to = ty_load3(end[i]);
        if (s->walled && s->solid[r.begin + i] > 0.0 && depth[i] < 0.0)
            to -= depth[i] * ty_tet_way_out(&s->walls, s->tf->def->cell, to);
        s->way[r.begin + i] = to - ty_load3(x[i]);
    }
}

// Outside solids.
static void swept_block(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    for (int64_t t = r.begin; t < r.end; ++t) {
        const int* v = s->surface->tri[t];
        ty_vec3 x[3], way[3], moved = {0};
        double d[3] = {1.0, 1.0, 1.0}, weight[3];
        for (int k = 0; k < 3 && s->walled; ++k) d[k] = s->solid[v[k]];
        ty_triangle_open_moments(d, weight);
        for (int k = 0; k < 3; ++k) {
            x[k] = ty_load3(s->surface->vert[v[k]]);
            way[k] = s->way[v[k]];
            moved += weight[k] * way[k];
        }
        s->swept[t] = ty_dot(moved, area_on_way(x, way));
    }
}

static ty_status measure(sweep* s)
{
    int n = s->surface->n_verts, n_tris = s->surface->n_tris;
    s->way = ty_alloc((size_t)n, sizeof *s->way);
    s->solid = ty_alloc((size_t)n, sizeof *s->solid);
    s->swept = ty_alloc((size_t)n_tris, sizeof *s->swept);
    if (!s->way || !s->solid || !s->swept) return ty_no_memory("what the surface sweeps");
    ty_parallel_for(n, BATCH, way_block, s);
    ty_parallel_for(n_tris, BLOCK, swept_block, s);
    return ty_ok();
}

// The skin's vertices: how much of the free surface is theirs, and how much second-order motion.
static void find_shares(const sweep* s, const ty_tet_motion* m, share* out)
{
    const ty_tri_mesh* skin = &m->skin;
    const double* solid = m->state.solid.at + m->state.mesh.n_inner;
    int n = m->state.mesh.n_verts - m->state.mesh.n_inner;
    for (int t = 0; t < skin->n_tris - m->n_loose_tris; ++t) {
        const int* v = skin->tri[t];
        if (!ty_tet_on_free_surface(m, t)) continue;
        ty_vec3 x[3], way[3], moved = {0}, u = {0};
        double d[3];
        for (int k = 0; k < 3; ++k) {
            ty_vec3 here = m->u.skin.at[v[k]];
            x[k] = ty_load3(skin->vert[v[k]]);
            way[k] = s->dt * (here + 0.5 * s->dt * m->a.skin.at[v[k]]);
            moved += way[k] / 3.0, u += here / 3.0;
            d[k] = solid[v[k]];
        }
        ty_vec3 area = area_of(x);
        double third = ty_triangle_open_share(d) / 3.0,
               second = ty_dot(moved, area_on_way(x, way)) - s->dt * ty_dot(u, area);
        for (int k = 0; k < 3; ++k) {
            out[v[k]].area += third * area;
            out[v[k]].plain += third * ty_norm(area);
            out[v[k]].second += third * second;
        }
    }
    for (int v = 0; v < n; ++v) {
        double size = ty_norm(out[v].area), most = MOST * s->tf->def->cell * size;
        bool flat = size > LEAST_FLAT * out[v].plain;
        out[v].second = flat ? ty_min(fabs(out[v].second), most) : 0.0;
    }
}

// Which body of liquid the mesh's vertices belong to, by its first vertex.
static void find_bodies(const ty_tet_mesh* mesh, int* parent)
{
    for (int v = 0; v < mesh->n_verts; ++v) parent[v] = v;
    for (int t = 0; t < mesh->n_tets; ++t)
        for (int k = 1; k < 4; ++k) ty_join(parent, mesh->tet[t][0], mesh->tet[t][k]);
}

// The body that a piece of the surface is on; -1 where no tet is near it.
static int body_at(const ty_tet_motion* m, const double x[3], int* parent)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    ty_tet_place place;
    ty_tet_locate(m, 1, (const double(*)[3])x, &place);
    int tri = -2 - place.tet, tet = place.tet;
    if (tri >= m->skin.n_tris - m->n_loose_tris) return -1;
    if (tri >= 0) tet = mesh->face_tet[mesh->n_inner_faces + tri][0];
    return tet < 0 ? -1 : ty_find(parent, mesh->tet[tet][0]);
}

// sum[body]: what it sweeps too much, and the second-order motion that may take it, m3. piece:
// scratch.
static void add_up(const sweep* s, const ty_liquid* liquid, const ty_tet_motion* m,
                   const share* shares, int* parent, int* piece, double (*sum)[2])
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    for (int i = 0; i < liquid->n_pieces; ++i) piece[i] = -2;
    for (int t = 0; t < s->surface->n_tris; ++t) {
        int v = s->surface->tri[t][0], *body = &piece[liquid->piece[v]];
        if (*body == -2) *body = body_at(m, s->surface->vert[v], parent);
        if (*body >= 0) sum[*body][0] += s->swept[t];
    }
    for (int64_t t = 0; t < s->tf->divergence.n; ++t)
        sum[ty_find(parent, mesh->tet[t][0])][0] -= s->dt * s->tf->divergence.at[t] *
                                                    m->state.open.at[t] * m->volume.at[t];
    for (int v = mesh->n_inner; v < mesh->n_verts; ++v)
        sum[ty_find(parent, v)][1] += shares[v - mesh->n_inner].second;
}

// What trackers see, with the skin's velocities changed; these are then what they were.
static ty_status show(const sweep* s, ty_tet_motion* m, const share* shares, int* parent,
                      double (*sum)[2], ty_vec3* kept)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n = mesh->n_verts - mesh->n_inner;
    memcpy(kept, m->u.skin.at, (size_t)n * sizeof *kept);
    for (int v = 0; v < n; ++v) {
        const double* of = sum[ty_find(parent, mesh->n_inner + v)];
        double size2 = ty_dot(shares[v].area, shares[v].area);
        if (!(shares[v].second > 0.0)) continue;
        double part = ty_clamp(of[0] / of[1], -1.0, 1.0);
        m->u.skin.at[v] -= part * shares[v].second / (s->dt * size2) * shares[v].area;
    }
    ty_status status = ty_tet_band_make(&s->tf->band, m, s->tf->world, s->tf->dt_limit);
    memcpy(m->u.skin.at, kept, (size_t)n * sizeof *kept);
    return status;
}

static ty_status balance(sweep* s, const ty_liquid* liquid, ty_tet_motion* m)
{
    int n_verts = m->state.mesh.n_verts, n = n_verts - m->state.mesh.n_inner;
    share* shares = ty_alloc_zero((size_t)n, sizeof *shares);
    ty_vec3* kept = ty_alloc((size_t)n, sizeof *kept);
    int* parent = ty_alloc((size_t)n_verts, sizeof *parent);
    int* piece = ty_alloc((size_t)liquid->n_pieces, sizeof *piece);
    double(*sum)[2] = ty_alloc_zero((size_t)n_verts, sizeof *sum);
    ty_status status = ty_no_memory("what the surface sweeps");
    if (shares && kept && parent && piece && sum) {
        find_shares(s, m, shares);
        find_bodies(&m->state.mesh, parent);
        add_up(s, liquid, m, shares, parent, piece, sum);
        status = show(s, m, shares, parent, sum, kept);
    }
    ty_free(shares);
    ty_free(kept);
    ty_free(parent);
    ty_free(piece);
    ty_free(sum);
    return status;
}

ty_status ty_tetflow_sweep(ty_tetflow* tf, const ty_liquid* liquid, double dt)
{
    ty_tet_motion* m = ty_tetflow_old(tf);
    if (!tf->carries || tf->def->paper || ty_world_solid_moves(tf->world)) return ty_ok();
    if (!liquid || !liquid->surface || m->state.mesh.n_tets == 0 || !(tf->max_speed > 0.0))
        return ty_ok();
    sweep s = {.tf = tf,
               .surface = liquid->surface,
               .dt = dt,
               .walled = ty_tet_has_solids(tf->world),
               .walls = ty_world_solid(tf->world),
               .flow = ty_tetflow_flow(tf)};
    ty_status status = measure(&s);
    if (status.code == TY_OK) status = balance(&s, liquid, m);
    ty_free(s.way);
    ty_free(s.solid);
    ty_free(s.swept);
    return status;
}
