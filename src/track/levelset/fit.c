// SPDX-License-Identifier: Apache-2.0
#include "track/levelset/fit.h"

#include <string.h>

enum { MIN_FIT = 8, MAX_FIT = 512, MAX_RULER = 8 };
static const double RADII[TY_FIT_RADII] = {
    1.6, 2.4, 3.2};    // cells around the wall point, widened while too few are open
// Cells: open cells further behind the wall point are not used
static const double SAME_SIDE = -0.6;
static const double CLAMPED = 0.999;    // of the band: values from here on are no distances
static const double PIVOT = 1e-8;    // of the largest: cells in a plane or line determine no slope
static const double SAME_PLACE = 1e-9;    // cells: rounding of places

// Cells for a fit: places relative to the wall point in cells, weights, ids.
typedef struct fit {
    int n;
    ty_vec3 e[MAX_FIT];    // 1, dx, dy, dz
    double w[MAX_FIT];
    int cell[MAX_FIT];
} fit;

// Places of cells along an axis within `radius` of w, relative to it, and exp(-place^2).
typedef struct ruler {
    int lo, hi;
    double at[MAX_RULER], weight[MAX_RULER];
} ruler;

static void lay_ruler(ruler* r, double w, double radius, int n)
{
    r->lo = (int)ty_max(0.0, ceil(w - radius));
    r->hi = (int)ty_min(n - 1.0, floor(w + radius));
    for (int i = r->lo; i <= r->hi; ++i) {
        double d = i - w;
        r->at[i - r->lo] = d;
        r->weight[i - r->lo] = exp(-d * d);
    }
}

// Cells with closed[] unset and a distance in phi (NULL: any value) within `radius` of the lattice
// place w, on the side of `out`.
static void gather(const ty_levelset* ls, const unsigned char* closed, const double* phi, ty_vec3 w,
                   ty_vec3 out, double radius, fit* f)
{
    double clamped = CLAMPED * ls->band;
    const ty_grid* g = &ls->grid;
    ruler r[3];
    for (int axis = 0; axis < 3; ++axis) lay_ruler(&r[axis], w[axis], radius, g->n[axis]);
    f->n = 0;
    for (int k = 0; k <= r[2].hi - r[2].lo; ++k)
        for (int j = 0; j <= r[1].hi - r[1].lo; ++j) {
            double weight = r[1].weight[j] * r[2].weight[k];
            int64_t first = ty_grid_index(g, r[0].lo, r[1].lo + j, r[2].lo + k);
            for (int i = 0; i <= r[0].hi - r[0].lo; ++i) {
                ty_vec3 d = ty_vec(r[0].at[i], r[1].at[j], r[2].at[k]);
                if (closed[first + i] || ty_dot(d, d) > radius * radius) continue;
                if (phi && fabs(phi[first + i]) >= clamped) continue;
                if (ty_dot(d, out) < SAME_SIDE) continue;
                f->w[f->n] = weight * r[0].weight[i];
                f->e[f->n] = (ty_vec3){1.0, d[0], d[1], d[2]};
                f->cell[f->n++] = (int)(first + i);
            }
        }
}

// Cholesky factor of a symmetric 4 x 4 matrix in place; false when it does not determine all four.
static bool factor4(double m[4][4])
{
    double largest = ty_max(ty_max(m[0][0], m[1][1]), ty_max(m[2][2], m[3][3]));
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = m[i][j];
            for (int k = 0; k < j; ++k) sum -= m[i][k] * m[j][k];
            if (i != j) m[i][j] = sum / m[j][j];
            else if (sum <= PIVOT * largest) return false;
            else m[i][i] = sqrt(sum);
        }
    return true;
}

static void solve4(double m[4][4], ty_vec3* x)
{
    double b[4];
    memcpy(b, x, sizeof b);
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < i; ++k) b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
    for (int i = 3; i >= 0; --i) {
        for (int k = i + 1; k < 4; ++k) b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
    }
    memcpy(x, b, sizeof b);
}

static double dot4(ty_vec3 a, ty_vec3 b)
{
    ty_vec3 p = a * b;
    return p[0] + p[1] + (p[2] + p[3]);
}

// The fitted linear function at `at` (cells from the wall point), and how well it fits: root of the
// weighted mean square of what is left. False when the values' weights in it would be too large.
static bool evaluate(const fit* f, ty_vec3 at, const double* phi, double max_weights, double* value,
                     double* misfit)
{
    double m[4][4];
    ty_vec3 e = {1.0, at[0], at[1], at[2]}, z = e, c = {0}, row[4] = {{0}};
    for (int k = 0; k < f->n; ++k) {
        ty_vec3 weighted = f->w[k] * f->e[k];
        c += phi[f->cell[k]] * weighted;
        for (int i = 0; i < 4; ++i) row[i] += f->e[k][i] * weighted;
    }
    memcpy(m, row, sizeof m);
    if (!factor4(m)) return false;
    solve4(m, &z);
    solve4(m, &c);
    double total = 0.0, sum = 0.0, all = 0.0;
    for (int k = 0; k < f->n; ++k) {
        double left = dot4(c, f->e[k]) - phi[f->cell[k]];
        total += fabs(f->w[k] * dot4(z, f->e[k]));
        sum += f->w[k] * left * left;
        all += f->w[k];
    }
    *value = dot4(c, e);
    *misfit = sqrt(sum / all);
    return total <= max_weights;
}

bool ty_fit_extend(const ty_levelset* ls, const unsigned char* closed, const double* phi, ty_vec3 x,
                   ty_vec3 w, int n_radii, double max_weights, double* value, double* misfit)
{
    fit f;
    ty_vec3 out = ty_normalize(w - x);
    for (int k = 0; k < n_radii; ++k) {
        gather(ls, closed, phi, w, out, RADII[k], &f);
        if (f.n >= MIN_FIT && evaluate(&f, x - w, phi, max_weights, value, misfit)) return true;
    }
    return false;
}

static bool same_pattern(const ty_fit_pattern* p, const fit* f, int cell, ty_vec3 from_wall)
{
    if (p->n_fours != (f->n + 3) / 4 || !(ty_norm(p->from_wall - from_wall) < SAME_PLACE))
        return false;
    for (int k = 0; k < 4 * p->n_fours; ++k)
        if (p->four[k / 4].offset[k % 4] != f->cell[k < f->n ? k : 0] - cell) return false;
    return true;
}

// c = sum of phi_k m^-1 w_k e_k is the fitted function.
static bool make_pattern(const fit* f, int cell, ty_vec3 from_wall, ty_fit_pattern* p)
{
    double m[4][4], total = 0.0;
    ty_vec3 row[4] = {{0}}, e = {1.0, from_wall[0], from_wall[1], from_wall[2]};
    *p = (ty_fit_pattern){.n_fours = (f->n + 3) / 4, .from_wall = from_wall};
    for (int k = 0; k < f->n; ++k)
        for (int i = 0; i < 4; ++i) row[i] += f->e[k][i] * f->w[k] * f->e[k];
    memcpy(m, row, sizeof m);
    if (!factor4(m)) return false;
    for (int k = 0; k < 4 * p->n_fours; ++k)
        p->four[k / 4].offset[k % 4] = f->cell[k < f->n ? k : 0] - cell;
    for (int k = 0; k < f->n; ++k) {
        ty_fit_four* four = &p->four[k / 4];
        ty_vec3 share = f->w[k] * f->e[k];
        solve4(m, &share);
        total += fabs(dot4(share, e));
        for (int i = 0; i < 4; ++i) four->share[i][k % 4] = share[i];
        for (int i = 0; i < 3; ++i) four->d[i][k % 4] = f->e[k][1 + i];
        four->weight[k % 4] = f->w[k];
        p->weights += f->w[k];
    }
    return total <= TY_FIT_WEIGHTS;
}

static int known_pattern(const ty_levelset* ls, const fit* f, int cell, ty_vec3 from_wall)
{
    for (int64_t i = ls->pattern.n; i-- > 0;)    // neighbours look alike
        if (same_pattern(&ls->pattern.at[i], f, cell, from_wall)) return (int)i;
    return -1;
}

ty_status ty_fit_find_pattern(ty_levelset* ls, int cell, ty_vec3 x, ty_vec3 w, int* pattern)
{
    fit f;
    ty_fit_pattern found;
    *pattern = -1;
    for (int k = 0; k < TY_FIT_RADII; ++k) {
        gather(ls, ls->closed, NULL, w, ty_normalize(w - x), RADII[k], &f);
        if (f.n < MIN_FIT) continue;
        if (f.n > 4 * TY_PATTERN_FOURS) break;
        *pattern = known_pattern(ls, &f, cell, x - w);
        if (*pattern >= 0) break;
        if (!make_pattern(&f, cell, x - w, &found)) continue;
        *pattern = (int)ls->pattern.n;
        return ty_array_push(&ls->pattern, found) ? ty_ok() : ty_no_memory("cells behind walls");
    }
    return ty_ok();
}

bool ty_fit_same(const ty_levelset* ls, int cell_a, int pattern_a, int cell_b, int pattern_b)
{
    if (pattern_a < 0 || pattern_b < 0) return false;
    const ty_fit_pattern *a = &ls->pattern.at[pattern_a], *b = &ls->pattern.at[pattern_b];
    int at_a[3], at_b[3];
    ty_grid_coords(&ls->grid, cell_a, at_a);
    ty_grid_coords(&ls->grid, cell_b, at_b);
    ty_vec3 apart = ty_vec(at_a[0] - at_b[0], at_a[1] - at_b[1], at_a[2] - at_b[2]);
    if (!(ty_norm(apart - (a->from_wall - b->from_wall)) < SAME_PLACE)) return false;
    bool same = a->n_fours == b->n_fours;
    for (int k = 0; same && k < 4 * a->n_fours; ++k)
        same = cell_a + a->four[k / 4].offset[k % 4] == cell_b + b->four[k / 4].offset[k % 4];
    return same;
}

static inline double sum4(ty_vec3 a) { return a[0] + a[1] + (a[2] + a[3]); }

bool ty_fit_apply(const ty_levelset* ls, int pattern, int cell, const double* phi, double c[4],
                  double* misfit)
{
    const ty_fit_pattern* p = &ls->pattern.at[pattern];
    ty_vec3 values[TY_PATTERN_FOURS], sum[4] = {{0}}, squares = {0};
    double clamped = CLAMPED * ls->band;
    bool known = true;
    for (int k = 0; k < p->n_fours; ++k) {
        const ty_fit_four* four = &p->four[k];
        const double* at = phi + cell;
        ty_vec3 v = {at[four->offset[0]], at[four->offset[1]], at[four->offset[2]],
                     at[four->offset[3]]};
        for (int i = 0; i < 4; ++i) known &= fabs(v[i]) < clamped;
        for (int i = 0; i < 4; ++i) sum[i] += four->share[i] * v;
        values[k] = v;
    }
    if (!known) return false;
    for (int i = 0; i < 4; ++i) c[i] = sum4(sum[i]);
    for (int k = 0; k < p->n_fours; ++k) {
        const ty_fit_four* four = &p->four[k];
        ty_vec3 left = c[0] + c[1] * four->d[0] + c[2] * four->d[1] + c[3] * four->d[2] - values[k];
        squares += four->weight * left * left;
    }
    *misfit = sqrt(sum4(squares) / p->weights);
    return true;
}

double ty_fit_value(const ty_levelset* ls, int pattern, const double c[4])
{
    const ty_fit_pattern* p = &ls->pattern.at[pattern];
    return c[0] + (c[1] * p->from_wall[0] + c[2] * p->from_wall[1] + c[3] * p->from_wall[2]);
}
