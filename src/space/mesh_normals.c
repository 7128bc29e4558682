// SPDX-License-Identifier: Apache-2.0
#include "space/mesh_normals.h"

#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "geometry/triangle.h"

typedef struct mesh {
    int n_verts, n_tris;
    const double (*vert)[3];
    const int (*tri)[3];
} mesh;

enum { BLOCK = 4096 };

// Open-addressed; a slot holds a vertex + 1, 0 is free.
static void unite_vertices(ty_mesh_normals* m, const mesh* s, int* slot, uint64_t mask)
{
    for (int v = 0; v < s->n_verts; ++v) {
        const double* x = s->vert[v];
        double key[3] = {x[0] + 0.0, x[1] + 0.0, x[2] + 0.0};    // -0 is 0
        uint64_t i = ty_hash_bytes(key, sizeof key) & mask;
        for (;; i = (i + 1) & mask) {
            if (slot[i] == 0) {
                slot[i] = v + 1;
                m->same[v] = v;
                break;
            }
            const double* y = s->vert[slot[i] - 1];
            if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
                m->same[v] = slot[i] - 1;
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

// Half-edges (3 triangle + side) by the vertex they start from, in the triangles' order.
static void collect_edges(ty_mesh_normals* m, const mesh* s)
{
    int v[3], sum = 0;
    memset(m->first, 0, ((size_t)s->n_verts + 1) * sizeof *m->first);
    for (int i = 0; i < s->n_tris; ++i) {
        if (!corners(m, s, i, v)) continue;
        for (int k = 0; k < 3; ++k) ++m->first[v[k]];
    }
    for (int i = 0; i <= s->n_verts; ++i) {
        sum += m->first[i];
        m->first[i] = sum;
    }
    for (int i = s->n_tris - 1; i >= 0; --i) {
        if (!corners(m, s, i, v)) continue;
        for (int k = 2; k >= 0; --k) m->table[--m->first[v[k]]] = 3 * i + k;
    }
}

// The first half-edge between two vertices, -1 when there is none; *n: how many there are.
static int find_edge(const ty_mesh_normals* m, const mesh* s, int from, int to, int* n)
{
    int found = -1;
    *n = 0;
    for (int i = m->first[from]; i < m->first[from + 1]; ++i) {
        int half = m->table[i];
        if (m->same[s->tri[half / 3][(half + 1) % 3]] != to) continue;
        if (++*n == 1) found = half;
    }
    return found;
}

static void set3(float out[3], ty_vec3 a)
{
    for (int axis = 0; axis < 3; ++axis) out[axis] = (float)a[axis];
}
static ty_vec3 get3(const float a[3]) { return ty_vec(a[0], a[1], a[2]); }

typedef struct job {
    ty_mesh_normals* m;
    const mesh* s;
} job;

static void face_normal(const ty_mesh_normals* m, const mesh* s, int t, float out[3])
{
    int v[3];
    memset(out, 0, 3 * sizeof *out);
    if (!corners(m, s, t, v)) return;
    ty_vec3 a = ty_load3(s->vert[v[0]]), b = ty_load3(s->vert[v[1]]), c = ty_load3(s->vert[v[2]]);
    ty_vec3 normal = ty_normalize(ty_cross(b - a, c - a));
    if (isfinite(ty_norm(normal))) set3(out, normal);
}

static void face_block(void* ctx, ty_range r)
{
    const job* k = ctx;
    for (int64_t t = r.begin; t < r.end; ++t) {
        memset(k->m->tri[t], 0, sizeof k->m->tri[t]);
        face_normal(k->m, k->s, (int)t, k->m->tri[t][0]);
    }
}

// Of the corner of a triangle from which half-edge `half` starts.
static double corner_angle(const mesh* s, int half)
{
    const int* tri = s->tri[half / 3];
    ty_vec3 x = ty_load3(s->vert[tri[half % 3]]);
    ty_vec3 e = ty_load3(s->vert[tri[(half + 1) % 3]]) - x,
            f = ty_load3(s->vert[tri[(half + 2) % 3]]) - x;
    return atan2(ty_norm(ty_cross(e, f)), ty_dot(e, f));
}

// Angle-weighted, summed in the triangles' order.
static void vertex_block(void* ctx, ty_range r)
{
    const job* k = ctx;
    for (int64_t v = r.begin; v < r.end; ++v) {
        ty_vec3 sum = ty_vec(0, 0, 0);
        for (int i = k->m->first[v]; i < k->m->first[v + 1]; ++i) {
            int half = k->m->table[i];
            sum += corner_angle(k->s, half) * get3(k->m->tri[half / 3][0]);
        }
        set3(k->m->vert[v], sum);
    }
}

// Returns how many half-edges have not exactly one opposite.
static double edge_block(void* ctx, ty_range r)
{
    const job* k = ctx;
    double faults = 0.0;
    int v[3], n;
    for (int64_t i = r.begin; i < r.end; ++i) {
        if (!corners(k->m, k->s, (int)i, v)) continue;
        for (int side = 0; side < 3; ++side) {
            int other = find_edge(k->m, k->s, v[(side + 1) % 3], v[side], &n);
            faults += n != 1;
            if (other >= 0)
                set3(k->m->tri[i][1 + side], get3(k->m->tri[i][0]) + get3(k->m->tri[other / 3][0]));
        }
    }
    return faults;
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
        ty_free(m->first);
        m->vert = ty_alloc((size_t)s->n_verts * 5 / 4, sizeof *m->vert);
        m->same = ty_alloc((size_t)s->n_verts * 5 / 4, sizeof *m->same);
        m->first = ty_alloc((size_t)s->n_verts * 5 / 4 + 1, sizeof *m->first);
        if (!m->vert || !m->same || !m->first) return ty_no_memory("normals of a mesh");
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
        m->table = ty_alloc((size_t)n_slots, sizeof *m->table);
        if (!m->table) return ty_no_memory("edges of a mesh");
        m->table_capacity = n_slots;
    }
    return ty_ok();
}

ty_status ty_mesh_normals_build(ty_mesh_normals* m, int n_verts, const double (*vert)[3],
                                int n_tris, const int (*tri)[3])
{
    mesh s = {n_verts, n_tris, vert, tri};
    job k = {m, &s};
    int64_t n_slots = 16;
    while (n_slots < 2 * (int64_t)n_verts) n_slots *= 2;
    m->watertight = false;
    m->asked_vert = NULL;
    if (n_tris > INT32_MAX / 3)
        return ty_fail(TY_BAD_INPUT, "a mesh of %d triangles has too many edges", n_tris);
    TY_TRY(reserve(m, &s, n_slots > 3 * (int64_t)n_tris ? n_slots : 3 * (int64_t)n_tris));
    memset(m->table, 0, (size_t)n_slots * sizeof *m->table);
    unite_vertices(m, &s, m->table, (uint64_t)n_slots - 1);
    collect_edges(m, &s);
    ty_parallel_for(n_tris, BLOCK, face_block, &k);
    ty_parallel_for(n_verts, BLOCK, vertex_block, &k);
    double faults = ty_parallel_sum(n_tris, BLOCK, edge_block, &k);
    m->watertight = faults == 0.0 && n_tris > 0 && all_usable(&s);
    return ty_ok();
}

ty_status ty_mesh_normals_prepare(ty_mesh_normals* m, int n_verts, const double (*vert)[3],
                                  int n_tris, const int (*tri)[3])
{
    mesh s = {n_verts, n_tris, vert, tri};
    m->watertight = false;
    if (n_tris > INT32_MAX / 3)
        return ty_fail(TY_BAD_INPUT, "a mesh of %d triangles has too many edges", n_tris);
    TY_TRY(reserve(m, &s, 3 * (int64_t)n_tris));
    for (int v = 0; v < n_verts; ++v) m->same[v] = v;
    collect_edges(m, &s);
    m->asked_vert = vert;
    m->n_verts = n_verts;
    m->n_tris = n_tris;
    return ty_ok();
}

void ty_mesh_normals_free(ty_mesh_normals* m)
{
    ty_free(m->tri);
    ty_free(m->vert);
    ty_free(m->same);
    ty_free(m->first);
    ty_free(m->table);
    *m = (ty_mesh_normals){0};
}

static ty_vec3 computed_face(const ty_mesh_normals* m, const mesh* s, int triangle)
{
    float normal[3];
    face_normal(m, s, triangle, normal);
    return get3(normal);
}

// What the build would have kept, to the bit.
static ty_vec3 computed(const ty_mesh_normals* m, const mesh* s, int triangle, int feature)
{
    float kept[3];
    const int* v = s->tri[triangle];
    ty_vec3 sum = ty_vec(0, 0, 0);
    int n;
    if (feature == TY_FACE) return computed_face(m, s, triangle);
    if (feature < TY_VERTEX) {
        int side = feature - TY_EDGE, other = find_edge(m, s, v[(side + 1) % 3], v[side], &n);
        if (other >= 0) sum = computed_face(m, s, triangle) + computed_face(m, s, other / 3);
    } else {
        int vert = v[feature - TY_VERTEX];
        for (int i = m->first[vert]; i < m->first[vert + 1]; ++i)
            sum += corner_angle(s, m->table[i]) * computed_face(m, s, m->table[i] / 3);
    }
    set3(kept, sum);
    return get3(kept);
}

ty_vec3 ty_mesh_normal(const ty_mesh_normals* m, const int (*tri)[3], int triangle, int feature)
{
    if (m->asked_vert)
        return computed(m, &(mesh){m->n_verts, m->n_tris, m->asked_vert, tri}, triangle, feature);
    if (feature >= TY_VERTEX) return get3(m->vert[m->same[tri[triangle][feature - TY_VERTEX]]]);
    return get3(m->tri[triangle][feature]);    // TY_FACE is 0, TY_EDGE + k is 1 + k
}
