// SPDX-License-Identifier: Apache-2.0
// What of the old liquid a face meets on a piece of its way back: that of eight boxes, around four
// points of the face at a quarter and at three quarters of the way.
//
//      c  +---+---+
//         | 2 | 3 |      points of a face normal to an axis, b and c the next two:
//         +---+---+      a quarter of a cell from its middle
//         | 0 | 1 |
//         +---+---+  b
#include "track/levelset/weigh.h"

enum { POINTS = 4 };
static const double QUARTER = 0.25;    // cells
// By how much phi may change more than a distance does: farther pieces are all liquid or all air.
static const double MOST_SLOPE = 1.3;
static const double DIAGONAL = 0.354;    // cells from a face's middle to its points

// Four points or four boxes, one to a lane.
typedef ty_vec3 lanes;

void ty_levelset_old_liquid(const ty_weigh_job* job, int n, const double (*x)[3], double* phi)
{
    const ty_levelset* ls = job->ls;
    ty_grid_linear(&ls->grid, ls->next, n, x, phi);
    if (job->sources) ty_levelset_fill_sources(ls, n, x, phi);
    for (int i = 0; i < n && job->open; ++i) {
        double out = ty_levelset_beyond_open(ls, x[i]);
        if (out > 0.0) phi[i] = ty_max(phi[i], out);
    }
}

// Weights of three values in a row for two points t and t + 1/2 after the first.
static inline void weights(double t, double low[3], double high[3])
{
    low[0] = 1.0 - t, low[1] = t, low[2] = 0.0;
    high[0] = ty_max(2.0 * QUARTER - t, 0.0);
    high[2] = ty_max(t - 2.0 * QUARTER, 0.0);
    high[1] = 1.0 - high[0] - high[2];
}

// phi at the points of a face whose middle is at lattice place s, from the 18 values around them.
// False where some would be outside the grid.
static inline bool inner_points(const ty_grid* g, const double* values, int axis, ty_vec3 s,
                                lanes* phi)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double from[3], w[2][2][3];
    const double* v = values;
    from[axis] = s[axis], from[b] = s[b] - QUARTER, from[c] = s[c] - QUARTER;
    for (int d = 0; d < 3; ++d) {
        if (!(from[d] >= 0.0 && from[d] < g->n[d] - 2)) return false;
        int base = (int)from[d];
        v += base * ty_grid_stride(g, d);
        from[d] -= base;
    }
    weights(from[b], w[0][0], w[0][1]);
    weights(from[c], w[1][0], w[1][1]);
    int64_t da = ty_grid_stride(g, axis), db = ty_grid_stride(g, b), dc = ty_grid_stride(g, c);
    *phi = (lanes){0};
    for (int k = 0; k < 3; ++k) {
        lanes row = {0};
        for (int j = 0; j < 3; ++j) {
            const double* at = v + j * db + k * dc;
            double value = at[0] + from[axis] * (at[da] - at[0]);
            row += (lanes){w[0][0][j], w[0][1][j], w[0][0][j], w[0][1][j]} * value;
        }
        *phi += (lanes){w[1][0][k], w[1][0][k], w[1][1][k], w[1][1][k]} * row;
    }
    return true;
}

// The same anywhere, sources and open sides included; x: the middle.
static lanes any_points(const ty_weigh_job* job, int axis, ty_vec3 x)
{
    double at[POINTS][3], phi[POINTS], off = QUARTER * job->ls->grid.cell;
    for (int k = 0; k < POINTS; ++k) {
        ty_store3(at[k], x);
        at[k][(axis + 1) % 3] += k & 1 ? off : -off;
        at[k][(axis + 2) % 3] += k & 2 ? off : -off;
    }
    ty_levelset_old_liquid(job, POINTS, (const double(*)[3])at, phi);
    return ty_load4(phi);
}

static lanes points(const ty_weigh_job* job, int axis, ty_vec3 x)
{
    const ty_grid* g = &job->ls->grid;
    ty_vec3 s = (x - ty_load3(g->origin)) / g->cell - ty_vec(0.5, 0.5, 0.5);
    lanes phi;
    if (!job->sources && !job->open && inner_points(g, job->ls->next, axis, s, &phi)) return phi;
    return any_points(job, axis, x);
}

// ty_share_below for four boxes; w: difference along the way.
static inline lanes shares_below(lanes p, lanes w)
{
    lanes u = __builtin_shufflevector(p, p, 1, 0, 3, 2) - p;
    lanes v = __builtin_shufflevector(p, p, 2, 3, 0, 1) - p;
    lanes across = u * u + v * v + w * w, zero = {0}, one = {1.0, 1.0, 1.0, 1.0};
    ty_lane_mask cut = across > 4.0 * p * p;
    for (int k = 0; k < POINTS; ++k) across[k] = sqrt(across[k]);
    return ty_pick(cut, 0.5 - p / ty_pick(cut, across, one), ty_pick(p < zero, one, zero));
}

static double share_of(const ty_weigh_job* job, int axis, ty_vec3 from, ty_vec3 to)
{
    lanes p = points(job, axis, from + 0.25 * (to - from));
    lanes q = points(job, axis, from + 0.75 * (to - from));
    lanes sum = shares_below(p, q - p) + shares_below(q, p - q);
    return (sum[0] + sum[1] + (sum[2] + sum[3])) / (2 * POINTS);
}

bool ty_levelset_far_from_way(const ty_levelset* ls, double phi, double length)
{
    double h = ls->grid.cell, boxes = QUARTER * sqrt(h * h + length * length);
    return fabs(phi) > MOST_SLOPE * (DIAGONAL * h + QUARTER * length + boxes);
}

// Pieces that the surface may cross; the others are liquid or air as their middle is.
void ty_levelset_add_shares(const ty_weigh_job* job, const ty_face_batch* b, const double (*to)[3],
                            double* share)
{
    double middle[TY_FACE_BATCH][3], phi[TY_FACE_BATCH];
    for (int i = 0; i < b->n; ++i)
        ty_store3(middle[i], 0.5 * (ty_load3(b->middle[i]) + ty_load3(to[i])));
    ty_levelset_old_liquid(job, b->n, (const double(*)[3])middle, phi);
    for (int i = 0; i < b->n; ++i) {
        ty_vec3 from = ty_load3(b->middle[i]), end = ty_load3(to[i]);
        if (ty_levelset_far_from_way(job->ls, phi[i], ty_norm(end - from)))
            share[i] += phi[i] < 0.0;
        else share[i] += share_of(job, b->axis[i], from, end);
    }
}
