// SPDX-License-Identifier: Apache-2.0
// tethys render, as a user would call it: frames, film, contact sheet, resuming, mistakes.
#include "program.h"
#include "tethys/tethys.h"

static const char scene[] =
    "name: drop\ndomain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, front, back]}\nresolution: 12\n"
    "frames: {count: 3}\nsolver: {kind: prescribed, velocity: [1, 0, 0]}\nsurface: {tracker: levelset}\n"
    "liquid:\n  - box: {min: [0, 0, 0], max: [0.4, 0.5, 1]}\n"
    "obstacles:\n  - box: {min: [0.6, 0, 0.4], max: [0.8, 0.3, 0.6]}\n"
    "    motion: [{time: 0}, {time: 1, move: [0, 0.2, 0]}]\n"
    "cameras:\n  - {name: main, eye: [2, 1.5, 2.5], target: [0.5, 0.4, 0.5]}\n"
    "  - {name: top, eye: [0.5, 3, 0.5], target: [0.5, 0, 0.5]}\n"
    "output: {surface: ply, volume: none}\ncheckpoint: {every: 0}\n";

static const char* folder;
#define SMALL " --size 64x36 --samples 2 "

static bool has_renderer(void) { return strstr(ty_features(), "render") != NULL; }

static int simulate(void** state)
{
    (void)state;
    static char kept[600];
    snprintf(kept, sizeof kept, "%s", test_folder("render"));
    folder = kept;
    write_text(folder, "s.yaml", scene);
    assert_program(folder, "run -q s.yaml -o out", 0, NULL);
    return 0;
}

static uint64_t picture(const char* name)
{
    char path[1000];
    uint64_t hash = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(ty_hash_file(path, &hash));
    return hash;
}

static void frames_film_and_sheet_are_written_and_kept(void** state)
{
    (void)state;
    if (!has_renderer()) return;
    assert_program(folder, "render out" SMALL "--threads 1", 0, "picture 3/3");
    assert_true(file_exists(folder, "out/render/main/frame.0001.png"));
    assert_true(file_exists(folder, "out/render/main/frame.0003.png"));
    assert_true(file_exists(folder, "out/drop-sheet.png"));
    assert_true(file_exists(folder, "out/drop.mp4") ||
                strstr(program_output(folder), "apt install ffmpeg"));
    uint64_t before = picture("out/render/main/frame.0002.png");
    char path[1000];
    snprintf(path, sizeof path, "%s/out/render/main/frame.0002.png", folder);
    unlink(path);
    assert_program(folder, "render out" SMALL "--threads 3", 0, "picture 3/3");
    assert_true(picture("out/render/main/frame.0002.png") == before);
    assert_program(folder, "render out" SMALL "--threads 3 --overwrite --frames 2-2", 0,
                   "picture 1/1");
    assert_true(picture("out/render/main/frame.0002.png") == before);
    assert_program(folder, "render out" SMALL "--exposure 2 --frames 2", 0, NULL);
    assert_true(picture("out/render/main/frame.0002.png") != before);
}

static void without_ffmpeg_there_are_frames_and_a_remedy(void** state)
{
    (void)state;
    if (!has_renderer()) return;
    setenv("PATH_BEFORE", getenv("PATH"), 1);
    setenv("PATH", "/nowhere", 1);
    assert_program(folder, "render out" SMALL "--camera top", 0, "apt install ffmpeg");
    assert_program(folder, "render out" SMALL "-o film.mp4", 1, "apt install ffmpeg");
    setenv("PATH", getenv("PATH_BEFORE"), 1);
    assert_true(file_exists(folder, "out/render/top/frame.0003.png"));
    assert_true(file_exists(folder, "out/drop-top-sheet.png"));
}

static void modes_and_cameras_have_folders_of_their_own(void** state)
{
    (void)state;
    if (!has_renderer()) return;
    assert_program(folder, "render out" SMALL "--mode clay --camera all --frames 1 --no-film", 0,
                   "picture 2/2");
    assert_program(folder, "render out" SMALL "--mode wire --camera top --frames 2- --no-film", 0,
                   "picture 2/2");
    assert_true(file_exists(folder, "out/render/main-clay/frame.0001.png"));
    assert_true(file_exists(folder, "out/render/top-clay/frame.0001.png"));
    assert_true(file_exists(folder, "out/render/top-wire/frame.0003.png"));
    assert_program(folder, "render out" SMALL "--frames 1-2 -o shots/a.####.png", 0, NULL);
    assert_true(file_exists(folder, "shots/a.0002.png"));
    assert_program(folder, "render out" SMALL "--frames 1-2 -o shots/a.####.png", 0, "kept");
}

static void mistakes_exit_2_and_say_what_to_do(void** state)
{
    (void)state;
    if (!has_renderer()) {
        assert_program(folder, "render out", 2, "libembree-dev");
        return;
    }
    assert_program(folder, "render", 2, "which result folder");
    assert_program(folder, "render nowhere", 2, "tethys run SCENE -o nowhere");
    assert_program(folder, "render out --camera mian", 2, "did you mean 'main'");
    assert_program(folder, "render out --frames 50-60", 2, "none of the frames");
    assert_program(folder, "render out --frames 9-2", 2, "--frames takes");
    assert_program(folder, "render out --size 12", 2, "1280x720");
    assert_program(folder, "render out --mode glass", 2, "water, clay or wire");
    assert_program(folder, "render out --samples 0", 2, "--samples");
    assert_program(folder, "render out --cut x=0.5", 2, "not available yet");
    assert_program(folder, "render out -o a.gif", 2, ".mp4");
    assert_program(folder, "render out -o a.png", 2, "####");
    assert_program(folder, "render out --camera all -o a.mp4", 2, "2 cameras");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_film_and_sheet_are_written_and_kept),
        cmocka_unit_test(without_ffmpeg_there_are_frames_and_a_remedy),
        cmocka_unit_test(modes_and_cameras_have_folders_of_their_own),
        cmocka_unit_test(mistakes_exit_2_and_say_what_to_do),
    };
    return cmocka_run_group_tests(tests, simulate, NULL);
}
