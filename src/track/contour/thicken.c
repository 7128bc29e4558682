// SPDX-License-Identifier: Apache-2.0
// Thin places are kept from tearing [Chentanez2007] section 3.4.
//
//   3.4.1   a ray from each vertex straight inward; where it leaves again within gamma, its middle m with distance d to
//           the surface is near the medial axis, unless d is much shorter than half the ray (`reject`)
//   3.4.3   particles move with the flow (kept out of solids); small ones give their radius to big ones within
//           `redistribute` and go; what is left grows
//
// Departs: (a) a detected place has d <= gamma / 2 = beta, so as printed no particle is ever big;
// the thickness 2 d is compared with beta. (b) The particles' surface [Zhu2005] is not united with
// the liquid's: it is bumpy, ends before the outermost particle, so that rims retreat, and what it
// adds is there for ever. Instead the mesh is fattened to what the lattice is sure to see and
// remembers by how much (thin.c); the [Zhu2005] mean of the particles within `radius` of a vertex
// says how thin the liquid is there, also at rims, whose rays run along the sheet. A sheet of half
// a cell stays half a cell. (c) So growth has only to make up for what contouring loses, and is
// given no more than that, where the loss is known (loss.c); per step in the paper, here for a way
// of FULL_WAY cells, so that liquid at rest does not change. (d) A filament has to be thicker than a
// sheet for the lattice to see it, a drop thicker still.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/contour/slc.h"
#include "world/trace.h"

enum {
    BLOCK = 256,
    PUSHES = 4,
    RINGS = 2
};    // rings of vertices around thin ones that may belong to their rim
static const double FIRST_HIT = 1e-4;    // cells along the ray that belong to the start
static const double FULL_WAY = 0.1;      // cells
static const double SEEN =
    0.55;    // cells: half a sheet of which some node is inside wherever it lies, with a tenth to spare
// Of gamma: half the thickness that a mesh of thin liquid has; more around filaments and drops
// (`bent` up to 2/3), which slip between nodes more easily. 1.1 cells by default: rims of that
// radius are round enough for the lattice. A sheet of half a cell and 11 cells wide loses 80 % in
// 100 steps with 0.55, 11 to 54 % with 0.8, 14 % at most with 1.1.
static const double FAT = 0.92, FAT_BENT = 0.4;
static const double BALL = 0.9;         // of half a ray's length
static const double AIR = 1.0;          // cells between fattened meshes
static const double DRY = 2.0;          // cells from a solid within which nothing is fattened
static const double SMALLEST = 0.01;    // cells: half a film that breaks
static const double GONE = -1.0;        // thickness where it did
static const double PROBE = 0.125;      // cells: differences of a solid's distance

typedef struct ray_args {
    ty_slc* s;
    double reach, further;
} ray_args;

static ty_vec3 vertex_normal(const ty_slc* s, int64_t v)
{
    const float* n = s->now.bend.at + 4 * v;
    return ty_vec((double)n[0], (double)n[1], (double)n[2]);
}

static double inset_of(const ty_slc* s, int64_t v)
{
    return s->now.inset.n ? s->now.inset.at[v] : 0.0;
}

static double inset_at(const ty_slc* s, int triangle, ty_vec3 point)
{
    double x[3];
    if (!s->now.inset.n) return 0.0;
    ty_store3(x, point);
    return ty_slc_value_at(&s->now.mesh, s->now.inset.at, triangle, x);
}

// Whether a ray surely ends where it began, in liquid (side -1) or in air (1): a ball around its
// middle that holds nearly all of it is free of the surface, by the values that made the surface.
static bool is_free(const ty_slc_surface* now, ty_octree_cursor* cursor, ty_vec3 middle,
                    double half, double side)
{
    double x[3], u[3], value;
    int at[3];
    ty_store3(x, middle);
    ty_octree_cells_of(&now->tree, x, u, at);
    ty_octant o = ty_octree_leaf(&now->tree, cursor, at);
    return o.id >= 0 && ty_slc_rough(now, &o, u, &value) && side * value > BALL * half;
}

static void ray_block(void* ctx, ty_range r)
{
    const ray_args* k = ctx;
    const ty_slc_surface* now = &k->s->now;
    ty_octree_cursor cursor = ty_octree_cursor_start();
    for (int64_t v = r.begin; v < r.end; ++v) {
        ty_vec3 from = ty_load3(now->mesh.vert[v]), inward = -vertex_normal(k->s, v);
        double half = 0.5 * (k->reach + k->further);
        k->s->ray.at[v] = INFINITY;
        if (is_free(now, &cursor, from + half * inward, half, -1.0)) continue;
        ty_bvh_hit hit = ty_bvh_nearest_hit(&now->exact.bvh, from, inward,
                                            FIRST_HIT * k->s->def.cell, k->reach + k->further);
        if (hit.triangle < 0) continue;
        double t = hit.hit.t - inset_of(k->s, v) -
                   inset_at(k->s, hit.triangle, from + hit.hit.t * inward);
        if (t <= k->reach) k->s->ray.at[v] = fmax(t, 0.0);
    }
}

// Of thin places of the surface, metres.
static double surface_reach(const ty_slc* s)
{
    return 2.0 * (FAT + FAT_BENT) * s->def.thicken_gamma * s->def.cell;
}

static ty_status cast_rays(ty_slc* s, double reach)
{
    ray_args k = {s, reach, 0.0};
    if (!ty_array_resize(&s->ray, s->now.mesh.n_verts)) return ty_no_memory("thin places");
    for (int64_t v = 0; v < s->now.inset.n; ++v)
        k.further = fmax(k.further, 2.0 * s->now.inset.at[v]);
    ty_parallel_for(s->now.mesh.n_verts, BLOCK, ray_block, &k);
    s->ray_reach = reach;
    return ty_ok();
}

ty_status ty_slc_thickness(ty_slc* s, double reach)
{
    int64_t n = s->now.mesh.n_verts;
    double farthest = ty_max(
        reach, ty_max(TY_SLC_THICK * s->def.cell, s->def.thicken_surface ? surface_reach(s) : 0.0));
    if (!ty_array_resize(&s->thickness, n)) return ty_no_memory("thin places");
    if (s->ray.n != n || s->ray_reach < reach) TY_TRY(cast_rays(s, farthest));
    for (int64_t v = 0; v < n; ++v) {
        double ray = s->ray.at[v];
        s->thickness.at[v] = ray <= reach ? ray : INFINITY;
    }
    return ty_ok();
}

ty_vec3 ty_slc_middle(const ty_slc* s, int64_t v)
{
    return ty_load3(s->now.mesh.vert[v]) -
           (inset_of(s, v) + 0.5 * s->thickness.at[v]) * vertex_normal(s, v);
}

// 3.4.1: middles of the rays that left again; `way` is half the ray.
static ty_status find_middles(ty_slc* s, double reach)
{
    ty_slc_particles* p = &s->thin;
    p->x.n = p->from.n = p->vertex.n = p->way.n = 0;
    TY_TRY(ty_slc_thickness(s, reach));
    for (int64_t v = 0; v < s->thickness.n; ++v) {
        if (!(s->thickness.at[v] <= reach)) continue;
        if (!ty_array_reserve(&p->from, p->from.n + 3) || !ty_array_push(&p->vertex, (int)v) ||
            !ty_array_push(&p->way, 0.5 * s->thickness.at[v]))
            return ty_no_memory("thin places");
        ty_store3(p->from.at + p->from.n, ty_slc_middle(s, v));
        p->from.n += 3;
    }
    if (!ty_array_resize(&p->radius, p->way.n) || !ty_array_resize(&p->x, 3 * p->way.n))
        return ty_no_memory("thin places");
    return ty_ok();
}

typedef struct move_args {
    ty_slc* s;
    const ty_flow* flow;
    double dt;
    ty_sampler solid;
} move_args;

static void push_out(const move_args* k, double x[3])
{
    double h = k->s->def.cell, d[7], at[7][3];
    for (int push = 0; push < PUSHES; ++push) {
        for (int i = 0; i < 7; ++i) memcpy(at[i], x, sizeof at[0]);
        for (int i = 0; i < 6; ++i) at[1 + i][i / 2] += (i % 2 ? 1.0 : -1.0) * PROBE * h;
        ty_sample(&k->solid, 7, (const double(*)[3])at, d);
        if (d[0] >= 0.0) return;
        ty_vec3 out = ty_normalize(ty_vec(d[2] - d[1], d[4] - d[3], d[6] - d[5]));
        ty_store3(x, ty_load3(x) - d[0] * out);
    }
}

// Distances of the middles, then their ways through the step; a middle that is no middle gets
// radius 0.
static void move_block(void* ctx, ty_range r)
{
    const move_args* k = ctx;
    ty_slc_particles* p = &k->s->thin;
    double(*x)[3] = (double(*)[3])p->from.at + r.begin, (*to)[3] = (double(*)[3])p->x.at + r.begin;
    double *d = p->radius.at + r.begin, *way = p->way.at + r.begin,
           least = SMALLEST * k->s->def.cell;
    int n = (int)(r.end - r.begin);
    ty_slc_distance(&k->s->now, n, (const double(*)[3])x, d, NULL, NULL);
    ty_trace_forward(k->flow, k->dt, n, (const double(*)[3])x, to);
    for (int i = 0; i < n; ++i) {
        if (-d[i] < least) k->s->thickness.at[p->vertex.at[r.begin + i]] = GONE;
        d[i] = -d[i] >= least && -d[i] >= k->s->def.thicken_reject * way[i] ? -d[i] : 0.0;
        way[i] = ty_norm(ty_load3(to[i]) - ty_load3(x[i]));
        if (k->s->has_solid && d[i] > 0.0) push_out(k, to[i]);
        if (!isfinite(way[i])) d[i] = 0.0;
    }
}

// Those without a radius go.
static void drop_rejected(ty_slc_particles* p)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->radius.n; ++i) {
        if (!(p->radius.at[i] > 0.0)) continue;
        memmove(p->x.at + 3 * n, p->x.at + 3 * i, 3 * sizeof(double));
        memmove(p->from.at + 3 * n, p->from.at + 3 * i, 3 * sizeof(double));
        if (p->grow.n) p->grow.at[n] = p->grow.at[i];
        p->vertex.at[n] = p->vertex.at[i];
        p->radius.at[n] = p->radius.at[i];
        p->way.at[n++] = p->way.at[i];
    }
    p->radius.n = p->way.n = p->vertex.n = n;
    if (p->grow.n) p->grow.n = n;
    p->x.n = p->from.n = 3 * n;
}

typedef struct share_args {
    const ty_slc* s;
    ty_slc_particles* p;
    double beta, reach;    // metres
} share_args;

// Departs (a): the thickness, not d.
static bool is_big(const share_args* k, int64_t i) { return 2.0 * k->p->radius.at[i] > k->beta; }

typedef struct near_count {
    const share_args* k;
    int n;
    double given;
} near_count;

static void count_big(void* ctx, int id, double distance2)
{
    (void)distance2;
    near_count* c = ctx;
    c->n += is_big(c->k, id);
}

static void take_from_small(void* ctx, int small, double distance2)
{
    (void)distance2;
    near_count* c = ctx;
    const ty_slc_particles* p = c->k->p;
    c->given += p->radius.at[p->small.at[small]] / p->near.at[p->small.at[small]];
}

// How many big ones are near each small one.
static void near_block(void* ctx, ty_range r)
{
    const share_args* k = ctx;
    for (int64_t small = r.begin; small < r.end; ++small) {
        near_count c = {.k = k};
        ty_hash_grid_near(&k->p->grid, k->p->small_x.at + 3 * small, k->reach, count_big, &c);
        k->p->near.at[k->p->small.at[small]] = c.n;
    }
}

// There are few small ones, if any; big ones look for them alone.
static ty_status find_small(const share_args* k)
{
    ty_slc_particles* p = k->p;
    p->small.n = p->small_x.n = 0;
    for (int64_t i = 0; i < p->radius.n; ++i) {
        p->near.at[i] = 0;
        if (is_big(k, i) || !(k->reach > 0.0)) continue;
        if (!ty_array_push(&p->small, (int)i) || !ty_array_reserve(&p->small_x, p->small_x.n + 3))
            return ty_no_memory("thin places");
        memcpy(p->small_x.at + p->small_x.n, p->from.at + 3 * i, 3 * sizeof(double));
        p->small_x.n += 3;
    }
    if (p->small.n == 0) return ty_ok();
    TY_TRY(
        ty_hash_grid_build(&p->grid, (int)p->radius.n, (const double(*)[3])p->from.at, k->reach));
    ty_parallel_for(p->small.n, BLOCK, near_block, (void*)k);
    return ty_hash_grid_build(&p->small_grid, (int)p->small.n, (const double(*)[3])p->small_x.at,
                              k->reach);
}

// What each may grow in the step. Departs (c).
static void grow_block(void* ctx, ty_range r)
{
    const share_args* k = ctx;
    const ty_track_def* def = &k->s->def;
    for (int64_t i = r.begin; i < r.end; ++i) {
        near_count c = {.k = k};
        bool big = is_big(k, i);
        double part = fmin(1.0, k->p->way.at[i] / (FULL_WAY * def->cell));
        if (big && k->p->small.n > 0)
            ty_hash_grid_near(&k->p->small_grid, k->p->from.at + 3 * i, k->reach, take_from_small,
                              &c);
        k->p->grow.at[i] = part * (c.given + def->cell * (big ? def->thicken_grow_big
                                                              : def->thicken_grow_small));
    }
}

static ty_status redistribute(ty_slc* s)
{
    ty_slc_particles* p = &s->thin;
    double h = s->def.cell;
    share_args k = {s, p, s->def.thicken_beta * h, s->def.thicken_redistribute * h};
    if (!ty_array_resize(&p->near, p->radius.n) || !ty_array_resize(&p->grow, p->radius.n))
        return ty_no_memory("thin places");
    TY_TRY(find_small(&k));
    ty_parallel_for(p->radius.n, BLOCK, grow_block, &k);
    for (int64_t i = 0; i < p->radius.n; ++i)
        if (p->near.at[i] > 0) p->radius.at[i] = 0.0;
    drop_rejected(p);
    return ty_hash_grid_build(&p->grid, (int)p->radius.n, (const double(*)[3])p->from.at,
                              s->def.thicken_radius * h);
}

typedef struct blend {
    const ty_slc* s;
    double inverse_radius2, weight, d, grow, way,
        normals[6];    // sums; of n n^T: xx yy zz xy yz zx
} blend;

// k(s) = (1 - s^2)^3
static void add_particle(void* ctx, int id, double distance2)
{
    blend* b = ctx;
    const ty_slc_particles* p = &b->s->thin;
    double k = 1.0 - distance2 * b->inverse_radius2;
    if (!(k > 0.0)) return;
    k = k * k * k;
    b->weight += k;
    b->d += k * p->radius.at[id];
    b->grow += k * p->grow.at[id];
    b->way += k * p->way.at[id];
    ty_vec3 n = vertex_normal(b->s, p->vertex.at[id]);
    for (int axis = 0; axis < 3; ++axis) {
        b->normals[axis] += k * n[axis] * n[axis];
        b->normals[3 + axis] += k * n[axis] * n[(axis + 1) % 3];
    }
}

// 1 - |mean of n n^T|^2: 0 when all normals are parallel, 1/2 around a filament, 2/3 around a drop.
static double bent(const blend* b)
{
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) sum += (i < 3 ? 1.0 : 2.0) * b->normals[i] * b->normals[i];
    return 1.0 - sum / (b->weight * b->weight);
}

// 1 in the open, 0 beside a solid, or where the step may lead there: the liquid's continuation into
// solids knows no inset, and what is fattened would wet the wall.
static double room(const ty_slc* s, int64_t v, const ty_sampler* solid, double way)
{
    double d, h = s->def.cell;
    if (!s->has_solid) return 1.0;
    ty_sample(solid, 1, (const double(*)[3])s->now.mesh.vert + v, &d);
    return ty_clamp((d - way) / h - DRY, 0.0, 1.0);
}

typedef struct fat_args {
    ty_slc* s;
    ty_sampler solid;
    const uint8_t* near;    // per vertex: whether to look
    const int* own;         // per vertex: its particle, -1
} fat_args;

// The mesh may be fattened so far that the air outside of vertex v stays visible to the lattice
// too; never less than it takes to see the liquid.
static double limit_by_air(const ty_slc* s, ty_octree_cursor* cursor, int64_t v, double half,
                           double wanted)
{
    double h = s->def.cell, reach = 2.0 * wanted + AIR * h;
    ty_vec3 from = ty_load3(s->now.mesh.vert[v]), outward = vertex_normal(s, v);
    if (is_free(&s->now, cursor, from + 0.5 * reach * outward, 0.5 * reach, 1.0)) return wanted;
    ty_bvh_hit hit = ty_bvh_nearest_hit(&s->now.exact.bvh, from, outward, FIRST_HIT * h, reach);
    if (hit.triangle < 0) return wanted;
    double gap = hit.hit.t + inset_of(s, v) + inset_at(s, hit.triangle, from + hit.hit.t * outward);
    return fmin(wanted, fmax(0.5 * (gap - AIR * h), SEEN * h - half));
}

// How much the mesh of the liquid around vertex v is to be fattened: from the particles near it.
// *part: how much of the way there the step should go; *grow: what the liquid may grow.
static double wanted_at(const fat_args* k, ty_octree_cursor* cursor, int64_t v, double* part,
                        double* grow)
{
    const ty_slc* s = k->s;
    double h = s->def.cell, radius = s->def.thicken_radius * h, m[3];
    blend b = {.s = s, .inverse_radius2 = 1.0 / (radius * radius)};
    ty_store3(m, ty_load3(s->now.mesh.vert[v]) - inset_of(s, v) * vertex_normal(s, v));
    ty_hash_grid_near(&s->thin.grid, m, radius, add_particle, &b);
    if (!(b.weight > 0.0) || s->thickness.at[v] == GONE) return 0.0;
    double half = b.d / b.weight, way = b.way / b.weight;
    if (k->own[v] >= 0) half = fmin(half, s->thin.radius.at[k->own[v]]);
    *part = fmin(1.0, way / (FULL_WAY * h));
    *grow = b.grow / b.weight;
    double wanted = (FAT + FAT_BENT * bent(&b)) * s->def.thicken_gamma * h - half;
    return wanted > 0.0 ? room(s, v, &k->solid, way) * limit_by_air(s, cursor, v, half, wanted)
                        : 0.0;
}

static void fat_block(void* ctx, ty_range r)
{
    const fat_args* k = ctx;
    ty_slc* s = k->s;
    ty_octree_cursor cursor = ty_octree_cursor_start();
    for (int64_t v = r.begin; v < r.end; ++v) {
        double part = 1.0, inset = inset_of(s, v);
        s->grow.at[v] = 0.0;
        double wanted = k->near[v] ? wanted_at(k, &cursor, v, &part, &s->grow.at[v]) : 0.0;
        s->fat.at[v] = inset + part * (wanted - inset);
    }
}

// Vertices within RINGS edges of one that has a particle.
static void mark_near(const ty_tri_mesh* m, uint8_t* near)
{
    for (int ring = 1; ring <= RINGS; ++ring)
        for (int t = 0; t < m->n_tris; ++t) {
            const int* id = m->tri[t];
            bool any = false;
            for (int i = 0; i < 3; ++i) any |= near[id[i]] && near[id[i]] <= ring;
            for (int i = 0; any && i < 3; ++i)
                if (!near[id[i]]) near[id[i]] = (uint8_t)(ring + 1);
        }
}

static ty_status fatten(ty_slc* s)
{
    const ty_tri_mesh* m = &s->now.mesh;
    int64_t n = m->n_verts;
    uint8_t* near = ty_alloc_zero((size_t)n, sizeof *near);
    int* own = ty_alloc((size_t)n, sizeof *own);
    bool good = near && own && ty_array_resize(&s->fat, n) && ty_array_resize(&s->grow, n);
    for (int64_t v = 0; good && v < n; ++v) own[v] = -1;
    for (int64_t i = 0; good && i < s->thin.radius.n; ++i) {
        own[s->thin.vertex.at[i]] = (int)i;
        near[s->thin.vertex.at[i]] = 1;
    }
    if (good) {
        mark_near(m, near);
        fat_args k = {s, ty_world_solid(s->world), near, own};
        ty_parallel_for(n, BLOCK, fat_block, &k);
    }
    ty_free(near);
    ty_free(own);
    return good ? ty_ok() : ty_no_memory("thin places");
}

ty_status ty_slc_thicken(ty_slc* s, const ty_flow* flow, double dt)
{
    ty_slc_particles* p = &s->thin;
    p->x.n = p->radius.n = p->grow.n = s->fat.n = s->grow.n = 0;
    if (!s->def.thicken_surface) return ty_ok();
    TY_TRY(find_middles(s, surface_reach(s)));
    move_args k = {s, flow, dt, ty_world_solid(s->world)};
    ty_parallel_for(p->radius.n, BLOCK, move_block, &k);
    drop_rejected(p);
    if (p->radius.n == 0 && s->now.inset.n == 0) return ty_ok();
    TY_TRY(redistribute(s));
    return fatten(s);
}
