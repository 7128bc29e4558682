// SPDX-License-Identifier: Apache-2.0
// Liquid that a step loses or makes is given back where that happened, where the flow's paths keep the
// liquid's volume: then every block of cells should hold what the surface encloses of it after it was
// carried along them (blocks.h). So thin liquid is not lost, nor does air that closes up in a step become
// liquid: the surface around goes down by as much.
//
// What a block lost is dealt out to the surface around it by area, with the kernel K over blocks, trilinear
// weights w between blocks and vertices, and the share of an offset that a vertex takes:
//
//     area_b = sum_v w_bv share_v area_v,   q_c = lost_c / (K area)_c,   offset_v = share_v sum_b w_bv (K q)_b,
//
// so sum_v area_v offset_v = sum_c lost_c. Liquid two cells deep takes all, a film or sheet of less than a cell
// nothing: fed so, films that the solver's mesh does not see hung on walls for a second and a half and poured
// (a dam break's energy then rose by 0.6 %). Vertices move along their lattice edges (nudge.c), so that no triangle
// or sign changes; where there is an inset that takes it. What the ends of edges hold back is asked for again. What
// finds no surface around it, and more than MOST cells a time, is left to the ledger.
#include <string.h>

#include "core/parallel.h"
#include "geometry/slope.h"
#include "geometry/thickness.h"
#include "track/contour/slc.h"
#include "world/trace.h"

enum { BATCH = TY_SAMPLE_BATCH, CORNERS = 8, AROUND = 27, ROUNDS = 3, PROBES = 2 };
static const double K[3] = {0.25, 0.5, 0.25};    // along each axis
static const double UNSURE = 4e-4;    // cells of offset that are left alone, as in levelset/keep.c
static const double MOST = 0.1;       // cells each time: more would make waves
static const double AGAIN = 0.01;     // cells: a farther move is looked at again
static const double LEAST_AREA = 0.02;    // blocks squared around a block: less is no surface
static const double LEAST_LOST = 1e-5;    // of a block: sums along rows are in single precision
// The same beside obstacles. What lies in them counts for nothing, but how tables are interpolated tells: a tilted pool
// around a ball and a column is not still with 1e-4, and is with 1e-3. With 1e-2 a glass that is filled is corrected by a quarter
// to a half more (scenes/tet/glass with 24, 28, 32 and 36 cells).
static const double LEAST_BESIDE = 2e-3;
static const double THIN = 2.0 * TY_SLC_OVERLAP;    // cells, as in walls.c
static const double SLOPE = 0.25;                   // cells: differences of an obstacle's distance
static const double AROUND_ALL =
    8.0;    // cells that a remade surface may go beyond the old one's way

void ty_slc_keep_free(ty_slc_keep* k)
{
    ty_slc_blocks_free(&k->blocks);
    ty_free(k->slot);
    ty_array_free(&k->near);
    ty_array_free(&k->area);
    ty_array_free(&k->offset);
    ty_array_free(&k->lost);
    ty_array_free(&k->to);
    ty_array_free(&k->first);
    ty_array_free(&k->was);
    ty_array_free(&k->amount);
    ty_array_free(&k->share);
    ty_array_free(&k->hidden);
    *k = (ty_slc_keep){0};
}

void ty_slc_keep_rest(ty_slc_keep* k)
{
    ty_slc_blocks_rest(&k->blocks);
    ty_free(k->slot);
    k->slot = NULL;
    ty_array_free(&k->to);
    ty_array_free(&k->first);
    ty_array_free(&k->was);
    ty_array_free(&k->amount);
    ty_array_free(&k->share);
    ty_array_free(&k->hidden);
}

typedef struct carry_job {
    const ty_slc* s;
    const ty_tri_mesh* shown;
    const ty_flow* flow;
    double dt;
    double (*to)[3];
} carry_job;

// Whether a place `depth` below the surface of a solid is in a thin wall, where the liquid ends in the middle.
static bool is_in_thin_wall(const ty_sampler* solid, double cell, ty_vec3 x, double depth)
{
    double thickness;
    ty_vec3 out = ty_solid_way_out(solid, cell, x);
    return ty_solid_is_thin(solid, cell, x + depth * out, out, depth, THIN * cell, &thickness);
}

// What would end behind a wall ends at it, and what is in a thin wall does not come out: at the lip of a chute the end
// of the liquid in the wall would be carried on through the air.
static void end_at_walls(const ty_slc* s, const double from[3], double to[3])
{
    const ty_world_def* def = ty_world_get_def(s->world);
    const ty_slc_blocks* b = &s->keep.blocks;
    for (int side = 0; s->has_domain && side < TY_N_SIDES; ++side) {
        int axis = side / 2;
        if (!def->wall[side].closed) continue;
        if (side % 2 && from[axis] < def->max[axis]) to[axis] = ty_min(to[axis], def->max[axis]);
        if (!(side % 2) && from[axis] > def->min[axis]) to[axis] = ty_max(to[axis], def->min[axis]);
    }
    if (!ty_slc_blocks_beside_solid(b, from) && !ty_slc_blocks_beside_solid(b, to)) return;
    ty_sampler solid = ty_world_obstacles(s->world);
    double depth = -ty_value_at(&solid, ty_load3(to)), was = -ty_value_at(&solid, ty_load3(from));
    bool comes_in = depth > 0.0 && was < 0.0, comes_out = depth < 0.0 && was > 0.0;
    if (!comes_in && !(comes_out && is_in_thin_wall(&solid, s->def.cell, ty_load3(from), was)))
        return;
    ty_vec3 out = ty_normalize(ty_slope_at(&solid, ty_load3(to), SLOPE * s->def.cell));
    ty_store3(to, ty_load3(to) + depth * out);
}

// With the offset that the ledger asked for (`later`), which the step brings. What is buried stays, to close
// the surface.
static void carry_block(void* ctx, ty_range r)
{
    const carry_job* job = ctx;
    const ty_slc* s = job->s;
    double x[BATCH][3], (*to)[3] = job->to + r.begin;
    const double(*vert)[3] = (const double(*)[3])job->shown->vert + r.begin;
    bool buried[BATCH];
    int id[BATCH], n = 0;
    ty_slc_find_buried(s, (int)(r.end - r.begin), vert, buried);
    for (int i = 0; i < r.end - r.begin; ++i) {
        memcpy(to[i], vert[i], sizeof to[0]);
        if (buried[i]) continue;
        memcpy(x[n], vert[i], sizeof x[0]);
        id[n++] = i;
    }
    for (int i = 0; i < n && s->later.n; ++i) {
        const float* b = s->now.bend.at + 4 * (r.begin + id[i]);
        ty_vec3 normal = ty_vec((double)b[0], (double)b[1], (double)b[2]);
        ty_store3(x[i], ty_load3(x[i]) + s->later.at[r.begin + id[i]] * normal);
    }
    double end[BATCH][3];
    bool stepped[BATCH];
    ty_sampler obstacles = {0};
    if (ty_world_has_obstacles(s->world)) obstacles = ty_world_obstacles(s->world);
    ty_trace_surface(job->flow, &obstacles, job->dt, n, (const double(*)[3])x, end, stepped);
    for (int i = 0; i < n; ++i) {
        end_at_walls(s, x[i], end[i]);
        memcpy(to[id[i]], end[i], sizeof end[0]);
    }
}

static void add_all(ty_slc_keep* k, const ty_tri_mesh* m, double weight)
{
    const double(*x)[3] = (const double(*)[3])k->to.at;
    for (int t = 0; t < m->n_tris; ++t) ty_slc_blocks_add(&k->blocks, x, m->tri[t], weight);
}

ty_status ty_slc_keep_begin(ty_slc* s, const ty_flow* flow, double dt)
{
    ty_slc_keep* k = &s->keep;
    const ty_tri_mesh* shown = ty_slc_shown(s);
    bool still = !ty_world_solid_moves(s->world);
    k->on = false;
    if (!flow->keeps_volume || !still) return ty_ok();
    const int n[3] = {k->blocks.n[0], k->blocks.n[1], k->blocks.n[2]};
    ty_box box = ty_slc_bounds(s, flow->max_speed * dt + AROUND_ALL * s->def.cell);
    TY_TRY(ty_slc_blocks_begin(&k->blocks, s->world, &box, s->def.cell, &k->on));
    if (memcmp(n, k->blocks.n, sizeof n) != 0) {
        ty_free(k->slot);
        k->slot = NULL;
    }
    if (!k->on) return ty_ok();
    if (!ty_array_resize(&k->to, 3 * (int64_t)shown->n_verts))
        return ty_no_memory("the carried surface");
    carry_job job = {s, shown, flow, dt, (double(*)[3])k->to.at};
    ty_parallel_for(shown->n_verts, BATCH, carry_block, &job);
    add_all(k, shown, 1.0);
    return ty_ok();
}

// The blocks around a point and their weights.
static void weigh(const ty_slc_blocks* b, const double x[3], int block[CORNERS], double w[CORNERS])
{
    int low[3], high[3];
    double f[3];
    for (int axis = 0; axis < 3; ++axis) {
        double at = ty_clamp((x[axis] - b->origin[axis]) / b->size - 0.5, 0.0, b->n[axis] - 1.0);
        low[axis] = (int)at;
        high[axis] = low[axis] + 1 < b->n[axis] ? low[axis] + 1 : low[axis];
        f[axis] = at - low[axis];
    }
    for (int i = 0; i < CORNERS; ++i) {
        int at[3];
        w[i] = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            bool up = i >> axis & 1;
            at[axis] = up ? high[axis] : low[axis];
            w[i] *= up ? f[axis] : 1.0 - f[axis];
        }
        block[i] = (at[2] * b->n[1] + at[1]) * b->n[0] + at[0];
    }
}

static ty_vec3 normal_of(const float* n)
{
    return ty_vec((double)n[0], (double)n[1], (double)n[2]);
}

// Where the liquid's surface is, of the mesh being made.
static void draw_block(void* ctx, ty_range r)
{
    ty_slc* s = ctx;
    const ty_slc_surface* p = &s->next;
    double(*x)[3] = (double(*)[3])s->keep.to.at;
    for (int64_t v = r.begin; v < r.end; ++v) {
        const float* side = ty_slc_side(p, v);
        double inset = p->inset.n ? p->inset.at[v] : 0.0;
        ty_store3(x[v],
                  ty_load3(p->mesh.vert[v]) - inset * normal_of(side ? side : p->bend.at + 4 * v));
    }
}

static void hide_block(void* ctx, ty_range r)
{
    ty_slc* s = ctx;
    bool buried[BATCH];
    ty_slc_find_buried(s, (int)(r.end - r.begin), (const double(*)[3])s->next.mesh.vert + r.begin,
                       buried);
    for (int64_t v = r.begin; v < r.end; ++v) s->keep.hidden.at[v] = buried[v - r.begin];
}

// 1 where there is open liquid straight inward of a vertex a cell and two cells deep, 0 where the liquid ends
// before.
static void share_block(void* ctx, ty_range r)
{
    ty_slc* s = ctx;
    const ty_slc_surface* p = &s->next;
    ty_octree_cursor cursor = ty_octree_cursor_start();
    double h = s->def.cell;
    for (int64_t v = r.begin; v < r.end; ++v) {
        double inset = p->inset.n ? p->inset.at[v] : 0.0, *share = &s->keep.share.at[v];
        ty_vec3 from = ty_load3(s->keep.to.at + 3 * v), normal = normal_of(p->bend.at + 4 * v);
        *share = 0.0;
        for (int i = 1; i <= PROBES && !s->keep.hidden.at[v]; ++i) {
            double x[3], u[3], value = 0.0;    // where the surface crosses a leaf: 0
            int at[3];
            ty_store3(x, from - i * h * normal);
            ty_octree_cells_of(&p->tree, x, u, at);
            ty_octant o = ty_octree_leaf(&p->tree, &cursor, at);
            if (o.id < 0) continue;
            (void)ty_slc_rough(p, &o, u, &value);
            *share += ty_clamp(0.5 - (value + inset) / h, 0.0, 1.0) / PROBES *
                      ty_slc_blocks_openness(&s->keep.blocks, x);
        }
    }
}

static bool is_hidden(const ty_slc_keep* k, const int v[3])
{
    const uint8_t* hidden = k->hidden.at;
    return hidden[v[0]] || hidden[v[1]] || hidden[v[2]];
}

// Into `amount`: open area of the triangles around each vertex, a third each, blocks squared.
static void find_vertex_areas(ty_slc* s)
{
    ty_slc_keep* k = &s->keep;
    const ty_tri_mesh* m = &s->next.mesh;
    double scale = 1.0 / (6.0 * k->blocks.size * k->blocks.size);
    for (int v = 0; v < m->n_verts; ++v) k->amount.at[v] = 0.0;
    for (int t = 0; t < m->n_tris; ++t) {
        const int* v = m->tri[t];
        double middle[3];
        if (is_hidden(k, v)) continue;
        ty_vec3 a = ty_load3(k->to.at + 3 * (int64_t)v[0]),
                b = ty_load3(k->to.at + 3 * (int64_t)v[1]),
                c = ty_load3(k->to.at + 3 * (int64_t)v[2]);
        ty_store3(middle, (a + b + c) / 3.0);
        double third = scale * ty_norm(ty_cross(b - a, c - a)) *
                       ty_slc_blocks_openness(&k->blocks, middle);
        for (int i = 0; i < 3; ++i) k->amount.at[v[i]] += third;
    }
}

// Their blocks, and what is theirs of it.
static ty_status find_areas(ty_slc* s)
{
    ty_slc_keep* k = &s->keep;
    find_vertex_areas(s);
    ty_parallel_for(s->next.mesh.n_verts, BATCH, share_block, s);
    k->near.n = k->area.n = 0;
    for (int64_t v = 0; v < s->next.mesh.n_verts; ++v) {
        int block[CORNERS];
        double w[CORNERS], area = k->amount.at[v] * k->share.at[v];
        if (!(area > 0.0)) continue;
        weigh(&k->blocks, k->to.at + 3 * v, block, w);
        for (int i = 0; i < CORNERS; ++i) {
            int* slot = &k->slot[block[i]];
            if (!*slot) {
                if (!ty_array_push(&k->near, block[i]) || !ty_array_push(&k->area, 0.0))
                    return ty_no_memory("blocks at the surface");
                *slot = (int)k->near.n;
            }
            k->area.at[*slot - 1] += w[i] * area;
        }
    }
    return ty_ok();
}

// The blocks around one: their places in `near`, -1 when not there, and what K gives them.
static void look_around(const ty_slc_keep* k, int block, int place[AROUND], double w[AROUND])
{
    const int* n = k->blocks.n;
    const int at[3] = {block % n[0], block / n[0] % n[1], block / n[0] / n[1]};
    for (int i = 0; i < AROUND; ++i) {
        const int d[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        bool in = true;
        for (int axis = 0; axis < 3; ++axis)
            in &= at[axis] + d[axis] >= 0 && at[axis] + d[axis] < n[axis];
        place[i] = in ? k->slot[block + (d[2] * n[1] + d[1]) * n[0] + d[0]] - 1 : -1;
        w[i] = K[d[0] + 1] * K[d[1] + 1] * K[d[2] + 1];
    }
}

static ty_status list_lost(void* ctx, const ty_slc_amount* amount)
{
    ty_slc_keep* k = ctx;
    if (amount->beside_solid && fabs(amount->volume) < LEAST_BESIDE) return ty_ok();
    return ty_array_push(&k->lost, *amount) ? ty_ok() : ty_no_memory("what a step lost");
}

// Offsets of the blocks of `near`.
static ty_status deal_out(ty_slc_keep* k)
{
    k->lost.n = 0;
    TY_TRY(ty_slc_blocks_visit(&k->blocks, LEAST_LOST, list_lost, k));
    if (!ty_array_resize(&k->offset, k->near.n)) return ty_no_memory("what a step lost");
    for (int64_t i = 0; i < k->near.n; ++i) k->offset.at[i] = 0.0;
    for (int64_t i = 0; i < k->lost.n; ++i) {
        int place[AROUND];
        double w[AROUND], area = 0.0;
        look_around(k, k->lost.at[i].block, place, w);
        for (int j = 0; j < AROUND; ++j)
            if (place[j] >= 0) area += w[j] * k->area.at[place[j]];
        if (!(area > LEAST_AREA)) continue;
        for (int j = 0; j < AROUND; ++j)
            if (place[j] >= 0) k->offset.at[place[j]] += w[j] * k->lost.at[i].volume / area;
    }
    return ty_ok();
}

// Into `amount`, metres. The farthest, cells.
static double amount_block(void* ctx, ty_range r)
{
    ty_slc* s = ctx;
    ty_slc_keep* k = &s->keep;
    double most = 0.0;
    for (int64_t v = r.begin; v < r.end; ++v) {
        int block[CORNERS];
        double w[CORNERS], sum = 0.0;
        k->amount.at[v] = 0.0;
        if (!(k->share.at[v] > 0.0)) continue;
        weigh(&k->blocks, k->first.at + 3 * v, block, w);    // as for the areas
        for (int i = 0; i < CORNERS; ++i)
            if (k->slot[block[i]]) sum += w[i] * k->offset.at[k->slot[block[i]] - 1];
        double cells = TY_SLC_BLOCK * k->share.at[v] * sum;
        double size = ty_clamp(fabs(cells) - UNSURE, 0.0, MOST);
        k->amount.at[v] = copysign(size, cells) * s->def.cell;
        most = ty_max(most, size);
    }
    return most;
}

// The blocks know what is lost after the vertices have moved by `amount`.
static ty_status look_again(ty_slc* s)
{
    ty_slc_keep* k = &s->keep;
    const ty_tri_mesh* m = &s->next.mesh;
    memcpy(k->was.at, k->to.at, (size_t)k->to.n * sizeof *k->to.at);
    ty_parallel_for(m->n_verts, BATCH, draw_block, s);
    for (int t = 0; t < m->n_tris; ++t) {
        const int* v = m->tri[t];
        bool moved = false;
        for (int i = 0; i < 3; ++i) moved |= k->amount.at[v[i]] != 0.0;
        if (!moved) continue;
        ty_slc_blocks_add(&k->blocks, (const double(*)[3])k->was.at, v, 1.0);
        ty_slc_blocks_add(&k->blocks, (const double(*)[3])k->to.at, v, -1.0);
    }
    return ty_ok();
}

static ty_status clear_slots(ty_slc_keep* k)
{
    const int* n = k->blocks.n;
    bool fresh = !k->slot;
    if (fresh) k->slot = ty_alloc_zero((size_t)n[0] * (size_t)n[1] * (size_t)n[2], sizeof *k->slot);
    if (!k->slot) return ty_no_memory("blocks at the surface");
    for (int64_t i = 0; i < k->near.n && !fresh; ++i) k->slot[k->near.at[i]] = 0;
    return ty_ok();
}

ty_status ty_slc_keep_end(ty_slc* s)
{
    ty_slc_keep* k = &s->keep;
    const ty_tri_mesh* m = &s->next.mesh;
    if (!k->on || m->n_verts == 0) return ty_ok();
    k->on = false;
    TY_TRY(clear_slots(k));
    if (!ty_array_resize(&k->to, 3 * (int64_t)m->n_verts) || !ty_array_resize(&k->first, k->to.n) ||
        !ty_array_resize(&k->was, k->to.n) || !ty_array_resize(&k->amount, m->n_verts) ||
        !ty_array_resize(&k->share, m->n_verts) || !ty_array_resize(&k->hidden, m->n_verts))
        return ty_no_memory("what a step lost");
    ty_parallel_for(m->n_verts, BATCH, hide_block, s);
    ty_parallel_for(m->n_verts, BATCH, draw_block, s);
    memcpy(k->first.at, k->to.at, (size_t)k->to.n * sizeof *k->to.at);
    add_all(k, m, -1.0);
    TY_TRY(find_areas(s));
    bool moved = false;
    for (int round = 0; round < ROUNDS; ++round) {
        TY_TRY(deal_out(k));
        double most = ty_parallel_max(m->n_verts, BATCH, amount_block, s);
        if (!(most > 0.0)) break;
        ty_slc_nudge_along(s, &s->next, k->amount.at);
        moved = true;
        if (most < AGAIN || round + 1 == ROUNDS) break;
        TY_TRY(look_again(s));
    }
    if (!moved) return ty_ok();
    ty_slc_inset_tidy(&s->next);
    return ty_slc_bend(&s->next, NULL);    // as an archive has it
}
