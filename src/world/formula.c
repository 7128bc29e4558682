// SPDX-License-Identifier: Apache-2.0
#include "world/formula.h"

#include "core/vec.h"
#include "geometry/sampler.h"

static const double GRADIENT_STEP = 1e-3;    // cells: differences keep nine digits of a smooth phi
// Seconds, the same for motion slower than a cell in a hundredth
static const double TIME_STEP = 1e-5;
static const double BAND = 6.0;     // cells: beyond, first order will do
static const double REACH = 1e4;    // cells: longest distance said

static void values(const ty_varying* phi, double t, ty_fault* fault, int n, double (*x)[3],
                   double* out)
{
    ty_status s = ty_varying_eval(phi, t, n, (const double(*)[3])x, out);
    if (s.code == TY_OK) return;
    if (fault) ty_fault_note(fault, &s);
    for (int i = 0; i < n; ++i)
        if (!isfinite(out[i])) out[i] = 1.0;
}

// phi and its gradient.
static void jets(const ty_varying* phi, double t, double cell, ty_fault* fault, int n,
                 const double (*x)[3], double* value, double (*gradient)[3])
{
    double at[TY_SAMPLE_BATCH][3], lo[TY_SAMPLE_BATCH], hi[TY_SAMPLE_BATCH],
        h = GRADIENT_STEP * cell;
    for (int i = 0; i < n; ++i) ty_store3(at[i], ty_load3(x[i]));
    values(phi, t, fault, n, at, value);
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < n; ++i) at[i][axis] = x[i][axis] - h;
        values(phi, t, fault, n, at, lo);
        for (int i = 0; i < n; ++i) at[i][axis] = x[i][axis] + h;
        values(phi, t, fault, n, at, hi);
        for (int i = 0; i < n; ++i) {
            gradient[i][axis] = (hi[i] - lo[i]) / (2.0 * h);
            at[i][axis] = x[i][axis];
        }
    }
}

// phi / |grad phi|, bounded by `reach` where the gradient vanishes.
static double ratio(double phi, ty_vec3 g, double reach)
{
    double q = phi / reach, size = sqrt(ty_dot(g, g) + q * q);
    return size > 0.0 ? phi / size : 0.0;
}

void ty_formula_distance(const ty_varying* phi, double t, double cell, ty_fault* fault, int n,
                         const double (*x)[3], double* out)
{
    double value[TY_SAMPLE_BATCH], g[TY_SAMPLE_BATCH][3], foot[TY_SAMPLE_BATCH][3];
    double value2[TY_SAMPLE_BATCH], reach = REACH * cell, band = BAND * cell;
    int id[TY_SAMPLE_BATCH], m = 0;
    jets(phi, t, cell, fault, n, x, value, g);
    for (int i = 0; i < n; ++i) {
        out[i] = ratio(value[i], ty_load3(g[i]), reach);
        if (!(fabs(out[i]) < band)) continue;
        ty_store3(foot[m], ty_load3(x[i]) - out[i] * ty_normalize(ty_load3(g[i])));
        id[m++] = i;
    }
    jets(phi, t, cell, fault, m, (const double(*)[3])foot, value2, g);
    for (int k = 0; k < m; ++k) {
        double d1 = out[id[k]], u = ty_min(2.0 - 2.0 * fabs(d1) / band, 1.0);
        double d = d1 + u * u * (3.0 - 2.0 * u) * ratio(value2[k], ty_load3(g[k]), reach);
        if (d * d1 > 0.0 && fabs(d) < 2.0 * fabs(d1)) out[id[k]] = d;
    }
}

void ty_formula_velocity(const ty_varying* phi, double t, double cell, ty_fault* fault, int n,
                         const double (*x)[3], double (*out)[3])
{
    double value[TY_SAMPLE_BATCH], g[TY_SAMPLE_BATCH][3], before[TY_SAMPLE_BATCH],
        after[TY_SAMPLE_BATCH];
    double at[TY_SAMPLE_BATCH][3];
    jets(phi, t, cell, fault, n, x, value, g);
    for (int i = 0; i < n; ++i) ty_store3(at[i], ty_load3(x[i]));
    values(phi, t - TIME_STEP, fault, n, at, before);
    values(phi, t + TIME_STEP, fault, n, at, after);
    for (int i = 0; i < n; ++i) {
        ty_vec3 slope = ty_load3(g[i]);
        double square = ty_dot(slope, slope), rate = (after[i] - before[i]) / (2.0 * TIME_STEP);
        ty_store3(out[i], square > 0.0 ? -rate / square * slope : ty_vec(0, 0, 0));
    }
}
