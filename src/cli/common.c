// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

int cli_finish(ty_status s)
{
    if (s.code == TY_OK) return CLI_OK;
    fprintf(stderr, "tethys: ");
    if (s.file[0]) fprintf(stderr, "%s:", s.file);
    if (s.file[0] && s.line > 0) fprintf(stderr, "%d:", s.line);
    if (s.file[0] && s.line > 0 && s.column > 0) fprintf(stderr, "%d:", s.column);
    fprintf(stderr, "%s%s\n", s.file[0] ? " " : "", s.message);
    switch (s.code) {
    case TY_STOPPED: return CLI_STOPPED;
    case TY_BAD_INPUT:
    case TY_NOT_YET:
    case TY_EXISTS:
    case TY_EMPTY: return CLI_USAGE;
    default: return CLI_FAILED;
    }
}

void cli_message(void* self, int is_error, const char* text, const char* excerpt)
{
    (void)self;
    (void)is_error;
    fprintf(stderr, "%s\n", text);
    if (excerpt[0]) fprintf(stderr, "%s\n", excerpt);
}

static void print_log(void* self, ty_log_level level, const char* message)
{
    (void)self;
    static const char* const words[] = {"error: ", "warning: ", "", ""};
    fprintf(stderr, "%s%s\n", words[level], message);
}

void cli_verbosity(int level)
{
    ty_log_to(print_log, NULL, level < 0 ? TY_LOG_ERROR : level > 0 ? TY_LOG_DETAIL : TY_LOG_NOTE);
}

bool cli_number(const char* option, const char* text, long low, long high, int* out)
{
    char* end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high) {
        fprintf(stderr, "tethys: %s takes a whole number from %ld to %ld, not '%s'\n", option, low,
                high, text);
        return false;
    }
    *out = (int)value;
    return true;
}
