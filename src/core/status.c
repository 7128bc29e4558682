// SPDX-License-Identifier: Apache-2.0
#include "core/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char* const code_names[TY_N_CODES] = {
    [TY_OK] = "ok",
    [TY_BAD_INPUT] = "bad input",
    [TY_NOT_YET] = "not available yet",
    [TY_EXISTS] = "result exists",
    [TY_IO] = "input/output failed",
    [TY_DAMAGED] = "damaged file",
    [TY_NO_MEMORY] = "out of memory",
    [TY_EMPTY] = "empty",
    [TY_DIVERGED] = "numerical failure",
    [TY_STOPPED] = "stopped",
};

const char* ty_code_name(ty_code code)
{
    return code >= 0 && code < TY_N_CODES ? code_names[code] : "unknown";
}

static ty_status fail_v(ty_code code, const char* format, va_list args)
{
    ty_status s = ty_ok();
    s.code = code;
    vsnprintf(s.message, sizeof s.message, format, args);
    return s;
}

ty_status ty_fail(ty_code code, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    ty_status s = fail_v(code, format, args);
    va_end(args);
    return s;
}

ty_status ty_fail_at(ty_code code, const char* file, int line, int column, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    ty_status s = fail_v(code, format, args);
    va_end(args);
    snprintf(s.file, sizeof s.file, "%s", file ? file : "");
    s.line = line;
    s.column = column;
    return s;
}

ty_status ty_no_memory(const char* what)
{
    return ty_fail(TY_NO_MEMORY,
                   "out of memory for %s; use a larger cell or a machine with more memory", what);
}

ty_status ty_io_error(const char* doing, const char* path)
{
    int error = errno;
    return ty_fail(TY_IO, "cannot %s '%s': %s", doing, path, strerror(error));
}

const char* ty_status_text(const ty_status* s, char* out, int size)
{
    if (!s->file[0]) snprintf(out, (size_t)size, "%s", s->message);
    else if (s->column > 0)
        snprintf(out, (size_t)size, "%s:%d:%d: %s", s->file, s->line, s->column, s->message);
    else if (s->line > 0) snprintf(out, (size_t)size, "%s:%d: %s", s->file, s->line, s->message);
    else snprintf(out, (size_t)size, "%s: %s", s->file, s->message);
    return out;
}
