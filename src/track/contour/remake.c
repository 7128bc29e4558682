// SPDX-License-Identifier: Apache-2.0
// Triangles of a function of space, on the lattice that never moves: what does not move comes out
// as it was.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/union_find.h"
#include "track/contour/slc.h"
#include "world/trace.h"

enum { BATCH = TY_SAMPLE_BATCH };
static const double MOST_SQUEEZE = 3.0;    // of thin liquid in a step
static const double PROBE = 0.25;          // cells: differences of the paths' starts
static const double SAME_NORMAL = 0.99;    // cosine

ty_box ty_slc_bounds(const ty_slc* s, double margin)
{
    ty_box box = ty_tri_mesh_bounds(&s->now.mesh);
    for (int axis = 0; axis < 3; ++axis) {
        box.lo[axis] -= margin;
        box.hi[axis] += margin;
    }
    return box;
}

static void unite_two(int* parent, int a, int b)
{
    if (parent[a] != parent[b]) ty_join(parent, a, b);
}

// Inside corners of a leaf belong together when an edge of it joins them; in coarse leaves all have
// one sign.
static void unite_leaf(const int corner[8], unsigned inside, int* parent)
{
    static const unsigned char low[3] = {
        0x55, 0x33, 0x0f};    // corners at the low end of an edge along each axis
    if (inside == 255) {
        for (int v = 1; v < 8; ++v) unite_two(parent, corner[v & (v - 1)], corner[v]);
        return;
    }
    for (int axis = 0; axis < 3; ++axis)
        for (unsigned both = inside & inside >> (1 << axis) & low[axis]; both; both &= both - 1) {
            int v = __builtin_ctz(both);
            unite_two(parent, corner[v], corner[v | 1 << axis]);
        }
}

static void unite_leaves(const ty_octree* t, int* parent)
{
    for (int64_t i = 0; i < t->n_octants; ++i) {
        int corner[8];
        if (!t->inside.at[i]) continue;
        ty_octree_corners_of(t, i, corner);
        unite_leaf(corner, t->inside.at[i], parent);
    }
}

// The corner on the liquid's side of every vertex's edge, joined with that of the vertex that
// piece[v] was.
static void inside_corners(ty_slc* s)
{
    const ty_octree* t = &s->now.tree;
    ty_lattice_cursor cursor = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int v = 0; v < s->now.mesh.n_verts; ++v) {
        int corner = (int)(s->contour.key.at[v] >> 2), axis = (int)(s->contour.key.at[v] & 3);
        if (!(t->corner_value.at[corner] < 0.0)) {
            const int* at = ty_lattice_walk_to(&t->corners, &walk, corner);
            corner = ty_lattice_id(&t->corners, &cursor, at[0] + (axis == 0), at[1] + (axis == 1),
                                   at[2] + (axis == 2));
        }
        int first = s->piece.at[v];
        s->piece.at[v] = corner;
        ty_join(s->parent.at, s->piece.at[first], corner);
    }
}

// Vertices that triangles join: piece[v] is the lowest of them. Returns whether those are all.
static bool unite_triangles(ty_slc* s)
{
    const ty_tri_mesh* m = &s->now.mesh;
    int *set = s->piece.at, n_sets = 0;
    for (int v = 0; v < m->n_verts; ++v) set[v] = v;
    for (int i = 0; i < m->n_tris; ++i)
        for (int k = 1; k < 3; ++k) unite_two(set, m->tri[i][0], m->tri[i][k]);
    for (int v = 0; v < m->n_verts; ++v) {
        set[v] = set[set[v]];    // lower ones are done
        n_sets += set[v] == v;
    }
    return n_sets == 1;
}

// Bodies of liquid: inside corners joined by edges, and by triangles where bodies touch across a
// cell's corner only. Where triangles join all there is one.
static ty_status find_pieces(ty_slc* s)
{
    const ty_octree* t = &s->now.tree;
    const ty_tri_mesh* m = &s->now.mesh;
    s->n_pieces = 0;
    if (!ty_array_resize(&s->piece, m->n_verts)) return ty_no_memory("bodies of liquid");
    if (m->n_tris == 0) return ty_ok();
    if (unite_triangles(s)) {
        s->n_pieces = 1;
        return ty_ok();
    }
    if (!ty_array_resize(&s->parent, t->corners.n)) return ty_no_memory("bodies of liquid");
    int* parent = s->parent.at;
    for (int c = 0; c < t->corners.n; ++c) parent[c] = c;
    unite_leaves(t, parent);
    inside_corners(s);
    int* number = s->contour.rank.at;    // per corner; done with
    for (int c = 0; c < t->corners.n; ++c) number[c] = -1;
    for (int v = 0; v < m->n_verts; ++v) s->piece.at[v] = ty_find(parent, s->piece.at[v]);
    for (int v = 0; v < m->n_verts; ++v) number[s->piece.at[v]] = 0;
    for (int c = 0; c < t->corners.n; ++c)
        if (number[c] == 0) number[c] = s->n_pieces++;
    for (int v = 0; v < m->n_verts; ++v) s->piece.at[v] = number[s->piece.at[v]];
    return ty_ok();
}

typedef struct carry_args {
    const ty_slc* s;
    const ty_slc_surface* from;
    ty_slc_surface* to_surface;
    ty_tri_mesh* to;
    const double *fat, *grow;    // per vertex of `from`, or NULL
    double* grown;
    const ty_flow* flow;
    double dt;
} carry_args;

static void barycentric(const ty_tri_mesh* m, int tri, const double point[3], double w[3])
{
    const int* id = m->tri[tri];
    ty_vec3 p = ty_load3(point), corner[3];
    for (int k = 0; k < 3; ++k) corner[k] = ty_load3(m->vert[id[k]]) - p;
    ty_vec3 normal = ty_cross(corner[1] - corner[0], corner[2] - corner[0]);
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        w[k] = fmax(0.0, ty_dot(ty_cross(corner[(k + 1) % 3], corner[(k + 2) % 3]), normal));
        sum += w[k];
    }
    for (int k = 0; k < 3; ++k) w[k] = sum > 0.0 ? w[k] / sum : 1.0 / 3.0;
}

static ty_vec3 vertex_normal(const ty_slc_surface* s, int64_t v)
{
    const float* n = s->bend.at + 4 * v;
    return ty_vec((double)n[0], (double)n[1], (double)n[2]);
}

static ty_vec3 triangle_normal(const ty_slc_surface* s, int triangle)
{
    const int* id = s->mesh.tri[triangle];
    return ty_normalize(vertex_normal(s, id[0]) + vertex_normal(s, id[1]) +
                        vertex_normal(s, id[2]));
}

// |J^T n| from differences along the three axes, J the gradient of where points come from.
static double squeeze_any_way(const carry_args* k, int64_t vert, const double from[3], ty_vec3 n)
{
    double at[3][3], h = PROBE * k->from->tree.cell, sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        memcpy(at[axis], k->to->vert[vert], sizeof at[0]);
        at[axis][axis] += h;
    }
    ty_trace_back(k->flow, k->dt, 3, (const double(*)[3])at, at);
    for (int axis = 0; axis < 3; ++axis) {
        double slope = ty_dot(ty_load3(at[axis]) - ty_load3(from), n) / h;
        sum += slope * slope;
    }
    return sqrt(sum);
}

// |grad (phi o back)| for thin liquid, where phi has its gradient along the old surface's normal n
// at triangle tri[i]: by so much the flow squeezed it. That is |J^T n|, and |J N| where the new
// surface's normal N came from n. vert: the new vertices, from: where they came from.
static void squeeze(const carry_args* k, int n, const int64_t* vert, const double (*from)[3],
                    const int* tri, double* out)
{
    double at[BATCH][3], h = PROBE * k->from->tree.cell;
    for (int i = 0; i < n; ++i)
        ty_store3(at[i],
                  ty_load3(k->to->vert[vert[i]]) + h * vertex_normal(k->to_surface, vert[i]));
    ty_trace_back(k->flow, k->dt, n, (const double(*)[3])at, at);
    for (int i = 0; i < n; ++i) {
        ty_vec3 normal = triangle_normal(k->from, tri[i]),
                probe = (ty_load3(at[i]) - ty_load3(from[i])) / h;
        double length = ty_norm(probe);
        if (!(ty_dot(probe, normal) > SAME_NORMAL * length))
            length = squeeze_any_way(k, vert[i], from[i], normal);
        out[i] = ty_clamp(length, 1.0 / MOST_SQUEEZE, MOST_SQUEEZE);
    }
}

// What thin liquid was fattened by, where the flow left it: `inset` and growth of the new vertices
// from r.begin on.
static void carry_thin(const carry_args* k, ty_range r, const double (*from)[3], const int* tri,
                       const double (*point)[3])
{
    double y[BATCH][3], by[BATCH];
    int64_t vert[BATCH];
    int t[BATCH], n = 0, count = (int)(r.end - r.begin);
    double *inset = k->to_surface->inset.at + r.begin, *grown = k->grow ? k->grown + r.begin : NULL;
    for (int i = 0; i < count; ++i) {
        inset[i] = tri[i] >= 0 ? ty_slc_value_at(&k->from->mesh, k->fat, tri[i], point[i]) : 0.0;
        if (!k->flow && tri[i] >= 0)
            inset[i] *= ty_slc_inset_share(k->s, ty_norm(ty_load3(from[i]) - ty_load3(point[i])));
        if (grown)
            grown[i] = tri[i] >= 0 ? ty_slc_value_at(&k->from->mesh, k->grow, tri[i], point[i])
                                   : 0.0;
        if (!(inset[i] > 0.0 && k->flow)) continue;
        memcpy(y[n], from[i], sizeof y[0]);
        t[n] = tri[i];
        vert[n++] = r.begin + i;
    }
    squeeze(k, n, vert, (const double(*)[3])y, t, by);
    for (int j = 0; j < n; ++j) inset[vert[j] - r.begin] /= by[j];
}

// The closest triangles of `from`, and where on them.
static void find_feet(const ty_slc_surface* from, int n, const double (*x)[3], int* tri,
                      double (*point)[3])
{
    double far_x[BATCH][3], far_point[BATCH][3];
    int id[BATCH], far_tri[BATCH], n_far = 0;
    ty_octree_cursor cursor = ty_octree_cursor_start();
    ty_slc_walk walk = ty_slc_walk_start();
    for (int i = 0; i < n; ++i) {
        int at[3];
        double u[3];
        ty_slc_foot foot;
        ty_octree_cells_of(&from->tree, x[i], u, at);
        ty_octant o = ty_octree_leaf(&from->tree, &cursor, at);
        if (ty_slc_foot_near(from, &walk, &o, x[i], u, &foot)) {
            tri[i] = foot.triangle;
            ty_store3(point[i], foot.at.point);
        } else {
            memcpy(far_x[n_far], x[i], sizeof far_x[0]);
            id[n_far++] = i;
        }
    }
    ty_closest_points points = {.triangle = far_tri, .point = far_point};
    ty_bvh_closest(&from->exact.bvh, n_far, (const double(*)[3])far_x, INFINITY, &points);
    for (int i = 0; i < n_far; ++i) {
        tri[id[i]] = far_tri[i];
        memcpy(point[id[i]], far_point[i], sizeof point[0]);
    }
}

// Where the liquid of new vertices was. Buried ones stay: nobody sees what they carry.
static void come_from(const carry_args* k, int n, double (*x)[3])
{
    bool buried[BATCH];
    double open[BATCH][3];
    int id[BATCH], n_open = 0;
    if (!k->flow) return;
    ty_slc_find_buried(k->s, n, (const double(*)[3])x, buried);
    for (int i = 0; i < n; ++i) {
        if (buried[i]) continue;
        memcpy(open[n_open], x[i], sizeof open[0]);
        id[n_open++] = i;
    }
    ty_trace_back(k->flow, k->dt, n_open, (const double(*)[3])open, open);
    for (int i = 0; i < n_open; ++i) memcpy(x[id[i]], open[i], sizeof open[0]);
}

// Course notes [Wojtan2011] section 6.1: a new vertex has the values of the place on the old
// surface it came from.
static void carry_block(void* ctx, ty_range r)
{
    const carry_args* k = ctx;
    double x[BATCH][3], point[BATCH][3];
    int tri[BATCH], n = (int)(r.end - r.begin);
    memcpy(x, k->to->vert + r.begin, (size_t)n * sizeof *x);
    come_from(k, n, x);
    find_feet(k->from, n, (const double(*)[3])x, tri, point);
    if (k->fat) carry_thin(k, r, (const double(*)[3])x, tri, (const double(*)[3])point);
    for (int i = 0; i < n && k->to->n_attrs > 0; ++i) {
        double w[3] = {0};
        if (tri[i] >= 0) barycentric(&k->from->mesh, tri[i], point[i], w);
        for (int a = 0; a < k->to->n_attrs; ++a) {
            const ty_attribute *from = &k->from->mesh.attr[a], *to = &k->to->attr[a];
            for (int c = 0; c < to->width; ++c) {
                double sum = 0.0;
                for (int v = 0; v < 3 && tri[i] >= 0; ++v)
                    sum += w[v] *
                           (double)from
                               ->values[(int64_t)k->from->mesh.tri[tri[i]][v] * from->width + c];
                to->values[(r.begin + i) * to->width + c] = (float)sum;
            }
        }
    }
}

static ty_status carry_attributes(ty_slc* s, const ty_slc_remake_def* def)
{
    const ty_tri_mesh* from = &s->now.mesh;
    ty_tri_mesh* to = &s->next.mesh;
    for (int a = 0; a < from->n_attrs; ++a)
        if (!ty_tri_mesh_add_attribute(to, from->attr[a].name, from->attr[a].width))
            return ty_no_memory("the surface's attributes");
    bool fat = s->fat.n > 0, grow = s->grow.n > 0;
    s->next.inset.n = s->carried_grow.n = 0;
    if ((from->n_attrs == 0 && !fat) || from->n_tris == 0) return ty_ok();
    if ((fat && !ty_array_resize(&s->next.inset, to->n_verts)) ||
        (grow && !ty_array_resize(&s->carried_grow, to->n_verts)))
        return ty_no_memory("the surface's attributes");
    carry_args k = {s,
                    &s->now,
                    &s->next,
                    to,
                    fat ? s->fat.at : NULL,
                    grow ? s->grow.at : NULL,
                    s->carried_grow.at,
                    def->flow,
                    def->dt};
    ty_parallel_for(to->n_verts, BATCH, carry_block, &k);
    ty_slc_inset_tidy(&s->next);
    return ty_ok();
}

static ty_status contour(ty_slc* s, const ty_slc_remake_def* def)
{
    ty_octree_def tree = ty_octree_default();
    tree.cell = s->def.cell;
    memcpy(tree.origin, s->origin, sizeof tree.origin);
    tree.box = def->box;
    tree.levels = TY_SLC_LEVELS;
    tree.rule = TY_OCTREE_CONTOUR;
    tree.lipschitz = def->lipschitz;
    if (!(def->box.lo[0] <= def->box.hi[0])) return ty_tri_mesh_resize(&s->next.mesh, 0, 0);
    ty_octree_lend(&s->now.tree, &s->next.tree);
    TY_TRY(ty_octree_build(&s->next.tree, &def->phi, &tree));
    return ty_contour_octree(&s->contour, &s->next.tree, &def->phi, TY_CONTOUR_REFINE_KINKS,
                             &s->next.mesh);
}

ty_status ty_slc_remake(ty_slc* s, const ty_slc_remake_def* def)
{
    TY_TRY(contour(s, def));
    TY_TRY(ty_world_status(s->world));
    TY_TRY(ty_slc_sharpen(s, def));
    TY_TRY(carry_attributes(s, def));
    TY_TRY(ty_slc_keep_end(s));
    if (!def->keep_old) ty_slc_surface_lend(&s->now, &s->next);
    TY_TRY(ty_slc_surface_finish(&s->next));
    ty_slc_surface old = s->now;
    s->now = s->next;
    s->next = old;
    s->thickness.n = s->ray.n = s->fat.n = s->grow.n = s->later.n = 0;
    TY_TRY(ty_slc_draw(s));
    TY_TRY(find_pieces(s));
    return ty_slc_thicken_mesh(s);
}
