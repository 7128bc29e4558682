// SPDX-License-Identifier: Apache-2.0
#include "sim/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/config.h"
#include "core/parallel.h"
#include "format/file.h"

static const char* const frame_kinds[] = {"surface", "volume", "tets", "particles", "checkpoint"};
static const char* const files[] = {"scene.yaml", "run.json", "stats.csv", "probes.csv", "log.txt"};
enum {
    N_FRAME_KINDS = sizeof frame_kinds / sizeof *frame_kinds,
    N_FILES = sizeof files / sizeof *files
};

static void now_text(char out[32])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

ty_status ty_folder_open(ty_folder* folder, const char* dir)
{
    folder->lock = -1;
    if (strlen(dir) >= sizeof folder->dir)
        return ty_fail(TY_BAD_INPUT, "the name of the result folder is longer than %zu characters",
                       sizeof folder->dir - 1);
    strcpy(folder->dir, dir);
    now_text(folder->started);
    TY_TRY(ty_make_folders(dir));
    char path[4096];
    snprintf(path, sizeof path, "%s/.lock", dir);
    folder->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (folder->lock < 0) return ty_io_error("write into", dir);
    if (flock(folder->lock, LOCK_EX | LOCK_NB) == 0) return ty_ok();
    ty_folder_close(folder);
    return ty_fail(TY_EXISTS,
                   "another run is writing into '%s'; wait for it, or give another folder with -o",
                   dir);
}

void ty_folder_close(ty_folder* folder)
{
    if (folder->lock >= 0) close(folder->lock);
    folder->lock = -1;
}

bool ty_folder_has_result(const ty_folder* folder)
{
    char path[4096];
    struct stat st;
    for (int i = 0; i < N_FILES; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder->dir, files[i]);
        if (stat(path, &st) == 0) return true;
    }
    for (int i = 0; i < N_FRAME_KINDS; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder->dir, frame_kinds[i]);
        if (stat(path, &st) == 0) return true;
    }
    return false;
}

// Whether `name` is KIND.0012.ext (or frame.0012.tyc, stopped.tyc), and its number; -1 for stopped.
static bool frame_file(const char* name, const char* kind, int* number)
{
    size_t n = strlen(kind);
    bool checkpoint = strcmp(kind, "checkpoint") == 0;
    *number = -1;
    if (checkpoint && strcmp(name, "stopped.tyc") == 0) return true;
    if (checkpoint) {
        kind = "frame";
        n = 5;
    }
    int end = 0;
    return strncmp(name, kind, n) == 0 && sscanf(name + n, ".%d.%n", number, &end) == 1 && end > 0;
}

static void drop_files(const char* dir, const char* kind, int above)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", dir, kind);
    DIR* folder = opendir(path);
    if (!folder) return;
    for (struct dirent* entry; (entry = readdir(folder));) {
        int number;
        if (!frame_file(entry->d_name, kind, &number) || number <= above) continue;
        snprintf(path, sizeof path, "%s/%s/%s", dir, kind, entry->d_name);
        unlink(path);
    }
    closedir(folder);
}

void ty_folder_drop_frames_after(const ty_folder* folder, int number)
{
    for (int i = 0; i < N_FRAME_KINDS; ++i) drop_files(folder->dir, frame_kinds[i], number);
}

ty_status ty_folder_clear(const ty_folder* folder)
{
    char path[4096];
    for (int i = 0; i < N_FRAME_KINDS; ++i) {
        drop_files(folder->dir, frame_kinds[i], -2);
        snprintf(path, sizeof path, "%s/%s", folder->dir, frame_kinds[i]);
        rmdir(path);    // stays when somebody else's files are in it
    }
    for (int i = 0; i < N_FILES; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder->dir, files[i]);
        if (unlink(path) != 0 && errno != ENOENT) return ty_io_error("remove", path);
    }
    return ty_ok();
}

static void put_json_string(ty_file_writer* w, const char* key, const char* text)
{
    ty_file_print(w, "  \"%s\": \"", key);
    for (const unsigned char* p = (const unsigned char*)text; *p; ++p) {
        if (*p == '"' || *p == '\\') ty_file_print(w, "\\%c", *p);
        else if (*p < 0x20) ty_file_print(w, "\\u%04x", *p);
        else ty_file_put(w, p, 1);
    }
    ty_file_print(w, "\",\n");
}

ty_status ty_folder_write_run(const ty_folder* folder, const ty_sim_def* scene, const char* command,
                              const char* state, const char* message, int last_frame)
{
    char path[4096], now[32];
    snprintf(path, sizeof path, "%s/run.json", folder->dir);
    now_text(now);
    ty_file_writer w;
    TY_TRY(ty_file_begin(&w, path));
    ty_file_print(&w, "{\n");
    put_json_string(&w, "program", "tethys");
    put_json_string(&w, "version", TY_VERSION);
    put_json_string(&w, "command", command ? command : "");
    put_json_string(&w, "scene", scene->name ? scene->name : "");
    ty_file_print(&w, "  \"scene_hash\": \"%016llx\",\n", (unsigned long long)scene->scene_hash);
    ty_file_print(&w, "  \"threads\": %d,\n", ty_threads());
    put_json_string(&w, "start", folder->started);
    put_json_string(&w, "end", strcmp(state, "running") == 0 ? "" : now);
    if (message) put_json_string(&w, "message", message);
    ty_file_print(&w, "  \"first_frame\": %d,\n  \"last_frame\": %d,\n  \"rate\": %.10g,\n",
                  scene->frame_start, last_frame, scene->frame_rate);
    ty_file_print(&w, "  \"state\": \"%s\"\n}\n", state);
    return ty_file_commit(&w);
}

ty_status ty_folder_write_scene(const ty_folder* folder, const ty_sim_def* scene)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/scene.yaml", folder->dir);
    const char* text = scene->scene_text ? scene->scene_text : "";
    return ty_file_write(path, text, (int64_t)strlen(text));
}
