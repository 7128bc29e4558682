// SPDX-License-Identifier: Apache-2.0
// The liquid inside solids and outside the domain: phi continued by linear functions, fitted by
// weighted least squares to open cells around the nearest point of the wall (notes on isosurface
// stuffing, section 8). A mirrored surface (contact angle 90 degrees) disturbs tilted water; this
// one leaves any plane alone.
//
// Departs: weights are found anew for the few ghosts near the surface instead of being kept for
// all, which would take 400 bytes for every cell of the walls; only those behind the domain's
// sides, where a few patterns repeat, are kept. A continued value differs from its open cell's by
// at most their distance.
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/fit.h"

enum { BLOCK = 256, SAMPLE_BLOCK = TY_SAMPLE_BATCH, MARCH_STEPS = 32 };
enum { FILL_RADII = 2, FILL_PASSES = 8 };    // doubtful cells of a region look less far, and
static const double FILL_WEIGHTS = 6.0;      // are hardly extrapolated to
static const double FLAT = 0.1,
                    BENT = 0.2;    // cells of misfit: from linear continuation to a constant one,
                                   // as a sheet of a cell or two is no plane and
                                   // would end at the wall
static const double FIT_DEPTH = 3.6;    // cells below the wall; deeper ghosts copy their open cell
// Cells: ghosts of open cells this near a surface are fitted
static const double FIT_REACH = 4.0;
static const double FAR = 6.0;         // cells: where no surface of the liquid is near
static const double ON_SOLID = 0.1;    // cells: a region's surface this close to a solid lies on it
static const double SAMPLE_REACH = 4.0;    // cells: values beyond are far from any surface
static const double CLOSED_REACH = 8.0;    // cells: the same in solids, where surfaces are not seen
static const double KINK_SLOPE = 0.95;     // a distance with less has more than one nearest point
static const double PROBE = 0.25;          // cells: step of the differences of a region
enum { WALK_STEPS = 24 };
static const double WALK_STEP = 0.5;    // cells: along a region's surface, out of a solid
// Cosine between the ways out of the liquid and of the solid: not a wall
static const double FACES_OUT = 0.3;
static const double ON_WALL = 0.98;       // minus the same cosine: the surface lies on a wall
static const double LEAST_SLANT = 0.2;    // sine between them: less does not lead out

static bool outside_domain(const ty_levelset* ls, const double x[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (x[axis] < ls->lo[axis] || x[axis] > ls->hi[axis]) return true;
    return false;
}

static void sample_solid(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    ty_sampler obstacles = ty_world_obstacles(ls->world);
    int n = (int)(r.end - r.begin);
    double x[SAMPLE_BLOCK][3];
    for (int i = 0; i < n; ++i) {
        int ijk[3];
        ty_grid_coords(&ls->grid, r.begin + i, ijk);
        ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x[i]);
    }
    ty_sample(&obstacles, n, (const double(*)[3])x, ls->solid + r.begin);
}

static void mark_closed(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    for (int64_t c = r.begin; c < r.end; ++c) {
        int ijk[3];
        double x[3];
        ty_grid_coords(&ls->grid, c, ijk);
        ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], x);
        ls->closed[c] = outside_domain(ls, x) || (ls->solid && ls->solid[c] < 0.0);
    }
}

// Out of the obstacles along their distance's gradient.
bool ty_levelset_push_out(const ty_levelset* ls, double x[3])
{
    for (int axis = 0; axis < 3; ++axis) x[axis] = ty_clamp(x[axis], ls->lo[axis], ls->hi[axis]);
    if (!ls->solid) return true;
    for (int step = 0; step < 4; ++step) {
        double d, slope[1][3];
        ty_grid_linear(&ls->grid, ls->solid, 1, (const double(*)[3])x, &d);
        if (d >= -1e-6 * ls->grid.cell) return true;
        ty_grid_gradient(&ls->grid, ls->solid, 1, (const double(*)[3])x, slope);
        ty_vec3 n = ty_normalize(ty_load3(slope[0]));
        ty_store3(x, ty_load3(x) - d * n);
        for (int axis = 0; axis < 3; ++axis)
            x[axis] = ty_clamp(x[axis], ls->lo[axis], ls->hi[axis]);
    }
    return false;
}

static int cell_at(const ty_grid* g, const double x[3])
{
    int ijk[3];
    for (int axis = 0; axis < 3; ++axis) {
        int i = (int)floor((x[axis] - g->origin[axis]) / g->cell);
        ijk[axis] = i < 0 ? 0 : i >= g->n[axis] ? g->n[axis] - 1 : i;
    }
    return (int)ty_grid_index(g, ijk[0], ijk[1], ijk[2]);
}

// The first open cell on the way out of the solid, -1 when there is none.
static int find_source(const ty_levelset* ls, int cell)
{
    const ty_grid* g = &ls->grid;
    int ijk[3];
    double x[3];
    ty_grid_coords(g, cell, ijk);
    ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x);
    double inset = 0.25 * g->cell;    // the cell of a point on the domain's side is the one inside
    for (int step = 0; step < MARCH_STEPS; ++step) {
        for (int axis = 0; axis < 3; ++axis)
            x[axis] = ty_clamp(x[axis], ls->lo[axis] + inset, ls->hi[axis] - inset);
        int at = cell_at(g, x);
        if (!ls->closed[at]) return at;
        if (!ls->solid) inset += 0.5 * g->cell;    // the last cell may have its centre outside
        else {
            double d, slope[1][3];
            ty_grid_linear(g, ls->solid, 1, (const double(*)[3])x, &d);
            ty_grid_gradient(g, ls->solid, 1, (const double(*)[3])x, slope);
            ty_store3(x,
                      ty_load3(x) + ty_max(-d, 0.5 * g->cell) * ty_normalize(ty_load3(slope[0])));
            if (step % 4 == 3) inset += 0.5 * g->cell;
        }
    }
    return -1;
}

static void find_sources(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_ghost* ghost = &ls->ghost.at[i];
        int a[3], b[3];
        ghost->source = find_source(ls, ghost->cell);
        ty_grid_coords(&ls->grid, ghost->cell, a);
        ty_grid_coords(&ls->grid, ghost->source < 0 ? ghost->cell : ghost->source, b);
        ghost->apart = ty_norm(ty_vec(a[0] - b[0], a[1] - b[1], a[2] - b[2])) * ls->grid.cell;
    }
}

static ty_vec3 lattice_place(const ty_grid* g, const double x[3])
{
    return (ty_load3(x) - ty_load3(g->origin)) / g->cell - ty_vec(0.5, 0.5, 0.5);
}

// Where a ghost and the nearest point of the wall are, lattice places. False when that is too deep
// or not found.
static bool wall_place(const ty_levelset* ls, int cell, ty_vec3* place, ty_vec3* wall)
{
    int at[3];
    double x[3];
    ty_grid_coords(&ls->grid, cell, at);
    ty_grid_cell_center(&ls->grid, at[0], at[1], at[2], x);
    if (!ty_levelset_push_out(ls, x)) return false;
    *place = ty_vec(at[0], at[1], at[2]);
    *wall = lattice_place(&ls->grid, x);
    return !(ty_norm(*wall - *place) > FIT_DEPTH);
}

static int by_source(const void* a, const void* b)
{
    const ty_ghost *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

// Obstacles make every ghost different, and moving ones every step. Behind a side of the domain those
// of one open cell come one after another: three of them, one behind the other, share a fit.
static ty_status find_patterns(ty_levelset* ls)
{
    ls->pattern.n = 0;
    if (!ls->has_obstacles && ls->ghost.n)
        qsort(ls->ghost.at, (size_t)ls->ghost.n, sizeof *ls->ghost.at, by_source);
    for (int64_t i = 0; i < ls->ghost.n; ++i) {
        ty_ghost *ghost = &ls->ghost.at[i], *last = i ? ghost - 1 : NULL;
        ty_vec3 place, wall;
        ghost->pattern = -1;
        ghost->as_last = false;
        if (ls->has_obstacles || ghost->source < 0 || !wall_place(ls, ghost->cell, &place, &wall))
            continue;
        TY_TRY(ty_fit_find_pattern(ls, ghost->cell, place, wall, &ghost->pattern));
        ghost->as_last = last && last->source == ghost->source &&
                         ty_fit_same(ls, last->cell, last->pattern, ghost->cell, ghost->pattern);
    }
    return ty_ok();
}

ty_status ty_levelset_ghosts(ty_levelset* ls)
{
    int64_t size = ty_grid_size(&ls->grid);
    ty_parallel_for(size, 16 * BLOCK, mark_closed, ls);
    ls->ghost.n = 0;
    for (int64_t c = 0; c < size; ++c)
        if (ls->closed[c] && !ty_array_push(&ls->ghost, ((ty_ghost){.cell = (int)c})))
            return ty_no_memory("cells inside solids");
    ty_parallel_for(ls->ghost.n, BLOCK, find_sources, ls);
    return find_patterns(ls);
}

ty_status ty_levelset_solids(ty_levelset* ls, const ty_world* world)
{
    ls->world = world;
    if (ls->solid) ty_parallel_for(ty_grid_size(&ls->grid), SAMPLE_BLOCK, sample_solid, ls);
    return ty_levelset_ghosts(ls);
}

typedef struct continuation {
    ty_levelset* ls;
    double* phi;
} continuation;

// The function that a ghost's open cells told last, if they did.
typedef struct told {
    bool known;
    double c[4], misfit;
} told;

// The continued value of a ghost beside its open cell. False when the open cells do not tell it.
static bool fit_ghost(const continuation* c, const ty_ghost* ghost, double source, bool as_last,
                      told* fit, double* value)
{
    const ty_levelset* ls = c->ls;
    double h = ls->grid.cell;
    ty_vec3 place, wall;
    if (fabs(source) > FIT_REACH * h) return false;
    if (!as_last)
        fit->known = ghost->pattern >= 0 &&
                     ty_fit_apply(ls, ghost->pattern, ghost->cell, c->phi, fit->c, &fit->misfit);
    double misfit = fit->misfit;
    if (fit->known) *value = ty_fit_value(ls, ghost->pattern, fit->c);
    else {
        if (!wall_place(ls, ghost->cell, &place, &wall)) return false;
        if (!ty_fit_extend(ls, ls->closed, c->phi, place, wall, TY_FIT_RADII, TY_FIT_WEIGHTS, value,
                           &misfit))
            return false;
    }
    double bent = ty_clamp((misfit / h - FLAT) / (BENT - FLAT), 0.0, 1.0);
    *value += bent * (source - *value);
    return true;
}

static void continue_ghosts(void* ctx, ty_range r)
{
    continuation* c = ctx;
    const ty_levelset* ls = c->ls;
    told fit = {.known = false};
    for (int64_t i = r.begin; i < r.end; ++i) {
        const ty_ghost* ghost = &ls->ghost.at[i];
        bool as_last = ghost->as_last && i > r.begin;
        double *phi = &c->phi[ghost->cell], value;
        if (ghost->source < 0) {
            if (isnan(*phi)) *phi = ls->band;
            continue;
        }
        double source = c->phi[ghost->source], apart = ghost->apart;
        if (!fit_ghost(c, ghost, source, as_last, &fit, &value))
            value = isnan(*phi) ? source : *phi;
        *phi = ty_clamp(ty_clamp(value, source - apart, source + apart), -ls->band, ls->band);
    }
}

void ty_levelset_continue(ty_levelset* ls, double* phi)
{
    continuation c = {ls, phi};
    ty_parallel_for(ls->ghost.n, BLOCK, continue_ghosts, &c);
}

typedef struct sampling {
    ty_levelset* ls;
    const ty_sampler* region;
    double* out;
    // No value: 1 far from the region's surface, which may be a solid's; that next to it lies on a
    // solid, 2 open, 3 closed
    unsigned char* doubtful;
} sampling;

// Distance to the domain's sides or an obstacle, whichever is nearer.
static double wall_distance(const ty_levelset* ls, const double x[3], int64_t cell)
{
    double d = ls->solid ? ls->solid[cell] : INFINITY;
    for (int axis = 0; axis < 3; ++axis)
        d = ty_min(d, ty_min(x[axis] - ls->lo[axis], ls->hi[axis] - x[axis]));
    return d;
}

enum { SOLIDS = 1 + TY_N_SIDES };

// Every solid's distance at x and the direction out of it: the obstacles' together, and the
// domain's sides'.
static void solids_at(const ty_levelset* ls, const double x[3], double d[SOLIDS],
                      ty_vec3 out[SOLIDS])
{
    double slope[1][3];
    d[0] = INFINITY;
    out[0] = ty_vec(0, 0, 0);
    if (ls->solid) {
        ty_grid_linear(&ls->grid, ls->solid, 1, (const double(*)[3])x, &d[0]);
        ty_grid_gradient(&ls->grid, ls->solid, 1, (const double(*)[3])x, slope);
        out[0] = ty_normalize(ty_load3(slope[0]));
    }
    for (int side = 0; side < TY_N_SIDES; ++side) {
        int axis = side / 2, high = side % 2;
        double normal[3] = {0};
        normal[axis] = high ? -1.0 : 1.0;
        d[1 + side] = high ? ls->hi[axis] - x[axis] : x[axis] - ls->lo[axis];
        out[1 + side] = ty_load3(normal);
    }
}

// The deepest solid at x. *against: the least cosine between the ways out of the liquid and of a
// solid that x is on or in.
static void deepest_solid(const ty_levelset* ls, const double x[3], ty_vec3 normal, double* d,
                          ty_vec3* out, double* against)
{
    double distance[SOLIDS];
    ty_vec3 way[SOLIDS];
    int deepest = 0;
    solids_at(ls, x, distance, way);
    *against = 1.0;
    for (int i = 0; i < SOLIDS; ++i) {
        if (distance[i] < distance[deepest]) deepest = i;
        if (distance[i] < ON_SOLID * ls->grid.cell)
            *against = ty_min(*against, ty_dot(way[i], normal));
    }
    *d = distance[deepest];
    *out = way[deepest];
}

// A region's value at x, and its unit normal there. False where more than one point of its surface
// is nearest.
static bool region_normal(const ty_sampler* region, const double x[3], double step, ty_vec3* normal)
{
    double probe[6][3], v[6], slope[3];
    for (int i = 0; i < 6; ++i) {
        memcpy(probe[i], x, sizeof probe[i]);
        probe[i][i / 2] += i & 1 ? step : -step;
    }
    ty_sample(region, 6, (const double(*)[3])probe, v);
    for (int axis = 0; axis < 3; ++axis) slope[axis] = v[2 * axis + 1] - v[2 * axis];
    *normal = ty_normalize(ty_load3(slope));
    return ty_norm(ty_load3(slope)) >= KINK_SLOPE * 2.0 * step;
}

// Whether the region's surface at `at`, inside a solid, comes out of it: it does where it faces the
// way out, and where one arrives in the open on the surface itself.
static bool surface_comes_out(const ty_levelset* ls, const ty_sampler* region, ty_vec3 at,
                              ty_vec3 normal)
{
    double h = ls->grid.cell, x[1][3], value, d, against;
    for (int step = 0; step < WALK_STEPS; ++step) {
        ty_vec3 out;
        ty_store3(x[0], at);
        deepest_solid(ls, x[0], normal, &d, &out, &against);
        ty_sample(region, 1, (const double(*)[3])x, &value);
        if (fabs(value) > ON_SOLID * h) return false;
        if (d > ON_SOLID * h || (step == 0 && against > FACES_OUT)) return true;
        ty_vec3 along = out - ty_dot(out, normal) * normal;
        if (against < -ON_WALL || ty_norm(along) < LEAST_SLANT) return false;
        at = at + WALK_STEP * h * ty_normalize(along);
    }
    return false;
}

// Whether the point of the region's surface that is nearest to x is no surface of liquid, but lies
// on or in a solid without coming out of it.
static bool surface_on_solid(const ty_levelset* ls, const ty_sampler* region, const double x[3],
                             double value)
{
    ty_vec3 normal;
    if (!region_normal(region, x, PROBE * ls->grid.cell, &normal))
        return true;    // between two walls
    return !surface_comes_out(ls, region, ty_load3(x) - value * normal, normal);
}

static void sample_region(void* ctx, ty_range r)
{
    sampling* s = ctx;
    const ty_grid* g = &s->ls->grid;
    int n = (int)(r.end - r.begin);
    double x[SAMPLE_BLOCK][3];
    double* out = s->out + r.begin;
    for (int i = 0; i < n; ++i) {
        int ijk[3];
        ty_grid_coords(g, r.begin + i, ijk);
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x[i]);
    }
    ty_sample(s->region, n, (const double(*)[3])x, out);
    for (int i = 0; i < n; ++i) {
        int64_t cell = r.begin + i;
        bool closed = s->ls->closed[cell];
        s->doubtful[cell] = closed ||
                            !(fabs(out[i]) < wall_distance(s->ls, x[i], cell) - ON_SOLID * g->cell);
        if (!s->doubtful[cell]) continue;
        if (!(fabs(out[i]) < (closed ? CLOSED_REACH : SAMPLE_REACH) * g->cell)) continue;
        if (!surface_on_solid(s->ls, s->region, x[i], out[i])) s->doubtful[cell] = 0;
        else s->doubtful[cell] = closed ? 3 : 2;
    }
}

static void try_doubtful(void* ctx, ty_range r)
{
    sampling* s = ctx;
    const ty_levelset* ls = s->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i], ijk[3];
        double* value = &ls->velocity.at[i];
        double misfit;
        *value = NAN;
        if (!s->doubtful[cell]) continue;
        ty_grid_coords(&ls->grid, cell, ijk);
        ty_vec3 place = ty_vec(ijk[0], ijk[1], ijk[2]);
        if (!ty_fit_extend(ls, s->doubtful, s->out, place, place, FILL_RADII, FILL_WEIGHTS, value,
                           &misfit))
            *value = NAN;
    }
}

// Values found become certain. What the solid has no part in is never nearer than the whole, which
// keeps the sign.
static bool accept_found(sampling* s)
{
    const ty_levelset* ls = s->ls;
    bool any = false;
    for (int64_t i = 0; i < ls->active.n; ++i) {
        double* out = &s->out[ls->active.at[i]];
        double value = ls->velocity.at[i];
        if (isnan(value)) continue;
        bool closed = ls->closed[ls->active.at[i]];
        *out = closed ? value : *out < 0.0 ? ty_min(value, *out) : ty_max(value, *out);
        s->doubtful[ls->active.at[i]] = 0;
        any = true;
    }
    return any;
}

// Doubtful cells are fitted to certain ones around them, layer by layer; where that leads nowhere,
// no surface of the liquid is near.
static ty_status fill_doubtful(sampling* s)
{
    ty_levelset* ls = s->ls;
    int64_t size = ty_grid_size(&ls->grid);
    double far = FAR * ls->grid.cell;
    ls->active.n = 0;
    for (int64_t c = 0; c < size; ++c)
        if (s->doubtful[c] >= 2 && !ty_array_push(&ls->active, (int)c))
            return ty_no_memory("cells beside walls");
    if (!ty_array_resize(&ls->velocity, ls->active.n)) return ty_no_memory("cells beside walls");
    for (int pass = 0; pass < FILL_PASSES; ++pass) {
        ty_parallel_for(ls->active.n, BLOCK, try_doubtful, s);
        if (!accept_found(s)) break;
    }
    for (int64_t i = 0; i < ls->active.n; ++i) {
        double* out = &s->out[ls->active.at[i]];
        if (s->doubtful[ls->active.at[i]] == 2)
            *out = *out < 0.0 ? -far : far;    // closed ones: see ty_levelset_sample
    }
    return ty_ok();
}

ty_status ty_levelset_sample(ty_levelset* ls, const ty_sampler* region, double* out)
{
    sampling s = {.ls = ls, .region = region, .out = out, .doubtful = ls->doubtful};
    ty_parallel_for(ty_grid_size(&ls->grid), SAMPLE_BLOCK, sample_region, &s);
    TY_TRY(fill_doubtful(&s));
    for (int64_t i = 0; i < ls->ghost.n; ++i)
        if (ls->doubtful[ls->ghost.at[i].cell]) out[ls->ghost.at[i].cell] = NAN;
    return ty_ok();
}
