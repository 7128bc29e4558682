// SPDX-License-Identifier: Apache-2.0
#include "mesh/tri_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/union_find.h"

enum { TRI_BLOCK = 4096 };

static bool grow_verts(ty_tri_mesh* m, int n)
{
    if (n <= m->vert_capacity) return true;
    int capacity = n + n / 4;
    double(*vert)[3] = ty_realloc(m->vert, (size_t)m->n_verts, (size_t)capacity, sizeof *vert);
    if (!vert) return false;
    m->vert = vert;
    for (int a = 0; a < m->n_attrs; ++a) {
        size_t size = (size_t)m->attr[a].width * sizeof(float);
        float* values = ty_realloc(m->attr[a].values, (size_t)m->n_verts, (size_t)capacity, size);
        if (!values) return false;    // vert may be larger than the capacity says: harmless
        m->attr[a].values = values;
    }
    m->vert_capacity = capacity;
    return true;
}

ty_status ty_tri_mesh_resize(ty_tri_mesh* m, int n_verts, int n_tris)
{
    if (!grow_verts(m, n_verts)) return ty_no_memory("surface vertices");
    if (n_tris > m->tri_capacity) {
        int capacity = n_tris + n_tris / 4;
        int(*tri)[3] = ty_realloc(m->tri, (size_t)m->n_tris, (size_t)capacity, sizeof *tri);
        if (!tri) return ty_no_memory("surface triangles");
        m->tri = tri;
        m->tri_capacity = capacity;
    }
    m->n_verts = n_verts;
    m->n_tris = n_tris;
    return ty_ok();
}

ty_status ty_tri_mesh_copy(ty_tri_mesh* to, const ty_tri_mesh* from)
{
    TY_TRY(ty_tri_mesh_resize(to, from->n_verts, from->n_tris));
    if (from->n_verts) memcpy(to->vert, from->vert, (size_t)from->n_verts * sizeof *to->vert);
    if (from->n_tris) memcpy(to->tri, from->tri, (size_t)from->n_tris * sizeof *to->tri);
    for (int a = 0; a < from->n_attrs; ++a) {
        const ty_attribute* source = &from->attr[a];
        float* values = ty_tri_mesh_add_attribute(to, source->name, source->width);
        if (!values) return ty_no_memory("surface attributes");
        if (from->n_verts)
            memcpy(values, source->values,
                   (size_t)from->n_verts * (size_t)source->width * sizeof *values);
    }
    return ty_ok();
}

void ty_tri_mesh_free(ty_tri_mesh* m)
{
    ty_free(m->vert);
    ty_free(m->tri);
    for (int a = 0; a < m->n_attrs; ++a) ty_free(m->attr[a].values);
    *m = (ty_tri_mesh){0};
}

float* ty_tri_mesh_attribute(const ty_tri_mesh* m, const char* name, int width)
{
    for (int a = 0; a < m->n_attrs; ++a)
        if (m->attr[a].width == width && strcmp(m->attr[a].name, name) == 0)
            return m->attr[a].values;
    return NULL;
}

float* ty_tri_mesh_add_attribute(ty_tri_mesh* m, const char* name, int width)
{
    float* values = ty_tri_mesh_attribute(m, name, width);
    if (values || m->n_attrs == TY_MAX_ATTRIBUTES) return values;
    size_t capacity = m->vert_capacity > 0 ? (size_t)m->vert_capacity : 1;
    values = ty_alloc(capacity, (size_t)width * sizeof *values);
    if (!values) return NULL;
    ty_attribute* attr = &m->attr[m->n_attrs++];
    strncpy(attr->name, name, sizeof attr->name - 1);
    attr->name[sizeof attr->name - 1] = 0;
    attr->width = width;
    attr->values = values;
    return values;
}

static double volume_block(void* ctx, ty_range r)
{
    const ty_tri_mesh* m = ctx;
    double sum = 0.0;
    ty_vec3 origin = ty_load3(m->vert[m->tri[0][0]]);    // near the surface: less cancellation
    for (int64_t t = r.begin; t < r.end; ++t) {
        const int* v = m->tri[t];
        ty_vec3 a = ty_load3(m->vert[v[0]]) - origin;
        ty_vec3 b = ty_load3(m->vert[v[1]]) - origin;
        ty_vec3 c = ty_load3(m->vert[v[2]]) - origin;
        sum += ty_dot(a, ty_cross(b, c));
    }
    return sum;
}

double ty_tri_mesh_volume(const ty_tri_mesh* m)
{
    return ty_parallel_sum(m->n_tris, TRI_BLOCK, volume_block, (void*)m) / 6.0;
}

static double area_block(void* ctx, ty_range r)
{
    const ty_tri_mesh* m = ctx;
    double sum = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        const int* v = m->tri[t];
        ty_vec3 a = ty_load3(m->vert[v[0]]);
        sum += ty_norm(ty_cross(ty_load3(m->vert[v[1]]) - a, ty_load3(m->vert[v[2]]) - a));
    }
    return sum;
}

double ty_tri_mesh_area(const ty_tri_mesh* m)
{
    return 0.5 * ty_parallel_sum(m->n_tris, TRI_BLOCK, area_block, (void*)m);
}

ty_box ty_tri_mesh_bounds(const ty_tri_mesh* m)
{
    ty_box box = ty_box_empty();
    for (int v = 0; v < m->n_verts; ++v) ty_box_add(&box, m->vert[v]);
    return box;
}

int ty_tri_mesh_components(const ty_tri_mesh* m, int* component)
{
    int* parent = ty_alloc((size_t)m->n_verts, sizeof *parent);
    if (!parent) return -1;
    for (int v = 0; v < m->n_verts; ++v) parent[v] = v;
    for (int t = 0; t < m->n_tris; ++t)
        for (int k = 1; k < 3; ++k) ty_join(parent, m->tri[t][0], m->tri[t][k]);
    int n = 0;    // the root is the lowest vertex, so it is met first
    for (int v = 0; v < m->n_verts; ++v) {
        int root = ty_find(parent, v);
        component[v] = root == v ? n++ : component[root];
    }
    ty_free(parent);
    return n;
}

typedef struct half_edge {
    int lo, hi;
    bool forward;    // runs from lo to hi
} half_edge;

static int compare_edges(const void* a, const void* b)
{
    const half_edge *e = a, *f = b;
    if (e->lo != f->lo) return e->lo < f->lo ? -1 : 1;
    if (e->hi != f->hi) return e->hi < f->hi ? -1 : 1;
    return (int)e->forward - (int)f->forward;
}

static bool triangle_ok(const ty_tri_mesh* m, int t, ty_tri_mesh_report* report)
{
    const int* v = m->tri[t];
    for (int k = 0; k < 3; ++k)
        if (v[k] < 0 || v[k] >= m->n_verts) {
            ++report->bad_index;
            return false;
        }
    ty_vec3 a = ty_load3(m->vert[v[0]]);
    ty_vec3 n = ty_cross(ty_load3(m->vert[v[1]]) - a, ty_load3(m->vert[v[2]]) - a);
    double area = ty_norm(n);
    if (!(area > 0.0)) ++report->degenerate;
    return v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
}

static void count_edge_group(const ty_tri_mesh* m, const half_edge* e, int n,
                             ty_tri_mesh_report* report)
{
    if (n > 2) ++report->nonmanifold_edges;
    if (n == 2 && e[0].forward == e[1].forward) ++report->flipped;
    if (n != 1) return;
    ty_vec3 a = ty_load3(m->vert[e->lo]), b = ty_load3(m->vert[e->hi]);
    if (!report->open_edges++) ty_store3(report->open_at, 0.5 * (a + b));
    report->open_length += ty_norm(b - a);
}

static void inspect_edges(const ty_tri_mesh* m, half_edge* edges, ty_tri_mesh_report* report,
                          int* n_edges)
{
    int64_t n = 0;
    for (int t = 0; t < m->n_tris; ++t) {
        if (!triangle_ok(m, t, report)) continue;
        for (int k = 0; k < 3; ++k) {
            int a = m->tri[t][k], b = m->tri[t][(k + 1) % 3];
            edges[n++] = a < b ? (half_edge){a, b, true} : (half_edge){b, a, false};
        }
    }
    qsort(edges, (size_t)n, sizeof *edges, compare_edges);
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && edges[j].lo == edges[i].lo && edges[j].hi == edges[i].hi;) ++j;
        count_edge_group(m, edges + i, (int)(j - i), report);
        ++*n_edges;
    }
}

// Components and used vertices of a mesh whose indices are in range.
static bool count_parts(const ty_tri_mesh* m, ty_tri_mesh_report* report, int* n_used)
{
    int* component = ty_alloc((size_t)m->n_verts, sizeof *component);
    char* used = ty_alloc_zero((size_t)m->n_verts * 2, 1);
    bool ok = component && used && ty_tri_mesh_components(m, component) >= 0;
    char* met = ok ? used + m->n_verts : NULL;
    for (int t = 0; ok && t < m->n_tris; ++t) {
        for (int k = 0; k < 3; ++k) {
            int v = m->tri[t][k];
            *n_used += !used[v];
            used[v] = 1;
        }
        int c = component[m->tri[t][0]];
        report->components += !met[c];
        met[c] = 1;
    }
    ty_free(component);
    ty_free(used);
    return ok;
}

ty_status ty_tri_mesh_inspect(const ty_tri_mesh* m, ty_tri_mesh_report* report)
{
    *report = (ty_tri_mesh_report){0};
    for (int v = 0; v < m->n_verts; ++v)
        for (int axis = 0; axis < 3; ++axis)
            if (!isfinite(m->vert[v][axis])) {
                ++report->not_finite;
                break;
            }
    half_edge* edges = ty_alloc((size_t)m->n_tris * 3, sizeof *edges);
    if (!edges) return ty_no_memory("surface edges");
    int n_edges = 0, n_used = 0;
    inspect_edges(m, edges, report, &n_edges);
    ty_free(edges);
    if (report->bad_index) return ty_ok();
    if (!count_parts(m, report, &n_used)) return ty_no_memory("surface components");
    report->euler = n_used - n_edges + m->n_tris;
    return ty_ok();
}

ty_status ty_tri_mesh_validate(const ty_tri_mesh* m)
{
    ty_tri_mesh_report r;
    TY_TRY(ty_tri_mesh_inspect(m, &r));
    if (r.bad_index || r.not_finite || r.open_edges || r.nonmanifold_edges || r.flipped)
        return ty_fail(
            TY_DAMAGED,
            "surface is not a closed oriented manifold: %d bad indices, %d not finite, %d open, "
            "%d non-manifold, %d flipped edges",
            r.bad_index, r.not_finite, r.open_edges, r.nonmanifold_edges, r.flipped);
    return ty_ok();
}
