// SPDX-License-Identifier: Apache-2.0
#include "format/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

enum { BUFFER = 1 << 16 };
static const size_t max_transfer = 1 << 30;    // the kernel moves less than 2 GiB per call

ty_status ty_write_error(const char* path)
{
    int error = errno;
    if (error == ENOSPC || error == EDQUOT)
        return ty_fail(TY_IO,
                       "cannot write '%s': the disk is full (%s); free some space or choose a "
                       "folder on another disk, "
                       "then continue with --resume",
                       path, strerror(error));
    if (error == EROFS || error == EACCES || error == EPERM)
        return ty_fail(TY_IO, "cannot write '%s': %s; choose a folder that you may write to", path,
                       strerror(error));
    errno = error;
    return ty_io_error("write", path);
}

static bool write_all(int fd, const unsigned char* bytes, int64_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, (uint64_t)n < max_transfer ? (size_t)n : max_transfer);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        bytes += done;
        n -= done;
    }
    return true;
}

// Pipes and terminals cannot be flushed to a disk; that is no failure.
static bool flush(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

static bool is_special(const char* path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static char* join(const char* path, const char* suffix)
{
    size_t n = strlen(path), m = strlen(suffix) + 1;
    char* joined = ty_alloc(n + m, 1);
    if (!joined) return NULL;
    memcpy(joined, path, n);
    memcpy(joined + n, suffix, m);
    return joined;
}

static void release(ty_file_writer* w)
{
    ty_free(w->buffer);
    ty_free(w->path);
    ty_free(w->temporary);
    *w = (ty_file_writer){.fd = -1};
}

ty_status ty_file_begin(ty_file_writer* w, const char* path)
{
    *w = (ty_file_writer){.fd = -1, .status = ty_ok()};
    bool direct = is_special(path);
    w->buffer = ty_alloc(BUFFER, 1);
    w->path = ty_strdup(path);
    w->temporary = direct ? NULL : join(path, ".tmp");
    if (!w->buffer || !w->path || (!direct && !w->temporary)) {
        release(w);
        return ty_no_memory("a file's buffer");
    }
    int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_TRUNC);
    w->fd = open(direct ? path : w->temporary, flags, 0666);
    if (w->fd >= 0) return ty_ok();
    ty_status status = ty_write_error(path);
    release(w);
    return status;
}

static void empty_buffer(ty_file_writer* w)
{
    if (w->status.code == TY_OK && !write_all(w->fd, w->buffer, w->n_buffered))
        w->status = ty_write_error(w->path);
    w->n_buffered = 0;
}

void ty_file_put(ty_file_writer* w, const void* bytes, int64_t n)
{
    if (n <= 0) return;
    if (w->n_buffered + n > BUFFER) empty_buffer(w);
    if (n <= BUFFER) {
        memcpy(w->buffer + w->n_buffered, bytes, (size_t)n);
        w->n_buffered += (int)n;
    } else if (w->status.code == TY_OK && !write_all(w->fd, bytes, n)) {
        w->status = ty_write_error(w->path);
    }
}

void ty_file_print(ty_file_writer* w, const char* format, ...)
{
    char text[2000];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= (int)sizeof text && w->status.code == TY_OK)
        w->status = ty_fail(TY_BAD_INPUT,
                            "a line of '%s' has %d characters; at most %d are possible", w->path, n,
                            (int)sizeof text - 1);
    else ty_file_put(w, text, n);
}

// The new name itself reaches the disk only with its folder.
static bool flush_folder_of(const char* path)
{
    char* folder = ty_strdup(path);
    if (!folder) return true;    // the file is safe; only its name may come late
    char* slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd < 0 || flush(fd);
    if (fd >= 0) close(fd);
    ty_free(folder);
    return ok;
}

ty_status ty_file_commit(ty_file_writer* w)
{
    empty_buffer(w);
    if (w->status.code == TY_OK && !flush(w->fd)) w->status = ty_write_error(w->path);
    if (close(w->fd) != 0 && errno != EINTR && w->status.code == TY_OK)
        w->status = ty_write_error(w->path);
    w->fd = -1;
    if (w->temporary && w->status.code == TY_OK) {
        if (rename(w->temporary, w->path) != 0 || !flush_folder_of(w->path))
            w->status = ty_write_error(w->path);
    }
    ty_status status = w->status;
    ty_file_abort(w);
    return status;
}

void ty_file_abort(ty_file_writer* w)
{
    if (w->fd >= 0) close(w->fd);
    if (w->temporary) unlink(w->temporary);    // after a rename there is none
    release(w);
}

ty_status ty_file_write(const char* path, const void* bytes, int64_t n)
{
    ty_file_writer w;
    TY_TRY(ty_file_begin(&w, path));
    ty_file_put(&w, bytes, n);
    return ty_file_commit(&w);
}

static ty_status check_size(int fd, const char* path, int64_t max_bytes, int64_t* n)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return ty_io_error("read", path);
    if (S_ISDIR(st.st_mode))
        return ty_fail(TY_BAD_INPUT, "cannot read '%s': it is a folder; give a file", path);
    if (!S_ISREG(st.st_mode))
        return ty_fail(TY_BAD_INPUT, "cannot read '%s': it is not a regular file", path);
    if (st.st_size > max_bytes)
        return ty_fail(TY_BAD_INPUT, "'%s' has %lld bytes; at most %lld can be read", path,
                       (long long)st.st_size, (long long)max_bytes);
    *n = st.st_size;
    return ty_ok();
}

static ty_status read_all(int fd, const char* path, int64_t max_bytes, unsigned char** bytes,
                          int64_t* n)
{
    int64_t size = 0, got = 0;
    TY_TRY(check_size(fd, path, max_bytes, &size));
    *bytes = ty_alloc((size_t)size + 1, 1);
    if (!*bytes) return ty_no_memory("a file's contents");
    while (got < size) {
        uint64_t wanted = (uint64_t)(size - got);
        ssize_t done = read(fd, *bytes + got,
                            wanted < max_transfer ? (size_t)wanted : max_transfer);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return ty_io_error("read", path);
        if (done == 0) break;    // cut off while we read
        got += done;
    }
    (*bytes)[got] = 0;
    *n = got;
    return ty_ok();
}

ty_status ty_file_read(const char* path, int64_t max_bytes, unsigned char** bytes, int64_t* n)
{
    *bytes = NULL;
    *n = 0;
    int fd = open(path,
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK);    // a pipe without a writer must not hang us
    if (fd < 0) return ty_io_error("open", path);
    ty_status status = read_all(fd, path, max_bytes, bytes, n);
    close(fd);
    if (status.code == TY_OK) return status;
    ty_free(*bytes);
    *bytes = NULL;
    return status;
}

ty_status ty_make_folders(const char* path)
{
    char* part = ty_strdup(path);
    if (!part) return ty_no_memory("a folder's name");
    ty_status status = ty_ok();
    for (char* end = part + 1; *part; ++end) {
        if (*end && *end != '/') continue;
        char kept = *end;
        *end = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            status = ty_io_error("make folder", part);
            break;
        }
        *end = kept;
        if (!kept) break;
    }
    struct stat st;
    if (status.code == TY_OK && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
        status = ty_fail(TY_IO, "cannot make folder '%s': a file of that name is in the way", path);
    ty_free(part);
    return status;
}

static ty_status position_rows(ty_rows* rows, int64_t length)
{
    struct stat st;
    if (fstat(rows->fd, &st) != 0) return ty_io_error("read", rows->path);
    if (length < 0) length = st.st_size;
    if (st.st_size < length)
        return ty_fail(TY_DAMAGED,
                       "'%s' has %lld bytes instead of %lld; it was changed since the checkpoint",
                       rows->path, (long long)st.st_size, (long long)length);
    if (ftruncate(rows->fd, length) != 0 || lseek(rows->fd, length, SEEK_SET) < 0)
        return ty_write_error(rows->path);
    rows->length = length;
    return ty_ok();
}

ty_status ty_rows_open(ty_rows* rows, const char* path, int64_t length)
{
    *rows = (ty_rows){.fd = -1, .path = ty_strdup(path)};
    if (!rows->path) return ty_no_memory("a file's name");
    rows->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    ty_status status = rows->fd < 0 ? ty_write_error(path) : position_rows(rows, length);
    if (status.code != TY_OK) ty_rows_close(rows);
    return status;
}

ty_status ty_rows_append(ty_rows* rows, const char* text, bool sync)
{
    int64_t n = (int64_t)strlen(text);
    if (write_all(rows->fd, (const unsigned char*)text, n) && (!sync || flush(rows->fd))) {
        rows->length += n;
        return ty_ok();
    }
    ty_status status = ty_write_error(rows->path);
    if (ftruncate(rows->fd, rows->length) == 0) lseek(rows->fd, rows->length, SEEK_SET);
    return status;
}

void ty_rows_close(ty_rows* rows)
{
    if (rows->fd >= 0) close(rows->fd);
    ty_free(rows->path);
    *rows = (ty_rows){.fd = -1};
}
