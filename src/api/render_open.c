// SPDX-License-Identifier: Apache-2.0
// What a result folder has for the renderer.
#include "core/config.h"

#if TETHYS_HAVE_RENDER

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/render_job.h"
#include "core/log.h"
#include "core/text.h"
#include "format/file.h"
#include "format/mesh_io.h"
#include "scene/scene.h"

enum {
    LOOKED_AT = 5,
    MAX_CAMERAS = 1000
};    // frames that tell where the action is, when there is no domain

static const char* const mode_word[] = {"", "-clay", "-wire"};

static void report(void* self, const ty_scene_message* m)
{
    (void)self;
    char text[1400];
    ty_log(m->is_error ? TY_LOG_ERROR : TY_LOG_WARNING, "%s",
           ty_scene_message_text(m, text, sizeof text));
}

static ty_status open_scene(ty_render_job* job)
{
    char path[TY_RENDER_PATH];
    struct stat there;
    const char* dir = job->def->dir;
    snprintf(path, sizeof path, "%.4000s/scene.yaml", dir);
    if (stat(path, &there) != 0)
        return ty_fail(
            TY_BAD_INPUT,
            "'%s' is not a result folder: it has no scene.yaml; make one with: tethys run SCENE -o %s",
            dir, dir);
    TY_TRY(ty_scene_read(&job->scene, path, 0, NULL, report, NULL));
    if (job->scene.smoke)
        return ty_fail(TY_NOT_YET,
                       "'%s' is smoke, which cannot be drawn yet; its volumes open in Blender",
                       dir);
    return ty_ok();
}

static int by_number(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static ty_status list_frames(ty_render_job* job)
{
    char path[TY_RENDER_PATH];
    const ty_render_def* def = job->def;
    snprintf(path, sizeof path, "%.4000s/surface", def->dir);
    DIR* folder = opendir(path);
    int all = 0;
    for (struct dirent* entry; folder && (entry = readdir(folder));) {
        int number, end = 0;
        if (sscanf(entry->d_name, "surface.%d.ply%n", &number, &end) != 1 || end == 0 ||
            entry->d_name[end])
            continue;
        ++all;
        if ((def->first >= 0 && number < def->first) || (def->last >= 0 && number > def->last))
            continue;
        if (!ty_array_push(&job->frames, number)) {
            closedir(folder);
            return ty_no_memory("frames");
        }
    }
    if (folder) closedir(folder);
    if (all == 0)
        return ty_fail(TY_EMPTY,
                       "there are no surfaces in '%s'; simulate with 'output: {surface: ply}'",
                       path);
    if (job->frames.n == 0)
        return ty_fail(TY_EMPTY,
                       "'%s' has %d surfaces, but none of the frames asked for; see ls %s",
                       def->dir, all, path);
    qsort(job->frames.at, (size_t)job->frames.n, sizeof(int), by_number);
    return ty_ok();
}

static ty_status add_view(ty_render_job* job, const char* name, ty_camera_def* camera)
{
    ty_render_view view = {.camera = camera};
    snprintf(view.name, sizeof view.name, "%s", name);
    for (char* c = view.name; *c; ++c)
        if (*c == '/') *c = '_';
    return ty_array_push(&job->views, view) ? ty_ok() : ty_no_memory("cameras");
}

static ty_status no_such_camera(const ty_world_def* world, const char* name)
{
    const char* names[MAX_CAMERAS];
    char known[400] = "";
    int n = world->n_cameras < MAX_CAMERAS ? world->n_cameras : MAX_CAMERAS;
    for (int i = 0; i < n; ++i) {
        size_t used = strlen(known);
        names[i] = world->cameras[i].name;
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
    }
    const char* near = ty_nearest_name(name, n, names);
    if (n == 0)
        return ty_fail(
            TY_BAD_INPUT,
            "the scene has no camera '%s', in fact none; without --camera one is made up", name);
    return ty_fail(TY_BAD_INPUT, "the scene has no camera '%s'%s%s%s; it has: %s", name,
                   near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", known);
}

static ty_status choose_view(ty_render_job* job, const char* name)
{
    ty_world_def* world = &job->scene.world;
    bool all = strcmp(name, "all") == 0 && world->n_cameras > 0, found = all;
    for (int i = 0; i < world->n_cameras; ++i) {
        if (!all && strcmp(world->cameras[i].name, name) != 0) continue;
        found = true;
        TY_TRY(add_view(job, world->cameras[i].name, &world->cameras[i]));
    }
    return found ? ty_ok() : no_such_camera(world, name);
}

static ty_status choose_views(ty_render_job* job)
{
    ty_world_def* world = &job->scene.world;
    if (job->def->n_cameras == 0)
        return world->n_cameras > 0 ? add_view(job, world->cameras[0].name, &world->cameras[0])
                                    : add_view(job, "default", NULL);
    for (int i = 0; i < job->def->n_cameras; ++i) TY_TRY(choose_view(job, job->def->cameras[i]));
    return ty_ok();
}

// Where the liquid is in a few frames: what a made-up camera and the ground go by.
static ty_status find_action(ty_render_job* job)
{
    ty_tri_mesh mesh = {0};
    ty_status status = ty_ok();
    job->action = ty_box_empty();
    for (int i = 0; i < LOOKED_AT && status.code == TY_OK; ++i) {
        char path[TY_RENDER_PATH];
        ty_render_surface_path(job, job->frames.at[i * (job->frames.n - 1) / (LOOKED_AT - 1)],
                               path);
        status = ty_mesh_read(&mesh, path);
        for (int v = 0; status.code == TY_OK && v < mesh.n_verts; ++v)
            ty_box_add(&job->action, mesh.vert[v]);
    }
    ty_tri_mesh_free(&mesh);
    if (!(job->action.lo[0] <= job->action.hi[0])) job->action = (ty_box){{0, 0, 0}, {1, 1, 1}};
    return status;
}

ty_status ty_render_open(ty_render_job* job, const ty_render_def* def)
{
    *job = (ty_render_job){.def = def};
    TY_TRY(open_scene(job));
    TY_TRY(list_frames(job));
    TY_TRY(choose_views(job));
    if (!job->scene.world.has_domain) TY_TRY(find_action(job));
    double share = def->shutter >= 0.0 ? def->shutter : def->mode == TY_RENDER_WATER ? 0.5 : 0.0;
    job->shutter = share / job->scene.frame_rate;
    ty_scenery_def scenery = {.world = &job->scene.world,
                              .cell = job->scene.track.cell,
                              .look = (ty_look)def->mode,
                              .tank = def->tank != 0,
                              .tint = def->tint,
                              .action = job->action};
    return ty_scenery_create(&job->scenery, &scenery);
}

void ty_render_close(ty_render_job* job)
{
    ty_scenery_destroy(job->scenery);
    ty_array_free(&job->frames);
    ty_array_free(&job->views);
    ty_sim_def_free(&job->scene);
}

void ty_render_surface_path(const ty_render_job* job, int frame, char out[TY_RENDER_PATH])
{
    snprintf(out, TY_RENDER_PATH, "%.4000s/surface/surface.%04d.ply", job->def->dir, frame);
}

static bool ends_with(const char* text, const char* tail)
{
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

void ty_render_picture_path(const ty_render_job* job, int view, int frame, char out[TY_RENDER_PATH])
{
    const char* name = job->def->output;
    if (!name || !ends_with(name, ".png")) {
        snprintf(out, TY_RENDER_PATH, "%.3800s/render/%s%s/frame.%04d.png", job->def->dir,
                 job->views.at[view].name, mode_word[job->def->mode], frame);
        return;
    }
    const char* hashes = strstr(name, "####");
    if (hashes)
        snprintf(out, TY_RENDER_PATH, "%.*s%04d%s", (int)(hashes - name), name, frame, hashes + 4);
    else snprintf(out, TY_RENDER_PATH, "%s", name);
}

void ty_render_film_path(const ty_render_job* job, int view, const char* tail,
                         char out[TY_RENDER_PATH])
{
    const ty_camera_def* camera = job->views.at[view].camera;
    bool named =
        camera &&
        camera != job->scene.world.cameras;    // the first camera's film has the scene's name alone
    if (job->def->output && strcmp(tail, ".mp4") == 0)
        snprintf(out, TY_RENDER_PATH, "%s", job->def->output);
    else
        snprintf(out, TY_RENDER_PATH, "%.3600s/%.200s%s%s%s%s", job->def->dir, job->scene.name,
                 named ? "-" : "", named ? job->views.at[view].name : "", mode_word[job->def->mode],
                 tail);
}

ty_status ty_render_camera(const ty_render_job* job, int view, double t, ty_camera* camera)
{
    double aspect = (double)job->def->width / job->def->height, eye[3], target[3];
    const double origin[1][3] = {{0, 0, 0}};
    ty_camera_def* def = job->views.at[view].camera;
    if (!def) {
        ty_box box = ty_scenery_box(job->scenery);
        *camera = ty_camera_framing(&box, job->scene.world.up, aspect);
        return ty_ok();
    }
    TY_TRY(ty_varying_prepare(&def->eye, t, t));
    TY_TRY(ty_varying_prepare(&def->target, t, t));
    TY_TRY(ty_varying_eval(&def->eye, t, 1, origin, eye));
    TY_TRY(ty_varying_eval(&def->target, t, 1, origin, target));
    *camera = ty_camera_make(eye, target, def->up, def->fov, aspect);
    return ty_ok();
}

#endif
