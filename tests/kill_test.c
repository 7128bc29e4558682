// SPDX-License-Identifier: Apache-2.0
// Killed at random moments and resumed, interrupted and resumed, damaged and resumed: the same
// bytes as a run that was never stopped.
#include <time.h>

#include "core/archive.h"
#include "format/file.h"
#include "program.h"

static const char scene[] =
    "name: turn\n"
    "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, top, front, back]}\n"
    "resolution: 20\n"
    "frames: {count: 14, rate: 24, cfl: 0.7}\n"
    "solver: {kind: prescribed, velocity: [\"4*(0.5-y)\", \"4*(x-0.5)\", \"sin(3*t)\"]}\n"
    "surface: {tracker: levelset}\n"
    "liquid:\n"
    "  - sphere: {center: [0.4, 0.5, 0.5], radius: 0.2}\n"
    "  - box: {min: [0.6, 0.1, 0.4], max: [0.8, 0.3, 0.6]}\n"
    "probes:\n"
    "  - {name: h, height: [0.4, 0.5]}\n"
    "  - {name: v, velocity: [0.3, 0.3, 0.3]}\n"
    "checkpoint: {every: 1, keep: 3}\n"
    "output: {surface: ply, volume: vdb}\n";

static uint64_t expected;
static int expected_files;
static double whole_seconds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int reference_run(void** state)
{
    (void)state;
    const char* folder = test_folder("kill-reference");
    char dir[1000];
    write_text(folder, "turn.yaml", scene);
    double begin = now();
    assert_program(folder, "run turn.yaml -o r -q", 0, NULL);
    whole_seconds = now() - begin;
    snprintf(dir, sizeof dir, "%s/r", folder);
    expected = result_hash(dir, &expected_files);
    return 0;
}

static void assert_same_result(const char* folder)
{
    char dir[1000];
    int files;
    snprintf(dir, sizeof dir, "%s/r", folder);
    uint64_t hash = result_hash(dir, &files);
    assert_int_equal(files, expected_files);
    assert_true(files >= 29);
    assert_true(hash == expected);
}

static void sleep_seconds(double s)
{
    struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
    nanosleep(&t, NULL);
}

static void killed_twenty_times_gives_the_same_bytes(void** state)
{
    (void)state;
    const char* folder = test_folder("kill");
    write_text(folder, "turn.yaml", scene);
    uint64_t seed = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    int n_killed = 0;
    for (int i = 0; i < 20; ++i) {
        pid_t pid = start_program(folder, "run turn.yaml -o r -q --resume --threads 2");
        sleep_seconds(ty_unit(ty_mix2(seed, (uint64_t)i)) * (0.02 + whole_seconds * 0.5));
        kill(pid, SIGKILL);
        bool killed = wait_program(pid) == 1000 + SIGKILL;
        n_killed += killed;
        if (!killed ||
            i % 7 == 6) {    // from the start again, so that early and late moments are met
            assert_program(folder, "run turn.yaml -o r -q --resume", 0, NULL);
            assert_same_result(folder);
            test_folder("kill");
            write_text(folder, "turn.yaml", scene);
        }
    }
    assert_true(n_killed >= 5);
    assert_program(folder, "run turn.yaml -o r -q --resume", 0, NULL);
    assert_same_result(folder);
}

// The program has taken the folder: it has set up everything else before.
static bool running(const char* folder)
{
    char command[1000];
    snprintf(command, sizeof command,
             "grep -q '\"state\": \"running\"' '%s/r/run.json' 2>/dev/null", folder);
    return system(command) == 0;
}

static void interrupted_runs_exit_130_and_go_on_exactly(void** state)
{
    (void)state;
    const char* folder = test_folder("interrupt");
    write_text(folder, "turn.yaml", scene);
    int n_stopped = 0;
    for (int i = 0; i < 6; ++i) {
        pid_t pid = start_program(folder, "run turn.yaml -o r -q --resume");
        for (int wait = 0; wait < 500 && !running(folder); ++wait) sleep_seconds(0.01);
        sleep_seconds(0.03 * i);
        kill(pid, SIGINT);
        int code = wait_program(pid);
        assert_true(code == 130 || code == 0);
        n_stopped += code == 130;
        if (code == 130) assert_true(file_exists(folder, "r/checkpoint/stopped.tyc"));
    }
    assert_true(n_stopped > 0);
    assert_program(folder, "run turn.yaml -o r -q --resume", 0, NULL);
    assert_same_result(folder);
}

static void damage(const char* path, long at)
{
    FILE* f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fseek(f, at % size, SEEK_SET);
    int byte = fgetc(f);
    fseek(f, at % size, SEEK_SET);
    fputc(byte ^ 0x10, f);
    fclose(f);
}

static void a_damaged_checkpoint_is_refused_and_the_one_before_is_used(void** state)
{
    (void)state;
    const char* folder = test_folder("damaged");
    char path[1000];
    write_text(folder, "turn.yaml", scene);
    for (int i = 0; i < 5; ++i) {
        assert_program(folder, "run turn.yaml -o r -q --overwrite --frames 6", 0, NULL);
        snprintf(path, sizeof path, "%s/r/checkpoint/frame.0006.tyc", folder);
        damage(path, i * 7919);
        assert_program(folder, "info r/checkpoint/frame.0006.tyc", 1, "damaged");
        assert_program(folder, "run turn.yaml -o r --resume", 0, "resuming after frame 5");
        assert_same_result(folder);
    }
}

// Another name for the last record that is called `name`, and the hash that fits.
static void rename_record(const char* path, const char* name)
{
    enum { HEADER = 32 };
    unsigned char* bytes;
    int64_t n, length = (int64_t)strlen(name), at = 0;
    assert_ok(ty_file_read(path, 1 << 28, &bytes, &n));
    for (int64_t i = HEADER; i + length < n; ++i)
        if (memcmp(bytes + i, name, (size_t)length) == 0) at = i;
    assert_true(at > 0);
    bytes[at] ^= 0x10;
    ty_archive ar = ty_archive_save_begin(path);
    for (int64_t i = HEADER; i < n; ++i) assert_true(ty_array_push(&ar.bytes, bytes[i]));
    assert_ok(ty_archive_save_finish(&ar));
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(ar.bytes.at, 1, (size_t)ar.bytes.n, f), ar.bytes.n);
    fclose(f);
    ty_archive_free(&ar);
    ty_free(bytes);
}

static void a_checkpoint_of_another_version_is_refused(void** state)
{
    (void)state;
    const char* folder = test_folder("version");
    char path[1000];
    write_text(folder, "turn.yaml", scene);
    assert_program(folder, "run turn.yaml -o r -q --frames 3", 0, NULL);
    snprintf(path, sizeof path, "%s/r/checkpoint/frame.0003.tyc", folder);
    rename_record(path, "ledger_sums");
    assert_program(folder, "run turn.yaml -o r --resume", 2, "another version");
}

static void resume_goes_from_any_kept_frame(void** state)
{
    (void)state;
    const char* folder = test_folder("from");
    write_text(folder, "turn.yaml", scene);
    assert_program(folder, "run turn.yaml -o r -q --set checkpoint.keep=0", 0, NULL);
    assert_program(folder, "run turn.yaml -o r --resume --from 4 --set checkpoint.keep=0", 0,
                   "resuming after frame 4");
    assert_same_result(folder);
    assert_program(folder, "run turn.yaml -o r --resume --from 99", 2,
                   "there are 14 from frame 1 to 14");
}

static void a_changed_scene_is_refused_unless_forced(void** state)
{
    (void)state;
    const char* folder = test_folder("changed");
    write_text(folder, "turn.yaml", scene);
    assert_program(folder, "run turn.yaml -o r -q --frames 4", 0, NULL);
    assert_program(folder, "run turn.yaml -o r --resume --set frames.cfl=1", 2, "--force");
    assert_program(folder, "run turn.yaml -o r --resume --set frames.cfl=1 --force --frames 6", 0,
                   NULL);
    assert_program(folder, "run turn.yaml -o r", 2, "--overwrite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_twenty_times_gives_the_same_bytes),
        cmocka_unit_test(interrupted_runs_exit_130_and_go_on_exactly),
        cmocka_unit_test(a_damaged_checkpoint_is_refused_and_the_one_before_is_used),
        cmocka_unit_test(a_checkpoint_of_another_version_is_refused),
        cmocka_unit_test(resume_goes_from_any_kept_frame),
        cmocka_unit_test(a_changed_scene_is_refused_unless_forced),
    };
    return cmocka_run_group_tests(tests, reference_run, NULL);
}
