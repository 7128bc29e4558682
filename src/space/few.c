// SPDX-License-Identifier: Apache-2.0
// Points are sorted into the bins of a coarse lattice around them. A bin also knows whether any
// point is in it or beside it: bins are wider than `reach` and a usual triangle together, so most
// triangles look at one bin, that of their first corner.
#include "space/few.h"

#include <string.h>

enum { MAX_BINS = 64 };              // along an axis
enum { CHUNK = 64, FEWEST = 64 };    // triangles one after the other; points that ask each chunk
static const double WIDTH = 2.0;     // of a bin at least, in `reach`
// Of `reach`: most points are so near, and what is found there is the closest
static const double NEAR_SHARE = 0.25;
// Of `reach`: bins where a cell's triangle, half of `reach` wide, and the smaller reach fit into one
static const double NEAR_WIDTH = 0.8;
static const double ROUNDING = 1e-9;

typedef struct bins {
    double lo[3], width, per_width;
    int n[3], size;
    int* first;             // size + 1: ranges of `order`
    int* order;             // points by bin, ids ascending
    unsigned char* near;    // a point is in the bin or in one beside it
} bins;

static int bin_along(const bins* b, int axis, double x)
{
    return (int)ty_clamp(floor((x - b->lo[axis]) * b->per_width), -1.0, b->n[axis]);
}

static void lay_bins(bins* b, int n, const double (*x)[3], double width)
{
    ty_box box = ty_box_empty();
    for (int i = 0; i < n; ++i) ty_box_add(&box, x[i]);
    b->width = width;
    for (int axis = 0; axis < 3; ++axis)
        b->width = ty_max(b->width, (box.hi[axis] - box.lo[axis]) / (MAX_BINS - 1));
    b->per_width = 1.0 / b->width;
    b->size = 1;
    for (int axis = 0; axis < 3;
         ++axis) {    // a bin of margin on each side, and half of one for rounding
        b->lo[axis] = box.lo[axis] - 1.5 * b->width;
        b->n[axis] = (int)((box.hi[axis] - box.lo[axis]) * b->per_width) + 4;
        b->size *= b->n[axis];
    }
}

static int bin_of(const bins* b, const double x[3])
{
    return bin_along(b, 0, x[0]) +
           b->n[0] * (bin_along(b, 1, x[1]) + b->n[1] * bin_along(b, 2, x[2]));
}

static void mark_near(bins* b, int bin)
{
    for (int k = -1; k <= 1; ++k)
        for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) b->near[bin + i + b->n[0] * (j + b->n[1] * k)] = 1;
}

static void sort_points(bins* b, int n, const double (*x)[3])
{
    for (int i = 0; i < n; ++i) {
        int bin = bin_of(b, x[i]);
        if (b->first[bin + 1]++ == 0) mark_near(b, bin);
    }
    for (int i = 0; i < b->size; ++i) b->first[i + 1] += b->first[i];
    for (int i = n; i-- > 0;) {
        int bin = bin_of(b, x[i]);
        b->order[--b->first[bin + 1]] = i;
    }
    // first[bin + 1] now begins bin: shifted back by one.
    for (int i = 0; i < b->size; ++i) b->first[i] = b->first[i + 1];
    b->first[b->size] = n;
}

typedef int64_t mask __attribute__((vector_size(32), aligned(8)));
typedef int four_ints __attribute__((vector_size(16)));

static inline bool any(mask m) { return (m[0] | m[1] | m[2]) != 0; }

typedef struct answer {
    const double (*x)[3];
    int* triangle;
    double* distance2;
} answer;

// Squared, from a point to a box; no rounding makes it larger than the distance to what is inside.
static inline double to_box2(ty_vec3 x, ty_vec3 lo, ty_vec3 hi)
{
    ty_vec3 zero = {0}, d = ty_higher(zero, ty_higher(lo - x, x - hi));
    return (1.0 - ROUNDING) * ty_dot(d, d);
}

// The bins that places are in, those outside in the nearest one: no point is in the outermost.
static inline four_ints bins_at(const bins* b, ty_vec3 x)
{
    ty_vec3 zero = {0}, last = ty_vec(b->n[0] - 1, b->n[1] - 1, b->n[2] - 1);
    ty_vec3 at = ty_higher((x - ty_load3(b->lo)) * b->per_width, zero);
    return __builtin_convertvector(ty_lower(at, last), four_ints);
}

// Whether no point is near a triangle that lies between lo and hi.
static inline bool is_far(const bins* b, ty_vec3 corner, ty_vec3 lo, ty_vec3 hi, double reach)
{
    ty_vec3 room = b->width - reach + ty_vec(0, 0, 0);
    if (any(hi - lo > room)) return false;
    four_ints bin = bins_at(b, corner);
    return !b->near[bin[0] + b->n[0] * (bin[1] + b->n[1] * bin[2])];
}

static void ask(const bins* b, const answer* a, int t, const ty_vec3 corner[3], ty_vec3 lo,
                ty_vec3 hi, double reach)
{
    ty_vec3 around = reach + ty_vec(0, 0, 0);
    four_ints from = bins_at(b, lo - around), to = bins_at(b, hi + around);
    for (int k = from[2]; k <= to[2]; ++k)
        for (int j = from[1]; j <= to[1]; ++j) {
            int row = b->n[0] * (j + b->n[1] * k);
            for (int i = b->first[row + from[0]]; i < b->first[row + to[0] + 1]; ++i) {
                int point = b->order[i];
                ty_vec3 x = ty_load3(a->x[point]);
                if (to_box2(x, lo, hi) > ty_min(reach * reach, a->distance2[point])) continue;
                double d2 = ty_closest_on_triangle(x, corner[0], corner[1], corner[2]).distance2;
                if (d2 > reach * reach || !(d2 < a->distance2[point])) continue;
                a->distance2[point] = d2;
                a->triangle[point] = t;
            }
        }
}

typedef struct surface {
    int n_tris;
    const int (*tri)[3];
    const double (*vert)[3];
    ty_vec3 (*chunk)[2];    // least and most corner of CHUNK triangles, after the first look
} surface;

static int chunks(int n_tris) { return (n_tris + CHUNK - 1) / CHUNK; }

static bool any_near(const ty_vec3 chunk[2], int n, const double (*x)[3], double reach)
{
    ty_vec3 room = (1.0 + ROUNDING) * reach + ty_vec(0, 0, 0);
    ty_vec3 lo = chunk[0] - room, hi = chunk[1] + room;
    for (int i = 0; i < n; ++i) {
        ty_vec3 at = ty_load3(x[i]);
        if (!any((at < lo) | (at > hi))) return true;
    }
    return false;
}

static void look_at_chunk(const surface* m, const bins* b, const answer* a, int chunk, double reach)
{
    int first = chunk * CHUNK, end = first + CHUNK < m->n_tris ? first + CHUNK : m->n_tris;
    ty_vec3 least = INFINITY + ty_vec(0, 0, 0), most = -least;
    for (int t = first; t < end; ++t) {
        const int* v = m->tri[t];
        ty_vec3 corner[3] = {ty_load3(m->vert[v[0]]), ty_load3(m->vert[v[1]]),
                             ty_load3(m->vert[v[2]])};
        ty_vec3 lo = ty_lower(corner[0], ty_lower(corner[1], corner[2]));
        ty_vec3 hi = ty_higher(corner[0], ty_higher(corner[1], corner[2]));
        least = ty_lower(lo, least);
        most = ty_higher(hi, most);
        if (!is_far(b, corner[0], lo, hi, reach)) ask(b, a, t, corner, lo, hi, reach);
    }
    m->chunk[chunk][0] = least;
    m->chunk[chunk][1] = most;
}

// Points without a triangle keep -1 and INFINITY. `again`: the chunks are known.
static ty_status look(const surface* m, int n, const double (*x)[3], double width, double reach,
                      bool again, int* triangle, double* distance2)
{
    bins b;
    for (int i = 0; i < n; ++i) triangle[i] = -1, distance2[i] = INFINITY;
    if (n == 0 || m->n_tris == 0) return ty_ok();
    lay_bins(&b, n, x, width);
    b.first = ty_alloc_zero((size_t)b.size + 1, sizeof *b.first);
    b.order = ty_alloc((size_t)n, sizeof *b.order);
    b.near = ty_alloc_zero((size_t)b.size, 1);
    bool ok = b.first && b.order && b.near, choose = again && n <= FEWEST;
    if (ok) sort_points(&b, n, x);
    answer a = {x, triangle, distance2};
    for (int c = 0; ok && c < chunks(m->n_tris); ++c)
        if (!choose || any_near(m->chunk[c], n, x, reach)) look_at_chunk(m, &b, &a, c, reach);
    ty_free(b.first);
    ty_free(b.order);
    ty_free(b.near);
    return ok ? ty_ok() : ty_no_memory("closest triangles");
}

// Those that the first look left out.
static ty_status look_farther(const surface* m, int n, const double (*x)[3], double reach,
                              int* triangle, double* distance2)
{
    int left = 0;
    for (int i = 0; i < n; ++i) left += triangle[i] < 0;
    if (left == 0) return ty_ok();
    double(*rest)[3] = ty_alloc((size_t)left, sizeof *rest),
    *d2 = ty_alloc((size_t)left, sizeof *d2);
    int* found = ty_alloc((size_t)left, sizeof *found);
    ty_status status = ty_no_memory("closest triangles");
    if (rest && d2 && found) {
        for (int i = 0, k = 0; i < n; ++i)
            if (triangle[i] < 0) memcpy(rest[k++], x[i], sizeof *rest);
        status = look(m, left, (const double(*)[3])rest, WIDTH * reach, reach, true, found, d2);
    }
    for (int i = 0, k = 0; status.code == TY_OK && i < n; ++i)
        if (triangle[i] < 0) triangle[i] = found[k], distance2[i] = d2[k++];
    ty_free(rest);
    ty_free(d2);
    ty_free(found);
    return status;
}

ty_status ty_few_closest(int n_tris, const int (*tri)[3], const double (*vert)[3], int n,
                         const double (*x)[3], double reach, int* triangle, double* distance2)
{
    surface m = {n_tris, tri, vert, ty_alloc((size_t)chunks(n_tris), sizeof *m.chunk)};
    ty_status status = m.chunk ? ty_ok() : ty_no_memory("closest triangles");
    if (m.chunk)
        status = look(&m, n, x, NEAR_WIDTH * reach, NEAR_SHARE * reach, false, triangle, distance2);
    if (status.code == TY_OK) status = look_farther(&m, n, x, reach, triangle, distance2);
    ty_free(m.chunk);
    return status;
}
