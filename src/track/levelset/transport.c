// SPDX-License-Identifier: Apache-2.0
// Three ways to carry phi along: semi-Lagrangian with tricubic interpolation, MacCormack
// [Selle2008] on the trilinear one, and WENO5 [Jiang2000] with TVD Runge-Kutta [Shu1988] in
// sub-steps of CFL 1/2.
//
// Departs: the semi-Lagrangian interpolation is the unlimited cubic one, because limited slopes
// keep less of the deformation test's volume (47 instead of 63 % in the notes on surface tracking,
// section 8).
#include <string.h>

#include "core/parallel.h"
#include "field/cubic.h"
#include "track/levelset/levelset.h"
#include "world/trace.h"

enum { BLOCK = TY_SAMPLE_BATCH };
static const double NEAR = 1.5;    // cells: what counts for the largest displacement
// Cells from the surface where values have a part in it: the cubic's stencil
static const double USED = 3.5;
// Cells from the surface where a straight way and linear values will do: beyond all but the corners of
// stencils. (With 3 a drop of 1.4 cells' radius lost 9 instead of 6 % of its volume in a turn.)
static const double ROUGH = 3.25;
static const double PATH_SLACK = 1.5;    // a path's length against that of its last velocity
static const double WENO_CFL = 0.5;

typedef struct stage {
    ty_levelset* ls;
    const ty_flow* flow;
    double dt;
    const double* from;    // values before
    double* to;
    bool on_lattice;       // the flow's cells are these
    const double* base;    // WENO: values at the start of the sub-step
    double keep;           // WENO: to = keep * base + (1 - keep) (from + dt L(from))
} stage;

static void centers(const ty_grid* g, int n, const int* cells, double (*x)[3])
{
    for (int i = 0; i < n; ++i) {
        int ijk[3];
        ty_grid_coords(g, cells[i], ijk);
        ty_grid_cell_center(g, ijk[0], ijk[1], ijk[2], x[i]);
    }
}

double ty_levelset_beyond_open(const ty_levelset* ls, const double x[3])
{
    double out = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        if (!ls->closed_side[2 * axis]) out = ty_max(out, ls->lo[axis] - x[axis]);
        if (!ls->closed_side[2 * axis + 1]) out = ty_max(out, x[axis] - ls->hi[axis]);
    }
    return out;
}

static double farthest(const ty_levelset* ls, int n, const int* cells, const double (*a)[3],
                       const double (*b)[3])
{
    double most = 0.0;
    for (int i = 0; i < n; ++i)
        if (fabs(ls->phi[cells[i]]) <= NEAR * ls->grid.cell)
            most = ty_max(most, ty_norm(ty_load3(a[i]) - ty_load3(b[i])));
    return most;
}

static bool at_rest(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

// Cells on their way back.
typedef struct batch {
    int n, cell[BLOCK];
    double x[BLOCK][3], v[BLOCK][3], foot[BLOCK][3], value[BLOCK];
} batch;

static void move_to(batch* b, int at, int i)
{
    if (at == i) return;
    b->cell[at] = b->cell[i];
    memcpy(b->x[at], b->x[i], sizeof b->x[0]);
    memcpy(b->v[at], b->v[i], sizeof b->v[0]);
}

// Of a block's cells those that can come near the surface, with the velocities there; the others keep
// their values, which are no longer distances but still say that no surface is there.
static void reached(const stage* s, int n, const int* cells, batch* b)
{
    const ty_levelset* ls = s->ls;
    double h = ls->grid.cell, near = USED * h + ls->moved;
    double far = near + PATH_SLACK * s->dt * s->flow->max_speed;
    const unsigned char* behind = ty_levelset_behind(ls);
    b->n = 0;
    for (int i = 0; i < n; ++i)
        if (!(fabs(ls->phi[cells[i]]) > far) && !(behind && behind[cells[i]]))
            b->cell[b->n++] = cells[i];
    centers(&ls->grid, b->n, b->cell, b->x);
    if (s->on_lattice) ty_sample(&s->flow->middle_center, b->n, (const double(*)[3])b->x, b->v[0]);
    else ty_trace_begin(s->flow, s->dt, b->n, (const double(*)[3])b->x, b->v);
    int m = 0;
    for (int i = 0; i < b->n; ++i)
        if (!(fabs(ls->phi[b->cell[i]]) > near + PATH_SLACK * s->dt * ty_norm(ty_load3(b->v[i]))))
            move_to(b, m++, i);
    b->n = m;
}

static void store(const stage* s, const batch* b, int i)
{
    if (at_rest(b->x[i], b->foot[i])) return;    // not even rounding moves still water
    double out = ty_levelset_beyond_open(s->ls, b->foot[i]);
    s->to[b->cell[i]] = out > 0.0 ? ty_max(b->value[i], out) : b->value[i];
}

// Cells that are and stay far from the surface get the value straight back along their velocity; the
// others remain.
static void settle_far(const stage* s, batch* b)
{
    const ty_levelset* ls = s->ls;
    int m = 0;
    for (int i = 0; i < b->n; ++i)
        ty_store3(b->foot[i], ty_load3(b->x[i]) - s->dt * ty_load3(b->v[i]));
    ty_grid_linear(&ls->grid, s->from, b->n, (const double(*)[3])b->foot, b->value);
    for (int i = 0; i < b->n; ++i) {
        if (fabs(b->value[i]) > ROUGH * ls->grid.cell &&
            fabs(ls->phi[b->cell[i]]) > NEAR * ls->grid.cell)
            store(s, b, i);
        else move_to(b, m++, i);
    }
    b->n = m;
}

static double semi_lagrangian(void* ctx, ty_range r)
{
    stage* s = ctx;
    ty_levelset* ls = s->ls;
    batch b;
    reached(s, (int)(r.end - r.begin), ls->active.at + r.begin, &b);
    settle_far(s, &b);
    ty_trace_back_with(s->flow, s->dt, b.n, (const double(*)[3])b.x, (const double(*)[3])b.v,
                       b.foot);
    ty_grid_cubic(&ls->grid, s->from, b.n, (const double(*)[3])b.foot, b.value);
    for (int i = 0; i < b.n; ++i) store(s, &b, i);
    return farthest(ls, b.n, b.cell, (const double(*)[3])b.x, (const double(*)[3])b.foot);
}

static double linear_back(void* ctx, ty_range r)
{
    stage* s = ctx;
    ty_levelset* ls = s->ls;
    const int* cells = ls->active.at + r.begin;
    int n = (int)(r.end - r.begin);
    double x[BLOCK][3], value[BLOCK];
    centers(&ls->grid, n, cells, x);
    ty_trace_back(s->flow, s->dt, n, (const double(*)[3])x, x);
    ty_grid_linear(&ls->grid, s->from, n, (const double(*)[3])x, value);
    for (int i = 0; i < n; ++i) s->to[cells[i]] = value[i];
    return 0.0;
}

// p' = a + (p - b) / 2 with a = next (carried forward), b = a carried back; kept between the values
// a came from.
static double maccormack(void* ctx, ty_range r)
{
    stage* s = ctx;
    ty_levelset* ls = s->ls;
    const int* cells = ls->active.at + r.begin;
    int n = (int)(r.end - r.begin);
    double x[BLOCK][3], foot[BLOCK][3], head[BLOCK][3], a[BLOCK], b[BLOCK], lo[BLOCK], hi[BLOCK];
    centers(&ls->grid, n, cells, x);
    ty_trace_back(s->flow, s->dt, n, (const double(*)[3])x, foot);
    ty_trace_forward(s->flow, s->dt, n, (const double(*)[3])x, head);
    ty_grid_linear_bounds(&ls->grid, ls->phi, n, (const double(*)[3])foot, a, lo, hi);
    ty_grid_linear(&ls->grid, s->from, n, (const double(*)[3])head, b);
    for (int i = 0; i < n; ++i) {
        if (at_rest(x[i], foot[i])) continue;
        double out = ty_levelset_beyond_open(ls, foot[i]);
        double value = a[i] + 0.5 * (ls->phi[cells[i]] - b[i]);
        if (!(value >= lo[i] && value <= hi[i])) value = a[i];
        s->to[cells[i]] = out > 0.0 ? ty_max(value, out) : value;
    }
    return farthest(ls, n, cells, (const double(*)[3])x, (const double(*)[3])foot);
}

// The fifth-order upwind derivative from five differences, farthest upwind first; weights by
// smoothness.
static double weno5(const double v[5])
{
    double d1 = v[0] - 2.0 * v[1] + v[2], d2 = v[1] - 2.0 * v[2] + v[3],
           d3 = v[2] - 2.0 * v[3] + v[4];
    double e1 = v[0] - 4.0 * v[1] + 3.0 * v[2], e2 = v[1] - v[3],
           e3 = 3.0 * v[2] - 4.0 * v[3] + v[4];
    double s1 = 13.0 / 12.0 * d1 * d1 + 0.25 * e1 * e1;
    double s2 = 13.0 / 12.0 * d2 * d2 + 0.25 * e2 * e2;
    double s3 = 13.0 / 12.0 * d3 * d3 + 0.25 * e3 * e3;
    double largest = 0.0;
    for (int i = 0; i < 5; ++i) largest = ty_max(largest, v[i] * v[i]);
    double eps = 1e-6 * largest + 1e-99;
    double a1 = 0.1 / ((s1 + eps) * (s1 + eps));
    double a2 = 0.6 / ((s2 + eps) * (s2 + eps));
    double a3 = 0.3 / ((s3 + eps) * (s3 + eps));
    double q1 = v[0] / 3.0 - 7.0 / 6.0 * v[1] + 11.0 / 6.0 * v[2];
    double q2 = -v[1] / 6.0 + 5.0 / 6.0 * v[2] + v[3] / 3.0;
    double q3 = v[2] / 3.0 + 5.0 / 6.0 * v[3] - v[4] / 6.0;
    return (a1 * q1 + a2 * q2 + a3 * q3) / (a1 + a2 + a3);
}

// Upwind derivative along an axis for speed u, per cell. Beyond the border the values are constant.
static double upwind(const ty_grid* g, const double* phi, const int ijk[3], int64_t cell, int axis,
                     double u)
{
    double value[6], difference[5];
    int side = u > 0.0 ? 1 : -1;
    int64_t stride = ty_grid_stride(g, axis);
    for (int i = 0; i < 6; ++i) {
        int at = ijk[axis] + side * (i - 3);
        at = at < 0 ? 0 : at >= g->n[axis] ? g->n[axis] - 1 : at;
        value[i] = phi[cell + (at - ijk[axis]) * stride];
    }
    for (int i = 0; i < 5; ++i) difference[i] = side * (value[i + 1] - value[i]);
    return weno5(difference);
}

static void weno_stage(void* ctx, ty_range r)
{
    stage* s = ctx;
    const ty_levelset* ls = s->ls;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int cell = ls->active.at[i], ijk[3];
        const double* u = ls->velocity.at + 3 * i;
        ty_grid_coords(&ls->grid, cell, ijk);
        double rate = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (u[axis] != 0.0)
                rate -= u[axis] * upwind(&ls->grid, s->from, ijk, cell, axis, u[axis]);
        if (rate == 0.0 &&
            s->from[cell] == s->base[cell]) {    // not even rounding moves still water
            s->to[cell] = s->base[cell];
            continue;
        }
        double stepped = s->from[cell] + s->dt / ls->grid.cell * rate;
        s->to[cell] = s->keep == 0.0 ? stepped
                                     : s->keep * s->base[cell] + (1.0 - s->keep) * stepped;
    }
}

// Speeds at the active cells; returns the largest |u| + |v| + |w| of a block, which bounds the CFL
// number.
static double weno_speeds(void* ctx, ty_range r)
{
    stage* s = ctx;
    ty_levelset* ls = s->ls;
    int n = (int)(r.end - r.begin);
    double x[BLOCK][3], fastest = 0.0;
    double* u = ls->velocity.at + 3 * r.begin;
    centers(&ls->grid, n, ls->active.at + r.begin, x);
    ty_sample(&s->flow->velocity, n, (const double(*)[3])x, u);
    for (int i = 0; i < n; ++i)
        fastest = ty_max(fastest, fabs(u[3 * i]) + fabs(u[3 * i + 1]) + fabs(u[3 * i + 2]));
    return fastest;
}

// Departs: velocities are those at the start of the step throughout, as a flow is known at one time
// only.
static ty_status weno(ty_levelset* ls, const ty_flow* flow, double dt, double* displacement)
{
    if (!ty_array_resize(&ls->velocity, 3 * ls->active.n))
        return ty_no_memory("level set velocities");
    stage s = {.ls = ls, .flow = flow};
    double speed = ty_parallel_max(ls->active.n, BLOCK, weno_speeds, &s);
    int steps = (int)ty_max(1.0, ceil(speed * dt / (WENO_CFL * ls->grid.cell)));
    size_t bytes = (size_t)ty_grid_size(&ls->grid) * sizeof *ls->phi;
    memcpy(ls->next, ls->phi, bytes);
    memcpy(ls->spare, ls->phi, bytes);
    s.dt = dt / steps;
    s.base = ls->phi;
    for (int k = 0; k < steps; ++k) {
        const struct {
            double *from, *to, keep;
        } rk3[3] = {
            {ls->phi, ls->next, 0.0}, {ls->next, ls->spare, 0.75}, {ls->spare, ls->phi, 1.0 / 3.0}};
        for (int i = 0; i < 3; ++i) {
            s.from = rk3[i].from, s.to = rk3[i].to, s.keep = rk3[i].keep;
            ty_parallel_for(ls->active.n, BLOCK, weno_stage, &s);
        }
    }
    *displacement = speed * dt;
    return ty_ok();
}

static void clamp_band(void* ctx, ty_range r)
{
    ty_levelset* ls = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double* phi = &ls->phi[ls->active.at[i]];
        *phi = ty_clamp(*phi, -ls->band, ls->band);
    }
}

ty_status ty_levelset_activate(ty_levelset* ls)
{
    int64_t size = ty_grid_size(&ls->grid), n = 0;
    if (!ty_array_reserve(&ls->active, size)) return ty_no_memory("active cells");
    for (int64_t c = 0; c < size; ++c) {    // no branch: every other cell may be one
        ls->active.at[n] = (int)c;
        n += fabs(ls->phi[c]) < ls->band;
    }
    ls->active.n = n;
    return ty_ok();
}

static void swap(double** a, double** b)
{
    double* t = *a;
    *a = *b;
    *b = t;
}

ty_status ty_levelset_transport(ty_levelset* ls, const ty_flow* flow, double dt,
                                double* displacement)
{
    size_t bytes = (size_t)ty_grid_size(&ls->grid) * sizeof *ls->phi;
    stage s = {.ls = ls, .flow = flow, .dt = dt, .from = ls->phi, .to = ls->next};
    s.on_lattice = ty_levelset_on_lattice(ls, flow, dt);
    TY_TRY(ty_levelset_activate(ls));
    if (ls->def.transport == TY_TRANSPORT_WENO5) {
        TY_TRY(weno(ls, flow, dt, displacement));
    } else if (ls->def.transport == TY_TRANSPORT_MACCORMACK) {
        memcpy(ls->next, ls->phi, bytes);
        memcpy(ls->spare, ls->phi, bytes);
        ty_parallel_max(ls->active.n, BLOCK, linear_back, &s);
        s.from = ls->next, s.to = ls->spare;
        *displacement = ty_max(0.0, ty_parallel_max(ls->active.n, BLOCK, maccormack, &s));
        swap(&ls->phi, &ls->spare);
        swap(&ls->next, &ls->spare);
        ty_levelset_stop_leaks(ls, flow, dt, ls->next);
    } else {
        memcpy(ls->next, ls->phi, bytes);
        *displacement = ty_max(0.0, ty_parallel_max(ls->active.n, BLOCK, semi_lagrangian, &s));
        swap(&ls->phi, &ls->next);
        ty_levelset_stop_leaks(ls, flow, dt, ls->next);
    }
    ty_parallel_for(ls->active.n, BLOCK, clamp_band, ls);
    return ty_ok();
}
