// SPDX-License-Identifier: Apache-2.0
// Caustics: rays of the sun, refracted by the liquid, counted where they land [Arvo1986].
#include "core/parallel.h"
#include "render/optics.h"
#include "render/random.h"
#include "render/stage.h"

enum { CELLS = 224, RAYS_ACROSS = 640, MAX_HITS = 12, SEED = 77, BLUR_PASSES = 1 };

// Part of the sun's disc that is used: the whole one would blur all but the finest pattern away.
static const double SHARPER = 0.35;
static const double WIDER = 1.3;

typedef struct landing {
    float at[2], share;
} landing;

typedef struct map_job {
    const ty_stage* stage;
    ty_vec3 corner, along[2];    // the window through which the sun shines
    double height;
    landing* landings;    // RAYS_ACROSS squared
} map_job;

static bool bend(const ty_hit* hit, ty_vec3* dir, double* share)
{
    bool entering = ty_dot(*dir, hit->face) < 0.0;
    ty_vec3 normal = entering ? hit->normal : -hit->normal;
    if (ty_dot(*dir, normal) >= 0.0) normal = entering ? hit->face : -hit->face;
    double eta = entering ? TY_WATER_INDEX : 1.0 / TY_WATER_INDEX;
    *share *= 1.0 - ty_fresnel(-ty_dot(*dir, normal), eta);
    return ty_refract(*dir, normal, eta, dir);
}

// Where the light from `from` lands; share 0 when not on the floor.
static landing follow(const map_job* job, ty_vec3 from, ty_vec3 dir, double time)
{
    const ty_stage* stage = job->stage;
    bool in_water = false;
    double share = 1.0;
    for (int i = 0; i < MAX_HITS; ++i) {
        ty_hit hit = ty_stage_trace(stage, from, dir, time);
        if (hit.t == INFINITY) break;
        if (in_water) share *= exp(-stage->absorption[1] * hit.t);
        if (hit.matter->kind == TY_MATTE) {
            if (!hit.matter->mapped || fabs(hit.at[stage->up] - job->height) > 1e-4 * stage->scale)
                break;
            const int* axis = stage->sun_map.axis;
            return (landing){{(float)hit.at[axis[0]], (float)hit.at[axis[1]]}, (float)share};
        }
        if (hit.matter->kind == TY_PANE) {
            share *= 1.0 - ty_pane_reflects(fabs(ty_dot(dir, hit.face)));
        } else {
            if (!bend(&hit, &dir, &share)) break;
            in_water = ty_dot(dir, hit.face) < 0.0;
        }
        from = ty_stage_leave(stage, &hit, dir);
    }
    return (landing){{0, 0}, 0};
}

static void shine(void* ctx, ty_range r)
{
    map_job* job = ctx;
    const ty_sky* sky = &job->stage->sky;
    double cosine = 1.0 - SHARPER * SHARPER * (1.0 - sky->sun_cosine);
    for (int64_t row = r.begin; row < r.end; ++row)
        for (int column = 0; column < RAYS_ACROSS; ++column) {
            ty_random random = ty_random_at(column, (int)row, SEED, 0);
            double jitter[2], tilt[2], time[2];
            ty_random_pair(&random, jitter);
            ty_random_pair(&random, tilt);
            ty_random_pair(&random, time);
            ty_vec3 from = job->corner + (column + jitter[0]) / RAYS_ACROSS * job->along[0] +
                           ((double)row + jitter[1]) / RAYS_ACROSS * job->along[1];
            ty_vec3 dir = -ty_cone_direction(sky->sun_dir, cosine, tilt);
            job->landings[row * RAYS_ACROSS + column] = follow(
                job, from - 2.0 * job->stage->scale * dir, dir, time[0]);
        }
}

// In order of the rays, each shared out between the four nearest cells.
static void count(const map_job* job, ty_sun_map* map, double irradiance)
{
    for (int64_t i = 0; i < (int64_t)RAYS_ACROSS * RAYS_ACROSS; ++i) {
        const landing* l = &job->landings[i];
        double u = (l->at[0] - map->origin[0]) / map->cell - 0.5,
               v = (l->at[1] - map->origin[1]) / map->cell - 0.5;
        int x = (int)floor(u), y = (int)floor(v);
        for (int k = 0; l->share > 0 && k < 4; ++k) {
            int a = x + (k & 1), b = y + (k >> 1);
            if (a < 0 || b < 0 || a >= map->n[0] || b >= map->n[1]) continue;
            double w = (k & 1 ? u - x : 1.0 - (u - x)) * (k >> 1 ? v - y : 1.0 - (v - y));
            map->share[a + (int64_t)b * map->n[0]] += (float)(irradiance * w * (double)l->share);
        }
    }
}

// (1 2 1) / 4 along both axes.
static void blur(ty_sun_map* map)
{
    for (int axis = 0; axis < 2; ++axis) {
        int64_t step = axis ? map->n[0] : 1, across = axis ? 1 : map->n[0];
        for (int64_t line = 0; line < map->n[1 - axis]; ++line) {
            float before = map->share[line * across];
            for (int64_t i = 0; i < map->n[axis]; ++i) {
                float* at = &map->share[line * across + i * step];
                float own = *at, after = i + 1 < map->n[axis] ? at[step] : own;
                *at = 0.25f * (before + after) + 0.5f * own;
                before = own;
            }
        }
    }
}

// The window lies on the floor and is wider: water bends light to the floor that would have passed
// beside it.
static void open_window(map_job* job, const ty_box* floor, const ty_sun_map* map)
{
    job->corner = ty_load3(floor->lo);
    job->corner[job->stage->up] = job->height;
    for (int i = 0; i < 2; ++i) {
        int axis = map->axis[i];
        double length = floor->hi[axis] - floor->lo[axis];
        job->along[i] = ty_vec(0, 0, 0);
        job->along[i][axis] = WIDER * length;
        job->corner[axis] -= 0.5 * (WIDER - 1.0) * length;
    }
}

ty_status ty_stage_map_sun(ty_stage* stage, const ty_box* floor)
{
    ty_sun_map* map = &stage->sun_map;
    double side = 0.0, area = 1.0;
    for (int i = 0; i < 2; ++i) {
        map->axis[i] = (stage->up + 1 + i) % 3;
        map->origin[i] = floor->lo[map->axis[i]];
        double length = floor->hi[map->axis[i]] - map->origin[i];
        side = fmax(side, length);
        area *= length;
    }
    map->cell = side / CELLS;
    for (int i = 0; i < 2; ++i)
        map->n[i] = (int)ceil((floor->hi[map->axis[i]] - map->origin[i]) / map->cell - 1e-9);
    map->share = ty_alloc_zero((size_t)map->n[0] * (size_t)map->n[1], sizeof *map->share);
    map_job job = {.stage = stage, .height = floor->hi[stage->up]};
    job.landings = ty_alloc((size_t)RAYS_ACROSS * RAYS_ACROSS, sizeof *job.landings);
    bool ok = map->share && job.landings;
    if (ok) {
        open_window(&job, floor, map);
        ty_parallel_for(RAYS_ACROSS, 8, shine, &job);
        count(&job, map,
              WIDER * WIDER * area / ((double)RAYS_ACROSS * RAYS_ACROSS) / (map->cell * map->cell));
        for (int i = 0; i < BLUR_PASSES; ++i) blur(map);
    }
    ty_free(job.landings);
    return ok ? ty_ok() : ty_no_memory("the light on the floor");
}

double ty_sun_map_at(const ty_sun_map* map, ty_vec3 at)
{
    double u = ty_clamp((at[map->axis[0]] - map->origin[0]) / map->cell - 0.5, 0.0,
                        map->n[0] - 1.001);
    double v = ty_clamp((at[map->axis[1]] - map->origin[1]) / map->cell - 0.5, 0.0,
                        map->n[1] - 1.001);
    int x = (int)u, y = (int)v;
    const float* s = map->share + x + (int64_t)y * map->n[0];
    double a = s[0] + (u - x) * (double)(s[1] - s[0]);
    double b = s[map->n[0]] + (u - x) * (double)(s[map->n[0] + 1] - s[map->n[0]]);
    return a + (v - y) * (b - a);
}
