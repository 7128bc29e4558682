// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"
#include "solve/grid/places.h"

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
static inline double component(const ty_cells* c, const double* v, double sx, double sy, double sz)
{
    int dy = c->stride[1], dz = c->stride[2];
    ty_vec2 y0 = ty_load2(v), y1 = ty_load2(v + dy);
    y0 += sz * (ty_load2(v + dz) - y0);
    y1 += sz * (ty_load2(v + dy + dz) - y1);
    y0 += sy * (y1 - y0);
    return y0[0] + sx * (y0[1] - y0[0]);
}

static inline void components(const ty_cells* c, const ty_places* p, double* const u[3],
                              double* out)
{
    out[0] = component(c, u[0] + p->at[0], p->face[0], p->center[1], p->center[2]);
    out[1] = component(c, u[1] + p->at[1], p->center[0], p->face[1], p->center[2]);
    out[2] = component(c, u[2] + p->at[2], p->center[0], p->center[1], p->face[2]);
}

static void sample_all(const ty_cells* c, double* const u[3], int n, const double (*x)[3],
                       double* out)
{
    ty_lanes l = ty_make_lanes(c);
    for (int i = 0; i < n; ++i) {
        ty_places p = ty_place_all(c, &l, x[i]);
        components(c, &p, u, out + 3 * i);
    }
}

void ty_gridflow_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    sample_all(&gf->cells, gf->u, n, x, out);
}

void ty_gridflow_acceleration(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    sample_all(&gf->cells, gf->acc, n, x, out);
}

void ty_gridflow_seen_velocity(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    sample_all(&gf->cells, gf->seen, n, x, out);
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
    ty_lanes l = ty_make_lanes(c);
    for (int i = 0; i < n; ++i) {
        ty_places p = ty_place_all(c, &l, x[i]);
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

void ty_face_linear(const ty_cells* c, int axis, const double* values, int n, const double (*x)[3],
                    double* out, double* low, double* high)
{
    ty_lanes l = ty_make_lanes(c);
    for (int i = 0; i < n; ++i) {
        ty_face_place p = ty_place_face(c, &l, axis, x[i]);
        const double* v = values + p.at;
        out[i] = component(c, v, p.share[0], p.share[1], p.share[2]);
        if (!low) continue;
        low[i] = high[i] = v[0];
        for (int corner = 1; corner < 8; ++corner) {
            double value =
                v[(corner & 1) + c->stride[1] * (corner >> 1 & 1) + c->stride[2] * (corner >> 2)];
            low[i] = ty_min(low[i], value);
            high[i] = ty_max(high[i], value);
        }
    }
}

bool ty_face_surrounded(const ty_cells* c, int axis, const uint8_t* mark, const double x[3])
{
    ty_lanes l = ty_make_lanes(c);
    const uint8_t* v = mark + ty_place_face(c, &l, axis, x).at;
    for (int corner = 0; corner < 8; ++corner)
        if (v[(corner & 1) + c->stride[1] * (corner >> 1 & 1) + c->stride[2] * (corner >> 2)] != 1)
            return false;
    return true;
}

// Lagrange weights of four equidistant samples, an axis to a lane: third order, exact for cubics.
static inline void cubic_weights(ty_vec3 t, ty_vec3 w[4])
{
    static const double SIXTH = 1.0 / 6.0;
    w[0] = -t * (t - 1.0) * (t - 2.0) * SIXTH;
    w[1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0;
    w[2] = -(t + 1.0) * t * (t - 2.0) / 2.0;
    w[3] = (t + 1.0) * t * (t - 1.0) * SIXTH;
}

// The cubic from four lines of four values along x for each of four planes, within the bounds of the
// eight in the middle.
typedef struct cubic {
    ty_vec3 sum;
    double low, high;
} cubic;

static inline void add_plane(cubic* f, const ty_vec3 line[4], const ty_vec3 w[4], double weight,
                             bool in_middle)
{
    f->sum += weight *
              (w[0][1] * line[0] + w[1][1] * line[1] + (w[2][1] * line[2] + w[3][1] * line[3]));
    for (int j = 1; j < 3 && in_middle; ++j) {
        f->low = ty_min(f->low, ty_min(line[j][1], line[j][2]));
        f->high = ty_max(f->high, ty_max(line[j][1], line[j][2]));
    }
}

// Away from the sides; v: the eight's lowest.
static inline cubic cubic_inside(const ty_cells* c, const double* v, const ty_vec3 w[4])
{
    cubic f = {{0}, INFINITY, -INFINITY};
    const double* at = v - 1 - c->stride[1] - c->stride[2];
    int64_t dy = c->stride[1];
    for (int k = 0; k < 4; ++k, at += c->stride[2]) {
        ty_vec3 line[4] = {ty_load4(at), ty_load4(at + dy), ty_load4(at + 2 * dy),
                           ty_load4(at + 3 * dy)};
        add_plane(&f, line, w, w[k][2], k == 1 || k == 2);
    }
    return f;
}

// Where samples beyond the domain's sides are those on them.
static cubic cubic_beside(const ty_cells* c, int axis, const double* values, ty_four_ints low,
                          const ty_vec3 w[4])
{
    int at[3][4];
    for (int d = 0; d < 3; ++d)
        for (int k = 0; k < 4; ++k) {
            int first = d == axis ? 1 : 0, last = c->n[d] + 1, i = low[d] - 1 + k;
            at[d][k] = c->stride[d] * (i < first ? first : i > last ? last : i);
        }
    cubic f = {{0}, INFINITY, -INFINITY};
    for (int k = 0; k < 4; ++k) {
        ty_vec3 line[4];
        for (int j = 0; j < 4; ++j) {
            const double* v = values + at[1][j] + at[2][k];
            line[j] = (ty_vec3){v[at[0][0]], v[at[0][1]], v[at[0][2]], v[at[0][3]]};
        }
        add_plane(&f, line, w, w[k][2], k == 1 || k == 2);
    }
    return f;
}

static inline bool is_inside(const ty_cells* c, int axis, ty_four_ints low)
{
    bool inside = true;
    for (int d = 0; d < 3; ++d) inside = inside && low[d] > (d == axis) && low[d] < c->n[d];
    return inside;
}

static inline double cubic_at(const ty_cells* c, int axis, const double* values,
                              const ty_face_place* p)
{
    ty_vec3 w[4];
    cubic_weights(p->share, w);
    cubic f = is_inside(c, axis, p->low) ? cubic_inside(c, values + p->at, w)
                                         : cubic_beside(c, axis, values, p->low, w);
    double value = w[0][0] * f.sum[0] + w[1][0] * f.sum[1] + w[2][0] * f.sum[2] +
                   w[3][0] * f.sum[3];
    return ty_clamp(value, f.low, f.high);
}

void ty_face_cubic(const ty_cells* c, int axis, const double* values, const double* rates, int n,
                   const double (*x)[3], double* out, double* rate)
{
    ty_lanes l = ty_make_lanes(c);
    for (int i = 0; i < n; ++i) {
        ty_face_place p = ty_place_face(c, &l, axis, x[i]);
        out[i] = cubic_at(c, axis, values, &p);
        if (rates) rate[i] = component(c, rates + p.at, p.share[0], p.share[1], p.share[2]);
    }
}

void ty_face_vectors(const ty_gridflow* gf, double* const u[3], int axis, int n, const int* face,
                     double (*v)[3])
{
    for (int i = 0; i < n; ++i) ty_face_vector(&gf->cells, u, axis, face[i], v[i]);
}
