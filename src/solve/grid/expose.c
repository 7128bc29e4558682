// SPDX-License-Identifier: Apache-2.0
// The velocity that moves the surface.
//
// Gravity turns the surface's place into pressure, pressure into velocity, velocity into the
// surface's place. The pressure is given where the surface crosses the line between a liquid centre
// i and an air centre j, and drives the one face f between them. The loop is stable when the
// crossing moves with that face: then what gravity gives to the faces is what the surface takes
// from its height. A tracker that samples at centres moves the crossing by
//     (1 - theta) v_i + theta v_j = (1 - theta)/2 u_below + u_f/2 + theta/2 u_above,
// so u_f has to stand on both sides of itself. Above it does, by continuation; below we put it
// there, in a copy that only trackers see. Ripples of 0.001 cells on a tilted pool still grow, from
// an rms speed of 1.1e-4 to 1.3e-3 m/s in 12 seconds at 16 cells. In violent flow
// (ty_gridflow_trust) the velocity stays what it is, for only then does the surface enclose the
// same volume.
//
// The path of a point in a step is that through the velocity at its middle, u + dt/2 du/dt. The
// rate is not the carried acceleration, which belongs to points that move, but a - (u . grad) u.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { ROWS = 16 };

// The face below crossing face f, and 0 when there is none: on the other side of its liquid cell,
// inside the liquid or on a source (a source one cell below the surface of a pool delivered 5 to 20
// % too much with its own velocity there).
static int face_below(const ty_gridflow* gf, int axis, int f)
{
    int s = gf->cells.stride[axis];
    bool low = gf->state[f - s] == TY_CELL_LIQUID, high = gf->state[f] == TY_CELL_LIQUID;
    if (low == high) return 0;
    int below = low ? f - s : f + s;
    bool inside = gf->state[below] == TY_CELL_LIQUID && gf->state[below - s] == TY_CELL_LIQUID;
    // A known face that is closed is a source's. One that moves leaves its liquid behind at rest
    // and keeps its own.
    bool source = gf->has_spouts && !gf->drift[axis] && gf->open[axis][below] == 0.0;
    return (inside || source) && gf->mark[axis][below] == 1 ? below : 0;
}

// The velocity below crossing faces, and its rate: those of the faces, as far as they are not trusted.
static void expose(const ty_gridflow* gf, int axis)
{
    const double* u = gf->u[axis];
    double *seen = gf->seen[axis], *rate = gf->carries ? gf->rate[axis] : NULL;
    memcpy(seen, u, sizeof(double) * (size_t)gf->cells.count);
    for (int64_t k = 0; k < gf->face[axis].n && !gf->def->paper; ++k) {
        int f = gf->face[axis].at[k], below = face_below(gf, axis, f);
        if (!below) continue;
        // Two cells of liquid share the face between them; the upper one's turn is the last.
        int other = 2 * below - f;
        bool shared = other != f && gf->mark[axis][other] == 1 &&
                      face_below(gf, axis, other) == below;
        if (shared && other > f && gf->open[axis][other] > 0.0) continue;
        double trust = ty_gridflow_trust(gf, u[f] - u[below]);
        seen[below] = trust * u[below] + (1.0 - trust) * (shared ? 0.5 * (u[f] + u[other]) : u[f]);
        if (!rate) continue;
        double given = shared ? 0.5 * (rate[f] + rate[other]) : rate[f];
        rate[below] = trust * rate[below] + (1.0 - trust) * given;
    }
}

typedef struct rate_job {
    const ty_gridflow* gf;
    int axis;
    ty_room room;
} rate_job;

// du/dx_d at a face. Beyond a side of the domain its own component has no values: a difference to
// the inner side there. `at` is NULL away from the sides.
static inline double slope(const ty_gridflow* gf, int axis, int d, int f, const int* at)
{
    const ty_cells* c = &gf->cells;
    const double* u = gf->u[axis];
    int s = c->stride[d];
    int low = at && d == axis && at[d] == 1 ? f : f - s,
        high = at && d == axis && at[d] == c->n[d] + 1 ? f : f + s;
    return (u[high] - u[low]) * (high - low > s ? 0.5 * c->per_h : c->per_h);
}

static inline double local_rate(const ty_gridflow* gf, int axis, int f, const int* at)
{
    double v[3], sum = gf->acc[axis][f];
    ty_face_vector(&gf->cells, gf->u, axis, f, v);
    for (int d = 0; d < 3; ++d) sum -= v[d] * slope(gf, axis, d, f, at);
    return sum;
}

// Behind the sides there are values, but no marks. All but the last layer's faces were gone on from.
static inline bool neighbours_known(const ty_gridflow* gf, int axis, int f, const int* at)
{
    const ty_cells* c = &gf->cells;
    const uint8_t* mark = gf->mark[axis] + f;
    if (mark[0] <= gf->layers) return true;
    for (int d = 0; d < 3; ++d) {
        int s = c->stride[d];
        if (((!at || at[d] < c->n[d]) && !mark[s]) || ((!at || at[d] > 1) && !mark[-s]))
            return false;
    }
    return true;
}

// Whether a face lies on a closed side of the domain. Nothing goes through it, whatever was
// continued there.
static bool on_closed_side(const ty_gridflow* gf, int axis, const int at[3])
{
    return (at[axis] == 1 && gf->closed[2 * axis]) ||
           (at[axis] == gf->cells.n[axis] + 1 && gf->closed[2 * axis + 1]);
}

// Distances in memory along a component's own axis and the next two.
typedef struct strides {
    int64_t a, b, c;
} strides;

// local_rate of n faces one after the other along x, away from the sides, within its room. The axes go by
// name, and the arrays are arguments, for the sake of vectors: only of those is it believed that they
// do not overlap.
static inline void rates_along(int n, strides s, double half, ty_room around,
                               const double* restrict u, const double* restrict v,
                               const double* restrict w, const double* restrict acc,
                               double* restrict rate)
{
    for (int64_t i = 0; i < n; ++i) {
        double along_b = 0.25 * (v[i] + v[i + s.b] + v[i - s.a] + v[i - s.a + s.b]);
        double along_c = 0.25 * (w[i] + w[i + s.c] + w[i - s.a] + w[i - s.a + s.c]);
        double carried = u[i] * (u[i + s.a] - u[i - s.a]) + along_b * (u[i + s.b] - u[i - s.b]) +
                         along_c * (u[i + s.c] - u[i - s.c]);
        double now = acc[i] - half * carried, room = ty_room_at(&around, u[i]);
        rate[i] = ty_min(room, ty_max(-room, now));
    }
}

// The rates of n faces from f on.
static void rate_row(const rate_job* job, int f, int n)
{
    const ty_gridflow* gf = job->gf;
    int a = job->axis, b = (a + 1) % 3, c = (a + 2) % 3;
    strides s = {gf->cells.stride[a], gf->cells.stride[b], gf->cells.stride[c]};
    rates_along(n, s, 0.5 * gf->cells.per_h, job->room, gf->u[a] + f, gf->u[b] + f, gf->u[c] + f,
                gf->acc[a] + f, gf->rate[a] + f);
}

// How many of the n faces from f on, along x, rate_row can do.
static int row_length(const ty_gridflow* gf, int axis, int f, int n)
{
    const uint8_t *mark = gf->mark[axis] + f, *within = gf->within + f;
    int i = 0;
    // 0, unknown, becomes the largest.
    while (i < n && (uint8_t)(mark[i] - 1) < gf->layers && !(within[i] & TY_BESIDE_SIDE)) ++i;
    return i;
}

static double one_rate(const rate_job* job, int f)
{
    const ty_gridflow* gf = job->gf;
    int axis = job->axis, at[3];
    double room = ty_room_at(&job->room, gf->u[axis][f]), rate = 0.0;
    if (!(gf->within[f] & TY_BESIDE_SIDE)) {
        if (neighbours_known(gf, axis, f, NULL)) rate = local_rate(gf, axis, f, NULL);
    } else {
        ty_cell_coords(&gf->cells, f, at);
        if (neighbours_known(gf, axis, f, at) && !on_closed_side(gf, axis, at))
            rate = local_rate(gf, axis, f, at);
    }
    return ty_clamp(rate, -room, room);
}

// Rows of faces along x: those that are known.
static void find_rates(void* ctx, ty_range r)
{
    const rate_job* job = ctx;
    const ty_gridflow* gf = job->gf;
    int axis = job->axis, end = (int)r.end * gf->cells.m[0];
    for (int f = (int)r.begin * gf->cells.m[0], n; f < end; f += n) {
        n = row_length(gf, axis, f, end - f);
        if (n > 0) rate_row(job, f, n);
        else if (gf->mark[axis][f]) gf->rate[axis][f] = one_rate(job, f), n = 1;
        else n = 1;
    }
}

ty_status ty_gridflow_expose(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3 && gf->carries; ++axis) {
        rate_job job = {gf, axis, ty_gridflow_make_room(gf)};
        memset(gf->rate[axis], 0, sizeof(double) * (size_t)gf->cells.count);
        ty_parallel_for((int64_t)gf->cells.m[1] * gf->cells.m[2], ROWS, find_rates, &job);
    }
    TY_TRY(ty_gridflow_continue_rates(gf));
    for (int axis = 0; axis < 3; ++axis) expose(gf, axis);
    return ty_ok();
}
