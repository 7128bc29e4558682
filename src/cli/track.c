// SPDX-License-Identifier: Apache-2.0
// tethys track: any tracker in a prescribed flow whose answer is known.
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "sim/track_flow.h"

enum { OPT_TRACKER = 256, OPT_RESOLUTION, OPT_SET, OPT_JSON, OPT_THREADS, MAX_NAME = 64 };

typedef struct options {
    ty_track_case_def def;
    ty_varying field;
    bool has_case, json;
    int threads;
} options;

static const struct argp_option option_table[] = {
    {"tracker", OPT_TRACKER, "NAME", 0, "levelset, particle, contour, ... (contour)", 0},
    {"resolution", OPT_RESOLUTION, "N", 0, "cells along the domain (64)", 0},
    {"set", OPT_SET, "KEY=VALUE", 0,
     "center=X,Y,Z radius= period= axis=x|X,Y,Z cfl= thickening=true|false "
     "correct=true|false surfaces=N velocity=EXPR,EXPR,EXPR|FILE.vdb returns=true|false size= "
     "transport=semi-lagrangian|maccormack|weno5 redistance= particles_per_cell=N "
     "one_sided=true|false, and of thickening: gamma= redistribute= reject= beta= "
     "grow_big= grow_small= reach=",
     0},
    {"output", 'o', "DIR", 0, "write surfaces and track.csv", 0},
    {"json", OPT_JSON, 0, 0, "print the result as JSON", 0},
    {"threads", OPT_THREADS, "N", 0, "number of threads (all processors)", 0},
    {0},
};

static bool read_number(const char* text, double* value)
{
    char* end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*value);
}

static bool read_flag(const char* text, bool* value)
{
    static const char* const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};
    for (int i = 0; i < 8; ++i)
        if (strcmp(text, words[i]) == 0) {
            *value = i & 1;
            return true;
        }
    return false;
}

// "1,2,3" or "[1, 2, 3]".
static bool read_vector(const char* text, double value[3])
{
    const char* at = text + (text[0] == '[');
    for (int i = 0; i < 3; ++i) {
        char* end;
        value[i] = strtod(at, &end);
        if (end == at || !isfinite(value[i])) return false;
        while (*end == ' ') ++end;
        if (i < 2 && *end != ',') return false;
        at = end + (i < 2);
    }
    return *at == 0 || (text[0] == '[' && strcmp(at, "]") == 0);
}

static bool read_axis(const char* text, double axis[3])
{
    if (strlen(text) == 1 && strchr("xyz", text[0])) {
        for (int i = 0; i < 3; ++i) axis[i] = text[0] == "xyz"[i];
        return true;
    }
    return read_vector(text, axis);
}

static bool read_transport(const char* text, ty_transport* transport)
{
    static const char* const words[] = {"semi-lagrangian", "maccormack", "weno5"};
    for (int i = 0; i < 3; ++i)
        if (strcmp(text, words[i]) == 0) {
            *transport = (ty_transport)i;
            return true;
        }
    return false;
}

// Three expressions; commas inside brackets belong to them.
static ty_status read_expressions(const char* text, ty_varying* v)
{
    char part[TY_EXPR_MAX_LENGTH + 1];
    int depth = 0, n = 0, length = 0;
    v->kind = TY_VARY_EXPRESSION;
    for (const char* c = text;; ++c) {
        depth += (*c == '(') - (*c == ')');
        if (*c && (*c != ',' || depth > 0)) {
            if (length == TY_EXPR_MAX_LENGTH)
                return ty_fail(TY_BAD_INPUT, "the velocity is too long");
            part[length++] = *c;
            continue;
        }
        part[length] = 0;
        length = 0;
        if (n < 3) TY_TRY(ty_expr_create(&v->expr[n], part));
        ++n;
        if (!*c) break;
    }
    return n == 3 ? ty_ok()
                  : ty_fail(TY_BAD_INPUT, "velocity takes three expressions with commas between");
}

static ty_status read_velocity(options* o, const char* text)
{
    ty_varying_free(&o->field);
    o->field = ty_varying_vector(0.0, 0.0, 0.0);
    o->def.field = &o->field;
    size_t length = strlen(text);
    if (length < 4 || strcmp(text + length - 4, ".vdb") != 0)
        return read_expressions(text, &o->field);
    o->field.kind = TY_VARY_VOLUME;
    o->field.volume_file = ty_strdup(text);
    o->field.volume_grid = ty_strdup("velocity");
    o->field.volume_rate = 24;
    o->field.volume_start = 1;
    return o->field.volume_file && o->field.volume_grid ? ty_ok() : ty_no_memory("a velocity");
}

// Numbers that may be set, by name.
static double* number_of(ty_track_case_def* d, const char* key)
{
    const struct {
        const char* name;
        double* at;
    } numbers[] = {{"radius", &d->radius},
                   {"period", &d->period},
                   {"cfl", &d->cfl},
                   {"size", &d->size},
                   {"redistance", &d->track.redistance},
                   {"gamma", &d->track.thicken_gamma},
                   {"redistribute", &d->track.thicken_redistribute},
                   {"reject", &d->track.thicken_reject},
                   {"beta", &d->track.thicken_beta},
                   {"grow_big", &d->track.thicken_grow_big},
                   {"grow_small", &d->track.thicken_grow_small},
                   {"reach", &d->track.thicken_radius}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (strcmp(numbers[i].name, key) == 0) return numbers[i].at;
    return NULL;
}

static ty_status set_key(options* o, const char* key, const char* value)
{
    ty_track_case_def* d = &o->def;
    double* number = number_of(d, key);
    bool good = false;
    if (number) good = read_number(value, number);
    else if (strcmp(key, "center") == 0) good = read_vector(value, d->center);
    else if (strcmp(key, "axis") == 0) good = read_axis(value, d->axis);
    else if (strcmp(key, "correct") == 0) good = read_flag(value, &d->correct);
    else if (strcmp(key, "returns") == 0) good = read_flag(value, &d->returns);
    else if (strcmp(key, "thickening") == 0) good = read_flag(value, &d->track.thicken_surface);
    else if (strcmp(key, "one_sided") == 0) good = read_flag(value, &d->track.one_sided);
    else if (strcmp(key, "particles_per_cell") == 0)
        good = cli_number("particles_per_cell", value, 1, 1000, &d->track.particles_per_cell);
    else if (strcmp(key, "transport") == 0) good = read_transport(value, &d->track.transport);
    else if (strcmp(key, "surfaces") == 0)
        good = cli_number("surfaces", value, 1, 10000, &d->surfaces);
    else if (strcmp(key, "velocity") == 0) return read_velocity(o, value);
    else return ty_fail(TY_BAD_INPUT, "there is no key '%s' to set; see tethys track --help", key);
    return good ? ty_ok() : ty_fail(TY_BAD_INPUT, "'%s' is no value for %s", value, key);
}

static ty_status set(options* o, const char* text)
{
    const char* equals = strchr(text, '=');
    char key[MAX_NAME];
    if (!equals || equals - text >= MAX_NAME)
        return ty_fail(TY_BAD_INPUT, "--set takes KEY=VALUE, not '%s'", text);
    memcpy(key, text, (size_t)(equals - text));
    key[equals - text] = 0;
    return set_key(o, key, equals + 1);
}

static error_t parse_option(int key, char* arg, struct argp_state* state)
{
    options* o = state->input;
    ty_status status;
    switch (key) {
    case OPT_TRACKER: o->def.track.kind = arg; break;
    case OPT_RESOLUTION:
        if (!cli_number("--resolution", arg, 4, 4096, &o->def.resolution)) exit(CLI_USAGE);
        break;
    case OPT_THREADS:
        if (!cli_number("--threads", arg, 1, 256, &o->threads)) exit(CLI_USAGE);
        break;
    case OPT_SET:
        status = set(o, arg);
        if (status.code != TY_OK) exit(cli_finish(status));
        break;
    case 'o': o->def.out = arg; break;
    case OPT_JSON: o->json = true; break;
    case ARGP_KEY_ARG:
        if (o->has_case) argp_error(state, "one case at a time");
        o->def.name = arg;
        o->has_case = true;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which case? %s", ty_track_flow_names()); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

typedef struct column {
    const char* name;
    double value;
} column;

// JSON knows neither infinity nor NaN.
static void print_json(const ty_track_case_result* r, int n, const column* c)
{
    printf("{\"tracker\": \"%s\"", r->tracker);
    for (int i = 0; i < n; ++i)
        if (isfinite(c[i].value)) printf(", \"%s\": %.9g", c[i].name, c[i].value);
        else printf(", \"%s\": null", c[i].name);
    printf("}\n");
}

static void print_text(const ty_track_case_result* r, int n, const column* c)
{
    printf("tracker");
    for (int i = 0; i < n; ++i) printf(",%s", c[i].name);
    printf("\n%s", r->tracker);
    for (int i = 0; i < n; ++i) printf(",%.6g", c[i].value);
    printf("\n");
}

static void print_result(const ty_track_case_result* r, bool json)
{
    const column columns[] = {{"resolution", r->resolution},
                              {"steps", r->steps},
                              {"triangles_max", r->triangles_max},
                              {"volume_error", r->volume_error},
                              {"area_mid", r->area_mid},
                              {"symmetric_difference", r->symmetric_difference},
                              {"mean_distance", r->mean_distance},
                              {"max_distance", r->max_distance},
                              {"seconds", r->seconds},
                              {"volume_error_uncorrected", r->volume_error_uncorrected}};
    int n = sizeof columns / sizeof *columns;
    if (json) print_json(r, n, columns);
    else print_text(r, n, columns);
}

int cli_track(int argc, char** argv)
{
    static const struct argp parser = {.options = option_table,
                                       .parser = parse_option,
                                       .args_doc = "CASE",
                                       .doc = "Puts a tracker through a flow whose answer is "
                                              "known: zalesak, enright, shear, rotate, translate, "
                                              "or field with --set velocity=."};
    options o = {.def = ty_track_case_default()};
    o.def.track.kind = ty_tracker_find("contour") ? "contour" : "levelset";
    if (argp_parse(&parser, argc, argv, 0, NULL, &o) != 0) return CLI_USAGE;
    if (o.threads) ty_set_threads(o.threads);
    ty_track_case_result result;
    ty_status status = ty_track_case_run(&o.def, &result);
    if (status.code == TY_OK) print_result(&result, o.json);
    ty_varying_free(&o.field);
    return cli_finish(status);
}
