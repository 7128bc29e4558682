// SPDX-License-Identifier: Apache-2.0
#include "field/cubic.h"

// Ratio of neighbouring second differences that no resolved surface has
static const double KINK = 3.0;
// Newton's steps from a straight line's zero; 1e-6 cells where the values are distances.
enum { ZERO_STEPS = 3 };

// The four values of a row; beyond the border they go on linearly.
typedef struct stencil {
    int64_t offset[4];
    double t;
    bool low, high;    // offset[0], offset[3] is beyond the border
    bool single;       // one cell only
} stencil;

static inline stencil place(double s, int n, int64_t stride)
{
    stencil p;
    s = s > 0.0 ? s : 0.0;    // also for NaN
    s = s < n - 1.0 ? s : n - 1.0;
    int base = (int)s;
    base = base < n - 2 ? base : n - 2;
    base = base > 0 ? base : 0;
    p.t = s - base;
    p.low = base == 0;
    p.high = base >= n - 2;
    p.single = n == 1;
    for (int c = 0; c < 4; ++c) {
        int at = base + c - 1;
        at = at < 0 ? 0 : at > n - 1 ? n - 1 : at;
        p.offset[c] = at * stride;
    }
    return p;
}

// Four rows side by side: combined along x, then turned and combined along y, then z.
typedef ty_vec3 lanes;
typedef ty_lane_mask mask;

static inline lanes where(mask m, lanes value) { return (lanes)((mask)value & m); }
static inline lanes absolute(lanes a)
{
    return where((mask){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, a);    // all bits but the sign
}
static inline lanes same(double x) { return (lanes){x, x, x, x}; }

// What happens to the second differences a and b: dropped unless `kept`, KINK times the other one
// where `a`, `b`.
typedef struct limited {
    mask kept, a, b;
} limited;

static inline limited limit(lanes a, lanes b)
{
    lanes size_a = absolute(a), size_b = absolute(b);
    return (limited){a * b > same(0.0), size_a > KINK * size_b, size_b > KINK * size_a};
}

static inline void apply(const limited* l, lanes* a, lanes* b)
{
    lanes la = ty_pick(l->a, KINK * *b, *a), lb = ty_pick(l->b, KINK * *a, *b);
    *a = where(l->kept, la);
    *b = where(l->kept, lb);
}

static inline void extend(const stencil* p, lanes f[4])
{
    if (p->single) f[2] = f[1];
    if (p->low) f[0] = 2.0 * f[1] - f[2];
    if (p->high) f[3] = 2.0 * f[2] - f[1];
}

static inline lanes bent(double t, lanes a, lanes b)
{
    return 0.5 * t * (1.0 - t) * ((1.0 - t) * a + t * b);
}
static inline lanes bent_slope(double t, lanes a, lanes b)
{
    return 0.5 * ((1.0 - 2.0 * t) * ((1.0 - t) * a + t * b) + t * (1.0 - t) * (b - a));
}

// The second differences of four values along an axis; `inside`: no border is near.
static inline void bends_of(const stencil* p, bool inside, lanes f[4], lanes* a, lanes* b)
{
    if (!inside) extend(p, f);
    *a = f[0] - 2.0 * f[1] + f[2], *b = f[1] - 2.0 * f[2] + f[3];
}

// The value along one axis. `slope` gets the derivative when not NULL.
static inline lanes along(const stencil* p, bool inside, lanes f[4], lanes* slope, limited* limits)
{
    lanes a, b;
    bends_of(p, inside, f, &a, &b);
    *limits = limit(a, b);
    apply(limits, &a, &b);
    if (slope) *slope = f[2] - f[1] - bent_slope(p->t, a, b);
    return f[1] + p->t * (f[2] - f[1]) - bent(p->t, a, b);
}

// Something that goes along with the values: the same linear combination.
static inline lanes carried(const stencil* p, bool inside, lanes f[4], const limited* limits)
{
    lanes a, b;
    bends_of(p, inside, f, &a, &b);
    apply(limits, &a, &b);
    return f[1] + p->t * (f[2] - f[1]) - bent(p->t, a, b);
}

// The value in the first lane, and in the others something that goes along with it. *slope: the
// value's derivative.
static inline lanes along_with(const stencil* p, bool inside, lanes f[4], double* slope)
{
    lanes a, b;
    bends_of(p, inside, f, &a, &b);
    limited limits = limit(__builtin_shufflevector(a, a, 0, 0, 0, 0),
                           __builtin_shufflevector(b, b, 0, 0, 0, 0));
    apply(&limits, &a, &b);
    *slope = (f[2] - f[1] - bent_slope(p->t, a, b))[0];
    return f[1] + p->t * (f[2] - f[1]) - bent(p->t, a, b);
}

static inline lanes load(const double* v, const stencil* x, bool inside)
{
    if (inside || (!x->low && !x->high)) return ty_load4(v + x->offset[0]);
    return (lanes){v[x->offset[0]], v[x->offset[1]], v[x->offset[2]], v[x->offset[3]]};
}

// f[i][k] becomes f[k][i].
static inline void turn(lanes f[4])
{
    lanes a = __builtin_shufflevector(f[0], f[1], 0, 4, 2, 6),
          b = __builtin_shufflevector(f[0], f[1], 1, 5, 3, 7);
    lanes c = __builtin_shufflevector(f[2], f[3], 0, 4, 2, 6),
          d = __builtin_shufflevector(f[2], f[3], 1, 5, 3, 7);
    f[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    f[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    f[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    f[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// The values along x of the four rows of plane c.
__attribute__((always_inline)) static inline lanes along_x(const double* v, const stencil p[3],
                                                           bool inside, int c, lanes* slope)
{
    lanes f[4];
    limited limits;
    for (int b = 0; b < 4; ++b) f[b] = load(v + p[2].offset[c] + p[1].offset[b], &p[0], inside);
    turn(f);
    return along(&p[0], inside, f, slope, &limits);
}

static inline void place_all(const ty_grid* g, const double s[3], stencil p[3])
{
    for (int axis = 0; axis < 3; ++axis)
        p[axis] = place(s[axis], g->n[axis], ty_grid_stride(g, axis));
}

// The same where no border is near, as nearly everywhere; false elsewhere.
static inline bool place_inside(const ty_grid* g, const double s[3], stencil p[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        if (!(s[axis] >= 1.0 && s[axis] < g->n[axis] - 2.0)) return false;
        int base = (int)s[axis];
        int64_t stride = ty_grid_stride(g, axis);
        p[axis] = (stencil){.t = s[axis] - base};
        for (int c = 0; c < 4; ++c) p[axis].offset[c] = (base - 1) * stride + c * stride;
    }
    return true;
}

// Inlined twice, and planes by name instead of by a loop: so all is in registers, and without a border
// most of it is gone.
__attribute__((always_inline)) static inline double
gradient_at(const ty_cubic* f, const stencil p[3], bool inside, double gradient[3])
{
    lanes slope[4], dy;
    double dz;
    limited limits;
    lanes row[4] = {
        along_x(f->values, p, inside, 0, &slope[0]), along_x(f->values, p, inside, 1, &slope[1]),
        along_x(f->values, p, inside, 2, &slope[2]), along_x(f->values, p, inside, 3, &slope[3])};
    turn(row);
    turn(slope);
    lanes plane = along(&p[1], inside, row, &dy, &limits);
    lanes v[4] = {plane, carried(&p[1], inside, slope, &limits), dy, same(0.0)};
    turn(v);
    lanes all = along_with(&p[2], inside, v, &dz);
    ty_store3(gradient, f->scale * ty_vec(all[1], all[2], dz));
    return f->scale * all[0];
}

double ty_cubic_gradient(const ty_cubic* f, const double s[3], double gradient[3])
{
    stencil p[3];
    if (place_inside(f->grid, s, p)) return gradient_at(f, p, true, gradient);
    place_all(f->grid, s, p);
    return gradient_at(f, p, false, gradient);
}

__attribute__((always_inline)) static inline double value_in(const double* values,
                                                             const stencil p[3], bool inside)
{
    limited limits;
    lanes row[4] = {along_x(values, p, inside, 0, NULL), along_x(values, p, inside, 1, NULL),
                    along_x(values, p, inside, 2, NULL), along_x(values, p, inside, 3, NULL)};
    turn(row);
    lanes plane = along(&p[1], inside, row, NULL, &limits), v[4];
    for (int c = 0; c < 4; ++c) v[c] = same(plane[c]);
    return along(&p[2], inside, v, NULL, &limits)[0];
}

static double value_at(const ty_grid* g, const double* values, const double s[3])
{
    stencil p[3];
    if (place_inside(g, s, p)) return value_in(values, p, true);
    place_all(g, s, p);
    return value_in(values, p, false);
}

void ty_grid_distance(const ty_grid* g, const double* values, int n, const double (*x)[3],
                      double* out)
{
    double inverse = 1.0 / g->cell;
    for (int i = 0; i < n; ++i) {
        double s[3];
        for (int axis = 0; axis < 3; ++axis)
            s[axis] = (x[i][axis] - g->origin[axis]) * inverse - 0.5;
        out[i] = value_at(g, values, s);
    }
}

// The second differences of a row, limited.
static inline void bends(const double f[4], double* a, double* b)
{
    *a = f[0] - 2.0 * f[1] + f[2];
    *b = f[1] - 2.0 * f[2] + f[3];
    if (!(*a * *b > 0.0)) *a = *b = 0.0;
    else if (fabs(*a) > KINK * fabs(*b)) *a = KINK * *b;
    else if (fabs(*b) > KINK * fabs(*a)) *b = KINK * *a;
}

double ty_cubic_value(const double f[4], double t)
{
    double a, b;
    bends(f, &a, &b);
    return f[1] + t * (f[2] - f[1]) - 0.5 * t * (1.0 - t) * ((1.0 - t) * a + t * b);
}

// Newton's steps to the zero between `from` and `to`.
static inline double zero_from(double t, const double f[4], double a, double b, double from,
                               double to, double rise)
{
    for (int step = 0; step < ZERO_STEPS; ++step) {
        double bend = 0.5 * ((1.0 - t) * a + t * b);
        double value = f[1] + t * (f[2] - f[1]) - t * (1.0 - t) * bend;
        double slope = f[2] - f[1] - (1.0 - 2.0 * t) * bend - 0.5 * t * (1.0 - t) * (b - a);
        t = slope * rise > 0.0 ? ty_clamp(t - value / slope, from, to) : t;
    }
    return t;
}

double ty_cubic_zero_between(const double f[4], double from, double to)
{
    double a, b, low = ty_cubic_value(f, from), high = ty_cubic_value(f, to);
    bends(f, &a, &b);
    return zero_from(from + (to - from) * low / (low - high), f, a, b, from, to, high - low);
}

double ty_cubic_zero(const double f[4])
{
    double a, b, t = f[1] / (f[1] - f[2]);
    bends(f, &a, &b);
    return a == 0.0 ? t : zero_from(t, f, a, b, 0.0, 1.0, f[2] - f[1]);
}

// As ty_cubic_zero, to the bit.
static lanes zeros_of(lanes f[4])
{
    lanes zero = same(0.0), one = same(1.0), rise = f[2] - f[1];
    lanes a = f[0] - 2.0 * f[1] + f[2], b = f[1] - 2.0 * f[2] + f[3];
    limited limits = limit(a, b);
    apply(&limits, &a, &b);
    lanes straight = f[1] / (f[1] - f[2]), t = straight;
    for (int step = 0; step < ZERO_STEPS; ++step) {
        lanes bend = 0.5 * ((1.0 - t) * a + t * b);
        lanes value = f[1] + t * (f[2] - f[1]) - t * (1.0 - t) * bend;
        lanes slope = f[2] - f[1] - (1.0 - 2.0 * t) * bend - 0.5 * t * (1.0 - t) * (b - a);
        lanes next = t - value / slope;
        next = ty_pick(next < zero, zero, ty_pick(next > one, one, next));
        t = ty_pick(slope * rise > zero, next, t);
    }
    return ty_pick(a == zero, straight, t);
}

void ty_cubic_zeros(int n, const double (*f)[4], double* t)
{
    for (int i = 0; i < n; i += 4) {
        int left = n - i < 4 ? n - i : 4;
        lanes row[4];
        for (int k = 0; k < 4; ++k) row[k] = ty_load4(f[k < left ? i + k : i]);
        turn(row);
        lanes found = zeros_of(row);
        for (int k = 0; k < left; ++k) t[i + k] = found[k];
    }
}
