// SPDX-License-Identifier: Apache-2.0
// The commands of the program, one file each. A command takes its own arguments (argv[0] is its
// name) and returns the exit code: 0 done, 1 the run failed, 2 bad input or usage, 130 stopped.
#ifndef TY_CLI_CLI_H
#define TY_CLI_CLI_H

#include <stdbool.h>

#include "tethys/tethys.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_STOPPED = 130 };

int cli_run(int argc, char** argv);
int cli_check(int argc, char** argv);
int cli_render(int argc, char** argv);
int cli_info(int argc, char** argv);
int cli_reference(int argc, char** argv);
int cli_track(int argc, char** argv);
int cli_bench(int argc, char** argv);
int cli_mesh(int argc, char** argv);
int cli_bench_dam(int argc, char** argv);
int cli_bench_amg(int argc, char** argv);
int cli_bench_mesh(int argc, char** argv);
int cli_bench_distance(int argc, char** argv);

// The exit code for a status; prints the message of a failure to stderr as "tethys: message".
int cli_finish(ty_status status);
// Prints a scene's mistakes to stderr; for ty_scene_open and ty_check.
void cli_message(void* self, int is_error, const char* text, const char* excerpt);
// How much to say: -1 quiet, 0 normal, 1 more. Sends the library's log to stderr.
void cli_verbosity(int level);
// "--threads N", checked: exits the command with CLI_USAGE through the return value.
bool cli_number(const char* option, const char* text, long low, long high, int* out);

#endif
