// SPDX-License-Identifier: Apache-2.0
// tethys bench: how fast the parts are on this machine. One file per case.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

typedef struct bench_case {
    const char* name;
    int (*main)(int argc, char** argv);
    const char* usage;
} bench_case;

static const bench_case cases[] = {
    {"dam", cli_bench_dam, "dam         a dam break in a unit cube, seconds per frame"},
    {"amg", cli_bench_amg,
     "amg         linear solvers on pressure systems: ours, the paper's, IC(0), hypre"},
    {"mesh", cli_bench_mesh, "mesh        tetrahedra per second, bytes, location of points"},
    {"distance", cli_bench_distance, "distance    exact distances to a triangle mesh per second"},
    {NULL, NULL, NULL},
};

int cli_bench(int argc, char** argv)
{
    for (const bench_case* c = cases; argc > 1 && c->name; ++c)
        if (strcmp(argv[1], c->name) == 0) return c->main(argc - 1, argv + 1);
    bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    fprintf(help ? stdout : stderr, "usage: tethys bench CASE ...\n\n");
    for (const bench_case* c = cases; c->name; ++c)
        fprintf(help ? stdout : stderr, "  %s\n", c->usage);
    return help ? CLI_OK : CLI_USAGE;
}
