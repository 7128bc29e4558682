// SPDX-License-Identifier: Apache-2.0
// tethys bench dam: a column of water 0.4 x 0.6 x 1 m falls in a closed unit cube, 50 frames at 24
// a second, surface and volume written. Prints seconds per frame and what the run says of itself.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/clock.h"

enum {
    OPT_RESOLUTION = 256,
    OPT_FRAMES,
    OPT_THREADS,
    OPT_TRACKER,
    OPT_SOLVER,
    OPT_SET,
    OPT_JSON,
    OPT_KEEP,
    MAX_SETS = 64
};

typedef struct options {
    int resolution, frames, threads, json, n_sets;
    const char *tracker, *solver, *keep;
    const char* set[MAX_SETS];
} options;

static const struct argp_option option_table[] = {
    {"resolution", OPT_RESOLUTION, "N", 0, "cells a side (64)", 0},
    {"frames", OPT_FRAMES, "N", 0, "frames (50)", 0},
    {"threads", OPT_THREADS, "N", 0, "threads (1)", 0},
    {"tracker", OPT_TRACKER, "NAME", 0, "surface tracker (levelset)", 0},
    {"solver", OPT_SOLVER, "NAME", 0, "solver (grid)", 0},
    {"set", OPT_SET, "KEY=VALUE", 0, "override a key of the scene", 0},
    {"keep", OPT_KEEP, "DIR", 0, "leave the result there", 0},
    {"json", OPT_JSON, 0, 0, "one JSON object", 0},
    {0},
};

static error_t parse_option(int key, char* arg, struct argp_state* state)
{
    options* o = state->input;
    switch (key) {
    case OPT_RESOLUTION:
        return cli_number("--resolution", arg, 8, 1024, &o->resolution) ? 0 : EINVAL;
    case OPT_FRAMES: return cli_number("--frames", arg, 1, 100000, &o->frames) ? 0 : EINVAL;
    case OPT_THREADS: return cli_number("--threads", arg, 1, 256, &o->threads) ? 0 : EINVAL;
    case OPT_TRACKER: o->tracker = arg; break;
    case OPT_SOLVER: o->solver = arg; break;
    case OPT_KEEP: o->keep = arg; break;
    case OPT_JSON: o->json = 1; break;
    case OPT_SET:
        if (o->n_sets == MAX_SETS) argp_error(state, "more than %d --set", MAX_SETS);
        o->set[o->n_sets++] = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const char scene_format[] =
    "name: bench-dam\n"
    "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, top, front, back]}\n"
    "resolution: %d\n"
    "frames: {count: %d, rate: 24, cfl: 2}\n"
    "solver: {kind: %s, tolerance: 1e-6}\n"
    "surface: {tracker: %s}\n"
    "liquid:\n  - box: {min: [0, 0, 0], max: [0.4, 0.6, 1]}\n"
    "output: {surface: ply, volume: vdb}\n"
    "checkpoint: {every: 0}\n";

static bool write_scene(const options* o, const char* path)
{
    FILE* f = fopen(path, "w");
    if (!f) return false;
    fprintf(f, scene_format, o->resolution, o->frames, o->solver, o->tracker);
    return fclose(f) == 0;
}

typedef struct sums {
    int64_t cells;
    int steps;
    double first_volume, last_volume, surface, advect, project, output;
    double cell_steps, stepping;    // cells over all steps; seconds that these took
} sums;

static void on_progress(void* self, const ty_progress* p)
{
    sums* s = self;
    bool start = s->cells == 0;    // the first frame is written before any step
    if (!start) ++s->steps, s->cell_steps += (double)p->cells;
    if (!start && p->frame_done) s->stepping += p->frame_seconds - p->output_seconds;
    if (!p->frame_done) return;
    if (start) s->first_volume = p->volume;
    s->cells = p->cells > s->cells ? p->cells : s->cells;
    s->last_volume = p->volume;
    s->surface += p->surface_seconds;
    s->advect += p->advect_seconds;
    s->project += p->project_seconds;
    s->output += p->output_seconds;
}

static void print_result(const options* o, const sums* s, double seconds)
{
    double n = o->frames;
    const char* format =
        o->json
            ? "{\"case\": \"dam\", \"solver\": \"%s\", \"tracker\": \"%s\", \"resolution\": "
              "%d, \"threads\": %d, "
              "\"frames\": %d, \"cells\": %lld, \"seconds_per_frame\": %.4f, \"surface\": "
              "%.4f, \"advect\": %.4f, "
              "\"project\": %.4f, \"output\": %.4f, \"volume_change\": %.6f, \"steps\": %d, "
              "\"microseconds_per_cell_and_step\": %.4f}\n"
            : "dam break, %s + %s, %d cells a side, %d threads, %d frames: %lld cells, %.3f s "
              "per frame (surface "
              "%.3f, advect %.3f, project %.3f, output %.3f), volume changed by %.4f, %d steps, "
              "%.2f us per cell and step\n";
    printf(format, o->solver, o->tracker, o->resolution, o->threads, o->frames, (long long)s->cells,
           seconds / n, s->surface / n, s->advect / n, s->project / n, s->output / n,
           s->last_volume / s->first_volume - 1.0, s->steps,
           s->steps ? 1e6 * s->stepping / s->cell_steps : 0.0);
}

static ty_status run_dam(const options* o, const char* scene_path, const char* dir, sums* s,
                         double* seconds)
{
    ty_scene* scene = NULL;
    ty_status status = ty_scene_open(&scene, scene_path, o->n_sets, o->set, cli_message, NULL);
    if (status.code != TY_OK) return status;
    ty_run_def def = ty_run_default();
    def.dir = dir;
    def.overwrite = 1;
    def.command = "tethys bench dam";
    def.progress = on_progress;
    def.self = s;
    double begin = ty_clock();
    status = ty_run(scene, &def);
    *seconds = ty_clock() - begin;
    ty_scene_close(scene);
    return status;
}

int cli_bench_dam(int argc, char** argv)
{
    options o = {
        .resolution = 64, .frames = 50, .threads = 1, .tracker = "levelset", .solver = "grid"};
    const struct argp parser = {
        option_table, parse_option, "", "Times a dam break in a unit cube.", 0, 0, 0};
    char name[] = "tethys bench dam";
    argv[0] = name;
    argp_err_exit_status = CLI_USAGE;
    if (argp_parse(&parser, argc, argv, 0, 0, &o) != 0) return CLI_USAGE;
    char folder[] = "/tmp/tethys-bench-XXXXXX", scene_path[100], dir[100], command[120];
    if (!mkdtemp(folder)) {
        perror("tethys: cannot make a folder below /tmp");
        return CLI_FAILED;
    }
    snprintf(scene_path, sizeof scene_path, "%s/dam.yaml", folder);
    snprintf(dir, sizeof dir, "%s/result", folder);
    ty_set_threads(o.threads);
    cli_verbosity(0);
    sums s = {0};
    double seconds = 0.0;
    int code = CLI_FAILED;
    if (write_scene(&o, scene_path)) {
        ty_status status = run_dam(&o, scene_path, o.keep ? o.keep : dir, &s, &seconds);
        code = cli_finish(status);
        if (status.code == TY_OK) print_result(&o, &s, seconds);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) perror("tethys: cannot remove the bench's folder");
    return code;
}
