// SPDX-License-Identifier: Apache-2.0
// For tests: one of the program's commands as a user meets it.
#ifndef TY_CLI_COMMAND_TEST_H
#define TY_CLI_COMMAND_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "test.h"

typedef struct answer {
    int code;
    char text[8192];    // stdout and stderr
} answer;

static inline answer run_command(const char* name, const char* arguments)
{
    char command[8192];
    answer a = {0};
    snprintf(command, sizeof command, "'%s' %s %s 2>&1", TY_PROGRAM, name, arguments);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    a.text[fread(a.text, 1, sizeof a.text - 1, pipe)] = 0;
    a.code = WEXITSTATUS(pclose(pipe));
    return a;
}

// The value of a key in JSON.
static inline double number(const answer* a, const char* key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\": ", key);
    const char* at = strstr(a->text, pattern);
    if (!at) fail_msg("no %s in: %s", key, a->text);
    return strtod(at + strlen(pattern), NULL);
}

#endif
