// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <string.h>

#include "core/parallel.h"
#include "geometry/tet_quality.h"
#include "mesh/tet_mesh.h"

enum { TET_BLOCK = 4096 };

void ty_dihedral_angles(const double v[4][3], double angle[6])
{
    ty_tet_dihedral_angles(ty_load3(v[0]), ty_load3(v[1]), ty_load3(v[2]), ty_load3(v[3]), angle);
    for (int e = 0; e < 6; ++e) angle[e] *= 180.0 / M_PI;
}

typedef struct quality_args {
    const ty_tet_mesh* m;
    ty_tet_quality sum;    // counts and extremes: any order gives the same
    pthread_mutex_t lock;
} quality_args;

static int shape_class(ty_tet_kind kind)
{
    int shape = ty_kind_shape(kind);
    if (shape == TY_TET_IRREGULAR) return 4;
    return (shape >= TY_TET_HALF) + (shape >= TY_TET_QUARTER) + (shape >= TY_TET_PYRAMID);
}

static void add_tet(const ty_tet_mesh* m, int t, ty_tet_quality* q)
{
    double v[4][3], angle[6];
    for (int i = 0; i < 4; ++i) memcpy(v[i], m->vert[m->tet[t][i]], sizeof v[i]);
    ty_dihedral_angles(v, angle);
    for (int e = 0; e < 6; ++e) {
        q->min_dihedral = fmin(q->min_dihedral, angle[e]);
        q->max_dihedral = fmax(q->max_dihedral, angle[e]);
        int bin = (int)(angle[e] / 5.0);
        ++q->histogram[bin < 0 ? 0 : bin > 35 ? 35 : bin];
    }
    ++q->by_shape[shape_class(m->kind[t])];
    ty_vec3 o = ty_load3(v[0]);
    double six = ty_dot(ty_load3(v[1]) - o, ty_cross(ty_load3(v[2]) - o, ty_load3(v[3]) - o));
    q->min_volume = fmin(q->min_volume, six / 6.0);
}

static void quality_block(void* ctx, ty_range r)
{
    quality_args* k = ctx;
    ty_tet_quality q = {
        .min_dihedral = INFINITY, .max_dihedral = -INFINITY, .min_volume = INFINITY};
    for (int64_t t = r.begin; t < r.end; ++t) add_tet(k->m, (int)t, &q);
    pthread_mutex_lock(&k->lock);
    k->sum.min_dihedral = fmin(k->sum.min_dihedral, q.min_dihedral);
    k->sum.max_dihedral = fmax(k->sum.max_dihedral, q.max_dihedral);
    k->sum.min_volume = fmin(k->sum.min_volume, q.min_volume);
    for (int i = 0; i < 36; ++i) k->sum.histogram[i] += q.histogram[i];
    for (int i = 0; i < 5; ++i) k->sum.by_shape[i] += q.by_shape[i];
    pthread_mutex_unlock(&k->lock);
}

ty_tet_quality ty_tet_mesh_quality(const ty_tet_mesh* m)
{
    quality_args k = {.m = m, .lock = PTHREAD_MUTEX_INITIALIZER};
    k.sum = (ty_tet_quality){
        .min_dihedral = INFINITY, .max_dihedral = -INFINITY, .min_volume = INFINITY};
    ty_parallel_for(m->n_tets, TET_BLOCK, quality_block, &k);
    k.sum.volume = ty_tet_mesh_volume(m);
    return k.sum;
}
