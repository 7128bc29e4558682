// SPDX-License-Identifier: Apache-2.0
// A fine run led by a coarse one's velocity volumes, as the tutorial has it: program, files and
// all.
#include <math.h>
#include <stdio.h>

#include "program.h"

// A pool; `more` is what makes it move.
#define SCENE                                                                                             \
    "name: pool\ndomain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, front, back]}\n" \
    "frames: {count: 9, rate: 24, cfl: 2}\nsolver: {kind: grid}\nsurface: {tracker: levelset}\n"          \
    "liquid: [{box: {min: [0, 0, 0], max: [1, 0.5, 1]}}]\ncheckpoint: {every: 0}\n"                       \
    "probes: [{name: east, velocity: [0.75, 0.25, 0.5]}]\n"
#define WIND "forces: [{vortex: {center: [0.5, 0.3, 0.5], axis: [0, 1, 0], strength: 4}}]\n"
#define LED                                                                                        \
    "steer:\n  - box: {min: [0, 0, 0], max: [1, 1, 1]}\n"                                          \
    "    velocity: {file: preview/volume/volume.####.vdb, grid: velocity}\n    blend: 0.5\n"

// The last line's columns of probes.csv.
static int last_probe(const char* folder, const char* run, double out[4])
{
    char path[900], line[1000], last[1000] = "";
    snprintf(path, sizeof path, "%s/%s/probes.csv", folder, run);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) strcpy(last, line);
    fclose(f);
    return sscanf(last, "%lf,%lf,%lf,%lf", &out[0], &out[1], &out[2], &out[3]);
}

static void a_fine_run_follows_its_preview(void** unused)
{
    (void)unused;
    const char* folder = test_folder("guided");
    write_text(folder, "preview.yaml", SCENE WIND);
    write_text(folder, "guided.yaml", SCENE LED);
    assert_program(folder,
                   "run preview.yaml -o preview -q --set resolution=16 --set output.volume=vdb", 0,
                   NULL);
    assert_program(folder, "run guided.yaml -o guided -q --set resolution=24", 0, NULL);
    assert_program(folder, "run guided.yaml -o free -q --set resolution=24 --set steer.0.blend=0",
                   0, NULL);
    double preview[4], guided[4], alone[4];
    assert_int_equal(last_probe(folder, "preview", preview), 4);
    assert_int_equal(last_probe(folder, "guided", guided), 4);
    assert_int_equal(last_probe(folder, "free", alone), 4);
    assert_near(guided[0], preview[0], 1e-9);    // the same time
    double swirl = preview[3];
    print_message("preview %.3f, guided %.3f, alone %.3g m/s\n", preview[3], guided[3], alone[3]);
    assert_true(fabs(swirl) > 0.3);
    assert_near(alone[3], 0.0, 1e-6);
    assert_near(guided[3], swirl,
                0.3 * fabs(swirl));    // half of the way each frame to a speed that still grows
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fine_run_follows_its_preview),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
