// SPDX-License-Identifier: Apache-2.0
// What goes wrong outside: full disk, read-only folder, missing and broken files, hostile scenes, a
// flow that blows up. Always a message, the right exit code, and whole earlier frames.
#include <sys/mount.h>

#include "program.h"

#define HEAD                                                                                       \
    "name: fault\n"                                                                                \
    "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, top, front, back]}\n" \
    "resolution: 16\n"                                                                             \
    "frames: {count: 30, rate: 24}\n"                                                              \
    "surface: {tracker: levelset}\n"

#define TURN "solver: {kind: prescribed, velocity: [\"4*(0.5-y)\", \"4*(x-0.5)\", 0]}\n"
#define BALL "liquid:\n  - sphere: {center: [0.4, 0.5, 0.5], radius: 0.25}\n"

static bool mount_tmpfs(const char* path, const char* options, unsigned long flags)
{
    if (mkdir(path, 0777) != 0) return false;
    return mount("tmpfs", path, "tmpfs", flags, options) == 0;
}

static int count_whole_frames(const char* dir)
{
    char command[2000];
    snprintf(command, sizeof command,
             "for f in '%s'/surface/*.ply; do '%s' info $f || exit 1; done | grep -c closed", dir,
             TY_PROGRAM);
    FILE* pipe = popen(command, "r");
    int n = 0;
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void a_full_disk_stops_the_run_and_leaves_whole_frames(void** state)
{
    (void)state;
    const char* folder = test_folder("full");
    char mounted[800], dir[900], find[1000];
    snprintf(mounted, sizeof mounted, "%s/disk", folder);
    if (!mount_tmpfs(mounted, "size=500k", 0)) {
        print_message("no right to mount a small disk here: not tried\n");
        skip();
    }
    write_text(folder, "s.yaml", HEAD TURN BALL "output: {surface: ply, volume: none}\n");
    int code = run_program(folder, "run s.yaml -q -o disk/r");
    char text[4000];
    snprintf(text, sizeof text, "%.3999s", program_output(folder));
    snprintf(dir, sizeof dir, "%s/r", mounted);
    int whole = count_whole_frames(dir);
    snprintf(find, sizeof find, "find '%s' -name '*.tmp*' | grep -q . && exit 1; exit 0", dir);
    int leftovers = system(find);
    umount2(mounted, MNT_DETACH);
    if (code != 1 || !strstr(text, "full")) fail_msg("exit %d: %s", code, text);
    assert_true(whole >= 1);
    assert_int_equal(leftovers, 0);
}

static void a_read_only_folder_is_said_so(void** state)
{
    (void)state;
    const char* folder = test_folder("readonly");
    char mounted[800];
    snprintf(mounted, sizeof mounted, "%s/disk", folder);
    if (!mount_tmpfs(mounted, "size=1m", MS_RDONLY)) {
        print_message("no right to mount here: not tried\n");
        skip();
    }
    write_text(folder, "s.yaml", HEAD TURN BALL);
    int code = run_program(folder, "run s.yaml -o disk/r");
    umount2(mounted, MNT_DETACH);
    assert_int_equal(code, 1);
    assert_non_null(strstr(program_output(folder), "Read-only"));
}

static void missing_and_broken_files_are_bad_input(void** state)
{
    (void)state;
    const char* folder = test_folder("broken");
    write_text(folder, "s.yaml", HEAD TURN BALL "obstacles:\n  - mesh: {file: rock.obj}\n");
    assert_program(folder, "run s.yaml -o r", 2, "rock.obj");
    write_text(folder, "rock.obj", "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n");
    assert_program(folder, "run s.yaml -o r", 2, "rock.obj:2");
    write_text(folder, "rock.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n");
    assert_program(folder, "run s.yaml -o r", 2, "rock.obj:4");
    assert_program(folder, "run nothing.yaml", 2, "nothing.yaml");
    assert_false(file_exists(folder, "r/run.json"));
}

static void hostile_scenes_are_bad_input(void** state)
{
    (void)state;
    const char* folder = test_folder("hostile");
    enum { DEPTH = 100000 };
    static char deep[2 * DEPTH + 10];
    int n = snprintf(deep, sizeof deep, "a: ");
    memset(deep + n, '[', DEPTH);
    memset(deep + n + DEPTH, ']', DEPTH);
    write_text(folder, "deep.yaml", deep);
    assert_program(folder, "check deep.yaml", 2, NULL);
    write_text(folder, "loop.yaml", "a: &a [*a, *a]\nb: &b {c: *b}\n");
    assert_program(folder, "check loop.yaml", 2, NULL);
    write_text(
        folder, "bomb.yaml",
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e]\n");
    assert_program(folder, "check bomb.yaml", 2, NULL);
    write_text(folder, "twice.yaml", "name: a\nname: b\n");
    assert_program(folder, "check twice.yaml", 2, "twice.yaml:2:");
    write_text(folder, "range.yaml", HEAD TURN BALL "checkpoint: {every: -3}\n");
    assert_program(folder, "check range.yaml", 2, "range.yaml:9:");
    write_text(folder, "empty.yaml", "");
    assert_program(folder, "check empty.yaml", 2, "empty.yaml");
}

static void a_flow_that_blows_up_stops_with_a_checkpoint(void** state)
{
    (void)state;
    const char* folder = test_folder("blowup");
    write_text(folder, "s.yaml",
               HEAD "solver: {kind: prescribed, velocity: [\"exp(400*t)\", 0, 0]}\n" BALL);
    assert_program(folder, "run s.yaml -o r", 1, "blown up");
    assert_true(file_exists(folder, "r/checkpoint/frame.0001.tyc"));
    assert_program(folder, "info r", 0, "\"state\": \"failed\"");
}

static void an_expression_that_is_not_finite_names_its_place(void** state)
{
    (void)state;
    const char* folder = test_folder("nan");
    write_text(
        folder, "s.yaml",
        HEAD "solver: {kind: prescribed, velocity: [\"1/(0.1-t)*0 + sqrt(0.1-t)\", 0, 0]}\n" BALL);
    int code = run_program(folder, "run s.yaml -o r");
    const char* text = program_output(folder);
    if (code == 0 || code > 2 || !strstr(text, "s.yaml:6:")) fail_msg("exit %d: %s", code, text);
    assert_true(file_exists(folder, "r/surface/surface.0002.ply"));
}

static void an_existing_result_is_never_destroyed(void** state)
{
    (void)state;
    const char* folder = test_folder("existing");
    write_text(folder, "s.yaml", HEAD TURN BALL);
    assert_program(folder, "run s.yaml -o r -q --frames 3", 0, NULL);
    write_text(folder, "r/notes.txt", "mine");
    assert_program(folder, "run s.yaml -o r -q --frames 2", 2, "--overwrite");
    assert_true(file_exists(folder, "r/surface/surface.0003.ply"));
    assert_program(folder, "run s.yaml -o r -q --overwrite --set solver.kind=nonsense", 2,
                   "nonsense");
    assert_true(file_exists(folder, "r/surface/surface.0003.ply"));
    assert_program(folder, "run s.yaml -o r -q --frames 2 --overwrite", 0, NULL);
    assert_false(file_exists(folder, "r/surface/surface.0003.ply"));
    assert_true(file_exists(folder, "r/notes.txt"));
}

static void usage_mistakes_exit_2(void** state)
{
    (void)state;
    const char* folder = test_folder("usage");
    assert_program(folder, "", 2, "usage");
    assert_program(folder, "swim", 2, "swim");
    assert_program(folder, "run", 2, "which scene");
    assert_program(folder, "run a.yaml --threads many", 2, "--threads");
    assert_program(folder, "run a.yaml --frames 0", 2, "--frames");
    assert_program(folder, "--version", 0, "tethys 0.");
    assert_program(folder, "run --help", 0, "--resume");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_stops_the_run_and_leaves_whole_frames),
        cmocka_unit_test(a_read_only_folder_is_said_so),
        cmocka_unit_test(missing_and_broken_files_are_bad_input),
        cmocka_unit_test(hostile_scenes_are_bad_input),
        cmocka_unit_test(a_flow_that_blows_up_stops_with_a_checkpoint),
        cmocka_unit_test(an_expression_that_is_not_finite_names_its_place),
        cmocka_unit_test(an_existing_result_is_never_destroyed),
        cmocka_unit_test(usage_mistakes_exit_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
