// SPDX-License-Identifier: Apache-2.0
#include "mesh/tet_mesh.h"

#include <string.h>

#include "core/parallel.h"

enum { TET_BLOCK = 4096 };

void ty_tet_mesh_free(ty_tet_mesh* m)
{
    ty_free(m->vert);
    ty_free(m->tet);
    ty_free(m->kind);
    ty_free(m->tet_face);
    ty_free(m->face_tet);
    ty_free(m->first_tet);
    ty_free(m->face_scratch);
    ty_free(m->face_left);
    ty_octree_free(&m->tree);
    *m = (ty_tet_mesh){0};
}

void ty_tet_mesh_tidy(ty_tet_mesh* m)
{
    ty_free(m->face_scratch);
    ty_free(m->face_left);
    m->face_scratch = m->face_left = NULL;
    m->face_scratch_capacity = m->face_left_capacity = 0;
    ty_octree_tidy(&m->tree);
}

// Makes room for n elements without keeping any.
static bool renew(void* at, int64_t n, size_t size)
{
    void** p = at;
    ty_free(*p);
    *p = ty_alloc((size_t)n, size);
    return *p != NULL;
}

ty_status ty_tet_mesh_resize(ty_tet_mesh* m, int n_verts, int n_tets)
{
    m->n_verts = m->n_tets = m->n_faces = m->n_inner_faces = 0;
    if (n_verts > m->vert_capacity) {
        m->vert_capacity = 0;
        int64_t n = n_verts + n_verts / 8;
        if (!renew(&m->vert, n, sizeof *m->vert)) return ty_no_memory("mesh vertices");
        m->vert_capacity = n;
    }
    if (n_tets > m->tet_capacity) {
        m->tet_capacity = 0;
        int64_t n = n_tets + n_tets / 8;
        if (!renew(&m->tet, n, sizeof *m->tet) || !renew(&m->kind, n, sizeof *m->kind) ||
            !renew(&m->tet_face, n, sizeof *m->tet_face))
            return ty_no_memory("tetrahedra");
        m->tet_capacity = n;
    }
    m->n_verts = n_verts;
    m->n_tets = n_tets;
    return ty_ok();
}

static int64_t octree_bytes(const ty_octree* t)
{
    int64_t sum = t->corners.brick.n * (int64_t)sizeof(ty_lattice_brick) + t->corners.n * 8 +
                  t->n_octants * 23;
    for (int l = 0; l < t->n_levels; ++l)
        sum += (t->level[l].octants.brick.n + t->level[l].split.brick.n) *
               (int64_t)sizeof(ty_lattice_brick);
    return sum;
}

int64_t ty_tet_mesh_bytes(const ty_tet_mesh* m)
{
    int64_t sum = (int64_t)m->n_verts * (int64_t)sizeof *m->vert + octree_bytes(&m->tree);
    sum += (int64_t)m->n_tets * (int64_t)(sizeof *m->tet + sizeof *m->kind + sizeof *m->tet_face);
    return sum + (int64_t)m->n_faces * (int64_t)sizeof *m->face_tet + (m->tree.n_octants + 1) * 4;
}

ty_tet_geometry ty_tet_mesh_geometry(const ty_tet_mesh* m, int tet)
{
    ty_tet_geometry g;
    int shape = ty_kind_shape(m->kind[tet]);
    if (shape != TY_TET_IRREGULAR) {
        double w = m->tree.cell * (double)(1 << ty_kind_level(m->kind[tet]));
        const ty_tet_shape* s = &ty_tet_shapes()[shape];
        g.volume = s->volume * (w * w * w);
        for (int i = 0; i < 4; ++i) ty_store3(g.S[i], w * w * ty_load3(s->S[i]));
        return g;
    }
    const int* id = m->tet[tet];
    ty_vec3 o = ty_load3(m->vert[id[0]]);
    ty_vec3 a = ty_load3(m->vert[id[1]]) - o, b = ty_load3(m->vert[id[2]]) - o,
            c = ty_load3(m->vert[id[3]]) - o;
    ty_vec3 s1 = ty_cross(c, b), s2 = ty_cross(a, c), s3 = ty_cross(b, a);
    g.volume = -ty_dot(a, s1) / 6.0;
    ty_store3(g.S[0], -0.5 * (s1 + s2 + s3));
    ty_store3(g.S[1], 0.5 * s1);
    ty_store3(g.S[2], 0.5 * s2);
    ty_store3(g.S[3], 0.5 * s3);
    return g;
}

ty_vec3 ty_tet_mesh_products(const ty_tet_mesh* m, int tet, int i, double* volume,
                             double product[4])
{
    int shape = ty_kind_shape(m->kind[tet]);
    if (shape != TY_TET_IRREGULAR) {
        double w = m->tree.cell * (double)(1 << ty_kind_level(m->kind[tet]));
        const ty_tet_shape* s = &ty_tet_shapes()[shape];
        for (int j = 0; j < 4; ++j) product[j] = w * s->product[i][j];
        *volume = s->volume * (w * w * w);
        return w * w * ty_load3(s->S[i]);
    }
    ty_tet_geometry g = ty_tet_mesh_geometry(m, tet);
    ty_vec3 S = ty_load3(g.S[i]), scaled = S / g.volume;
    for (int j = 0; j < 4; ++j) product[j] = ty_dot(scaled, ty_load3(g.S[j]));
    *volume = g.volume;
    return S;
}

static double volume_block(void* ctx, ty_range r)
{
    double sum = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t) sum += ty_tet_mesh_geometry(ctx, (int)t).volume;
    return sum;
}

double ty_tet_mesh_volume(const ty_tet_mesh* m)
{
    return ty_parallel_sum(m->n_tets, TET_BLOCK, volume_block, (void*)m);
}

ty_status ty_tet_mesh_boundary(const ty_tet_mesh* m, ty_tri_mesh* out)
{
    TY_TRY(ty_tri_mesh_resize(out, m->n_verts - m->n_inner, m->n_faces - m->n_inner_faces));
    if (out->n_verts)
        memcpy(out->vert, m->vert + m->n_inner, (size_t)out->n_verts * sizeof *out->vert);
    for (int f = m->n_inner_faces; f < m->n_faces; ++f) {
        // Outward seen from a positively oriented tet.
        static const uint8_t outward[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
        int t = m->face_tet[f][0], i = 0;
        while (m->tet_face[t][i] != f) ++i;
        for (int k = 0; k < 3; ++k)
            out->tri[f - m->n_inner_faces][k] = m->tet[t][outward[i][k]] - m->n_inner;
    }
    return ty_ok();
}
