// SPDX-License-Identifier: Apache-2.0
// Cut points and warp, [Labelle2007] section 3. All cut edges are finest lattice edges: the
// octree's rule sees to it.
//
// Departs: the order of the warp. Outside vertices move first, then inside ones that a cut still
// violates. Cuts join opposite signs only, so each pass is parallel and no order inside it matters;
// and thin liquid keeps more of itself than with the inside first (a sheet of 0.75 cells keeps 81 %
// instead of 40 %).
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "core/parallel.h"
#include "mesh/contour.h"
#include "mesh/contour_table.h"
#include "mesh/stuff_stage.h"

// Cuts this near to alpha take all their steps before anything is decided by them.
static const double CLOSE_CALL = 0.02;
static const double SHORT_EDGE = 0.8660254037844386;    // in cells

static int sign_of(double f) { return (f > 0.0) - (f < 0.0); }

static void corner_sign_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    for (int64_t v = r.begin; v < r.end; ++v)
        k->s->sign.at[v] = (int8_t)sign_of(k->t->corner_value.at[v]);
}

// A split octant has no centre in the grid: its sign says outside and nobody asks.
static void centre_signs(const ty_stuffing* k)
{
    const ty_octree* t = k->t;
    for (int l = 0; l < t->n_levels; ++l)
        for (int i = 0; i < t->level[l].octants.n; ++i) {
            int id = t->level[l].first + i;
            bool leaf = ty_octree_is_leaf(t, id);
            k->s->sign.at[k->n_corners + id] = (int8_t)(leaf ? sign_of(t->level[l].value.at[i])
                                                             : 1);
        }
}

// Edges of one finest octant between strictly opposite signs.
static unsigned cuts_of_octant(const ty_stuffing* k, ty_lattice_cursor* c, int64_t octant,
                               const int x[3])
{
    int corner[8];
    ty_octree_corners_of(k->t, octant, corner);
    const int8_t* sign = k->s->sign.at;
    int centre = sign[k->n_corners + octant], inside = 0, outside = 0;
    for (int v = 0; v < 8; ++v) {
        inside |= (sign[corner[v]] < 0) << v;
        outside |= (sign[corner[v]] > 0) << v;
    }
    unsigned cuts = (unsigned)(centre < 0 ? outside : centre > 0 ? inside : 0);
    for (int axis = 0; axis < 3; ++axis) {
        int n = ty_lattice_id(&k->t->level[0].octants, c, x[0] + (axis == 0), x[1] + (axis == 1),
                              x[2] + (axis == 2));
        if (n >= 0 && centre * sign[k->n_corners + n] < 0) cuts |= 256u << axis;
    }
    if (!inside || !outside) return cuts;
    for (int e = 0; e < 12; ++e) {
        int a = ty_contour_edge_corner(e), b = a | 1 << (e >> 2);
        if (sign[corner[a]] * sign[corner[b]] < 0)
            __atomic_fetch_or(&k->s->corner_cuts.at[corner[a]], (uint8_t)(1 << (e >> 2)),
                              __ATOMIC_RELAXED);
    }
    return cuts;
}

static void octant_cuts_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    int x[TY_STUFF_BLOCK][3];
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_set_points(&k->t->level[0].octants, (int)r.begin, (int)r.end, x);
    for (int64_t o = r.begin; o < r.end; ++o)
        k->s->octant_cuts.at[o] = (uint16_t)cuts_of_octant(k, &c, o, x[o - r.begin]);
}

static void fill_octant_cuts(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    int x[TY_STUFF_BLOCK][3];
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_set_points(&k->t->level[0].octants, (int)r.begin, (int)r.end, x);
    for (int64_t o = r.begin; o < r.end; ++o) {
        ty_cut* cut = k->s->cut.at + k->s->octant_first_cut.at[o];
        const int* at = x[o - r.begin];
        for (unsigned todo = k->s->octant_cuts.at[o]; todo; todo &= todo - 1, ++cut) {
            int bit = __builtin_ctz(todo), axis = bit - 8;
            *cut = (ty_cut){.a = k->n_corners + (int)o,
                            .x = {2 * at[0] + 1, 2 * at[1] + 1, 2 * at[2] + 1}};
            cut->direction = bit < 8 ? 3 + bit : axis;
            cut->b = bit < 8 ? ty_octree_corner(k->t, o, bit)
                             : k->n_corners +
                                   ty_lattice_id(&k->t->level[0].octants, &c, at[0] + (axis == 0),
                                                 at[1] + (axis == 1), at[2] + (axis == 2));
        }
    }
}

static void fill_corner_cuts(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    int x[TY_STUFF_BLOCK][3];
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_set_points(&k->t->corners, (int)r.begin, (int)r.end, x);
    for (int64_t v = r.begin; v < r.end; ++v) {
        ty_cut* cut = k->s->cut.at + k->s->corner_first_cut.at[v];
        const int* at = x[v - r.begin];
        for (unsigned todo = k->s->corner_cuts.at[v]; todo; todo &= todo - 1, ++cut) {
            int axis = __builtin_ctz(todo);
            *cut = (ty_cut){.a = (int)v, .x = {2 * at[0], 2 * at[1], 2 * at[2]}, .direction = axis};
            cut->b = ty_lattice_id(&k->t->corners, &c, at[0] + (axis == 0), at[1] + (axis == 1),
                                   at[2] + (axis == 2));
        }
    }
}

static double value_of(const ty_stuffing* k, int vert)
{
    return vert < k->n_corners ? k->t->corner_value.at[vert]
                               : k->t->level[0].value.at[vert - k->n_corners];
}

typedef struct edges {
    double a[TY_SAMPLE_BATCH][3], b[TY_SAMPLE_BATCH][3], fa[TY_SAMPLE_BATCH], fb[TY_SAMPLE_BATCH];
    double f_chord[TY_SAMPLE_BATCH], t[TY_SAMPLE_BATCH];
} edges;

static void load_edge(const ty_stuffing* k, int64_t i, edges* e, int at)
{
    const ty_cut* cut = &k->s->cut.at[i];
    ty_vec3 half = ty_vec(cut->x[0], cut->x[1], cut->x[2]);
    ty_store3(e->a[at], ty_octree_point(k->t, 0.5 * half));
    ty_store3(e->b[at], ty_octree_point(k->t, 0.5 * (half + ty_cut_step(cut->direction))));
    e->fa[at] = value_of(k, cut->a);
    e->fb[at] = value_of(k, cut->b);
    e->f_chord[at] = k->s->cut_probe.at[i];
}

// Ends of edges whose value was only asked roughly: few, for distances none.
static void ask_ends(const ty_stuffing* k, int n, double (*x)[3], double* f)
{
    double far[TY_SAMPLE_BATCH][3], value[TY_SAMPLE_BATCH];
    int id[TY_SAMPLE_BATCH], n_far = 0;
    for (int i = 0; i < n; ++i) {
        if (!(fabs(f[i]) > k->def->roughly->exact_band)) continue;
        memcpy(far[n_far], x[i], sizeof far[0]);
        id[n_far++] = i;
    }
    if (n_far) ty_sample(k->phi, n_far, (const double(*)[3])far, value);
    for (int i = 0; i < n_far; ++i) f[id[i]] = value[i];
}

static void load_edges(const ty_stuffing* k, int64_t begin, int n, const int* chosen, edges* e)
{
    for (int i = 0; i < n; ++i) load_edge(k, begin + (chosen ? chosen[i] : i), e, i);
    if (!k->def->roughly) return;
    ask_ends(k, n, e->a, e->fa);
    ask_ends(k, n, e->b, e->fb);
}

static double alpha_of(const ty_cut* cut)
{
    return cut->direction < 3 ? TY_ALPHA_LONG : TY_ALPHA_SHORT;
}

static bool is_close_call(const ty_stuffing* k, int64_t i)
{
    double t = k->s->cut_at.at[i], alpha = alpha_of(&k->s->cut.at[i]);
    return fabs(t - alpha) < CLOSE_CALL || fabs(1.0 - t - alpha) < CLOSE_CALL;
}

// The remaining steps for the n cuts begin + chosen[i]; `hold` keeps each on its side of alpha.
static void finish_zeros(const ty_stuffing* k, edges* e, int64_t begin, int n, const int* chosen,
                         bool hold)
{
    if (!n || k->def->refine < 2) return;
    load_edges(k, begin, n, chosen, e);
    ty_find_zeros_on(k->phi, k->def->refine, n, e->a, e->b, e->fa, e->fb, e->f_chord, true, e->t);
    for (int i = 0; i < n; ++i) {
        int64_t cut = begin + chosen[i];
        double t = e->t[i], *at = &k->s->cut_at.at[cut], alpha = alpha_of(&k->s->cut.at[cut]);
        if (!(t >= 0.0 && t <= 1.0)) continue;
        if (hold && k->s->cut_id.at[cut] >= 0) t = ty_clamp(t, alpha, 1.0 - alpha);
        else if (hold) t = *at < 0.5 ? fmin(t, alpha) : fmax(t, 1.0 - alpha);
        *at = t;
    }
}

// One step to every zero is enough to decide which vertices move, except for close calls.
static void first_zeros_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    edges e;
    int n = (int)(r.end - r.begin), close[TY_SAMPLE_BATCH], n_close = 0;
    assert(n > 0);
    load_edges(k, r.begin, n, NULL, &e);
    ty_find_zeros_on(k->phi, 1, n, e.a, e.b, e.fa, e.fb, e.f_chord, false, e.t);
    for (int i = 0; i < n; ++i) {
        k->s->cut_probe.at[r.begin + i] = e.f_chord[i];
        k->s->cut_at.at[r.begin + i] = e.t[i] >= 0.0 && e.t[i] <= 1.0 ? e.t[i]
                                                                      : 0.5;    // infinite values
        if (is_close_call(k, r.begin + i)) close[n_close++] = i;
    }
    finish_zeros(k, &e, r.begin, n_close, close, false);
}

static bool is_used(const ty_stuffing* k, int64_t i)
{
    const ty_cut* cut = &k->s->cut.at[i];
    return k->s->cut_id.at[i] >= 0 || (uint32_t)k->s->nearest.at[cut->a] == (uint32_t)i ||
           (uint32_t)k->s->nearest.at[cut->b] == (uint32_t)i;
}

// A cut that a vertex moved to stays within reach of it, one that stays a cut out of reach of both:
// the bound holds for any function. Smooth ones move by far less than a close call here, so none of
// theirs is held.
static void last_zeros_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    edges e;
    int n = 0, used[TY_SAMPLE_BATCH];
    for (int64_t i = r.begin; i < r.end; ++i)
        if (is_used(k, i) && !is_close_call(k, i)) used[n++] = (int)(i - r.begin);
    finish_zeros(k, &e, r.begin, n, used, true);
}

// Smaller distance first, then smaller id.
static void offer(uint64_t* nearest, double distance, int64_t cut)
{
    float d = (float)distance;
    uint32_t bits;
    memcpy(&bits, &d, sizeof bits);    // non-negative floats sort like their bits
    uint64_t key = (uint64_t)bits << 32 | (uint32_t)cut,
             seen = __atomic_load_n(nearest, __ATOMIC_RELAXED);
    while (key < seen && !__atomic_compare_exchange_n(nearest, &seen, key, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
    }
}

// Offers the cut to the end of that sign when it is too close to it.
static void violate(const ty_stuffing* k, int64_t i, int sign)
{
    const ty_cut* cut = &k->s->cut.at[i];
    bool at_a = k->s->sign.at[cut->a] == sign;
    double t = at_a ? k->s->cut_at.at[i] : 1.0 - k->s->cut_at.at[i];
    if (t < alpha_of(cut))
        offer(&k->s->nearest.at[at_a ? cut->a : cut->b],
              t * (cut->direction < 3 ? 1.0 : SHORT_EDGE), i);
}

static void warp_outside_block(void* ctx, ty_range r)
{
    for (int64_t i = r.begin; i < r.end; ++i) violate(ctx, i, 1);
}

static void warp_inside_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        const ty_cut* cut = &k->s->cut.at[i];
        int outside = k->s->sign.at[cut->a] > 0 ? cut->a : cut->b;
        if (!ty_was_moved(k->s, outside)) violate(k, i, -1);
    }
}

static void survive_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        const ty_cut* cut = &k->s->cut.at[i];
        k->s->cut_id.at[i] = ty_was_moved(k->s, cut->a) || ty_was_moved(k->s, cut->b) ? -1 : 0;
    }
}

static void moved_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    for (int64_t v = r.begin; v < r.end; ++v)
        if (ty_was_moved(k->s, (int)v)) k->s->sign.at[v] = 0;
}

static ty_status reserve(ty_stuffing* k)
{
    ty_stuff* s = k->s;
    int64_t n_finest = k->t->level[0].octants.n, n_verts = (int64_t)k->n_corners + k->t->n_octants;
    if (n_verts > INT_MAX)
        return ty_fail(TY_BAD_INPUT, "the octree has more vertices than 32-bit ids can name");
    if (!ty_array_resize(&s->sign, n_verts) || !ty_array_resize(&s->nearest, n_verts) ||
        !ty_array_resize(&s->vert_id, n_verts) || !ty_array_resize(&s->used, n_verts) ||
        !ty_array_resize(&s->octant_cuts, n_finest) ||
        !ty_array_resize(&s->octant_first_cut, n_finest) ||
        !ty_array_resize(&s->corner_cuts, k->n_corners) ||
        !ty_array_resize(&s->corner_first_cut, k->n_corners))
        return ty_no_memory("lattice vertices");
    memset(s->nearest.at, 0xff, (size_t)n_verts * sizeof *s->nearest.at);
    memset(s->used.at, 0, (size_t)n_verts);
    memset(s->corner_cuts.at, 0, (size_t)k->n_corners);
    return ty_ok();
}

static ty_status number_cuts(ty_stuffing* k)
{
    ty_stuff* s = k->s;
    int64_t count = 0;
    for (int64_t o = 0; o < s->octant_cuts.n; ++o) {
        s->octant_first_cut.at[o] = (int)count;
        count += __builtin_popcount(s->octant_cuts.at[o]);
    }
    for (int64_t v = 0; v < k->n_corners; ++v) {
        s->corner_first_cut.at[v] = (int)count;
        count += __builtin_popcount(s->corner_cuts.at[v]);
    }
    if (count > INT_MAX)
        return ty_fail(TY_BAD_INPUT, "the surface cuts more edges than 32-bit ids can name");
    if (!ty_array_resize(&s->cut, count) || !ty_array_resize(&s->cut_at, count) ||
        !ty_array_resize(&s->cut_probe, count) || !ty_array_resize(&s->cut_id, count))
        return ty_no_memory("cut points");
    return ty_ok();
}

ty_status ty_stuff_cut(ty_stuffing* k)
{
    TY_TRY(reserve(k));
    int64_t n_finest = k->t->level[0].octants.n;
    ty_parallel_for(k->n_corners, 8 * TY_STUFF_BLOCK, corner_sign_block, k);
    centre_signs(k);
    ty_parallel_for(n_finest, TY_STUFF_BLOCK, octant_cuts_block, k);
    TY_TRY(number_cuts(k));
    ty_parallel_for(n_finest, TY_STUFF_BLOCK, fill_octant_cuts, k);
    ty_parallel_for(k->n_corners, TY_STUFF_BLOCK, fill_corner_cuts, k);
    int64_t n_cuts = k->s->cut.n;
    ty_parallel_for(n_cuts, TY_SAMPLE_BATCH, first_zeros_block, k);
    ty_parallel_for(n_cuts, 8 * TY_STUFF_BLOCK, warp_outside_block, k);
    ty_parallel_for(n_cuts, 8 * TY_STUFF_BLOCK, warp_inside_block, k);
    ty_parallel_for(n_cuts, 8 * TY_STUFF_BLOCK, survive_block, k);
    if (k->def->refine > 1) ty_parallel_for(n_cuts, TY_SAMPLE_BATCH, last_zeros_block, k);
    ty_parallel_for(k->s->sign.n, 8 * TY_STUFF_BLOCK, moved_block, k);
    return ty_ok();
}
