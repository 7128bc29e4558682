// SPDX-License-Identifier: Apache-2.0
// The velocity that points follow, in single precision: what it is rounded by moves them by less than
// 1e-6 cells in a step, and half as much memory is read around every one of them.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"
#include "solve/grid/places.h"

enum { BLOCK = 1 << 14 };

typedef float four __attribute__((vector_size(16)));

static inline four two_rows(const float* a, const float* b)
{
    int64_t low, high;
    memcpy(&low, a, sizeof low);
    memcpy(&high, b, sizeof high);
    return (four)(__attribute__((vector_size(16))) int64_t){low, high};
}

// Between the planes of the eight samples from v on: two rows of two.
static inline four between_planes(const ty_cells* c, const float* v, float share)
{
    int dy = c->stride[1], dz = c->stride[2];
    four low = two_rows(v, v + dy), high = two_rows(v + dz, v + dz + dy);
    return low + share * (high - low);
}

// The same linear interpolation for each component, side by side.
static inline ty_vec3 path_at(const ty_gridflow* gf, const ty_places* p)
{
    const ty_cells* c = &gf->cells;
    four center = __builtin_convertvector(p->center, four);
    four face = __builtin_convertvector(p->face, four);
    four u = between_planes(c, gf->path[0] + p->at[0], center[2]);
    four v = between_planes(c, gf->path[1] + p->at[1], center[2]);
    four w = between_planes(c, gf->path[2] + p->at[2], face[2]);
    four low = __builtin_shufflevector(u, v, 0, 1, 4, 5);
    four high = __builtin_shufflevector(u, v, 2, 3, 6, 7);
    low += __builtin_shufflevector(center, face, 1, 1, 5, 5) * (high - low);
    w += center[1] * (__builtin_shufflevector(w, w, 2, 3, 2, 3) - w);
    four left = __builtin_shufflevector(low, w, 0, 2, 4, 4);
    four right = __builtin_shufflevector(low, w, 1, 3, 5, 5);
    left += __builtin_shufflevector(face, center, 0, 4, 4, 4) * (right - left);
    return __builtin_convertvector(left, ty_vec3);
}

void ty_path_sample(const ty_gridflow* gf, int n, const double (*x)[3], double* out)
{
    ty_lanes l = ty_make_lanes(&gf->cells);
    for (int i = 0; i < n; ++i) {
        ty_places p = ty_place_all(&gf->cells, &l, x[i]);
        ty_store3(out + 3 * i, path_at(gf, &p));
    }
}

void ty_path_at_face(const ty_gridflow* gf, int axis, int f, double v[3])
{
    int back = -gf->cells.stride[axis];
    for (int d = 0; d < 3; ++d) {
        const float* u = gf->path[d] + f;
        int up = gf->cells.stride[d];
        v[d] = (double)(d == axis ? u[0] : 0.25f * (u[0] + u[up] + u[back] + u[back + up]));
    }
}

static void lead_block(void* ctx, ty_range r)
{
    const ty_gridflow* gf = ctx;
    double half = 0.5 * gf->middle_dt;
    for (int axis = 0; axis < 3; ++axis) {
        const double* restrict u = gf->seen[axis], * restrict a = gf->rate[axis];
        float* restrict to = gf->path[axis];
        for (int64_t i = r.begin; i < r.end; ++i) to[i] = (float)(u[i] + half * a[i]);
    }
}

void ty_gridflow_lead(ty_gridflow* gf, double dt)
{
    gf->middle_dt = gf->carries && !gf->rides && !ty_world_has_forces(gf->world) ? dt : 0.0;
    if (gf->middle_dt > 0.0) ty_parallel_for(gf->cells.count, BLOCK, lead_block, gf);
}

void ty_gridflow_middle(const void* self, int n, const double (*x)[3], double* out)
{
    ty_path_sample(self, n, x, out);
}

// The cell of the domain that x lies in, 0 where it lies outside.
static inline int cell_around(const ty_cells* c, const double x[3])
{
    int at[3];
    for (int d = 0; d < 3; ++d) {
        double cells = (x[d] - c->origin[d]) * c->per_h;
        if (!(cells >= 0.0 && cells < c->n[d])) return 0;
        at[d] = 1 + (int)cells;
    }
    return ty_cell_index(c, at[0], at[1], at[2]);
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
        int cell = cell_around(c, x[i]);
        double center[1][3];
        for (int d = 0; d < 3 && cell; ++d)
            out[3 * i + d] = (double)(0.5f *
                                      (gf->path[d][cell] + gf->path[d][cell + c->stride[d]]));
        if (cell) continue;
        center_around(c, x[i], center[0]);
        ty_path_sample(gf, 1, (const double(*)[3])center, out + 3 * i);
    }
}

void ty_gridflow_middle_faces(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_gridflow* gf = self;
    const ty_cells* c = &gf->cells;
    for (int i = 0; i < n; ++i) {
        int cell = cell_around(c, x[i]);
        for (int axis = 0; axis < 3; ++axis) {
            double middle[1][3], *v = out + 9 * i + 3 * axis;
            if (cell) {
                ty_path_at_face(gf, axis, cell, v);
                continue;
            }
            center_around(c, x[i], middle[0]);
            middle[0][axis] -= 0.5 * c->h;
            ty_path_sample(gf, 1, (const double(*)[3])middle, v);
        }
    }
}
