// SPDX-License-Identifier: Apache-2.0
// How far a tracked surface is from the exact one. The tracker's own distance is not asked: the
// triangles are.
#include <math.h>

#include "core/parallel.h"
#include "sim/track_case.h"
#include "space/mesh_distance.h"

enum {
    PARTS = 4,
    N_PARTS = PARTS * PARTS * PARTS,
    BLOCK = 256
};    // per axis, of cells that a surface may cross

typedef struct measure {
    const ty_tri_mesh* mesh;
    ty_sampler exact, tracked;
    double lo[3], cell;
    int n[3];
} measure;

// Share of the cell around c in which exactly one of the two is inside.
static double differing_share(const measure* m, const double c[3])
{
    double x[N_PARTS][3], a[N_PARTS], b[N_PARTS];
    for (int i = 0; i < N_PARTS; ++i) {
        int at[3] = {i % PARTS, i / PARTS % PARTS, i / (PARTS * PARTS)};
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = c[axis] + m->cell * ((at[axis] + 0.5) / PARTS - 0.5);
    }
    ty_sample(&m->exact, N_PARTS, (const double(*)[3])x, a);
    ty_sample(&m->tracked, N_PARTS, (const double(*)[3])x, b);
    int differ = 0;
    for (int i = 0; i < N_PARTS; ++i) differ += (a[i] < 0.0) != (b[i] < 0.0);
    return (double)differ / N_PARTS;
}

static double difference_block(void* ctx, ty_range r)
{
    const measure* m = ctx;
    double x[BLOCK][3], a[BLOCK], b[BLOCK], sum = 0.0;
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) {
        int64_t id = r.begin + i;
        int64_t at[3] = {id % m->n[0], id / m->n[0] % m->n[1], id / m->n[0] / m->n[1]};
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = m->lo[axis] + m->cell * ((double)at[axis] + 0.5);
    }
    ty_sample(&m->exact, n, (const double(*)[3])x, a);
    ty_sample(&m->tracked, n, (const double(*)[3])x, b);
    for (int i = 0; i < n; ++i) {
        if (fabs(a[i]) > m->cell && fabs(b[i]) > m->cell) sum += (a[i] < 0.0) != (b[i] < 0.0);
        else sum += differing_share(m, x[i]);
    }
    return sum;
}

static double difference(measure* m, const ty_tri_mesh* before)
{
    ty_box a = ty_tri_mesh_bounds(m->mesh), b = ty_tri_mesh_bounds(before);
    int64_t size = 1;
    for (int axis = 0; axis < 3; ++axis) {
        double lo = fmin(a.lo[axis], b.lo[axis]) - m->cell;
        double hi = fmax(a.hi[axis], b.hi[axis]) + m->cell;
        m->lo[axis] = lo;
        m->n[axis] = hi > lo ? (int)ceil((hi - lo) / m->cell) : 0;
        size *= m->n[axis];
    }
    return pow(m->cell, 3) * ty_parallel_sum(size, BLOCK, difference_block, m);
}

static void weigh_vertices(const ty_tri_mesh* mesh, double* weight)
{
    for (int v = 0; v < mesh->n_verts; ++v) weight[v] = 0.0;
    for (int t = 0; t < mesh->n_tris; ++t) {
        const int* tri = mesh->tri[t];
        ty_vec3 a = ty_load3(mesh->vert[tri[0]]);
        double area = 0.5 * ty_norm(ty_cross(ty_load3(mesh->vert[tri[1]]) - a,
                                             ty_load3(mesh->vert[tri[2]]) - a));
        for (int i = 0; i < 3; ++i) weight[tri[i]] += area / 3.0;
    }
}

// Mean over the mesh's area and largest |phi| at its vertices.
static ty_status distances(const ty_tri_mesh* mesh, const ty_sampler* phi, double* mean,
                           double* largest)
{
    double* weight = ty_alloc(2 * (size_t)mesh->n_verts, sizeof *weight);
    if (!weight) return ty_no_memory("distances of a surface");
    double *distance = weight + mesh->n_verts, sum = 0.0, area = 0.0;
    weigh_vertices(mesh, weight);
    ty_sample(phi, mesh->n_verts, (const double(*)[3])mesh->vert, distance);
    for (int v = 0; v < mesh->n_verts; ++v) {
        sum += weight[v] * fabs(distance[v]);
        area += weight[v];
        *largest = fmax(*largest, fabs(distance[v]));
    }
    *mean = area > 0.0 ? sum / area : INFINITY;
    ty_free(weight);
    return ty_ok();
}

static ty_status measure_all(measure* m, const ty_tri_mesh* before, double volume,
                             ty_track_case_result* result)
{
    double unused;
    result->max_distance = 0.0;
    TY_TRY(distances(m->mesh, &m->exact, &result->mean_distance, &result->max_distance));
    TY_TRY(distances(before, &m->tracked, &unused, &result->max_distance));
    result->symmetric_difference = difference(m, before) / volume;
    return ty_ok();
}

ty_status ty_track_measure(const ty_tri_mesh* mesh, const ty_sampler* exact,
                           const ty_tri_mesh* before, double cell, double volume,
                           ty_track_case_result* result)
{
    if (mesh->n_tris == 0) {
        result->symmetric_difference = before->n_tris > 0 ? 1.0 : 0.0;
        result->mean_distance = result->max_distance = INFINITY;
        return ty_ok();
    }
    ty_mesh_distance d = {0};
    ty_mesh_distance_def def = ty_mesh_distance_default();
    ty_status status = ty_mesh_distance_build(&d, &def, mesh->n_verts,
                                              (const double(*)[3])mesh->vert, mesh->n_tris,
                                              (const int(*)[3])mesh->tri);
    measure m = {
        .mesh = mesh, .exact = *exact, .tracked = ty_mesh_distance_sampler(&d), .cell = cell};
    if (status.code == TY_OK) status = measure_all(&m, before, volume, result);
    ty_mesh_distance_free(&d);
    return status;
}
