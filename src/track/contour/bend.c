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

#include "core/parallel.h"
#include "core/union_find.h"
#include "track/contour/slc.h"

enum { BLOCK = 1024 };
static const double SMOOTH = 0.0,
                    SHARP = -0.7;    // cosines: up to a right angle all, beyond 135 degrees none
// Cosine: a vertex's normal turns less within a cell or two where the surface is resolved.
static const double RESOLVED = 0.94;
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
        const float *n = s->bend.at + 4 * (int64_t)id[k], *side = ty_slc_side(s, id[k]);
        double smooth = side ? 1.0 : (double)n[3];
        double w = ty_max(ty_dot(ty_cross(arm[(k + 1) % 3], arm[(k + 2) % 3]), normal), 0.0);
        if (side) n = side;
        sum += w * smooth * ty_dot(ty_vec((double)n[0], (double)n[1], (double)n[2]), arm[k]);
        total += w;
    }
    double most = LARGEST * s->tree.cell;
    return total > 0.0 ? ty_clamp(0.5 * sum / total, -most, most) : 0.0;
}

// A triangle's edges, from corner k to the next, and their squares.
typedef struct sides {
    ty_vec3 edge[3];
    double square[3];
} sides;

static sides sides_of(const ty_tri_mesh* m, int t)
{
    const int* id = m->tri[t];
    ty_vec3 a = ty_load3(m->vert[id[0]]), b = ty_load3(m->vert[id[1]]),
            c = ty_load3(m->vert[id[2]]);
    sides s = {.edge = {b - a, c - b, a - c}};
    for (int k = 0; k < 3; ++k) s.square[k] = ty_dot(s.edge[k], s.edge[k]);
    return s;
}

// [Max1999]: a corner with edges e, f adds e x f / (|e|^2 |f|^2). Vertices joined by edges shorter
// than `apart` count as one.
static void add_normals(const ty_tri_mesh* m, double apart, int* parent, double (*sum)[3])
{
    for (int t = 0; t < m->n_tris; ++t) {
        const int* id = m->tri[t];
        sides s = sides_of(m, t);
        ty_vec3 normal = ty_cross(s.edge[0], s.edge[1]);
        bool close[3];
        for (int k = 0; k < 3; ++k) {
            close[k] = s.square[k] < apart * apart;
            if (close[k]) ty_join(parent, id[k], id[(k + 1) % 3]);
        }
        for (int k = 0; k < 3; ++k) {
            if (close[k] || close[(k + 2) % 3]) continue;
            double* to = sum[id[k]];
            ty_store3(to, ty_load3(to) + normal * (1.0 / (s.square[k] * s.square[(k + 2) % 3])));
        }
    }
}

// The lowest vertex of those that count as one has their sum.
static void merge_close(int n, int* parent, double (*sum)[3])
{
    for (int v = 0; v < n; ++v) {
        if (parent[v] == v) continue;
        double* to = sum[ty_find(parent, v)];
        ty_store3(to, ty_load3(to) + ty_load3(sum[v]));
    }
}

typedef struct normal_args {
    ty_slc_surface* s;
    int* parent;
    double (*sum)[3];
} normal_args;

static void normal_block(void* ctx, ty_range r)
{
    const normal_args* k = ctx;
    for (int64_t v = r.begin; v < r.end; ++v) {
        int set = k->parent[v];
        while (k->parent[set] != set) set = k->parent[set];
        ty_vec3 normal = ty_normalize(ty_load3(k->sum[set]));
        for (int axis = 0; axis < 3; ++axis) k->s->bend.at[4 * v + axis] = (float)normal[axis];
        k->s->bend.at[4 * v + 3] = 1.0f;
    }
}

static void mark_sharp(ty_slc_surface* s, uint8_t* turns)
{
    const ty_tri_mesh* m = &s->mesh;
    for (int t = 0; t < m->n_tris; ++t) {
        double least = 1.0;
        for (int k = 0; k < 3; ++k) {
            float *a = s->bend.at + 4 * (int64_t)m->tri[t][k],
                  *b = s->bend.at + 4 * (int64_t)m->tri[t][(k + 1) % 3];
            double cosine = (double)(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            least = ty_min(least, cosine);
            if (cosine >= SMOOTH) continue;
            float smooth = (float)ty_clamp((cosine - SHARP) / (SMOOTH - SHARP), 0.0, 1.0);
            if (smooth < a[3]) a[3] = smooth;
            if (smooth < b[3]) b[3] = smooth;
        }
        if (!turns || least >= RESOLVED) continue;
        for (int k = 0; k < 3; ++k) turns[m->tri[t][k]] = 1;
    }
}

ty_status ty_slc_bend(ty_slc_surface* s, uint8_t* turns)
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
    for (int v = 0; v < n; ++v) parent[v] = v;
    add_normals(&s->mesh, apart, parent, sum);
    merge_close(n, parent, sum);
    normal_args k = {s, parent, sum};
    ty_parallel_for(n, BLOCK, normal_block, &k);
    ty_free(sum);
    ty_free(parent);
    mark_sharp(s, turns);
    ty_slc_apply_sharp(s);
    return ty_ok();
}
