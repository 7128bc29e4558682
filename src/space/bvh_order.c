// SPDX-License-Identifier: Apache-2.0
#include "space/bvh_order.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/vec.h"

// Bits per axis of a code, and of a digit of the sort: two digits hold three axes. Few points need
// no fine code, and clearing the counts of a large digit would cost more than they do.
enum { ORDER_BITS = 7, DIGIT_BITS = 11, FEW = 512, FEW_ORDER_BITS = 5, FEW_DIGIT_BITS = 8 };

// Of a scattered batch: fine enough for a cell's points to be few, coarse enough for the counts to
// stay in the cache.
enum { CELL_BITS = 5, N_CELLS = 1 << 3 * CELL_BITS };
// Of the extent: points are scattered when most are farther than this from the one before.
static const double JUMP = 0.1;
enum { SAMPLE = 15 };    // one point in so many is looked at

// Bits of k spread out to every third place.
static unsigned spread_bits(unsigned k)
{
    k = (k | k << 8) & 0x0300f00fu;
    k = (k | k << 4) & 0x030c30c3u;
    return (k | k << 2) & 0x09249249u;
}

// One pass of a stable counting sort by one digit of the codes.
static void sort_by_digit(int n, const uint32_t* code, int shift, int bits, const uint16_t* from,
                          uint16_t* to)
{
    uint16_t start[1 << DIGIT_BITS];
    uint32_t mask = (1u << bits) - 1u;
    memset(start, 0, sizeof *start << bits);
    for (int i = 0; i < n; ++i) ++start[code[i] >> shift & mask];
    unsigned sum = 0;
    for (unsigned c = 0; c <= mask; ++c) {
        unsigned here = start[c];
        start[c] = (uint16_t)sum;
        sum += here;
    }
    for (int i = 0; i < n; ++i) to[start[code[from[i]] >> shift & mask]++] = from[i];
}

// Smallest corner of the points' box; returns its longest side.
static double box_of(int n, const double (*x)[3], double lo[3])
{
    double extent = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double hi = -INFINITY;
        lo[axis] = INFINITY;
        for (int i = 0; i < n; ++i) {
            lo[axis] = x[i][axis] < lo[axis] ? x[i][axis] : lo[axis];
            hi = x[i][axis] > hi ? x[i][axis] : hi;
        }
        extent = fmax(extent, hi - lo[axis]);
    }
    return extent;
}

// Cells per metre when the box is cut into 2^bits along its longest side.
static double cells_per_metre(double extent, int bits)
{
    return extent > 0.0 && isfinite(extent) ? 0.999 * (1 << bits) / extent : 0.0;
}

static uint32_t code_of(const double x[3], const double lo[3], double factor)
{
    uint32_t code = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double u = (x[axis] - lo[axis]) * factor;
        code |= spread_bits(u > 0.0 ? (unsigned)u : 0u) << axis;
    }
    return code;
}

void ty_bvh_order(int n, const double (*x)[3], uint16_t* order)
{
    uint32_t code[TY_BVH_ORDER_MOST];
    uint16_t first[TY_BVH_ORDER_MOST];
    double lo[3], extent = box_of(n, x, lo);
    int order_bits = n > FEW ? ORDER_BITS : FEW_ORDER_BITS,
        digit_bits = n > FEW ? DIGIT_BITS : FEW_DIGIT_BITS;
    double factor = cells_per_metre(extent, order_bits);
    for (int i = 0; i < n; ++i) {
        code[i] = code_of(x[i], lo, factor);
        order[i] = (uint16_t)i;
    }
    sort_by_digit(n, code, 0, digit_bits, order, first);
    sort_by_digit(n, code, digit_bits, digit_bits, first, order);
}

static bool is_scattered(int n, const double (*x)[3])
{
    int n_jumps = 0, n_pairs = n / SAMPLE;
    ty_box box = ty_box_empty();
    for (int k = 0; k < n_pairs; ++k) ty_box_add(&box, x[SAMPLE * k]);
    double jump = JUMP * ty_max(box.hi[0] - box.lo[0],
                                ty_max(box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]));
    for (int k = 0; k < n_pairs; ++k)
        n_jumps += ty_norm(ty_load3(x[SAMPLE * k + 1]) - ty_load3(x[SAMPLE * k])) > jump;
    return n_jumps > n_pairs / 2;
}

int* ty_bvh_order_scattered(int n, const double (*x)[3])
{
    if (!is_scattered(n, x)) return NULL;
    double lo[3], factor = cells_per_metre(box_of(n, x, lo), CELL_BITS);
    int *order = ty_alloc((size_t)n, sizeof *order), *cell = ty_alloc((size_t)n, sizeof *cell),
        *start = ty_alloc_zero(N_CELLS, sizeof *start), sum = 0;
    if (!order || !cell || !start) {
        ty_free(order);
        order = NULL;
    }
    for (int i = 0; order && i < n; ++i) {
        cell[i] = (int)code_of(x[i], lo, factor);
        ++start[cell[i]];
    }
    for (int c = 0; order && c < N_CELLS; ++c) {
        int here = start[c];
        start[c] = sum;
        sum += here;
    }
    for (int i = 0; order && i < n; ++i) order[start[cell[i]]++] = i;
    ty_free(cell);
    ty_free(start);
    return order;
}
