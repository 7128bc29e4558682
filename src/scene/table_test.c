// SPDX-License-Identifier: Apache-2.0
// The table itself, and the documents made from it.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/memory.h"
#include "format/file.h"
#include "scene/keys.h"
#include "scene/scene.h"
#include "test.h"

static void check_row(const ty_group* group, const ty_key* key)
{
    if (!key->unit || !key->sentence)
        fail_msg("%s.%s: no unit or no sentence", group->name, key->name);
    size_t n = strlen(key->sentence);
    if (n < 4 || key->sentence[n - 1] != '.')
        fail_msg("%s.%s: '%s' is no sentence", group->name, key->name, key->sentence);
    bool choice = key->type == TY_KEY_CHOICE || key->type == TY_KEY_FLAG ||
                  key->type == TY_KEY_WORD;
    if ((choice || key->type == TY_KEY_SIDES) && !key->choices)
        fail_msg("%s.%s: no choices", group->name, key->name);
    bool inner = key->type == TY_KEY_GROUP || key->type == TY_KEY_LIST || key->type == TY_KEY_WALL;
    if (inner && !key->group) fail_msg("%s.%s: no group", group->name, key->name);
    if (key->type == TY_KEY_LIST && !key->count_at)
        fail_msg("%s.%s: no count", group->name, key->name);
    bool optional = key->required || key->variant || key->has_at || key->fallback || inner;
    if (!optional) fail_msg("%s.%s: neither default nor required", group->name, key->name);
    if (key->min > key->max) fail_msg("%s.%s: empty range", group->name, key->name);
    if (key->at > group->size) fail_msg("%s.%s: stored outside its struct", group->name, key->name);
}

static void every_row_is_complete(void** state)
{
    (void)state;
    const ty_group* groups[TY_MAX_GROUPS];
    int n = ty_all_groups(groups), n_keys = 0;
    assert_true(n > 30 && n < TY_MAX_GROUPS);
    for (int i = 0; i < n; ++i) {
        assert_non_null(groups[i]->sentence);
        for (int k = 0; k < i; ++k) assert_string_not_equal(groups[i]->name, groups[k]->name);
        for (const ty_key* key = groups[i]->keys; !ty_key_is_end(key); ++key, ++n_keys)
            if (key->type != TY_KEY_INLINE) check_row(groups[i], key);
    }
    assert_true(n_keys > 150);
}

static ty_status read_scene(ty_sim_def* def, const char* text)
{
    return ty_scene_read_text(def, "test.yaml", text, (int64_t)strlen(text), 0, NULL, NULL, NULL);
}

static void defaults_are_those_of_the_structs(void** state)
{
    (void)state;
    ty_sim_def def, expected = ty_sim_default();
    assert_ok(read_scene(&def, "domain: {size: [1, 1, 1]}\nliquid: [{plane: {}}]\nsolver: {kind: "
                               "prescribed, velocity: [0, 0, 0]}\n"));
    assert_near(def.solve.cfl, expected.solve.cfl, 0.0);
    assert_near(def.solve.density, expected.solve.density, 0.0);
    assert_near(def.solve.tolerance, expected.solve.tolerance, 0.0);
    assert_near(def.solve.theta, expected.solve.theta, 0.0);
    assert_near(def.solve.surface_tension, expected.solve.surface_tension, 0.0);
    assert_int_equal(def.solve.advection, expected.solve.advection);
    assert_int_equal(def.solve.viscosity_form, expected.solve.viscosity_form);
    assert_int_equal(def.solve.reduced_pressure, expected.solve.reduced_pressure);
    assert_int_equal(def.solve.paper, expected.solve.paper);
    assert_string_equal(def.solve.pressure, expected.solve.pressure);
    assert_string_equal(def.solve.obstacles, expected.solve.obstacles);
    assert_int_equal(def.track.transport, expected.track.transport);
    assert_near(def.track.redistance, expected.track.redistance, 0.0);
    assert_near(def.track.thicken_gamma, expected.track.thicken_gamma, 0.0);
    assert_near(def.track.thicken_redistribute, expected.track.thicken_redistribute, 0.0);
    assert_int_equal(def.track.particles_per_cell, expected.track.particles_per_cell);
    assert_int_equal(def.track.one_sided, expected.track.one_sided);
    assert_int_equal(def.volume_correct, expected.volume_correct);
    assert_int_equal(def.checkpoint_every, expected.checkpoint_every);
    assert_int_equal(def.checkpoint_keep, expected.checkpoint_keep);
    assert_near(def.world.gravity.constant[1], expected.world.gravity.constant[1], 0.0);
    for (int side = 0; side < TY_N_SIDES; ++side)
        assert_int_equal(def.world.wall[side].closed, expected.world.wall[side].closed);
    ty_sim_def_free(&def);
    ty_sim_def_free(&expected);
}

// A small reader of JSON: enough to say whether a text is one value.
static const char* json_value(const char* p);

static const char* json_space(const char* p)
{
    while (p && isspace((unsigned char)*p)) ++p;
    return p;
}

static const char* json_string(const char* p)
{
    if (*p++ != '"') return NULL;
    for (; *p && *p != '"'; ++p) {
        if ((unsigned char)*p < 0x20) return NULL;
        if (*p == '\\' && !strchr("\"\\/bfnrt", *++p)) return NULL;
    }
    return *p ? p + 1 : NULL;
}

static const char* json_members(const char* p, bool object, char end)
{
    p = json_space(p + 1);
    if (*p == end) return p + 1;
    for (;;) {
        if (object) {
            p = json_space(json_string(json_space(p)));
            if (!p || *p++ != ':') return NULL;
        }
        p = json_space(json_value(json_space(p)));
        if (!p || (*p != ',' && *p != end)) return NULL;
        if (*p++ == end) return p;
    }
}

static const char* json_value(const char* p)
{
    if (*p == '{') return json_members(p, true, '}');
    if (*p == '[') return json_members(p, false, ']');
    if (*p == '"') return json_string(p);
    static const char* const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; ++i)
        if (strncmp(p, words[i], strlen(words[i])) == 0) return p + strlen(words[i]);
    char* end;
    strtod(p, &end);
    return end == p || isalpha((unsigned char)*p) ? NULL : end;
}

static void the_schema_is_json_and_knows_every_key(void** state)
{
    (void)state;
    char* schema = ty_scene_json_schema();
    assert_non_null(schema);
    const char* end = json_space(json_value(schema));
    assert_non_null(end);
    assert_int_equal(*end, 0);
    assert_null(json_value("{\"a\": inf}"));
    const ty_group* groups[TY_MAX_GROUPS];
    int n = ty_all_groups(groups);
    for (int i = 0; i < n; ++i)
        for (const ty_key* key = groups[i]->keys; !ty_key_is_end(key); ++key) {
            if (key->type == TY_KEY_INLINE) continue;
            char quoted[80];
            snprintf(quoted, sizeof quoted, "\"%s\": {", key->name);
            if (!strstr(schema, quoted)) fail_msg("%s is not in the schema", quoted);
        }
    ty_free(schema);
}

static void the_reference_knows_every_key(void** state)
{
    (void)state;
    char* text = ty_scene_reference();
    assert_non_null(text);
    const ty_group* groups[TY_MAX_GROUPS];
    int n = ty_all_groups(groups);
    for (int i = 0; i < n; ++i)
        for (const ty_key* key = groups[i]->keys; !ty_key_is_end(key); ++key) {
            if (key->type == TY_KEY_INLINE) continue;
            char cell[80];
            snprintf(cell, sizeof cell, "| `%s` |", key->name);
            if (!strstr(text, cell) || !strstr(text, key->sentence))
                fail_msg("%s is not in the reference", cell);
        }
    ty_free(text);
}

static void documents_survive_out_of_memory(void** state)
{
    (void)state;
    int64_t before = ty_memory_alive();
    for (int64_t k = 1; k < 20; ++k) {
        ty_memory_fail_after(k);
        char *reference = ty_scene_reference(), *schema = ty_scene_json_schema();
        ty_memory_fail_after(0);
        ty_free(reference);
        ty_free(schema);
        assert_int_equal(ty_memory_alive(), before);
    }
}

// Examples of the reference, each inside the smallest scene it belongs to.
static void examples_are_right(void** state)
{
    (void)state;
    const ty_group* groups[TY_MAX_GROUPS];
    int n = ty_all_groups(groups), n_read = 0;
    for (int i = 0; i < n; ++i) {
        const char* example = groups[i]->example;
        if (!example || strstr(example, "file:") || strstr(example, "contour") ||
            strstr(example, "custom"))
            continue;
        bool force = strncmp(example, "- ", 2) == 0;
        const char* word = example + (force ? 2 : 0);
        bool top = false;
        for (const ty_key* key = ty_scene_group.keys; !ty_key_is_end(key); ++key)
            top = top || (strncmp(word, key->name, strlen(key->name)) == 0 &&
                          word[strlen(key->name)] == ':');
        if (!top && !force && strncmp(example, "difference", 10) != 0 &&
            groups[i]->size != sizeof(ty_shape_def))
            continue;
        char text[1000];
        bool has[3] = {strncmp(example, "domain", 6) == 0, strncmp(example, "liquid", 6) == 0,
                       strncmp(example, "solver", 6) == 0};
        snprintf(text, sizeof text, "%s%s%s%s%s\n", has[0] ? "" : "domain: {size: [2, 1, 1]}\n",
                 has[1] ? "" : "liquid: [{plane: {}}]\n",
                 has[2] ? "" : "solver: {kind: prescribed, velocity: [0, 0, 0]}\n",
                 force ? "forces:\n  "
                 : top ? ""
                       : "obstacles:\n  - ",
                 example);
        ty_sim_def def;
        assert_ok(read_scene(&def, text));
        ty_sim_def_free(&def);
        ++n_read;
    }
    assert_true(n_read > 20);
}

// Every scene that is shipped can be read; where this build has no OpenVDB, without their volumes.
static void shipped_scenes_are_right(void** state)
{
    (void)state;
    static const char* const names[] = {"dam-break", "enright", "splash"};
    static const char* const no_volume[] = {"output.volume=none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char path[400];
        snprintf(path, sizeof path, "%s/scenes/%s.yaml", TY_SOURCE_DIR, names[i]);
        ty_sim_def def;
        assert_ok(ty_scene_read(&def, path, TETHYS_HAVE_VDB ? 0 : 1, no_volume, NULL, NULL));
        assert_string_equal(def.name, names[i]);
        ty_sim_def_free(&def);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(defaults_are_those_of_the_structs),
        cmocka_unit_test(the_schema_is_json_and_knows_every_key),
        cmocka_unit_test(the_reference_knows_every_key),
        cmocka_unit_test(documents_survive_out_of_memory),
        cmocka_unit_test(examples_are_right),
        cmocka_unit_test(shipped_scenes_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
