// SPDX-License-Identifier: Apache-2.0
// A bracket and a third point: the next guess is the zero of the parabola through them (of the
// chord, the first time). Edges that graze the surface see a parabola, and there the secant alone
// needs many steps: sphere of 11 cells' radius, worst vertex after 2 steps 1.3e-3 of a cell by
// Illinois, 4e-9 so.
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "mesh/contour.h"

// Of the values at the ends: a smaller one is rounding, and a parabola through such values leads
// anywhere.
static const double ROUNDING = 1e-13;
// Of the same: asked more often only where a kink keeps it from that
static const double FOUND = 1e-6;

// Of the same, at the chord's zero: the parabola's is as good as FOUND then; between ends within
// phi's exact band a larger value leaves little more, for callers who follow kinks (a ball of 8 cells'
// radius contoured a hundred times moves by less than 1e-3 of a cell with 2e-3).
static const double NEARLY = 5e-4, NEARLY_EXACT = 2e-3;

typedef struct bracket {
    double lo, hi, f_lo, f_hi;
    double third, f_third;    // an earlier end; equal to lo before there is one
} bracket;

// The zero of f_lo (1 - s) + f_hi s + bend s (s - 1) in 0..1, where f_lo and f_hi differ in sign.
static double parabola_zero(double f_lo, double f_hi, double bend)
{
    double linear = f_hi - f_lo - bend;
    double root = sqrt(fmax(linear * linear - 4.0 * bend * f_lo, 0.0));
    double q = -0.5 * (linear + copysign(root, linear));
    double s = f_lo / q;    // the zero of smaller size; the other one is q / bend
    if (!(s >= 0.0 && s <= 1.0)) s = q / bend;
    return s >= 0.0 && s <= 1.0 ? s : f_lo / (f_lo - f_hi);
}

static double guess(const bracket* b)
{
    double width = b->hi - b->lo, bend = 0.0;
    if (width <= 0.0) return b->lo;
    if (b->third != b->lo && b->third != b->hi && width > 0.0) {
        double d_lo = (b->f_third - b->f_lo) / (b->third - b->lo);
        bend = (d_lo - (b->f_hi - b->f_lo) / width) / (b->third - b->hi) * width * width;
    }
    return b->lo + width * parabola_zero(b->f_lo, b->f_hi, bend);
}

static void shrink(bracket* b, double t, double f)
{
    bool low = (f < 0.0) == (b->f_lo < 0.0);
    double* end = low ? &b->lo : &b->hi;
    double* f_end = low ? &b->f_lo : &b->f_hi;
    b->third = *end;
    b->f_third = *f_end;
    *end = t;
    *f_end = f;
}

// Those of the n open ones that the step before did not find well enough.
static int still_open(double exact_band, int n, int step, const double* f, const double* fa,
                      const double* fb, int* open)
{
    int n_open = 0;
    for (int j = 0; j < n; ++j) {
        int i = open[j];
        double a = fabs(fa[i]), b = fabs(fb[i]), enough = FOUND;
        if (step < TY_CONTOUR_REFINE)
            enough = a <= exact_band && b <= exact_band ? NEARLY_EXACT : NEARLY;
        if (step == 0 || !(fabs(f[i]) <= enough * (a + b))) open[n_open++] = i;
    }
    return n_open;
}

void ty_find_zeros_on(const ty_sampler* phi, int refine, int n, const double (*a)[3],
                      const double (*b)[3], const double* fa, const double* fb, double* f_chord,
                      bool known, double* t)
{
    bracket k[TY_SAMPLE_BATCH];
    double x[TY_SAMPLE_BATCH][3], f[TY_SAMPLE_BATCH], f_open[TY_SAMPLE_BATCH];
    int open[TY_SAMPLE_BATCH], n_open = n;
    double band = refine >= TY_CONTOUR_REFINE_KINKS ? phi->exact_band : 0.0;
    assert(n <= TY_SAMPLE_BATCH);
    for (int i = 0; i < n; ++i) {
        k[i] = (bracket){0.0, 1.0, fa[i], fb[i], 0.0, fa[i]};
        open[i] = i;
    }
    for (int step = 0; step < refine; ++step) {
        n_open = still_open(band, n_open, step, f, fa, fb, open);
        if (n_open == 0) break;
        for (int j = 0; j < n_open; ++j) {
            int i = open[j];
            t[i] = guess(&k[i]);
            for (int axis = 0; axis < 3; ++axis)
                x[j][axis] = a[i][axis] + t[i] * (b[i][axis] - a[i][axis]);
        }
        if (step == 0 && known) memcpy(f_open, f_chord, (size_t)n * sizeof *f_open);
        else ty_sample(phi, n_open, (const double(*)[3])x, f_open);
        if (step == 0 && f_chord && !known) memcpy(f_chord, f_open, (size_t)n * sizeof *f_open);
        for (int j = 0; j < n_open; ++j) {
            int i = open[j];
            f[i] = f_open[j];
            if (fabs(f[i]) <= ROUNDING * (fabs(fa[i]) + fabs(fb[i]))) k[i].lo = k[i].hi = t[i];
            else shrink(&k[i], t[i], f[i]);
        }
    }
    for (int i = 0; i < n; ++i) t[i] = guess(&k[i]);
}

void ty_find_zeros(const ty_sampler* phi, int refine, int n, const double (*a)[3],
                   const double (*b)[3], const double* fa, const double* fb, double* t)
{
    ty_find_zeros_on(phi, refine, n, a, b, fa, fb, NULL, false, t);
}
