// SPDX-License-Identifier: Apache-2.0
// docs/scene-reference.md, from the table.
#include <math.h>
#include <string.h>

#include "scene/buffer.h"
#include "scene/read.h"
#include "scene/scene.h"

static const char* type_name(const ty_key* key)
{
    static const char* const names[TY_N_KEY_TYPES] = {[TY_KEY_NUMBER] = "number",
                                                      [TY_KEY_INTEGER] = "whole number",
                                                      [TY_KEY_BOOL] = "true or false",
                                                      [TY_KEY_CHOICE] = "word",
                                                      [TY_KEY_FLAG] = "word",
                                                      [TY_KEY_WORD] = "word",
                                                      [TY_KEY_TEXT] = "text",
                                                      [TY_KEY_FILE] = "file",
                                                      [TY_KEY_PAIR] = "[from, to]",
                                                      [TY_KEY_VEC3] = "[x, y, z]",
                                                      [TY_KEY_FLAT] = "[x, z]",
                                                      [TY_KEY_POINTS] = "list of [x, y, z]",
                                                      [TY_KEY_VARYING] = "varying number",
                                                      [TY_KEY_VARYING3] = "varying vector",
                                                      [TY_KEY_FORMULA] = "expression",
                                                      [TY_KEY_GROUP] = "group",
                                                      [TY_KEY_LIST] = "list",
                                                      [TY_KEY_SIDES] = "list of sides",
                                                      [TY_KEY_WALL] = "group"};
    return names[key->type] ? names[key->type] : "";
}

static void add_choices(ty_buffer* out, const ty_key* key)
{
    for (const ty_choice* c = key->choices; c->name; ++c)
        ty_buffer_add(out, "%s`%s`%s", c == key->choices ? "" : ", ", c->name,
                      ty_choice_not_yet(key, c) ? " (not available yet)" : "");
}

static void add_range(ty_buffer* out, const ty_key* key)
{
    if (key->choices) add_choices(out, key);
    else if (key->min == 0.0 && key->max == 0.0)
        ty_buffer_add(out, "%s", key->unit[0] ? "any" : "");
    else if (isinf(key->max))
        ty_buffer_add(out, "%s %g", key->min_open ? "above" : "at least", key->min);
    else ty_buffer_add(out, "%g to %g", key->min, key->max);
}

static void add_default(ty_buffer* out, const ty_key* key)
{
    if (key->required || key->variant)
        ty_buffer_add(out, "%s", key->required ? "must be given" : "");
    else if (key->fallback_says) ty_buffer_add(out, "%s", key->fallback_says);
    else if (key->fallback) ty_buffer_add(out, "`%s`", key->fallback);
    else if (key->type == TY_KEY_LIST) ty_buffer_add(out, "none");
}

// The heading a group has, as GitHub makes an anchor of it.
static void add_link(ty_buffer* out, const ty_group* group)
{
    ty_buffer_add(out, "[%s](#", group->name);
    for (const char* p = group->name; *p; ++p) ty_buffer_add_bytes(out, *p == ' ' ? "-" : p, 1);
    ty_buffer_add(out, ")");
}

static bool add_row(void* ctx, const ty_key* key, size_t offset)
{
    (void)offset;
    ty_buffer* out = ctx;
    ty_buffer_add(out, "| `%s` | ", key->name);
    if (key->group) {
        if (key->type == TY_KEY_LIST) ty_buffer_add(out, "list of ");
        add_link(out, key->group);
    } else {
        ty_buffer_add(out, "%s", type_name(key));
    }
    ty_buffer_add(out, " | %s | ", *key->unit ? key->unit : "-");
    add_default(out, key);
    ty_buffer_add(out, " | ");
    add_range(out, key);
    ty_buffer_add(out, " | %s", key->sentence);
    if (key->only_solver) ty_buffer_add(out, " Solver: %s.", key->only_solver);
    if (key->only_tracker) ty_buffer_add(out, " Tracker: %s.", key->only_tracker);
    const char* not_yet = ty_key_not_yet(key);
    if (not_yet) ty_buffer_add(out, " *Not available yet: %s.*", not_yet);
    ty_buffer_add(out, " |\n");
    return true;
}

static void add_group(ty_buffer* out, const ty_group* group)
{
    ty_buffer_add(out, "\n## %s\n\n%s", group->name, group->sentence);
    const ty_key* first = group->keys;
    if (first->type == TY_KEY_INLINE)
        ty_buffer_add(out, " the keys below; its shape stands beside them, see [shape](#shape).");
    ty_buffer_add(out,
                  "\n\n| key | type | unit | default | allowed | |\n|---|---|---|---|---|---|\n");
    for (const ty_key* key = group->keys; !ty_key_is_end(key); ++key)
        if (key->type != TY_KEY_INLINE) add_row(out, key, 0);
    if (group->example) ty_buffer_add(out, "\n```yaml\n%s\n```\n", group->example);
}

static const char introduction[] =
    "<!-- Made from the table in src/scene/keys.c; `make docs` remakes it. -->\n"
    "# Scene reference\n\n"
    "A scene is a YAML file. Lengths are metres, times seconds, masses kilograms. Every key has a "
    "default unless\n"
    "\"must be given\" stands there. `tethys check scene.yaml` says what is wrong with a scene and "
    "what it would run;\n"
    "`--set solver.tolerance=1e-8` or `--set liquid.0.box.max=[1,1,1]` change a key from the "
    "command line.\n\n"
    "A **varying number** or **varying vector** is one of\n\n"
    "- a constant: `velocity: [1, 0, 0]`;\n"
    "- expressions of `x, y, z` (m) and `t` (s): `velocity: [\"-y\", \"x\", 0]`. `^` is power, "
    "angles are radians; there are\n"
    "  `sin cos tan asin acos atan atan2 sinh cosh tanh sqrt exp log log10 pow hypot abs sign "
    "floor ceil round fract mod\n"
    "  min max clamp mix step smoothstep noise`, `pi`, `e`, comparisons and `a ? b : c`. Put "
    "quotes around them;\n"
    "- key frames: `blend: [{time: 0, value: 0}, {time: 1, value: 0.4}]`, or with\n"
    "  `{keys: [...], ease: linear}` straight lines between them instead of easing in and out;\n"
    "- a field from OpenVDB files: `velocity: {file: wind.####.vdb, grid: velocity}`, one file per "
    "frame.\n\n"
    "Key frames hold their first value before they start and their last after they end. Gravity, "
    "cameras and rates vary\n"
    "in time only. Files are looked for beside the scene. Booleans are `true` and `false`; `yes`, "
    "`on` and the like are\n"
    "texts. A key marked *not available yet* is an error until it works.\n";

char* ty_scene_reference(void)
{
    ty_buffer out = {0};
    const ty_group* groups[TY_MAX_GROUPS];
    int n_groups = ty_all_groups(groups);
    ty_buffer_add(&out, "%s", introduction);
    for (int i = 0; i < n_groups; ++i) add_group(&out, groups[i]);
    return ty_buffer_take(&out);
}
