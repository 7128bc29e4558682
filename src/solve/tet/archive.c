// SPDX-License-Identifier: Apache-2.0
#include "core/archive.h"

#include "solve/tet/motion.h"
#include "space/octree_archive.h"

// Counts of an archive that came from anywhere.
static bool sound(const int count[6], const ty_octree* tree)
{
    for (int i = 0; i < 6; ++i)
        if (count[i] < 0) return false;
    return count[1] <= count[0] && (count[2] == 0 || tree->n_octants > 0);
}

static bool sound_ids(const int* id, int64_t n, int below)
{
    for (int64_t i = 0; i < n; ++i)
        if (id[i] < 0 || id[i] >= below) return false;
    return true;
}

static ty_status reserve_octants(ty_tet_mesh* mesh)
{
    int64_t n = mesh->tree.n_octants + 1;
    if (n <= mesh->first_capacity) return ty_ok();
    ty_free(mesh->first_tet);
    mesh->first_capacity = 0;
    mesh->first_tet = ty_alloc((size_t)n, sizeof *mesh->first_tet);
    if (!mesh->first_tet) return ty_no_memory("an octree");
    mesh->first_capacity = n;
    return ty_ok();
}

static ty_status archive_mesh(ty_tet_mesh* mesh, ty_archive* ar)
{
    if (mesh->n_tets || ar->loading)
        TY_TRY(ty_archive_fixed(ar, "tet.kind", mesh->kind, mesh->n_tets, sizeof *mesh->kind));
    else return ty_ok();
    if (!mesh->n_tets) return ty_ok();
    TY_TRY(ty_archive_fixed(ar, "tet.vert", mesh->vert, mesh->n_verts, sizeof *mesh->vert));
    TY_TRY(ty_archive_fixed(ar, "tet.tet", mesh->tet, mesh->n_tets, sizeof *mesh->tet));
    if (ar->loading) TY_TRY(reserve_octants(mesh));
    TY_TRY(ty_archive_i32(ar, "tet.octants", mesh->first_tet, mesh->tree.n_octants + 1));
    if (!ar->loading) return ty_ok();
    if (!sound_ids(mesh->tet[0], 4 * (int64_t)mesh->n_tets, mesh->n_verts) ||
        !sound_ids(mesh->first_tet, mesh->tree.n_octants + 1, mesh->n_tets + 1))
        return ty_fail(TY_DAMAGED, "the tetrahedra do not fit their vertices");
    return ty_tet_mesh_make_faces(mesh);
}

static ty_status archive_values(ty_tet_state* s, ty_archive* ar)
{
    int64_t tets = s->mesh.n_tets, verts = s->mesh.n_verts;
    TY_TRY(ty_archive_growing(ar, "tet.open", &s->open));
    TY_TRY(ty_archive_growing(ar, "tet.wall", &s->solid));
    TY_TRY(ty_archive_growing(ar, "tet.solid", &s->solid_velocity));
    TY_TRY(ty_archive_growing(ar, "tet.vert_kind", &s->vert_kind));
    TY_TRY(ty_archive_growing(ar, "tet.held", &s->held));
    TY_TRY(ty_archive_growing(ar, "tet.u", &s->u));
    TY_TRY(ty_archive_growing(ar, "tet.a", &s->a));
    TY_TRY(ty_archive_growing(ar, "tet.pressure", &s->pressure));
    if (s->open.n != tets || (s->solid_velocity.n && s->solid_velocity.n != tets) ||
        (s->held.n && s->held.n != tets) || s->u.n != tets || s->a.n != tets ||
        s->vert_kind.n != verts || s->solid.n != verts || s->pressure.n != verts)
        return ty_fail(TY_DAMAGED, "the velocities do not fit the tetrahedra");
    return ty_ok();
}

static ty_status archive_pressures(ty_tet_motion* m, ty_archive* ar)
{
    int64_t verts = m->state.mesh.n_verts;
    TY_TRY(ty_archive_growing(ar, "tet.acting", &m->acting));
    TY_TRY(ty_archive_growing(ar, "tet.carried", &m->carried));
    if ((m->acting.n && m->acting.n != verts) || (m->carried.n && m->carried.n != verts))
        return ty_fail(TY_DAMAGED, "the pressures do not fit the tetrahedra");
    return ty_ok();
}

static ty_status archive_skin(ty_tet_motion* m, ty_archive* ar)
{
    TY_TRY(
        ty_archive_fixed(ar, "tet.skin.vert", m->skin.vert, m->skin.n_verts, sizeof *m->skin.vert));
    TY_TRY(ty_archive_fixed(ar, "tet.skin.tri", m->skin.tri, m->skin.n_tris, sizeof *m->skin.tri));
    TY_TRY(ty_archive_growing(ar, "tet.skin.u", &m->u.skin));
    TY_TRY(ty_archive_growing(ar, "tet.skin.a", &m->a.skin));
    if (!ar->loading) return ty_ok();
    int n = m->skin.n_verts;
    if (m->u.skin.n != n || m->a.skin.n != n ||
        (n && !sound_ids(m->skin.tri[0], 3 * (int64_t)m->skin.n_tris, n)))
        return ty_fail(TY_DAMAGED, "the liquid's skin does not fit");
    return ty_bvh_build(&m->skin_tree, n, (const double(*)[3])m->skin.vert, m->skin.n_tris,
                        (const int(*)[3])m->skin.tri);
}

ty_status ty_tet_motion_archive(ty_tet_motion* m, ty_archive* ar, ty_tet_stars* stars)
{
    ty_tet_mesh* mesh = &m->state.mesh;
    int count[6] = {mesh->n_verts,   mesh->n_inner,  mesh->n_tets,
                    m->skin.n_verts, m->skin.n_tris, m->n_loose_tris};
    double reference[4] = {m->gravity[0], m->gravity[1], m->gravity[2], m->level};
    TY_TRY(ty_octree_archive(&mesh->tree, ar));
    TY_TRY(ty_archive_i32(ar, "tet.counts", count, 6));
    TY_TRY(ty_archive_f64(ar, "tet.reference", reference, 4));
    if (!sound(count, &mesh->tree)) return ty_fail(TY_DAMAGED, "a mesh of %d tetrahedra", count[2]);
    if (ar->loading) TY_TRY(ty_tet_mesh_resize(mesh, count[0], count[2]));
    mesh->n_inner = count[1];
    m->gravity = ty_load3(reference);
    m->level = reference[3];
    TY_TRY(archive_mesh(mesh, ar));
    TY_TRY(archive_values(&m->state, ar));
    TY_TRY(archive_pressures(m, ar));
    if (ar->loading) {
        TY_TRY(ty_tet_motion_measure(m));
        TY_TRY(ty_tet_motion_finish(m, stars));
        TY_TRY(ty_tri_mesh_resize(&m->skin, count[3], count[4]));
        m->n_loose_tris = count[5];
    }
    return archive_skin(m, ar);
}
