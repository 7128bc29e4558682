// SPDX-License-Identifier: Apache-2.0
#include "mesh/stuff.h"

#include <time.h>

#include "mesh/stuff_stage.h"

ty_stuff_def ty_stuff_default(void)
{
    return (ty_stuff_def){
        .box = ty_box_empty(), .levels = 6, .lipschitz = 1.0, .refine = 3, .faces = true};
}

void ty_stuff_free(ty_stuff* s)
{
    ty_array_free(&s->sign);
    ty_array_free(&s->nearest);
    ty_array_free(&s->vert_id);
    ty_array_free(&s->used);
    ty_array_free(&s->octant_cuts);
    ty_array_free(&s->octant_first_cut);
    ty_array_free(&s->corner_cuts);
    ty_array_free(&s->corner_first_cut);
    ty_array_free(&s->cut);
    ty_array_free(&s->cut_at);
    ty_array_free(&s->cut_probe);
    ty_array_free(&s->cut_id);
    ty_array_free(&s->n_tets);
    ty_array_free(&s->block_quads);
    ty_array_free(&s->first_quad);
    ty_array_free(&s->quad);
    ty_array_free(&s->keep_quad);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ty_status build_octree(const ty_sampler* phi, const ty_stuff_def* def, ty_octree* tree)
{
    ty_octree_def o = ty_octree_default();
    o.cell = def->cell;
    for (int axis = 0; axis < 3; ++axis) o.origin[axis] = def->origin[axis];
    o.box = def->box;
    o.levels = def->levels;
    o.uniform = def->uniform;
    o.lipschitz = def->lipschitz;
    o.roughly = def->roughly;
    return ty_octree_build(tree, phi, &o);
}

static ty_status stuff(ty_stuffing* k)
{
    TY_TRY(ty_stuff_cut(k));
    TY_TRY(ty_stuff_count(k));
    TY_TRY(ty_stuff_filter_quads(k));
    TY_TRY(ty_stuff_fill(k));
    if (!k->mesh->n_tets)
        return ty_fail(TY_EMPTY,
                       "nothing is inside the surface at a cell of %g m: take a smaller cell",
                       k->def->cell);
    return ty_ok();
}

ty_status ty_stuff_mesh(ty_stuff* s, const ty_sampler* phi, const ty_stuff_def* def,
                        ty_tet_mesh* mesh)
{
    double start = now();
    s->seconds_octree = s->seconds_stuff = s->seconds_faces = 0.0;
    TY_TRY(build_octree(phi, def, &mesh->tree));
    double built = now();
    s->seconds_octree = built - start;
    ty_stuffing k = {s, &mesh->tree, phi, def, mesh, mesh->tree.corners.n};
    TY_TRY(stuff(&k));
    double filled = now();
    s->seconds_stuff = filled - built;
    if (def->faces) TY_TRY(ty_tet_mesh_make_faces(mesh));
    s->seconds_faces = now() - filled;
    return ty_ok();
}
