// SPDX-License-Identifier: Apache-2.0
// For tests that run small scenes inside the test: YAML in, a running simulation out.
#ifndef TY_TESTS_RUN_SCENE_H
#define TY_TESTS_RUN_SCENE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scene/scene.h"
#include "sim/sim.h"
#include "test.h"

// A closed unit tank with an open top, `cells` along each side, solver `grid`, tracker `levelset`,
// no correction.
#define TANK                                                                                       \
    "domain: {min: [0, 0, 0], size: [1, 1, 1], closed: [left, right, bottom, front, back]}\n"      \
    "solver: {kind: grid}\nsurface: {tracker: levelset, volume: {correct: false}}\n"
#define POOL "liquid: [{box: {min: [0, 0, 0], max: [1, 0.4, 1]}}]\n"

typedef struct scene_run {
    ty_sim_def def;
    ty_sim sim;
    double first, first_expected;    // volumes at the start
} scene_run;

static inline void scene_says(void* self, const ty_scene_message* message)
{
    char text[1300];
    (void)self;
    print_error("%s\n", ty_scene_message_text(message, text, sizeof text));
}

// `text` and what printf makes of it; cells and cfl go in by themselves.
static inline scene_run* scene_start(int cells, double cfl, const char* text, ...)
{
    static scene_run run;
    char yaml[6000];
    int n = snprintf(yaml, sizeof yaml,
                     "name: test\nresolution: %d\nframes: {count: 1000, rate: 24, cfl: %g}\n",
                     cells, cfl);
    va_list list;
    va_start(list, text);
    n += vsnprintf(yaml + n, sizeof yaml - (size_t)n, text, list);
    va_end(list);
    assert_true(n < (int)sizeof yaml);
    run = (scene_run){0};
    assert_ok(ty_scene_read_text(&run.def, "test.yaml", yaml, n, 0, NULL, scene_says, NULL));
    assert_ok(ty_sim_create(&run.sim, &run.def));
    run.first = run.sim.stats.volume;
    run.first_expected = run.sim.stats.expected_volume;
    return &run;
}

static inline void scene_frame(scene_run* run)
{
    bool done = false;
    while (!done) assert_ok(ty_sim_step(&run->sim, &done));
}

static inline void scene_end(scene_run* run)
{
    ty_sim_destroy(&run->sim);
    ty_sim_def_free(&run->def);
}

// The flow's velocity at a point.
static inline ty_vec3 scene_velocity(const scene_run* run, double x, double y, double z)
{
    double at[1][3] = {{x, y, z}}, v[3];
    ty_flow flow = ty_sim_flow(&run->sim);
    ty_sample(&flow.velocity, 1, (const double(*)[3])at, v);
    return ty_load3(v);
}

// Where the surface is above (x, z), looked for downward from y = top.
static inline double scene_height(const scene_run* run, double x, double z, double top)
{
    ty_liquid liquid = ty_sim_liquid(&run->sim);
    double low = 0.0, high = top, phi;
    for (int i = 0; i < 40; ++i) {
        double at[1][3] = {{x, 0.5 * (low + high), z}};
        ty_sample(&liquid.distance, 1, (const double(*)[3])at, &phi);
        *(phi < 0.0 ? &low : &high) = at[0][1];
    }
    return low;
}

#endif
