// SPDX-License-Identifier: Apache-2.0
// The surface between its vertices. Point p = sum w_i v_i of a triangle is below the tangent planes
// of its vertices by n_i . (v_i - p); on a quadratic surface it is below the surface by exactly
// half their mean,
//
//   bulge(p) = 1/2 sum w_i n_i . (v_i - p),
//
// which is 0 at the vertices and the same from both sides of an edge. Normals are those of
// [Max1999], exact for vertices on a sphere whatever the triangles' shapes. At edges of the liquid,
// where the normals of neighbours differ by more than SMOOTH, it fades: flat triangles cannot
// overshoot. Vertices less than APART from each other have one normal, that of the fan around them
// all: contouring moves them by as much as they are apart, and a normal from their slivers bent a
// plane by 0.02 cells.
#include <math.h>

#include "core/union_find.h"
#include "track/contour/slc.h"

static const double SMOOTH = 0.0,
                    SHARP = -0.7;     // cosines: up to a right angle all, beyond 135 degrees none
static const double APART = 0.03;     // cells: shorter edges tell little of an angle
static const double LARGEST = 0.2;    // cells: no bulge of a resolved surface is larger

double ty_slc_bulge(const ty_slc_surface* s, int triangle, const double p[3])
{
    const ty_tri_mesh* m = &s->mesh;
    const int* id = m->tri[triangle];
    ty_vec3 arm[3];
    for (int k = 0; k < 3; ++k) arm[k] = ty_load3(m->vert[id[k]]) - ty_load3(p);
    ty_vec3 normal = ty_cross(arm[1] - arm[0], arm[2] - arm[0]);
    double sum = 0.0, total = 0.0;
    for (int k = 0; k < 3; ++k) {
        const float* n = s->bend.at + 4 * (int64_t)id[k];
        double w = ty_max(ty_dot(ty_cross(arm[(k + 1) % 3], arm[(k + 2) % 3]), normal), 0.0);
        sum += w * (double)n[3] * ty_dot(ty_vec((double)n[0], (double)n[1], (double)n[2]), arm[k]);
        total += w;
    }
    double most = LARGEST * s->tree.cell;
    return total > 0.0 ? ty_clamp(0.5 * sum / total, -most, most) : 0.0;
}

static ty_vec3 edge(const ty_tri_mesh* m, int from, int to)
{
    return ty_load3(m->vert[to]) - ty_load3(m->vert[from]);
}

// Vertices joined by edges shorter than `apart` count as one.
static void merge_close(const ty_tri_mesh* m, double apart, int* parent)
{
    for (int v = 0; v < m->n_verts; ++v) parent[v] = v;
    for (int t = 0; t < m->n_tris; ++t)
        for (int k = 0; k < 3; ++k) {
            int a = m->tri[t][k], b = m->tri[t][(k + 1) % 3];
            ty_vec3 e = edge(m, a, b);
            if (a < b && ty_dot(e, e) < apart * apart) ty_join(parent, a, b);
        }
}

// [Max1999]: a corner with edges e, f adds e x f / (|e|^2 |f|^2).
static void add_normals(const ty_tri_mesh* m, double apart, int* parent, double (*sum)[3])
{
    for (int t = 0; t < m->n_tris; ++t)
        for (int k = 0; k < 3; ++k) {
            int v = m->tri[t][k];
            ty_vec3 e = edge(m, v, m->tri[t][(k + 1) % 3]), f = edge(m, v, m->tri[t][(k + 2) % 3]);
            double e2 = ty_dot(e, e), f2 = ty_dot(f, f);
            if (e2 < apart * apart || f2 < apart * apart) continue;
            double* to = sum[ty_find(parent, v)];
            ty_store3(to, ty_load3(to) + ty_cross(e, f) / (e2 * f2));
        }
}

static void mark_sharp(ty_slc_surface* s)
{
    const ty_tri_mesh* m = &s->mesh;
    for (int t = 0; t < m->n_tris; ++t)
        for (int k = 0; k < 3; ++k) {
            float *a = s->bend.at + 4 * (int64_t)m->tri[t][k],
                  *b = s->bend.at + 4 * (int64_t)m->tri[t][(k + 1) % 3];
            double cosine = (double)(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            float smooth = (float)ty_clamp((cosine - SHARP) / (SMOOTH - SHARP), 0.0, 1.0);
            if (smooth < a[3]) a[3] = smooth;
            if (smooth < b[3]) b[3] = smooth;
        }
}

ty_status ty_slc_bend(ty_slc_surface* s)
{
    int n = s->mesh.n_verts;
    if (s->mesh.n_tris == 0) return ty_ok();
    double(*sum)[3] = ty_alloc_zero((size_t)n, sizeof *sum), apart = APART * s->tree.cell;
    int* parent = ty_alloc((size_t)n, sizeof *parent);
    if (!sum || !parent || !ty_array_resize(&s->bend, 4 * (int64_t)n)) {
        ty_free(sum);
        ty_free(parent);
        return ty_no_memory("normals of the surface");
    }
    merge_close(&s->mesh, apart, parent);
    add_normals(&s->mesh, apart, parent, sum);
    for (int v = 0; v < n; ++v) {
        ty_vec3 normal = ty_normalize(ty_load3(sum[ty_find(parent, v)]));
        for (int axis = 0; axis < 3; ++axis)
            s->bend.at[4 * (int64_t)v + axis] = (float)normal[axis];
        s->bend.at[4 * (int64_t)v + 3] = 1.0f;
    }
    ty_free(sum);
    ty_free(parent);
    mark_sharp(s);
    return ty_ok();
}
