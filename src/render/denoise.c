// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "render/canvas.h"

enum { PASSES = 5, REACH = 2 };

static const float KERNEL[REACH + 1] = {0.375f, 0.25f, 0.0625f};    // B3 spline
static const float LIGHT_SPREAD = 4.0f;      // standard deviations that count as noise
static const float NORMAL_SPREAD = 0.15f;    // differences at which a neighbour counts 1 / e
static const float DEEP_SPREAD = 0.25f;
static const float ALBEDO_SPREAD = 0.08f;
static const float DEPTH_SPREAD = 0.02f;    // of the depth
static const float NO_NOISE = 1e-4f;        // luminance that nobody sees

typedef struct denoise_job {
    const ty_canvas* canvas;
    const ty_pixel* from;
    ty_pixel* to;
    int step;
} denoise_job;

static float luminance(const float c[3])
{
    return 0.2126f * c[0] + 0.7152f * c[1] + 0.0722f * c[2];
}

static float difference2(const float a[3], const float b[3])
{
    float sum = 0.0f;
    for (int i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

// Logarithm of the weight that features allow.
static float feature_gap(const ty_pixel* p, const ty_pixel* q)
{
    float depth = (p->depth - q->depth) / (DEPTH_SPREAD * (p->depth + q->depth) + 1e-9f);
    return difference2(p->normal, q->normal) / (NORMAL_SPREAD * NORMAL_SPREAD) +
           difference2(p->deep_normal, q->deep_normal) / (DEEP_SPREAD * DEEP_SPREAD) +
           difference2(p->albedo, q->albedo) / (ALBEDO_SPREAD * ALBEDO_SPREAD) + depth * depth;
}

// The variance of one pixel is itself noisy: the mean of its neighbours'.
static float smooth_variance(const denoise_job* job, int x, int y)
{
    const ty_canvas* c = job->canvas;
    float sum = 0.0f, weight = 0.0f;
    for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
            int u = x + i, v = y + j;
            if (u < 0 || v < 0 || u >= c->width || v >= c->height) continue;
            float w = (i ? 1.0f : 2.0f) * (j ? 1.0f : 2.0f);
            sum += w * job->from[(int64_t)v * c->width + u].variance;
            weight += w;
        }
    return sum / weight;
}

static void filter_pixel(const denoise_job* job, int x, int y)
{
    const ty_canvas* c = job->canvas;
    const ty_pixel* p = &job->from[(int64_t)y * c->width + x];
    ty_pixel* out = &job->to[(int64_t)y * c->width + x];
    float noise = LIGHT_SPREAD * sqrtf(smooth_variance(job, x, y)) + NO_NOISE;
    float sum[3] = {0}, variance = 0.0f, weight = 0.0f;
    for (int j = -REACH; j <= REACH; ++j)
        for (int i = -REACH; i <= REACH; ++i) {
            int u = x + i * job->step, v = y + j * job->step;
            if (u < 0 || v < 0 || u >= c->width || v >= c->height) continue;
            const ty_pixel* q = &job->from[(int64_t)v * c->width + u];
            float gap = feature_gap(p, q) +
                        fabsf(luminance(p->light) - luminance(q->light)) / noise;
            if (gap > 12.0f) continue;
            float w = KERNEL[i < 0 ? -i : i] * KERNEL[j < 0 ? -j : j] * expf(-gap);
            for (int k = 0; k < 3; ++k) sum[k] += w * q->light[k];
            variance += w * w * q->variance;
            weight += w;
        }
    *out = *p;
    for (int k = 0; k < 3; ++k) out->light[k] = sum[k] / weight;
    out->variance = variance / (weight * weight);
}

static void filter_rows(void* ctx, ty_range r)
{
    denoise_job* job = ctx;
    for (int64_t y = r.begin; y < r.end; ++y)
        for (int x = 0; x < job->canvas->width; ++x) filter_pixel(job, x, (int)y);
}

ty_status ty_canvas_denoise(ty_canvas* canvas)
{
    size_t n = (size_t)canvas->width * (size_t)canvas->height;
    ty_pixel* other = ty_alloc(n, sizeof *other);
    if (!other) return ty_no_memory("denoising");
    for (int pass = 0; pass < PASSES; ++pass) {
        denoise_job job = {canvas, canvas->pixels, other, 1 << pass};
        ty_parallel_for(canvas->height, 4, filter_rows, &job);
        ty_pixel* done = other;
        other = canvas->pixels;
        canvas->pixels = done;
    }
    ty_free(other);
    return ty_ok();
}
