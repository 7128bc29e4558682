// SPDX-License-Identifier: Apache-2.0
// tethys check, info, reference: questions about files, answered with text.
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_SETS = 256, OPT_SET = 256 };

typedef struct options {
    const char* scene;
    const char* set[MAX_SETS];
    int n_sets;
} options;

static const struct argp_option option_table[] = {
    {"set", OPT_SET, "KEY=VALUE", 0, "override a key of the scene", 0},
    {0},
};

static error_t parse_option(int key, char* arg, struct argp_state* state)
{
    options* o = state->input;
    switch (key) {
    case OPT_SET:
        if (o->n_sets == MAX_SETS) argp_error(state, "more than %d --set", MAX_SETS);
        o->set[o->n_sets++] = arg;
        break;
    case ARGP_KEY_ARG:
        if (o->scene) argp_error(state, "one scene at a time, not '%s' too", arg);
        o->scene = arg;
        break;
    case ARGP_KEY_END:
        if (!o->scene) argp_error(state, "which scene?");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int print_text(ty_status status, char* text)
{
    if (text) fputs(text, stdout);
    ty_text_free(text);
    return cli_finish(status);
}

int cli_check(int argc, char** argv)
{
    options o = {0};
    const struct argp parser = {
        option_table,
        parse_option,
        "SCENE",
        "Reads a scene, says what would run and what usually goes wrong. Simulates nothing.",
        0,
        0,
        0};
    argp_err_exit_status = CLI_USAGE;
    if (argp_parse(&parser, argc, argv, 0, 0, &o) != 0) return CLI_USAGE;
    cli_verbosity(0);
    ty_scene* scene = NULL;
    char* text = NULL;
    ty_status status = ty_scene_open(&scene, o.scene, o.n_sets, o.set, cli_message, NULL);
    if (status.code == TY_OK) status = ty_check(scene, cli_message, NULL, &text);
    ty_scene_close(scene);
    return print_text(status, text);
}

int cli_info(int argc, char** argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        fprintf(argc < 2 ? stderr : stdout, "usage: tethys info FILE...\nWhat is in a scene, a "
                                            "result folder, a checkpoint, a mesh or a volume.\n");
        return argc < 2 ? CLI_USAGE : CLI_OK;
    }
    int code = CLI_OK;
    for (int i = 1; i < argc; ++i) {
        char* text = NULL;
        ty_status status = ty_info(argv[i], &text);
        int own = print_text(status, text);
        if (own > code) code = own;
    }
    return code;
}

int cli_reference(int argc, char** argv)
{
    bool schema = argc == 2 && strcmp(argv[1], "--json-schema") == 0;
    if (argc > 1 && !schema) {
        bool help = strcmp(argv[1], "--help") == 0;
        fprintf(help ? stdout : stderr, "usage: tethys reference [--json-schema]\nEvery key of a "
                                        "scene, as Markdown or as a JSON Schema.\n");
        return help ? CLI_OK : CLI_USAGE;
    }
    char* text = NULL;
    ty_status status = ty_reference(schema, &text);
    return print_text(status, text);
}
