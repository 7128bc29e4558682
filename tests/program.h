// SPDX-License-Identifier: Apache-2.0
// For tests that run the built program: start it, wait for it, compare what it wrote.
#ifndef TY_TESTS_PROGRAM_H
#define TY_TESTS_PROGRAM_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/hash.h"
#include "test.h"

enum { PROGRAM_TEXT = 1 << 16 };

// A folder of this test's own below the build folder, emptied.
static inline const char* test_folder(const char* name)
{
    static char path[600];
    char command[1400];
    snprintf(path, sizeof path, "%s.scratch/%s", TY_PROGRAM, name);
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", path, path);
    assert_int_equal(system(command), 0);
    return path;
}

static inline void write_text(const char* folder, const char* name, const char* text)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static inline bool file_exists(const char* folder, const char* name)
{
    char path[1000];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0;
}

// Starts `tethys ARGS` in `folder` with output into folder/output.txt; the arguments go through the
// shell.
static inline pid_t start_program(const char* folder, const char* args)
{
    char command[4000];
    snprintf(command, sizeof command, "exec '%s' %s", TY_PROGRAM, args);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(folder) != 0) _exit(99);
        int fd = open("output.txt", O_CREAT | O_TRUNC | O_WRONLY, 0666);
        if (fd >= 0) {
            dup2(fd, 1);
            dup2(fd, 2);
        }
        execl("/bin/sh", "sh", "-c", command, (char*)NULL);
        _exit(98);
    }
    assert_true(pid > 0);
    return pid;
}

// The exit code, or 1000 + the signal that ended it.
static inline int wait_program(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline const char* program_output(const char* folder)
{
    static char text[PROGRAM_TEXT];
    char path[1000];
    snprintf(path, sizeof path, "%s/output.txt", folder);
    FILE* f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    return text;
}

static inline int run_program(const char* folder, const char* args)
{
    return wait_program(start_program(folder, args));
}

// Must exit with `code` and say `words` (unless NULL).
#define assert_program(folder, args, code, words)                                                  \
    do {                                                                                           \
        int code_ = run_program(folder, args);                                                     \
        const char* text_ = program_output(folder);                                                \
        if (code_ != (code))                                                                       \
            fail_msg("tethys %s: exit %d instead of %d:\n%s", args, code_, code, text_);           \
        if ((words) && !strstr(text_, (words) ? (words) : ""))                                     \
            fail_msg("tethys %s: does not say '%s':\n%s", args, (words) ? (words) : "", text_);    \
    } while (0)

// Hash over the bytes that a run promises: surfaces, volumes, probes, and the statistics without
// their last seven columns (seconds and memory). In order of names; the count goes to *n_files.
static inline uint64_t result_hash(const char* dir, int* n_files)
{
    char command[3000], line[256];
    snprintf(
        command, sizeof command,
        "cd '%s' && { find surface volume probes.csv -type f 2>/dev/null | LC_ALL=C sort | xargs -r sha256sum; "
        "cut -d, -f1-16 stats.csv | sha256sum; }",
        dir);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    ty_hash h = ty_hash_begin();
    *n_files = 0;
    while (fgets(line, sizeof line, pipe)) {
        ty_hash_add(&h, line, strlen(line));
        ++*n_files;
    }
    assert_int_equal(pclose(pipe), 0);
    return ty_hash_end(&h);
}

#endif
