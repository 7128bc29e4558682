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

// Lattice coordinate of x clamped to the centres: base[axis] <= coordinate <= base + 1, frac in [0,
// 1].
typedef struct place {
    int base[3];
    double frac[3];
} place;

static inline place locate(const ty_grid* g, double inverse_cell, const double x[3])
{
    place p;
    for (int axis = 0; axis < 3; ++axis) {
        double s = (x[axis] - g->origin[axis]) * inverse_cell - 0.5;
        int last = g->n[axis] - 2;
        s = s > 0.0 ? s : 0.0;    // also for NaN, which must not become an index
        s = s < last + 1.0 ? s : last + 1.0;
        int base = (int)s;
        base = base < last ? base : last;
        base = base > 0 ? base : 0;
        p.base[axis] = base;
        p.frac[axis] = s - base;
    }
    return p;
}

// The eight values around a place; an axis with a single cell repeats it.
static inline const double* corner(const ty_grid* g, const double* values, const place* p,
                                   int64_t step[3])
{
    for (int axis = 0; axis < 3; ++axis) step[axis] = g->n[axis] > 1 ? ty_grid_stride(g, axis) : 0;
    return values + ty_grid_index(g, p->base[0], p->base[1], p->base[2]);
}

static inline double mix(double a, double b, double t) { return a + t * (b - a); }

static inline double linear_at(const double* v, const int64_t step[3], const double frac[3])
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
    double inverse = 1.0 / g->cell;
    for (int i = 0; i < n; ++i) {
        place p = locate(g, inverse, x[i]);
        int64_t step[3];
        const double* v = corner(g, values, &p, step);
        out[i] = linear_at(v, step, p.frac);
    }
}

void ty_grid_linear_bounds(const ty_grid* g, const double* values, int n, const double (*x)[3],
                           double* out, double* lo, double* hi)
{
    double inverse = 1.0 / g->cell;
    for (int i = 0; i < n; ++i) {
        place p = locate(g, inverse, x[i]);
        int64_t step[3];
        const double* v = corner(g, values, &p, step);
        lo[i] = hi[i] = v[0];
        for (int c = 1; c < 8; ++c) {
            double value = v[(c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2]];
            lo[i] = value < lo[i] ? value : lo[i];
            hi[i] = value > hi[i] ? value : hi[i];
        }
        out[i] = linear_at(v, step, p.frac);
    }
}

// Catmull-Rom weights of the four values at -1, 0, 1, 2 for a point at t. A value beyond the border
// is the linear continuation of the two next to it, so its weight goes to those.
static inline void cubic_weights(double t, int base, int n, double w[4])
{
    double t2 = t * t, t3 = t2 * t;
    w[0] = -0.5 * t3 + t2 - 0.5 * t;
    w[1] = 1.5 * t3 - 2.5 * t2 + 1.0;
    w[2] = -1.5 * t3 + 2.0 * t2 + 0.5 * t;
    w[3] = 0.5 * t3 - 0.5 * t2;
    if (base == 0) {
        w[1] += 2.0 * w[0];
        w[2] -= w[0];
        w[0] = 0.0;
    }
    if (base >= n - 2) {
        w[2] += 2.0 * w[3];
        w[1] -= w[3];
        w[3] = 0.0;
    }
    if (n == 1) w[1] = 1.0, w[2] = 0.0;
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

// Four neighbours along x.
static inline ty_vec3 four_at(const double* v, const int64_t offset[4], bool inside)
{
    if (inside) return ty_load4(v + offset[0]);
    return (ty_vec3){v[offset[0]], v[offset[1]], v[offset[2]], v[offset[3]]};
}

void ty_grid_cubic(const ty_grid* g, const double* values, int n, const double (*x)[3], double* out)
{
    double inverse = 1.0 / g->cell;
    for (int i = 0; i < n; ++i) {
        place p = locate(g, inverse, x[i]);
        const double* v = values + ty_grid_index(g, p.base[0], p.base[1], p.base[2]);
        double w[3][4];
        int64_t o[3][4];
        for (int axis = 0; axis < 3; ++axis) {
            cubic_weights(p.frac[axis], p.base[axis], g->n[axis], w[axis]);
            cubic_offsets(p.base[axis], g->n[axis], ty_grid_stride(g, axis), o[axis]);
        }
        bool inside = o[0][3] - o[0][0] == 3;
        ty_vec3 sum = {0};
        for (int c = 0; c < 4; ++c)
            for (int b = 0; b < 4; ++b)
                sum += w[1][b] * w[2][c] * four_at(v + o[2][c] + o[1][b], o[0], inside);
        out[i] = w[0][0] * sum[0] + w[0][1] * sum[1] + w[0][2] * sum[2] + w[0][3] * sum[3];
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
    double inverse = 1.0 / g->cell;
    for (int i = 0; i < n; ++i) {
        place p = locate(g, inverse, x[i]);
        const double* v = values + ty_grid_index(g, p.base[0], p.base[1], p.base[2]);
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
