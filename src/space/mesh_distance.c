// SPDX-License-Identifier: Apache-2.0
#include "space/mesh_distance.h"

#include <string.h>

#include "core/parallel.h"

// A pseudonormal within this of a right angle to the direction (cosine) decides nothing: normals
// are floats.
static const double UNDECIDED = 1e-5;

ty_mesh_distance_def ty_mesh_distance_default(void)
{
    return (ty_mesh_distance_def){.sign = TY_SIGN_AUTO, .winding_accuracy = TY_WINDING_ACCURACY};
}

static ty_status copy_arrays(ty_mesh_distance* d, int n_verts, const double (*vert)[3], int n_tris,
                             const int (*tri)[3])
{
    double(*v)[3] = ty_alloc((size_t)n_verts, sizeof *v);
    int(*t)[3] = ty_alloc((size_t)n_tris, sizeof *t);
    if (!v || !t) {
        ty_free(v);
        ty_free(t);
        return ty_no_memory("a copy of a mesh");
    }
    if (n_verts > 0) memcpy(v, vert, (size_t)n_verts * sizeof *v);
    if (n_tris > 0) memcpy(t, tri, (size_t)n_tris * sizeof *t);
    ty_free(d->vert_copy);
    ty_free(d->tri_copy);
    d->vert_copy = v;
    d->tri_copy = t;
    return ty_ok();
}

static ty_status choose_sign(ty_mesh_distance* d)
{
    const ty_bvh* b = &d->bvh;
    d->sign = d->def.sign;
    d->n_self_intersections = -1;
    if (d->sign == TY_SIGN_NORMALS && d->def.contoured)
        return ty_mesh_normals_prepare(&d->normals, b->n_verts, b->vert, b->n_tris, b->tri);
    if (d->sign == TY_SIGN_AUTO || d->sign == TY_SIGN_NORMALS)
        TY_TRY(ty_mesh_normals_build(&d->normals, b->n_verts, b->vert, b->n_tris, b->tri));
    if (d->sign == TY_SIGN_AUTO) {
        d->sign = TY_SIGN_WINDING;
        if (d->normals.watertight) {
            TY_TRY(ty_bvh_self_intersections(b, 0, NULL, &d->n_self_intersections));
            d->sign = d->n_self_intersections == 0 ? TY_SIGN_NORMALS : TY_SIGN_CROSSINGS;
        }
    }
    if (d->sign == TY_SIGN_WINDING) TY_TRY(ty_winding_build(&d->winding, b));
    return ty_ok();
}

ty_status ty_mesh_distance_build(ty_mesh_distance* d, const ty_mesh_distance_def* def, int n_verts,
                                 const double (*vert)[3], int n_tris, const int (*tri)[3])
{
    d->def = *def;
    d->bvh.n_nodes = 0;
    if (def->copy) {
        TY_TRY(copy_arrays(d, n_verts, vert, n_tris, tri));
        vert = (const double(*)[3])d->vert_copy;
        tri = (const int(*)[3])d->tri_copy;
    }
    if (def->contoured)
        TY_TRY(ty_bvh_build_ordered(&d->bvh, n_verts, vert, n_tris, tri, def->origin, def->cell));
    else TY_TRY(ty_bvh_build(&d->bvh, n_verts, vert, n_tris, tri));
    return choose_sign(d);
}

void ty_mesh_distance_free(ty_mesh_distance* d)
{
    ty_bvh_free(&d->bvh);
    ty_mesh_normals_free(&d->normals);
    ty_winding_free(&d->winding);
    ty_free(d->vert_copy);
    ty_free(d->tri_copy);
    *d = (ty_mesh_distance){0};
}

// Along no edge or symmetry that a modelled mesh is likely to have.
static bool inside_by_ray(const ty_bvh* b, ty_vec3 x)
{
    ty_vec3 direction = ty_vec(0.2928932, 0.8409641, 0.4548537);
    return ty_bvh_crossings(b, x, direction, 0.0, INFINITY, NULL) > 0;
}

static bool is_inside(const ty_mesh_distance* d, ty_vec3 x, int triangle, ty_vec3 point,
                      int feature)
{
    if (d->sign == TY_SIGN_CROSSINGS) return inside_by_ray(&d->bvh, x);
    if (d->sign == TY_SIGN_WINDING)
        return ty_winding_number(&d->winding, &d->bvh, x, d->def.winding_accuracy) >= 0.5;
    if (d->sign != TY_SIGN_NORMALS) return false;
    ty_vec3 normal = ty_mesh_normal(&d->normals, d->bvh.tri, triangle, feature), to = x - point;
    double along = ty_dot(normal, to);
    if (fabs(along) > UNDECIDED * ty_norm(normal) * ty_norm(to)) return along < 0.0;
    return inside_by_ray(&d->bvh, x);
}

// Straight above or below a triangle: its own normal, of any length, tells.
static bool is_below(const ty_mesh_distance* d, ty_vec3 to, int triangle, bool* below)
{
    const int* v = d->bvh.tri[triangle];
    ty_vec3 a = ty_load3(d->bvh.vert[v[0]]);
    ty_vec3 normal = ty_cross(ty_load3(d->bvh.vert[v[1]]) - a, ty_load3(d->bvh.vert[v[2]]) - a);
    double along = ty_dot(normal, to);
    *below = along < 0.0;
    return along * along > UNDECIDED * UNDECIDED * ty_dot(normal, normal) * ty_dot(to, to);
}

bool ty_mesh_distance_inside(const ty_mesh_distance* d, const double x[3], int triangle,
                             const ty_closest* place)
{
    bool below;
    if (d->sign == TY_SIGN_NORMALS && place->feature == TY_FACE &&
        is_below(d, ty_load3(x) - place->point, triangle, &below))
        return below;
    return place->distance2 > 0.0 &&
           is_inside(d, ty_load3(x), triangle, place->point, place->feature);
}

typedef struct evaluation {
    const ty_mesh_distance* d;
    const double (*x)[3];
    double* out;
    const ty_closest_points* points;
} evaluation;

// Points of one call that keep buffers on the stack small, and are worth ordering.
enum { SIGN_BLOCK = 2048 };

static void evaluate_block(void* ctx, ty_range r)
{
    const evaluation* e = ctx;
    double point[SIGN_BLOCK][3], distance2[SIGN_BLOCK];
    int triangle[SIGN_BLOCK], n = (int)(r.end - r.begin);
    unsigned char feature[SIGN_BLOCK];
    ty_closest_points closest = {distance2, triangle, point, feature};
    ty_bvh_closest(&e->d->bvh, n, e->x + r.begin, INFINITY, &closest);
    for (int i = 0; i < n; ++i) {
        double distance = sqrt(distance2[i]);
        bool inside = distance > 0.0 && triangle[i] >= 0 &&
                      is_inside(e->d, ty_load3(e->x[r.begin + i]), triangle[i], ty_load3(point[i]),
                                feature[i]);
        e->out[r.begin + i] = inside ? -distance : distance;
    }
    const ty_closest_points* to = e->points;
    if (!to) return;
    size_t count = (size_t)n;
    if (to->distance2) memcpy(to->distance2 + r.begin, distance2, count * sizeof *distance2);
    if (to->triangle) memcpy(to->triangle + r.begin, triangle, count * sizeof *triangle);
    if (to->point) memcpy(to->point + r.begin, point, count * sizeof *point);
    if (to->feature) memcpy(to->feature + r.begin, feature, count * sizeof *feature);
}

void ty_mesh_distance_eval(const ty_mesh_distance* d, int n, const double (*x)[3],
                           double* signed_distance, const ty_closest_points* out)
{
    evaluation e = {d, x, signed_distance, out};
    ty_parallel_for(n, SIGN_BLOCK, evaluate_block, &e);
}

static void sample(const void* self, int n, const double (*x)[3], double* out)
{
    ty_mesh_distance_eval(self, n, x, out, NULL);
}

ty_sampler ty_mesh_distance_sampler(const ty_mesh_distance* d)
{
    return (ty_sampler){.self = d, .width = 1, .exact_band = INFINITY, .eval = sample};
}
