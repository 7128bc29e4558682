// SPDX-License-Identifier: Apache-2.0
// How much liquid is in a cell, so that the sum over cells is the volume that is written and
// counted.
//
// That volume is of a contour whose vertices lie between centres of cells (track/cut.c): it cuts
// corners, 1.6 % of a jet of three cells' radius. So the boxes between eight centres are measured,
// by tetrahedra, and each is dealt out to the eight cells around its corners. Cells that an obstacle
// cuts are measured by points. Sources that stand still are full, whatever the values say: the
// tracker is united with them after the step.
#include "track/levelset/levelset.h"

enum { SUB = 2, CUT_SUB = 4, MOST_POINTS = CUT_SUB * CUT_SUB * CUT_SUB };

static const double FAR_SLACK = 0.3;    // cells by which linear values and their slope may be off
static const double HALF_DIAGONAL = 0.87;    // cells: a cell nearer to an obstacle may be cut by it
static const double FAR_CELL = 1.8;          // cells: no box around a farther centre is cut
static const double LEAST_SHARE = 1e-6;      // of a part whose corner is liquid
// How far phi's differences may be from those of a distance: at edges they are not the surface's.
static const double LEAST_SLOPE = 0.8, MOST_SLOPE = 1.5;

void ty_levelset_low_corner(const ty_levelset* ls, int cell, double low[3])
{
    int ijk[3];
    ty_grid_coords(&ls->grid, cell, ijk);
    for (int axis = 0; axis < 3; ++axis)
        low[axis] = ls->grid.origin[axis] + ls->grid.cell * ijk[axis];
}

// Points of a cell, `sub` along each axis.
static void points_of(const ty_levelset* ls, int cell, int sub, double (*x)[3])
{
    double low[3];
    ty_levelset_low_corner(ls, cell, low);
    for (int k = 0; k < sub * sub * sub; ++k)
        for (int axis = 0, rest = k; axis < 3; ++axis, rest /= sub)
            x[k][axis] = low[axis] + (rest % sub + 0.5) / sub * ls->grid.cell;
}

static bool is_cut(const ty_levelset* ls, int cell)
{
    return ls->solid && ls->solid[cell] < HALF_DIAGONAL * ls->grid.cell;
}

void ty_levelset_fill_sources(const ty_levelset* ls, int n, const double (*x)[3], double* phi)
{
    double d[TY_SAMPLE_BATCH];
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source source = ty_world_source(ls->world, i);
        if (!source.on || source.moves) continue;
        ty_sample(&source.distance, n, x, d);
        for (int k = 0; k < n; ++k) phi[k] = ty_min(phi[k], d[k]);
    }
}

bool ty_levelset_near_source(const ty_levelset* ls, int cell, double cells)
{
    double x[1][3], d;
    ty_levelset_low_corner(ls, cell, x[0]);
    for (int axis = 0; axis < 3; ++axis) x[0][axis] += 0.5 * ls->grid.cell;
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source source = ty_world_source(ls->world, i);
        if (!source.on) continue;
        ty_sample(&source.distance, 1, (const double(*)[3])x, &d);
        if (d < cells * ls->grid.cell) return true;
    }
    return false;
}

// The values at n points of a cell. Where all of them are far from the surface, that at the cell's
// centre stands for all: most cells of the list are.
static void values_at(const ty_levelset* ls, int cell, const double* values, int n,
                      const double (*x)[3], double* phi)
{
    double far = values ? values[cell] : INFINITY;
    if (fabs(far) > (HALF_DIAGONAL + FAR_SLACK) * ls->grid.cell) {
        for (int k = 0; k < n; ++k) phi[k] = far;
    } else {
        ty_levelset_field field = {&ls->grid, values};
        ty_levelset_eval(&field, n, x, phi);
    }
    ty_levelset_fill_sources(ls, n, x, phi);
}

// How much of every point's own box is open.
static void openings(const ty_levelset* ls, int n, double width, const double (*x)[3], double* open)
{
    if (ls->solid) ty_grid_linear(&ls->grid, ls->solid, n, x, open);
    for (int k = 0; k < n; ++k) {
        open[k] = ls->solid ? ty_clamp(0.5 + open[k] / width, 0.0, 1.0) : 1.0;
        for (int axis = 0; axis < 3; ++axis)
            if (x[k][axis] < ls->lo[axis] || x[k][axis] > ls->hi[axis]) open[k] = 0.0;
    }
}

double ty_share_below(double phi, double across)
{
    if (across > fabs(2.0 * phi)) return 0.5 - phi / across;
    return phi < 0.0 ? 1.0 : 0.0;
}

// What of a tetrahedron is liquid, phi linear.
static double tet_share(double a, double b, double c, double d)
{
    double p[4] = {a, b, c, d};
    int in = 0, low = 0, high = 4;
    double q[4];    // liquid corners first
    for (int k = 0; k < 4; ++k) {
        in += p[k] < 0.0;
        q[p[k] < 0.0 ? low++ : --high] = p[k];
    }
    if (in == 0 || in == 4) return in / 4;
    if (in == 1) return q[0] / (q[0] - q[1]) * (q[0] / (q[0] - q[2])) * (q[0] / (q[0] - q[3]));
    if (in == 3)
        return 1.0 - q[3] / (q[3] - q[0]) * (q[3] / (q[3] - q[1])) * (q[3] / (q[3] - q[2]));
    double ac = q[0] / (q[0] - q[2]), ad = q[0] / (q[0] - q[3]), bc = q[1] / (q[1] - q[2]),
           bd = q[1] / (q[1] - q[3]);
    return ac * ad + ac * bd * (1.0 - ad) + bc * bd * (1.0 - ac);
}

// What of a box is liquid, as a contour has it, from phi at its corners.
static double box_share(const double p[8])
{
    static const int way[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    double sum = 0.0;
    for (int t = 0; t < 6; ++t) sum += tet_share(p[0], p[way[t][0]], p[way[t][1]], p[7]);
    return sum / 6.0;
}

// A box between eight centres of cells, cut at the domain's sides: phi at its corners; returns its
// size, cells^3.
static double lattice_box(const ty_levelset* ls, const double* values, bool sources, int64_t low,
                          double p[8])
{
    int ijk[3];
    double size = 1.0, x[8][3];
    ty_grid_coords(&ls->grid, low, ijk);
    for (int k = 0; k < 8; ++k) {
        int64_t node = low + (k & 1) + (k >> 1 & 1) * ty_grid_stride(&ls->grid, 1) +
                       (k >> 2) * ty_grid_stride(&ls->grid, 2);
        p[k] = values ? values[node] : ls->band;
        for (int axis = 0; axis < 3 && sources; ++axis) {
            double h = ls->grid.cell, at = h * (ijk[axis] + 0.5 + (k >> axis & 1));
            x[k][axis] = ls->grid.origin[axis] + at;    // the world ends at the domain's sides
            if (!values)
                x[k][axis] = ty_clamp(x[k][axis], ls->lo[axis] + 0.5 * h, ls->hi[axis] - 0.5 * h);
        }
    }
    if (sources) ty_levelset_fill_sources(ls, 8, (const double(*)[3])x, p);
    for (int axis = 0; axis < 3; ++axis) {
        double at = ls->grid.origin[axis] + (ijk[axis] + 0.5) * ls->grid.cell;
        double from = ty_clamp((ls->lo[axis] - at) / ls->grid.cell, 0.0, 1.0);
        double to = ty_clamp((ls->hi[axis] - at) / ls->grid.cell, 0.0, 1.0);
        size *= to - from;
        if (to - from == 1.0) continue;
        for (int k = 0; k < 8; ++k) {
            if (k >> axis & 1) continue;
            double a = p[k], b = p[k | 1 << axis];
            p[k] = a + from * (b - a);
            p[k | 1 << axis] = a + to * (b - a);
        }
    }
    return size;
}

// Whether the part of a box around one of its corners lies in the domain.
static bool part_inside(const ty_levelset* ls, int64_t low, int corner)
{
    int ijk[3];
    bool inside = true;
    ty_grid_coords(&ls->grid, low, ijk);
    for (int axis = 0; axis < 3; ++axis) {
        double x = ls->grid.origin[axis] +
                   ls->grid.cell * (ijk[axis] + 0.75 + 0.5 * (corner >> axis & 1));
        inside = inside && x > ls->lo[axis] && x < ls->hi[axis];
    }
    return inside;
}

// phi in the middle of each of a box's eight parts.
static void middles(const double p[8], double q[8])
{
    for (int k = 0; k < 8; ++k) q[k] = p[k];
    for (int bit = 1; bit < 8; bit *= 2)
        for (int k = 0; k < 8; ++k) {
            if (k & bit) continue;
            double a = q[k], b = q[k | bit];
            q[k] = 0.75 * a + 0.25 * b;
            q[k | bit] = 0.25 * a + 0.75 * b;
        }
}

// The liquid of such a box that belongs to the cell around its corner `corner`: the box's as a
// contour has it, dealt out by what a point in each cell's part says.
static double part_of_box(const ty_levelset* ls, const double* values, bool sources, int64_t low,
                          int corner, double* area)
{
    double p[8], q[8], size = lattice_box(ls, values, sources, low, p), all = 0.0, parts = 0.0;
    double h = ls->grid.cell, own = 0.0;
    int in = 0;
    for (int k = 0; k < 8; ++k) in += p[k] < 0.0;
    if (in == 0 || (size < 1.0 && !part_inside(ls, low, corner))) return 0.0;
    middles(p, q);
    if (fabs(q[corner]) * SUB < 0.5 * h) *area += SUB / 8.0;
    if (in == 8 && size == 1.0) return 0.125;
    for (int k = 0; k < 8; ++k) {
        if (size < 1.0 && !part_inside(ls, low, k)) continue;
        double share = ty_clamp(0.5 - q[k] * SUB / h, 0.0, 1.0) + (p[k] < 0.0 ? LEAST_SHARE : 0.0);
        parts += 1.0;
        all += share;
        if (k == corner) own = share;
    }
    if (in == 8) return size / parts;
    return all > 0.0 && own > 0.0 ? size * box_share(p) * own / all : 0.0;
}

static double contoured_in(const ty_levelset* ls, int cell, const double* values, double* area)
{
    double sum = 0.0;
    bool sources = ty_levelset_near_source(ls, cell, FAR_CELL);
    *area = 0.0;
    if (!sources && fabs(values[cell]) > FAR_CELL * ls->grid.cell) {
        if (values[cell] > 0.0) return 0.0;
        double x[8][3], open[8];
        points_of(ls, cell, SUB, x);
        openings(ls, 8, ls->grid.cell, (const double(*)[3])x, open);
        for (int k = 0; k < 8; ++k) sum += open[k] / 8.0;
        return sum;
    }
    for (int corner = 0; corner < 8; ++corner) {
        int64_t low = cell - ((corner & 1) + (corner >> 1 & 1) * ty_grid_stride(&ls->grid, 1) +
                              (corner >> 2) * ty_grid_stride(&ls->grid, 2));
        sum += part_of_box(ls, values, sources, low, corner, area);
    }
    return sum;
}

double ty_levelset_liquid_in(const ty_levelset* ls, int cell, const double* values, double* area)
{
    if (!is_cut(ls, cell)) return contoured_in(ls, cell, values, area);
    const int sub = CUT_SUB, n = MOST_POINTS;
    double x[MOST_POINTS][3], phi[MOST_POINTS], open[MOST_POINTS], sum = 0.0, cut = 0.0;
    double width = ls->grid.cell / sub;
    points_of(ls, cell, sub, x);
    values_at(ls, cell, values, n, (const double(*)[3])x, phi);
    openings(ls, n, width, (const double(*)[3])x, open);
    for (int k = 0; k < n; ++k) {
        double u = phi[k ^ 1] - phi[k], v = phi[k ^ sub] - phi[k],
               w = phi[k ^ (sub * sub)] - phi[k];
        double across = sqrt(u * u + v * v + w * w);
        across = ty_clamp(across, LEAST_SLOPE * width, MOST_SLOPE * width);
        sum += open[k] * ty_share_below(phi[k], across);
        if (across > fabs(2.0 * phi[k])) cut += open[k] / across;
    }
    *area = cut * ls->grid.cell / n;
    return sum / n;
}
