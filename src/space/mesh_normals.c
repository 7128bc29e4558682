// SPDX-License-Identifier: Apache-2.0
#include "space/mesh_normals.h"

#include <string.h>

#include "core/hash.h"
#include "geometry/tet_quality.h"
#include "geometry/triangle.h"

// Open-addressed; a slot holds a vertex + 1, or a half-edge (3 triangle + side) + 1; 0 is free.
typedef struct table {
    int64_t* slot;
    uint64_t mask;
} table;

typedef struct mesh {
    int n_verts, n_tris;
    const double (*vert)[3];
    const int (*tri)[3];
} mesh;

static void unite_vertices(ty_mesh_normals* m, const mesh* s, table t)
{
    for (int v = 0; v < s->n_verts; ++v) {
        const double* x = s->vert[v];
        double key[3] = {x[0] + 0.0, x[1] + 0.0, x[2] + 0.0};    // -0 is 0
        uint64_t i = ty_hash_bytes(key, sizeof key) & t.mask;
        for (;; i = (i + 1) & t.mask) {
            if (t.slot[i] == 0) {
                t.slot[i] = v + 1;
                m->same[v] = v;
                break;
            }
            const double* y = s->vert[t.slot[i] - 1];
            if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
                m->same[v] = (int)(t.slot[i] - 1);
                break;
            }
        }
    }
}

// A triangle's corners after uniting; false when it has none in range or two of them coincide.
static bool corners(const ty_mesh_normals* m, const mesh* s, int t, int v[3])
{
    for (int k = 0; k < 3; ++k) {
        if (s->tri[t][k] < 0 || s->tri[t][k] >= s->n_verts) return false;
        v[k] = m->same[s->tri[t][k]];
    }
    return v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
}

static int64_t* edge_slot(const ty_mesh_normals* m, const mesh* s, table t, int from, int to)
{
    uint64_t i = ty_mix2((uint64_t)from, (uint64_t)to) & t.mask;
    for (;; i = (i + 1) & t.mask) {
        if (t.slot[i] == 0) return &t.slot[i];
        int64_t half = t.slot[i] - 1;
        const int* v = s->tri[half / 3];
        if (m->same[v[half % 3]] == from && m->same[v[(half + 1) % 3]] == to) return &t.slot[i];
    }
}

// All half-edges into the table; false when two run the same way.
static bool collect_edges(const ty_mesh_normals* m, const mesh* s, table t)
{
    bool once = true;
    int v[3];
    for (int i = 0; i < s->n_tris; ++i) {
        if (!corners(m, s, i, v)) continue;
        for (int k = 0; k < 3; ++k) {
            int64_t* slot = edge_slot(m, s, t, v[k], v[(k + 1) % 3]);
            once = once && *slot == 0;
            if (*slot == 0) *slot = 3 * (int64_t)i + k + 1;
        }
    }
    return once;
}

static void set3(float out[3], ty_vec3 a)
{
    for (int axis = 0; axis < 3; ++axis) out[axis] = (float)a[axis];
}
static ty_vec3 get3(const float a[3]) { return ty_vec(a[0], a[1], a[2]); }

static void face_normals(ty_mesh_normals* m, const mesh* s)
{
    int v[3];
    for (int t = 0; t < s->n_tris; ++t) {
        memset(m->tri[t], 0, sizeof m->tri[t]);
        if (!corners(m, s, t, v)) continue;
        ty_vec3 a = ty_load3(s->vert[v[0]]), b = ty_load3(s->vert[v[1]]), c = ty_load3(s->vert[v[2]]);
        ty_vec3 normal = ty_normalize(ty_cross(b - a, c - a));
        if (!isfinite(ty_norm(normal))) continue;
        set3(m->tri[t][0], normal);
        double angle[3];
        ty_triangle_angles(a, b, c, angle);
        for (int k = 0; k < 3; ++k) set3(m->vert[v[k]], get3(m->vert[v[k]]) + angle[k] * normal);
    }
}

// Returns whether every half-edge has an opposite.
static bool edge_normals(ty_mesh_normals* m, const mesh* s, table t)
{
    bool closed = true;
    int v[3];
    for (int i = 0; i < s->n_tris; ++i) {
        if (!corners(m, s, i, v)) continue;
        for (int k = 0; k < 3; ++k) {
            int64_t other = *edge_slot(m, s, t, v[(k + 1) % 3], v[k]) - 1;
            closed = closed && other >= 0;
            if (other >= 0) set3(m->tri[i][1 + k], get3(m->tri[i][0]) + get3(m->tri[other / 3][0]));
        }
    }
    return closed;
}

static bool all_usable(const mesh* s)
{
    for (int v = 0; v < s->n_verts; ++v)
        for (int axis = 0; axis < 3; ++axis)
            if (!isfinite(s->vert[v][axis])) return false;
    for (int t = 0; t < s->n_tris; ++t)
        for (int k = 0; k < 3; ++k)
            if (s->tri[t][k] < 0 || s->tri[t][k] >= s->n_verts) return false;
    return true;
}

static ty_status reserve(ty_mesh_normals* m, const mesh* s, int64_t n_slots)
{
    if (s->n_verts > m->vert_capacity || !m->vert) {
        m->vert_capacity = 0;
        ty_free(m->vert);
        ty_free(m->same);
        m->vert = ty_alloc((size_t)s->n_verts * 5 / 4, sizeof *m->vert);
        m->same = ty_alloc((size_t)s->n_verts * 5 / 4, sizeof *m->same);
        if (!m->vert || !m->same) return ty_no_memory("normals of a mesh");
        m->vert_capacity = (int)((int64_t)s->n_verts * 5 / 4);
    }
    if (s->n_tris > m->tri_capacity || !m->tri) {
        m->tri_capacity = 0;
        ty_free(m->tri);
        m->tri = ty_alloc((size_t)s->n_tris * 5 / 4, sizeof *m->tri);
        if (!m->tri) return ty_no_memory("normals of a mesh");
        m->tri_capacity = (int)((int64_t)s->n_tris * 5 / 4);
    }
    if (n_slots > m->table_capacity) {
        m->table_capacity = 0;
        ty_free(m->table);
        m->table = ty_alloc((size_t)n_slots, sizeof(int64_t));
        if (!m->table) return ty_no_memory("edges of a mesh");
        m->table_capacity = n_slots;
    }
    return ty_ok();
}

ty_status ty_mesh_normals_build(ty_mesh_normals* m, int n_verts, const double (*vert)[3], int n_tris,
                                const int (*tri)[3])
{
    mesh s = {n_verts, n_tris, vert, tri};
    int64_t n_slots = 16, wanted = 2 * (3 * (int64_t)n_tris > n_verts ? 3 * (int64_t)n_tris : n_verts);
    while (n_slots < wanted) n_slots *= 2;
    m->watertight = false;
    TY_TRY(reserve(m, &s, n_slots));
    table t = {m->table, (uint64_t)n_slots - 1};
    memset(t.slot, 0, (size_t)n_slots * sizeof *t.slot);
    unite_vertices(m, &s, t);
    memset(t.slot, 0, (size_t)n_slots * sizeof *t.slot);
    memset(m->vert, 0, (size_t)n_verts * sizeof *m->vert);
    bool once = collect_edges(m, &s, t);
    face_normals(m, &s);
    bool closed = edge_normals(m, &s, t);
    m->watertight = once && closed && n_tris > 0 && all_usable(&s);
    return ty_ok();
}

void ty_mesh_normals_free(ty_mesh_normals* m)
{
    ty_free(m->tri);
    ty_free(m->vert);
    ty_free(m->same);
    ty_free(m->table);
    *m = (ty_mesh_normals){0};
}

ty_vec3 ty_mesh_normal(const ty_mesh_normals* m, const int (*tri)[3], int triangle, int feature)
{
    if (feature >= TY_VERTEX) return get3(m->vert[m->same[tri[triangle][feature - TY_VERTEX]]]);
    return get3(m->tri[triangle][feature]);    // TY_FACE is 0, TY_EDGE + k is 1 + k
}
