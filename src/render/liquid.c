// SPDX-License-Identifier: Apache-2.0
// The liquid's surface on the stage: which faces lie on what, smooth normals, motion.
#include <string.h>

#include "core/parallel.h"
#include "render/normals.h"
#include "render/scenery_parts.h"

static const double ON_WALL = 1e-5;        // of the tank's length: files hold floats
static const double ON_OBSTACLE = 0.02;    // of a cell: vertices are within a thousandth
enum { FREE = 0, ON_GLASS = -1, LEFT_OUT = -2, BLOCK = 512 };

typedef struct liquid_job {
    const ty_scenery* s;
    const ty_tri_mesh* mesh;
    uint8_t* walls;    // per vertex, one bit per closed side it lies on
    uint8_t* solid;    // per vertex: lies on an obstacle
} liquid_job;

static uint8_t walls_at(const ty_scenery* s, const double x[3])
{
    const ty_world_def* world = s->def.world;
    uint8_t bits = 0;
    for (int side = 0; world->has_domain && side < TY_N_SIDES; ++side) {
        double wall = side % 2 ? world->max[side / 2] : world->min[side / 2];
        if (world->wall[side].closed && fabs(x[side / 2] - wall) < ON_WALL * s->size)
            bits |= (uint8_t)(1 << side);
    }
    return bits;
}

static void look_around(void* ctx, ty_range r)
{
    liquid_job* job = ctx;
    const ty_scenery* s = job->s;
    const double(*x)[3] = (const double(*)[3])job->mesh->vert + r.begin;
    int n = (int)(r.end - r.begin);
    double d[BLOCK];
    for (int i = 0; i < n; ++i) {
        job->walls[r.begin + i] = walls_at(s, x[i]);
        job->solid[r.begin + i] = 0;
    }
    for (int k = 0; k < s->n_solids; ++k) {
        if (s->solids[k].hollow) continue;
        ty_shape_distance(&s->solids[k].shape, n, x, d);
        for (int i = 0; i < n; ++i)
            job->solid[r.begin + i] |= fabs(d[i]) < ON_OBSTACLE * s->def.cell;
    }
}

static int8_t kind_of(const liquid_job* job, const int tri[3])
{
    const ty_scenery* s = job->s;
    int walls = job->walls[tri[0]] & job->walls[tri[1]] & job->walls[tri[2]];
    if (job->solid[tri[0]] & job->solid[tri[1]] & job->solid[tri[2]]) return LEFT_OUT;
    if (walls >> 2 * s->def.world->up & 1 && ty_scenery_has_plate(s)) return LEFT_OUT;
    return walls ? ON_GLASS : FREE;
}

// Keeps the faces that are drawn; kind[i] goes with kept face i. Returns how many.
static int keep_faces(const liquid_job* job, int (*tri)[3], int8_t* kind)
{
    int n = 0;
    for (int i = 0; i < job->mesh->n_tris; ++i) {
        kind[n] = kind_of(job, job->mesh->tri[i]);
        if (kind[n] == LEFT_OUT) continue;
        memcpy(tri[n++], job->mesh->tri[i], sizeof *tri);
    }
    return n;
}

// Where the vertices are `dt` seconds from now: on their walls, and not through others.
static void carry(const liquid_job* job, const float (*velocity)[3], double dt, double (*out)[3])
{
    const ty_world_def* world = job->s->def.world;
    for (int v = 0; v < job->mesh->n_verts; ++v)
        for (int axis = 0; axis < 3; ++axis) {
            bool held = job->walls[v] >> 2 * axis & 3;
            double x = job->mesh->vert[v][axis] + (held ? 0.0 : dt * (double)velocity[v][axis]);
            if (world->has_domain && world->wall[2 * axis].closed) x = fmax(x, world->min[axis]);
            if (world->has_domain && world->wall[2 * axis + 1].closed)
                x = fmin(x, world->max[axis]);
            out[v][axis] = x;
        }
}

static ty_matter liquid_matter(ty_look look)
{
    return (ty_matter){.kind = look == TY_LOOK_WATER ? TY_CLEAR : TY_MATTE,
                       .colour = look == TY_LOOK_WIRE ? ty_vec(0.70, 0.80, 0.88)
                                                      : ty_vec(0.30, 0.52, 0.70),
                       .lines = look == TY_LOOK_WIRE,
                       .line_colour = ty_vec(0.03, 0.07, 0.15)};
}

typedef struct liquid_arrays {
    int (*tri)[3];
    int8_t* kind;
    float (*normal)[3];
    double (*open)[3];
    double (*close)[3];
} liquid_arrays;

static ty_status place(ty_stage* stage, liquid_job* job, liquid_arrays* a, double open)
{
    const ty_tri_mesh* m = job->mesh;
    ty_parallel_for(m->n_verts, BLOCK, look_around, job);
    ty_tri_mesh kept = {.n_verts = m->n_verts,
                        .n_tris = keep_faces(job, a->tri, a->kind),
                        .vert = m->vert,
                        .tri = a->tri};
    TY_TRY(ty_corner_normals(&kept, a->kind, -1.0, a->normal));
    ty_stage_mesh mesh = {.n_verts = kept.n_verts,
                          .n_tris = kept.n_tris,
                          .vert = (const double(*)[3])m->vert,
                          .tri = (const int(*)[3])a->tri,
                          .normal = (const float(*)[3])a->normal,
                          .matter = liquid_matter(job->s->def.look)};
    const float(*velocity)[3] = (const float(*)[3])ty_tri_mesh_attribute(m, "velocity", 3);
    if (velocity && open > 0.0) {
        carry(job, velocity, -0.5 * open, a->open);
        carry(job, velocity, 0.5 * open, a->close);
        mesh.vert = (const double(*)[3])a->open;
        mesh.end = (const double(*)[3])a->close;
    }
    return ty_stage_add(stage, &mesh);
}

ty_status ty_stage_add_liquid(ty_stage* stage, const ty_scenery* s, const ty_tri_mesh* liquid,
                              double open)
{
    size_t n_verts = (size_t)liquid->n_verts, n_tris = (size_t)liquid->n_tris;
    liquid_job job = {s, liquid, ty_alloc(n_verts, 1), ty_alloc(n_verts, 1)};
    liquid_arrays a = {ty_alloc(n_tris, sizeof *a.tri), ty_alloc(n_tris + 1, 1),
                       ty_alloc(3 * n_tris, sizeof *a.normal), ty_alloc(n_verts, sizeof *a.open),
                       ty_alloc(n_verts, sizeof *a.close)};
    bool ok = job.walls && job.solid && a.tri && a.kind && a.normal && a.open && a.close;
    ty_status status = ok ? place(stage, &job, &a, open) : ty_no_memory("the liquid's surface");
    void* all[] = {job.walls, job.solid, a.tri, a.kind, a.normal, a.open, a.close};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) ty_free(all[i]);
    return status;
}
