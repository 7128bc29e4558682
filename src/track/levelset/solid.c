// SPDX-License-Identifier: Apache-2.0
// The liquid inside solids and outside the domain: phi continued by linear functions, fitted by weighted least squares
// to open cells around the nearest point of the wall (notes on isosurface stuffing, section 8). A mirrored
// surface (contact angle 90 degrees) disturbs tilted water; this one leaves any plane alone.
//
// Departs: weights are found anew for the few ghosts near the surface instead of being kept for all, which would take
// 400 bytes for every cell of the walls. A continued value differs from its open cell's by at most their distance.
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/levelset.h"

enum { BLOCK = 256, SAMPLE_BLOCK = TY_SAMPLE_BATCH, MARCH_STEPS = 32, MIN_FIT = 8, MAX_FIT = 512, N_RADII = 3, MAX_RULER = 8 };
static const double RADII[N_RADII] = {1.6, 2.4, 3.2};    // cells around the wall point, widened while too few are open
static const double MAX_WEIGHTS = 25.0;           // sum of absolute weights: more would amplify noise
enum { FILL_RADII = 2, FILL_PASSES = 8 };                          // doubtful cells of a region look less far, and
static const double FILL_WEIGHTS = 6.0;           // are hardly extrapolated to
static const double SAME_SIDE = -0.6;             // cells: open cells further behind the wall point are not used
static const double FLAT = 0.1, BENT = 0.2;       // cells of misfit: from linear continuation to a constant one,
                                                  // as a sheet of a cell or two is no plane and would end at the wall
static const double FIT_DEPTH = 3.6;              // cells below the wall; deeper ghosts copy their open cell
static const double FIT_REACH = 4.0;              // cells: ghosts of open cells this near a surface are fitted
static const double FAR = 6.0;                    // cells: where no surface of the liquid is near
static const double CLAMPED = 0.999;              // of the band: values from here on are no distances
static const double PIVOT = 1e-8;                 // of the largest: cells in a plane or line determine no slope
static const double ON_SOLID = 0.1;               // cells: a region's surface this close to a solid lies on it
static const double SAMPLE_REACH = 4.0;           // cells: values beyond are far from any surface
static const double CLOSED_REACH = 8.0;           // cells: the same in solids, where surfaces are not seen
static const double KINK_SLOPE = 0.95;            // a distance with less has more than one nearest point
static const double PROBE = 0.25;                 // cells: step of the differences of a region
enum { WALK_STEPS = 24 };
static const double WALK_STEP = 0.5;              // cells: along a region's surface, out of a solid
static const double FACES_OUT = 0.3;              // cosine between the ways out of the liquid and of the solid: not a wall
static const double ON_WALL = 0.98;               // minus the same cosine: the surface lies on a wall
static const double LEAST_SLANT = 0.2;            // sine between them: less does not lead out

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
        for (int axis = 0; axis < 3; ++axis) x[axis] = ty_clamp(x[axis], ls->lo[axis], ls->hi[axis]);
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
            ty_store3(x, ty_load3(x) + ty_max(-d, 0.5 * g->cell) * ty_normalize(ty_load3(slope[0])));
            if (step % 4 == 3) inset += 0.5 * g->cell;
        }
    }
    return -1;
}

static void find_sources(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) ls->ghost.at[i].source = find_source(ls, ls->ghost.at[i].cell);
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
    return ty_ok();
}

ty_status ty_levelset_solids(ty_levelset* ls, const ty_world* world)
{
    ls->world = world;
    if (ls->solid) ty_parallel_for(ty_grid_size(&ls->grid), SAMPLE_BLOCK, sample_solid, ls);
    return ty_levelset_ghosts(ls);
}

// Cells for a fit: places relative to the wall point in cells, weights, ids.
typedef struct fit {
    int n;
    ty_vec3 e[MAX_FIT];      // 1, dx, dy, dz
    double w[MAX_FIT];
    int cell[MAX_FIT];
} fit;

// Places of cells along an axis within `radius` of w, relative to it, and exp(-place^2).
typedef struct ruler {
    int lo, hi;
    double at[MAX_RULER], weight[MAX_RULER];
} ruler;

static void lay_ruler(ruler* r, double w, double radius, int n)
{
    r->lo = (int)ty_max(0.0, ceil(w - radius));
    r->hi = (int)ty_min(n - 1.0, floor(w + radius));
    for (int i = r->lo; i <= r->hi; ++i) {
        double d = i - w;
        r->at[i - r->lo] = d;
        r->weight[i - r->lo] = exp(-d * d);
    }
}

// Cells with closed[] unset and a distance in phi within `radius` of the lattice place w, on the side of `out`.
static void gather(const ty_levelset* ls, const unsigned char* closed, const double* phi, ty_vec3 w, ty_vec3 out,
                   double radius, fit* f)
{
    double clamped = CLAMPED * ls->band;
    const ty_grid* g = &ls->grid;
    ruler r[3];
    for (int axis = 0; axis < 3; ++axis) lay_ruler(&r[axis], w[axis], radius, g->n[axis]);
    f->n = 0;
    for (int k = 0; k <= r[2].hi - r[2].lo; ++k)
        for (int j = 0; j <= r[1].hi - r[1].lo; ++j) {
            double weight = r[1].weight[j] * r[2].weight[k];
            int64_t first = ty_grid_index(g, r[0].lo, r[1].lo + j, r[2].lo + k);
            for (int i = 0; i <= r[0].hi - r[0].lo; ++i) {
                ty_vec3 d = ty_vec(r[0].at[i], r[1].at[j], r[2].at[k]);
                if (closed[first + i] || fabs(phi[first + i]) >= clamped || ty_dot(d, d) > radius * radius) continue;
                if (ty_dot(d, out) < SAME_SIDE) continue;
                f->w[f->n] = weight * r[0].weight[i];
                f->e[f->n] = (ty_vec3){1.0, d[0], d[1], d[2]};
                f->cell[f->n++] = (int)(first + i);
            }
        }
}

// Cholesky factor of a symmetric 4 x 4 matrix in place; false when it does not determine all four.
static bool factor4(double m[4][4])
{
    double largest = ty_max(ty_max(m[0][0], m[1][1]), ty_max(m[2][2], m[3][3]));
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = m[i][j];
            for (int k = 0; k < j; ++k) sum -= m[i][k] * m[j][k];
            if (i != j) m[i][j] = sum / m[j][j];
            else if (sum <= PIVOT * largest) return false;
            else m[i][i] = sqrt(sum);
        }
    return true;
}

static void solve4(double m[4][4], ty_vec3* x)
{
    double b[4];
    memcpy(b, x, sizeof b);
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < i; ++k) b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
    for (int i = 3; i >= 0; --i) {
        for (int k = i + 1; k < 4; ++k) b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
    }
    memcpy(x, b, sizeof b);
}

static double dot4(ty_vec3 a, ty_vec3 b)
{
    ty_vec3 p = a * b;
    return p[0] + p[1] + (p[2] + p[3]);
}

// The fitted linear function at `at` (cells from the wall point), and how well it fits: root of the weighted mean square
// of what is left. False when the values' weights in it would be too large.
static bool evaluate(const fit* f, ty_vec3 at, const double* phi, double max_weights, double* value, double* misfit)
{
    double m[4][4];
    ty_vec3 e = {1.0, at[0], at[1], at[2]}, z = e, c = {0}, row[4] = {{0}};
    for (int k = 0; k < f->n; ++k) {
        ty_vec3 weighted = f->w[k] * f->e[k];
        c += phi[f->cell[k]] * weighted;
        for (int i = 0; i < 4; ++i) row[i] += f->e[k][i] * weighted;
    }
    memcpy(m, row, sizeof m);
    if (!factor4(m)) return false;
    solve4(m, &z);
    solve4(m, &c);
    double total = 0.0, sum = 0.0, all = 0.0;
    for (int k = 0; k < f->n; ++k) {
        double left = dot4(c, f->e[k]) - phi[f->cell[k]];
        total += fabs(f->w[k] * dot4(z, f->e[k]));
        sum += f->w[k] * left * left;
        all += f->w[k];
    }
    *value = dot4(c, e);
    *misfit = sqrt(sum / all);
    return total <= max_weights;
}

// Linear continuation to lattice place x from open cells around lattice place w.
static bool extend(const ty_levelset* ls, const unsigned char* closed, const double* phi, ty_vec3 x, ty_vec3 w,
                   int n_radii, double max_weights, double* value, double* misfit)
{
    fit f;
    ty_vec3 out = ty_normalize(w - x);
    for (int k = 0; k < n_radii; ++k) {
        gather(ls, closed, phi, w, out, RADII[k], &f);
        if (f.n >= MIN_FIT && evaluate(&f, x - w, phi, max_weights, value, misfit)) return true;
    }
    return false;
}

typedef struct continuation {
    ty_levelset* ls;
    double* phi;
} continuation;

static ty_vec3 lattice_place(const ty_grid* g, const double x[3])
{
    return (ty_load3(x) - ty_load3(g->origin)) / g->cell - ty_vec(0.5, 0.5, 0.5);
}

// The continued value of a ghost beside its open cell. False when the open cells do not tell it.
static bool fit_ghost(const continuation* c, ty_ghost ghost, const int at[3], double* value)
{
    const ty_levelset* ls = c->ls;
    const ty_grid* g = &ls->grid;
    double x[3], source = c->phi[ghost.source], misfit;
    if (fabs(source) > FIT_REACH * g->cell) return false;
    ty_grid_cell_center(g, at[0], at[1], at[2], x);
    if (!ty_levelset_push_out(ls, x)) return false;
    ty_vec3 place = ty_vec(at[0], at[1], at[2]), wall = lattice_place(g, x);
    if (ty_norm(wall - place) > FIT_DEPTH) return false;
    if (!extend(ls, ls->closed, c->phi, place, wall, N_RADII, MAX_WEIGHTS, value, &misfit)) return false;
    double bent = ty_clamp((misfit / g->cell - FLAT) / (BENT - FLAT), 0.0, 1.0);
    *value += bent * (source - *value);
    return true;
}

static void continue_ghosts(void* ctx, ty_range r)
{
    continuation* c = ctx;
    const ty_levelset* ls = c->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_ghost ghost = ls->ghost.at[i];
        double *phi = &c->phi[ghost.cell], value;
        if (ghost.source < 0) {
            if (isnan(*phi)) *phi = ls->band;
            continue;
        }
        int a[3], b[3];
        ty_grid_coords(&ls->grid, ghost.cell, a);
        ty_grid_coords(&ls->grid, ghost.source, b);
        double source = c->phi[ghost.source];
        double apart = ty_norm(ty_vec(a[0] - b[0], a[1] - b[1], a[2] - b[2])) * ls->grid.cell;
        if (!fit_ghost(c, ghost, a, &value)) value = isnan(*phi) ? source : *phi;
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
    unsigned char* doubtful;    // no value: 1 closed and far; the region's surface next to it lies on a solid, 2 open, 3 closed
} sampling;

// Distance to the domain's sides or an obstacle, whichever is nearer.
static double wall_distance(const ty_levelset* ls, const double x[3], int64_t cell)
{
    double d = ls->solid ? ls->solid[cell] : INFINITY;
    for (int axis = 0; axis < 3; ++axis) d = ty_min(d, ty_min(x[axis] - ls->lo[axis], ls->hi[axis] - x[axis]));
    return d;
}

enum { SOLIDS = 1 + TY_N_SIDES };

// Every solid's distance at x and the direction out of it: the obstacles' together, and the domain's sides'.
static void solids_at(const ty_levelset* ls, const double x[3], double d[SOLIDS], ty_vec3 out[SOLIDS])
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

// The deepest solid at x. *against: the least cosine between the ways out of the liquid and of a solid that x is on or in.
static void deepest_solid(const ty_levelset* ls, const double x[3], ty_vec3 normal, double* d, ty_vec3* out, double* against)
{
    double distance[SOLIDS];
    ty_vec3 way[SOLIDS];
    int deepest = 0;
    solids_at(ls, x, distance, way);
    *against = 1.0;
    for (int i = 0; i < SOLIDS; ++i) {
        if (distance[i] < distance[deepest]) deepest = i;
        if (distance[i] < ON_SOLID * ls->grid.cell) *against = ty_min(*against, ty_dot(way[i], normal));
    }
    *d = distance[deepest];
    *out = way[deepest];
}

// A region's value at x, and its unit normal there. False where more than one point of its surface is nearest.
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

// Whether the region's surface at `at`, inside a solid, comes out of it: it does where it faces the way out, and where
// one arrives in the open on the surface itself.
static bool surface_comes_out(const ty_levelset* ls, const ty_sampler* region, ty_vec3 at, ty_vec3 normal)
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

// Whether the point of the region's surface that is nearest to x is no surface of liquid, but lies on or in a solid
// without coming out of it.
static bool surface_on_solid(const ty_levelset* ls, const ty_sampler* region, const double x[3], double value)
{
    ty_vec3 normal;
    if (!region_normal(region, x, PROBE * ls->grid.cell, &normal)) return true;    // between two walls
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
        s->doubtful[cell] = closed;
        if (!(fabs(out[i]) < (closed ? CLOSED_REACH : SAMPLE_REACH) * g->cell)) continue;
        if (!closed && fabs(out[i]) < wall_distance(s->ls, x[i], cell) - ON_SOLID * g->cell) continue;
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
        if (!extend(ls, s->doubtful, s->out, place, place, FILL_RADII, FILL_WEIGHTS, value, &misfit)) *value = NAN;
    }
}

// Values found become certain. What the solid has no part in is never nearer than the whole, which keeps the sign.
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

// Doubtful cells are fitted to certain ones around them, layer by layer; where that leads nowhere, no surface of the
// liquid is near.
static ty_status fill_doubtful(sampling* s)
{
    ty_levelset* ls = s->ls;
    int64_t size = ty_grid_size(&ls->grid);
    double far = FAR * ls->grid.cell;
    ls->active.n = 0;
    for (int64_t c = 0; c < size; ++c)
        if (s->doubtful[c] >= 2 && !ty_array_push(&ls->active, (int)c)) return ty_no_memory("cells beside walls");
    if (!ty_array_resize(&ls->velocity, ls->active.n)) return ty_no_memory("cells beside walls");
    for (int pass = 0; pass < FILL_PASSES; ++pass) {
        ty_parallel_for(ls->active.n, BLOCK, try_doubtful, s);
        if (!accept_found(s)) break;
    }
    for (int64_t i = 0; i < ls->active.n; ++i) {
        double* out = &s->out[ls->active.at[i]];
        if (s->doubtful[ls->active.at[i]] == 2) *out = *out < 0.0 ? -far : far;    // closed ones: see ty_levelset_sample
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
