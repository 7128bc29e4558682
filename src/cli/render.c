// SPDX-License-Identifier: Apache-2.0
// tethys render: pictures of a result, with progress on the terminal.
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "tethys/render.h"

enum {
    MAX_CAMERAS = 64,
    OPT_CAMERA = 256,
    OPT_SIZE,
    OPT_SAMPLES,
    OPT_FRAMES,
    OPT_MODE,
    OPT_THREADS,
    OPT_SHUTTER,
    OPT_EXPOSURE,
    OPT_TINT,
    OPT_NO_TANK,
    OPT_NO_DENOISE,
    OPT_NO_FILM,
    OPT_OVERWRITE,
    OPT_CUT
};

typedef struct options {
    ty_render_def def;
    const char* cameras[MAX_CAMERAS];
    int threads, verbosity;
    bool tty;
} options;

static volatile sig_atomic_t stop_asked;

static void on_signal(int signal)
{
    (void)signal;
    if (stop_asked) _exit(CLI_STOPPED);
    stop_asked = 1;
}

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "the film (.mp4), or the picture (.png; #### is the frame) instead of the folder", 0},
    {"camera", OPT_CAMERA, "NAME", 0,
     "a camera of the scene, several times for several, 'all' (default: the first)", 0},
    {"size", OPT_SIZE, "WxH", 0, "pixels (default: 1280x720)", 0},
    {"samples", OPT_SAMPLES, "N", 0,
     "rays a pixel (default: 8, a preview; 128 for a final picture)", 0},
    {"frames", OPT_FRAMES, "A-B", 0, "only these frames: 12, 1-48, 24-", 0},
    {"mode", OPT_MODE, "MODE", 0, "water (default), clay: the shape alone, wire: its triangles", 0},
    {"shutter", OPT_SHUTTER, "X", 0,
     "share of a frame the shutter is open, 0 to 1 (default: 0.5 for water)", 0},
    {"exposure", OPT_EXPOSURE, "X", 0, "2 is twice the light", 0},
    {"tint", OPT_TINT, "X", 0, "how blue deep water is: 0 clear, 1 as usual", 0},
    {"no-tank", OPT_NO_TANK, 0, 0, "without the tank's floor and glass", 0},
    {"no-denoise", OPT_NO_DENOISE, 0, 0, "leave the noise in", 0},
    {"no-film", OPT_NO_FILM, 0, 0, "frames alone, no film and no contact sheet", 0},
    {"overwrite", OPT_OVERWRITE, 0, 0, "draw again what is there already", 0},
    {"cut", OPT_CUT, "PLANE", OPTION_HIDDEN, "", 0},
    {"threads", OPT_THREADS, "N", 0,
     "threads (default: all processors); pictures do not depend on it", 0},
    {"quiet", 'q', 0, 0, "say only what went wrong", 0},
    {0},
};

static bool parse_size(const char* text, ty_render_def* def)
{
    int end = 0;
    if (sscanf(text, "%dx%d%n", &def->width, &def->height, &end) == 2 && end && !text[end] &&
        def->width > 0 && def->height > 0)
        return true;
    fprintf(stderr, "tethys: --size takes WIDTHxHEIGHT, such as 1280x720, not '%s'\n", text);
    return false;
}

// "12", "1-48", "24-", "-48".
static bool parse_frames(const char* text, ty_render_def* def)
{
    char* end;
    long first = -1, last = -1;
    const char* at = text;
    if (*at >= '0' && *at <= '9') {
        first = last = strtol(at, &end, 10);
        at = end;
    }
    if (*at == '-') {
        last = -1;
        if (at[1]) last = strtol(at + 1, &end, 10);
        at = at[1] ? end : at + 1;
    }
    if (*at || at == text || (first < 0 && last < 0) || first > 100000000 || last > 100000000 ||
        (last >= 0 && first > last)) {
        fprintf(stderr,
                "tethys: --frames takes a frame or a range, such as 12, 1-48 or 24-, not '%s'\n",
                text);
        return false;
    }
    def->first = (int)first;
    def->last = (int)last;
    return true;
}

static bool parse_mode(const char* text, ty_render_def* def)
{
    static const char* const words[] = {"water", "clay", "wire"};
    for (int i = 0; i < 3; ++i)
        if (strcmp(text, words[i]) == 0) {
            def->mode = (ty_render_mode)i;
            return true;
        }
    fprintf(stderr, "tethys: --mode takes water, clay or wire, not '%s'\n", text);
    return false;
}

static bool parse_real(const char* option, const char* text, double low, double high, double* out)
{
    char* end;
    double value = strtod(text, &end);
    if (end != text && !*end && value >= low && value <= high) {
        *out = value;
        return true;
    }
    fprintf(stderr, "tethys: %s takes a number from %g to %g, not '%s'\n", option, low, high, text);
    return false;
}

static bool no_cut_yet(void)
{
    fprintf(stderr, "tethys: --cut, the tetrahedra inside, is not available yet; runs do not write "
                    "'tets' so far\n");
    return false;
}

static bool add_camera(options* o, const char* name)
{
    if (o->def.n_cameras == MAX_CAMERAS) {
        fprintf(stderr, "tethys: more than %d --camera; 'all' takes every one\n", MAX_CAMERAS);
        return false;
    }
    o->cameras[o->def.n_cameras++] = name;
    return true;
}

static error_t parse_option(int key, char* arg, struct argp_state* state)
{
    options* o = state->input;
    ty_render_def* def = &o->def;
    switch (key) {
    case 'o': def->output = arg; break;
    case 'q': o->verbosity = -1; break;
    case OPT_CAMERA: return add_camera(o, arg) ? 0 : EINVAL;
    case OPT_SIZE: return parse_size(arg, def) ? 0 : EINVAL;
    case OPT_SAMPLES: return cli_number("--samples", arg, 1, 1000000, &def->samples) ? 0 : EINVAL;
    case OPT_FRAMES: return parse_frames(arg, def) ? 0 : EINVAL;
    case OPT_MODE: return parse_mode(arg, def) ? 0 : EINVAL;
    case OPT_SHUTTER: return parse_real("--shutter", arg, 0.0, 1.0, &def->shutter) ? 0 : EINVAL;
    case OPT_EXPOSURE: return parse_real("--exposure", arg, 1e-6, 1e6, &def->exposure) ? 0 : EINVAL;
    case OPT_TINT: return parse_real("--tint", arg, 0.0, 1000.0, &def->tint) ? 0 : EINVAL;
    case OPT_THREADS: return cli_number("--threads", arg, 1, 256, &o->threads) ? 0 : EINVAL;
    case OPT_CUT: return no_cut_yet() ? 0 : EINVAL;
    case OPT_NO_TANK: def->tank = 0; break;
    case OPT_NO_DENOISE: def->denoise = 0; break;
    case OPT_NO_FILM: def->film = 0; break;
    case OPT_OVERWRITE: def->overwrite = 1; break;
    case ARGP_KEY_ARG:
        if (def->dir) argp_error(state, "one result folder at a time, not '%s' too", arg);
        def->dir = arg;
        break;
    case ARGP_KEY_END:
        if (!def->dir)
            argp_error(state, "which result folder? It is what tethys run wrote with -o");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void on_progress(void* self, const ty_render_progress* p)
{
    const options* o = self;
    char left[40] = "";
    if (p->seconds_left >= 0.0)
        snprintf(left, sizeof left, p->seconds_left < 90 ? "  left %.0f s" : "  left %.0f min",
                 p->seconds_left < 90 ? p->seconds_left : p->seconds_left / 60);
    char took[40] = "kept";
    if (p->frame_seconds > 0.0) snprintf(took, sizeof took, "%.1f s", p->frame_seconds);
    if (o->verbosity < 0) return;
    fprintf(stderr, "%spicture %d/%d  camera %s  frame %d  %s%s%s", o->tty ? "\r\033[K" : "",
            p->done, p->total, p->camera, p->frame, took, left,
            o->tty && p->done < p->total ? "" : "\n");
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cli_render(int argc, char** argv)
{
    options o = {.def = ty_render_default(), .tty = isatty(STDERR_FILENO)};
    const struct argp parser = {
        option_table,
        parse_option,
        "DIR",
        "Draws a result: PNG frames in DIR/render/CAMERA, a film and a contact sheet in DIR. "
        "Frames drawn before with the same settings are kept.",
        0,
        0,
        0};
    argp_err_exit_status = CLI_USAGE;
    if (argp_parse(&parser, argc, argv, 0, 0, &o) != 0) return CLI_USAGE;
    ty_set_threads(o.threads);
    cli_verbosity(o.verbosity);
    catch_signals();
    o.def.cameras = o.cameras;
    o.def.stop = &stop_asked;
    o.def.progress = on_progress;
    o.def.self = &o;
    return cli_finish(ty_render(&o.def));
}
