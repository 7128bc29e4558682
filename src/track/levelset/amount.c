// SPDX-License-Identifier: Apache-2.0
// How much liquid is in a cell, so that the sum over cells is the volume that is written and
// counted.
//
// That volume is of a contour whose vertices lie between centres of cells (track/cut.c): it cuts
// corners, 1.6 % of a jet of three cells' radius. So the boxes between eight centres are measured
// (box.c), and each is dealt out to the eight cells around its corners. Cells that an obstacle cuts
// are measured by points. Values are united with sources that stand still before (ty_levelset_fill).
#include <string.h>

#include "core/parallel.h"
#include "track/levelset/levelset.h"

enum { BLOCK = 256, SUB = 2, CUT_SUB = 4, MOST_POINTS = CUT_SUB * CUT_SUB * CUT_SUB };

static const double FAR_SLACK = 0.3;    // cells by which linear values and their slope may be off
static const double HALF_DIAGONAL = 0.87;    // cells: a cell nearer to an obstacle may be cut by it
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

// Of a box's corner from its lowest one, in memory.
static inline int64_t corner_offset(const ty_grid* g, int corner)
{
    return (corner & 1) + (corner >> 1 & 1) * ty_grid_stride(g, 1) +
           (corner >> 2) * ty_grid_stride(g, 2);
}

static bool is_cut(const ty_levelset* ls, int cell)
{
    return ls->solid && ls->solid[cell] < HALF_DIAGONAL * ls->grid.cell;
}

bool ty_levelset_fills(const ty_levelset* ls, const ty_source* source)
{
    return source->on || (ls->fills_last && source->delivered > 0.0);
}

void ty_levelset_fill_sources(const ty_levelset* ls, int n, const double (*x)[3], double* phi)
{
    double d[TY_SAMPLE_BATCH];
    for (int i = 0; i < ty_world_n_sources(ls->world); ++i) {
        ty_source source = ty_world_source(ls->world, i);
        if (!ty_levelset_fills(ls, &source) || source.moves) continue;
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
        if (!ty_levelset_fills(ls, &source)) continue;
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
    double far = values[cell];
    if (fabs(far) > (HALF_DIAGONAL + FAR_SLACK) * ls->grid.cell) {
        for (int k = 0; k < n; ++k) phi[k] = far;
    } else {
        ty_levelset_field field = {&ls->grid, values};
        ty_levelset_eval(&field, n, x, phi);
    }
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

// A box between eight centres of cells, the lowest of which is `low`, and what of it is liquid.
typedef struct box {
    double p[8], size;        // phi at its corners; cells^3, cut at the domain's sides
    double from[3], to[3];    // cells after its lowest corner: the part in the domain
    bool inside[8];           // whether the part around a corner lies in the domain
} box;

// What the boxes of one array of values are measured with.
typedef struct box_job {
    ty_levelset* ls;
    const double* values;
    const double* before;     // where values are as these, nothing is measured; or NULL
    int first[3], last[3];    // boxes that no side of the domain cuts
    int64_t corner[8];
} box_job;

static void cut_sides(const ty_levelset* ls, const int ijk[3], box* b)
{
    for (int axis = 0; axis < 3; ++axis) {
        double at = ls->grid.origin[axis] + (ijk[axis] + 0.5) * ls->grid.cell;
        double from = ty_clamp((ls->lo[axis] - at) / ls->grid.cell, 0.0, 1.0);
        double to = ty_clamp((ls->hi[axis] - at) / ls->grid.cell, 0.0, 1.0);
        b->from[axis] = from;
        b->to[axis] = to;
        b->size *= to - from;
        if (to - from == 1.0) continue;
        for (int k = 0; k < 8; ++k) {
            double middle = at + (0.25 + 0.5 * (k >> axis & 1)) * ls->grid.cell;
            b->inside[k] = b->inside[k] && middle > ls->lo[axis] && middle < ls->hi[axis];
            if (k >> axis & 1) continue;
            double low = b->p[k], high = b->p[k | 1 << axis];
            b->p[k] = low + from * (high - low);
            b->p[k | 1 << axis] = low + to * (high - low);
        }
    }
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

// The box's liquid as a contour has it, dealt out to the cells around its corners by what a point in
// each cell's part says.
static void deal_cut(const box_job* job, int64_t low, const box* b, ty_box_parts* out)
{
    double h = job->ls->grid.cell, q[8], share[8], all = 0.0, parts = 0.0, liquid = b->size;
    int in = 0;
    middles(b->p, q);
    for (int k = 0; k < 8; ++k) {
        in += b->p[k] < 0.0;
        share[k] = ty_clamp(0.5 - q[k] * SUB / h, 0.0, 1.0) + (b->p[k] < 0.0 ? LEAST_SHARE : 0.0);
        share[k] = b->inside[k] ? share[k] : 0.0;
        all += share[k];
        parts += b->inside[k];
        if (b->inside[k] && fabs(q[k]) * SUB < 0.5 * h) out->at_surface |= (uint8_t)(1 << k);
    }
    if (in == 0 || parts == 0.0 || !(all > 0.0)) {
        out->at_surface = 0;
        return;
    }
    if (in < 8)
        liquid *= b->size < 1.0 ? ty_levelset_cut_box(job->ls, job->values, low, b->from, b->to)
                                : ty_levelset_whole_box(job->ls, job->values, low);
    for (int k = 0; k < 8; ++k)
        out->liquid[k] = (float)(in == 8 ? (b->inside[k] ? liquid / parts : 0.0)
                                         : liquid * share[k] / all);
}

// The liquid of a box that belongs to the cells around its corners.
static void deal_box(const box_job* job, int low, ty_box_parts* out)
{
    double h = job->ls->grid.cell, least = INFINITY, most = -INFINITY;
    box b = {.size = 1.0};
    for (int k = 0; k < 8; ++k) {
        b.p[k] = job->values[low + job->corner[k]];
        least = ty_min(least, b.p[k]);
        most = ty_max(most, b.p[k]);
    }
    *out = (ty_box_parts){.at_surface = 0};
    if (!(least < 0.0)) return;
    int row = low / job->ls->grid.n[0];
    const int ijk[3] = {low - row * job->ls->grid.n[0], row % job->ls->grid.n[1],
                        row / job->ls->grid.n[1]};
    bool whole = true;
    for (int axis = 0; axis < 3; ++axis)
        whole = whole && ijk[axis] >= job->first[axis] && ijk[axis] <= job->last[axis];
    if (whole && most * 2 * SUB <= -h) {
        for (int k = 0; k < 8; ++k) out->liquid[k] = 1.0f / 8;
        return;
    }
    for (int k = 0; k < 8; ++k) b.inside[k] = true;
    if (!whole) cut_sides(job->ls, ijk, &b);
    deal_cut(job, low, &b, out);
}

// Whether a value differs that the interpolant in a box depends on.
static bool box_changed(const box_job* job, int64_t low)
{
    const ty_grid* g = &job->ls->grid;
    for (int64_t k = -1; k <= 2; ++k)
        for (int64_t j = -1; j <= 2; ++j) {
            int64_t row = low - 1 + j * ty_grid_stride(g, 1) + k * ty_grid_stride(g, 2);
            if (memcmp(job->values + row, job->before + row, 4 * sizeof *job->values)) return true;
        }
    return false;
}

static void deal_boxes(void* ctx, ty_range r)
{
    const box_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (!job->before || box_changed(job, job->ls->box.at[i]))
            deal_box(job, job->ls->box.at[i], &job->ls->parts.at[i]);
}

ty_status ty_levelset_list_boxes(ty_levelset* ls)
{
    int64_t size = ty_grid_size(&ls->grid);
    int64_t most = 8 * ls->kept.n < size ? 8 * ls->kept.n : size;
    ls->box.n = 0;
    if (!ty_array_resize(&ls->box_at, size) || !ty_array_reserve(&ls->box, most + 1))
        return ty_no_memory("cells at the surface");
    memset(ls->box_at.at, -1, (size_t)size * sizeof *ls->box_at.at);
    for (int64_t i = 0; i < ls->kept.n; ++i)
        for (int k = 0; k < 8 && !is_cut(ls, ls->kept.at[i].cell); ++k)
            ty_levelset_list(ls->kept.at[i].cell - corner_offset(&ls->grid, k), ls->box_at.at,
                             ls->box.at, &ls->box.n);
    return ty_array_resize(&ls->parts, ls->box.n) ? ty_ok() : ty_no_memory("cells at the surface");
}

void ty_levelset_measure_boxes(ty_levelset* ls, const double* values, const double* before)
{
    box_job job = {.ls = ls, .values = values, .before = before};
    for (int k = 0; k < 8; ++k) job.corner[k] = corner_offset(&ls->grid, k);
    for (int axis = 0; axis < 3; ++axis) {
        double h = ls->grid.cell, middle = ls->grid.origin[axis] + 0.5 * h;
        job.first[axis] = (int)ceil((ls->lo[axis] - middle) / h);
        job.last[axis] = (int)floor((ls->hi[axis] - middle) / h) - 1;
    }
    ty_parallel_for(ls->box.n, BLOCK, deal_boxes, &job);
}

static double contoured_in(const ty_levelset* ls, int cell, const double* values, double* area)
{
    double sum = 0.0;
    int surface = 0;
    for (int k = 0; k < 8; ++k) {
        const ty_box_parts* b = &ls->parts.at[ls->box_at.at[cell - corner_offset(&ls->grid, k)]];
        sum += (double)b->liquid[k];
        surface += b->at_surface >> k & 1;
    }
    bool fixed = ls->filled_by && values[cell] == ls->filled[cell];    // a source's surface stays
    *area = fixed ? 0.0 : surface * SUB / 8.0;
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
