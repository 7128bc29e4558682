// SPDX-License-Identifier: Apache-2.0
// Making and passing on ty_status values.
#ifndef TY_CORE_STATUS_H
#define TY_CORE_STATUS_H

#include "tethys/status.h"

static inline ty_status ty_ok(void)
{
    ty_status s;
    s.code = TY_OK;
    s.line = s.column = 0;
    s.file[0] = s.message[0] = 0;
    return s;
}

// A failure without a place in a user's file.
ty_status ty_fail(ty_code code, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A failure at a place of a user's file; line and column may be 0.
ty_status ty_fail_at(ty_code code, const char* file, int line, int column, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// Out of memory; `what` names what was wanted ("octree leaves").
ty_status ty_no_memory(const char* what);

// TY_IO with strerror(errno): "cannot open 'bucket.obj': No such file or directory".
ty_status ty_io_error(const char* doing, const char* path);

// The status as one line, "file:line:column: message" or "message". Returns `out`.
const char* ty_status_text(const ty_status* s, char* out, int size);

// Returns from the calling function when `expr` failed.
#define TY_TRY(expr)                                                                               \
    do {                                                                                           \
        ty_status try_status_ = (expr);                                                            \
        if (try_status_.code != TY_OK) return try_status_;                                         \
    } while (0)

// Goes to `label` with `status` set when `expr` failed: for functions that clean up.
#define TY_TRY_GOTO(status, expr, label)                                                           \
    do {                                                                                           \
        (status) = (expr);                                                                         \
        if ((status).code != TY_OK) goto label;                                                    \
    } while (0)

#endif
