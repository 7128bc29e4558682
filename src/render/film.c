// SPDX-License-Identifier: Apache-2.0
#include "render/film.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "render/image.h"

extern char** environ;

enum { DIGIT_ROWS = 240, SHEET_COLUMNS = 4, SHEET_TILE = 400, SHEET_GAP = 6 };

static int digit_scale(int height) { return height < DIGIT_ROWS ? 1 : height / DIGIT_ROWS; }

bool ty_film_possible(void)
{
    const char* path = getenv("PATH");
    char file[4400];
    for (const char* at = path; at && *at;) {
        int n = (int)strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/ffmpeg", n, at);
        if (access(file, X_OK) == 0) return true;
        at += n + (at[n] == ':');
    }
    return false;
}

// Starts ffmpeg with a socket as its standard input: a write to one that died fails instead of
// ending this process.
static ty_status start(const char* path, int width, int height, double rate, pid_t* pid, int* to)
{
    char size[32], rate_text[32];
    int ends[2];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate_text, sizeof rate_text, "%.6g", rate);
    // yuv420p needs even sides.
    char* const args[] = {"ffmpeg",    "-v",         "error",    "-y",
                          "-f",        "rawvideo",   "-pix_fmt", "rgb24",
                          "-s",        size,         "-r",       rate_text,
                          "-i",        "pipe:0",     "-vf",      "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                          "-c:v",      "libx264",    "-pix_fmt", "yuv420p",
                          "-crf",      "18",         "-preset",  "medium",
                          "-movflags", "+faststart", "-f",       "mp4",
                          (char*)path, NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return ty_io_error("make a pipe for", path);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    int failed = posix_spawnp(pid, "ffmpeg", &actions, NULL, args, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    *to = ends[1];
    if (!failed) return ty_ok();
    close(ends[1]);
    return ty_fail(TY_IO, "cannot start ffmpeg: %s", strerror(failed));
}

static bool send_all(int to, const uint8_t* bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(to, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

static ty_status send_shots(int to, int n, const ty_shot* shots, int width, int height)
{
    ty_image image = {0};
    ty_status status = ty_ok();
    for (int i = 0; i < n && status.code == TY_OK; ++i) {
        status = ty_png_read(&image, shots[i].path);
        if (status.code == TY_OK && (image.width != width || image.height != height))
            status = ty_fail_at(TY_BAD_INPUT, shots[i].path, 0, 0,
                                "%d x %d pixels, but the film has %d x %d", image.width,
                                image.height, width, height);
        if (status.code != TY_OK) break;
        ty_image_number(&image, shots[i].number, digit_scale(height));
        if (!send_all(to, image.rgb, (size_t)width * (size_t)height * 3))
            status = ty_fail(TY_IO, "ffmpeg stopped while it made a film; its message is above");
    }
    ty_image_free(&image);
    return status;
}

static ty_status finish(pid_t pid, const char* temporary, const char* path, ty_status status)
{
    int code = 0;
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR) continue;
    bool ok = WIFEXITED(code) && WEXITSTATUS(code) == 0;
    if (status.code == TY_OK && !ok)
        status = ty_fail(TY_IO, "ffmpeg could not write '%s'; its message is above", path);
    if (status.code == TY_OK && rename(temporary, path) != 0) status = ty_io_error("write", path);
    if (status.code != TY_OK) unlink(temporary);
    return status;
}

ty_status ty_film_write(const char* path, int n, const ty_shot* shots, double rate)
{
    char temporary[4300];
    ty_image first = {0};
    pid_t pid = -1;
    int to = -1;
    if (n == 0) return ty_fail(TY_EMPTY, "a film of no pictures");
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    TY_TRY(ty_png_read(&first, shots[0].path));
    int width = first.width, height = first.height;
    ty_image_free(&first);
    TY_TRY(start(temporary, width, height, rate, &pid, &to));
    ty_status status = send_shots(to, n, shots, width, height);
    close(to);
    return finish(pid, temporary, path, status);
}

static ty_status fill_sheet(ty_image* sheet, int n, const ty_shot* shots, int n_tiles, int columns)
{
    ty_image image = {0};
    int height = 0;
    ty_status status = ty_ok();
    for (int i = 0; i < n_tiles && status.code == TY_OK; ++i) {
        const ty_shot* shot = &shots[n_tiles > 1 ? (int64_t)i * (n - 1) / (n_tiles - 1) : 0];
        status = ty_png_read(&image, shot->path);
        if (status.code != TY_OK) break;
        if (!sheet->rgb) {
            int rows = (n_tiles + columns - 1) / columns;
            height = SHEET_TILE * image.height / image.width;
            status = ty_image_resize(sheet, columns * (SHEET_TILE + SHEET_GAP) + SHEET_GAP,
                                     rows * (height + SHEET_GAP) + SHEET_GAP);
            if (status.code != TY_OK) break;
            memset(sheet->rgb, 255, (size_t)sheet->width * (size_t)sheet->height * 3);
        }
        int scale = 2 * digit_scale(image.height);
        ty_image_number(&image, shot->number, scale);
        ty_image_place(sheet, &image, SHEET_GAP + i % columns * (SHEET_TILE + SHEET_GAP),
                       SHEET_GAP + i / columns * (height + SHEET_GAP), SHEET_TILE, height);
    }
    ty_image_free(&image);
    return status;
}

ty_status ty_sheet_write(const char* path, int n, const ty_shot* shots, int most)
{
    ty_image sheet = {0};
    int n_tiles = n < most ? n : most, columns = n_tiles < SHEET_COLUMNS ? n_tiles : SHEET_COLUMNS;
    if (n == 0) return ty_fail(TY_EMPTY, "a contact sheet of no pictures");
    ty_status status = fill_sheet(&sheet, n, shots, n_tiles, columns);
    if (status.code == TY_OK) status = ty_png_write(&sheet, path, "");
    ty_image_free(&sheet);
    return status;
}
