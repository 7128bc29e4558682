// SPDX-License-Identifier: Apache-2.0
// Files that want to hurt: nothing may crash, hang, leak or take much memory.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/hash.h"
#include "core/memory.h"
#include "format/file.h"
#include "scene/buffer.h"
#include "scene/scene.h"
#include "scene/yaml.h"
#include "test.h"

static char last[1300];

static void hear(void* self, const ty_scene_message* message)
{
    (void)self;
    ty_scene_message_text(message, last, sizeof last);
}

static ty_status read_bytes(const char* text, int64_t n)
{
    ty_sim_def def;
    last[0] = 0;
    ty_status status = ty_scene_read_text(&def, "hostile.yaml", text, n, 0, NULL, hear, NULL);
    if (status.code == TY_OK) ty_sim_def_free(&def);
    return status;
}

// Reads `count` times `piece` between `before` and `after`; the message must hold `expected`.
static void expect_refused(const char* before, const char* piece, int count, const char* after,
                           const char* expected)
{
    int64_t alive = ty_memory_alive();
    ty_buffer text = {0};
    ty_buffer_add(&text, "%s", before);
    for (int i = 0; i < count; ++i) ty_buffer_add(&text, "%s", piece);
    ty_buffer_add(&text, "%s", after);
    assert_false(text.failed);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    ty_status status = read_bytes(text.chars.at, text.chars.n);
    clock_gettime(CLOCK_MONOTONIC, &to);
    ty_buffer_free(&text);
    assert_int_equal(status.code, TY_BAD_INPUT);
    if (!strstr(last, expected)) fail_msg("'%s' is not in: %s", expected, last);
    assert_true(to.tv_sec - from.tv_sec < 20);
    assert_int_equal(ty_memory_alive(), alive);
}

static void deep_nesting_is_refused(void** state)
{
    (void)state;
    expect_refused("name: ", "[", 100000, "", "nested too deeply");
    expect_refused("name: ", "{a: ", 100000, "", "nested too deeply");
    expect_refused("obstacles: ", "[{union: ", 1000, "", "nested too deeply");
    expect_refused("", "- ", 50000, "a", "nested too deeply");
}

static void alias_bombs_are_refused(void** state)
{
    (void)state;
    ty_buffer bomb = {0};
    ty_buffer_add(&bomb, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; ++i) {
        ty_buffer_add(&bomb, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; ++k) ty_buffer_add(&bomb, "%s*a%d", k ? ", " : "", i - 1);
        ty_buffer_add(&bomb, "]\n");
    }
    assert_false(bomb.failed);
    expect_refused(bomb.chars.at, "", 0, "", "too many values");
    ty_buffer_free(&bomb);
}

static void huge_files_are_refused(void** state)
{
    (void)state;
    expect_refused("", "# a comment that goes on and on\n", TY_YAML_MAX_BYTES / 30, "name: x",
                   "larger than 8 MiB");
    expect_refused("cameras: [", "1, ", 500000, "1]", "too many values");
    expect_refused("name: ", "x", 1000000, "\n", "at most 200 characters");
    expect_refused("liquid: [{formula: \"", "1+", 1000000, "1\"}]\n", "formula");
}

static void many_keys_are_refused(void** state)
{
    (void)state;
    ty_buffer text = {0};
    for (int i = 0; i < 5000; ++i) ty_buffer_add(&text, "k%d: 1\n", i);
    assert_false(text.failed);
    expect_refused(text.chars.at, "", 0, "", "too many keys");
    ty_buffer_free(&text);
}

static const char seed[] =
    "name: &n seed\nup: z\ndomain: {min: [-1, 0, 0], max: [1, 2, 3], closed: [left, bottom]}\n"
    "walls: {bottom: {velocity: [\"sin(t)\", 0, 0], slip: 0.5}}\ncell: 0.07\n"
    "solver: {kind: prescribed, velocity: [\"-y\", \"x > 0 ? 1 : -1\", 0.1]}\n"
    "liquid:\n  - formula: 'z - 0.5'\n    velocity: [{time: 0, value: [0, 0, 0]}, {time: 1, value: "
    "[1, 0, 0]}]\n"
    "  - difference: [{sphere: &s {center: [0, 1, 1], radius: 0.3}}, {box: {min: [0, 0, 0], max: "
    "[1, 1, 1]}}]\n"
    "obstacles:\n  - sphere: *s\n    motion: [{time: 0}, {time: 2, turn: {degrees: 90}}]\n"
    "forces:\n  - gravity: [0, 0, \"-9.81*cos(t)\"]\n  - spline: {points: [[0, 0, 0], [1, 1, 1]], "
    "radius: 0.2}\n"
    "probes: [{name: *n, height: [0.5, 1.5]}]\noutput: {surface: none, every: 3}\n";

static uint64_t random_bits(uint64_t* seed_bits) { return *seed_bits = ty_mix2(*seed_bits, 1); }

// A few random changes: a byte, a deletion, a repeat, a piece moved elsewhere.
static size_t mutate(char* text, size_t n, size_t capacity, uint64_t* bits)
{
    static const char characters[] = "{}[]:,-#&*!|>'\"%@` \n\t?~0.9eEainfy=<\\\x80\xff";
    int changes = 1 + (int)(random_bits(bits) % 4);
    for (int i = 0; i < changes && n > 0; ++i) {
        size_t at = random_bits(bits) % n, length = random_bits(bits) % 12;
        if (at + length > n) length = n - at;
        switch (random_bits(bits) % 4) {
        case 0: text[at] = characters[random_bits(bits) % (sizeof characters - 1)]; break;
        case 1:
            memmove(text + at, text + at + length, n - at - length);
            n -= length;
            break;
        case 2:
            if (n + length > capacity) break;
            memmove(text + at + length, text + at, n - at);
            n += length;
            break;
        default: memmove(text + random_bits(bits) % (n - length + 1), text + at, length); break;
        }
    }
    return n;
}

static void random_changes_never_crash(void** state)
{
    (void)state;
    uint64_t bits = 12345;
    int64_t alive = ty_memory_alive();
    char text[2 * sizeof seed];
    int n_good = 0;
    for (int round = 0; round < 4000; ++round) {
        memcpy(text, seed, sizeof seed);
        size_t n = mutate(text, sizeof seed - 1, sizeof text, &bits);
        n_good += read_bytes(text, (int64_t)n).code == TY_OK;
        assert_int_equal(ty_memory_alive(), alive);
    }
    assert_ok(read_bytes(seed, sizeof seed - 1));
    assert_true(n_good > 0 && n_good < 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_nesting_is_refused),    cmocka_unit_test(alias_bombs_are_refused),
        cmocka_unit_test(huge_files_are_refused),     cmocka_unit_test(many_keys_are_refused),
        cmocka_unit_test(random_changes_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
