// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

typedef struct command {
    const char* name;
    int (*main)(int argc, char** argv);
    const char* usage;
} command;

static const command commands[] = {
    {"run", cli_run,
     "run SCENE [-o DIR]       simulate a scene and write surfaces, volumes, statistics"},
    {"check", cli_check,
     "check SCENE              read a scene, say what would run, simulate nothing"},
    {"mesh", cli_mesh, "mesh IN -o OUT           tetrahedra from any closed surface"},
    {"render", cli_render,
     "render DIR               draw a result: frames, a film, a contact sheet"},
    {"track", cli_track, "track CASE --tracker NAME   a tracker in a flow whose answer is known"},
    {"info", cli_info,
     "info FILE...             what is in a scene, a result, a checkpoint, a mesh, a volume"},
    {"reference", cli_reference,
     "reference [--json-schema]   every key of a scene, as Markdown or JSON Schema"},
    {"bench", cli_bench, "bench CASE [--json]      how fast the parts are on this machine"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE* out)
{
    fprintf(
        out,
        "Tethys %s: liquids and smoke for film and for research.\n\nusage: tethys COMMAND ...\n\n",
        ty_version());
    for (int i = 0; i < N_COMMANDS; ++i) fprintf(out, "  tethys %s\n", commands[i].usage);
    fprintf(out, "\n  tethys COMMAND --help    the options of a command\n"
                 "  tethys --version         version, and which optional parts are in\n");
}

// Under the name that a user typed, which help and complaints repeat.
static int call(const command* c, int argc, char** argv)
{
    char name[32];
    snprintf(name, sizeof name, "tethys %s", c->name);
    argv[0] = name;
    return c->main(argc, argv);
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tethys %s (with %s)\n", ty_version(), ty_features());
        return CLI_OK;
    }
    for (int i = 0; i < N_COMMANDS; ++i)
        if (strcmp(argv[1], commands[i].name) == 0) return call(&commands[i], argc - 1, argv + 1);
    fprintf(stderr, "tethys: there is no command '%s'; see tethys --help\n", argv[1]);
    return CLI_USAGE;
}
