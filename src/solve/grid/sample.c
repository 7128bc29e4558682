// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

// Where a coordinate falls between two samples: the lower one's memory coordinate and the share of
// the upper.
typedef struct slot {
    int low;
    double share;
} slot;

static inline slot find_slot(double at, int first, int last)
{
    at = at > first ? at : first;    // also where `at` is not a number
    at = at < last ? at : last;
    int low = (int)at < last - 1 ? (int)at : last - 1;
    return (slot){low, at - low};
}

// Cells from the domain's corner. Among centres (ghosts included) it is at + 1/2, among faces
// normal to the axis at + 1.
static inline double lattice_at(const ty_cells* c, int axis, double x)
{
    return (x - c->origin[axis]) * c->per_h;
}
static inline slot center_slot(const ty_cells* c, int axis, double at)
{
    return find_slot(at + 0.5, 0, c->n[axis] + 1);
}
static inline slot face_slot(const ty_cells* c, int axis, double at)
{
    return find_slot(at + 1.0, 1, c->n[axis] + 1);
}

static inline double component(const ty_cells* c, const double* v, double sx, double sy, double sz)
{
    int dy = c->stride[1], dz = c->stride[2];
    ty_vec2 y0 = ty_load2(v), y1 = ty_load2(v + dy);
    y0 += sz * (ty_load2(v + dz) - y0);
    y1 += sz * (ty_load2(v + dy + dz) - y1);
    y0 += sy * (y1 - y0);
    return y0[0] + sx * (y0[1] - y0[0]);
}

static inline double trilinear(const ty_cells* c, const double* values, slot sx, slot sy, slot sz)
{
    const double* v = values + sx.low + c->stride[1] * sy.low + c->stride[2] * sz.low;
    return component(c, v, sx.share, sy.share, sz.share);
}

// The same for all axes at once, an axis to a lane.
typedef int four_ints __attribute__((vector_size(16)));
typedef int64_t lane_mask __attribute__((vector_size(32), aligned(8)));

typedef struct lanes {
    ty_vec3 origin, n, last;    // last: n + 1
    four_ints stride;
} lanes;

static inline ty_vec3 pick(lane_mask m, ty_vec3 yes, ty_vec3 no)
{
    return (ty_vec3)(((lane_mask)yes & m) | ((lane_mask)no & ~m));
}

static inline lanes make_lanes(const ty_cells* c)
{
    ty_vec3 n = {c->n[0], c->n[1], c->n[2], 1.0};
    return (lanes){ty_load3(c->origin), n, n + 1.0, {1, c->stride[1], c->stride[2], 0}};
}

// share[axis], and where the lower sample lies in memory.
static inline void find_slots(const lanes* l, ty_vec3 at, double first, ty_vec3* share,
                              four_ints* low)
{
    ty_vec3 least = {first, first, first, first};
    at = pick(at > least, at, least);    // also where `at` is not a number
    at = pick(at < l->last, at, l->last);
    four_ints i = __builtin_convertvector(pick(at < l->n, at, l->n), four_ints);
    *share = at - __builtin_convertvector(i, ty_vec3);
    *low = i * l->stride;
}

typedef struct places {
    ty_vec3 center, face;    // shares
    int at[3];               // of the components' lowest samples
} places;

static inline places place_all(const ty_cells* c, const lanes* l, const double x[3])
{
    places p;
    four_ints center, face;
    ty_vec3 at = (ty_load3(x) - l->origin) * c->per_h;
    find_slots(l, at + 0.5, 0.0, &p.center, &center);
    find_slots(l, at + 1.0, 1.0, &p.face, &face);
    p.at[0] = face[0] + center[1] + center[2];
    p.at[1] = center[0] + face[1] + center[2];
    p.at[2] = center[0] + center[1] + face[2];
    return p;
}

static inline void components(const ty_cells* c, const places* p, double* const u[3], double* out)
{
    out[0] = component(c, u[0] + p->at[0], p->face[0], p->center[1], p->center[2]);
    out[1] = component(c, u[1] + p->at[1], p->center[0], p->face[1], p->center[2]);
    out[2] = component(c, u[2] + p->at[2], p->center[0], p->center[1], p->face[2]);
}

void ty_face_sample(const ty_cells* c, double* const u[3], int n, const double (*x)[3], double* out)
{
    lanes l = make_lanes(c);
    for (int i = 0; i < n; ++i) {
        places p = place_all(c, &l, x[i]);
        components(c, &p, u, out + 3 * i);
    }
}

void ty_gridflow_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    ty_face_sample(&gf->cells, gf->u, n, x, out);
}

void ty_gridflow_acceleration(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    ty_face_sample(&gf->cells, gf->acc, n, x, out);
}

void ty_gridflow_seen_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    ty_face_sample(&gf->cells, gf->seen, n, x, out);
}

static void lead_block(void* ctx, ty_range r)
{
    const ty_gridflow* gf = ctx;
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t i = r.begin; i < r.end; ++i)
            gf->next[axis][i] = gf->seen[axis][i] + 0.5 * gf->middle_dt * gf->rate[axis][i];
}

void ty_gridflow_lead(ty_gridflow* gf, double dt)
{
    gf->middle_dt = gf->carries && !gf->rides && !ty_world_has_forces(gf->world) ? dt : 0.0;
    if (gf->middle_dt > 0.0) ty_parallel_for(gf->cells.count, 1 << 14, lead_block, gf);
}

void ty_gridflow_middle(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    ty_face_sample(&gf->cells, gf->next, n, x, out);
}

// The cell of the domain that x lies in; `at`: its coordinates. 0 where x lies outside.
static inline int cell_around(const ty_cells* c, const double x[3], int at[3])
{
    bool in = true;
    for (int d = 0; d < 3; ++d) {
        double cells = (x[d] - c->origin[d]) * c->per_h;
        in = in && cells >= 0.0 && cells < c->n[d];
        at[d] = in ? 1 + (int)cells : 0;
    }
    return in ? ty_cell_index(c, at[0], at[1], at[2]) : 0;
}

// The centre of the cell that x lies in, be it outside the domain.
static void center_around(const ty_cells* c, const double x[3], double center[3])
{
    for (int d = 0; d < 3; ++d)
        center[d] = c->origin[d] + c->h * (floor((x[d] - c->origin[d]) * c->per_h) + 0.5);
}

void ty_gridflow_middle_center(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    for (int i = 0; i < n; ++i) {
        int at[3], cell = cell_around(c, x[i], at);
        double center[1][3];
        for (int d = 0; d < 3 && cell; ++d)
            out[3 * i + d] = 0.5 * (gf->next[d][cell] + gf->next[d][cell + c->stride[d]]);
        if (cell) continue;
        center_around(c, x[i], center[0]);
        ty_face_sample(c, gf->next, 1, (const double(*)[3])center, out + 3 * i);
    }
}

void ty_gridflow_middle_faces(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    for (int i = 0; i < n; ++i) {
        int at[3], cell = cell_around(c, x[i], at);
        for (int axis = 0; axis < 3; ++axis) {
            double middle[1][3], *v = out + 9 * i + 3 * axis;
            if (cell) {
                ty_face_vector(c, gf->next, axis, cell, v);
                continue;
            }
            center_around(c, x[i], middle[0]);
            middle[0][axis] -= 0.5 * c->h;
            ty_face_sample(c, gf->next, 1, (const double(*)[3])middle, v);
        }
    }
}

// Forces are no part of rate[]; what fails here the world remembers.
static void add_forces(const ty_gridflow* gf, int n, const double (*x)[3], double* out)
{
    double v[TY_SAMPLE_BATCH][3], a[TY_SAMPLE_BATCH][3];
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        memset(a, 0, sizeof a);
        for (int i = 0; i < count; ++i) memcpy(v[i], out + 6 * (at + i), sizeof v[i]);
        if (ty_world_forces(gf->world, count, x + at, (const double(*)[3])v, a).code != TY_OK)
            return;
        for (int i = 0; i < count; ++i)
            for (int axis = 0; axis < 3; ++axis) out[6 * (at + i) + 3 + axis] += a[i][axis];
    }
}

void ty_gridflow_motion(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    lanes l = make_lanes(c);
    for (int i = 0; i < n; ++i) {
        places p = place_all(c, &l, x[i]);
        components(c, &p, gf->seen, out + 6 * i);
        components(c, &p, gf->rate, out + 6 * i + 3);
    }
    if (ty_world_has_forces(gf->world)) add_forces(gf, n, x, out);
}

static double weight(const ty_gridflow* gf, const double x[3])
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) sum += gf->gravity[axis] * (x[axis] - gf->ref[axis]);
    return sum;    // g . (x - ref) = p / rho of still liquid, less a constant
}

// p' is interpolated and the hydrostatic part added at the point itself: a wall's own pressure is
// exact at rest. Air has p = 0, hence p' = -rho g . (x - ref).
void ty_gridflow_pressure(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    for (int p = 0; p < n; ++p) {
        slot s[3];
        for (int axis = 0; axis < 3; ++axis)
            s[axis] = find_slot(lattice_at(c, axis, x[p][axis]) + 0.5, 1, c->n[axis]);
        double sum = 0.0;
        bool any = false;
        for (int corner = 0; corner < 8; ++corner) {
            int index = 0;
            double w = 1.0;
            for (int axis = 0; axis < 3; ++axis) {
                int up = corner >> axis & 1;
                // One cell across an axis has no upper neighbour; its share is 0 there.
                index += c->stride[axis] * (s[axis].low + (up && s[axis].low < c->n[axis]));
                w *= up ? s[axis].share : 1.0 - s[axis].share;
            }
            double center[3];
            ty_cell_center(c, index, center);
            bool held = gf->state[index] != TY_CELL_AIR;
            any |= held && w > 0.0;
            sum += w * (held ? gf->acting[index] : -weight(gf, center));
        }
        out[p] = any ? gf->def->density * (sum + weight(gf, x[p])) : 0.0;
    }
}

static inline void component_slots(const ty_cells* c, int axis, const double x[3], slot s[3])
{
    for (int d = 0; d < 3; ++d) {
        double at = lattice_at(c, d, x[d]);
        s[d] = d == axis ? face_slot(c, d, at) : center_slot(c, d, at);
    }
}

void ty_face_linear(const ty_cells* c, int axis, const double* values, int n, const double (*x)[3],
                    double* out, double* low, double* high)
{
    for (int i = 0; i < n; ++i) {
        slot s[3];
        component_slots(c, axis, x[i], s);
        out[i] = trilinear(c, values, s[0], s[1], s[2]);
        if (!low) continue;
        const double* v = values + s[0].low + c->stride[1] * s[1].low + c->stride[2] * s[2].low;
        low[i] = high[i] = v[0];
        for (int corner = 1; corner < 8; ++corner) {
            double value =
                v[(corner & 1) + c->stride[1] * (corner >> 1 & 1) + c->stride[2] * (corner >> 2)];
            low[i] = fmin(low[i], value);
            high[i] = fmax(high[i], value);
        }
    }
}

bool ty_face_surrounded(const ty_cells* c, int axis, const uint8_t* mark, const double x[3])
{
    slot s[3];
    component_slots(c, axis, x, s);
    const uint8_t* v = mark + s[0].low + c->stride[1] * s[1].low + c->stride[2] * s[2].low;
    for (int corner = 0; corner < 8; ++corner)
        if (v[(corner & 1) + c->stride[1] * (corner >> 1 & 1) + c->stride[2] * (corner >> 2)] != 1)
            return false;
    return true;
}

// Lagrange weights of four equidistant samples: third order, exact for cubics.
static void cubic_weights(double t, double w[4])
{
    w[0] = -t * (t - 1.0) * (t - 2.0) / 6.0;
    w[1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0;
    w[2] = -(t + 1.0) * t * (t - 2.0) / 2.0;
    w[3] = (t + 1.0) * t * (t - 1.0) / 6.0;
}

// Four neighbours along x.
static inline ty_vec3 four_at(const double* v, const int at[4], bool inside)
{
    if (inside) return ty_load4(v + at[0]);
    return (ty_vec3){v[at[0]], v[at[1]], v[at[2]], v[at[3]]};
}

static double cubic_at(const ty_cells* c, int axis, const double* values, const double x[3])
{
    slot s[3];
    component_slots(c, axis, x, s);
    int at[3][4];
    double w[3][4];
    for (int d = 0; d < 3; ++d) {
        int first = d == axis ? 1 : 0, last = c->n[d] + 1;
        cubic_weights(s[d].share, w[d]);
        for (int k = 0; k < 4; ++k) {
            int i = s[d].low - 1 + k;
            at[d][k] = c->stride[d] * (i < first ? first : i > last ? last : i);
        }
    }
    bool inside = at[0][3] - at[0][0] == 3;
    ty_vec3 sum = {0};
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 4; ++j) {
            ty_vec3 line = four_at(values + at[1][j] + at[2][k], at[0], inside);
            sum += w[1][j] * w[2][k] * line;
            if (j < 1 || j > 2 || k < 1 || k > 2) continue;
            low = ty_min(low, ty_min(line[1], line[2]));
            high = ty_max(high, ty_max(line[1], line[2]));
        }
    double value = w[0][0] * sum[0] + w[0][1] * sum[1] + w[0][2] * sum[2] + w[0][3] * sum[3];
    return ty_clamp(value, low, high);
}

void ty_face_cubic(const ty_cells* c, int axis, const double* values, int n, const double (*x)[3],
                   double* out)
{
    for (int i = 0; i < n; ++i) out[i] = cubic_at(c, axis, values, x[i]);
}

void ty_face_vectors(const ty_gridflow* gf, double* const u[3], int axis, int n, const int* face,
                     double (*v)[3])
{
    for (int i = 0; i < n; ++i) ty_face_vector(&gf->cells, u, axis, face[i], v[i]);
}
