// SPDX-License-Identifier: Apache-2.0
// Holes and self-intersections of obstacles that come from mesh files.
#include "world/check_parts.h"

static ty_status check_holes(const ty_mesh_body* b, ty_warning warning, ty_warnings* found)
{
    ty_tri_mesh_report r;
    const ty_tri_mesh* m = b->same ? &b->now : &b->key[0];
    TY_TRY(ty_tri_mesh_inspect(m, &r));
    if (r.open_edges == 0) return ty_ok();
    warning.kind = TY_WARN_MESH_HOLES;
    warning.count = r.open_edges;
    warning.amount = r.open_length;
    ty_store3(warning.at, ty_load3(r.open_at));
    return ty_warn(
        found, warning,
        "the mesh of obstacle %d has holes: %d open edges, %.3g m in all, one near (%.4g, %.4g, "
        "%.4g); small ones are closed by the winding number, large ones may leak: close them in "
        "the file",
        warning.index + 1, r.open_edges, r.open_length, r.open_at[0], r.open_at[1], r.open_at[2]);
}

static ty_status check_crossings(const ty_mesh_body* b, ty_warning warning, ty_warnings* found)
{
    ty_bvh_pair first;
    TY_TRY(ty_bvh_self_intersections(&b->distance[0].bvh, 1, &first, &warning.count));
    if (warning.count == 0) return ty_ok();
    warning.kind = TY_WARN_MESH_CROSSINGS;
    ty_store3(warning.at, ty_load3(first.place));
    return ty_warn(
        found, warning,
        "the mesh of obstacle %d passes through itself: %lld pairs of triangles, one near (%.4g, "
        "%.4g, %.4g); overlapping parts count as one solid",
        warning.index + 1, (long long)warning.count, first.place[0], first.place[1],
        first.place[2]);
}

static ty_status check_shape(const ty_shape* s, int index, ty_warnings* found)
{
    ty_warning warning = {.index = index, .place = s->def->place};
    for (int i = 0; i < s->n_children; ++i) TY_TRY(check_shape(&s->children[i], index, found));
    if (!s->mesh) return ty_ok();
    TY_TRY(check_holes(s->mesh, warning, found));
    return check_crossings(s->mesh, warning, found);
}

ty_status ty_check_meshes(const ty_world* w, ty_warnings* found)
{
    for (int i = 0; i < w->n_obstacles; ++i) TY_TRY(check_shape(&w->obstacles[i].shape, i, found));
    return ty_ok();
}
