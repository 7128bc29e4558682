// SPDX-License-Identifier: Apache-2.0
#include "field/grid.h"

#include <assert.h>
#include <string.h>

ty_grid ty_grid_cover(const double lo[3], const double hi[3], double cell, int margin)
{
    static const double whole = 1e-6;    // cells: rounding of sizes given in decimals
    ty_grid g = {.cell = cell};
    for (int axis = 0; axis < 3; ++axis) {
        double cells = fmax(1.0, ceil((hi[axis] - lo[axis]) / cell - whole));
        g.origin[axis] = lo[axis] - margin * cell;
        g.n[axis] = (int)cells + 2 * margin;
    }
    return g;
}

ty_grid ty_grid_face(const ty_grid* g, int axis)
{
    ty_grid face = *g;
    face.origin[axis] -= 0.5 * g->cell;
    face.n[axis] += 1;
    return face;
}

// The centres of a grid's cells, an axis to a lane.
typedef struct lattice {
    ty_vec3 origin, last, last_base;
    double per_cell;
    int64_t stride[3], step[3];    // step: to the next cell; 0 where there is none
} lattice;

static inline lattice centers_of(const ty_grid* g)
{
    ty_vec3 last = {g->n[0] - 1, g->n[1] - 1, g->n[2] - 1, 0.0}, zero = {0};
    lattice l = {.origin = ty_load3(g->origin),
                 .last = last,
                 .last_base = ty_higher(last - 1.0, zero),
                 .per_cell = 1.0 / g->cell};
    for (int axis = 0; axis < 3; ++axis) {
        l.stride[axis] = ty_grid_stride(g, axis);
        l.step[axis] = g->n[axis] > 1 ? l.stride[axis] : 0;
    }
    return l;
}

// Lattice coordinate of x clamped to the centres: base[axis] <= coordinate <= base + 1, frac in [0,
// 1].
typedef int four_ints __attribute__((vector_size(16)));
typedef struct place {
    four_ints base;
    ty_vec3 frac;
} place;

static inline place locate(const lattice* l, const double x[3])
{
    ty_vec3 zero = {0}, s = (ty_load3(x) - l->origin) * l->per_cell - 0.5;
    s = ty_lower(ty_higher(s, zero), l->last);    // 0 also for NaN, which must not become an index
    place p = {.base = __builtin_convertvector(ty_lower(s, l->last_base), four_ints)};
    p.frac = s - __builtin_convertvector(p.base, ty_vec3);
    return p;
}

// The lowest of the eight values around a place.
static inline const double* corner(const lattice* l, const double* values, const place* p)
{
    return values + p->base[0] + p->base[1] * l->stride[1] + p->base[2] * l->stride[2];
}

static inline double mix(double a, double b, double t) { return a + t * (b - a); }

static inline double linear_at(const double* v, const int64_t step[3], ty_vec3 frac)
{
    if (step[0]) {
        ty_vec2 a = ty_load2(v), b = ty_load2(v + step[1]);
        a += frac[2] * (ty_load2(v + step[2]) - a);
        b += frac[2] * (ty_load2(v + step[1] + step[2]) - b);
        a += frac[1] * (b - a);
        return mix(a[0], a[1], frac[0]);
    }
    double near_plane = mix(v[0], v[step[1]], frac[1]);    // one cell along x
    return mix(near_plane, mix(v[step[2]], v[step[1] + step[2]], frac[1]), frac[2]);
}

void ty_grid_linear(const ty_grid* g, const double* values, int n, const double (*x)[3],
                    double* out)
{
    lattice l = centers_of(g);
    for (int i = 0; i < n; ++i) {
        place p = locate(&l, x[i]);
        out[i] = linear_at(corner(&l, values, &p), l.step, p.frac);
    }
}

void ty_grid_linear_bounds(const ty_grid* g, const double* values, int n, const double (*x)[3],
                           double* out, double* lo, double* hi)
{
    lattice l = centers_of(g);
    for (int i = 0; i < n; ++i) {
        place p = locate(&l, x[i]);
        const int64_t* step = l.step;
        const double* v = corner(&l, values, &p);
        lo[i] = hi[i] = v[0];
        for (int c = 1; c < 8; ++c) {
            double value = v[(c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2]];
            lo[i] = value < lo[i] ? value : lo[i];
            hi[i] = value > hi[i] ? value : hi[i];
        }
        out[i] = linear_at(v, step, p.frac);
    }
}

// Catmull-Rom weights of the four values at -1, 0, 1, 2 for a point at t, an axis to a lane.
static inline void cubic_weights(ty_vec3 t, ty_vec3 w[4])
{
    ty_vec3 t2 = t * t, t3 = t2 * t;
    w[0] = -0.5 * t3 + t2 - 0.5 * t;
    w[1] = 1.5 * t3 - 2.5 * t2 + 1.0;
    w[2] = -1.5 * t3 + 2.0 * t2 + 0.5 * t;
    w[3] = 0.5 * t3 - 0.5 * t2;
}

// A value beyond the border is the linear continuation of the two next to it, so its weight goes to
// those.
static inline void shift_weights(int axis, int base, int n, ty_vec3 w[4])
{
    if (base == 0) {
        w[1][axis] += 2.0 * w[0][axis];
        w[2][axis] -= w[0][axis];
        w[0][axis] = 0.0;
    }
    if (base >= n - 2) {
        w[2][axis] += 2.0 * w[3][axis];
        w[1][axis] -= w[3][axis];
        w[3][axis] = 0.0;
    }
    if (n == 1) w[1][axis] = 1.0, w[2][axis] = 0.0;
}

// Offsets of the four values along an axis from the base; those of zero weight are moved inside.
static inline void cubic_offsets(int base, int n, int64_t stride, int64_t offset[4])
{
    for (int c = 0; c < 4; ++c) {
        int at = base + c - 1;
        at = at < 0 ? 0 : at > n - 1 ? n - 1 : at;
        offset[c] = (at - base) * stride;
    }
}

// Adds the four rows of a plane to the sum.
static inline ty_vec3 plane_sum(const ty_vec3 row[4], const ty_vec3 w[4], double weight,
                                ty_vec3 sum)
{
    for (int b = 0; b < 4; ++b) sum += w[b][1] * weight * row[b];
    return sum;
}

static inline double cubic_inside(const lattice* l, const double* v, const ty_vec3 w[4])
{
    ty_vec3 sum = {0};
    const double* at = v - 1 - l->stride[1] - l->stride[2];
    for (int c = 0; c < 4; ++c, at += l->stride[2]) {
        ty_vec3 row[4] = {ty_load4(at), ty_load4(at + l->stride[1]),
                          ty_load4(at + 2 * l->stride[1]), ty_load4(at + 3 * l->stride[1])};
        sum = plane_sum(row, w, w[c][2], sum);
    }
    return w[0][0] * sum[0] + w[1][0] * sum[1] + w[2][0] * sum[2] + w[3][0] * sum[3];
}

static double cubic_beside(const ty_grid* g, const double* v, const place* p, ty_vec3 w[4])
{
    int64_t o[3][4];
    ty_vec3 sum = {0};
    for (int axis = 0; axis < 3; ++axis) {
        shift_weights(axis, p->base[axis], g->n[axis], w);
        cubic_offsets(p->base[axis], g->n[axis], ty_grid_stride(g, axis), o[axis]);
    }
    for (int c = 0; c < 4; ++c) {
        ty_vec3 row[4];
        for (int b = 0; b < 4; ++b) {
            const double* r = v + o[2][c] + o[1][b];
            row[b] = (ty_vec3){r[o[0][0]], r[o[0][1]], r[o[0][2]], r[o[0][3]]};
        }
        sum = plane_sum(row, w, w[c][2], sum);
    }
    return w[0][0] * sum[0] + w[1][0] * sum[1] + w[2][0] * sum[2] + w[3][0] * sum[3];
}

static inline bool is_inside(const ty_grid* g, four_ints base)
{
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
        inside = inside && base[axis] > 0 && base[axis] < g->n[axis] - 2;
    return inside;
}

void ty_grid_cubic(const ty_grid* g, const double* values, int n, const double (*x)[3], double* out)
{
    lattice l = centers_of(g);
    for (int i = 0; i < n; ++i) {
        place p = locate(&l, x[i]);
        const double* v = corner(&l, values, &p);
        ty_vec3 w[4];
        cubic_weights(p.frac, w);
        out[i] = is_inside(g, p.base) ? cubic_inside(&l, v, w) : cubic_beside(g, v, &p, w);
    }
}

// Hermite through f1, f2 with the central slopes, zeroed where their sign differs from f2 - f1.
// Departs: slopes are also kept below 3 (f2 - f1) [Fritsch1980], because zeroing alone still
// overshoots.
static inline double limited_slope(double d, double delta)
{
    if (d * delta <= 0.0) return 0.0;
    return fabs(d) <= 3.0 * fabs(delta) ? d : 3.0 * delta;
}

static inline double cubic_limited(const double f[4], double t)
{
    double delta = f[2] - f[1];
    double d1 = limited_slope(0.5 * (f[2] - f[0]), delta);
    double d2 = limited_slope(0.5 * (f[3] - f[1]), delta);
    return f[1] + t * (d1 + t * (3.0 * delta - 2.0 * d1 - d2 + t * (d1 + d2 - 2.0 * delta)));
}

void ty_grid_cubic_limited(const ty_grid* g, const double* values, int n, const double (*x)[3],
                           double* out)
{
    lattice l = centers_of(g);
    for (int i = 0; i < n; ++i) {
        place p = locate(&l, x[i]);
        const double* v = corner(&l, values, &p);
        int64_t o[3][4];
        for (int axis = 0; axis < 3; ++axis)
            cubic_offsets(p.base[axis], g->n[axis], ty_grid_stride(g, axis), o[axis]);
        double plane[4];
        for (int c = 0; c < 4; ++c) {
            double row[4];
            for (int b = 0; b < 4; ++b) {
                const double* r = v + o[2][c] + o[1][b];
                double f[4] = {r[o[0][0]], r[o[0][1]], r[o[0][2]], r[o[0][3]]};
                row[b] = cubic_limited(f, p.frac[0]);
            }
            plane[c] = cubic_limited(row, p.frac[1]);
        }
        out[i] = cubic_limited(plane, p.frac[2]);
    }
}

void ty_grid_gradient(const ty_grid* g, const double* values, int n, const double (*x)[3],
                      double (*out)[3])
{
    for (int i = 0; i < n; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            double lo = g->origin[axis] + 0.5 * g->cell;
            double hi = lo + g->cell * (g->n[axis] - 1);
            double ends[2][3], value[2];
            memcpy(ends[0], x[i], sizeof ends[0]);
            memcpy(ends[1], x[i], sizeof ends[1]);
            ends[0][axis] = ty_clamp(x[i][axis] - 0.5 * g->cell, lo, fmax(lo, hi - 0.5 * g->cell));
            ends[1][axis] = ty_clamp(x[i][axis] + 0.5 * g->cell, fmin(hi, lo + 0.5 * g->cell), hi);
            ty_grid_linear(g, values, 2, (const double(*)[3])ends, value);
            double width = ends[1][axis] - ends[0][axis];
            out[i][axis] = width > 0.0 ? (value[1] - value[0]) / width : 0.0;
        }
    }
}

ty_status ty_mac_create(ty_mac* mac, const ty_grid* grid)
{
    *mac = (ty_mac){.grid = *grid};
    for (int axis = 0; axis < 3; ++axis) {
        mac->lattice[axis] = ty_grid_face(grid, axis);
        mac->face[axis] = ty_alloc_zero((size_t)ty_grid_size(&mac->lattice[axis]), sizeof(double));
        if (!mac->face[axis]) {
            ty_mac_free(mac);
            return ty_no_memory("staggered velocities");
        }
    }
    return ty_ok();
}

void ty_mac_free(ty_mac* mac)
{
    for (int axis = 0; axis < 3; ++axis) {
        ty_free(mac->face[axis]);
        mac->face[axis] = NULL;
    }
}

// One component at a time over a batch that fits the buffer, so that each pass reads one array.
static void mac_sample(const ty_mac* mac, int n, const double (*x)[3], double (*out)[3],
                       void (*sample)(const ty_grid*, const double*, int, const double (*)[3],
                                      double*))
{
    enum { BATCH = 128 };
    double buffer[BATCH];
    for (int begin = 0; begin < n; begin += BATCH) {
        int count = n - begin < BATCH ? n - begin : BATCH;
        double(*to)[3] = out + begin;
        double at[BATCH][3];    // x and out may be the same array
        memcpy(at, x + begin, (size_t)count * sizeof *at);
        for (int axis = 0; axis < 3; ++axis) {
            sample(&mac->lattice[axis], mac->face[axis], count, (const double(*)[3])at, buffer);
            for (int i = 0; i < count; ++i) to[i][axis] = buffer[i];
        }
    }
}

void ty_mac_linear(const ty_mac* mac, int n, const double (*x)[3], double (*out)[3])
{
    mac_sample(mac, n, x, out, ty_grid_linear);
}

void ty_mac_cubic(const ty_mac* mac, int n, const double (*x)[3], double (*out)[3])
{
    mac_sample(mac, n, x, out, ty_grid_cubic);
}
