// SPDX-License-Identifier: Apache-2.0
// tethys mesh --stages: what every stage of the mesher left behind, for eyes and for finding
// faults.
//   1-octree.vtu  leaves as voxels, with their level      2-cuts.vtu  cut points; kept 0: a vertex
//   moved there 3-warp.vtu    lines from a vertex to where it moved   4-tets.vtu  the mesh
//   5-boundary.ply  its surface
#include <stdio.h>
#include <string.h>

#include "cli/mesh.h"
#include "format/file.h"
#include "format/mesh_io.h"
#include "format/tet_io.h"
#include "mesh/stuff_stage.h"

typedef struct cells {
    TY_ARRAY(double) point;
    TY_ARRAY(int) vert;
    TY_ARRAY(uint8_t) tag;
} cells;

static ty_status finish(cells* c, bool ok, int type, int width, const char* tag, const char* folder,
                        const char* name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ty_vtu_array array = {tag, TY_VTU_BYTE, 1, c->tag.at};
    ty_vtu g = {.n_points = c->point.n / 3,
                .n_cells = c->vert.n / width,
                .points = (const double(*)[3])c->point.at};
    g.cell_type = type;
    g.verts_per_cell = width;
    g.verts = c->vert.at;
    g.n_arrays = 1;
    g.arrays = &array;
    ty_status status = ok ? ty_vtu_write(&g, path) : ty_no_memory("the stages");
    ty_array_free(&c->point);
    ty_array_free(&c->vert);
    ty_array_free(&c->tag);
    return status;
}

static bool add_point(cells* c, ty_vec3 p)
{
    for (int axis = 0; axis < 3; ++axis)
        if (!ty_array_push(&c->point, p[axis])) return false;
    return true;
}

static ty_status write_octree(const ty_octree* t, const char* folder)
{
    cells c = {0};
    bool ok = true;
    for (int i = 0; i < t->corners.n && ok; ++i) {
        int x[1][3];
        ty_lattice_set_points(&t->corners, i, i + 1, x);
        ok = add_point(&c, ty_octree_point(t, ty_vec(x[0][0], x[0][1], x[0][2])));
    }
    for (int l = 0; l < t->n_levels; ++l)
        for (int i = 0; i < t->level[l].octants.n && ok; ++i) {
            int corner[8], id = t->level[l].first + i;
            if (!ty_octree_is_leaf(t, id)) continue;
            ty_octree_corners_of(t, id, corner);
            for (int v = 0; v < 8 && ok; ++v) ok = ty_array_push(&c.vert, corner[v]);
            ok = ok && ty_array_push(&c.tag, (uint8_t)l);
        }
    return finish(&c, ok, 11, 8, "level", folder, "1-octree.vtu");
}

static ty_status write_cuts(const ty_stuffing* k, const char* folder)
{
    cells c = {0};
    bool ok = true;
    for (int64_t i = 0; i < k->s->cut.n && ok; ++i)
        ok = add_point(&c, ty_cut_point(k, (int)i)) && ty_array_push(&c.vert, (int)i) &&
             ty_array_push(&c.tag, (uint8_t)(k->s->cut_id.at[i] >= 0));
    return finish(&c, ok, 1, 1, "kept", folder, "2-cuts.vtu");
}

static ty_status write_warp(const ty_stuffing* k, const char* folder)
{
    cells c = {0};
    bool ok = true;
    for (int64_t v = 0; v < k->s->nearest.n && ok; ++v) {
        if (!ty_was_moved(k->s, (int)v)) continue;
        int cut = (int)(uint32_t)k->s->nearest.at[v], n = (int)(c.point.n / 3);
        const ty_cut* edge = &k->s->cut.at[cut];
        ty_vec3 half = ty_vec(edge->x[0], edge->x[1], edge->x[2]);
        if (edge->b == v) half += ty_cut_step(edge->direction);
        ok = add_point(&c, ty_octree_point(k->t, 0.5 * half)) &&
             add_point(&c, ty_cut_point(k, cut)) && ty_array_push(&c.vert, n) &&
             ty_array_push(&c.vert, n + 1) && ty_array_push(&c.tag, (uint8_t)(v >= k->n_corners));
    }
    return finish(&c, ok, 3, 2, "centre", folder, "3-warp.vtu");
}

ty_status mesh_write_stages(const char* folder, const ty_stuff* s, const ty_tet_mesh* m)
{
    char path[4096];
    ty_stuffing k = {.s = (ty_stuff*)s, .t = &m->tree, .n_corners = m->tree.corners.n};
    ty_tri_mesh boundary = {0};
    TY_TRY(ty_make_folders(folder));
    TY_TRY(write_octree(&m->tree, folder));
    TY_TRY(write_cuts(&k, folder));
    TY_TRY(write_warp(&k, folder));
    snprintf(path, sizeof path, "%s/4-tets.vtu", folder);
    TY_TRY(ty_tet_write(m, path));
    snprintf(path, sizeof path, "%s/5-boundary.ply", folder);
    ty_status status = ty_tet_mesh_boundary(m, &boundary);
    if (status.code == TY_OK) status = ty_ply_write(&boundary, path, 0, NULL);
    ty_tri_mesh_free(&boundary);
    return status;
}
