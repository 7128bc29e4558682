// SPDX-License-Identifier: Apache-2.0
#include "space/bvh_order.h"

#include <math.h>
#include <string.h>

// Bits per axis of a code, and of a digit of the sort: two digits hold three axes. Few points need
// no fine code, and clearing the counts of a large digit would cost more than they do.
enum { ORDER_BITS = 7, DIGIT_BITS = 11, FEW = 512, FEW_ORDER_BITS = 5, FEW_DIGIT_BITS = 8 };

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

void ty_bvh_order(int n, const double (*x)[3], uint16_t* order)
{
    uint32_t code[TY_BVH_ORDER_MOST];
    uint16_t first[TY_BVH_ORDER_MOST];
    double lo[3], extent = 0.0;
    int order_bits = n > FEW ? ORDER_BITS : FEW_ORDER_BITS,
        digit_bits = n > FEW ? DIGIT_BITS : FEW_DIGIT_BITS;
    for (int axis = 0; axis < 3; ++axis) {
        double hi = -INFINITY;
        lo[axis] = INFINITY;
        for (int i = 0; i < n; ++i) {
            lo[axis] = x[i][axis] < lo[axis] ? x[i][axis] : lo[axis];
            hi = x[i][axis] > hi ? x[i][axis] : hi;
        }
        extent = fmax(extent, hi - lo[axis]);
    }
    double factor = extent > 0.0 && isfinite(extent) ? 0.999 * (1 << order_bits) / extent : 0.0;
    for (int i = 0; i < n; ++i) {
        code[i] = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double u = (x[i][axis] - lo[axis]) * factor;
            code[i] |= spread_bits(u > 0.0 ? (unsigned)u : 0u) << axis;
        }
        order[i] = (uint16_t)i;
    }
    sort_by_digit(n, code, 0, digit_bits, order, first);
    sort_by_digit(n, code, digit_bits, digit_bits, first, order);
}
