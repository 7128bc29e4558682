// SPDX-License-Identifier: Apache-2.0
#include "space/octree_rules.h"

#include <pthread.h>
#include <string.h>

#include "core/parallel.h"

typedef struct rule_args {
    ty_octree* t;
    ty_octree_rule rule;
    int level;
    pthread_mutex_t lock;    // of the split sets: what is inserted does not depend on the order
    bool more, failed, too_far;
} rule_args;

static bool is_near(const ty_octree* t, int l, const int x[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (x[axis] * (1 << l) < t->lo[axis] || x[axis] * (1 << l) > t->hi[axis]) return false;
    return true;
}

// Octant x of level l must exist; of the coarsest level, as a leaf.
static void require(rule_args* k, int l, const int x[3])
{
    ty_octree* t = k->t;
    bool root = l == t->n_levels - 1;
    pthread_mutex_lock(&k->lock);
    if (!is_near(t, l, x)) k->too_far = true;
    else if (root && !ty_lattice_set_insert(&t->roots, x[0], x[1], x[2])) k->failed = true;
    else if (!root &&
             !ty_lattice_set_insert(&t->level[l + 1].split, x[0] >> 1, x[1] >> 1, x[2] >> 1))
        k->failed = true;
    k->more = true;
    pthread_mutex_unlock(&k->lock);
}

static void mark(uint8_t* flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }

// Pairs of corners joined by the edges of an octant: (a, b) with b = a | 1 << axis.
static void mark_long_edges(uint8_t* active, const int* corner, const int sign[8])
{
    for (int axis = 0; axis < 3; ++axis)
        for (int a = 0; a < 8; ++a) {
            int b = a | 1 << axis;
            if (b == a || (sign[a] == sign[b] && sign[a] != 0)) continue;
            mark(&active[corner[a]]);
            mark(&active[corner[b]]);
        }
}

// Ends of lattice edges inside one finest octant on which the sign changes or is zero.
static void mark_octant(ty_octree* t, int id, int centre_sign)
{
    uint8_t* active = t->active_corner.at;
    int corner[8], sign[8], differs = centre_sign == 0;
    ty_octree_corners_of(t, id, corner);
    for (int v = 0; v < 8; ++v) {
        sign[v] = ty_sign(t->corner_value.at[corner[v]]);
        differs |= sign[v] != centre_sign;
    }
    if (!differs) return;
    mark_long_edges(active, corner, sign);
    for (int v = 0; v < 8; ++v) {
        if (sign[v] == centre_sign && centre_sign != 0) continue;
        mark(&active[corner[v]]);
        mark(&t->active_centre.at[id]);
    }
}

static void mark_block(void* ctx, ty_range r)
{
    rule_args* k = ctx;
    ty_octree* t = k->t;
    const ty_octree_level* finest = &t->level[0];
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int x[TY_SAMPLE_BATCH][3];
    ty_lattice_set_points(&finest->octants, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* o = x[i - r.begin];
        int sign = ty_sign(finest->value.at[i]);
        mark_octant(t, (int)i, sign);
        for (int axis = 0; axis < 3; ++axis) {
            int id = ty_lattice_id(&finest->octants, &c, o[0] + (axis == 0), o[1] + (axis == 1),
                                   o[2] + (axis == 2));
            if (id < 0 || (sign != 0 && ty_sign(finest->value.at[id]) == sign)) continue;
            mark(&t->active_centre.at[i]);
            mark(&t->active_centre.at[id]);
        }
    }
}

static bool touches(int corner, const int d[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        int side = (corner >> axis & 1) ? 1 : -1;
        if (d[axis] != 0 && d[axis] != side) return false;
    }
    return true;
}

// Bit v of a neighbour's entry: it must be finest when corner v is active; bit 8: when the centre
// is.
static void neighbour_needs(uint16_t needs[27])
{
    for (int n = 0; n < 27; ++n) {
        int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        needs[n] = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == 1 ? 256 : 0;
        for (int v = 0; v < 8; ++v) needs[n] |= (uint16_t)(touches(v, d) << v);
    }
    needs[13] = 0;    // the octant itself
}

static void complete_stars_block(void* ctx, ty_range r)
{
    rule_args* k = ctx;
    ty_octree* t = k->t;
    uint16_t needs[27];
    neighbour_needs(needs);
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int x[TY_SAMPLE_BATCH][3];
    ty_lattice_set_points(&t->level[0].octants, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* o = x[i - r.begin];
        int corner[8];
        ty_octree_corners_of(t, i, corner);
        unsigned active = t->active_centre.at[i] ? 256 : 0;
        for (int v = 0; v < 8; ++v) active |= (unsigned)t->active_corner.at[corner[v]] << v;
        if (!active) continue;
        for (int n = 0; n < 27; ++n) {
            if (!(active & needs[n])) continue;
            int at[3] = {o[0] + n % 3 - 1, o[1] + n / 3 % 3 - 1, o[2] + n / 9 - 1};
            if (!ty_lattice_has(&t->level[0].octants, &c, at[0], at[1], at[2])) require(k, 0, at);
        }
    }
}

// Contouring: where a face's corners differ, the octant behind it must be finest too.
static void continue_block(void* ctx, ty_range r)
{
    rule_args* k = ctx;
    ty_octree* t = k->t;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int x[TY_SAMPLE_BATCH][3];
    ty_lattice_set_points(&t->level[0].octants, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        int inside = t->inside.at[i];
        if (inside == 0 || inside == 255) continue;
        for (int face = 0; face < 6; ++face) {
            static const int mask[6] = {0x55, 0xaa, 0x33, 0xcc, 0x0f, 0xf0};
            int at[3], on_face = inside & mask[face];
            if (on_face == 0 || on_face == mask[face]) continue;
            memcpy(at, x[i - r.begin], sizeof at);
            at[face >> 1] += face & 1 ? 1 : -1;
            if (!ty_lattice_has(&t->level[0].octants, &c, at[0], at[1], at[2])) require(k, 0, at);
        }
    }
}

// The signs at a leaf's centre and corners are one.
static bool is_alike(const ty_octree* t, int level, int id)
{
    int corner[8], sign = ty_sign(t->level[level].value.at[id - t->level[level].first]);
    ty_octree_corners_of(t, id, corner);
    for (int v = 0; v < 8 && sign != 0; ++v)
        if (ty_sign(t->corner_value.at[corner[v]]) != sign) return false;
    return sign != 0;
}

bool ty_octree_leaf_is_pure(const ty_octree* t, ty_lattice_cursor* c, int level, int id,
                            const int x[3])
{
    int sign = ty_sign(t->level[level].value.at[id - t->level[level].first]),
        half = 1 << (level - 1);
    if (!is_alike(t, level, id)) return false;
    for (int n = 0; n < 27; ++n) {
        int d[3] = {n % 3, n / 3 % 3, n / 9}, n_mid = (d[0] == 1) + (d[1] == 1) + (d[2] == 1);
        if (n_mid != 1 && n_mid != 2) continue;
        int p = ty_lattice_id(&t->corners, c, (2 * x[0] + d[0]) * half, (2 * x[1] + d[1]) * half,
                              (2 * x[2] + d[2]) * half);
        if (p >= 0 && ty_sign(t->corner_value.at[p]) != sign) return false;
    }
    return true;
}

// A coarse leaf in which the sign changes is split, so that phi need not be a distance. The middles
// of its edges and faces need no asking far from the surface: each is the corner of a smaller leaf
// that has a corner with this one in common, so when their signs differ that leaf is split, or
// followed if it is finest, and this one in the end.
static void coarse_block(void* ctx, ty_range r)
{
    rule_args* k = ctx;
    ty_octree* t = k->t;
    int l = k->level, x[TY_SAMPLE_BATCH][3];
    ty_lattice_cursor corner = ty_lattice_cursor_start();
    ty_lattice_set_points(&t->level[l].octants, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* o = x[i - r.begin];
        int id = t->level[l].first + (int)i;
        if (!ty_octree_is_leaf(t, id)) continue;
        bool far = k->rule == TY_OCTREE_CONTOUR &&
                   fabs(t->level[l].value.at[i]) > t->cell * (1 << l);
        if (far ? is_alike(t, l, id) : ty_octree_leaf_is_pure(t, &corner, l, id, o)) continue;
        int child[3] = {2 * o[0], 2 * o[1], 2 * o[2]};
        require(k, l - 1, child);
    }
}

// Liquid at the border of the tree: there must be an octant behind every face of a leaf inside.
static void border_block(void* ctx, ty_range r)
{
    rule_args* k = ctx;
    const ty_octree* t = k->t;
    int l = k->level, up = t->n_levels - 1 - l, last = (1 << up) - 1;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int64_t i = r.begin; i < r.end; ++i) {
        if (!(t->inside.at[t->level[l].first + i] & 1)) continue;
        const int* o = ty_lattice_walk_to(&t->level[l].octants, &walk, (int)i);
        for (int face = 0; face < 6; ++face) {
            int axis = face >> 1, border = face & 1 ? last : 0;
            if ((o[axis] & last) != border) continue;
            int root[3] = {o[0] >> up, o[1] >> up, o[2] >> up};
            root[axis] += face & 1 ? 1 : -1;
            if (!ty_lattice_has(&t->level[t->n_levels - 1].octants, &c, root[0], root[1], root[2]))
                require(k, t->n_levels - 1, root);
        }
    }
}

static ty_status finest_rules(rule_args* k)
{
    ty_octree* t = k->t;
    int n = t->level[0].octants.n;
    if (k->rule == TY_OCTREE_CONTOUR) {
        ty_parallel_for(n, TY_SAMPLE_BATCH, continue_block, k);
        return ty_ok();
    }
    if (!ty_array_resize(&t->active_corner, t->corners.n) || !ty_array_resize(&t->active_centre, n))
        return ty_no_memory("octree marks");
    if (t->corners.n) memset(t->active_corner.at, 0, (size_t)t->corners.n);
    if (n) memset(t->active_centre.at, 0, (size_t)n);
    ty_parallel_for(n, TY_SAMPLE_BATCH, mark_block, k);
    ty_parallel_for(n, TY_SAMPLE_BATCH, complete_stars_block, k);
    return ty_ok();
}

ty_status ty_octree_apply_rules(ty_octree* t, ty_octree_rule rule, bool* more)
{
    rule_args k = {.t = t, .rule = rule, .lock = PTHREAD_MUTEX_INITIALIZER};
    TY_TRY(finest_rules(&k));
    for (k.level = 1; k.level < t->n_levels; ++k.level)
        ty_parallel_for(t->level[k.level].octants.n, TY_SAMPLE_BATCH, coarse_block, &k);
    for (k.level = 0; k.level < t->n_levels; ++k.level)
        ty_parallel_for(t->level[k.level].octants.n, TY_SAMPLE_BATCH, border_block, &k);
    *more = k.more;
    if (k.too_far)
        return ty_fail(
            TY_BAD_INPUT,
            "the liquid goes on far outside the box it was said to be in: give a larger box, or "
            "bound the shape");
    return k.failed ? ty_no_memory("octants") : ty_ok();
}
