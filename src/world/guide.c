// SPDX-License-Identifier: Apache-2.0
// Liquid that is led along a surface: drawn to it from both sides, and driven along it.
#include "core/vec.h"
#include "geometry/sampler.h"
#include "world/force_kinds.h"
#include "world/mesh_body.h"

typedef struct guide {
    ty_tri_mesh mesh;
    ty_mesh_distance distance;
} guide;

ty_status ty_guide_create(void** self, const ty_force_def* def, double cell)
{
    (void)cell;
    const ty_place* p = &def->place;
    if (!def->file || !(def->radius > 0.0))
        return ty_fail_at(TY_BAD_INPUT, p->file, p->line, p->column,
                          "a guide needs a mesh 'file' and a 'radius' above 0");
    guide* g = ty_alloc_zero(1, sizeof *g);
    if (!g) return ty_no_memory("guide");
    *self = g;
    ty_status s = ty_mesh_body_read(&g->mesh, def->file, 1.0, (const double[3]){0, 0, 0});
    ty_sequence at = {.place = *p};
    if (s.code != TY_OK) return ty_sequence_fail(&at, &s);
    ty_mesh_distance_def unsigned_ = ty_mesh_distance_default();
    unsigned_.sign = TY_SIGN_NONE;
    return ty_mesh_distance_build(&g->distance, &unsigned_, g->mesh.n_verts,
                                  (const double(*)[3])g->mesh.vert, g->mesh.n_tris,
                                  (const int(*)[3])g->mesh.tri);
}

void ty_guide_destroy(void* self)
{
    guide* g = self;
    ty_mesh_distance_free(&g->distance);
    ty_tri_mesh_free(&g->mesh);
    ty_free(g);
}

static ty_vec3 face_normal(const ty_tri_mesh* m, int t)
{
    ty_vec3 a = ty_load3(m->vert[m->tri[t][0]]), b = ty_load3(m->vert[m->tri[t][1]]);
    return ty_normalize(ty_cross(b - a, ty_load3(m->vert[m->tri[t][2]]) - a));
}

void ty_guide_add(const void* self, const ty_force_def* def, const ty_force_points* at,
                  double (*a)[3])
{
    const guide* g = self;
    double d2[TY_SAMPLE_BATCH], point[TY_SAMPLE_BATCH][3];
    int triangle[TY_SAMPLE_BATCH];
    ty_closest_points closest = {.distance2 = d2, .triangle = triangle, .point = point};
    ty_bvh_closest(&g->distance.bvh, at->n, at->x, def->radius, &closest);
    for (int i = 0; i < at->n; ++i) {
        if (triangle[i] < 0) continue;
        ty_vec3 normal = face_normal(&g->mesh, triangle[i]), along = ty_load3(at->vector[i]);
        ty_vec3 pull = (ty_load3(point[i]) - ty_load3(at->x[i])) / def->radius;
        double scale = at->strength[i] * ty_force_reach(sqrt(d2[i]), def->radius);
        ty_store3(a[i], ty_load3(a[i]) + scale * (pull + along - ty_dot(along, normal) * normal));
    }
}
