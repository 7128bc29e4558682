// SPDX-License-Identifier: Apache-2.0
// The distance to a contoured surface: closest triangle (pseudonormals for the sign) in the leaves
// around it and outside of the tree, trilinear between exact values at the corners of the larger
// leaves. There is no fast marching: the larger leaves have few corners, and each asks the
// hierarchy.
//
// Departs: near the surface the distance is that to the curved surface of bend.c, not to the flat
// triangles, whose chords cost h^2 / (8 r) of every convex place in every step (a turn of the
// slotted sphere: 10.6 % of its volume).
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "space/octree_archive.h"
#include "track/contour/slc.h"
#include "world/shape.h"

enum { CHUNK = TY_SAMPLE_BATCH };
// Cells from the surface beyond which a remake's values need not be exact where the sign does not
// change around them: at the ends of edges a poor value costs another step of the search for the
// zero. Thin liquid is fattened by nearly a cell, and only where the closest triangle is known: with
// 0.6 there a sheet of half a cell got holes.
static const double ENOUGH = 0.5, ENOUGH_THIN = 1.2;
// Of the distance at the corners of leaves four cells wide and more, where the surface is bent; see
// far_block.
static const double TOLERANCE = 0.1;

static const double BEYOND = 4.0;    // cells: farther than anything that counts near the surface

void ty_slc_surface_free(ty_slc_surface* s)
{
    ty_tri_mesh_free(&s->mesh);
    ty_octree_free(&s->tree);
    ty_mesh_distance_free(&s->exact);
    ty_array_free(&s->first_tri);
    ty_array_free(&s->far);
    ty_array_free(&s->bend);
    ty_array_free(&s->sharp);
    ty_array_free(&s->sharp_vert);
    ty_array_free(&s->inset);
    ty_array_free(&s->point);
    ty_array_free(&s->id);
}

void ty_slc_surface_lend(ty_slc_surface* from, ty_slc_surface* to)
{
    TY_SWAP(from->exact, to->exact);
    TY_SWAP(from->first_tri, to->first_tri);
    TY_SWAP(from->far, to->far);
    TY_SWAP(from->point, to->point);
    TY_SWAP(from->id, to->id);
    from->mesh.n_verts = from->mesh.n_tris = 0;
}

// Four values side by side: those of a leaf's corners at the low end along x, or at the high end.
typedef double four __attribute__((vector_size(32)));

static four every_other(const double* value, const int* corner)
{
    return (four){value[corner[0]], value[corner[2]], value[corner[4]], value[corner[6]]};
}

static four least_of(four a, four b)
{
    typedef int64_t mask __attribute__((vector_size(32)));
    mask first = a < b;
    return (four)((first & (mask)a) | (~first & (mask)b));
}

// Trilinear between the values of a leaf's corners; u in finest cells.
static double blend(const ty_octant* o, four low, four high, const double u[3])
{
    double part = 1.0 / (1 << o->level), w[3];
    for (int axis = 0; axis < 3; ++axis) w[axis] = part * u[axis] - o->x[axis];
    four f = low + w[0] * (high - low);
    double a = f[0] + w[1] * (f[1] - f[0]), b = f[2] + w[1] * (f[3] - f[2]);
    return a + w[2] * (b - a);
}

static double interpolate_far(const ty_slc_surface* s, const ty_octant* o, const double u[3])
{
    int corner[8];
    ty_octree_corners_of(&s->tree, o->id, corner);
    return blend(o, every_other(s->far.at, corner), every_other(s->far.at, corner + 1), u);
}

// Values at corners that were carried along for many steps may have grown larger than any distance:
// none may exceed the least of its leaf by more than the way there.
bool ty_slc_rough(const ty_slc_surface* s, const ty_octant* o, const double u[3], double* value)
{
    int corner[8];
    ty_octree_corners_of(&s->tree, o->id, corner);
    unsigned inside = s->tree.inside.at[o->id];
    if (inside != 0 && inside != 255) return false;
    double side = inside ? -1.0 : 1.0;
    four low = side * every_other(s->tree.corner_value.at, corner),
         high = side * every_other(s->tree.corner_value.at, corner + 1),
         least = least_of(low, high);
    double most = ty_min(ty_min(least[0], least[1]), ty_min(least[2], least[3])) +
                  sqrt(3.0) * s->tree.cell * (1 << o->level);
    four all = {most, most, most, most};
    *value = side * blend(o, least_of(low, all), least_of(high, all), u);
    return true;
}

bool ty_slc_told(const ty_slc_surface* s, const ty_octant* o, const double u[3], double* value)
{
    if (o->level <= TY_SLC_EXACT_LEVEL)
        return ty_slc_rough(s, o, u, value) && fabs(*value) > ENOUGH_THIN * s->tree.cell;
    *value = interpolate_far(s, o, u);
    return true;
}

// Where to put the answers about a chunk of points. Value.
typedef struct answers {
    double* value;
    int* triangle;    // or NULL
    double (*closest)[3];
} answers;

// Point i, at x, is `distance` from the flat triangles: closest to `point` of triangle t.
static void answer(const ty_slc_surface* s, const answers* to, int i, const double x[3],
                   double distance, int t, const double point[3])
{
    to->value[i] = t >= 0 ? distance - ty_slc_bulge(s, t, point) : distance;
    if (t >= 0 && s->sharp.n) to->value[i] = ty_slc_sharp(s, t, x, distance, to->value[i]);
    if (t >= 0 && s->inset.n) to->value[i] += ty_slc_value_at(&s->mesh, s->inset.at, t, point);
    if (!to->triangle) return;
    to->triangle[i] = t;
    memcpy(to->closest[i], point, 3 * sizeof *point);
}

// Where the last points were.
typedef struct places {
    ty_octree_cursor leaf;
    ty_slc_walk foot;
} places;

// Whether the values at the corners, or the triangles of the cells around x, give the answer about
// point i; and whether the tree holds it.
static bool answer_by_tree(const ty_slc_surface* s, places* at_last, double enough,
                           const double x[3], const answers* to, int i, bool* in_tree)
{
    int at[3];
    double point[3], u[3];
    ty_slc_foot foot;
    ty_octree_cells_of(&s->tree, x, u, at);
    ty_octant o = ty_octree_leaf(&s->tree, &at_last->leaf, at);
    if (to->triangle) to->triangle[i] = -1;
    *in_tree = o.id >= 0;
    if (!*in_tree) return false;
    if (o.level > TY_SLC_EXACT_LEVEL) {
        to->value[i] = interpolate_far(s, &o, u);
        return true;
    }
    if (enough < INFINITY && ty_slc_rough(s, &o, u, &to->value[i]) && fabs(to->value[i]) > enough)
        return true;
    if (!ty_slc_foot_near(s, &at_last->foot, &o, x, u, &foot)) return false;
    double distance = sqrt(foot.at.distance2);
    ty_store3(point, foot.at.point);
    bool inside = ty_mesh_distance_inside(&s->exact, x, foot.triangle, &foot.at);
    answer(s, to, i, x, inside ? -distance : distance, foot.triangle, point);
    return true;
}

// Points of a chunk to ask the hierarchy about.
typedef struct asked {
    int n, id[CHUNK];
    double x[CHUNK][3];
} asked;

static void ask(asked* a, int i, const double x[3])
{
    memcpy(a->x[a->n], x, sizeof a->x[0]);
    a->id[a->n++] = i;
}

// For a remake, of points outside of the tree: they are outside the liquid, and those beyond BEYOND
// need no more than a distance from below. Others are asked exactly.
static void answer_outside(const ty_slc_surface* s, const asked* a, double* value, asked* exactly)
{
    double distance2[CHUNK];
    if (a->n == 0) return;
    ty_bvh_nearly_closest(&s->exact.bvh, a->n, a->x, TOLERANCE,
                          &(ty_closest_points){.distance2 = distance2});
    for (int k = 0; k < a->n; ++k) {
        double least = sqrt(distance2[k]) / (1.0 + TOLERANCE);
        if (least > BEYOND * s->tree.cell) value[a->id[k]] = least;
        else ask(exactly, a->id[k], a->x[k]);
    }
}

static void distance_chunk(const ty_slc_surface* s, places* at_last, double enough, int n,
                           const double (*x)[3], const answers* to)
{
    double value[CHUNK], point[CHUNK][3];
    int tri[CHUNK];
    asked near, outside;
    near.n = outside.n = 0;
    for (int i = 0; i < n; ++i) {
        bool in_tree;
        if (answer_by_tree(s, at_last, enough, x[i], to, i, &in_tree)) continue;
        ask(in_tree || enough == INFINITY ? &near : &outside, i, x[i]);
    }
    answer_outside(s, &outside, to->value, &near);
    ty_closest_points points = {.triangle = tri, .point = point};
    ty_mesh_distance_eval(&s->exact, near.n, near.x, value, &points);
    for (int k = 0; k < near.n; ++k)
        answer(s, to, near.id[k], near.x[k], value[k], tri[k], point[k]);
}

// enough: of |value|, from where on the corners may tell it.
static void distances(const ty_slc_surface* s, double enough, int n, const double (*x)[3],
                      double* out, int* triangle, double (*closest)[3])
{
    places at_last = {ty_octree_cursor_start(), ty_slc_walk_start()};
    for (int at = 0; at < n; at += CHUNK) {
        int count = n - at < CHUNK ? n - at : CHUNK;
        if (s->mesh.n_tris == 0) {
            for (int i = 0; i < count; ++i) out[at + i] = TY_FAR;
            for (int i = 0; triangle && i < count; ++i) triangle[at + i] = -1;
            continue;
        }
        answers to = {out + at, triangle ? triangle + at : NULL, closest ? closest + at : NULL};
        distance_chunk(s, &at_last, enough, count, x + at, &to);
    }
}

void ty_slc_distance(const ty_slc_surface* s, int n, const double (*x)[3], double* out,
                     int* triangle, double (*closest)[3])
{
    distances(s, INFINITY, n, x, out, triangle, closest);
}

void ty_slc_rough_distance(const ty_slc_surface* s, int n, const double (*x)[3], double* out,
                           int* triangle, double (*closest)[3])
{
    distances(s, ENOUGH_THIN * s->tree.cell, n, x, out, triangle, closest);
}

void ty_slc_distance_within(const ty_slc_surface* s, double band, int n, const double (*x)[3],
                            double* out)
{
    distances(s, band, n, x, out, NULL, NULL);
}

double ty_slc_rough_band(const ty_slc* s)
{
    bool thin = s->fat.n || s->later.n || s->now.inset.n;
    return (thin ? ENOUGH_THIN : ENOUGH) * s->now.tree.cell;
}

void ty_slc_fat_distance(const ty_slc* s, bool rough, int n, const double (*x)[3], double* out)
{
    double point[CHUNK][3];
    int tri[CHUNK];
    double enough = rough ? ty_slc_rough_band(s) : INFINITY;
    if (s->fat.n == 0 && s->later.n == 0) {
        distances(&s->now, enough, n, x, out, NULL, NULL);
        return;
    }
    for (int at = 0; at < n; at += CHUNK) {
        int count = n - at < CHUNK ? n - at : CHUNK;
        distances(&s->now, enough, count, x + at, out + at, tri, point);
        for (int i = 0; i < count; ++i) {
            if (tri[i] < 0) continue;
            if (s->fat.n) out[at + i] -= ty_slc_value_at(&s->now.mesh, s->fat.at, tri[i], point[i]);
            if (s->later.n)
                out[at + i] -= ty_slc_value_at(&s->now.mesh, s->later.at, tri[i], point[i]);
        }
    }
}

static void sample(const void* self, int n, const double (*x)[3], double* out)
{
    ty_slc_distance(self, n, x, out, NULL, NULL);
}

ty_sampler ty_slc_distance_sampler(const ty_slc_surface* s)
{
    return (ty_sampler){.self = s, .width = 1, .exact_band = s->tree.cell, .eval = sample};
}

// Which corners have to know their distance, and where they are.
static ty_status list_corners(ty_slc_surface* s, uint8_t* wanted)
{
    ty_octree* t = &s->tree;
    int64_t first = t->n_levels > TY_SLC_EXACT_LEVEL + 1 ? t->level[TY_SLC_EXACT_LEVEL + 1].first
                                                         : t->n_octants;
    memset(wanted, 0, (size_t)t->corners.n);
    for (int64_t i = ty_octree_corner_at(t, first, 0); i < t->corner.n; ++i)
        if (t->corner.at[i] >= 0) wanted[t->corner.at[i]] = 1;
    ty_lattice_walk walk = {0};
    s->id.n = s->point.n = 0;
    for (int c = 0; c < t->corners.n; ++c) {
        if (!wanted[c]) continue;
        const int* x = ty_lattice_walk_to(&t->corners, &walk, c);
        if (!ty_array_push(&s->id, c) || !ty_array_reserve(&s->point, s->point.n + 3))
            return ty_no_memory("distances far from the surface");
        ty_store3(s->point.at + s->point.n, ty_octree_point(t, ty_vec(x[0], x[1], x[2])));
        s->point.n += 3;
    }
    return ty_ok();
}

// Of the corners listed: a triangle nearly as close as any, and how far it is.
typedef struct nearly {
    ty_slc_surface* s;
    double* distance2;
    int* triangle;
} nearly;

// The plane of a triangle to the side of a corner's foot is as far as the surface where that is flat,
// and no farther than the triangle. So the error is half of TOLERANCE at edges, and elsewhere what the
// surface bends within half of the distance.
static void far_block(void* ctx, ty_range r)
{
    const nearly* k = ctx;
    ty_slc_surface* s = k->s;
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* v = s->mesh.tri[k->triangle[i]];
        ty_vec3 a = ty_load3(s->mesh.vert[v[0]]);
        ty_vec3 normal = ty_cross(ty_load3(s->mesh.vert[v[1]]) - a,
                                  ty_load3(s->mesh.vert[v[2]]) - a);
        double found = sqrt(k->distance2[i]), size = ty_norm(normal);
        double plane = fabs(ty_dot(normal, ty_load3(s->point.at + 3 * i) - a)) / size;
        double likely = found / (1.0 + 0.5 * TOLERANCE), d = plane > likely ? plane : likely;
        int corner = s->id.at[i];
        s->far.at[corner] = copysign(d < found ? d : found, s->tree.corner_value.at[corner]);
    }
}

static ty_status fill_far(ty_slc_surface* s)
{
    ty_octree* t = &s->tree;
    if (!ty_array_resize(&s->far, t->corners.n) ||
        !ty_array_resize(&t->active_corner, t->corners.n))
        return ty_no_memory("distances far from the surface");
    TY_TRY(list_corners(s, t->active_corner.at));
    nearly k = {s, ty_alloc((size_t)s->id.n, sizeof *k.distance2),
                ty_alloc((size_t)s->id.n, sizeof *k.triangle)};
    bool ok = k.distance2 && k.triangle;
    if (ok) {
        ty_bvh_nearly_closest(
            &s->exact.bvh, (int)s->id.n, (const double(*)[3])s->point.at, TOLERANCE,
            &(ty_closest_points){.distance2 = k.distance2, .triangle = k.triangle});
        ty_parallel_for(s->id.n, CHUNK, far_block, &k);
    }
    ty_free(k.distance2);
    ty_free(k.triangle);
    return ok ? ty_ok() : ty_no_memory("distances far from the surface");
}

ty_status ty_slc_surface_finish(ty_slc_surface* s)
{
    if (s->mesh.n_tris == 0) return ty_ok();
    ty_mesh_distance_def def = ty_mesh_distance_default();
    def.sign = TY_SIGN_NORMALS;
    def.contoured = true;
    def.cell = s->tree.cell;
    memcpy(def.origin, s->tree.origin, sizeof def.origin);
    TY_TRY(ty_mesh_distance_build(&s->exact, &def, s->mesh.n_verts,
                                  (const double(*)[3])s->mesh.vert, s->mesh.n_tris,
                                  (const int(*)[3])s->mesh.tri));
    TY_TRY(ty_slc_index_cells(s));
    return fill_far(s);
}

static ty_status archive_attributes(ty_tri_mesh* m, ty_archive* ar)
{
    int n = m->n_attrs;
    TY_TRY(ty_archive_i32(ar, "contour.attributes", &n, 1));
    if (n < 0 || n > TY_MAX_ATTRIBUTES)
        return ty_fail(TY_DAMAGED, "the surface has %d attributes", n);
    for (int i = 0; i < n; ++i) {
        char name[24] = {0};
        int width = 0;
        if (!ar->loading) {
            memcpy(name, m->attr[i].name, sizeof name);
            width = m->attr[i].width;
        }
        TY_TRY(ty_archive_fixed(ar, "contour.name", name, sizeof name, 1));
        TY_TRY(ty_archive_i32(ar, "contour.width", &width, 1));
        if (width < 1 || width > 16 || name[23])
            return ty_fail(TY_DAMAGED, "an attribute of width %d", width);
        float* values = ar->loading ? ty_tri_mesh_add_attribute(m, name, width) : m->attr[i].values;
        if (!values) return ty_no_memory("the surface's attributes");
        TY_TRY(ty_archive_fixed(ar, "contour.values", values, (int64_t)m->n_verts * width,
                                sizeof(float)));
    }
    return ty_ok();
}

static ty_status archive_sharp(ty_slc_surface* s, ty_archive* ar)
{
    TY_TRY(ty_archive_growing(ar, "contour.sharp", &s->sharp));
    TY_TRY(ty_archive_growing(ar, "contour.sharp_vert", &s->sharp_vert));
    bool fits = s->sharp.n == 4 * s->sharp_vert.n;
    for (int64_t i = 0; i < s->sharp_vert.n; ++i)
        fits &= s->sharp_vert.at[i] >= 0 && s->sharp_vert.at[i] < s->mesh.n_verts;
    return fits ? ty_ok() : ty_fail(TY_DAMAGED, "the surface's edges do not fit it");
}

ty_status ty_slc_surface_archive(ty_slc_surface* s, ty_archive* ar)
{
    ty_tri_mesh* m = &s->mesh;
    int count[2] = {m->n_verts, m->n_tris};
    TY_TRY(ty_archive_i32(ar, "contour.counts", count, 2));
    if (count[0] < 0 || count[1] < 0)
        return ty_fail(TY_DAMAGED, "the surface has %d vertices", count[0]);
    if (ar->loading) m->n_attrs = 0;
    if (ar->loading) TY_TRY(ty_tri_mesh_resize(m, count[0], count[1]));
    TY_TRY(ty_archive_fixed(ar, "contour.verts", m->vert, m->n_verts, sizeof *m->vert));
    TY_TRY(ty_archive_fixed(ar, "contour.tris", m->tri, m->n_tris, sizeof *m->tri));
    TY_TRY(archive_attributes(m, ar));
    TY_TRY(ty_archive_growing(ar, "contour.inset", &s->inset));
    if (s->inset.n && s->inset.n != m->n_verts)
        return ty_fail(TY_DAMAGED, "the surface's insets do not fit it");
    TY_TRY(archive_sharp(s, ar));
    TY_TRY(ty_octree_archive(&s->tree, ar));
    TY_TRY(ty_archive_growing(ar, "contour.corner_values", &s->tree.corner_value));
    if (s->tree.corner_value.n != s->tree.corners.n)
        return ty_fail(TY_DAMAGED, "the surface's octree has wrong values");
    if (!ar->loading) return ty_ok();
    TY_TRY(ty_octree_find_corners(&s->tree));
    TY_TRY(ty_slc_bend(s, NULL));
    return ty_slc_surface_finish(s);
}
