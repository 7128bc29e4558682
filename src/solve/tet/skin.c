// SPDX-License-Identifier: Apache-2.0
// What is known outside the mesh: its boundary, with the values of its vertices, and loose parts of
// the surface that no tet is near, each vertex with its own velocity. The closest triangle answers.
#include <string.h>

#include "solve/tet/motion.h"

void ty_tet_motion_free(ty_tet_motion* m)
{
    ty_tet_state_free(&m->state);
    ty_array_free(&m->volume);
    ty_array_free(&m->centre);
    ty_array_free(&m->moving);
    ty_array_free(&m->acting);
    ty_array_free(&m->carried);
    ty_tet_values* values[2] = {&m->u, &m->a};
    for (int f = 0; f < 2; ++f) {
        ty_array_free(&values[f]->vert);
        ty_array_free(&values[f]->deviation);
        ty_array_free(&values[f]->skin);
    }
    ty_tet_stars_free(&m->around);
    ty_tri_mesh_free(&m->skin);
    ty_bvh_free(&m->skin_tree);
    *m = (ty_tet_motion){0};
}

ty_status ty_tet_motion_close(ty_tet_motion* m)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    m->n_loose_tris = 0;
    if (mesh->n_tets) TY_TRY(ty_tet_mesh_boundary(mesh, &m->skin));
    else TY_TRY(ty_tri_mesh_resize(&m->skin, 0, 0));
    int n = m->skin.n_verts;
    return ty_bvh_build(&m->skin_tree, n, (const double(*)[3])m->skin.vert, m->skin.n_tris,
                        (const int(*)[3])m->skin.tri);
}

ty_status ty_tet_motion_skin_values(ty_tet_motion* m)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    ty_tet_values* values[2] = {&m->u, &m->a};
    int n = mesh->n_tets ? mesh->n_verts - mesh->n_inner : 0;
    for (int f = 0; f < 2; ++f) {
        if (!ty_array_resize(&values[f]->skin, m->skin.n_verts))
            return ty_no_memory("velocities outside the liquid");
        if (n)
            memcpy(values[f]->skin.at, values[f]->vert.at + mesh->n_inner,
                   (size_t)n * sizeof(ty_vec3));
    }
    return ty_ok();
}
