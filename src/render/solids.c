// SPDX-License-Identifier: Apache-2.0
#include "render/solids.h"

#include <string.h>

#include "core/parallel.h"
#include "mesh/contour.h"
#include "render/normals.h"
#include "render/optics.h"

enum { STILL_CELLS = 112, CHANGING_CELLS = 72, SEGMENTS = 96, MARGIN_CELLS = 2 };
static const double CREASE_COSINE = 0.82;    // 35 degrees: rounder is smooth, sharper is an edge

ty_status ty_add_box(ty_tri_mesh* mesh, const double lo[3], const double hi[3])
{
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                     {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                     {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    int v = mesh->n_verts, t = mesh->n_tris;
    TY_TRY(ty_tri_mesh_resize(mesh, v + 8, t + 12));
    for (int i = 0; i < 8; ++i)
        for (int axis = 0; axis < 3; ++axis)
            mesh->vert[v + i][axis] = i >> axis & 1 ? hi[axis] : lo[axis];
    for (int i = 0; i < 12; ++i)
        for (int c = 0; c < 3; ++c) mesh->tri[t + i][c] = v + faces[i][c];
    return ty_ok();
}

static ty_status cylinder_mesh(ty_tri_mesh* mesh, const ty_shape_def* def)
{
    ty_vec3 end[2] = {ty_load3(def->from), ty_load3(def->to)}, s, t;
    ty_frame(ty_normalize(end[1] - end[0]), &s, &t);
    TY_TRY(ty_tri_mesh_resize(mesh, 2 * SEGMENTS + 2, 4 * SEGMENTS));
    for (int k = 0; k < 2; ++k) ty_store3(mesh->vert[2 * SEGMENTS + k], end[k]);
    for (int i = 0; i < SEGMENTS; ++i) {
        double angle = 2.0 * TY_PI * i / SEGMENTS;
        int j = (i + 1) % SEGMENTS;
        for (int k = 0; k < 2; ++k)
            ty_store3(mesh->vert[k * SEGMENTS + i],
                      end[k] + def->radius * (cos(angle) * s + sin(angle) * t));
        const int quad[4][3] = {{i, j, SEGMENTS + i},
                                {j, SEGMENTS + j, SEGMENTS + i},
                                {2 * SEGMENTS, j, i},
                                {2 * SEGMENTS + 1, SEGMENTS + i, SEGMENTS + j}};
        memcpy(mesh->tri[4 * i], quad, sizeof quad);
    }
    return ty_ok();
}

// The shape, cut off at a box and moved inwards by `gap`.
typedef struct clipped {
    const ty_shape* shape;
    ty_box box;
    double gap;
} clipped;

static double box_distance(const ty_box* b, const double x[3])
{
    double far = -INFINITY;
    for (int axis = 0; axis < 3; ++axis)
        far = fmax(far, fmax(b->lo[axis] - x[axis], x[axis] - b->hi[axis]));
    return far;
}

static void clipped_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const clipped* c = self;
    ty_shape_distance(c->shape, n, x, out);
    for (int i = 0; i < n; ++i) out[i] = fmax(out[i] + c->gap, box_distance(&c->box, x[i]));
}

typedef struct lattice_job {
    ty_sampler phi;
    ty_contour_lattice lattice;
    double* values;
} lattice_job;

static void fill_rows(void* ctx, ty_range r)
{
    lattice_job* job = ctx;
    const ty_contour_lattice* l = &job->lattice;
    double x[TY_SAMPLE_BATCH][3];
    for (int64_t row = r.begin; row < r.end; ++row)
        for (int i0 = 0; i0 < l->n[0]; i0 += TY_SAMPLE_BATCH) {
            int n = l->n[0] - i0 < TY_SAMPLE_BATCH ? l->n[0] - i0 : TY_SAMPLE_BATCH;
            for (int i = 0; i < n; ++i) {
                const int64_t index[3] = {i0 + i, row % l->n[1], row / l->n[1]};
                for (int axis = 0; axis < 3; ++axis)
                    x[i][axis] = l->origin[axis] + l->cell * (double)index[axis];
            }
            ty_sample(&job->phi, n, (const double(*)[3])x, job->values + row * l->n[0] + i0);
        }
}

static ty_status contour_mesh(ty_tri_mesh* mesh, const ty_solid* solid, int cells)
{
    clipped shape = {&solid->shape, solid->clip, solid->hollow ? solid->gap : 0.0};
    ty_box bounds = ty_shape_bounds(&solid->shape);
    shape.box = ty_box_is_finite(&bounds) ? bounds : solid->clip;
    lattice_job job = {.phi = {&shape, 1, 0.0, clipped_eval}};
    double side = 0.0;
    for (int axis = 0; axis < 3; ++axis) side = fmax(side, shape.box.hi[axis] - shape.box.lo[axis]);
    ty_contour_lattice* l = &job.lattice;
    l->cell = side / cells;
    // Half a cell more, so that faces of the box do not lie on lattice planes.
    for (int axis = 0; axis < 3; ++axis) {
        l->origin[axis] = shape.box.lo[axis] - (MARGIN_CELLS + 0.5) * l->cell;
        l->n[axis] = (int)ceil((shape.box.hi[axis] - shape.box.lo[axis]) / l->cell) +
                     2 * MARGIN_CELLS + 2;
        if (ty_box_is_finite(&bounds)) shape.box.lo[axis] -= side, shape.box.hi[axis] += side;
    }
    job.values = ty_alloc((size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2], sizeof *job.values);
    if (!job.values) return ty_no_memory("the shape of an obstacle");
    ty_parallel_for((int64_t)l->n[1] * l->n[2], 4, fill_rows, &job);
    l->values = job.values;
    ty_contour scratch = {0};
    ty_status status = ty_contour_grid(&scratch, l, &job.phi, TY_CONTOUR_REFINE, mesh);
    ty_contour_free(&scratch);
    ty_free(job.values);
    return status;
}

// From the world at its present pose to the shape's own space.
static void undo_pose(const ty_solid* solid, ty_tri_mesh* mesh)
{
    for (int v = 0; v < mesh->n_verts; ++v)
        ty_store3(mesh->vert[v], ty_pose_undo(&solid->shape.pose, ty_load3(mesh->vert[v])));
}

static ty_status make_mesh(ty_solid* solid)
{
    const ty_shape_def* def = solid->shape.def;
    ty_tri_mesh* mesh = &solid->rest;
    TY_TRY(ty_tri_mesh_resize(mesh, 0, 0));
    if (solid->rigid && !solid->hollow) {
        if (def->kind == TY_SHAPE_BOX) return ty_add_box(mesh, def->min, def->max);
        if (def->kind == TY_SHAPE_CYLINDER) return cylinder_mesh(mesh, def);
        if (def->kind == TY_SHAPE_MESH)
            return ty_mesh_body_read(mesh, def->file, def->scale, def->offset);
    }
    TY_TRY(contour_mesh(mesh, solid, solid->rigid ? STILL_CELLS : CHANGING_CELLS));
    if (solid->rigid) undo_pose(solid, mesh);
    return ty_ok();
}

static ty_status remake(ty_solid* solid)
{
    TY_TRY(make_mesh(solid));
    ty_free(solid->normal);
    solid->normal = ty_alloc(3 * (size_t)solid->rest.n_tris, sizeof *solid->normal);
    if (!solid->normal) return ty_no_memory("normals");
    return ty_corner_normals(&solid->rest, NULL, CREASE_COSINE, solid->normal);
}

ty_status ty_solid_create(ty_solid* solid, const ty_shape_def* def, double cell, const ty_box* clip,
                          double gap)
{
    *solid = (ty_solid){.clip = *clip, .gap = gap, .hollow = def->invert};
    TY_TRY(ty_shape_create(&solid->shape, def, cell, NULL));
    solid->rigid = !solid->shape.changes_inside;
    return remake(solid);
}

void ty_solid_destroy(ty_solid* solid)
{
    ty_shape_destroy(&solid->shape);
    ty_tri_mesh_free(&solid->rest);
    ty_free(solid->normal);
    *solid = (ty_solid){0};
}

ty_status ty_solid_move(ty_solid* solid, double t)
{
    TY_TRY(ty_shape_move(&solid->shape, t, 0.0));
    return solid->rigid ? ty_ok() : remake(solid);
}

static ty_pose pose_at(const ty_solid* solid, double t)
{
    const ty_shape_def* def = solid->shape.def;
    return ty_pose_at(def->n_keys, def->keys, def->linear, t, false);
}

void ty_solid_place(const ty_solid* solid, double t, double (*vert)[3])
{
    ty_pose pose = pose_at(solid, t);
    for (int v = 0; v < solid->rest.n_verts; ++v) {
        ty_vec3 p = ty_load3(solid->rest.vert[v]);
        ty_store3(vert[v], solid->rigid ? ty_pose_apply(&pose, p) : p);
    }
}

void ty_solid_normals(const ty_solid* solid, double t, float (*out)[3])
{
    ty_pose pose = pose_at(solid, t);
    for (int i = 0; i < 3 * solid->rest.n_tris; ++i) {
        const float* n = solid->normal[i];
        ty_vec3 turned = ty_vec(n[0], n[1], n[2]);
        if (solid->rigid) turned = ty_pose_turn(&pose, turned);
        for (int axis = 0; axis < 3; ++axis) out[i][axis] = (float)turned[axis];
    }
}
