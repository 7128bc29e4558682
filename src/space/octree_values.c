// SPDX-License-Identifier: Apache-2.0
// Values at the corners: [Gong2008] section 6.2, after [Adalsteinsson1999].
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "space/octree.h"

enum { INTERPOLATE_BLOCK = 256, MAX_WIDTH = 8 };

typedef struct queued {
    double distance;
    int corner;
} queued;

static int compare_queued(const void* a, const void* b)
{
    const queued *p = a, *q = b;
    if (p->distance != q->distance) return p->distance < q->distance ? -1 : 1;
    return (p->corner > q->corner) - (p->corner < q->corner);
}

// The nearest corner along an axis that has a value; 0 when there is none, else its distance in
// cells.
static int nearest_along(const ty_octree* t, ty_lattice_cursor* c, const int x[3], int axis,
                         int side, const uint8_t* known, int* corner)
{
    for (int step = 1; step < 1 << t->n_levels; step *= 2) {
        int at[3] = {x[0], x[1], x[2]};
        at[axis] += side * step;
        int id = ty_lattice_id(&t->corners, c, at[0], at[1], at[2]);
        if (id < 0) continue;
        *corner = id;
        return known[id] ? step : 0;
    }
    return 0;
}

// Equation (10): of the two neighbours along an axis the nearer one counts, both when they are as
// near.
static bool extrapolate_to(const ty_octree* t, ty_lattice_cursor* c, int corner, int width,
                           double* values, const uint8_t* known)
{
    double sum[MAX_WIDTH] = {0}, weights = 0.0;
    int x[1][3];
    ty_lattice_set_points(&t->corners, corner, corner + 1, x);
    for (int axis = 0; axis < 3; ++axis) {
        int id[2], d[2];
        for (int s = 0; s < 2; ++s)
            d[s] = nearest_along(t, c, x[0], axis, 2 * s - 1, known, &id[s]);
        for (int s = 0; s < 2; ++s) {
            if (!d[s] || (d[1 - s] && d[1 - s] < d[s])) continue;
            double w = (d[0] == d[1] ? 0.5 : 1.0) / ((double)d[s] * d[s]);
            weights += w;
            for (int k = 0; k < width; ++k) sum[k] += w * values[(int64_t)width * id[s] + k];
        }
    }
    if (weights == 0.0) return false;
    for (int k = 0; k < width; ++k) values[(int64_t)width * corner + k] = sum[k] / weights;
    return true;
}

ty_status ty_octree_extrapolate(const ty_octree* t, int width, double* values, uint8_t* known)
{
    if (width > MAX_WIDTH)
        return ty_fail(TY_BAD_INPUT, "at most %d values per corner", (int)MAX_WIDTH);
    queued* queue = ty_alloc((size_t)t->corners.n, sizeof *queue);
    if (!queue) return ty_no_memory("extrapolation");
    int n = 0, left = 0;
    for (int i = 0; i < t->corners.n; ++i)
        if (!known[i]) queue[n++] = (queued){t->corner_value.at[i], i};
    qsort(queue, (size_t)n, sizeof *queue, compare_queued);
    ty_lattice_cursor c = ty_lattice_cursor_start();
    // Corners without a neighbour that has a value wait for the next sweep.
    for (bool progress = true; progress && n > 0; n = left) {
        left = 0;
        for (int i = 0; i < n; ++i)
            if (extrapolate_to(t, &c, queue[i].corner, width, values, known))
                known[queue[i].corner] = 1;
            else queue[left++] = queue[i];
        progress = left < n;
    }
    ty_free(queue);
    return ty_ok();
}

typedef struct interpolate_args {
    const ty_octree* t;
    int width;
    const double* values;
    const double (*point)[3];
    double* out;
} interpolate_args;

static void interpolate_one(const interpolate_args* k, ty_octree_cursor* c, const double point[3],
                            double* out)
{
    const ty_octree* t = k->t;
    int x[3];
    ty_octree_lattice_of(t, point, x);
    ty_octant o = ty_octree_leaf(t, c, x);
    for (int i = 0; i < k->width; ++i) out[i] = 0.0;
    if (o.id < 0) return;
    int corner[8];
    ty_octree_corners_of(t, o.id, corner);
    for (int v = 0; v < 8; ++v) {
        double weight = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            double u = (point[axis] - t->origin[axis]) / (t->cell * (1 << o.level)) - o.x[axis];
            weight *= v >> axis & 1 ? u : 1.0 - u;
        }
        for (int i = 0; i < k->width; ++i)
            out[i] += weight * k->values[(int64_t)k->width * corner[v] + i];
    }
}

static void interpolate_block(void* ctx, ty_range r)
{
    const interpolate_args* k = ctx;
    ty_octree_cursor c = ty_octree_cursor_start();
    for (int64_t i = r.begin; i < r.end; ++i)
        interpolate_one(k, &c, k->point[i], k->out + i * k->width);
}

void ty_octree_interpolate(const ty_octree* t, int width, const double* values, int64_t n,
                           const double (*point)[3], double* out)
{
    interpolate_args k = {t, width, values, point, out};
    ty_parallel_for(n, INTERPOLATE_BLOCK, interpolate_block, &k);
}
