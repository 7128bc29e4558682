// SPDX-License-Identifier: Apache-2.0
// Tracker `contour`: a closed triangle mesh, remade every step by contouring the distance pulled
// back along the flow [Chentanez2007] sections 3.2 and 3.4, [Gong2008] sections 4 and 10.
#include "track/contour/slc.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/kinds.h"
#include "world/shape.h"
#include "world/trace.h"

enum {
    BATCH = TY_SAMPLE_BATCH,
    STRETCH_EVERY = 16
};                                   // every so many triangles tell how the flow stretches space
static const double MARGIN = 3.0;    // cells around where the surface is expected
static const double FAR =
    8.0;    // cells from the surface where a way back is no longer than it seems
static const double NEAR = 0.5;    // cells from it where ways have to be followed exactly
// Cells: a step that moves nothing farther leaves the surface alone
static const double STILL = 1e-9;
static const double STRETCH_SLACK = 1.1, STRETCH_LEAST = 1.0, STRETCH_MOST = 6.0;

static void free_particles(ty_slc_particles* p)
{
    ty_array_free(&p->x);
    ty_array_free(&p->radius);
    ty_array_free(&p->from);
    ty_array_free(&p->way);
    ty_array_free(&p->grow);
    ty_array_free(&p->vertex);
    ty_array_free(&p->near);
    ty_array_free(&p->small);
    ty_array_free(&p->small_x);
    ty_hash_grid_free(&p->grid);
    ty_hash_grid_free(&p->small_grid);
}

static void destroy(void* self)
{
    ty_slc* s = self;
    if (!s) return;
    ty_slc_surface_free(&s->now);
    ty_slc_surface_free(&s->next);
    ty_contour_free(&s->contour);
    ty_array_free(&s->piece);
    ty_array_free(&s->parent);
    ty_array_free(&s->thickness);
    ty_array_free(&s->ray);
    ty_array_free(&s->amount);
    ty_array_free(&s->later);
    ty_array_free(&s->fat);
    ty_array_free(&s->grow);
    ty_array_free(&s->carried_grow);
    ty_lattice_set_free(&s->free_at);
    ty_lattice_set_free(&s->free_near);
    ty_tri_mesh_free(&s->shown);
    free_particles(&s->thin);
    free_particles(&s->mesh_thin);
    ty_array_free(&s->mesh_weight);
    ty_slc_keep_free(&s->keep);
    ty_slc_region_close(s);
    ty_cutter_destroy(s->cutter);
    ty_free(s);
}

static void set_domain(ty_slc* s)
{
    const ty_world_def* w = ty_world_get_def(s->world);
    s->has_domain = w->has_domain;
    s->has_solid = ty_world_has_obstacles(s->world);
    for (int axis = 0; axis < 3; ++axis) {
        s->lo[axis] = w->has_domain ? w->min[axis] : -INFINITY;
        s->hi[axis] = w->has_domain ? w->max[axis] : INFINITY;
        s->origin[axis] = (w->has_domain ? w->min[axis] : 0.0) +
                          0.5 * s->def.cell;    // that of track/cut.h
    }
    for (int side = 0; w->has_domain && side < TY_N_SIDES; ++side)
        s->has_solid |= w->wall[side].closed;
}

static bool is_box(const ty_box* b)
{
    for (int axis = 0; axis < 3; ++axis)
        if (!(b->lo[axis] <= b->hi[axis]) || !isfinite(b->hi[axis] - b->lo[axis])) return false;
    return true;
}

// The liquid of the scene as it is; where that touches solids, once more as the level set
// understands it.
static ty_status set_up(ty_slc* s, const ty_track_def* def, const ty_world* world)
{
    s->def = *def;
    s->world = world;
    set_domain(s);
    ty_slc_region region;
    ty_sampler liquid = ty_world_liquid(world);
    ty_slc_remake_def remake = {.phi = liquid, .box = ty_world_bounds(world), .lipschitz = 1.0};
    if (!is_box(&remake.box))
        return ty_fail(TY_BAD_INPUT, "the liquid has no bounds: give the scene a domain");
    for (int axis = 0; axis < 3; ++axis) {
        remake.box.lo[axis] -= TY_SLC_DEPTH * def->cell;
        remake.box.hi[axis] += TY_SLC_DEPTH * def->cell;
    }
    ty_slc_walled walled = ty_slc_wall(s, &liquid);
    remake.phi = ty_slc_walled_sampler(&walled);
    TY_TRY(ty_slc_remake(s, &remake));
    bool touches;
    TY_TRY(ty_slc_touches(s, &s->now.mesh, &touches));
    if (!touches || !s->has_domain) return ty_ok();
    TY_TRY(ty_slc_region_open(s, &liquid, &region));
    remake.phi = ty_slc_region_sampler(&region);
    TY_TRY(ty_slc_remake(s, &remake));
    ty_slc_region_close(s);
    return ty_ok();
}

static ty_status create(void** self, const ty_track_def* def, const ty_world* world)
{
    ty_slc* s = ty_alloc_zero(1, sizeof *s);
    *self = NULL;
    if (!s) return ty_no_memory("the contour tracker");
    ty_status status = set_up(s, def, world);
    if (status.code == TY_OK) *self = s;
    else destroy(s);
    return status;
}

typedef struct pulled {
    const ty_slc* s;
    const ty_flow* flow;
    double dt;
} pulled;

// The old distance where the liquid at x came from, less what thin places are fattened by.
static void eval_pulled(const void* self, int n, const double (*x)[3], double* out)
{
    const pulled* p = self;
    double from[BATCH][3];
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH;
        ty_trace_back(p->flow, p->dt, count, x + at, from);
        ty_slc_stop_at_walls(p->s, count, x + at, from);
        ty_slc_fat_distance(p->s, false, count, (const double(*)[3])from, out + at);
    }
}

// What the beginning of the way back from x tells, which has velocity v.
typedef enum outlook {
    IS_FAR,    // it leads at once to where the surface is farther away than the way is long: *value will do
    IS_NEAR,    // it leads to the surface
    IS_UNSURE
} outlook;

static outlook look_back(const pulled* p, ty_octree_cursor* leaf, const double x[3],
                         const double v[3], double* value)
{
    const ty_slc_surface* s = &p->s->now;
    int cell[3];
    double from[3], u[3];
    ty_vec3 way = p->dt * ty_load3(v);
    ty_store3(from, ty_load3(x) - way);
    ty_octree_cells_of(&s->tree, from, u, cell);
    ty_octant o = ty_octree_leaf(&s->tree, leaf, cell);
    if (o.id < 0) return IS_UNSURE;
    if (o.level <= TY_SLC_EXACT_LEVEL) {
        bool crossed = !ty_slc_rough(s, &o, u, value);
        return crossed || fabs(*value) < NEAR * s->tree.cell ? IS_NEAR : IS_UNSURE;
    }
    bool far = ty_slc_told(s, &o, u, value) &&
               fabs(*value) > ty_max(FAR * s->tree.cell, ty_norm(way));
    return far ? IS_FAR : IS_UNSURE;
}

// Points of a batch that are still asked for.
typedef struct points {
    int n, id[BATCH];
    double x[BATCH][3], v[BATCH][3];    // v: what the way back begins with
} points;

static void keep(points* p, int i, const double x[3], const double v[3], int id)
{
    memmove(p->x[i], x, sizeof p->x[0]);
    memmove(p->v[i], v, sizeof p->v[0]);
    p->id[i] = id;
}

static void ask_back(const pulled* p, bool roughly, const points* at, double* value)
{
    double from[BATCH][3];
    const double(*x)[3] = (const double(*)[3])at->x;
    (roughly ? ty_trace_back_roughly : ty_trace_back_with)(p->flow, p->dt, at->n, x,
                                                           (const double(*)[3])at->v, from);
    ty_slc_stop_at_walls(p->s, at->n, x, from);
    ty_slc_fat_distance(p->s, true, at->n, (const double(*)[3])from, value);
}

// For a remake: ways are followed as well as the values need it.
static void eval_pulled_roughly(const void* self, int n, const double (*x)[3], double* out)
{
    const pulled* p = self;
    double v[BATCH][3], value[BATCH], near = NEAR * p->s->now.tree.cell;
    points ask, exactly;
    ty_octree_cursor leaf = ty_octree_cursor_start();
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH;
        ask.n = exactly.n = 0;
        ty_trace_begin(p->flow, p->dt, count, x + at, v);
        for (int i = 0; i < count; ++i) {
            outlook seen = look_back(p, &leaf, x[at + i], v[i], &out[at + i]);
            if (seen == IS_NEAR) keep(&exactly, exactly.n++, x[at + i], v[i], at + i);
            else if (seen == IS_UNSURE) keep(&ask, ask.n++, x[at + i], v[i], at + i);
        }
        ask_back(p, true, &ask, value);
        for (int i = 0; i < ask.n; ++i) {
            out[ask.id[i]] = value[i];
            if (fabs(value[i]) < near) keep(&exactly, exactly.n++, ask.x[i], ask.v[i], ask.id[i]);
        }
        ask_back(p, false, &exactly, value);
        for (int i = 0; i < exactly.n; ++i) out[exactly.id[i]] = value[i];
    }
}

typedef struct stretch_args {
    const ty_slc* s;
    const ty_flow* flow;
    double dt;
} stretch_args;

static double stretch_block(void* ctx, ty_range r)
{
    const stretch_args* k = ctx;
    const ty_tri_mesh* m = &k->s->now.mesh;
    double x[3 * 64][3], from[3 * 64][3], most = 0.0;
    bool buried[3 * 64];
    int n = 3 * (int)(r.end - r.begin), n_open = 0;
    for (int i = 0; i < n; ++i)
        memcpy(x[i], m->vert[m->tri[(r.begin + i / 3) * STRETCH_EVERY][i % 3]], sizeof x[0]);
    ty_slc_find_buried(k->s, n, (const double(*)[3])x, buried);
    for (int i = 0; i < n; i += 3) {
        if (buried[i]) continue;
        memmove(x[n_open], x[i], 3 * sizeof x[0]);
        n_open += 3;
    }
    ty_trace_back(k->flow, k->dt, n_open, (const double(*)[3])x, from);
    for (int i = 0; i < n_open; ++i) {
        int j = i % 3 == 2 ? i - 2 : i + 1;
        double before = ty_norm(ty_load3(from[i]) - ty_load3(from[j]));
        double after = ty_norm(ty_load3(x[i]) - ty_load3(x[j]));
        if (after > 1e-2 * k->s->def.cell) most = fmax(most, before / after);
    }
    return most;
}

// The most that the step compresses space along a sampled edge of the surface.
static double stretch(const ty_slc* s, const ty_flow* flow, double dt)
{
    stretch_args k = {s, flow, dt};
    int64_t n = (s->now.mesh.n_tris + STRETCH_EVERY - 1) / STRETCH_EVERY;
    return ty_parallel_max(n, 64, stretch_block, &k);
}

// Whether a box is more than `clear` metres from every solid and side of the domain.
static bool is_apart(const ty_slc* s, const ty_box* box, double clear)
{
    bool apart = !ty_world_has_obstacles(s->world);
    for (int axis = 0; axis < 3; ++axis)
        apart &= box->lo[axis] - clear > s->lo[axis] && box->hi[axis] + clear < s->hi[axis];
    return apart;
}

static ty_status advance(void* self, const ty_flow* flow, const ty_world* world, double t,
                         double dt)
{
    (void)t;
    ty_slc* s = self;
    double reach = flow->max_speed * dt,
           mesh_cell = s->def.thicken_mesh && flow->lattice.body ? flow->cell : 0.0;
    if (!isfinite(reach)) return ty_fail(TY_DIVERGED, "the flow's speed is not finite");
    s->world = world;
    s->keep.blocks.knows_solid &= !ty_world_solid_moves(world);
    if (s->now.mesh.n_tris == 0) return ty_ok();
    if (reach <= STILL * s->def.cell && !ty_world_solid_moves(world) && s->mesh_cell == mesh_cell &&
        s->later.n == 0)
        return ty_ok();
    double compressed = stretch(s, flow, dt);
    ty_slc_expected expected;
    TY_TRY(ty_slc_thicken(s, flow, dt));
    TY_TRY(ty_slc_expect(s, flow, dt, &expected));
    TY_TRY(ty_slc_keep_begin(s, flow, dt));
    if (s->later.n) ty_slc_offset_fat(s, s->later.at);
    pulled back = {s, flow, dt};
    ty_sampler inner = {.self = &back, .width = 1, .eval = eval_pulled};
    ty_slc_walled walled = ty_slc_wall(s, &inner);
    walled.rough = (ty_sampler){
        .self = &back, .width = 1, .exact_band = ty_slc_rough_band(s), .eval = eval_pulled_roughly};
    ty_box box = ty_slc_bounds(s, reach + MARGIN * s->def.cell);
    walled.apart = is_apart(s, &box, reach + TY_SLC_CLEAR * s->def.cell);
    walled.knows_deep = s->has_solid && !walled.apart && !ty_world_solid_moves(world);
    if (walled.knows_deep) TY_TRY(ty_slc_find_deep(s, reach));
    ty_slc_remake_def def = {
        .phi = ty_slc_walled_sampler(&walled),
        .box = box,
        .lipschitz = ty_clamp(STRETCH_SLACK * compressed, STRETCH_LEAST, STRETCH_MOST),
        .flow = flow,
        .dt = dt};
    s->mesh_cell = mesh_cell;    // others make no mesh
    TY_TRY(ty_slc_remake(s, &def));
    return ty_slc_grow(s, ty_slc_lost(s, &expected));
}

static ty_status edit(void* self, int n, const ty_edit* edits, double* volume_changed)
{
    return ty_slc_edit(self, n, edits, volume_changed);
}

static ty_status offset(void* self, const double* metres_per_piece)
{
    return ty_slc_offset(self, metres_per_piece);
}

static ty_status offset_later(void* self, const double* metres_per_piece)
{
    return ty_slc_offset_later(self, metres_per_piece);
}

static void rest(void* self)
{
    ty_slc* s = self;
    ty_slc_surface_free(&s->next);
    ty_octree_trim(&s->now.tree);
    ty_array_free(&s->now.point);
    ty_array_free(&s->now.id);
    ty_contour_free(&s->contour);
    ty_array_free(&s->parent);
    ty_array_free(&s->amount);
    ty_array_free(&s->carried_grow);
    ty_lattice_set_free(&s->free_at);
    ty_lattice_set_free(&s->free_near);
    ty_slc_keep_rest(&s->keep);
}

static ty_liquid liquid(const void* self)
{
    const ty_slc* s = self;
    return (ty_liquid){.filling = ty_slc_filling(s),
                       .roughly_filling = ty_slc_roughly_filling(s),
                       .thickening = ty_slc_thickening(s),
                       .distance = ty_slc_distance_sampler(&s->now),
                       .fattening = ty_slc_fattening(s),
                       .fattened = ty_slc_fattened(s),
                       .tree = &s->now.tree,
                       .hull = &s->now.mesh,
                       .surface = ty_slc_shown(s),
                       .piece = s->piece.at,
                       .n_pieces = s->n_pieces,
                       .cell = s->def.cell,
                       .overlap = TY_SLC_OVERLAP * s->def.cell};
}

// Those near the medial axis of thin liquid.
static ty_status particles(const void* self, ty_tri_mesh* out)
{
    const ty_slc_particles* p = &((const ty_slc*)self)->thin;
    TY_TRY(ty_tri_mesh_resize(out, (int)p->radius.n, 0));
    float *radius = ty_tri_mesh_add_attribute(out, "radius", 1),
          *side = ty_tri_mesh_add_attribute(out, "side", 1);
    if (!radius || !side) return ty_no_memory("particles");
    for (int64_t i = 0; i < p->radius.n; ++i) {
        memcpy(out->vert[i], p->x.at + 3 * i, sizeof out->vert[0]);
        radius[i] = (float)p->radius.at[i];
        side[i] = -1.0f;
    }
    return ty_ok();
}

// Hierarchy, normals and far values follow from mesh and tree, to the bit.
static ty_status archive(void* self, ty_archive* ar)
{
    ty_slc* s = self;
    TY_TRY(ty_slc_surface_archive(&s->now, ar));
    TY_TRY(ty_archive_growing(ar, "contour.piece", &s->piece));
    TY_TRY(ty_archive_i32(ar, "contour.pieces", &s->n_pieces, 1));
    TY_TRY(ty_archive_growing(ar, "contour.thin.x", &s->thin.x));
    TY_TRY(ty_archive_growing(ar, "contour.thin.radius", &s->thin.radius));
    TY_TRY(ty_archive_growing(ar, "contour.mesh_thin.x", &s->mesh_thin.x));
    TY_TRY(ty_archive_growing(ar, "contour.mesh_thin.d", &s->mesh_thin.radius));
    TY_TRY(ty_archive_growing(ar, "contour.mesh_thin.weight", &s->mesh_weight));
    TY_TRY(ty_archive_f64(ar, "contour.mesh_cell", &s->mesh_cell, 1));
    TY_TRY(ty_archive_growing(ar, "contour.later", &s->later));
    TY_TRY(ty_archive_f64(ar, "contour.gained", &s->gained, 1));
    s->thickness.n = s->ray.n = s->fat.n = s->grow.n = 0;
    if (s->thin.x.n != 3 * s->thin.radius.n || s->mesh_thin.x.n != 3 * s->mesh_thin.radius.n ||
        s->mesh_weight.n != s->mesh_thin.radius.n)
        return ty_fail(TY_DAMAGED, "the particles of thin places do not fit");
    if (ar->loading) TY_TRY(ty_slc_mesh_particles_finish(s));
    if (ar->loading) TY_TRY(ty_slc_draw(s));
    if (s->piece.n != s->now.mesh.n_verts || (s->later.n && s->later.n != s->piece.n))
        return ty_fail(TY_DAMAGED, "the surface's pieces do not fit it");
    return ty_ok();
}

const ty_tracker_kind ty_tracker_contour = {.name = "contour",
                                            .create = create,
                                            .advance = advance,
                                            .edit = edit,
                                            .offset = offset,
                                            .offset_later = offset_later,
                                            .liquid = liquid,
                                            .rest = rest,
                                            .particles = particles,
                                            .archive = archive,
                                            .destroy = destroy};
