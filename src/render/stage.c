// SPDX-License-Identifier: Apache-2.0
#include "render/stage.h"

#include "render/optics.h"

// Of the scene's size: ten times the rounding of a float there
static const double OFFSET = 2e-6;
enum { MAX_SHADOW_HITS = 24 };    // a shadow ray that meets more is dark

ty_status ty_stage_create(ty_stage* stage, int up, double scale)
{
    *stage = (ty_stage){.up = up, .scale = scale, .sky = ty_sky_studio(up)};
    stage->device = rtcNewDevice("threads=1,set_affinity=0");
    if (stage->device) stage->scene = rtcNewScene(stage->device);
    if (!stage->scene) return ty_fail(TY_NO_MEMORY, "Embree could not be started");
    rtcSetSceneFlags(stage->scene, RTC_SCENE_FLAG_ROBUST);
    return ty_ok();
}

void ty_stage_destroy(ty_stage* stage)
{
    for (int64_t i = 0; i < stage->bodies.n; ++i) {
        ty_free(stage->bodies.at[i].normal);
        ty_free(stage->bodies.at[i].corner);
    }
    ty_array_free(&stage->bodies);
    ty_free(stage->sun_map.share);
    if (stage->scene) rtcReleaseScene(stage->scene);
    if (stage->device) rtcReleaseDevice(stage->device);
    *stage = (ty_stage){0};
}

static bool put_verts(RTCGeometry g, unsigned slot, int n, const double (*vert)[3])
{
    float* to = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, slot, RTC_FORMAT_FLOAT3, 12,
                                        (size_t)n);
    if (!to) return false;
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) to[3 * i + axis] = (float)vert[i][axis];
    return true;
}

static bool put_tris(RTCGeometry g, int n, const int (*tri)[3])
{
    unsigned* to = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12,
                                           (size_t)n);
    if (!to) return false;
    for (int i = 0; i < n; ++i)
        for (int corner = 0; corner < 3; ++corner) to[3 * i + corner] = (unsigned)tri[i][corner];
    return true;
}

static bool attach(ty_stage* stage, const ty_stage_mesh* mesh, unsigned id)
{
    RTCGeometry g = rtcNewGeometry(stage->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (!g) return false;
    if (mesh->end) rtcSetGeometryTimeStepCount(g, 2);
    bool ok = put_verts(g, 0, mesh->n_verts, mesh->vert) && put_tris(g, mesh->n_tris, mesh->tri);
    if (ok && mesh->end) ok = put_verts(g, 1, mesh->n_verts, mesh->end);
    if (ok) {
        rtcCommitGeometry(g);
        rtcAttachGeometryByID(stage->scene, g, id);
    }
    rtcReleaseGeometry(g);
    return ok;
}

static bool copy_body(ty_stage_body* body, const ty_stage_mesh* mesh)
{
    size_t n = 3 * (size_t)mesh->n_tris;
    body->matter = mesh->matter;
    if (mesh->normal) {
        body->normal = ty_alloc(n, sizeof *body->normal);
        if (!body->normal) return false;
        for (size_t i = 0; i < n; ++i)
            for (int axis = 0; axis < 3; ++axis) body->normal[i][axis] = mesh->normal[i][axis];
    }
    if (!mesh->matter.lines) return true;
    body->corner = ty_alloc(n, sizeof *body->corner);
    if (!body->corner) return false;
    for (size_t i = 0; i < n; ++i)
        ty_store3(body->corner[i], ty_load3(mesh->vert[mesh->tri[i / 3][i % 3]]));
    return true;
}

ty_status ty_stage_add(ty_stage* stage, const ty_stage_mesh* mesh)
{
    if (mesh->n_tris == 0) return ty_ok();
    ty_stage_body body = {0};
    if (!copy_body(&body, mesh) || !ty_array_push(&stage->bodies, body)) {
        ty_free(body.normal);
        ty_free(body.corner);
        return ty_no_memory("the stage");
    }
    return attach(stage, mesh, (unsigned)(stage->bodies.n - 1)) ? ty_ok() : ty_no_memory("rays");
}

ty_status ty_stage_commit(ty_stage* stage)
{
    rtcCommitScene(stage->scene);
    return rtcGetDeviceError(stage->device) == RTC_ERROR_NONE ? ty_ok() : ty_no_memory("rays");
}

// Interpolated, and turned to the triangle's side where interpolation went over the edge.
static ty_vec3 shading_normal(const ty_stage_body* body, const struct RTCHit* h, ty_vec3 face)
{
    if (!body->normal) return face;
    const float(*n)[3] = (const float(*)[3])body->normal + 3 * (size_t)h->primID;
    double u = h->u, v = h->v, w = 1.0 - u - v;
    ty_vec3 mean = ty_vec(w * n[0][0] + u * n[1][0] + v * n[2][0],
                          w * n[0][1] + u * n[1][1] + v * n[2][1],
                          w * n[0][2] + u * n[1][2] + v * n[2][2]);
    mean = ty_normalize(mean);
    return ty_dot(mean, face) > 0.0 ? mean : face;
}

static double edge_distance(const ty_stage_body* body, unsigned tri, ty_vec3 at)
{
    const double(*c)[3] = (const double(*)[3])body->corner + 3 * (size_t)tri;
    double nearest = INFINITY;
    for (int i = 0; i < 3; ++i) {
        ty_vec3 a = ty_load3(c[i]), edge = ty_normalize(ty_load3(c[(i + 1) % 3]) - a);
        nearest = fmin(nearest, ty_norm(ty_cross(edge, at - a)));
    }
    return nearest;
}

static double ground_fade(const ty_ground* ground, ty_vec3 at)
{
    double u = (ty_norm(at - ground->centre) - ground->fade_from) /
               (ground->fade_to - ground->fade_from);
    u = ty_clamp(u, 0.0, 1.0);
    return u * u * (3.0 - 2.0 * u);
}

static void meet_ground(const ty_stage* stage, ty_vec3 from, ty_vec3 dir, ty_hit* hit)
{
    const ty_ground* ground = &stage->ground;
    double fall = dir[stage->up], t = (ground->height - from[stage->up]) / fall;
    if (!ground->there || fall >= 0.0 || !(t > 0.0) || t >= hit->t) return;
    ty_vec3 up = ty_vec(0, 0, 0);
    up[stage->up] = 1.0;
    *hit = (ty_hit){
        .t = t, .at = from + t * dir, .face = up, .normal = up, .matter = &ground->matter};
    hit->at[stage->up] = ground->height;
    hit->fade = ground_fade(ground, hit->at);
}

ty_hit ty_stage_trace(const ty_stage* stage, ty_vec3 from, ty_vec3 dir, double time)
{
    struct RTCRayHit r = {.ray = {.org_x = (float)from[0],
                                  .org_y = (float)from[1],
                                  .org_z = (float)from[2],
                                  .dir_x = (float)dir[0],
                                  .dir_y = (float)dir[1],
                                  .dir_z = (float)dir[2],
                                  .time = (float)time,
                                  .tfar = INFINITY,
                                  .mask = ~0u}};
    r.hit.geomID = r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(stage->scene, &context, &r);
    ty_hit hit = {.t = INFINITY};
    if (r.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
        const ty_stage_body* body = &stage->bodies.at[r.hit.geomID];
        hit.t = r.ray.tfar;
        hit.at = from + hit.t * dir;
        hit.face = ty_normalize(ty_vec(r.hit.Ng_x, r.hit.Ng_y, r.hit.Ng_z));
        hit.normal = shading_normal(body, &r.hit, hit.face);
        hit.matter = &body->matter;
        if (body->corner) hit.edge = edge_distance(body, r.hit.primID, hit.at);
    }
    meet_ground(stage, from, dir, &hit);
    return hit;
}

bool ty_stage_in_liquid(const ty_stage* stage, ty_vec3 at)
{
    ty_vec3 up = ty_vec(0, 0, 0);
    up[stage->up] = 1.0;
    for (int i = 0; i < MAX_SHADOW_HITS; ++i) {
        ty_hit hit = ty_stage_trace(stage, at, up, 0.5);
        if (hit.t == INFINITY) return false;
        if (hit.matter->kind == TY_CLEAR) return hit.face[stage->up] > 0.0;
        at = ty_stage_leave(stage, &hit, up);
    }
    return false;
}

ty_vec3 ty_stage_leave(const ty_stage* stage, const ty_hit* hit, ty_vec3 dir)
{
    double offset = OFFSET * stage->scale;
    return hit->at + (ty_dot(dir, hit->face) < 0.0 ? -offset : offset) * hit->face;
}

static ty_vec3 absorbed(const ty_stage* stage, double t)
{
    ty_vec3 a = stage->absorption;
    return ty_vec(exp(-a[0] * t), exp(-a[1] * t), exp(-a[2] * t));
}

ty_vec3 ty_stage_passes(const ty_stage* stage, ty_vec3 from, ty_vec3 dir, double time,
                        bool in_water)
{
    ty_vec3 share = ty_vec(1, 1, 1);
    for (int i = 0; i < MAX_SHADOW_HITS; ++i) {
        ty_hit hit = ty_stage_trace(stage, from, dir, time);
        if (hit.t == INFINITY) return share;
        double cosine = fabs(ty_dot(dir, hit.normal));
        if (in_water) share *= absorbed(stage, hit.t);
        if (hit.matter->kind == TY_MATTE) break;
        if (hit.matter->kind == TY_PANE) {
            share *= (1.0 - ty_pane_reflects(cosine)) * hit.matter->colour;
        } else {
            share *= 1.0 - ty_fresnel(cosine, TY_WATER_INDEX);
            in_water = ty_dot(dir, hit.face) < 0.0;
        }
        from = ty_stage_leave(stage, &hit, dir);
    }
    return ty_vec(0, 0, 0);
}
