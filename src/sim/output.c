// SPDX-License-Identifier: Apache-2.0
#include "sim/output.h"

#include <math.h>
#include <stdio.h>

#include "core/config.h"
#include "core/parallel.h"
#include "format/file.h"
#include "format/mesh_io.h"
#include "format/vdb.h"

// Cells on either side of the surface that a volume file holds, as other programs expect of a level
// set.
static const double VOLUME_BAND = 3.0;

const char* ty_output_path(const char* dir, const char* kind, int number, const char* ext,
                           char* out, int size)
{
    snprintf(out, (size_t)size, "%s/%s/%s.%04d.%s", dir, kind, kind, number, ext);
    return out;
}

ty_status ty_output_folders(const ty_sim_def* def, const char* dir)
{
    const struct {
        const char* name;
        bool wanted;
    } folders[] = {{"checkpoint", true},
                   {"surface", def->write_surface && !def->smoke},
                   {"volume", def->write_volume},
                   {"tets", def->write_tets && ty_solver_find(def->solve.kind)->write_tets},
                   {"particles", def->write_particles && !def->smoke &&
                                     ty_tracker_find(def->track.kind)->particles}};
    char path[4096];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        if (!folders[i].wanted) continue;
        snprintf(path, sizeof path, "%s/%s", dir, folders[i].name);
        TY_TRY(ty_make_folders(path));
    }
    return ty_ok();
}

static ty_status write_mesh(const ty_sim* sim, const ty_tri_mesh* mesh, const char* dir,
                            const char* kind, int number)
{
    char path[4096], program[64], frame[64], time[64];
    snprintf(program, sizeof program, "tethys %s", TY_VERSION);
    snprintf(frame, sizeof frame, "frame %d", number);
    snprintf(time, sizeof time, "time %.10g", sim->time);
    const char* comments[] = {program, frame, time};
    return ty_ply_write(mesh, ty_output_path(dir, kind, number, "ply", path, sizeof path), 3,
                        comments);
}

static ty_status write_surface(ty_sim* sim, const char* dir, int number)
{
    TY_TRY(ty_sim_surface_velocities(sim));
    return write_mesh(sim, &sim->surface, dir, "surface", number);
}

static ty_status write_particles(const ty_sim* sim, const char* dir, int number)
{
    ty_tri_mesh points = {0};
    ty_status status = sim->tracker_kind->particles(sim->tracker, &points);
    if (status.code == TY_OK) status = write_mesh(sim, &points, dir, "particles", number);
    ty_tri_mesh_free(&points);
    return status;
}

// The cells of a volume file: around the surface, on the lattice that starts at the domain's
// corner.
typedef struct volume_job {
    const ty_sim* sim;
    ty_sampler distance, solid, velocity;
    double origin[3], cell;
    int n[3];
    double band;    // metres on either side of the surface that are written
} volume_job;

static volume_job make_volume_job(const ty_sim* sim)
{
    ty_liquid liquid = ty_sim_liquid(sim);
    const ty_world_def* world = &sim->def->world;
    volume_job job = {.sim = sim,
                      .distance = liquid.distance,
                      .solid = ty_world_solid(sim->world),
                      .velocity = ty_sim_flow(sim).velocity,
                      .cell = liquid.cell,
                      .band = VOLUME_BAND * liquid.cell};
    ty_box box = ty_tri_mesh_bounds(&sim->surface);
    for (int axis = 0; axis < 3; ++axis) {
        double corner = world->has_domain ? world->min[axis] : 0.0;
        bool empty = sim->surface.n_verts == 0;
        double lo = empty ? 0.0 : floor((box.lo[axis] - corner - job.band) / job.cell);
        double hi = empty ? 1.0 : ceil((box.hi[axis] - corner + job.band) / job.cell);
        job.origin[axis] = corner + lo * job.cell;
        job.n[axis] = (int)(hi - lo);
    }
    return job;
}

static void cell_centres(const volume_job* job, int64_t first, int n, int k, double (*x)[3])
{
    for (int i = 0; i < n; ++i) {
        const int64_t index[3] = {(first + i) % job->n[0], (first + i) / job->n[0], k};
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = job->origin[axis] + ((double)index[axis] + 0.5) * job->cell;
    }
}

// max(liquid, -solid): the surface as it is written.
static void cut_distance(const volume_job* job, int n, const double (*x)[3], double* phi)
{
    double wall[TY_SAMPLE_BATCH];
    ty_sample(&job->distance, n, x, phi);
    ty_sample(&job->solid, n, x, wall);
    for (int i = 0; i < n; ++i) phi[i] = fmax(phi[i], -wall[i]);
}

typedef struct plane_job {
    const volume_job* volume;
    int k, width;
    float* out;
} plane_job;

static void fill_block(void* ctx, ty_range r)
{
    plane_job* job = ctx;
    double x[TY_SAMPLE_BATCH][3], phi[TY_SAMPLE_BATCH], v[TY_SAMPLE_BATCH][3];
    int n = (int)(r.end - r.begin);
    const double(*points)[3] = (const double(*)[3])x;
    cell_centres(job->volume, r.begin, n, job->k, x);
    cut_distance(job->volume, n, points, phi);
    if (job->width == 1) {
        for (int i = 0; i < n; ++i) job->out[r.begin + i] = (float)phi[i];
        return;
    }
    ty_sample(&job->volume->velocity, n, points, v[0]);
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)    // in the liquid and a band around it
            job->out[3 * (r.begin + i) + axis] = phi[i] < job->volume->band ? (float)v[i][axis]
                                                                            : 0.0f;
}

static void distance_plane(const void* self, int k, float* out)
{
    const volume_job* volume = self;
    plane_job job = {volume, k, 1, out};
    ty_parallel_for((int64_t)volume->n[0] * volume->n[1], TY_SAMPLE_BATCH, fill_block, &job);
}

static void velocity_plane(const void* self, int k, float* out)
{
    const volume_job* volume = self;
    plane_job job = {volume, k, 3, out};
    ty_parallel_for((int64_t)volume->n[0] * volume->n[1], TY_SAMPLE_BATCH, fill_block, &job);
}

static ty_vdb_grid make_grid(const volume_job* job, const char* name, bool level_set)
{
    ty_vdb_grid grid = ty_vdb_grid_default();
    grid.name = name;
    grid.class_ = level_set ? TY_VDB_LEVEL_SET : TY_VDB_PLAIN;
    grid.width = level_set ? 1 : 3;
    grid.plane = level_set ? distance_plane : velocity_plane;
    grid.self = job;
    grid.cell = job->cell;
    grid.offset = 0.5;
    grid.background = level_set ? (float)job->band : 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        grid.n[axis] = job->n[axis];
        grid.origin[axis] = job->origin[axis];
    }
    return grid;
}

static ty_status write_volume(ty_sim* sim, const char* dir, int number)
{
    char path[4096], hash[32];
    volume_job job = make_volume_job(sim);
    ty_vdb_grid grids[2] = {make_grid(&job, "surface", true), make_grid(&job, "velocity", false)};
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sim->def->scene_hash);
    const ty_vdb_note notes[] = {{"program", "tethys " TY_VERSION, 0},
                                 {"frame", NULL, number},
                                 {"time", NULL, sim->time},
                                 {"rate", NULL, sim->def->frame_rate},
                                 {"scene_hash", hash, 0}};
    return ty_vdb_write(ty_output_path(dir, "volume", number, "vdb", path, sizeof path), 2, grids,
                        sizeof notes / sizeof *notes, notes, TY_VDB_BLOSC);
}

ty_status ty_output_frame(ty_sim* sim, const char* dir, int number)
{
    const ty_sim_def* def = sim->def;
    if (def->write_surface && sim->tracker_kind) TY_TRY(write_surface(sim, dir, number));
    if (def->write_volume && sim->tracker_kind) TY_TRY(write_volume(sim, dir, number));
    if (def->write_tets && sim->solver_kind->write_tets) {
        char path[4096];
        TY_TRY(sim->solver_kind->write_tets(
            sim->solver, ty_output_path(dir, "tets", number, "vtu", path, sizeof path)));
    }
    if (def->write_particles && sim->tracker_kind && sim->tracker_kind->particles)
        TY_TRY(write_particles(sim, dir, number));
    return ty_ok();
}
