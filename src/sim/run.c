// SPDX-License-Identifier: Apache-2.0
// The loop over frames. After each frame its files are written, then its row of statistics, then
// the checkpoint that says how long the text files are: whenever the process dies, the newest
// checkpoint and what it counts are whole.
#include "sim/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/config.h"
#include "core/log.h"
#include "core/parallel.h"
#include "format/file.h"
#include "sim/checkpoint.h"
#include "sim/folder.h"
#include "sim/output.h"
#include "sim/step.h"

typedef struct run {
    const ty_sim_def* scene;
    const ty_run_def* def;
    ty_folder folder;
    ty_sim sim;
    ty_rows stats, probes, log;
    int last;         // index of the last frame to do
    int done_here;    // frames done by this process
    double begin;     // wall clock when its first frame began
    bool ours;        // the folder holds this run's files: run.json may say how it ended
} run;

ty_run_def ty_run_default(void) { return (ty_run_def){.from = -1}; }

static int frame_number(const run* r) { return r->scene->frame_start + r->sim.frame; }

static bool asked_to_stop(const run* r) { return r->def->stop && *r->def->stop; }

static void tell_progress(run* r, bool frame_done)
{
    if (!r->def->progress) return;
    const ty_frame_stats* s = &r->sim.stats;
    ty_progress p = {.frame = frame_number(r) + (frame_done ? 0 : 1),
                     .first_frame = r->scene->frame_start,
                     .last_frame = r->scene->frame_start + r->last,
                     .frame_done = frame_done,
                     .time = r->sim.time,
                     .step = r->sim.step_length,
                     .seconds_left = -1.0,
                     .frame_seconds = s->seconds,
                     .cells = (int64_t)s->cells,
                     .volume = s->volume,
                     .surface_seconds = s->seconds_surface,
                     .mesh_seconds = s->seconds_mesh,
                     .advect_seconds = s->seconds_advect,
                     .project_seconds = s->seconds_project,
                     .output_seconds = s->seconds_output};
    if (r->done_here > 0)
        p.seconds_left = (ty_clock() - r->begin) / r->done_here * (r->last - r->sim.frame);
    r->def->progress(r->def->self, &p);
}

// A log that cannot be written is no reason to stop.
static void write_log(void* self, ty_log_level level, const char* message)
{
    static const char* const words[] = {"error: ", "warning: ", "", ""};
    run* r = self;
    char line[2200];
    snprintf(line, sizeof line, "%s%s\n", words[level], message);
    if (r->log.fd >= 0) (void)ty_rows_append(&r->log, line, false);
}

static ty_status open_log(run* r, bool resumed)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/log.txt", r->folder.dir);
    TY_TRY(ty_rows_open(&r->log, path, resumed ? -1 : 0));
    ty_log_also_to(write_log, r);
    ty_log(TY_LOG_DETAIL, "tethys %s, %d threads: %s", TY_VERSION, ty_threads(),
           r->def->command ? r->def->command : "");
    return ty_ok();
}

static ty_status open_rows(run* r, int64_t stats_length, int64_t probes_length)
{
    char path[4096], header[1024];
    snprintf(path, sizeof path, "%s/stats.csv", r->folder.dir);
    TY_TRY(ty_rows_open(&r->stats, path, stats_length));
    if (stats_length == 0) {
        ty_stats_header(header, sizeof header);
        TY_TRY(ty_rows_append(&r->stats, header, false));
    }
    if (r->scene->n_probes == 0) return ty_ok();
    snprintf(path, sizeof path, "%s/probes.csv", r->folder.dir);
    TY_TRY(ty_rows_open(&r->probes, path, probes_length));
    if (probes_length > 0) return ty_ok();
    char* text = NULL;
    TY_TRY(ty_probe_header(r->scene, &text));
    ty_status status = ty_rows_append(&r->probes, text, false);
    ty_free(text);
    return status;
}

static ty_status flush_probes(run* r)
{
    if (r->sim.probe_rows.n == 0) return ty_ok();
    if (!ty_array_push(&r->sim.probe_rows, '\0')) return ty_no_memory("probes");
    ty_status status = ty_rows_append(&r->probes, r->sim.probe_rows.at, true);
    --r->sim.probe_rows.n;
    if (status.code == TY_OK) r->sim.probe_rows.n = 0;
    return status;
}

static ty_status save_checkpoint(run* r, int number)
{
    return ty_checkpoint_save(r->folder.dir, number, &r->sim,
                              (ty_checkpoint_extra){r->stats.length, r->probes.length});
}

static ty_status write_frame(run* r)
{
    double begin = ty_clock();
    int number = frame_number(r);
    char row[1024];
    bool wanted = r->sim.frame % r->scene->output_every == 0 || r->sim.frame == r->last;
    if (wanted) TY_TRY(ty_output_frame(&r->sim, r->folder.dir, number));
    TY_TRY(flush_probes(r));
    r->sim.stats.seconds_output = ty_clock() - begin;
    r->sim.stats.seconds += r->sim.stats.seconds_output;
    ty_stats_row(row, sizeof row, number, &r->sim.stats);
    TY_TRY(ty_rows_append(&r->stats, row, true));
    int every = r->scene->checkpoint_every;
    if (every > 0 && (r->sim.frame % every == 0 || r->sim.frame == r->last)) {
        TY_TRY(save_checkpoint(r, number));
        ty_checkpoint_prune(r->folder.dir, r->scene->checkpoint_keep);
    }
    ty_log(TY_LOG_DETAIL, "frame %d  t %.6g s  %.0f steps  volume %.8g m3  %.2f s", number,
           r->sim.time, r->sim.stats.substeps, r->sim.stats.volume, r->sim.stats.seconds);
    tell_progress(r, true);
    return ty_ok();
}

static ty_status start_anew(run* r)
{
    TY_TRY(ty_sim_create(&r->sim, r->scene));
    TY_TRY(ty_folder_clear(&r->folder));
    r->ours = true;
    TY_TRY(ty_output_folders(r->scene, r->folder.dir));
    TY_TRY(ty_folder_write_scene(&r->folder, r->scene));
    TY_TRY(ty_folder_write_run(&r->folder, r->scene, r->def->command, "running", NULL,
                               frame_number(r)));
    TY_TRY(open_log(r, false));
    TY_TRY(open_rows(r, 0, 0));
    r->begin = ty_clock();
    return write_frame(r);
}

// Loads checkpoint `number` into a fresh simulation and cuts the text files to its length.
static ty_status load(run* r, int number)
{
    ty_checkpoint_extra extra = {0};
    TY_TRY(ty_sim_create(&r->sim, r->scene));
    ty_status status = ty_checkpoint_load(r->folder.dir, number, r->def->force, &r->sim, &extra);
    if (status.code == TY_OK) status = open_rows(r, extra.stats_length, extra.probes_length);
    if (status.code != TY_OK) {
        ty_rows_close(&r->stats);
        ty_rows_close(&r->probes);
        ty_sim_destroy(&r->sim);
    }
    return status;
}

// Damaged checkpoints are passed over with a warning; anything else that goes wrong is the user's
// to know.
static ty_status try_load(run* r, int number, bool* loaded)
{
    ty_status status = load(r, number);
    *loaded = status.code == TY_OK;
    if (status.code != TY_DAMAGED) return status;
    char text[800];
    ty_log(TY_LOG_WARNING, "%s; taking the one before", ty_status_text(&status, text, sizeof text));
    return ty_ok();
}

static bool exists(const char* path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static ty_status load_newest(run* r, const int* numbers, int n, bool* loaded)
{
    char path[4096];
    if (exists(ty_checkpoint_path(r->folder.dir, TY_CHECKPOINT_STOPPED, path, sizeof path)))
        TY_TRY(try_load(r, TY_CHECKPOINT_STOPPED, loaded));
    for (int i = n - 1; i >= 0 && !*loaded; --i) TY_TRY(try_load(r, numbers[i], loaded));
    return ty_ok();
}

static ty_status load_from(run* r, const int* numbers, int n)
{
    for (int i = 0; i < n; ++i)
        if (numbers[i] == r->def->from) return load(r, r->def->from);
    if (n == 0) return ty_fail(TY_BAD_INPUT, "no checkpoint in '%s'", r->folder.dir);
    return ty_fail(
        TY_BAD_INPUT,
        "no checkpoint of frame %d in '%s'; there are %d from frame %d to %d (checkpoint.keep: 0 keeps "
        "all)",
        r->def->from, r->folder.dir, n, numbers[0], numbers[n - 1]);
}

static ty_status resume(run* r)
{
    int *numbers = NULL, n = 0;
    TY_TRY(ty_checkpoint_list(r->folder.dir, &numbers, &n));
    bool loaded = r->def->from >= 0;
    ty_status status = loaded ? load_from(r, numbers, n) : load_newest(r, numbers, n, &loaded);
    ty_free(numbers);
    TY_TRY(status);
    if (!loaded) {
        ty_log(TY_LOG_NOTE, "no good checkpoint in '%s': starting at the first frame",
               r->folder.dir);
        return start_anew(r);
    }
    r->ours = true;
    TY_TRY(open_log(r, true));
    ty_log(TY_LOG_NOTE, "resuming after frame %d at t = %.6g s", frame_number(r), r->sim.time);
    if (r->def->force) ty_folder_drop_frames_after(&r->folder, frame_number(r));
    TY_TRY(ty_output_folders(r->scene, r->folder.dir));
    TY_TRY(ty_folder_write_scene(&r->folder, r->scene));
    r->begin = ty_clock();
    return ty_folder_write_run(&r->folder, r->scene, r->def->command, "running", NULL,
                               frame_number(r));
}

static ty_status begin_run(run* r)
{
    TY_TRY(ty_folder_open(&r->folder, r->def->dir));
    if (r->def->resume) return resume(r);
    if (ty_folder_has_result(&r->folder) && !r->def->overwrite)
        return ty_fail(
            TY_EXISTS,
            "'%s' holds a result already; add --resume to go on with it, --overwrite to replace it, or -o "
            "for another folder",
            r->def->dir);
    return start_anew(r);
}

static ty_status stop_here(run* r)
{
    TY_TRY(flush_probes(r));
    TY_TRY(save_checkpoint(r, TY_CHECKPOINT_STOPPED));
    return ty_fail(TY_STOPPED, "stopped after frame %d at t = %.6g s; go on with --resume",
                   frame_number(r), r->sim.time);
}

static ty_status loop(run* r)
{
    while (r->sim.frame < r->last) {
        if (asked_to_stop(r)) return stop_here(r);
        bool frame_done = false;
        TY_TRY(ty_sim_step(&r->sim, &frame_done));
        if (frame_done) {
            ++r->done_here;
            TY_TRY(write_frame(r));
        } else {
            tell_progress(r, false);
        }
    }
    return ty_ok();
}

static void end_run(run* r, ty_status status)
{
    const char* state = status.code == TY_OK        ? "done"
                        : status.code == TY_STOPPED ? "stopped"
                                                    : "failed";
    if (r->ours) {
        ty_status written = ty_folder_write_run(&r->folder, r->scene, r->def->command, state,
                                                status.code == TY_OK ? NULL : status.message,
                                                frame_number(r));
        if (written.code != TY_OK) ty_log(TY_LOG_WARNING, "%s", written.message);
        write_log(r, TY_LOG_NOTE, status.code == TY_OK ? "done" : status.message);
    }
    ty_log_also_to(NULL, NULL);
    ty_rows_close(&r->stats);
    ty_rows_close(&r->probes);
    ty_rows_close(&r->log);
    ty_sim_destroy(&r->sim);
    ty_folder_close(&r->folder);
}

ty_status ty_sim_run(const ty_sim_def* scene, const ty_run_def* def)
{
    run r = {.scene = scene, .def = def};
    r.folder.lock = -1;
    r.stats.fd = r.probes.fd = r.log.fd = -1;
    int count = def->frames > 0 ? def->frames : scene->frame_count;
    r.last = count - 1;
    ty_status status = begin_run(&r);
    if (status.code == TY_OK) status = loop(&r);
    end_run(&r, status);
    return status;
}
