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
// inward one, in proportion, or the other way round: none of it changes its sign. What it cannot take,
// all of the surface takes. Then it is measured again, for not all of that arrives. Each body of liquid
// by itself. Not beside solids that move: what they displace is not known so exactly.
//
// A source's own surface does not count: what it leaves empty is filled up whatever it is (a fifth more
// than the source should bring where a jet begins to fall). All other surface of such a body sweeps what
// the source brings.
#include <string.h>

#include "core/parallel.h"
#include "core/union_find.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/motion.h"
#include "world/trace.h"

enum { BATCH = TY_SAMPLE_BATCH, BLOCK = 1024, TIMES = 3 };
static const double SIMPSON[TIMES] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
// |sum of area vectors| / sum of areas around a vertex: less is a crease, which is left alone
static const double LEAST_FLAT = 0.5;
// Cells: no more second-order motion of a vertex counts, and no more is taken beside it
static const double MOST = 0.05;
// Cells: surface so near to a source is its own
static const double OWN = 0.1;
static const double FAR = 1e9;    // m: nowhere near
// Cells by which all of the surface may still go too far; how often that is looked at
static const double ENOUGH = 2e-5;
enum { ROUNDS = 2 };
static const double BURIED = 2.0;    // cells of the surface: longer than any edge of it
enum { JOIN_STRIDE = 8 };            // vertices of the surface, of which one is looked at

typedef struct sweep {
    ty_tetflow* tf;
    const ty_tri_mesh* surface;
    double dt;
    bool walled, obstructed;
    ty_sampler walls, obstacles;
    ty_flow flow;
    ty_vec3* way;             // per vertex of the surface
    double* own;              // the same: distance to what is a source's own
    double buried;            // m below walls from where on the surface does not come out of them
    bool* hidden;             // per vertex: it lies there
    bool* in_front;           // the same: it goes as the surface in front of an obstacle does
    double (*open)[TIMES];    // and to obstacles too, in the course of the step
    double* swept;            // per triangle, m3
} sweep;

// A skin vertex's share of the free surface around it.
typedef struct share {
    ty_vec3 area;
    double plain, second;    // m2, m3
    int source;              // whose own it is, or -1
    bool flat;
} share;

// What a body sweeps too much, the second-order motion that may take it, m3, and its surface, m2.
typedef struct body {
    double excess, second, area;
} body;

typedef struct scratch {
    share* shares;    // per vertex of the skin
    ty_vec3* kept;
    int *parent, *piece;
    body *bodies, *left;    // what is taken from them, what is still too much
} scratch;

static ty_vec3 area_of(const ty_vec3 x[3]) { return 0.5 * ty_cross(x[1] - x[0], x[2] - x[0]); }

// The area vector of a triangle whose corners have gone a share t straight along `way`; its mean.
static ty_vec3 area_after(const ty_vec3 x[3], const ty_vec3 way[3], double t)
{
    const ty_vec3 at[3] = {x[0] + t * way[0], x[1] + t * way[1], x[2] + t * way[2]};
    return area_of(at);
}

static ty_vec3 area_on_way(const ty_vec3 x[3], const ty_vec3 way[3])
{
    ty_vec3 sum = {0};
    for (int i = 0; i < TIMES; ++i) sum += SIMPSON[i] * area_after(x, way, 0.5 * i);
    return sum;
}

// How far points are from what is a source's own, negative on it, and which source that is.
static void find_own(const sweep* s, int n, const double (*x)[3], double* out, int* source)
{
    double d[BATCH];
    for (int i = 0; i < n; ++i) out[i] = FAR, source[i] = -1;
    for (int k = 0; k < ty_world_n_sources(s->tf->world); ++k) {
        ty_source from = ty_world_source(s->tf->world, k);
        if (!from.on || !from.velocity.eval) continue;
        ty_sample(&from.distance, n, x, d);
        for (int i = 0; i < n; ++i) {
            double beyond = d[i] - OWN * s->tf->def->cell;
            if (beyond < out[i]) out[i] = beyond, source[i] = k;
        }
    }
}

// How far points are from obstacles and from what is a source's own, on their way.
static void find_open(const sweep* s, ty_range r, const double* own)
{
    const double(*x)[3] = (const double(*)[3])s->surface->vert + r.begin;
    double at[BATCH][3], d[BATCH];
    int n = (int)(r.end - r.begin);
    for (int k = 0; k < TIMES; ++k) {
        for (int i = 0; i < n; ++i)
            ty_store3(at[i], ty_load3(x[i]) + 0.5 * k * s->way[r.begin + i]);
        if (s->obstructed) ty_sample(&s->obstacles, n, (const double(*)[3])at, d);
        for (int i = 0; i < n; ++i)
            s->open[r.begin + i][k] = s->obstructed ? ty_min(d[i], own[i]) : own[i];
    }
}

// Where vertices come to. Those so deep in walls that none of their triangles comes out stay where they are.
static void find_ends(const sweep* s, int n, const double (*x)[3], const double* wall,
                      double (*end)[3], bool* in_front)
{
    double open[BATCH][3], to[BATCH][3];
    bool stepped[BATCH];
    int id[BATCH], n_open = 0;
    for (int i = 0; i < n; ++i) {
        in_front[i] = false;
        if (s->walled && wall[i] < -s->buried) {
            memcpy(end[i], x[i], sizeof end[0]);
            continue;
        }
        memcpy(open[n_open], x[i], sizeof open[0]);
        id[n_open++] = i;
    }
    ty_sampler obstacles = s->obstructed ? s->obstacles : (ty_sampler){0};
    ty_trace_surface(&s->flow, &obstacles, s->dt, n_open, (const double(*)[3])open, to, stepped);
    for (int i = 0; i < n_open; ++i) {
        memcpy(end[id[i]], to[i], sizeof end[0]);
        in_front[id[i]] = stepped[i];
    }
}

// What would end behind a wall ends at it.
static void way_block(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    const double(*x)[3] = (const double(*)[3])s->surface->vert + r.begin;
    double end[BATCH][3], before[BATCH], after[BATCH], *own = s->own + r.begin;
    int source[BATCH];
    int n = (int)(r.end - r.begin);
    if (s->walled) ty_sample(&s->walls, n, x, before);
    find_ends(s, n, x, before, end, s->in_front + r.begin);
    find_own(s, n, x, own, source);
    if (s->walled) ty_sample(&s->walls, n, (const double(*)[3])end, after);
    for (int i = 0; i < n; ++i) {
        ty_vec3 to = ty_load3(end[i]);
        if (s->walled && before[i] > 0.0 && after[i] < 0.0)
            to -= after[i] * ty_tet_way_out(&s->walls, s->tf->def->cell, to);
        s->way[r.begin + i] = to - ty_load3(x[i]);
        s->hidden[r.begin + i] = s->walled && before[i] < -s->buried;
    }
    find_open(s, r, own);
}

// Corners that are a source's own move as the others do, or the rest of the surface seems held back.
static void continue_ways(const double own[3], ty_vec3 way[3])
{
    ty_vec3 sum = {0};
    int n = 0;
    for (int k = 0; k < 3; ++k)
        if (own[k] > 0.0) sum += way[k], ++n;
    for (int k = 0; k < 3 && n; ++k)
        if (!(own[k] > 0.0)) way[k] = sum / n;
}

// How far corners are from the closed sides that some of them are behind; their number. Sides are taken
// one by one, because where two meet their distance is not linear.
static int beyond_sides(const sweep* s, const ty_vec3 x[3], double (*d)[3])
{
    const ty_world_def* def = ty_world_get_def(s->tf->world);
    int n = 0;
    for (int side = 0; def->has_domain && side < TY_N_SIDES; ++side) {
        int axis = side / 2;
        if (!def->wall[side].closed) continue;
        for (int k = 0; k < 3; ++k)
            d[n][k] = side % 2 ? def->max[axis] - x[k][axis] : x[k][axis] - def->min[axis];
        n += d[n][0] < 0.0 || d[n][1] < 0.0 || d[n][2] < 0.0;
    }
    return n;
}

// What a triangle sweeps outside solids and sources at a moment, per whole step.
static double sweeping(const sweep* s, const int v[3], const ty_vec3 x[3], const ty_vec3 way[3],
                       int time)
{
    double d[TY_N_SIDES + 1][3], weight[3];
    ty_vec3 at[3], moved = {0};
    for (int k = 0; k < 3; ++k) {
        at[k] = x[k] + 0.5 * time * way[k];
        d[0][k] = s->open[v[k]][time];
    }
    int n = 1 + beyond_sides(s, at, d + 1);
    ty_triangle_common_moments(n, (const double(*)[3])d, weight);
    for (int k = 0; k < 3; ++k) moved += weight[k] * way[k];
    return ty_dot(moved, area_of(at));
}

// Whether the surface of a thin obstacle runs through a triangle, or before it.
static bool is_cut(const sweep* s, const int v[3])
{
    bool cut = false;
    for (int k = 0; k < 3; ++k)
        cut |= s->own[v[k]] > 0.0 && s->open[v[k]][0] < 0.0 && !s->in_front[v[k]];
    return s->obstructed && cut;
}

// What such a triangle sweeps in front: to first order, because its corners behind go straight on.
static double swept_along(const sweep* s, const int v[3], const ty_vec3 x[3], const double own[3])
{
    double at[3][3], u[3][3];
    ty_vec3 way[3];
    for (int k = 0; k < 3; ++k) ty_store3(at[k], x[k]);
    ty_sample(&s->flow.velocity, 3, (const double(*)[3])at, u[0]);
    for (int k = 0; k < 3; ++k) way[k] = s->dt * ty_load3(u[k]);
    continue_ways(own, way);
    return sweeping(s, v, x, way, 0);
}

// Outside solids and sources.
static void swept_block(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    for (int64_t t = r.begin; t < r.end; ++t) {
        const int* v = s->surface->tri[t];
        ty_vec3 x[3], way[3];
        double own[3];
        s->swept[t] = 0.0;
        if (s->hidden[v[0]] || s->hidden[v[1]] || s->hidden[v[2]]) continue;
        for (int k = 0; k < 3; ++k) {
            x[k] = ty_load3(s->surface->vert[v[k]]);
            way[k] = s->way[v[k]];
            own[k] = s->own[v[k]];
        }
        if (is_cut(s, v)) {
            s->swept[t] = swept_along(s, v, x, own);
            continue;
        }
        continue_ways(own, way);
        for (int i = 0; i < TIMES; ++i) s->swept[t] += SIMPSON[i] * sweeping(s, v, x, way, i);
    }
}

static void measure(sweep* s)
{
    ty_parallel_for(s->surface->n_verts, BATCH, way_block, s);
    ty_parallel_for(s->surface->n_tris, BLOCK, swept_block, s);
}

static ty_status allocate(sweep* s)
{
    int n = s->surface->n_verts, n_tris = s->surface->n_tris;
    s->way = ty_alloc((size_t)n, sizeof *s->way);
    s->own = ty_alloc((size_t)n, sizeof *s->own);
    s->open = ty_alloc((size_t)n, sizeof *s->open);
    s->hidden = ty_alloc((size_t)n, sizeof *s->hidden);
    s->in_front = ty_alloc((size_t)n, sizeof *s->in_front);
    s->swept = ty_alloc((size_t)n_tris, sizeof *s->swept);
    bool ok = s->way && s->own && s->open && s->hidden && s->in_front && s->swept;
    return ok ? ty_ok() : ty_no_memory("what the surface sweeps");
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
        double size = ty_norm(out[v].area), most = MOST * s->tf->def->cell * size, own;
        find_own(s, 1, (const double(*)[3])skin->vert[v], &own, &out[v].source);
        if (own > 0.0) out[v].source = -1;
        out[v].flat = size > LEAST_FLAT * out[v].plain && out[v].source < 0;
        out[v].second = out[v].flat ? ty_min(fabs(out[v].second), most) : 0.0;
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

// Bodies of tets that one piece of the surface runs along are one, as where a jet has met a pool and no
// tet joins them yet. piece: scratch.
static void join_bodies(const sweep* s, const ty_liquid* liquid, const ty_tet_motion* m,
                        int* parent, int* piece)
{
    for (int i = 0; i < liquid->n_pieces; ++i) piece[i] = -1;
    for (int v = 0; v < s->surface->n_verts; v += JOIN_STRIDE) {
        int of = body_at(m, s->surface->vert[v], parent), *first = &piece[liquid->piece[v]];
        if (of < 0) continue;
        if (*first < 0) *first = of;
        else ty_join(parent, *first, of);
    }
}

// What source k brings by being filled up, m3/s: what it does not bring as a divergence (emit.c).
static double poured(const sweep* s, const ty_tet_motion* m, int k)
{
    ty_source from = ty_world_source(s->tf->world, k);
    double rate = from.rate, d, x[1][3];
    for (int64_t t = 0; t < s->tf->divergence.n; ++t) {
        if (s->tf->divergence.at[t] == 0.0) continue;
        ty_store3(x[0], m->centre.at[t]);
        ty_sample(&from.distance, 1, (const double(*)[3])x, &d);
        if (d < 0.0) rate -= s->tf->divergence.at[t] * m->state.open.at[t] * m->volume.at[t];
    }
    return ty_max(rate, 0.0);
}

// Of a source, to the body whose surface it has.
static void add_poured(const sweep* s, const ty_tet_motion* m, const share* shares, int* parent,
                       body* bodies)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n_sources = ty_world_n_sources(s->tf->world);
    for (int k = 0; k < n_sources; ++k)
        for (int v = mesh->n_inner; v < mesh->n_verts; ++v) {
            const share* part = &shares[v - mesh->n_inner];
            if (part->source != k || !(part->plain > 0.0)) continue;
            bodies[ty_find(parent, v)].excess -= s->dt * poured(s, m, k);
            break;
        }
}

// piece: scratch.
static void add_up(const sweep* s, const ty_liquid* liquid, const ty_tet_motion* m,
                   const share* shares, int* parent, int* piece, body* bodies)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    for (int i = 0; i < liquid->n_pieces; ++i) piece[i] = -2;
    for (int t = 0; t < s->surface->n_tris; ++t) {
        int v = s->surface->tri[t][0], *of = &piece[liquid->piece[v]];
        if (*of == -2) *of = body_at(m, s->surface->vert[v], parent);
        if (*of >= 0) bodies[ty_find(parent, *of)].excess += s->swept[t];
    }
    for (int64_t t = 0; t < s->tf->divergence.n; ++t)
        bodies[ty_find(parent, mesh->tet[t][0])].excess -= s->dt * s->tf->divergence.at[t] *
                                                           m->state.open.at[t] * m->volume.at[t];
    add_poured(s, m, shares, parent, bodies);
    for (int v = mesh->n_inner; v < mesh->n_verts; ++v) {
        const share* part = &shares[v - mesh->n_inner];
        body* of = &bodies[ty_find(parent, v)];
        of->second += part->second;
        if (part->flat) of->area += ty_norm(part->area);
    }
}

// How far the surface around a vertex goes too far outward, m.
static double too_far(const sweep* s, const share* part, const body* of)
{
    double size = ty_norm(part->area), taken = ty_clamp(of->excess, -of->second, of->second);
    double out = part->second > 0.0 ? taken / of->second * part->second / size : 0.0;
    if (!part->flat || !(of->area > 0.0)) return out;
    double most = MOST * s->tf->def->cell;
    return out + ty_clamp((of->excess - taken) / of->area, -most, most);
}

// What trackers see, with the skin's velocities changed; these are then what they were.
static ty_status show(const sweep* s, ty_tet_motion* m, const share* shares, int* parent,
                      const body* bodies, ty_vec3* kept)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n = mesh->n_verts - mesh->n_inner;
    memcpy(kept, m->u.skin.at, (size_t)n * sizeof *kept);
    for (int v = 0; v < n; ++v) {
        double out = too_far(s, &shares[v], &bodies[ty_find(parent, mesh->n_inner + v)]);
        if (out != 0.0) m->u.skin.at[v] -= out / (s->dt * ty_norm(shares[v].area)) * shares[v].area;
    }
    ty_status status = ty_tet_band_remake(&s->tf->band, m, s->tf->world, s->tf->dt_limit);
    memcpy(m->u.skin.at, kept, (size_t)n * sizeof *kept);
    return status;
}

// Adds what bodies still sweep too much to what is taken from them; whether that is much of any.
static bool take_more(const sweep* s, int n, const body* left, body* bodies)
{
    bool much = false;
    for (int v = 0; v < n; ++v) {
        bodies[v].excess += left[v].excess;
        much |= fabs(left[v].excess) > ENOUGH * s->tf->def->cell * left[v].area;
    }
    return much;
}

// Between the skin and the paths lie means: of what is taken 2 to 15 % does not arrive.
static ty_status balance_bodies(sweep* s, const ty_liquid* liquid, ty_tet_motion* m,
                                const scratch* c)
{
    int n = m->state.mesh.n_verts;
    find_shares(s, m, c->shares);
    find_bodies(&m->state.mesh, c->parent);
    join_bodies(s, liquid, m, c->parent, c->piece);
    for (int round = 0; round < ROUNDS; ++round) {
        body* to = round ? c->left : c->bodies;
        memset(to, 0, (size_t)n * sizeof *to);
        measure(s);
        add_up(s, liquid, m, c->shares, c->parent, c->piece, to);
        if (round && !take_more(s, n, c->left, c->bodies)) break;
        TY_TRY(show(s, m, c->shares, c->parent, c->bodies, c->kept));
    }
    return ty_ok();
}

static ty_status balance(sweep* s, const ty_liquid* liquid, ty_tet_motion* m)
{
    size_t n_verts = (size_t)m->state.mesh.n_verts, n = n_verts - (size_t)m->state.mesh.n_inner;
    scratch c = {.shares = ty_alloc_zero(n, sizeof *c.shares),
                 .kept = ty_alloc(n, sizeof *c.kept),
                 .parent = ty_alloc(n_verts, sizeof *c.parent),
                 .piece = ty_alloc((size_t)liquid->n_pieces, sizeof *c.piece),
                 .bodies = ty_alloc(n_verts, sizeof *c.bodies),
                 .left = ty_alloc(n_verts, sizeof *c.left)};
    ty_status status = ty_no_memory("what the surface sweeps");
    if (c.shares && c.kept && c.parent && c.piece && c.bodies && c.left)
        status = balance_bodies(s, liquid, m, &c);
    ty_free(c.shares);
    ty_free(c.kept);
    ty_free(c.parent);
    ty_free(c.piece);
    ty_free(c.bodies);
    ty_free(c.left);
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
               .buried = BURIED * liquid->cell,
               .dt = dt,
               .walled = ty_tet_has_solids(tf->world),
               .walls = ty_world_solid(tf->world),
               .obstructed = ty_world_has_obstacles(tf->world),
               .obstacles = ty_world_obstacles(tf->world),
               .flow = ty_tetflow_flow(tf)};
    ty_status status = allocate(&s);
    if (status.code == TY_OK) status = balance(&s, liquid, m);
    ty_free(s.way);
    ty_free(s.own);
    ty_free(s.open);
    ty_free(s.hidden);
    ty_free(s.in_front);
    ty_free(s.swept);
    return status;
}
