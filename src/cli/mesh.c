// SPDX-License-Identifier: Apache-2.0
// tethys mesh: tetrahedra from any closed surface.
#include "cli/mesh.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "core/clock.h"
#include "core/parallel.h"
#include "format/tet_io.h"

enum {
    OPT_SHAPE = 256,
    OPT_CELL,
    OPT_RESOLUTION,
    OPT_GRADE,
    OPT_UNIFORM,
    OPT_THREADS,
    OPT_QUALITY,
    OPT_JSON,
    OPT_STAGES,
    OPT_PREVIEW,
    DEFAULT_RESOLUTION = 64
};

static const struct argp_option option_table[] = {
    {"shape", OPT_SHAPE, "NAME", 0,
     "instead of a file: sphere, torus, box, cylinder, capsule, about 1 m large", 0},
    {"output", 'o', "FILE", 0, "FILE.vtu, FILE.mesh (Medit) or FILE.node with FILE.ele (TetGen)",
     0},
    {"cell", OPT_CELL, "METRES", 0, "width of the finest octants", 0},
    {"resolution", OPT_RESOLUTION, "N", 0, "cells along the longest side (64; a level set's own)",
     0},
    {"grade", OPT_GRADE, 0, 0, "larger tetrahedra inside (default)", 0},
    {"uniform", OPT_UNIFORM, 0, 0, "the same size everywhere", 0},
    {"threads", OPT_THREADS, "N", 0, "number of threads (all processors)", 0},
    {"quality", OPT_QUALITY, 0, 0, "print angles, counts, volume, seconds", 0},
    {"json", OPT_JSON, 0, 0, "print them as JSON", 0},
    {"stages", OPT_STAGES, "FOLDER", 0, "write octree, cuts, warp, tets and boundary for ParaView",
     0},
    {"preview", OPT_PREVIEW, "FILE.png", 0, "a picture of the mesh cut open", 0},
    {"quiet", 'q', 0, 0, "say nothing about mended input", 0},
    {0},
};

static double positive(struct argp_state* state, const char* option, const char* text)
{
    char* end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0.0) || value > 1e12)
        argp_error(state, "%s takes a positive number, not '%s'", option, text);
    return value;
}

static error_t parse_option(int key, char* arg, struct argp_state* state)
{
    mesh_options* o = state->input;
    const char* remedy;
    switch (key) {
    case OPT_SHAPE: o->shape = arg; break;
    case 'o': o->output = arg; break;
    case OPT_CELL: o->cell = positive(state, "--cell", arg); break;
    case OPT_RESOLUTION:
        if (!cli_number("--resolution", arg, 2, 1 << 18, &o->resolution)) exit(CLI_USAGE);
        break;
    case OPT_GRADE: o->uniform = false; break;
    case OPT_UNIFORM: o->uniform = true; break;
    case OPT_THREADS:
        if (!cli_number("--threads", arg, 1, 256, &o->threads)) exit(CLI_USAGE);
        break;
    case OPT_QUALITY: o->quality = true; break;
    case OPT_JSON: o->json = true; break;
    case OPT_STAGES: o->stages = arg; break;
    case OPT_PREVIEW: o->preview = arg; break;
    case 'q': o->quiet = true; break;
    case ARGP_KEY_ARG:
        if (o->input) argp_error(state, "one surface at a time, not '%s' too", arg);
        o->input = arg;
        break;
    case ARGP_KEY_END:
        if (!o->input == !o->shape)
            argp_error(state, "give a file (.obj, .ply, .stl, .vdb) or --shape NAME");
        if (o->cell > 0.0 && o->resolution) argp_error(state, "--cell or --resolution, not both");
        if (o->output && !ty_tet_can_write(o->output, &remedy))
            argp_error(state, "'%s': %s", o->output, remedy);
        if (!o->output && !o->stages && !o->json && !o->preview) o->quality = true;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

// A level set without a wish is meshed at its own resolution.
static double choose_cell(const mesh_options* o, const mesh_input* in)
{
    double longest = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        longest = fmax(longest, in->box.hi[axis] - in->box.lo[axis]);
    if (in->voxel > 0.0 && !o->resolution && !(o->cell > 0.0)) return in->voxel;
    return o->cell > 0.0 ? o->cell : longest / (o->resolution ? o->resolution : DEFAULT_RESOLUTION);
}

static ty_status make(const mesh_options* o, mesh_input* in, ty_stuff* s, ty_tet_mesh* m,
                      mesh_times* t)
{
    TY_TRY(mesh_input_open(in, o));
    ty_stuff_def def = ty_stuff_default();
    def.cell = choose_cell(o, in);
    def.box = in->box;
    def.uniform = o->uniform;
    double start = ty_clock();
    TY_TRY(mesh_input_prepare(in, o, def.cell));
    TY_TRY(ty_stuff_mesh(s, &in->phi, &def, m));
    t->seconds = ty_clock() - start;
    t->distance = in->build_seconds + 1e-9 * (double)in->asked / ty_threads();
    t->stuffing = t->seconds - t->distance;
    return ty_ok();
}

static ty_status write_all(const mesh_options* o, const ty_stuff* s, const ty_tet_mesh* m,
                           mesh_times* t)
{
    double start = ty_clock();
    if (o->output) TY_TRY(ty_tet_write(m, o->output));
    if (o->stages) TY_TRY(mesh_write_stages(o->stages, s, m));
    if (o->preview) TY_TRY(mesh_write_preview(o->preview, m));
    t->write = ty_clock() - start;
    return ty_ok();
}

int cli_mesh(int argc, char** argv)
{
    mesh_options o = {0};
    const struct argp parser = {
        option_table,
        parse_option,
        "[FILE]",
        "Fills a closed surface with tetrahedra whose dihedral angles are between 10.7 and 164.8 "
        "degrees.",
        0,
        0,
        0};
    argp_err_exit_status = CLI_USAGE;
    if (argp_parse(&parser, argc, argv, 0, 0, &o) != 0) return CLI_USAGE;
    ty_threads_set(o.threads);
    mesh_input in = {0};
    ty_stuff s = {0};
    ty_tet_mesh m = {0};
    mesh_times times = {0};
    ty_status status = make(&o, &in, &s, &m, &times);
    if (status.code == TY_OK) status = write_all(&o, &s, &m, &times);
    if (status.code == TY_OK) mesh_report(&o, &m, &s, &times);
    mesh_input_free(&in);
    ty_stuff_free(&s);
    ty_tet_mesh_free(&m);
    return cli_finish(status);
}
