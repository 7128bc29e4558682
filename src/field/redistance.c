// SPDX-License-Identifier: Apache-2.0
// All lengths here are in cells, all places in lattice coordinates (cell centres are the integers).
#include "field/redistance.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "field/cubic.h"

enum {
    BLOCK = 256,       // cells per block
    ROW_BLOCK = 64,    // rows per block
    NEAR_STEPS =
        10,    // the iteration gains a factor 1 / (curvature * distance) per step; what takes longer
    BAND_STEPS = 3,    // hardly ever ends
    N_NEIGHBOURS = 26,
    ALONG_AXES = 6,    // of them
    NO_SLOT = -1,
    ROUGH_SLOT = -2,    // of a cell that is in no layer but the nearest
};
static const double EXACT_REACH = 2.5;    // cells that the surface's interpolant asks
// From there to here one Newton step will do; beyond, a neighbour's closest point: up to 0.1 cells
// too far. (The distance along a neighbour's normal was tried: around drops it is too near, more so
// with every layer. Up to 4.2 cells only was tried: liquid is continued into walls from values up
// to here, and planes were not exact there.)
static const double NEWTON_REACH = 5.0;
// Cells: so near all neighbours are asked. (2.5 was tried: a drop of 1.4 cells' radius lost 13
// instead of 6 % of its volume in a turn.)
static const double ALL_AROUND = 3.0;
// Of the squared slope: elsewhere central differences are not trusted
static const double NEARLY_DISTANCE = 0.2;
// Cells: the surface comes no nearer to a cell than its neighbours' closest points by more. One step along a
// slope that leads nowhere, as beside drops, ends on a plane that may pass the cell: 3.5 cells from all liquid a
// container that tumbles had a drop.
static const double NEARER = 1.0;
static const double STEP_LIMIT = 0.7;    // longest Newton step: the interpolant holds for a cell
static const double MIN_SLOPE = 0.05;    // below it the interpolant has no direction to the surface
// A Newton step that ends the iteration, normal to the surface and tangential. The distance counts
// the normal step, so what is left is of the order of their squares times the curvature.
static const double ON_SURFACE = 5e-3,
                    ALIGNED = 1e-2;    // next to the surface; tangential: against the distance
static const double BAND_SURFACE = 0.03, BAND_ALIGNED = 0.15;    // elsewhere
static const double NEARLY_ON = 1e-3, NEARLY_ALIGNED = 0.1;      // after the last step
static const double CROSSING_SLACK =
    0.05;    // by which a closest point may lie beyond an axis' linear crossing
// A cell next to the surface whose value is a distance up to this stays as it is. Without it a
// sphere of 5 cells drifts farther in 100 calls; with it by 4e-3 cells (a changed neighbour moves a
// crossing by at most a quarter of it).
static const double KEEP = 2e-3;
static const double SMALLEST = 1e-12;    // keeps the sign of inside cells that lie on the surface

typedef struct job {
    ty_redistance* r;
    const ty_grid* g;
    const double* phi;
    const unsigned char* rough;    // or NULL
    double scale;                  // 1 / cell
    double band;                   // in cells
    int64_t begin;                 // first list entry of the layer
    int64_t stride[3];
    int step[N_NEIGHBOURS][3];
    int64_t offset[N_NEIGHBOURS];
} job;

static bool inside(double phi) { return phi < 0.0; }

// Signs of a row of cells, one byte each, with the first and the last one twice.
static uint8_t* signs_of(const job* j, int64_t row)
{
    return j->r->sign.at + row * (j->g->n[0] + 2) + 1;
}

static void find_signs(void* ctx, ty_range range)
{
    job* j = ctx;
    int n = j->g->n[0];
    for (int64_t row = range.begin; row < range.end; ++row) {
        uint8_t* sign = signs_of(j, row);
        for (int i = 0; i < n; ++i) sign[i] = inside(j->phi[row * n + i]);
        sign[-1] = sign[0];
        sign[n] = sign[n - 1];
    }
}

// Marks the cells of a row that touch the surface, and returns how many.
static int mark_row(const job* j, int64_t row)
{
    const int* n = j->g->n;
    int64_t at[2] = {row % n[1], row / n[1]}, stride[2] = {1, n[1]};
    const uint8_t *own = signs_of(j, row), *other[4];
    for (int side = 0; side < 4; ++side) {
        int axis = side / 2, last = n[axis + 1] - 1;
        bool out = side % 2 ? at[axis] == last : at[axis] == 0;
        other[side] = out ? own : signs_of(j, row + (side % 2 ? stride[axis] : -stride[axis]));
    }
    uint8_t* touches = j->r->touches.at + row * n[0];
    int found = 0;
    for (int i = 0; i < n[0]; ++i) {
        uint8_t any = own[i - 1] | own[i + 1] | other[0][i] | other[1][i] | other[2][i] |
                      other[3][i];
        uint8_t all = own[i - 1] & own[i + 1] & other[0][i] & other[1][i] & other[2][i] &
                      other[3][i];
        touches[i] = own[i] ? !all : any;
        found += touches[i];
    }
    return found;
}

static void count_rows(void* ctx, ty_range range)
{
    job* j = ctx;
    for (int64_t row = range.begin; row < range.end; ++row)
        j->r->row_count.at[row] = mark_row(j, row);
}

static void fill_rows(void* ctx, ty_range range)
{
    job* j = ctx;
    int n = j->g->n[0];
    for (int64_t row = range.begin; row < range.end; ++row) {
        ty_band_cell* out = j->r->cell.at + j->r->row_first.at[row];
        int y = (int)(row % j->g->n[1]), z = (int)(row / j->g->n[1]);
        for (int i = 0, found = 0; found < j->r->row_count.at[row]; ++i)
            if (j->r->touches.at[row * n + i])
                out[found++] = (ty_band_cell){(int)(row * n + i), {i, y, z}};
    }
}

static bool grow_lists(ty_redistance* r, int64_t n)
{
    return ty_array_reserve(&r->cell, n) && ty_array_reserve(&r->closest, n) &&
           ty_array_reserve(&r->distance, n);
}

static void clear_slots(void* ctx, ty_range range)
{
    const job* j = ctx;
    int* slot = j->r->slot.at;
    for (int64_t c = range.begin; c < range.end; ++c)
        slot[c] = j->rough && j->rough[c] ? ROUGH_SLOT : NO_SLOT;
}

static ty_status find_near(job* j)
{
    ty_redistance* r = j->r;
    int64_t rows = (int64_t)j->g->n[1] * j->g->n[2];
    if (!ty_array_resize(&r->row_count, rows) || !ty_array_resize(&r->row_first, rows) ||
        !ty_array_resize(&r->sign, rows * (j->g->n[0] + 2)) ||
        !ty_array_resize(&r->touches, rows * j->g->n[0]))
        return ty_no_memory("rows of the redistancing");
    ty_parallel_for(rows, ROW_BLOCK, find_signs, j);
    ty_parallel_for(rows, ROW_BLOCK, count_rows, j);
    int64_t n = ty_prefix_sum(rows, r->row_count.at, r->row_first.at);
    r->cell.n = r->closest.n = r->distance.n = 0;
    if (!grow_lists(r, n)) return ty_no_memory("band of the redistancing");
    ty_parallel_for(rows, ROW_BLOCK, fill_rows, j);
    r->cell.n = r->closest.n = r->distance.n = r->n_near = n;
    return ty_ok();
}

typedef struct foot {
    double at[3], distance;
    double normal[3];    // of the surface there, unit length; 0: not known
    bool found;
} foot;

// When a point is at rest: steps below `off` normal to the surface and below `aside` tangential.
typedef struct rest {
    double off, aside;
} rest;

// ty_cubic_gradient for the trilinear interpolant.
static double linear_gradient(const ty_cubic* f, const double s[3], double gradient[3])
{
    const ty_grid* g = f->grid;
    double t[3];
    int64_t base = 0, dy = ty_grid_stride(g, 1), dz = ty_grid_stride(g, 2);
    for (int axis = 0; axis < 3; ++axis) {
        int last = g->n[axis] - 2;
        if (last < 0) return ty_cubic_gradient(f, s, gradient);
        double at = ty_clamp(s[axis], 0.0, last + 1.0);
        int low = (int)at < last ? (int)at : last;
        t[axis] = at - low;
        base += low * ty_grid_stride(g, axis);
    }
    const double* v = f->values + base;
    ty_vec2 a = ty_load2(v), b = ty_load2(v + dy), c = ty_load2(v + dz), d = ty_load2(v + dy + dz);
    ty_vec2 low = a + t[1] * (b - a), high = c + t[1] * (d - c), plane = low + t[2] * (high - low);
    ty_vec2 along_y = b - a + t[2] * (d - c - (b - a)), along_z = high - low;
    gradient[0] = f->scale * (plane[1] - plane[0]);
    gradient[1] = f->scale * (along_y[0] + t[0] * (along_y[1] - along_y[0]));
    gradient[2] = f->scale * (along_z[0] + t[0] * (along_z[1] - along_z[0]));
    return f->scale * (plane[0] + t[0] * (plane[1] - plane[0]));
}

static inline ty_vec3 no_farther(ty_vec3 move)
{
    double squared = ty_dot(move, move);
    return squared > STEP_LIMIT * STEP_LIMIT ? move * (STEP_LIMIT / sqrt(squared)) : move;
}

static inline bool is_within(double squared, double length) { return squared <= length * length; }

// Newton steps from `start` to the point of the zero set that is closest to x: along the gradient
// to the set, across it to the foot of x. The distance is the part along the normal, so a rest of
// the tangential step counts squared. Found is also what has not come to rest after max_steps, if
// it lies on the set and within reach.
static inline foot project(double (*interpolant)(const ty_cubic*, const double*, double*),
                           const ty_cubic* f, const double x[3], const double start[3],
                           int max_steps, double reach, rest tolerance)
{
    ty_vec3 to = ty_load3(x), at = ty_load3(start);
    foot result = {.found = false};
    for (int step = 1; step <= max_steps; ++step) {
        double p[3], slope[3];
        ty_store3(p, at);
        double value = interpolant(f, p, slope);
        ty_vec3 grad = ty_load3(slope), r = to - at;
        double squared = ty_dot(grad, grad);
        if (!(squared > MIN_SLOPE * MIN_SLOPE)) break;
        ty_vec3 onto = grad * (-value / squared);
        ty_vec3 along = grad * (ty_dot(r, grad) / squared);
        ty_vec3 across = r - along;
        double off2 = ty_dot(onto, onto), aside2 = ty_dot(across, across);
        double length = ty_norm(along - onto);
        at += no_farther(onto + across);
        bool rests = is_within(off2, tolerance.off) &&
                     is_within(aside2, ty_max(tolerance.aside, ALIGNED * length));
        if (rests || (step == max_steps && is_within(off2, NEARLY_ON) &&
                      is_within(aside2, NEARLY_ALIGNED * length))) {
            ty_store3(result.at, at);
            ty_store3(result.normal, grad / sqrt(squared));
            result.distance = length;
            result.found = length <= reach;
            break;
        }
        if (!is_within(ty_dot(to - at, to - at), reach + STEP_LIMIT)) break;
    }
    return result;
}

// Crossings of the axes by linear interpolation: theta[axis] in cells, signed towards the nearer
// one, 0 where there is none. Returns the smallest.
static double crossings(const ty_grid* g, const double* phi, const int ijk[3], int64_t cell,
                        double theta[3])
{
    double smallest = INFINITY, own = fabs(phi[cell]);
    for (int axis = 0; axis < 3; ++axis) {
        theta[axis] = 0.0;
        for (int side = -1; side <= 1; side += 2) {
            int at = ijk[axis] + side;
            if (at < 0 || at >= g->n[axis]) continue;
            double other = phi[cell + side * ty_grid_stride(g, axis)];
            if (inside(other) == inside(phi[cell])) continue;
            double t = own / ty_max(own + fabs(other), 1e-300);
            t = ty_max(t, SMALLEST);
            if (theta[axis] == 0.0 || t < fabs(theta[axis])) theta[axis] = side * t;
        }
        if (theta[axis] != 0.0) smallest = ty_min(smallest, fabs(theta[axis]));
    }
    return smallest;
}

// Foot of the cell's centre on the plane through the crossings: 1/d^2 = sum 1/theta^2, normal ~
// 1/theta.
static foot plane_foot(const double x[3], const double theta[3])
{
    double inverse[3], sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        inverse[axis] = theta[axis] != 0.0 ? 1.0 / theta[axis] : 0.0;
        sum += inverse[axis] * inverse[axis];
    }
    foot result = {.distance = 1.0 / sqrt(sum), .found = true};
    for (int axis = 0; axis < 3; ++axis) {
        result.at[axis] = x[axis] + inverse[axis] / sum;
        result.normal[axis] = inverse[axis] / sqrt(sum);
    }
    return result;
}

static bool at_border(const ty_grid* g, const int ijk[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (ijk[axis] < 1 || ijk[axis] >= g->n[axis] - 1) return true;
    return false;
}

// Where the first Newton step from a cell's centre leads, by central differences.
static void first_step(const job* j, const int ijk[3], int64_t cell, double start[3])
{
    double slope[3];
    ty_vec3 x = ty_vec(ijk[0], ijk[1], ijk[2]);
    ty_store3(start, x);
    if (at_border(j->g, ijk)) return;
    for (int axis = 0; axis < 3; ++axis) {
        int64_t stride = ty_grid_stride(j->g, axis);
        slope[axis] = 0.5 * j->scale * (j->phi[cell + stride] - j->phi[cell - stride]);
    }
    ty_vec3 grad = ty_load3(slope);
    double squared = ty_dot(grad, grad);
    if (!(fabs(squared - 1.0) < NEARLY_DISTANCE)) return;
    ty_store3(start, x + no_farther(grad * (-j->phi[cell] * j->scale / squared)));
}

// The foot of x in the plane of the surface at a neighbour's closest point.
static void along_plane(const double x[3], const foot* near, double start[3])
{
    ty_vec3 c = ty_load3(near->at), n = ty_load3(near->normal), r = ty_load3(x) - c;
    ty_store3(start, ty_dot(n, n) > 0.0 ? c + no_farther(r - ty_dot(r, n) * n) : c);
}

static void keep(ty_redistance* r, int64_t i, const foot* f)
{
    for (int axis = 0; axis < 3; ++axis) {
        r->closest.at[i].at[axis] = (float)f->at[axis];
        r->closest.at[i].normal[axis] = (float)f->normal[axis];
    }
}

static double near_body(void* ctx, ty_range range)
{
    job* j = ctx;
    ty_redistance* r = j->r;
    ty_cubic f = {j->g, j->phi, j->scale};
    int fallbacks = 0;
    for (int64_t i = range.begin; i < range.end; ++i) {
        int64_t cell = r->cell.at[i].id;
        const int* ijk = r->cell.at[i].ijk;
        double theta[3], start[3];
        double x[3] = {ijk[0], ijk[1], ijk[2]};
        double nearest = crossings(j->g, j->phi, ijk, cell, theta);
        foot best = {.found = false};
        bool exact = !(j->rough && j->rough[cell]);
        if (exact) {
            first_step(j, ijk, cell, start);
            best = project(ty_cubic_gradient, &f, x, start, NEAR_STEPS, nearest + CROSSING_SLACK,
                           (rest){ON_SURFACE, 0.0});
        }
        fallbacks += exact && !best.found;
        if (!best.found) best = plane_foot(x, theta);
        keep(r, i, &best);
        double old = fabs(j->phi[cell]) * j->scale;
        r->distance.at[i] = fabs(best.distance - old) <= KEEP ? old : best.distance;
        r->slot.at[cell] = (int)i;
    }
    return fallbacks;
}

// Cells next to list entries [begin, end) that have no place yet, in order of their finders; rough
// ones keep their values. Which of six cells is new cannot be foreseen, so that no branch asks: all
// are written, and the next one overwrites those that are not.
static ty_status next_layer(job* j, int64_t begin, int64_t end)
{
    ty_redistance* r = j->r;
    if (!grow_lists(r, end + 6 * (end - begin) + 1))
        return ty_no_memory("band of the redistancing");
    ty_band_cell* out = r->cell.at;
    int n = (int)r->cell.n, *slot = r->slot.at;
    for (int64_t i = begin; i < end; ++i) {
        if (r->distance.at[i] >= j->band) continue;
        const ty_band_cell from = out[i];
        for (int side = 0; side < 6; ++side) {
            int axis = side >> 1, step = side & 1 ? 1 : -1, at = from.ijk[axis] + step;
            bool out_of_grid = at < 0 || at >= j->g->n[axis];
            ty_band_cell next = from;
            next.id += out_of_grid ? 0 : step * (int)j->stride[axis];
            next.ijk[axis] = at;
            int here = slot[next.id];
            bool is_new = here == NO_SLOT;
            out[n] = next;
            slot[next.id] = is_new ? n : here;
            n += is_new;
        }
    }
    r->cell.n = r->closest.n = r->distance.n = n;
    return ty_ok();
}

static bool is_cell(const ty_grid* g, const int ijk[3], const int step[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (ijk[axis] + step[axis] < 0 || ijk[axis] + step[axis] >= g->n[axis]) return false;
    return true;
}

// The 26 neighbours; those along one axis first.
static void neighbours(job* j)
{
    int n = 0;
    for (int apart = 1; apart <= 3; ++apart)
        for (int c = 0; c < 27; ++c) {
            const int d[3] = {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
            if (abs(d[0]) + abs(d[1]) + abs(d[2]) != apart) continue;
            memcpy(j->step[n], d, sizeof d);
            j->offset[n] = d[0] + d[1] * j->stride[1] + d[2] * j->stride[2];
            ++n;
        }
}

// The nearest of the closest points that a cell has been offered. Single will do to choose one.
typedef struct offer {
    const int* slot_here;    // of the cell
    const ty_closest_place* closest;
    unsigned begin;    // of its layer
    float x[3];        // the cell
    float squared;
    int slot;
} offer;

// That of the cell `offset` away in memory, if it is of an earlier layer. Half of them are, in no
// order that a branch could learn.
static inline void look_at(int64_t offset, offer* best)
{
    static const float out_of_reach[2] = {INFINITY, 0.0f};
    int slot = best->slot_here[offset];
    int earlier = (unsigned)slot < best->begin;    // not where there is none
    const float* at = best->closest[slot & -earlier].at;
    float x = best->x[0] - at[0], y = best->x[1] - at[1], z = best->x[2] - at[2];
    float squared = x * x + y * y + z * z + out_of_reach[earlier];
    bool nearer = squared < best->squared;
    best->squared = nearer ? squared : best->squared;
    best->slot = nearer ? slot : best->slot;
}

// Those of the neighbours from `first` to before `end`. ijk: the cell at a border, else NULL.
static inline void look_around(const job* j, const int* ijk, int first, int end, offer* best)
{
    if (!ijk)
        for (int c = first; c < end; ++c) look_at(j->offset[c], best);
    else
        for (int c = first; c < end; ++c)
            if (is_cell(j->g, ijk, j->step[c])) look_at(j->offset[c], best);
}

// On the surface's side only: across the three edges and the corner towards the best so far.
static void look_across(const job* j, offer* best)
{
    const float* at = best->closest[best->slot].at;
    int64_t to[3];
    for (int axis = 0; axis < 3; ++axis)
        to[axis] = at[axis] < best->x[axis] ? -j->stride[axis] : j->stride[axis];
    const int64_t across[4] = {to[0] + to[1], to[0] + to[2], to[1] + to[2], to[0] + to[1] + to[2]};
    for (int c = 0; c < 4; ++c) look_at(across[c], best);
}

// The best of the closest points of the neighbours of earlier layers: those along the axes, one of
// which has found this cell, then those across edges and corners.
static foot inherit(const job* j, const int ijk[3], int64_t cell)
{
    const float all_around = (float)(ALL_AROUND * ALL_AROUND);
    const int* border = at_border(j->g, ijk) ? ijk : NULL;
    offer best = {.slot_here = j->r->slot.at + cell,
                  .closest = j->r->closest.at,
                  .begin = (unsigned)j->begin,
                  .x = {(float)ijk[0], (float)ijk[1], (float)ijk[2]},
                  .squared = INFINITY,
                  .slot = -1};
    look_around(j, border, 0, ALONG_AXES, &best);
    if (!(best.squared > all_around)) look_around(j, border, ALONG_AXES, N_NEIGHBOURS, &best);
    else if (!border && best.squared <= (float)(NEWTON_REACH * NEWTON_REACH)) look_across(j, &best);
    foot result = {.at = {ijk[0], ijk[1], ijk[2]}, .distance = INFINITY};
    if (best.slot < 0) return result;
    const ty_closest_place* from = &best.closest[best.slot];
    for (int axis = 0; axis < 3; ++axis) {
        result.at[axis] = (double)from->at[axis];
        result.normal[axis] = (double)from->normal[axis];
    }
    result.distance = ty_norm(ty_vec(ijk[0], ijk[1], ijk[2]) - ty_load3(result.at));
    return result;
}

static void layer_body(void* ctx, ty_range range)
{
    job* j = ctx;
    ty_redistance* r = j->r;
    ty_cubic f = {j->g, j->phi, j->scale};
    const rest near_enough = {BAND_SURFACE, BAND_ALIGNED}, anything = {1.0, INFINITY};
    for (int64_t i = j->begin + range.begin; i < j->begin + range.end; ++i) {
        int64_t cell = r->cell.at[i].id;
        const int* ijk = r->cell.at[i].ijk;
        double x[3] = {ijk[0], ijk[1], ijk[2]};
        foot best = inherit(j, ijk, cell);
        foot own = {.found = false};
        double start[3];
        if (best.distance <= NEWTON_REACH) {
            along_plane(x, &best, start);
            own = best.distance <= EXACT_REACH
                      ? project(ty_cubic_gradient, &f, x, start, BAND_STEPS, best.distance,
                                near_enough)
                      : project(r->linear_far ? linear_gradient : ty_cubic_gradient, &f, x, start,
                                1, best.distance, anything);
        }
        if (own.found && own.distance > best.distance - NEARER) best = own;
        keep(r, i, &best);
        r->distance.at[i] = best.distance;
    }
}

static void store_far(void* ctx, ty_range range)
{
    job* j = ctx;
    double* phi = (double*)j->phi;
    double far = j->band / j->scale;
    const unsigned char* rough = j->rough;
    if (rough)
        for (int64_t c = range.begin; c < range.end; ++c) {
            double value = inside(phi[c]) ? -far : far;
            phi[c] = rough[c] ? phi[c] : value;
        }
    else
        for (int64_t c = range.begin; c < range.end; ++c) phi[c] = inside(phi[c]) ? -far : far;
}

static void store_band(void* ctx, ty_range range)
{
    job* j = ctx;
    double* phi = (double*)j->phi;
    for (int64_t i = range.begin; i < range.end; ++i) {
        int64_t cell = j->r->cell.at[i].id;
        double d = ty_min(j->r->distance.at[i], j->band);
        phi[cell] = inside(phi[cell]) ? -ty_max(d, SMALLEST) / j->scale : d / j->scale;
    }
}

ty_status ty_redistance_run(ty_redistance* r, const ty_grid* g, double band,
                            const unsigned char* rough, double* phi)
{
    int64_t size = ty_grid_size(g);
    job j = {
        .r = r, .g = g, .phi = phi, .rough = rough, .scale = 1.0 / g->cell, .band = band / g->cell};
    for (int axis = 0; axis < 3; ++axis) j.stride[axis] = ty_grid_stride(g, axis);
    neighbours(&j);
    if (!ty_array_resize(&r->slot, size)) return ty_no_memory("places of the redistancing");
    ty_parallel_for(size, 16 * BLOCK, clear_slots, &j);
    TY_TRY(find_near(&j));
    r->n_fallback = (int64_t)ty_parallel_sum(r->n_near, BLOCK, near_body, &j);
    int64_t begin = 0, end = r->n_near;
    while (begin < end) {
        TY_TRY(next_layer(&j, begin, end));
        j.begin = begin = end;
        end = r->cell.n;
        ty_parallel_for(end - begin, BLOCK, layer_body, &j);
    }
    ty_parallel_for(size, 16 * BLOCK, store_far, &j);
    ty_parallel_for(r->cell.n, BLOCK, store_band, &j);
    return ty_ok();
}

void ty_redistance_free(ty_redistance* r)
{
    ty_array_free(&r->slot);
    ty_array_free(&r->cell);
    ty_array_free(&r->closest);
    ty_array_free(&r->distance);
    ty_array_free(&r->sign);
    ty_array_free(&r->touches);
    ty_array_free(&r->row_count);
    ty_array_free(&r->row_first);
}
