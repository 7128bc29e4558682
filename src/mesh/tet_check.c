// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "mesh/tet_mesh.h"

// Angles and kinds are compared with exact values: room for rounding only.
static const double ANGLE_SLACK = 1e-6, PLACE_SLACK = 1e-9;

static ty_status wrong(const ty_tet_mesh* m, const char* what, int tet)
{
    const double* x = m->vert[m->tet[tet][0]];
    return ty_fail(TY_DAMAGED, "tet mesh: %s, tet %d near (%g, %g, %g)", what, tet, x[0], x[1],
                   x[2]);
}

static ty_status check_shape(const ty_tet_mesh* m, int t)
{
    double v[4][3], angle[6];
    for (int i = 0; i < 4; ++i) memcpy(v[i], m->vert[m->tet[t][i]], sizeof v[i]);
    ty_vec3 o = ty_load3(v[0]);
    if (!(ty_dot(ty_load3(v[1]) - o, ty_cross(ty_load3(v[2]) - o, ty_load3(v[3]) - o)) > 0.0))
        return wrong(m, "volume is not positive", t);
    ty_dihedral_angles(v, angle);
    for (int e = 0; e < 6; ++e)
        if (!(angle[e] >= TY_MIN_DIHEDRAL - ANGLE_SLACK &&
              angle[e] <= TY_MAX_DIHEDRAL + ANGLE_SLACK))
            return wrong(m, "dihedral angle out of bounds", t);
    int shape = ty_kind_shape(m->kind[t]);
    if (shape == TY_TET_IRREGULAR) return ty_ok();
    if (shape >= TY_N_TET_SHAPES) return wrong(m, "unknown kind", t);
    double half = 0.5 * m->tree.cell * (1 << ty_kind_level(m->kind[t]));
    const ty_tet_shape* s = &ty_tet_shapes()[shape];
    for (int i = 1; i < 4; ++i)
        for (int axis = 0; axis < 3; ++axis)
            if (fabs(v[i][axis] - v[0][axis] - half * (s->at[i][axis] - s->at[0][axis])) >
                PLACE_SLACK * half)
                return wrong(m, "kind does not fit the vertices", t);
    return ty_ok();
}

static ty_status check_tets(const ty_tet_mesh* m, uint8_t* used)
{
    for (int t = 0; t < m->n_tets; ++t) {
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            if (v < 0 || v >= m->n_verts)
                return ty_fail(TY_DAMAGED, "tet mesh: tet %d has vertex %d", t, v);
            used[v] = 1;
        }
        TY_TRY(check_shape(m, t));
    }
    for (int v = 0; v < m->n_verts; ++v)
        if (!used[v]) return ty_fail(TY_DAMAGED, "tet mesh: vertex %d is in no tet", v);
    return ty_ok();
}

static ty_status check_faces(const ty_tet_mesh* m)
{
    if (m->n_faces - m->n_inner_faces + 4 * (int64_t)m->n_tets != 2 * (int64_t)m->n_faces)
        return ty_fail(TY_DAMAGED, "tet mesh: %d faces do not fit %d tets", m->n_faces, m->n_tets);
    for (int t = 0; t < m->n_tets; ++t)
        for (int i = 0; i < 4; ++i) {
            int f = m->tet_face[t][i];
            if (f < 0 || f >= m->n_faces || (m->face_tet[f][0] != t && m->face_tet[f][1] != t))
                return wrong(m, "face does not know its tet", t);
            for (int k = 0; f >= m->n_inner_faces && k < 4; ++k)
                if (k != i && m->tet[t][k] < m->n_inner)
                    return wrong(m, "boundary face with an inside vertex", t);
        }
    return ty_ok();
}

ty_status ty_tet_mesh_validate(const ty_tet_mesh* m)
{
    uint8_t* used = ty_alloc_zero((size_t)m->n_verts, 1);
    if (!used) return ty_no_memory("mesh check");
    ty_status status = check_tets(m, used);
    ty_free(used);
    if (status.code != TY_OK || !m->n_faces) return status;
    TY_TRY(check_faces(m));
    ty_tri_mesh boundary = {0};
    ty_tri_mesh_report report = {0};
    status = ty_tet_mesh_boundary(m, &boundary);
    if (status.code == TY_OK) status = ty_tri_mesh_inspect(&boundary, &report);
    ty_tri_mesh_free(&boundary);
    if (status.code == TY_OK && report.open_edges)
        return ty_fail(TY_DAMAGED, "tet mesh: boundary is open near (%g, %g, %g)",
                       report.open_at[0], report.open_at[1], report.open_at[2]);
    return status;
}
