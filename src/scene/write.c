// SPDX-License-Identifier: Apache-2.0
#include "scene/write.h"

#include <string.h>

#include "core/hash.h"
#include "scene/buffer.h"
#include "scene/read.h"

typedef struct writer {
    ty_buffer text;
    const ty_scene_draft* draft;
    bool for_hash;
    int indent;
    bool dash;    // the next key is the first of a list's item
} writer;

static void start_line(writer* w, const char* key)
{
    int indent = w->indent - (w->dash ? 2 : 0);
    ty_buffer_add(&w->text, "%*s%s%s:", indent, "", w->dash ? "- " : "", key);
    w->dash = false;
}

static void quoted(writer* w, const char* text)
{
    ty_buffer_add(&w->text, "\"");
    for (const char* p = text; *p; ++p) {
        if (*p == '"' || *p == '\\') ty_buffer_add(&w->text, "\\%c", *p);
        else if ((unsigned char)*p < 0x20) ty_buffer_add(&w->text, "\\x%02x", (unsigned char)*p);
        else ty_buffer_add_bytes(&w->text, p, 1);
    }
    ty_buffer_add(&w->text, "\"");
}

static void file_name(writer* w, const char* path)
{
    const char* slash = w->for_hash ? strrchr(path, '/') : NULL;
    quoted(w, slash ? slash + 1 : path);
}

static void numbers(writer* w, int n, const double* values)
{
    for (int i = 0; i < n; ++i) {
        ty_buffer_add(&w->text, i ? ", " : "[");
        ty_buffer_add_number(&w->text, values[i]);
    }
    ty_buffer_add(&w->text, "]");
}

static void value_of(writer* w, int width, const double* values)
{
    if (width == 3) numbers(w, 3, values);
    else ty_buffer_add_number(&w->text, values[0]);
}

static void key_frames(writer* w, const ty_varying* v)
{
    ty_buffer_add(&w->text, "{keys: [");
    for (int i = 0; i < v->n_keys; ++i) {
        ty_buffer_add(&w->text, "%s{time: ", i ? ", " : "");
        ty_buffer_add_number(&w->text, v->keys[i].time);
        ty_buffer_add(&w->text, ", value: ");
        value_of(w, v->width, v->keys[i].value);
        ty_buffer_add(&w->text, "}");
    }
    ty_buffer_add(&w->text, "], ease: %s}", ty_ease_choices[v->linear].name);
}

static void component(writer* w, const ty_varying* v, int i)
{
    if (v->expr[i]) quoted(w, ty_expr_text(v->expr[i]));
    else ty_buffer_add_number(&w->text, v->constant[i]);
}

static void varying(writer* w, const ty_varying* v)
{
    switch (v->kind) {
    case TY_VARY_CONSTANT: value_of(w, v->width, v->constant); break;
    case TY_VARY_KEYS: key_frames(w, v); break;
    case TY_VARY_EXPRESSION:
        for (int i = 0; i < v->width; ++i) {
            if (v->width == 3) ty_buffer_add(&w->text, i ? ", " : "[");
            component(w, v, i);
        }
        if (v->width == 3) ty_buffer_add(&w->text, "]");
        break;
    case TY_VARY_VOLUME:
        ty_buffer_add(&w->text, "{file: ");
        file_name(w, v->volume_file);
        ty_buffer_add(&w->text, ", grid: ");
        quoted(w, v->volume_grid);
        ty_buffer_add(&w->text, ", rate: ");
        ty_buffer_add_number(&w->text, v->volume_rate);
        ty_buffer_add(&w->text, ", start: %d}", v->volume_start);
        break;
    }
}

static void choice(writer* w, const ty_key* key, int value)
{
    for (const ty_choice* c = key->choices; c->name; ++c)
        if (c->value == value) {
            ty_buffer_add(&w->text, "%s", c->name);
            return;
        }
}

static void sides(writer* w, const ty_wall_def* walls)
{
    int n = 0;
    ty_buffer_add(&w->text, "[");
    for (const ty_choice* c = ty_side_choices; c->name; ++c)
        if (walls[ty_side_for_up(c->value, w->draft->def.world.up)].closed)
            ty_buffer_add(&w->text, "%s%s", n++ ? ", " : "", c->name);
    ty_buffer_add(&w->text, "]");
}

static void points(writer* w, int n, double (*const at)[3])
{
    for (int i = 0; i < n; ++i) {
        ty_buffer_add(&w->text, i ? ", " : "[");
        numbers(w, 3, at[i]);
    }
    ty_buffer_add(&w->text, "]");
}

static void flat(writer* w, const double at[3])
{
    numbers(w, 2, (double[2]){at[0], at[w->draft->def.world.up == 2 ? 1 : 2]});
}

// What fits on the key's line.
static void value(writer* w, const ty_key* key, const char* self)
{
    const char* at = self + key->at - 1;
    switch (key->type) {
    case TY_KEY_NUMBER: ty_buffer_add_number(&w->text, *(const double*)at); break;
    case TY_KEY_INTEGER: ty_buffer_add(&w->text, "%d", *(const int*)at); break;
    case TY_KEY_BOOL: ty_buffer_add(&w->text, "%s", *(const bool*)at ? "true" : "false"); break;
    case TY_KEY_CHOICE: choice(w, key, *(const int*)at); break;
    case TY_KEY_FLAG: choice(w, key, *(const bool*)at); break;
    case TY_KEY_WORD: ty_buffer_add(&w->text, "%s", *(char* const*)at); break;
    case TY_KEY_TEXT: quoted(w, *(char* const*)at); break;
    case TY_KEY_FILE: file_name(w, *(char* const*)at); break;
    case TY_KEY_PAIR: numbers(w, 2, (const double*)at); break;
    case TY_KEY_VEC3: numbers(w, 3, (const double*)at); break;
    case TY_KEY_FLAT: flat(w, (const double*)at); break;
    case TY_KEY_POINTS:
        points(w, *(const int*)(self + key->count_at - 1), *(double(*const*)[3])at);
        break;
    case TY_KEY_VARYING:
    case TY_KEY_VARYING3:
    case TY_KEY_FORMULA: varying(w, (const ty_varying*)at); break;
    case TY_KEY_SIDES: sides(w, (const ty_wall_def*)at); break;
    default: break;
    }
}

static void write_group(writer* w, const ty_group* group, const void* self);

static void write_gravity(writer* w)
{
    w->dash = true;
    start_line(w, "gravity");
    ty_buffer_add(&w->text, " ");
    varying(w, &w->draft->def.world.gravity);
    ty_buffer_add(&w->text, "\n");
}

static void write_list(writer* w, const ty_key* key, const char* self)
{
    const char* items = *(char* const*)(self + key->at - 1);
    int n = *(const int*)(self + key->count_at - 1);
    bool forces = key->group == &ty_force_group;
    if (n == 0 && !forces) return;
    start_line(w, key->name);
    ty_buffer_add(&w->text, "\n");
    w->indent += 4;
    if (forces) write_gravity(w);
    for (int i = 0; i < n; ++i) {
        w->dash = true;
        write_group(w, key->group, items + (size_t)i * key->group->size);
    }
    w->dash = false;
    w->indent -= 4;
}

// A group's key and, below it, its keys; nothing at all when it holds none that count.
static void write_inner(writer* w, const ty_key* key, const void* inner)
{
    int64_t before = w->text.chars.n;
    bool dash = w->dash;
    start_line(w, key->name);
    ty_buffer_add(&w->text, "\n");
    int64_t header = w->text.chars.n;
    w->indent += 2;
    write_group(w, key->group, inner);
    w->indent -= 2;
    if (w->text.chars.n != header) return;
    w->text.chars.n = before;
    w->dash = dash;
}

static bool counts(const writer* w, const ty_key* key, const char* self, int kind)
{
    const ty_sim_def* def = &w->draft->def;
    if (key->input_only || ty_key_not_yet(key)) return false;
    if (key->variant && key->value != kind) return false;
    if (key->has_at && !*(const bool*)(self + key->has_at - 1)) return false;
    if (w->for_hash && key->no_result && !(def->smoke && key->group == &ty_camera_group))
        return false;
    if (key->type == TY_KEY_WALL && !def->world.has_domain) return false;
    return ty_words_hold(key->only_solver, def->solver_kind) &&
           ty_words_hold(key->only_tracker, def->tracker_kind);
}

typedef struct group_job {
    writer* w;
    const ty_group* group;
    const char* self;
} group_job;

static bool write_key(void* ctx, const ty_key* key, size_t offset)
{
    group_job* job = ctx;
    writer* w = job->w;
    const char* self = job->self + offset;
    const ty_group* owner = job->group;
    for (const ty_key* k = owner->keys; !ty_key_is_end(k); ++k)
        if (k->type == TY_KEY_INLINE && offset == k->at - 1 && key->variant) owner = k->group;
    int kind = owner->kind_at ? *(const int*)(self + owner->kind_at - 1) : 0;
    if (!counts(w, key, self, kind)) return true;
    if (key->type == TY_KEY_LIST) {
        write_list(w, key, self);
    } else if (key->type == TY_KEY_GROUP) {
        write_inner(w, key, self + key->at - 1);
    } else if (key->type == TY_KEY_WALL) {
        const ty_wall_def* walls = (const ty_wall_def*)(self + key->at - 1);
        write_inner(w, key, &walls[ty_side_for_up(key->value, w->draft->def.world.up)]);
    } else {
        start_line(w, key->name);
        ty_buffer_add(&w->text, " ");
        value(w, key, self);
        ty_buffer_add(&w->text, "\n");
    }
    return !w->text.failed;
}

static void write_group(writer* w, const ty_group* group, const void* self)
{
    group_job job = {w, group, self};
    ty_visit_keys(group, 0, write_key, &job);
}

char* ty_scene_write(const ty_scene_draft* draft)
{
    writer w = {.draft = draft};
    write_group(&w, &ty_scene_group, draft);
    return ty_buffer_take(&w.text);
}

ty_status ty_scene_hash(const ty_scene_draft* draft, uint64_t* hash)
{
    writer w = {.draft = draft, .for_hash = true};
    write_group(&w, &ty_scene_group, draft);
    int64_t n = w.text.chars.n;
    char* text = ty_buffer_take(&w.text);
    if (!text) return ty_no_memory("the scene");
    *hash = ty_hash_bytes(text, (size_t)n);
    ty_free(text);
    return ty_ok();
}
