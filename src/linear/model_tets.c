// SPDX-License-Identifier: Apache-2.0
// Pressure systems on tetrahedra. With outward area vectors S_i (opposite vertex i) and volume V:
//   two-point   A_f / (3 V_a / (4 A_f) + 3 V_b / (4 A_f)) between the tets of a face
//   face        S_i . S_j / V between the faces of a tet
//   nodal       S_i . S_j / (9 V) between the vertices of a tet
#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "core/memory.h"
#include "core/vec.h"
#include "linear/model_problems.h"

typedef struct shape {
    ty_vec3 s[4];
    double volume;
} shape;

typedef struct assembly {
    const ty_model_mesh* mesh;
    ty_model_air air;
    double radius;
    int n_faces;
    int (*face)[4];    // of each tet: face opposite its vertex i
    int (*side)[2];    // of each face: its tets, -1 outside
    int* vert_dof;     // -1 = given
    int* face_dof;
    int n_vert_dofs, n_face_dofs;
} assembly;

static const int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static shape shape_of(const ty_model_mesh* mesh, int t)
{
    shape out;
    ty_vec3 x[4];
    for (int i = 0; i < 4; ++i) x[i] = ty_load3(mesh->pos[mesh->tet[t][i]]);
    for (int i = 0; i < 4; ++i) {
        const int* o = opposite[i];
        out.s[i] = 0.5 * ty_cross(x[o[1]] - x[o[0]], x[o[2]] - x[o[0]]);
    }
    out.volume = ty_dot(out.s[0], x[1] - x[0]) / 3.0;
    if (out.volume < 0.0) {
        out.volume = -out.volume;
        for (int i = 0; i < 4; ++i) out.s[i] = -out.s[i];
    }
    return out;
}

static void sorted_face(const ty_model_mesh* mesh, int t, int i, int v[3])
{
    for (int k = 0; k < 3; ++k) v[k] = mesh->tet[t][opposite[i][k]];
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < 2; ++k)
            if (v[k] > v[k + 1]) {
                int swap = v[k];
                v[k] = v[k + 1];
                v[k + 1] = swap;
            }
}

// Numbers the faces in the order of the tets; a table by hash of the three vertices finds the
// second tet.
static bool number_faces(assembly* s)
{
    const ty_model_mesh* mesh = s->mesh;
    size_t size = 16;
    while (size < (size_t)mesh->n_tets * 6) size *= 2;
    int* table = ty_alloc(size, sizeof *table);
    s->face = ty_alloc((size_t)mesh->n_tets, sizeof *s->face);
    s->side = ty_alloc((size_t)mesh->n_tets * 4, sizeof *s->side);
    if (!table || !s->face || !s->side) {
        ty_free(table);
        return false;
    }
    memset(table, -1, size * sizeof *table);
    int* key_at = NULL;
    for (int t = 0; t < mesh->n_tets; ++t) {
        for (int i = 0; i < 4; ++i) {
            int v[3], w[3], f = -1;
            sorted_face(mesh, t, i, v);
            size_t slot = ty_mix2(ty_mix2((uint64_t)v[0], (uint64_t)v[1]), (uint64_t)v[2]) &
                          (size - 1);
            for (;; slot = (slot + 1) & (size - 1)) {
                key_at = &table[slot];
                if (*key_at < 0) break;
                sorted_face(mesh, *key_at >> 2, *key_at & 3, w);
                if (memcmp(v, w, sizeof v) == 0) break;
            }
            if (*key_at < 0) {
                *key_at = 4 * t + i;
                f = s->n_faces++;
                s->side[f][0] = t;
                s->side[f][1] = -1;
            } else {
                f = s->face[*key_at >> 2][*key_at & 3];
                s->side[f][1] = t;
            }
            s->face[t][i] = f;
        }
    }
    ty_free(table);
    return true;
}

static bool is_air(const assembly* s, int t, int i)
{
    if (s->air != TY_MODEL_AIR_TOP) return s->air == TY_MODEL_AIR_ALL;
    double y = 0.0;
    for (int k = 0; k < 3; ++k) y += s->mesh->pos[s->mesh->tet[t][opposite[i][k]]][1] / 3.0;
    return y > s->radius / 3.0;
}

static bool number_dofs(assembly* s)
{
    const ty_model_mesh* mesh = s->mesh;
    s->vert_dof = ty_alloc_zero((size_t)mesh->n_verts, sizeof(int));
    s->face_dof = ty_alloc_zero((size_t)s->n_faces, sizeof(int));
    if (!s->vert_dof || !s->face_dof) return false;
    for (int v = 0; v < mesh->n_verts; ++v) s->radius = fmax(s->radius, fabs(mesh->pos[v][1]));
    for (int t = 0; t < mesh->n_tets; ++t) {
        for (int i = 0; i < 4; ++i) {
            int f = s->face[t][i];
            if (s->side[f][1] >= 0 || !is_air(s, t, i)) continue;
            s->face_dof[f] = -1;
            for (int k = 0; k < 3; ++k) s->vert_dof[mesh->tet[t][opposite[i][k]]] = -1;
        }
    }
    for (int v = 0; v < mesh->n_verts; ++v)
        if (s->vert_dof[v] == 0) s->vert_dof[v] = s->n_vert_dofs++;
    for (int f = 0; f < s->n_faces; ++f)
        if (s->face_dof[f] == 0) s->face_dof[f] = s->n_face_dofs++;
    return true;
}

static ty_status two_point(const assembly* s, ty_csr* a)
{
    int n = s->mesh->n_tets;
    TY_TRY(ty_csr_reserve(a, n, n, 5 * (int64_t)n));
    int at = 0;
    for (int t = 0; t < n; ++t) {
        shape here = shape_of(s->mesh, t);
        int diagonal = at++;
        a->row_start[t] = diagonal;
        a->col[diagonal] = t;
        a->val[diagonal] = 0.0;
        for (int i = 0; i < 4; ++i) {
            const int* side = s->side[s->face[t][i]];
            int other = side[0] == t ? side[1] : side[0];
            double area2 = ty_dot(here.s[i], here.s[i]), volume = here.volume;
            if (other < 0 && !is_air(s, t, i)) continue;
            if (other >= 0) volume += shape_of(s->mesh, other).volume;
            double weight = area2 / (0.75 * volume);
            a->val[diagonal] += weight;
            if (other < 0) continue;
            a->col[at] = other;
            a->val[at++] = -weight;
        }
        a->row_start[t + 1] = at;
    }
    ty_csr_sort(a);
    return ty_ok();
}

// Row by row from the tets that hold the unknown; dof(t, i) = ids[tet[t][i]].
static ty_status elements(const assembly* s, int n, const int* ids, int (*of_tet)[4], double scale,
                          ty_csr* a)
{
    int n_tets = s->mesh->n_tets;
    int *start = ty_alloc_zero((size_t)n + 1, sizeof *start),
        *list = ty_alloc((size_t)n_tets * 4, sizeof *list);
    int* slot = ty_alloc((size_t)n, sizeof *slot);
    ty_status status = start && list && slot ? ty_csr_reserve(a, n, n, 24 * (int64_t)n)
                                             : ty_no_memory("assembly");
    if (status.code != TY_OK) goto done;
    for (int e = 0; e < 4 * n_tets; ++e)
        if (ids[of_tet[e / 4][e % 4]] >= 0) ++start[ids[of_tet[e / 4][e % 4]]];
    int end = 0;
    for (int i = 0; i <= n; ++i) start[i] = end += start[i];
    for (int e = 4 * n_tets - 1; e >= 0; --e)
        if (ids[of_tet[e / 4][e % 4]] >= 0) list[--start[ids[of_tet[e / 4][e % 4]]]] = e;
    for (int i = 0; i < n; ++i) slot[i] = -1;
    int at = 0;
    for (int row = 0; row < n; ++row) {
        int first = a->row_start[row] = at;
        for (int k = start[row]; k < start[row + 1]; ++k) {
            int t = list[k] / 4, i = list[k] % 4;
            shape here = shape_of(s->mesh, t);
            for (int j = 0; j < 4; ++j) {
                int c = ids[of_tet[t][j]];
                if (c < 0) continue;
                if (slot[c] < first) {
                    slot[c] = at;
                    a->col[at] = c;
                    a->val[at++] = 0.0;
                }
                a->val[slot[c]] += scale * ty_dot(here.s[i], here.s[j]) / here.volume;
            }
        }
        a->row_start[row + 1] = at;
    }
    ty_csr_sort(a);
done:
    ty_free(start);
    ty_free(list);
    ty_free(slot);
    return status;
}

// A face is the mean of its three vertices; given vertices (air) have no coarse unknown.
static ty_status faces_to_vertices(const assembly* s, ty_csr* p)
{
    TY_TRY(ty_csr_reserve(p, s->n_face_dofs, s->n_vert_dofs, 3 * (int64_t)s->n_face_dofs));
    int at = 0;
    for (int f = 0; f < s->n_faces; ++f) {
        int row = s->face_dof[f], t = s->side[f][0];
        if (row < 0) continue;
        p->row_start[row] = at;
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < 3 && s->face[t][i] == f; ++k) {
                int v = s->vert_dof[s->mesh->tet[t][opposite[i][k]]];
                if (v < 0) continue;
                p->col[at] = v;
                p->val[at++] = 1.0 / 3.0;
            }
        p->row_start[row + 1] = at;
    }
    ty_csr_sort(p);
    return ty_ok();
}

// Noise of the size of the smooth part; what sums to zero is left that way.
static ty_status right_hand_side(ty_model* m, ty_model_air air)
{
    int n = m->a.n;
    m->rhs = ty_alloc((size_t)n, sizeof *m->rhs);
    if (!m->rhs) return ty_no_memory("right-hand side");
    double mean = 0.0;
    for (int i = 0; i < n; ++i) {
        m->rhs[i] = 1.0 + sin(6.0 * i / (n + 1.0)) + 2.0 * ty_unit(ty_mix2(7, (uint64_t)i)) - 1.0;
        mean += m->rhs[i] / n;
    }
    for (int i = 0; i < n && air == TY_MODEL_AIR_NONE; ++i) m->rhs[i] -= mean;
    return ty_ok();
}

ty_status ty_model_tets(ty_model* m, const ty_model_mesh* mesh, ty_model_system system,
                        ty_model_air air)
{
    ty_model_free(m);
    assembly s = {.mesh = mesh, .air = air};
    ty_status status = number_faces(&s) && number_dofs(&s) ? ty_ok() : ty_no_memory("model system");
    if (status.code == TY_OK && system == TY_MODEL_TWO_POINT) status = two_point(&s, &m->a);
    if (status.code == TY_OK && system == TY_MODEL_NODAL)
        status = elements(&s, s.n_vert_dofs, s.vert_dof, mesh->tet, 1.0 / 9.0, &m->a);
    if (status.code == TY_OK && system == TY_MODEL_FACE)
        status = elements(&s, s.n_face_dofs, s.face_dof, s.face, 1.0, &m->a);
    if (status.code == TY_OK && system == TY_MODEL_FACE)
        status = faces_to_vertices(&s, &m->prolongation);
    if (status.code == TY_OK) status = right_hand_side(m, air);
    ty_free(s.face);
    ty_free(s.side);
    ty_free(s.vert_dof);
    ty_free(s.face_dof);
    return status;
}
