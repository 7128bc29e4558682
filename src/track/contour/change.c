// SPDX-License-Identifier: Apache-2.0
// Changes from outside: sources and drains, and the ledger's offsets.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/contour/slc.h"

enum { BATCH = 256 };
static const double CHANGED = 1e-6;    // cells that a vertex must be off the other surface
static const double AROUND = 2.0;    // cells around changed vertices in which volumes are measured
static const double MARGIN = 2.0;    // cells around the surface where it may be after a change

// Cells by which liquid that goes beyond a region that is added may still end where that does. What a source let out in
// the last step has its sides there; where its end was cut off they are rough, and the least of both at every step
// made a jet of 3.5 cells' radius wider by 0.1 cells.
static const double SAME = 0.1;

static double united(double liquid, double region, double same)
{
    return liquid < region - same ? liquid : region;
}

typedef struct edited {
    const ty_slc* s;
    bool add;
    ty_sampler region;
} edited;

// What is added or cut is fattened as the thin liquid beside it: its mesh, too, is going to be
// drawn back.
static void eval_edited(const void* self, int n, const double (*x)[3], double* out)
{
    const edited* e = self;
    const ty_slc* s = e->s;
    double region[BATCH], point[BATCH][3];
    int tri[BATCH];
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH;
        if (s->fat.n) ty_slc_distance(&s->now, count, x + at, out + at, tri, point);
        else ty_slc_fat_distance(s, !s->has_solid, count, x + at, out + at);
        ty_sample(&e->region, count, x + at, region);
        for (int i = 0; i < count; ++i)
            out[at + i] = e->add ? united(out[at + i], region[i], SAME * s->def.cell)
                                 : fmax(out[at + i], -region[i]);
        for (int i = 0; s->fat.n && i < count; ++i) {
            if (tri[i] < 0) continue;
            double away = ty_norm(ty_load3(x[at + i]) - ty_load3(point[i]));
            out[at + i] -= ty_slc_inset_share(s, away) *
                           ty_slc_value_at(&s->now.mesh, s->fat.at, tri[i], point[i]);
        }
    }
}

// Adds the vertices of one surface that are off the other.
static void add_changed(const ty_tri_mesh* mesh, const ty_slc_surface* other, double least,
                        ty_box* box)
{
    double d[BATCH];
    for (int at = 0; at < mesh->n_verts; at += BATCH) {
        int n = mesh->n_verts - at < BATCH ? mesh->n_verts - at : BATCH;
        ty_slc_distance(other, n, (const double(*)[3])mesh->vert + at, d, NULL, NULL);
        for (int i = 0; i < n; ++i)
            if (!(fabs(d[i]) <= least)) ty_box_add(box, mesh->vert[at + i]);
    }
}

// What was `next` before the remake is the old surface still.
static ty_status measure_change(ty_slc* s, double* volume)
{
    ty_box box = ty_box_empty();
    double before, after, h = s->def.cell;
    add_changed(&s->now.mesh, &s->next, CHANGED * h, &box);
    add_changed(&s->next.mesh, &s->now, CHANGED * h, &box);
    *volume = 0.0;
    if (!(box.lo[0] <= box.hi[0])) return ty_ok();
    for (int axis = 0; axis < 3; ++axis) {
        box.lo[axis] -= AROUND * h;
        box.hi[axis] += AROUND * h;
    }
    if (!s->cutter) TY_TRY(ty_cutter_create(&s->cutter));
    ty_sampler old = ty_slc_distance_sampler(&s->next), new = ty_slc_distance_sampler(&s->now);
    TY_TRY(ty_cut_volume(s->cutter, &old, h, s->world, &box, &before));
    TY_TRY(ty_cut_volume(s->cutter, &new, h, s->world, &box, &after));
    *volume = after - before;
    return ty_ok();
}

// Thin places stay as fat as they are.
static ty_status stay_fat(ty_slc* s)
{
    if (!ty_array_resize(&s->fat, s->now.inset.n)) return ty_no_memory("thin places");
    if (s->fat.n) memcpy(s->fat.at, s->now.inset.at, (size_t)s->fat.n * sizeof *s->fat.at);
    return ty_ok();
}

static ty_status edit_one(ty_slc* s, const ty_edit* e, double* volume_changed)
{
    ty_slc_region region;
    TY_TRY(ty_slc_region_open(s, &e->region, &region));
    TY_TRY(stay_fat(s));
    edited change = {s, e->add, ty_slc_region_sampler(&region)};
    ty_slc_remake_def def = {.phi = {.self = &change, .width = 1, .eval = eval_edited},
                             .lipschitz = 1.0,
                             .keep_old = volume_changed != NULL};
    def.box = ty_slc_bounds(s, MARGIN * s->def.cell);
    if (e->add) {
        ty_box world = ty_world_bounds(s->world);
        ty_box_add(&def.box, world.lo);
        ty_box_add(&def.box, world.hi);
    }
    TY_TRY(ty_slc_remake(s, &def));
    return volume_changed ? measure_change(s, volume_changed) : ty_ok();
}

ty_status ty_slc_edit(ty_slc* s, int n, const ty_edit* edits, double* volume_changed)
{
    for (int i = 0; i < n; ++i)
        TY_TRY(edit_one(s, &edits[i], volume_changed ? &volume_changed[i] : NULL));
    return ty_ok();
}

typedef struct moved {
    const ty_slc* s;
    bool rough;
} moved;

static void eval_offset(const void* self, int n, const double (*x)[3], double* out)
{
    const moved* m = self;
    const ty_slc* s = m->s;
    int tri[BATCH];
    double point[BATCH][3];
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH;
        (m->rough ? ty_slc_rough_distance : ty_slc_distance)(&s->now, count, x + at, out + at, tri,
                                                             point);
        for (int i = 0; i < count; ++i) {
            if (tri[i] < 0) continue;
            out[at + i] -= ty_slc_value_at(&s->now.mesh, s->amount.at, tri[i], point[i]);
            if (s->fat.n) out[at + i] -= ty_slc_value_at(&s->now.mesh, s->fat.at, tri[i], point[i]);
        }
    }
}

// Thin places get a share of their piece's offset, by how thin they are compared with the rest of
// it: a sheet alone gets it all.
static ty_status share_offset(ty_slc* s, const double* metres_per_piece)
{
    const ty_tri_mesh* m = &s->now.mesh;
    double* sum = ty_alloc_zero(2 * (size_t)s->n_pieces, sizeof *sum);
    if (!sum || !ty_array_resize(&s->amount, m->n_verts)) {
        ty_free(sum);
        return ty_no_memory("an offset");
    }
    for (int v = 0; v < m->n_verts; ++v)
        s->amount.at[v] = fmin(1.0, s->thickness.at[v] / (TY_SLC_THICK * s->def.cell));
    for (int t = 0; t < m->n_tris; ++t) {
        const int* id = m->tri[t];
        ty_vec3 a = ty_load3(m->vert[id[0]]);
        double area = ty_norm(ty_cross(ty_load3(m->vert[id[1]]) - a, ty_load3(m->vert[id[2]]) - a));
        for (int k = 0; k < 3; ++k) {
            sum[2 * s->piece.at[id[k]]] += area;
            sum[2 * s->piece.at[id[k]] + 1] += area * s->amount.at[id[k]];
        }
    }
    for (int v = 0; v < m->n_verts; ++v) {
        const double* own = sum + 2 * s->piece.at[v];
        s->amount.at[v] = metres_per_piece[s->piece.at[v]] *
                          fmin(1.0, s->amount.at[v] * own[0] / own[1]);
    }
    ty_free(sum);
    return ty_ok();
}

static double largest(const ty_slc* s, const double* metres_per_piece)
{
    double most = 0.0;
    for (int i = 0; i < s->n_pieces; ++i) most = fmax(most, fabs(metres_per_piece[i]));
    return most;
}

void ty_slc_offset_fat(ty_slc* s, const double* amount)
{
    for (int64_t v = 0; v < s->fat.n; ++v)
        if (s->fat.at[v] > 0.0) s->fat.at[v] = fmax(0.0, s->fat.at[v] - amount[v]);
}

ty_status ty_slc_offset_later(ty_slc* s, const double* metres_per_piece)
{
    if (largest(s, metres_per_piece) == 0.0) return ty_ok();
    TY_TRY(ty_slc_thickness(s, TY_SLC_THICK * s->def.cell));
    TY_TRY(share_offset(s, metres_per_piece));
    if (!ty_array_resize(&s->later, s->amount.n)) return ty_no_memory("offsets");
    memcpy(s->later.at, s->amount.at, (size_t)s->amount.n * sizeof *s->later.at);
    return ty_ok();
}

ty_status ty_slc_offset(ty_slc* s, const double* metres_per_piece)
{
    double most = largest(s, metres_per_piece), h = s->def.cell;
    if (most == 0.0) return ty_ok();
    TY_TRY(ty_slc_thickness(s, TY_SLC_THICK * h));
    TY_TRY(share_offset(s, metres_per_piece));
    if (ty_slc_may_nudge(s, most)) return ty_slc_nudge(s);
    TY_TRY(stay_fat(s));
    ty_slc_offset_fat(s, s->amount.at);
    moved exact = {s, false}, rough = {s, true};
    ty_sampler offset = {.self = &exact, .width = 1, .eval = eval_offset};
    ty_slc_walled walled = ty_slc_wall(s, &offset);
    walled.rough = (ty_sampler){.self = &rough, .width = 1, .eval = eval_offset};
    ty_slc_remake_def def = {.phi = ty_slc_walled_sampler(&walled), .lipschitz = 1.5};
    def.box = ty_slc_bounds(s, MARGIN * h + most);
    return ty_slc_remake(s, &def);
}
