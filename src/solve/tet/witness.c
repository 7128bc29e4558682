// SPDX-License-Identifier: Apache-2.0
// What the surface gets to see of a step: the divergence of the interpolated field that moves it,
// which no projection makes zero, and how many of its vertices hang outside the mesh.
#include "core/parallel.h"
#include "geometry/slope.h"
#include "solve/tet/motion.h"

enum { BLOCK = 64, MOST_SAMPLES = 4096 };
static const double PROBE = 0.25;    // cells: differences of the field
static const double CLEAR = 1.0;     // cells: nearer to solids the field is the wall's

typedef struct witness_job {
    const ty_tetflow* tf;
    const ty_tri_mesh* surface;
    int stride;
} witness_job;

// Vertices in the open that the mesh does not reach (loose.c), but those of drops that no tet is near at all: these fly
// on their own.
static ty_status count_hanging(const ty_tetflow* tf, const ty_liquid* liquid, double* hanging)
{
    const int* id = tf->loose_id.at;
    const int* piece = liquid->piece;
    uint8_t* meshed = ty_alloc_zero((size_t)(liquid->n_pieces > 0 ? liquid->n_pieces : 1), 1);
    if (!meshed) return ty_no_memory("vertices outside the mesh");
    for (int v = 0; v < liquid->surface->n_verts; ++v)
        if (id[v] < 0 && id[v] != TY_TET_BURIED) meshed[piece ? piece[v] : 0] = 1;
    *hanging = 0.0;
    for (int v = 0; v < liquid->surface->n_verts; ++v)
        *hanging += id[v] >= 0 && meshed[piece ? piece[v] : 0];
    ty_free(meshed);
    return ty_ok();
}

// Sum of squares over every `stride`-th vertex that is clear of walls; `counted`: how many there
// are.
static double divergence_sum(const witness_job* job, ty_range r, bool counted)
{
    const ty_tetflow* tf = job->tf;
    double step = PROBE * tf->def->cell, sum = 0.0, x[4][3], u[4][3], d[1], at[1][3];
    ty_sampler walls = ty_world_solid(tf->world);
    for (int64_t i = r.begin; i < r.end; ++i) {
        ty_store3(at[0], ty_load3(job->surface->vert[i * job->stride]));
        ty_sample(&walls, 1, (const double(*)[3])at, d);
        if (d[0] < CLEAR * tf->def->cell) continue;
        if (counted) {
            sum += 1.0;
            continue;
        }
        for (int c = 0; c < 4; ++c) ty_store3(x[c], ty_load3(at[0]) + step * ty_load3(TY_TETRA[c]));
        ty_tetflow_seen(tf, 4, (const double(*)[3])x, u[0], NULL);
        double divergence = 0.0;
        for (int c = 0; c < 4; ++c)
            divergence += ty_dot(ty_load3(TY_TETRA[c]), ty_load3(u[c])) / (4.0 * step);
        sum += divergence * divergence;
    }
    return sum;
}

static double square_block(void* ctx, ty_range r) { return divergence_sum(ctx, r, false); }
static double count_block(void* ctx, ty_range r) { return divergence_sum(ctx, r, true); }

ty_status ty_tetflow_witness(const ty_tetflow* tf, const ty_liquid* liquid, ty_solve_stats* stats)
{
    if (!liquid->surface || liquid->surface->n_verts == 0) return ty_ok();
    int n = liquid->surface->n_verts;
    witness_job job = {tf, liquid->surface, 1 + n / MOST_SAMPLES};
    TY_TRY(count_hanging(tf, liquid, &stats->outside));
    int64_t samples = (n - 1) / job.stride + 1;
    double count = ty_parallel_sum(samples, BLOCK, count_block, &job);
    if (count > 0.0)
        stats->surface_divergence = sqrt(ty_parallel_sum(samples, BLOCK, square_block, &job) /
                                         count);
    return ty_ok();
}
