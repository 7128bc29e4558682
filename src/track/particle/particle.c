// SPDX-License-Identifier: Apache-2.0
// Tracker `particle`: a level set whose transport is corrected by particles [Enright2002].
#include "track/particle/particle.h"

#include <math.h>

#include "core/parallel.h"
#include "track/kinds.h"

enum { BLOCK = 4096 };

static void destroy(void* self)
{
    ty_particle* p = self;
    if (!p) return;
    ty_levelset_destroy(p->ls);
    ty_swarm_free(&p->now);
    ty_swarm_free(&p->spare);
    ty_array_free(&p->drop);
    ty_array_free(&p->value);
    ty_array_free(&p->before);
    ty_array_free(&p->order);
    ty_array_free(&p->count);
    ty_array_free(&p->plane);
    ty_array_free(&p->first);
    ty_array_free(&p->begin);
    ty_array_free(&p->way);
    ty_array_free(&p->asked);
    ty_free(p);
}

static ty_status set_up(ty_particle* p, const ty_track_def* def, const ty_world* world)
{
    TY_TRY(ty_levelset_create(&p->ls, def, world));
    TY_TRY(ty_particle_sort(p));
    return ty_particle_seed(p);
}

static ty_status create(void** self, const ty_track_def* def, const ty_world* world)
{
    ty_particle* p = ty_alloc_zero(1, sizeof *p);
    *self = NULL;
    if (!p) return ty_no_memory("particle level set");
    ty_status status = set_up(p, def, world);
    if (status.code == TY_OK) *self = p;
    else destroy(p);
    return status;
}

// Sources, drains and offsets change the surface for reasons that the particles do not know: those
// that are escaped only after the change are dropped. A drain takes escaped liquid, too (a source:
// escaped air).
typedef struct change {
    ty_particle* p;
    bool edited;
} change;

static void after_change(void* ctx, ty_range r)
{
    change* c = ctx;
    ty_particle* p = c->p;
    ty_particle_measure(p, r.begin, r.end, p->value.at);
    for (int64_t i = r.begin; i < r.end; ++i) {
        float *radius = &p->now.radius.at[i], now = p->value.at[i], then = p->before.at[i];
        float least = copysignf(ty_particle_radius(0.0f),
                                *radius);    // what it will have on the wrong side
        if (*radius == 0.0f || !ty_particle_escaped(least, now)) continue;
        bool farther = *radius > 0.0f ? now < then : now > then;
        if (!ty_particle_escaped(*radius, then) || (c->edited && farther)) *radius = 0.0f;
    }
    ty_particle_radii(p, r.begin, r.end);
}

static void measure_rest(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    ty_particle_measure(p, p->measured + r.begin, p->measured + r.end, p->before.at);
}

// What the last step measured is `before`; new particles, or all after a restart, were not.
static ty_status before_change(ty_particle* p)
{
    int64_t n = ty_swarm_count(&p->now);
    if (!ty_array_resize(&p->before, n) || !ty_array_resize(&p->value, n))
        return ty_no_memory("particles");
    float* values = p->before.at;
    int64_t capacity = p->before.capacity;
    p->before.at = p->value.at, p->before.capacity = p->value.capacity;
    p->value.at = values, p->value.capacity = capacity;
    ty_parallel_for(n - p->measured, BLOCK, measure_rest, p);
    return ty_ok();
}

static void finish_change(ty_particle* p, bool edited)
{
    change c = {p, edited};
    p->measured = ty_swarm_count(&p->now);
    ty_parallel_for(p->measured, BLOCK, after_change, &c);
}

static ty_status offset_now(ty_particle* p)
{
    if (p->ls->later.n == 0) return ty_ok();
    TY_TRY(before_change(p));
    TY_TRY(ty_levelset_offset_now(p->ls));
    finish_change(p, false);
    return ty_ok();
}

// Departs: where fluxes tell how much liquid belongs into every cell, they have the last word, in
// place of a second correction, and particles that are on the wrong side then are dropped: in the next
// step they would undo it, and the ledger would undo that (dam break, 32 cells: it corrects 10.6 %
// a second with both, 4.0 % without the second correction, 2.5 % so; `levelset` 2.4 %).
static ty_status keep(ty_particle* p)
{
    TY_TRY(ty_levelset_keep(p->ls));
    ty_particle_renew(p);
    return ty_ok();
}

static void set_radii(void* ctx, ty_range r) { ty_particle_radii(ctx, r.begin, r.end); }

static ty_status correct_again(ty_particle* p)
{
    TY_TRY(ty_particle_find(p));
    ty_particle_correct(p);
    ty_parallel_for(ty_swarm_count(&p->now), BLOCK, set_radii, p);
    return ty_ok();
}

static ty_status advance(void* self, const ty_flow* flow, const ty_world* world, double t,
                         double dt)
{
    (void)t;
    ty_particle* p = self;
    double went = 0.0;
    ++p->step;
    TY_TRY(offset_now(p));
    p->measured = 0;
    TY_TRY(ty_levelset_carry(p->ls, flow, world, dt, &went));
    TY_TRY(ty_particle_ways(p, flow, dt));
    ty_particle_move(p, dt);
    TY_TRY(ty_particle_fall(p, world, dt));
    TY_TRY(ty_particle_sort(p));
    TY_TRY(ty_particle_find(p));
    TY_TRY(ty_particle_loosen(p, flow));
    ty_particle_correct(p);
    TY_TRY(ty_levelset_settle(p->ls, went));
    TY_TRY(p->ls->weighed ? keep(p) : correct_again(p));
    TY_TRY(ty_particle_seed(p));
    return ty_levelset_contour(p->ls);
}

static ty_status edit(void* self, int n, const ty_edit* edits, double* volume_changed)
{
    ty_particle* p = self;
    TY_TRY(before_change(p));
    TY_TRY(ty_levelset_edit(p->ls, n, edits, volume_changed));
    finish_change(p, true);
    return ty_ok();
}

static ty_status offset(void* self, const double* metres_per_piece)
{
    ty_particle* p = self;
    TY_TRY(before_change(p));
    TY_TRY(ty_levelset_offset(p->ls, metres_per_piece));
    finish_change(p, false);
    return ty_ok();
}

static ty_status offset_later(void* self, const double* metres_per_piece)
{
    return ty_levelset_offset_later(((ty_particle*)self)->ls, metres_per_piece);
}

static ty_liquid liquid(const void* self)
{
    const ty_particle* p = self;
    return ty_levelset_liquid(p->ls);
}

static ty_status particles(const void* self, ty_tri_mesh* out)
{
    const ty_particle* p = self;
    int64_t n = ty_swarm_count(&p->now), kept = 0;
    if (n + p->drop.n > INT32_MAX)
        return ty_fail(TY_BAD_INPUT, "more than 2^31 particles cannot be written");
    TY_TRY(ty_tri_mesh_resize(out, (int)(n + p->drop.n), 0));
    float *radius = ty_tri_mesh_add_attribute(out, "radius", 1),
          *side = ty_tri_mesh_add_attribute(out, "side", 1);
    if (!radius || !side) return ty_no_memory("particles");
    for (int64_t i = 0; i < n; ++i) {
        float r = p->now.radius.at[i];
        if (r == 0.0f) continue;
        ty_particle_place(p, i, out->vert[kept]);
        side[kept] = r > 0.0f ? 1.0f : -1.0f;
        radius[kept++] = (float)(fabs((double)r) * p->ls->grid.cell);
    }
    for (int64_t i = 0; i < p->drop.n; ++i, ++kept) {
        ty_store3(out->vert[kept], ty_load3(p->drop.at[i].x));
        side[kept] = -1.0f;
        radius[kept] = (float)p->drop.at[i].radius;
    }
    return ty_tri_mesh_resize(out, (int)kept, 0);
}

// The archive's hash says that the bytes are ours; what is left to check is that they are of this
// grid.
static ty_status check_loaded(const ty_particle* p)
{
    int64_t n = ty_swarm_count(&p->now), size = ty_grid_size(&p->ls->grid);
    bool same = p->now.cell.n == n;
    for (int axis = 0; axis < 3; ++axis) same = same && p->now.place[axis].n == n;
    for (int64_t i = 0; same && i < n; ++i)
        same = p->now.cell.at[i] >= 0 && p->now.cell.at[i] < size;
    return same ? ty_ok()
                : ty_fail(TY_DAMAGED, "the checkpoint's particles do not fit the level set");
}

static ty_status archive(void* self, ty_archive* ar)
{
    ty_particle* p = self;
    static const char* const names[3] = {"particle.x", "particle.y", "particle.z"};
    TY_TRY(ty_levelset_archive(p->ls, ar));
    for (int axis = 0; axis < 3; ++axis)
        TY_TRY(ty_archive_growing(ar, names[axis], &p->now.place[axis]));
    TY_TRY(ty_archive_growing(ar, "particle.radius", &p->now.radius));
    TY_TRY(ty_archive_growing(ar, "particle.cell", &p->now.cell));
    TY_TRY(ty_archive_growing(ar, "particle.drops", &p->drop));
    TY_TRY(ty_archive_i64(ar, "particle.step", &p->step, 1));
    p->measured = ar->loading ? 0 : p->measured;
    return ar->loading ? check_loaded(p) : ty_ok();
}

const ty_tracker_kind ty_tracker_particle = {.name = "particle",
                                             .needs_domain = true,
                                             .create = create,
                                             .advance = advance,
                                             .edit = edit,
                                             .offset = offset,
                                             .offset_later = offset_later,
                                             .liquid = liquid,
                                             .particles = particles,
                                             .archive = archive,
                                             .destroy = destroy};
