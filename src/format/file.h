// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. A reader never sees half a file: bytes go to NAME.tmp, are flushed to the
// disk, and only then take the name. Failures are TY_IO, name the path and say what to do.
#ifndef TY_FORMAT_FILE_H
#define TY_FORMAT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

// Replaces the file by these bytes, or leaves it as it was. Devices and pipes are written to
// directly.
ty_status ty_file_write(const char* path, const void* bytes, int64_t n);

// The same in pieces. Failures are kept until the end, so the calls between need no checks:
//
//   ty_file_writer w;
//   TY_TRY(ty_file_begin(&w, path));
//   ty_file_put(&w, bytes, n); ...
//   return ty_file_commit(&w);     or ty_file_abort(&w): nothing has happened
typedef struct ty_file_writer {
    int fd;
    int n_buffered;
    unsigned char* buffer;
    char *path, *temporary;    // temporary is NULL when written directly
    ty_status status;          // the first failure
} ty_file_writer;

ty_status ty_file_begin(ty_file_writer* w, const char* path);
void ty_file_put(ty_file_writer* w, const void* bytes, int64_t n);
void ty_file_print(ty_file_writer* w, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
ty_status ty_file_commit(ty_file_writer* w);
void ty_file_abort(ty_file_writer* w);

// The whole of a regular file; *bytes from ty_alloc with a zero after the last, so text may be used
// as a string. More than max_bytes is TY_BAD_INPUT.
ty_status ty_file_read(const char* path, int64_t max_bytes, unsigned char** bytes, int64_t* n);

// The folder and those above it, where they are missing.
ty_status ty_make_folders(const char* path);

// A text file that grows by whole rows (statistics, probes, log). A row is there entirely or not at
// all, also when the disk is full.
typedef struct ty_rows {
    int fd;
    int64_t length;    // bytes of whole rows: a checkpoint keeps it
    char* path;
} ty_rows;

// Keeps the first `length` bytes (0: starts anew; -1: all) and appends after them. TY_DAMAGED when
// there are fewer.
ty_status ty_rows_open(ty_rows* rows, const char* path, int64_t length);
// `text` ends with a newline. `sync` waits until it is on the disk.
ty_status ty_rows_append(ty_rows* rows, const char* text, bool sync);
void ty_rows_close(ty_rows* rows);

// TY_IO for errno; a full disk gets its own words and remedy.
ty_status ty_write_error(const char* path);

#endif
