// SPDX-License-Identifier: Apache-2.0
// Refinement of [Chentanez2007] section 3.3 with the rules of [Labelle2007].
//
// The tree is what is split: octants[l] = children of split[l + 1]. So a rule is "insert into
// split[l]", balance is one sweep from fine to coarse (split[l] inserts the parents of its face and
// edge neighbours into split[l + 1]), and the sets are made anew from coarse to fine. Rounds of
// "sample what is new, apply the rules to the signs" go on until no rule asks for more; two or
// three in practice.
//
// Departs: rule 4 (TY_OCTREE_STUFF) asks for more finest octants than [Labelle2007]; without it
// warped vertices reach tetrahedra that are not of the lattice shape, whose angles have no bound.
#include <assert.h>
#include <string.h>

#include "core/parallel.h"
#include "space/octree.h"
#include "space/octree_corners.h"
#include "space/octree_rules.h"

enum {
    GROWTH = 4
};    // coarsest octants the tree may grow beyond the box, and beyond the box's own size

// Half the diagonal of a unit octant, with room for rounding.
static const double REACH = 0.8660254037844386 * (1.0 + 1e-4);
static const double EVERYWHERE = 1.25, SEEN_SLACK = 1.25;    // of slopes; see slope_of_children

typedef struct sample_args {
    ty_octree* t;
    const ty_sampler* phi;
    const ty_lattice_set* set;
    double* value;
    double scale, offset;    // lattice point = scale * x + offset
} sample_args;

// Asks phi where the value is not a number yet.
static void sample_block(void* ctx, ty_range r)
{
    const sample_args* k = ctx;
    int n = (int)(r.end - r.begin), todo[TY_SAMPLE_BATCH], n_todo = 0;
    int x[TY_SAMPLE_BATCH][3];
    double point[TY_SAMPLE_BATCH][3], f[TY_SAMPLE_BATCH];
    ty_lattice_set_points(k->set, (int)r.begin, (int)r.end, x);
    for (int i = 0; i < n; ++i) {
        if (!isnan(k->value[r.begin + i])) continue;
        ty_vec3 at = k->scale * ty_vec(x[i][0], x[i][1], x[i][2]) +
                     ty_vec(k->offset, k->offset, k->offset);
        ty_store3(point[n_todo], ty_octree_point(k->t, at));
        todo[n_todo++] = i;
    }
    if (!n_todo) return;
    __atomic_fetch_add(&k->t->n_samples, n_todo, __ATOMIC_RELAXED);
    ty_sample(k->phi, n_todo, point, f);
    for (int i = 0; i < n_todo; ++i) k->value[r.begin + todo[i]] = isnan(f[i]) ? k->t->cell : f[i];
}

static void sample_set(ty_octree* t, const ty_sampler* phi, const ty_lattice_set* set,
                       double* value, double scale, double offset)
{
    sample_args k = {t, phi, set, value, scale, offset};
    ty_parallel_for(set->n, TY_SAMPLE_BATCH, sample_block, &k);
}

// Beside the surface, and at corners, nobody asks how far it is when it is farther than a cell.
static const ty_sampler* rough_or(const ty_octree_def* def, const ty_sampler* phi)
{
    return def->roughly ? def->roughly : phi;
}

static void sample_centres(ty_octree* t, const ty_sampler* phi, int l)
{
    double width = (double)(1 << l);
    sample_set(t, phi, &t->level[l].octants, t->level[l].value.at, width, 0.5 * width);
}

typedef struct carry_args {
    const ty_lattice_set *from, *to;
    const double* old;
    double* value;
} carry_args;

static void carry_block(void* ctx, ty_range r)
{
    const carry_args* k = ctx;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int x[TY_SAMPLE_BATCH][3];
    ty_lattice_set_points(k->to, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* p = x[i - r.begin];
        int id = ty_lattice_id(k->from, &c, p[0], p[1], p[2]);
        k->value[i] = id >= 0 ? k->old[id] : NAN;
    }
}

// value = old values where the point was there before, NAN elsewhere.
static void carry(const ty_lattice_set* from, const double* old, const ty_lattice_set* to,
                  double* value)
{
    for (int i = 0; from->n == 0 && i < to->n; ++i) value[i] = NAN;
    if (from->n == 0) return;
    carry_args k = {from, to, old, value};
    ty_parallel_for(to->n, TY_SAMPLE_BATCH, carry_block, &k);
}

// Every bit of a byte as a byte of ones or zeros.
static uint64_t bytes_of_bits(uint64_t eight)
{
    uint64_t spread = (eight * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201);
    spread = ((spread + UINT64_C(0x7f7f7f7f7f7f7f7f)) | spread) & UINT64_C(0x8080808080808080);
    return (spread >> 7) * 255;
}

// A word of a brick (4 x 4 x 4 octants) has its children in one brick: a bit becomes a byte.
static bool insert_children(ty_lattice_set* children, const ty_lattice_brick* parent)
{
    for (int w = 0; w < 8; ++w) {
        if (!parent->bits[w]) continue;
        int b[3];
        uint64_t bits[8];
        for (int axis = 0; axis < 3; ++axis)
            b[axis] = 2 * (ty_morton_gather(parent->key >> axis) - TY_LATTICE_BIAS) +
                      (w >> axis & 1);
        for (int j = 0; j < 8; ++j) bits[j] = bytes_of_bits(parent->bits[w] >> 8 * j & 255);
        if (!ty_lattice_set_insert_brick(children, ty_lattice_key(b[0], b[1], b[2]), bits))
            return false;
    }
    return true;
}

// octants[l] from split[l + 1]; values of octants that were there stay.
static ty_status remake_level(ty_octree* t, int l)
{
    ty_octree_level* level = &t->level[l];
    TY_SWAP(level->octants, level->before);
    TY_SWAP(level->value, level->value_before);
    ty_lattice_set_clear(&level->octants);
    const ty_lattice_set* split = &t->level[l + 1].split;
    for (int64_t b = 0; b < split->brick.n; ++b)
        if (!insert_children(&level->octants, &split->brick.at[b])) return ty_no_memory("octants");
    TY_TRY(ty_lattice_set_finish(&level->octants));
    if (!ty_array_resize(&level->value, level->octants.n)) return ty_no_memory("octants");
    carry(&level->before, level->value_before.at, &level->octants, level->value.at);
    return ty_ok();
}

static bool add_bricks(ty_lattice_set* to, const ty_lattice_set* from)
{
    for (int64_t b = 0; b < from->brick.n; ++b)
        if (!ty_lattice_set_insert_brick(to, from->brick.at[b].key, from->brick.at[b].bits))
            return false;
    return true;
}

// Coarsest octants that are wanted, or that the coarsest split ones need, are added to those there
// are.
static ty_status remake_roots(ty_octree* t)
{
    ty_octree_level* top = &t->level[t->n_levels - 1];
    TY_TRY(ty_lattice_set_copy(&top->before, &top->octants));
    TY_SWAP(top->value, top->value_before);
    if (!add_bricks(&top->octants, &top->split) || !add_bricks(&top->octants, &t->roots))
        return ty_no_memory("octants");
    TY_TRY(ty_lattice_set_finish(&top->octants));
    if (!ty_array_resize(&top->value, top->octants.n)) return ty_no_memory("octants");
    carry(&top->before, top->value_before.at, &top->octants, top->value.at);
    return ty_ok();
}

// What is split at level l must exist, and so must its face and edge neighbours: their parents are
// split.
static ty_status close_level(ty_octree* t, int l)
{
    const ty_lattice_set* split = &t->level[l].split;
    ty_lattice_set* above = &t->level[l + 1].split;
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    int x[TY_SAMPLE_BATCH][3];
    for (int begin = 0; begin < split->n; begin += TY_SAMPLE_BATCH) {
        int end = begin + TY_SAMPLE_BATCH < split->n ? begin + TY_SAMPLE_BATCH : split->n;
        ty_lattice_set_points(split, begin, end, x);
        for (int i = 0; i < end - begin; ++i)
            for (int d = 0; d < 7; ++d) {    // its own parent, and those it is next to
                int p[3];
                for (int axis = 0; axis < 3; ++axis)
                    p[axis] = (x[i][axis] + (d >> axis & 1 ? (x[i][axis] & 1 ? 1 : -1) : 0)) >> 1;
                if (!ty_lattice_put(above, &cursor, p[0], p[1], p[2]))
                    return ty_no_memory("octants");
            }
    }
    return ty_ok();
}

static ty_status number_octants(ty_octree* t)
{
    int64_t count = 0;
    for (int l = 0; l < t->n_levels; ++l) {
        t->level[l].first = (int)count;
        count += t->level[l].octants.n;
    }
    if (count > INT32_MAX / 8)
        return ty_fail(TY_BAD_INPUT, "more than 2^28 octants: take a larger cell");
    t->n_octants = (int)count;
    return ty_ok();
}

// Balances what is split and makes all octants anew.
static ty_status remake(ty_octree* t)
{
    for (int l = 1; l < t->n_levels; ++l) {
        TY_TRY(ty_lattice_set_finish(&t->level[l].split));
        if (l + 1 < t->n_levels) TY_TRY(close_level(t, l));
    }
    TY_TRY(remake_roots(t));
    // What is split only grows: as many are the same.
    for (int l = t->n_levels - 2; l >= 0; --l)
        if (t->level[l].octants.n != 8 * t->level[l + 1].split.n) TY_TRY(remake_level(t, l));
    return number_octants(t);
}

static ty_status remake_corners(ty_octree* t)
{
    TY_SWAP(t->corners, t->corners_before);
    TY_SWAP(t->corner_value, t->corner_value_before);
    ty_lattice_set_clear(&t->corners);
    if (!ty_octree_insert_corners(t)) return ty_no_memory("octree corners");
    TY_TRY(ty_lattice_set_finish(&t->corners));
    if (!ty_array_resize(&t->corner_value, t->corners.n)) return ty_no_memory("octree corners");
    carry(&t->corners_before, t->corner_value_before.at, &t->corners, t->corner_value.at);
    return ty_ok();
}

typedef struct centre_args {
    ty_octree* t;
    int level;
} centre_args;

static void centre_block(void* ctx, ty_range r)
{
    const centre_args* k = ctx;
    ty_octree* t = k->t;
    const ty_octree_level* level = &t->level[k->level];
    int half = 1 << (k->level - 1), x[TY_SAMPLE_BATCH][3];
    ty_lattice_cursor octants = ty_lattice_cursor_start(), corners = octants;
    ty_lattice_set_points(&level->split, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* o = x[i - r.begin];
        int octant = ty_lattice_id(&level->octants, &octants, o[0], o[1], o[2]);
        int corner = ty_lattice_id(&t->corners, &corners, (2 * o[0] + 1) * half,
                                   (2 * o[1] + 1) * half, (2 * o[2] + 1) * half);
        if (isnan(t->corner_value.at[corner]) && isfinite(level->value.at[octant]))
            t->corner_value.at[corner] = level->value.at[octant];
    }
}

// The centre of a split octant is a corner of its children.
static void centres_to_corners(ty_octree* t)
{
    for (int l = 1; l < t->n_levels; ++l) {
        centre_args k = {t, l};
        ty_parallel_for(t->level[l].split.n, TY_SAMPLE_BATCH, centre_block, &k);
    }
}

static ty_status check_def(const ty_octree_def* def)
{
    if (!(def->cell > 0.0) || !isfinite(def->cell))
        return ty_fail(TY_BAD_INPUT, "the cell must be positive, not %g", def->cell);
    if (def->levels < 2 || def->levels > TY_OCTREE_MAX_LEVELS)
        return ty_fail(TY_BAD_INPUT, "an octree has 2 to %d levels, not %d",
                       (int)TY_OCTREE_MAX_LEVELS, def->levels);
    for (int axis = 0; axis < 3; ++axis) {
        double lo = (def->box.lo[axis] - def->origin[axis]) / def->cell;
        double hi = (def->box.hi[axis] - def->origin[axis]) / def->cell;
        if (!(lo >= -(1 << 20)) || !(hi <= 1 << 20))
            return ty_fail(TY_BAD_INPUT,
                           "the surface spans %g m in axis %d, more than 2^20 cells of %g m",
                           def->box.hi[axis] - def->box.lo[axis], axis, def->cell);
    }
    return ty_ok();
}

static ty_status seed_roots(ty_octree* t, const ty_octree_def* def)
{
    ty_octree_level* top = &t->level[t->n_levels - 1];
    int lo[3], hi[3], size = 1 << (t->n_levels - 1), most = 0;
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = (int)floor((def->box.lo[axis] - def->origin[axis]) / (def->cell * size));
        hi[axis] = (int)floor((def->box.hi[axis] - def->origin[axis]) / (def->cell * size));
        most = hi[axis] - lo[axis] > most ? hi[axis] - lo[axis] : most;
    }
    for (int axis = 0; axis < 3; ++axis) {
        t->lo[axis] = (lo[axis] - most - GROWTH) * size;
        t->hi[axis] = (hi[axis] + most + GROWTH) * size;
    }
    for (int z = lo[2]; z <= hi[2]; ++z)
        for (int y = lo[1]; y <= hi[1]; ++y)
            for (int x = lo[0]; x <= hi[0]; ++x)
                if (!ty_lattice_set_insert(&top->octants, x, y, z)) return ty_no_memory("octants");
    return ty_lattice_set_finish(&top->octants);
}

static bool may_hold_surface(const ty_octree_def* def, double f, double width, double slope)
{
    double reach = REACH * width * slope;
    return def->uniform ? f <= reach : fabs(f) <= reach;
}

// How steep phi may be around the children of an octant, by the values f at their centres: a quarter
// more than these show, and no less than EVERYWHERE. (With half as much again a splash of 0.27 million
// triangles has 1.4 times the octants and takes 2 % longer a step, with twice as much one of 1.1 million
// 13 % to track.) def->lipschitz is that of the steepest place, and would
// make the whole tree as wide as it has to be there (a splash of 0.3 million triangles: 3.4 million
// octants).
static double slope_of_children(const ty_octree_def* def, const double* f, double width)
{
    double sum = 0.0;
    if (def->lipschitz <= EVERYWHERE) return def->lipschitz;
    for (int axis = 0; axis < 3; ++axis) {
        double most = 0.0;
        for (int c = 0; c < 8; ++c) most = ty_max(fabs(f[c] - f[c ^ 1 << axis]), most);
        sum += most * most;
    }
    double seen = SEEN_SLACK * sqrt(sum) / width;
    return seen < def->lipschitz ? ty_max(seen, EVERYWHERE) : def->lipschitz;    // also of NaN
}

// Splits the octants of level l that may hold the surface by the value at their centre.
static ty_status split_level(ty_octree* t, const ty_octree_def* def, int l)
{
    ty_octree_level* level = &t->level[l];
    int x[TY_SAMPLE_BATCH][3];
    double width = def->cell * (1 << l);
    for (int begin = 0; begin < level->octants.n; begin += TY_SAMPLE_BATCH) {
        int end = begin + TY_SAMPLE_BATCH < level->octants.n ? begin + TY_SAMPLE_BATCH
                                                             : level->octants.n;
        ty_lattice_set_points(&level->octants, begin, end, x);
        double slope = def->lipschitz;
        for (int i = 0; i < end - begin; ++i) {
            const double* f = level->value.at + begin + i;
            if (l + 1 < t->n_levels && i % 8 == 0) slope = slope_of_children(def, f, width);
            if (may_hold_surface(def, *f, width, slope) &&
                !ty_lattice_set_insert(&level->split, x[i][0], x[i][1], x[i][2]))
                return ty_no_memory("octants");
        }
    }
    return ty_lattice_set_finish(&level->split);
}

static ty_status refine_by_distance(ty_octree* t, const ty_sampler* phi, const ty_octree_def* def)
{
    ty_octree_level* top = &t->level[t->n_levels - 1];
    if (!ty_array_resize(&top->value, top->octants.n)) return ty_no_memory("octants");
    for (int i = 0; i < top->octants.n; ++i) top->value.at[i] = NAN;
    for (int l = t->n_levels - 1; l > 0; --l) {
        sample_centres(t, phi, l);
        TY_TRY(split_level(t, def, l));
        TY_TRY(remake_level(t, l - 1));
    }
    return ty_ok();
}

static void clear(ty_octree* t, const ty_octree_def* def)
{
    t->cell = def->cell;
    memcpy(t->origin, def->origin, sizeof t->origin);
    t->n_levels = def->levels;
    t->n_samples = 0;
    t->n_rounds = 0;
    for (int l = 0; l < TY_OCTREE_MAX_LEVELS; ++l) {
        ty_lattice_set_clear(&t->level[l].octants);
        ty_lattice_set_clear(&t->level[l].split);
        t->level[l].value.n = 0;
    }
    ty_lattice_set_clear(&t->roots);
    ty_lattice_set_clear(&t->corners);
    t->corner_value.n = 0;
}

typedef struct inherit_args {
    ty_octree* t;
    const ty_octree_def* def;
    int level;
} inherit_args;

static void inherit_block(void* ctx, ty_range r)
{
    const inherit_args* k = ctx;
    const ty_octree_level *level = &k->t->level[k->level], *above = level + 1;
    double width = k->def->cell * (1 << (k->level + 1));
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int64_t i = r.begin; i < r.end; i += 8) {    // children of one
        if (!isnan(level->value.at[i])) continue;
        const int* x = ty_lattice_walk_to(&level->octants, &walk, (int)i);
        double f = above->value.at[ty_lattice_id(&above->octants, &cursor, x[0] >> 1, x[1] >> 1,
                                                 x[2] >> 1)];
        for (int c = 0; c < 8 && !may_hold_surface(k->def, f, width, k->def->lipschitz); ++c)
            level->value.at[i + c] = copysign(INFINITY, f);
    }
}

// Centres of octants that balance alone asked for: what is in an octant without surface has its sign.
static void inherit_centres(ty_octree* t, const ty_octree_def* def, int l)
{
    inherit_args k = {t, def, l};
    ty_parallel_for(t->level[l].octants.n, TY_SAMPLE_BATCH, inherit_block, &k);
}

// Corners, values everywhere the rules look, ids.
static ty_status complete(ty_octree* t, const ty_sampler* phi, const ty_octree_def* def)
{
    bool contour = def->rule == TY_OCTREE_CONTOUR;
    for (int l = t->n_levels - 1; l >= (contour ? 1 : 0); --l) {
        if (contour && !def->uniform && l + 1 < t->n_levels) inherit_centres(t, def, l);
        sample_centres(t, l ? phi : rough_or(def, phi), l);
    }
    TY_TRY(remake_corners(t));
    centres_to_corners(t);
    sample_set(t, rough_or(def, phi), &t->corners, t->corner_value.at, 1.0, 0.0);
    return ty_octree_find_corners(t);
}

ty_status ty_octree_build(ty_octree* t, const ty_sampler* phi, const ty_octree_def* def)
{
    assert(phi->width == 1);
    TY_TRY(check_def(def));
    clear(t, def);
    TY_TRY(seed_roots(t, def));
    TY_TRY(refine_by_distance(t, phi, def));
    for (bool more = true; more; ++t->n_rounds) {
        TY_TRY(remake(t));
        TY_TRY(complete(t, phi, def));
        TY_TRY(ty_octree_apply_rules(t, def->rule, &more));
    }
    return ty_ok();
}
