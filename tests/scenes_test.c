// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// Every scene that ships, in little: the same bytes on one thread and on three, and when it is
// stopped half-way and resumed.
#include "program.h"

static char folder[600];

static int open_desk(void** state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_folder("scenes"));
    return 0;
}

static uint64_t run(const char* scene, const char* out, const char* more)
{
    char args[1000], path[900];
    int n_files = 0;
    snprintf(args, sizeof args,
             "run " TY_SOURCE_DIR "/%s -o %s -q --set resolution=14 --set checkpoint.every=1 %s",
             scene, out, more);
    assert_program(folder, args, 0, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, out);
    uint64_t hash = result_hash(path, &n_files);
    assert_true(n_files > 1);
    return hash;
}

static void same_bytes(const char* scene)
{
    uint64_t whole = run(scene, "whole", "--overwrite --frames 6 --threads 1");
    if (run(scene, "threads", "--overwrite --frames 6 --threads 3") != whole)
        fail_msg("%s differs on three threads", scene);
    uint64_t part = run(scene, "parts", "--overwrite --frames 3 --threads 2");
    assert_true(part != whole);
    if (run(scene, "parts", "--resume --frames 6 --threads 1") != whole)
        fail_msg("%s differs after a resume", scene);
}

static void every_scene_gives_the_same_bytes(void** state)
{
    (void)state;
    char line[300];
    int n = 0;
    FILE* list = popen("cd '" TY_SOURCE_DIR "' && find scenes -name '*.yaml' | LC_ALL=C sort", "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        print_message("%s\n", line);
        same_bytes(line);
        ++n;
    }
    assert_int_equal(pclose(list), 0);
    assert_true(n >= 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, open_desk, NULL);
}
