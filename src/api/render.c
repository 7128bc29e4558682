// SPDX-License-Identifier: Apache-2.0
// ty_render: every frame of a result, drawn by every camera, then films and contact sheets.
#include "tethys/render.h"

#include "core/config.h"
#include "core/status.h"

ty_render_def ty_render_default(void)
{
    return (ty_render_def){.width = 1280,
                           .height = 720,
                           .samples = 8,
                           .first = -1,
                           .last = -1,
                           .shutter = -1.0,
                           .exposure = 1.0,
                           .tint = 1.0,
                           .tank = 1,
                           .denoise = 1,
                           .film = 1};
}

#if TETHYS_HAVE_RENDER

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/render_job.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/log.h"
#include "format/file.h"
#include "format/mesh_io.h"
#include "render/draw.h"
#include "render/film.h"
#include "sim/sim.h"

enum {
    SHEET_PICTURES = 16,
    LOOK_VERSION = 1
};    // raise it when the same settings give another picture

static bool ends_with(const char* text, const char* tail)
{
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

static bool is_picture(const ty_render_def* def)
{
    return def->output && ends_with(def->output, ".png");
}

static ty_status check_numbers(const ty_render_def* def)
{
    if (def->width < 1 || def->height < 1 || def->width > TY_MAX_PICTURE_SIDE ||
        def->height > TY_MAX_PICTURE_SIDE)
        return ty_fail(TY_BAD_INPUT, "a picture of %d x %d pixels; a side has 1 to %d", def->width,
                       def->height, TY_MAX_PICTURE_SIDE);
    if (def->samples < 1)
        return ty_fail(TY_BAD_INPUT, "%d samples a pixel; take at least 1", def->samples);
    if (!(def->exposure > 0.0)) return ty_fail(TY_BAD_INPUT, "the exposure must be above 0");
    if (!(def->tint >= 0.0)) return ty_fail(TY_BAD_INPUT, "the tint must be 0 or more");
    if (def->shutter > 1.0)
        return ty_fail(TY_BAD_INPUT, "the shutter is open for 0 to 1 of a frame, not %g",
                       def->shutter);
    if (def->first >= 0 && def->last >= 0 && def->first > def->last)
        return ty_fail(TY_BAD_INPUT, "frames %d to %d: the first is after the last", def->first,
                       def->last);
    return ty_ok();
}

static ty_status check_output(const ty_render_job* job)
{
    const ty_render_def* def = job->def;
    if (!def->output) return ty_ok();
    if (!is_picture(def) && !ends_with(def->output, ".mp4"))
        return ty_fail(TY_BAD_INPUT, "the output '%s' is neither a .mp4 film nor a .png picture",
                       def->output);
    if (strlen(def->output) > TY_RENDER_PATH - 100)
        return ty_fail(TY_BAD_INPUT, "the output's name is too long");
    if (job->views.n > 1)
        return ty_fail(TY_BAD_INPUT, "one output for %d cameras; leave it out", (int)job->views.n);
    if (is_picture(def) && job->frames.n > 1 && !strstr(def->output, "####"))
        return ty_fail(
            TY_BAD_INPUT,
            "one picture '%s' for %d frames; choose one frame, or put #### into the name",
            def->output, (int)job->frames.n);
    if (!is_picture(def) && !ty_film_possible())
        return ty_fail(
            TY_IO,
            "a film needs the program ffmpeg: apt install ffmpeg; without -o the frames are drawn");
    return ty_ok();
}

// What a picture is made from: as long as it is the same, the picture is.
static ty_status picture_key(const ty_render_job* job, int frame, const ty_camera* camera,
                             char key[32])
{
    char path[TY_RENDER_PATH], text[400];
    const ty_render_def* d = job->def;
    uint64_t surface;
    ty_hash h = ty_hash_begin();
    ty_render_surface_path(job, frame, path);
    TY_TRY(ty_hash_file(path, &surface));
    int n = snprintf(text, sizeof text, "%s %d %dx%d %d %d %.17g %.17g %.17g %d %d %d %016llx",
                     TY_VERSION, LOOK_VERSION, d->width, d->height, d->samples, (int)d->mode,
                     job->shutter, d->exposure, d->tint, d->tank != 0, d->denoise != 0, frame,
                     (unsigned long long)surface);
    ty_hash_add(&h, text, (size_t)n);
    ty_hash_add(&h, camera, sizeof *camera);
    ty_hash_add(&h, job->scene.scene_text, strlen(job->scene.scene_text));
    for (int i = 0; i < job->scene.n_inputs; ++i)
        ty_hash_add(&h, &job->scene.inputs[i].hash, sizeof job->scene.inputs[i].hash);
    snprintf(key, 32, "%016llx", (unsigned long long)ty_hash_end(&h));
    return ty_ok();
}

static void tell(ty_render_job* job, int view, int frame, bool kept, double seconds)
{
    ty_render_progress* p = &job->progress;
    double elapsed = ty_clock() - job->started;
    p->camera = job->views.at[view].name;
    p->frame = frame;
    ++p->done;
    p->kept += kept;
    p->frame_seconds = seconds;
    int drawn = p->done - p->kept;
    p->seconds_left = p->done == p->total ? 0.0
                      : drawn             ? elapsed / drawn * (p->total - p->done)
                                          : -1.0;
    if (job->def->progress) job->def->progress(job->def->self, p);
}

static ty_status draw_view(ty_render_job* job, int view, int frame, const ty_stage* stage,
                           const ty_camera* camera, const char* key)
{
    char path[TY_RENDER_PATH];
    const ty_render_def* d = job->def;
    ty_draw_def def = {.width = d->width,
                       .height = d->height,
                       .samples = d->samples,
                       .frame = frame,
                       .exposure = d->exposure,
                       .denoise = d->denoise != 0,
                       .stop = d->stop};
    ty_image image = {0};
    double start = ty_clock();
    ty_render_picture_path(job, view, frame, path);
    ty_status status = ty_draw(stage, camera, &def, &image);
    if (status.code == TY_OK) status = ty_png_write(&image, path, key);
    ty_image_free(&image);
    if (status.code == TY_OK) tell(job, view, frame, false, ty_clock() - start);
    return status;
}

static ty_status make_stage(ty_render_job* job, int frame, double t, ty_stage* stage)
{
    char path[TY_RENDER_PATH];
    ty_tri_mesh liquid = {0};
    ty_render_surface_path(job, frame, path);
    ty_status status = ty_mesh_read(&liquid, path);
    if (status.code == TY_OK)
        status = ty_scenery_stage(job->scenery, &liquid, t, job->shutter, stage);
    ty_tri_mesh_free(&liquid);
    return status;
}

// The stage is made when the first view needs it.
static ty_status draw_frame(ty_render_job* job, int frame)
{
    ty_stage stage = {0};
    ty_status status = ty_ok();
    double t = ty_sim_frame_time(&job->scene, frame - job->scene.frame_start);
    for (int view = 0; view < job->views.n && status.code == TY_OK; ++view) {
        char path[TY_RENDER_PATH], key[32];
        ty_camera camera;
        ty_render_picture_path(job, view, frame, path);
        status = ty_render_camera(job, view, t, &camera);
        if (status.code == TY_OK) status = picture_key(job, frame, &camera, key);
        if (status.code != TY_OK) break;
        if (!job->def->overwrite && ty_png_has_key(path, key)) {
            tell(job, view, frame, true, 0.0);
            continue;
        }
        if (!stage.scene) status = make_stage(job, frame, t, &stage);
        if (status.code == TY_OK) status = draw_view(job, view, frame, &stage, &camera, key);
    }
    ty_stage_destroy(&stage);
    return status;
}

static ty_status write_films(const ty_render_job* job, int view, int n, const ty_shot* shots)
{
    char path[TY_RENDER_PATH];
    ty_render_film_path(job, view, "-sheet.png", path);
    TY_TRY(ty_sheet_write(path, n, shots, SHEET_PICTURES));
    ty_log(TY_LOG_NOTE, "contact sheet: %s", path);
    if (n < 2) return ty_ok();
    ty_render_film_path(job, view, ".mp4", path);
    if (!ty_film_possible()) {
        ty_log(
            TY_LOG_WARNING,
            "no film, because the program ffmpeg is not here; the frames are. Install it (apt install "
            "ffmpeg) and give the same command again: finished frames are kept");
        return ty_ok();
    }
    TY_TRY(ty_film_write(path, n, shots, job->scene.frame_rate / job->scene.output_every));
    ty_log(TY_LOG_NOTE, "film: %s", path);
    return ty_ok();
}

static ty_status make_films(const ty_render_job* job, int view)
{
    int n = (int)job->frames.n;
    ty_shot* shots = ty_alloc((size_t)n, sizeof *shots);
    char* paths = ty_alloc((size_t)n, TY_RENDER_PATH);
    ty_status status = shots && paths ? ty_ok() : ty_no_memory("a film");
    for (int i = 0; i < n && status.code == TY_OK; ++i) {
        char* path = paths + (size_t)i * TY_RENDER_PATH;
        ty_render_picture_path(job, view, job->frames.at[i], path);
        shots[i] = (ty_shot){path, job->frames.at[i]};
    }
    if (status.code == TY_OK) status = write_films(job, view, n, shots);
    ty_free(shots);
    ty_free(paths);
    return status;
}

static ty_status make_folder_of(char* path)
{
    char* slash = strrchr(path, '/');
    if (!slash || slash == path) return ty_ok();
    *slash = 0;
    return ty_make_folders(path);
}

static ty_status make_folders(const ty_render_job* job)
{
    char path[TY_RENDER_PATH];
    for (int view = 0; view < job->views.n; ++view) {
        ty_render_picture_path(job, view, 0, path);
        TY_TRY(make_folder_of(path));
        ty_render_film_path(job, view, ".mp4", path);
        TY_TRY(make_folder_of(path));
    }
    return ty_ok();
}

static ty_status render_all(ty_render_job* job)
{
    TY_TRY(check_output(job));
    TY_TRY(make_folders(job));
    job->progress.total = (int)(job->frames.n * job->views.n);
    job->started = ty_clock();
    for (int64_t i = 0; i < job->frames.n; ++i) {
        ty_status status = draw_frame(job, job->frames.at[i]);
        if (status.code == TY_STOPPED)
            return ty_fail(TY_STOPPED, "stopped after %d of %d pictures; the same command goes on",
                           job->progress.done, job->progress.total);
        TY_TRY(status);
    }
    for (int view = 0; view < job->views.n; ++view)
        if (job->def->film && !is_picture(job->def)) TY_TRY(make_films(job, view));
    return ty_ok();
}

ty_status ty_render(const ty_render_def* def)
{
    ty_render_job job = {0};
    TY_TRY(check_numbers(def));
    ty_status status = ty_render_open(&job, def);
    if (status.code == TY_OK) status = render_all(&job);
    ty_render_close(&job);
    return status;
}

#else

ty_status ty_render(const ty_render_def* def)
{
    (void)def;
    return ty_fail(
        TY_NOT_YET,
        "this program was built without pictures: Embree or libspng was not found; apt install "
        "libembree-dev libspng-dev, then cmake --preset release and build again");
}

#endif
