// SPDX-License-Identifier: Apache-2.0
// An include may only point to the left: the order of the rooms, as data.
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef struct room {
    const char* name;
    int rank;
} room;

// Rooms of one rank do not include each other.
static const room rooms[] = {{"core", 0},   {"linear", 1}, {"geometry", 1}, {"space", 2},
                             {"mesh", 3},   {"field", 3},  {"format", 4},   {"world", 5},
                             {"track", 6},  {"solve", 6},  {"sim", 7},      {"scene", 8},
                             {"render", 8}, {"serve", 8},  {"api", 9},      {"cli", 10}};
enum { N_ROOMS = sizeof rooms / sizeof *rooms };

static int n_checked, n_wrong;

static int rank_of(const char* path, size_t n)
{
    for (int i = 0; i < N_ROOMS; ++i)
        if (strlen(rooms[i].name) == n && strncmp(rooms[i].name, path, n) == 0)
            return rooms[i].rank;
    return -1;
}

static void check_line(const char* file, const char* own, const char* line)
{
    const char* quote = strstr(line, "#include \"");
    if (!quote) return;
    const char *path = quote + 10, *slash = strchr(path, '/');
    if (!slash) return;
    size_t n = (size_t)(slash - path);
    int to = rank_of(path, n), from = rank_of(own, strlen(own));
    ++n_checked;
    bool same = strlen(own) == n && strncmp(own, path, n) == 0;
    if (strncmp(path, "tethys/", 7) == 0 || same || (to >= 0 && to < from)) return;
    ++n_wrong;
    print_error("%s: room '%s' may not include %.*s\n", file, own, (int)strcspn(path, "\""), path);
}

static void check_file(const char* path, const char* own)
{
    char line[1000];
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) check_line(path, own, line);
    fclose(f);
}

static void check_folder(const char* path, const char* own)
{
    DIR* folder = opendir(path);
    if (!folder) return;
    for (struct dirent* entry; (entry = readdir(folder));) {
        char below[1200];
        const char* dot = strrchr(entry->d_name, '.');
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') check_folder(below, own);
        if (dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".cpp")))
            check_file(below, own);
    }
    closedir(folder);
}

static void includes_point_to_the_left(void** state)
{
    (void)state;
    for (int i = 0; i < N_ROOMS; ++i) {
        char path[1000];
        snprintf(path, sizeof path, TY_SOURCE_DIR "/src/%s", rooms[i].name);
        check_folder(path, rooms[i].name);
    }
    assert_true(n_checked > 50);
    assert_int_equal(n_wrong, 0);
}

static void every_folder_is_a_known_room(void** state)
{
    (void)state;
    DIR* folder = opendir(TY_SOURCE_DIR "/src");
    assert_non_null(folder);
    for (struct dirent* entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && rank_of(entry->d_name, strlen(entry->d_name)) < 0)
            fail_msg("src/%s is not in the order of rooms", entry->d_name);
    closedir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(includes_point_to_the_left),
        cmocka_unit_test(every_folder_is_a_known_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
