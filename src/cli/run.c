// SPDX-License-Identifier: Apache-2.0
// tethys run: simulate, with progress on the terminal.
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    MAX_SETS = 256,
    OPT_SET = 256,
    OPT_FRAMES,
    OPT_THREADS,
    OPT_RESUME,
    OPT_FROM,
    OPT_FORCE,
    OPT_OVERWRITE,
    OPT_JSON
};

typedef struct options {
    const char* scene;
    const char* dir;
    const char* set[MAX_SETS];
    int n_sets, frames, threads, resume, from, force, overwrite, json, verbosity;
    bool tty;
} options;

static volatile sig_atomic_t stop_asked;

static void on_signal(int signal)
{
    (void)signal;
    if (stop_asked) _exit(CLI_STOPPED);    // asked twice: at once; the last checkpoint is whole
    stop_asked = 1;
}

static const struct argp_option option_table[] = {
    {"output", 'o', "DIR", 0, "where to write (default: out/NAME of the scene)", 0},
    {"frames", OPT_FRAMES, "N", 0, "write only the first N frames", 0},
    {"threads", OPT_THREADS, "N", 0,
     "threads (default: all processors); results do not depend on it", 0},
    {"set", OPT_SET, "KEY=VALUE", 0,
     "override a key of the scene: solver.tolerance=1e-8, liquid.0.box.max=[1,1,1]", 0},
    {"resume", OPT_RESUME, 0, 0, "go on from the newest good checkpoint", 0},
    {"from", OPT_FROM, "N", 0, "with --resume: from the checkpoint of frame N", 0},
    {"force", OPT_FORCE, 0, 0, "resume although the scene or a file it reads has changed", 0},
    {"overwrite", OPT_OVERWRITE, 0, 0, "replace an existing result", 0},
    {"json", OPT_JSON, 0, 0, "progress as one JSON object per line on standard output", 0},
    {"quiet", 'q', 0, 0, "say only what went wrong", 0},
    {"verbose", 'v', 0, 0, "say more", 0},
    {0},
};

static error_t parse_option(int key, char* arg, struct argp_state* state)
{
    options* o = state->input;
    switch (key) {
    case 'o': o->dir = arg; break;
    case 'q': o->verbosity = -1; break;
    case 'v': o->verbosity = 1; break;
    case OPT_SET:
        if (o->n_sets == MAX_SETS) argp_error(state, "more than %d --set", MAX_SETS);
        o->set[o->n_sets++] = arg;
        break;
    case OPT_FRAMES: return cli_number("--frames", arg, 1, 10000000, &o->frames) ? 0 : EINVAL;
    case OPT_THREADS: return cli_number("--threads", arg, 1, 256, &o->threads) ? 0 : EINVAL;
    case OPT_FROM: return cli_number("--from", arg, 0, 100000000, &o->from) ? 0 : EINVAL;
    case OPT_RESUME: o->resume = 1; break;
    case OPT_FORCE: o->force = 1; break;
    case OPT_OVERWRITE: o->overwrite = 1; break;
    case OPT_JSON: o->json = 1; break;
    case ARGP_KEY_ARG:
        if (o->scene) argp_error(state, "one scene at a time, not '%s' too", arg);
        o->scene = arg;
        break;
    case ARGP_KEY_END:
        if (!o->scene) argp_error(state, "which scene?");
        if (o->resume && o->overwrite)
            argp_error(state, "--resume and --overwrite exclude each other");
        if (o->from >= 0 && !o->resume) argp_error(state, "--from goes with --resume");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void time_text(double seconds, char* out, int size)
{
    if (seconds < 0) snprintf(out, (size_t)size, "?");
    else if (seconds < 90) snprintf(out, (size_t)size, "%.0f s", seconds);
    else if (seconds < 5400) snprintf(out, (size_t)size, "%.0f min", seconds / 60);
    else snprintf(out, (size_t)size, "%.1f h", seconds / 3600);
}

static int progress_line(const ty_progress* p, char* line, int size)
{
    char left[24];
    time_text(p->seconds_left, left, sizeof left);
    return snprintf(line, (size_t)size,
                    "frame %d/%d  t %.4g s  left %s  cells %lld  volume %.5g m3  %.2f s (surface "
                    "%.2f mesh %.2f "
                    "advect %.2f project %.2f output %.2f)",
                    p->frame, p->last_frame, p->time, left, (long long)p->cells, p->volume,
                    p->frame_seconds, p->surface_seconds, p->mesh_seconds, p->advect_seconds,
                    p->project_seconds, p->output_seconds);
}

static void print_json(const ty_progress* p)
{
    printf("{\"frame\": %d, \"first_frame\": %d, \"last_frame\": %d, \"done\": %s, \"time\": "
           "%.10g, \"step\": %.6g, "
           "\"seconds_left\": %.3f, \"cells\": %lld, \"volume\": %.10g, \"seconds\": %.4f}\n",
           p->frame, p->first_frame, p->last_frame, p->frame_done ? "true" : "false", p->time,
           p->step, p->seconds_left, (long long)p->cells, p->volume, p->frame_seconds);
    fflush(stdout);
}

static void on_progress(void* self, const ty_progress* p)
{
    options* o = self;
    char line[400];
    progress_line(p, line, sizeof line);
    if (o->json) {
        print_json(p);
        return;
    }
    if (o->verbosity < 0) return;
    if (o->tty)
        fprintf(stderr, "\r\033[K%s%s", line,
                p->frame == p->last_frame && p->frame_done ? "\n" : "");
    else if (p->frame_done) fprintf(stderr, "%s\n", line);
}

static void on_log(void* self, ty_log_level level, const char* message)
{
    options* o = self;
    static const char* const words[] = {"error: ", "warning: ", "", ""};
    ty_log_level shown = o->verbosity < 0   ? TY_LOG_ERROR
                         : o->verbosity > 0 ? TY_LOG_DETAIL
                                            : TY_LOG_NOTE;
    if (level <= shown)
        fprintf(stderr, "%s%s%s\n", o->tty ? "\r\033[K" : "", words[level], message);
}

static void join_command(int argc, char** argv, char* out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "tethys");
    for (int i = 0; i < argc && n < size; ++i)
        n += (size_t)snprintf(out + n, size - n, " %s", argv[i]);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int run_scene(options* o, ty_scene* scene, const char* command)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "out/%s", ty_scene_name(scene));
    ty_run_def def = ty_run_default();
    def.dir = o->dir ? o->dir : dir;
    def.frames = o->frames;
    def.resume = o->resume;
    def.from = o->from;
    def.force = o->force;
    def.overwrite = o->overwrite;
    def.command = command;
    def.stop = &stop_asked;
    def.progress = on_progress;
    def.self = o;
    ty_status status = ty_run(scene, &def);
    if (o->tty && status.code != TY_OK && o->verbosity >= 0) fprintf(stderr, "\n");
    if (status.code == TY_OK && o->verbosity >= 0 && !o->json)
        fprintf(stderr, "done: %s\n", def.dir);
    return cli_finish(status);
}

int cli_run(int argc, char** argv)
{
    options o = {.from = -1, .tty = isatty(STDERR_FILENO)};
    const struct argp parser = {option_table,
                                parse_option,
                                "SCENE",
                                "Simulates a scene and writes surfaces, volumes and statistics.",
                                0,
                                0,
                                0};
    argp_err_exit_status = CLI_USAGE;
    if (argp_parse(&parser, argc, argv, 0, 0, &o) != 0) return CLI_USAGE;
    char command[4096];
    join_command(argc, argv, command, sizeof command);
    ty_set_threads(o.threads);
    ty_log_to(on_log, &o, TY_LOG_DETAIL);
    catch_signals();
    ty_scene* scene = NULL;
    ty_status status = ty_scene_open(&scene, o.scene, o.n_sets, o.set, cli_message, NULL);
    int code = status.code == TY_OK ? run_scene(&o, scene, command) : cli_finish(status);
    ty_scene_close(scene);
    return code;
}
