// SPDX-License-Identifier: Apache-2.0
#include "render/draw.h"

#include "core/parallel.h"
#include "render/trace.h"

enum { TILE = 16 };
// A sample's luminance is cut here: a spark would need thousands to average
static const double BRIGHTEST = 5.0;

ty_draw_def ty_draw_default(void)
{
    return (ty_draw_def){
        .width = 1280, .height = 720, .samples = 8, .exposure = 1.0, .denoise = true};
}

typedef struct draw_job {
    const ty_stage* stage;
    const ty_camera* camera;
    const ty_draw_def* def;
    ty_trace_def trace;
    ty_canvas* canvas;
    int tiles_across;
} draw_job;

typedef struct tally {
    ty_vec3 light;
    double sum, squares;
    int deep;    // samples whose features reach down
    ty_feature feature;
} tally;

static ty_vec3 cut(ty_vec3 light)
{
    double l = ty_luminance(light);
    return l > BRIGHTEST ? light * (BRIGHTEST / l) : light;
}

// A tent two pixels wide, from a number in 0..1.
static double tent(double u) { return u < 0.5 ? sqrt(2.0 * u) - 1.0 : 1.0 - sqrt(2.0 - 2.0 * u); }

static void add_sample(const draw_job* job, int x, int y, int sample, tally* sum)
{
    ty_random random = ty_random_at(x, y, job->def->frame, sample);
    double u[2], moment[2];
    ty_feature feature;
    ty_random_pair(&random, u);
    ty_random_pair(&random, moment);
    ty_vec3 dir = ty_camera_ray(job->camera, (x + 0.5 + tent(u[0])) / job->def->width,
                                (y + 0.5 + tent(u[1])) / job->def->height);
    ty_vec3 light = cut(
        ty_trace(job->stage, &job->trace, &random, job->camera->eye, dir, moment[0], &feature));
    double l = ty_luminance(light);
    sum->light += light;
    sum->sum += l;
    sum->squares += l * l;
    sum->feature.normal += feature.normal;
    sum->feature.depth += feature.depth;
    if (!feature.deep) return;
    ++sum->deep;
    sum->feature.deep_normal += feature.deep_normal;
    sum->feature.albedo += feature.albedo;
}

static void store(float out[3], ty_vec3 a)
{
    for (int i = 0; i < 3; ++i) out[i] = (float)a[i];
}

static void draw_pixel(const draw_job* job, int x, int y)
{
    tally sum = {0};
    double n = job->def->samples;
    for (int i = 0; i < job->def->samples; ++i) add_sample(job, x, y, i, &sum);
    ty_pixel* p = &job->canvas->pixels[(int64_t)y * job->canvas->width + x];
    store(p->light, sum.light / n);
    store(p->normal, sum.feature.normal / n);
    store(p->deep_normal, sum.feature.deep_normal / ty_max(1.0, sum.deep));
    store(p->albedo, sum.feature.albedo / ty_max(1.0, sum.deep));
    p->depth = (float)(sum.feature.depth / n);
    double mean = sum.sum / n;
    p->variance = (float)(ty_max(0.0, sum.squares / n - mean * mean) / ty_max(1.0, n - 1.0));
}

static void draw_tile(void* ctx, ty_range r)
{
    draw_job* job = ctx;
    if (job->def->stop && *job->def->stop) return;
    int x0 = (int)(r.begin % job->tiles_across) * TILE,
        y0 = (int)(r.begin / job->tiles_across) * TILE;
    for (int y = y0; y < y0 + TILE && y < job->def->height; ++y)
        for (int x = x0; x < x0 + TILE && x < job->def->width; ++x) draw_pixel(job, x, y);
}

ty_status ty_draw_canvas(const ty_stage* stage, const ty_camera* camera, const ty_draw_def* def,
                         ty_canvas* canvas)
{
    TY_TRY(ty_canvas_create(canvas, def->width, def->height));
    draw_job job = {stage, camera, def, ty_trace_default(), canvas, (def->width + TILE - 1) / TILE};
    job.trace.pixel = 2.0 * camera->half_height / def->height;
    job.trace.eye_in_water = ty_stage_in_liquid(stage, camera->eye);
    int64_t tiles = (int64_t)job.tiles_across * ((def->height + TILE - 1) / TILE);
    ty_parallel_for(tiles, 1, draw_tile, &job);
    if (!def->stop || !*def->stop) return ty_ok();
    ty_canvas_free(canvas);
    return ty_fail(TY_STOPPED, "stopped");
}

ty_status ty_draw(const ty_stage* stage, const ty_camera* camera, const ty_draw_def* def,
                  ty_image* image)
{
    ty_canvas canvas = {0};
    TY_TRY(ty_draw_canvas(stage, camera, def, &canvas));
    ty_status status = def->denoise ? ty_canvas_denoise(&canvas) : ty_ok();
    if (status.code == TY_OK) status = ty_canvas_develop(&canvas, def->exposure, image);
    ty_canvas_free(&canvas);
    return status;
}
