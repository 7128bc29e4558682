// SPDX-License-Identifier: Apache-2.0
// Surfaces to integrate over: a box's faces, else the contour of the distance.
#include <string.h>

#include "mesh/contour.h"
#include "world/world_state.h"

// Squares along an edge of a box's face, each with two by two points of Gauss' rule: cubics are
// exact. Cells along the longest side of any other shape: the cross-section of spheres and
// cylinders is right to 1e-3.
enum { FACE_SQUARES = 24, CONTOUR_CELLS = 64, MARGIN = 2 };
// Sqrt(1/12): from the middle of a unit interval
static const double GAUSS = 0.28867513459481287;

// Where a facet is this close (cosine) to the shape's own normal it takes that one: facets of a
// smooth side are tilted to and fro by O(cell), and the positive part of v.n would count only one
// of the two. At edges the facet stays.
static const double SMOOTH = 0.94;
static const double GRADIENT_STEP = 1e-3;    // cells

void ty_patches_free(ty_patches* p)
{
    ty_array_free(&p->point);
    ty_array_free(&p->area);
}

static bool push3(ty_patches* p, ty_vec3 point, ty_vec3 area)
{
    bool ok = ty_array_reserve(&p->point, p->point.n + 3) &&
              ty_array_reserve(&p->area, p->area.n + 3);
    for (int i = 0; ok && i < 3; ++i) {
        p->point.at[p->point.n++] = point[i];
        p->area.at[p->area.n++] = area[i];
    }
    return ok;
}

static bool push_face(ty_patches* p, const ty_shape_def* box, int side)
{
    int axis = side / 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
    double db = (box->max[b] - box->min[b]) / FACE_SQUARES,
           dc = (box->max[c] - box->min[c]) / FACE_SQUARES;
    ty_vec3 area = ty_vec(0, 0, 0), x = ty_vec(0, 0, 0);
    area[axis] = (side % 2 ? 0.25 : -0.25) * db * dc;
    x[axis] = side % 2 ? box->max[axis] : box->min[axis];
    for (int k = 0; k < 4 * FACE_SQUARES * FACE_SQUARES; ++k) {
        int square = k / 4;
        x[b] = box->min[b] + (square % FACE_SQUARES + 0.5 + (k & 1 ? GAUSS : -GAUSS)) * db;
        x[c] = box->min[c] + (square / FACE_SQUARES + 0.5 + (k & 2 ? GAUSS : -GAUSS)) * dc;
        if (!push3(p, x, area)) return false;
    }
    return true;
}

static ty_status box_patches(ty_patches* p, const ty_shape_def* box)
{
    for (int side = 0; side < TY_N_SIDES; ++side)
        if (!push_face(p, box, side)) return ty_no_memory("source surface");
    return ty_ok();
}

static ty_contour_lattice lattice_over(const ty_box* b)
{
    ty_contour_lattice l = {0};
    double longest = 0.0;
    for (int axis = 0; axis < 3; ++axis) longest = fmax(longest, b->hi[axis] - b->lo[axis]);
    l.cell = longest / CONTOUR_CELLS;
    for (int axis = 0; axis < 3; ++axis) {
        double cells = ceil((b->hi[axis] - b->lo[axis]) / l.cell) + 2 * MARGIN;
        l.n[axis] = (int)cells + 1;
        l.origin[axis] = 0.5 * (b->lo[axis] + b->hi[axis] - cells * l.cell);
    }
    return l;
}

static void fill_values(const ty_contour_lattice* l, const ty_shape* shape, double* values)
{
    int64_t n = (int64_t)l->n[0] * l->n[1] * l->n[2];
    double x[TY_SAMPLE_BATCH][3];
    for (int64_t at = 0; at < n; at += TY_SAMPLE_BATCH) {
        int m = n - at < TY_SAMPLE_BATCH ? (int)(n - at) : TY_SAMPLE_BATCH;
        for (int i = 0; i < m; ++i) {
            int64_t k = at + i;
            const int64_t id[3] = {k % l->n[0], k / l->n[0] % l->n[1], k / l->n[0] / l->n[1]};
            for (int axis = 0; axis < 3; ++axis)
                x[i][axis] = l->origin[axis] + l->cell * (double)id[axis];
        }
        ty_shape_distance(shape, m, (const double(*)[3])x, values + at);
    }
}

static ty_vec3 shape_normal(const ty_shape* shape, ty_vec3 x, double h)
{
    double at[6][3], d[6];
    for (int k = 0; k < 6; ++k) {
        ty_store3(at[k], x);
        at[k][k / 2] += k % 2 ? h : -h;
    }
    ty_shape_distance(shape, 6, (const double(*)[3])at, d);
    return ty_normalize(ty_vec(d[1] - d[0], d[3] - d[2], d[5] - d[4]));
}

// A triangle's middle and area vector, back in the space before the shape's own motion.
static bool push_triangle(ty_patches* p, const ty_tri_mesh* m, int t, const ty_shape* shape,
                          double h)
{
    const ty_pose* pose = &shape->pose;
    ty_vec3 a = ty_load3(m->vert[m->tri[t][0]]), b = ty_load3(m->vert[m->tri[t][1]]);
    ty_vec3 c = ty_load3(m->vert[m->tri[t][2]]), middle = (a + b + c) / 3.0;
    ty_vec3 area = 0.5 * ty_cross(b - a, c - a), normal = shape_normal(shape, middle, h);
    double size = ty_norm(area);
    if (ty_dot(area, normal) > SMOOTH * size) area = size * normal;
    ty_vec3 back = area[0] * pose->turn[0] + area[1] * pose->turn[1] + area[2] * pose->turn[2];
    return push3(p, ty_pose_undo(pose, middle), back / (pose->scale * pose->scale));
}

static ty_status contour_patches(ty_patches* p, const ty_shape* shape, const ty_box* box)
{
    ty_contour_lattice lattice = lattice_over(box);
    ty_contour contour = {0};
    ty_tri_mesh mesh = {0};
    double* values = ty_alloc((size_t)lattice.n[0] * (size_t)lattice.n[1] * (size_t)lattice.n[2],
                              sizeof *values);
    ty_status status = ty_no_memory("source surface");
    if (!values) goto done;
    fill_values(&lattice, shape, values);
    lattice.values = values;
    ty_sampler distance = ty_shape_sampler(shape);
    TY_TRY_GOTO(status, ty_contour_grid(&contour, &lattice, &distance, TY_CONTOUR_REFINE, &mesh),
                done);
    for (int t = 0; t < mesh.n_tris && status.code == TY_OK; ++t)
        if (!push_triangle(p, &mesh, t, shape, GRADIENT_STEP * lattice.cell))
            status = ty_no_memory("source surface");
done:
    ty_free(values);
    ty_contour_free(&contour);
    ty_tri_mesh_free(&mesh);
    return status;
}

ty_status ty_patches_make(ty_patches* p, const ty_shape* shape, const ty_box* within)
{
    p->point.n = p->area.n = 0;
    if (shape->def->kind == TY_SHAPE_BOX && !shape->def->invert) return box_patches(p, shape->def);
    ty_box box = ty_shape_bounds(shape);
    if (!ty_box_is_finite(&box)) box = ty_box_intersect(&box, within);
    const ty_place* place = &shape->def->place;
    if (!ty_box_is_finite(&box))
        return ty_fail_at(
            TY_BAD_INPUT, place->file, place->line, place->column,
            "a source without an end; give the scene a domain or intersect the shape with a box");
    return ty_box_is_empty(&box) ? ty_ok() : contour_patches(p, shape, &box);
}
