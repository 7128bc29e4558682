// SPDX-License-Identifier: Apache-2.0
#include "render/trace.h"

#include "render/optics.h"

enum { MAX_BRANCHES = 8 };
// Of the sky that is taken to reach the last matte surface of a path
static const double LAST_SKY = 0.5;
// A way with less of the light is not worth a ray of its own
static const double SPLIT_SHARE = 0.04;

typedef struct branch {
    ty_vec3 from, dir, weight;
    bool in_water;
    bool clear;     // nothing matte so far: the sun's disc may be seen
    bool no_sun;    // its disc was counted at the last surface
    bool chance;    // a way was chosen at random: further mirrored suns would be sparks
    int depth, scatters, splits;
} branch;

typedef struct walk {
    const ty_stage* stage;
    const ty_trace_def* def;
    ty_random* random;
    double time;
    ty_vec3 light;
    ty_feature* feature;    // NULL once it is filled, and on branches
    branch waiting[MAX_BRANCHES];
    int n_waiting;
} walk;

ty_trace_def ty_trace_default(void)
{
    return (ty_trace_def){.max_depth = 14, .max_scatter = 1, .max_splits = 2};
}

static double largest(ty_vec3 a) { return ty_max(a[0], ty_max(a[1], a[2])); }

static void note_first(walk* w, const branch* b, const ty_hit* hit)
{
    if (!w->feature || b->depth > 0) return;
    w->feature->normal = hit->normal;
    w->feature->depth = hit->t;
}

static void note_deep(walk* w, ty_vec3 normal, ty_vec3 albedo)
{
    if (!w->feature) return;
    w->feature->deep_normal = normal;
    w->feature->albedo = albedo;
    w->feature->deep = true;
    w->feature = NULL;
}

static void see_sky(walk* w, const branch* b)
{
    w->light += b->weight * ty_sky_radiance(&w->stage->sky, b->dir);
    if (b->clear && !b->no_sun) w->light += b->weight * ty_sky_sun(&w->stage->sky, b->dir);
    note_deep(w, ty_vec(0, 0, 0), ty_vec(1, 1, 1));
}

// The reflection of the sun's disc is looked for at every clear surface: found at random it would
// be sparks.
static void see_sun_mirrored(walk* w, const branch* b, const ty_hit* hit, ty_vec3 mirrored,
                             double share)
{
    ty_vec3 sun = ty_sky_sun(&w->stage->sky, mirrored);
    if (!b->clear || b->chance || !(largest(sun) > 0.0)) return;
    ty_vec3 from = ty_stage_leave(w->stage, hit, mirrored);
    w->light += share * b->weight * sun *
                ty_stage_passes(w->stage, from, mirrored, w->time, b->in_water);
}

// Goes on along one of two ways, or along both. `share` of the light goes to `mirrored`.
static void part_ways(walk* w, branch* b, const ty_hit* hit, double share, ty_vec3 mirrored,
                      ty_vec3 through, bool through_in_water, ty_vec3 tint)
{
    branch away = *b;
    see_sun_mirrored(w, b, hit, mirrored, share);
    away.no_sun = true;
    away.dir = mirrored;
    away.from = ty_stage_leave(w->stage, hit, mirrored);
    b->no_sun = false;
    b->dir = through;
    b->from = ty_stage_leave(w->stage, hit, through);
    b->in_water = through_in_water;
    double least = ty_min(share, 1.0 - share) * largest(b->weight);
    if (b->splits > 0 && least > SPLIT_SHARE && w->n_waiting < MAX_BRANCHES) {
        away.weight *= share;
        --away.splits;
        --b->splits;
        w->waiting[w->n_waiting++] = away;
        b->weight *= (1.0 - share) * tint;
        return;
    }
    double u[2];
    ty_random_pair(w->random, u);
    if (u[0] < share) {
        *b = away;
        if (share < 0.5) w->feature = NULL;
    } else {
        b->weight *= tint;
    }
    b->chance |= share < 1.0;
}

static void meet_pane(walk* w, branch* b, const ty_hit* hit)
{
    double cosine = fabs(ty_dot(b->dir, hit->face));
    ty_vec3 mirrored = ty_reflect(b->dir, hit->face);
    part_ways(w, b, hit, ty_pane_reflects(cosine), mirrored, b->dir, b->in_water,
              hit->matter->colour);
}

// Directions from the smooth normal that end on the wrong side of the triangle are taken from the
// triangle's own.
static void meet_liquid(walk* w, branch* b, const ty_hit* hit)
{
    bool entering = ty_dot(b->dir, hit->face) < 0.0;
    ty_vec3 face = entering ? hit->face : -hit->face,
            normal = entering ? hit->normal : -hit->normal;
    if (ty_dot(b->dir, normal) >= 0.0) normal = face;
    double eta = entering ? TY_WATER_INDEX : 1.0 / TY_WATER_INDEX;
    double share = ty_fresnel(-ty_dot(b->dir, normal), eta);
    ty_vec3 mirrored = ty_reflect(b->dir, normal), through = b->dir;
    if (ty_dot(mirrored, face) <= 0.0) mirrored = ty_reflect(b->dir, face);
    b->in_water = !entering;
    if (share < 1.0 && ty_refract(b->dir, normal, eta, &through) && ty_dot(through, face) >= 0.0 &&
        !ty_refract(b->dir, face, eta, &through))
        share = 1.0;
    part_ways(w, b, hit, share, mirrored, through, entering, ty_vec(1, 1, 1));
}

static ty_vec3 albedo_at(const walk* w, const ty_hit* hit)
{
    if (hit->matter->lines && hit->edge < 0.45 * w->def->pixel * hit->t)
        return hit->matter->line_colour;
    return hit->matter->colour;
}

// What a white surface scatters of the sun.
static ty_vec3 sunlight(const walk* w, const branch* b, const ty_hit* hit, ty_vec3 from,
                        ty_vec3 normal, const double u[2])
{
    const ty_stage* stage = w->stage;
    const ty_sky* sky = &stage->sky;
    ty_vec3 sun = ty_cone_direction(sky->sun_dir, sky->sun_cosine, u);
    if (hit->matter->mapped && stage->sun_map.share && normal[stage->up] > 0.99)
        return sky->sun_dir[stage->up] * ty_sun_map_at(&stage->sun_map, hit->at) / TY_PI * sky->sun;
    double cosine = ty_dot(sun, normal);
    if (!(cosine > 0.0) || !(largest(sky->sun) > 0.0)) return ty_vec(0, 0, 0);
    return cosine / TY_PI * sky->sun * ty_stage_passes(stage, from, sun, w->time, b->in_water);
}

// False when the path ends here.
static bool meet_matte(walk* w, branch* b, const ty_hit* hit)
{
    const ty_stage* stage = w->stage;
    ty_vec3 albedo = albedo_at(w, hit), sky = ty_sky_radiance(&stage->sky, b->dir);
    bool outside = ty_dot(b->dir, hit->face) < 0.0;
    ty_vec3 normal = outside ? hit->normal : -hit->normal, face = outside ? hit->face : -hit->face;
    note_deep(w, normal, ty_lerp3(albedo, ty_vec(1, 1, 1), hit->fade));
    w->light += hit->fade * b->weight * sky;
    b->weight *= (1.0 - hit->fade) * albedo;
    double u[2], v[2];
    ty_random_pair(w->random, u);
    ty_random_pair(w->random, v);
    ty_vec3 from = ty_stage_leave(stage, hit, normal);
    w->light += b->weight * sunlight(w, b, hit, from, normal, u);
    b->dir = ty_cosine_direction(normal, v);
    if (ty_dot(b->dir, face) < 0.0)
        b->dir = ty_reflect(b->dir, face);    // a smooth normal may point into the facet
    b->from = from;
    b->clear = false;
    b->splits = 0;
    if (++b->scatters <= w->def->max_scatter) return true;
    w->light += LAST_SKY * b->weight * ty_sky_radiance(&stage->sky, normal);
    return false;
}

static void follow(walk* w, branch b)
{
    for (; b.depth < w->def->max_depth; ++b.depth) {
        ty_hit hit = ty_stage_trace(w->stage, b.from, b.dir, w->time);
        if (hit.t == INFINITY) {
            see_sky(w, &b);
            return;
        }
        note_first(w, &b, &hit);
        if (b.in_water) {
            ty_vec3 a = w->stage->absorption;
            b.weight *= ty_vec(exp(-a[0] * hit.t), exp(-a[1] * hit.t), exp(-a[2] * hit.t));
        }
        if (hit.matter->kind == TY_MATTE) {
            if (!meet_matte(w, &b, &hit)) return;
        } else if (hit.matter->kind == TY_PANE) {
            meet_pane(w, &b, &hit);
        } else {
            meet_liquid(w, &b, &hit);
        }
    }
    // Light that is still on its way is taken from the sky: a dark end would be a spot.
    w->light += b.weight * ty_sky_radiance(&w->stage->sky, b.dir);
}

ty_vec3 ty_trace(const ty_stage* stage, const ty_trace_def* def, ty_random* random, ty_vec3 from,
                 ty_vec3 dir, double time, ty_feature* feature)
{
    *feature = (ty_feature){0};
    walk w = {.stage = stage, .def = def, .random = random, .time = time, .feature = feature};
    follow(&w, (branch){.from = from,
                        .dir = dir,
                        .weight = ty_vec(1, 1, 1),
                        .in_water = def->eye_in_water,
                        .clear = true,
                        .splits = def->max_splits});
    while (w.n_waiting > 0) {
        w.feature = NULL;
        branch next = w.waiting[--w.n_waiting];
        ++next.depth;
        follow(&w, next);
    }
    return w.light;
}
