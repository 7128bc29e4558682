// SPDX-License-Identifier: Apache-2.0
// Thin places are kept from tearing [Chentanez2007] section 3.4.
//
//   3.4.1   a ray from each vertex straight inward; where it leaves again within gamma, its middle m with distance d to
//           the surface is near the medial axis, unless d is much shorter than half the ray (`reject`)
//   3.4.3   particles move with the flow (kept out of solids), small ones give their radius to big ones within
//           `redistribute` and go; what is left grows, and its surface [Zhu2005] is united with the liquid's
//
// Departs: (a) a detected place has d <= gamma / 2 = beta, so as printed no particle is ever big; the thickness 2 d is
// compared with beta. (b) Growth is per step in the paper, so that halving the step doubles it; here it
// grows with the particle's way up to the paper's amount (FULL_WAY), and liquid at rest does not change at all. (c) Radii
// are kept between SMALLEST and LARGEST: less is lost between the nodes whatever the growth, more is volume for
// nothing, and at low resolution many small ones would make a few huge ones (Gong section 10). (d) The
// mean place of the particles around a point beyond a sheet's rim is far inside the sheet, so their surface [Zhu2005]
// ends before the outermost particle and rims retreat; balls of SPHERE of the radius, which are below that surface
// elsewhere, are united with it.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/contour/slc.h"
#include "world/trace.h"

enum { BLOCK = 256, PUSHES = 4 };
static const double FIRST_HIT = 1e-4;    // cells along the ray that belong to the start
static const double FULL_WAY = 0.25;    // cells that a particle moves for all of a step's growth: a sheet of half a cell
                                        // must be a cell thick when it is half way between two nodes
static const double SMALLEST = 0.55;    // cells: a sheet of less than a cell passes between nodes unseen
static const double LARGEST = 0.55;     // of gamma: what is thicker than gamma is not thin any more
static const double SPHERE = 1.0;       // of a particle's radius
static const double RAISE = 0.75;       // cells by which particles that move so far may raise the surface
static const double PROBE = 0.125;       // cells: differences of a solid's distance

typedef struct ray_args {
    const ty_slc* s;
    double reach;
    double* thickness;
} ray_args;

static ty_vec3 vertex_normal(const ty_slc* s, int64_t v)
{
    const float* n = s->now.exact.normals.vert[v];
    return ty_normalize(ty_vec((double)n[0], (double)n[1], (double)n[2]));
}

static void ray_block(void* ctx, ty_range r)
{
    const ray_args* k = ctx;
    const ty_slc_surface* now = &k->s->now;
    for (int64_t v = r.begin; v < r.end; ++v) {
        ty_vec3 inward = -vertex_normal(k->s, v);
        ty_bvh_hit hit = ty_bvh_nearest_hit(&now->exact.bvh, ty_load3(now->mesh.vert[v]), inward,
                                            FIRST_HIT * k->s->def.cell, k->reach);
        k->thickness[v] = hit.triangle >= 0 ? hit.hit.t : INFINITY;
    }
}

ty_status ty_slc_thickness(ty_slc* s, double reach)
{
    if (!ty_array_resize(&s->thickness, s->now.mesh.n_verts)) return ty_no_memory("thin places");
    ray_args k = {s, reach, s->thickness.at};
    ty_parallel_for(s->now.mesh.n_verts, BLOCK, ray_block, &k);
    return ty_ok();
}

// 3.4.1: middles of the rays that left again within gamma; `radius` is d.
static ty_status find_middles(ty_slc* s)
{
    ty_slc_particles* p = &s->thin;
    double gamma = s->def.thicken_gamma * s->def.cell;
    p->x.n = p->radius.n = p->way.n = 0;
    TY_TRY(ty_slc_thickness(s, gamma));
    for (int64_t v = 0; v < s->thickness.n; ++v) {
        double half = 0.5 * s->thickness.at[v];
        if (!(2.0 * half <= gamma)) continue;
        ty_vec3 m = ty_load3(s->now.mesh.vert[v]) - half * vertex_normal(s, v);
        if (!ty_array_reserve(&p->x, p->x.n + 3) || !ty_array_push(&p->way, half))
            return ty_no_memory("thin places");
        ty_store3(p->x.at + p->x.n, m);
        p->x.n += 3;
    }
    if (!ty_array_resize(&p->radius, p->way.n)) return ty_no_memory("thin places");
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

// Distances of the middles, then their ways through the step; a middle that is no middle gets radius 0.
static void move_block(void* ctx, ty_range r)
{
    const move_args* k = ctx;
    ty_slc_particles* p = &k->s->thin;
    double(*x)[3] = (double(*)[3])p->x.at + r.begin, to[BLOCK][3];
    double *d = p->radius.at + r.begin, *way = p->way.at + r.begin;
    int n = (int)(r.end - r.begin);
    ty_slc_distance(&k->s->now, n, (const double(*)[3])x, d, NULL, NULL);
    ty_trace_forward(k->flow, k->dt, n, (const double(*)[3])x, to);
    for (int i = 0; i < n; ++i) {
        d[i] = d[i] < 0.0 && -d[i] >= k->s->def.thicken_reject * way[i] ? -d[i] : 0.0;
        if (k->s->has_solid && d[i] > 0.0) push_out(k, to[i]);
        way[i] = ty_norm(ty_load3(to[i]) - ty_load3(x[i]));
        memcpy(x[i], to[i], sizeof to[0]);
        if (!isfinite(way[i])) d[i] = 0.0;
    }
}

static void drop_rejected(ty_slc_particles* p)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->radius.n; ++i) {
        if (!(p->radius.at[i] > 0.0)) continue;
        memmove(p->x.at + 3 * n, p->x.at + 3 * i, 3 * sizeof(double));
        p->radius.at[n] = p->radius.at[i];
        p->way.at[n++] = p->way.at[i];
    }
    p->radius.n = p->way.n = n;
    p->x.n = 3 * n;
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

static void take_from_small(void* ctx, int id, double distance2)
{
    (void)distance2;
    near_count* c = ctx;
    if (!is_big(c->k, id)) c->given += c->k->p->radius.at[id] / c->k->p->near.at[id];
}

// How many big ones are near each small one.
static void near_block(void* ctx, ty_range r)
{
    const share_args* k = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        near_count c = {.k = k};
        if (!is_big(k, i)) ty_hash_grid_near(&k->p->grid, k->p->x.at + 3 * i, k->reach, count_big, &c);
        k->p->near.at[i] = c.n;
    }
}

// 3.4.3: a small one near big ones gives them its radius and goes; the others grow. Departs (b), (c).
static void grow_block(void* ctx, ty_range r)
{
    const share_args* k = ctx;
    const ty_track_def* def = &k->s->def;
    double h = def->cell, most = LARGEST * def->thicken_gamma * h;
    for (int64_t i = r.begin; i < r.end; ++i) {
        near_count c = {.k = k};
        bool big = is_big(k, i);
        double part = fmin(1.0, k->p->way.at[i] / (FULL_WAY * h)), grow = big ? def->thicken_grow_big : def->thicken_grow_small;
        if (big) ty_hash_grid_near(&k->p->grid, k->p->x.at + 3 * i, k->reach, take_from_small, &c);
        double radius = fmin(k->p->radius.at[i] + c.given + part * grow * h, most);
        k->p->grown.at[i] = !big && k->p->near.at[i] > 0 ? 0.0 : fmax(radius, SMALLEST * h);
    }
}

static ty_status redistribute(ty_slc* s)
{
    ty_slc_particles* p = &s->thin;
    double h = s->def.cell;
    share_args k = {s, p, s->def.thicken_beta * h, s->def.thicken_redistribute * h};
    if (!ty_array_resize(&p->near, p->radius.n) || !ty_array_resize(&p->grown, p->radius.n))
        return ty_no_memory("thin places");
    TY_TRY(ty_hash_grid_build(&p->grid, (int)p->radius.n, (const double(*)[3])p->x.at, fmax(k.reach, h)));
    ty_parallel_for(p->radius.n, BLOCK, near_block, &k);
    ty_parallel_for(p->radius.n, BLOCK, grow_block, &k);
    memcpy(p->radius.at, p->grown.at, (size_t)p->radius.n * sizeof(double));
    drop_rejected(p);
    return ty_ok();
}

ty_status ty_slc_thicken(ty_slc* s, const ty_flow* flow, double dt)
{
    ty_slc_particles* p = &s->thin;
    p->x.n = p->radius.n = 0;
    if (!s->def.thicken_surface) return ty_ok();
    TY_TRY(find_middles(s));
    move_args k = {s, flow, dt, ty_world_solid(s->world)};
    ty_parallel_for(p->radius.n, BLOCK, move_block, &k);
    drop_rejected(p);
    if (p->radius.n == 0) return ty_ok();
    TY_TRY(redistribute(s));
    return ty_slc_particles_finish(s);
}

ty_status ty_slc_particles_finish(ty_slc* s)
{
    ty_slc_particles* p = &s->thin;
    return ty_hash_grid_build(&p->grid, (int)p->radius.n, (const double(*)[3])p->x.at,
                              s->def.thicken_radius * s->def.cell);
}

typedef struct blend {
    const ty_slc_particles* p;
    double inverse_radius2, weight, radius, way, sphere;
    ty_vec3 x;
} blend;

// k(s) = (1 - s^2)^3
static void add_particle(void* ctx, int id, double distance2)
{
    blend* b = ctx;
    double k = 1.0 - distance2 * b->inverse_radius2;
    if (!(k > 0.0)) return;
    b->sphere = ty_min(b->sphere, sqrt(distance2) - SPHERE * b->p->radius.at[id]);
    k = k * k * k;
    b->weight += k;
    b->radius += k * b->p->radius.at[id];
    b->way += k * b->p->way.at[id];
    b->x += k * ty_load3(b->p->x.at + 3 * (int64_t)id);
}

// Where phi is beyond these cells the particles cannot change its sign: their surface is at most `most` around them,
// and they are inside the liquid.
static const double UNITE_BELOW = -1.0, UNITE_ABOVE = 2.0;

void ty_slc_unite(const ty_slc* s, int n, const double (*x)[3], double* phi)
{
    double h = s->def.cell, radius = s->def.thicken_radius * h;
    for (int i = 0; i < n; ++i) {
        if (!(phi[i] > UNITE_BELOW * h && phi[i] < UNITE_ABOVE * h)) continue;
        blend b = {.p = &s->thin, .inverse_radius2 = 1.0 / (radius * radius), .sphere = INFINITY};
        ty_hash_grid_near(&s->thin.grid, x[i], radius, add_particle, &b);
        if (!(b.weight > 0.0)) continue;
        double d = ty_norm(ty_load3(x[i]) - b.x / b.weight) - b.radius / b.weight;
        d = fmin(d, b.sphere);
        double raise = RAISE * fmin(h, b.way / b.weight / FULL_WAY);
        phi[i] = fmin(phi[i], fmax(d, phi[i] - raise));
    }
}
