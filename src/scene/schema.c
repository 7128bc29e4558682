// SPDX-License-Identifier: Apache-2.0
// The JSON Schema (draft 2020-12) of a scene, from the table: for editors that complete and check
// while typing.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scene/buffer.h"
#include "scene/read.h"
#include "scene/scene.h"

static void add_string(ty_buffer* out, const char* text)
{
    ty_buffer_add(out, "\"");
    for (const char* p = text; *p; ++p) {
        if (*p == '"' || *p == '\\') ty_buffer_add(out, "\\%c", *p);
        else if (*p == '\n') ty_buffer_add(out, "\\n");
        else ty_buffer_add_bytes(out, p, 1);
    }
    ty_buffer_add(out, "\"");
}

static void add_range(ty_buffer* out, const ty_key* key)
{
    if (key->min == 0.0 && key->max == 0.0) return;
    ty_buffer_add(out, ", \"%s\": %.17g", key->min_open ? "exclusiveMinimum" : "minimum", key->min);
    if (!isinf(key->max)) ty_buffer_add(out, ", \"maximum\": %.17g", key->max);
}

static void add_number(ty_buffer* out, const ty_key* key, const char* type)
{
    ty_buffer_add(out, "\"type\": \"%s\"", type);
    add_range(out, key);
}

static void add_enum(ty_buffer* out, const ty_key* key)
{
    ty_buffer_add(out, "\"enum\": [");
    for (const ty_choice* c = key->choices; c->name; ++c)
        ty_buffer_add(out, "%s\"%s\"", c == key->choices ? "" : ", ", c->name);
    ty_buffer_add(out, "]");
}

static void add_ref(ty_buffer* out, const ty_group* group)
{
    ty_buffer_add(out, "\"$ref\": \"#/$defs/");
    for (const char* p = group->name; *p; ++p) ty_buffer_add_bytes(out, *p == ' ' ? "_" : p, 1);
    ty_buffer_add(out, "\"");
}

static void add_list_of(ty_buffer* out, int least, int most)
{
    ty_buffer_add(out, "\"type\": \"array\", \"minItems\": %d, ", least);
    if (most) ty_buffer_add(out, "\"maxItems\": %d, ", most);
}

static void add_numbers(ty_buffer* out, const ty_key* key, int n)
{
    add_list_of(out, n, n);
    ty_buffer_add(out, "\"items\": {");
    add_number(out, key, "number");
    ty_buffer_add(out, "}");
}

static void add_varying(ty_buffer* out, const ty_key* key)
{
    bool vector = key->type == TY_KEY_VARYING3;
    ty_buffer_add(out, "\"anyOf\": [{");
    if (vector) {
        add_list_of(out, 3, 3);
        ty_buffer_add(out, "\"items\": {\"type\": [\"number\", \"string\"]}");
    } else {
        add_number(out, key, "number");
        ty_buffer_add(out, "}, {\"type\": \"string\"");
    }
    ty_buffer_add(out, "}, {");
    add_list_of(out, 1, 0);
    ty_buffer_add(out, "\"items\": {");
    add_ref(out, vector ? &ty_vector_key_group : &ty_value_key_group);
    ty_buffer_add(out, "}}, {");
    add_ref(out, &ty_varying_keys_group);
    ty_buffer_add(out, "}, {");
    add_ref(out, &ty_varying_file_group);
    ty_buffer_add(out, "}]");
}

static void add_type(ty_buffer* out, const ty_key* key)
{
    switch (key->type) {
    case TY_KEY_NUMBER: add_number(out, key, "number"); break;
    case TY_KEY_INTEGER: add_number(out, key, "integer"); break;
    case TY_KEY_BOOL: ty_buffer_add(out, "\"type\": \"boolean\""); break;
    case TY_KEY_CHOICE:
    case TY_KEY_FLAG:
    case TY_KEY_WORD: add_enum(out, key); break;
    case TY_KEY_PAIR:
    case TY_KEY_FLAT: add_numbers(out, key, 2); break;
    case TY_KEY_VEC3: add_numbers(out, key, 3); break;
    case TY_KEY_POINTS:
        add_list_of(out, key->min_items, 0);
        ty_buffer_add(out, "\"items\": {");
        add_numbers(out, key, 3);
        ty_buffer_add(out, "}");
        break;
    case TY_KEY_VARYING:
    case TY_KEY_VARYING3: add_varying(out, key); break;
    case TY_KEY_GROUP:
    case TY_KEY_WALL: add_ref(out, key->group); break;
    case TY_KEY_LIST:
        add_list_of(out, key->min_items, 0);
        ty_buffer_add(out, "\"items\": {");
        add_ref(out, key->group);
        ty_buffer_add(out, "}");
        break;
    case TY_KEY_SIDES:
        ty_buffer_add(out, "\"type\": \"array\", \"items\": {");
        add_enum(out, key);
        ty_buffer_add(out, "}");
        break;
    default: ty_buffer_add(out, "\"type\": [\"string\", \"number\"]"); break;
    }
}

typedef struct schema_job {
    ty_buffer* out;
    int n;
} schema_job;

static bool add_property(void* ctx, const ty_key* key, size_t offset)
{
    (void)offset;
    schema_job* job = ctx;
    ty_buffer_add(job->out, "%s        \"%s\": {", job->n++ ? ",\n" : "", key->name);
    add_type(job->out, key);
    ty_buffer_add(job->out, ", \"description\": ");
    ty_buffer text = {0};
    ty_buffer_add(&text, "%s%s%s%s", key->sentence, *key->unit ? " Unit: " : "", key->unit,
                  *key->unit ? "." : "");
    const char* not_yet = ty_key_not_yet(key);
    if (not_yet) ty_buffer_add(&text, " Not available yet: %s.", not_yet);
    char* description = ty_buffer_take(&text);
    if (!description) job->out->failed = true;
    add_string(job->out, description ? description : "");
    ty_free(description);
    ty_buffer_add(job->out, "}");
    return true;
}

static bool add_required(void* ctx, const ty_key* key, size_t offset)
{
    (void)offset;
    schema_job* job = ctx;
    if (key->required) ty_buffer_add(job->out, "%s\"%s\"", job->n++ ? ", " : "", key->name);
    return true;
}

static bool add_variant(void* ctx, const ty_key* key, size_t offset)
{
    (void)offset;
    schema_job* job = ctx;
    if (key->variant)
        ty_buffer_add(job->out, "%s{\"required\": [\"%s\"]}",
                      job->n++ ? ", " : ",\n      \"oneOf\": [", key->name);
    return true;
}

static void add_object(ty_buffer* out, const ty_group* group)
{
    ty_buffer_add(out, "\"type\": \"object\",\n      \"description\": ");
    add_string(out, group->sentence);
    ty_buffer_add(out, ",\n      \"additionalProperties\": false,\n      \"properties\": {\n");
    schema_job job = {out, 0};
    ty_visit_keys(group, 0, add_property, &job);
    job.n = 0;
    ty_buffer_add(out, "\n      },\n      \"required\": [");
    ty_visit_keys(group, 0, add_required, &job);
    ty_buffer_add(out, "]");
    job.n = 0;
    ty_visit_keys(group, 0, add_variant, &job);
    if (job.n) ty_buffer_add(out, "]");
}

static void add_definition(ty_buffer* out, const ty_group* group)
{
    ty_buffer_add(out, "    \"");
    for (const char* p = group->name; *p; ++p) ty_buffer_add_bytes(out, *p == ' ' ? "_" : p, 1);
    ty_buffer_add(out, "\": {\n      ");
    add_object(out, group);
    ty_buffer_add(out, "\n    }");
}

char* ty_scene_json_schema(void)
{
    ty_buffer out = {0};
    const ty_group* groups[TY_MAX_GROUPS];
    int n_groups = ty_all_groups(groups);
    ty_buffer_add(
        &out, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
              "  \"title\": \"Tethys scene\",\n  \"$ref\": \"#/$defs/scene\",\n  \"$defs\": {\n");
    for (int i = 0; i < n_groups; ++i) {
        if (i) ty_buffer_add(&out, ",\n");
        add_definition(&out, groups[i]);
    }
    ty_buffer_add(&out, "\n  }\n}\n");
    return ty_buffer_take(&out);
}
