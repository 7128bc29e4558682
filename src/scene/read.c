// SPDX-License-Identifier: Apache-2.0
#include "scene/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "scene/buffer.h"

enum { MAX_GROUP_KEYS = 64 };

void ty_set_no_memory(ty_reader* r) { r->mistakes->no_memory = true; }

void* ty_reader_alloc(ty_reader* r, int n, size_t size)
{
    void* p = ty_alloc_zero((size_t)n, size);
    if (!p) ty_set_no_memory(r);
    return p;
}

char* ty_reader_strdup(ty_reader* r, const char* text)
{
    char* copy = ty_strdup(text);
    if (!copy) ty_set_no_memory(r);
    return copy;
}

ty_place ty_reader_place(const ty_reader* r, ty_spot spot)
{
    bool in_file = spot.origin && spot.origin->is_file;
    return (ty_place){r->draft->def.file, in_file ? spot.line : 0, in_file ? spot.column : 0};
}

typedef struct name_list {
    const char* names[MAX_GROUP_KEYS];
    int n;
} name_list;

static bool collect_name(void* ctx, const ty_key* key, size_t offset)
{
    (void)offset;
    name_list* list = ctx;
    if (list->n < MAX_GROUP_KEYS) list->names[list->n++] = key->name;
    return true;
}

static void report_unknown(ty_reader* r, const ty_group* group, const name_list* known,
                           const ty_node* key)
{
    char allowed[400] = "";
    size_t n = 0;
    for (int i = 0; i < known->n && n < sizeof allowed - 40; ++i)
        n += (size_t)snprintf(allowed + n, sizeof allowed - n, "%s%s", i ? ", " : "",
                              known->names[i]);
    const char* meant = ty_nearest_name(key->text, known->n, known->names);
    if (meant)
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, key->spot,
                       "unknown key '%.60s' in '%s'; did you mean '%s'? (known: %s)", key->text,
                       group->name, meant, allowed);
    else
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, key->spot,
                       "unknown key '%.60s' in '%s' (known: %s)", key->text, group->name, allowed);
}

static void check_names(ty_reader* r, const ty_group* group, const ty_node* node)
{
    name_list known = {.n = 0};
    ty_visit_keys(group, 0, collect_name, &known);
    for (const ty_node* child = node->first; child; child = child->next) {
        bool found = false;
        for (int i = 0; i < known.n && !found; ++i)
            found = strcmp(known.names[i], child->key->text) == 0;
        if (!found) report_unknown(r, group, &known, child->key);
    }
}

// Defaults that depend on what was read before.
static const char* fallback_text(ty_reader* r, const ty_key* key, char out[256])
{
    const ty_sim_def* def = &r->draft->def;
    const char* text = key->fallback;
    if (text[0] != '@') return text;
    if (strcmp(text, "@up") == 0) return def->world.up == 2 ? "[0, 0, 1]" : "[0, 1, 0]";
    if (strcmp(text, "@solver") == 0) return ty_best_solver(def->smoke);
    if (strcmp(text, "@tracker") == 0)
        return ty_best_tracker(def->solver_kind ? def->solver_kind : "");
    if (strcmp(text, "@ratio") == 0)
        return def->solver_kind && strcmp(def->solver_kind, "tet") == 0 ? "2" : "1";
    if (strcmp(text, "@thicken") == 0)
        return def->tracker_kind && strcmp(def->tracker_kind, "contour") == 0 ? "true" : "false";
    if (strcmp(text, "@rate") == 0) {
        snprintf(out, 256, "%.17g", def->frame_rate);
        return out;
    }
    // @name: the file's name without folder and ending.
    const char* name = strrchr(def->file, '/');
    snprintf(out, 256, "%.200s", name ? name + 1 : def->file);
    char* dot = strrchr(out, '.');
    if (dot && dot != out) *dot = 0;
    return *out ? out : "scene";
}

static ty_node* scalar_node(ty_reader* r, const char* text, size_t n)
{
    ty_node* node = ty_node_new(r->pool, TY_NODE_SCALAR, (ty_spot){0});
    char* copy = ty_pool_alloc(r->pool, n + 1, 1);
    if (!node || !copy) {
        ty_set_no_memory(r);
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = 0;
    node->text = copy;
    node->plain = true;
    return node;
}

// A default as a tree: a scalar, or a list of scalars in brackets.
static ty_node* fallback_node(ty_reader* r, const char* text)
{
    if (text[0] != '[') return scalar_node(r, text, strlen(text));
    ty_node* list = ty_node_new(r->pool, TY_NODE_SEQUENCE, (ty_spot){0});
    if (!list) ty_set_no_memory(r);
    for (const char* p = text + 1; list && *p && *p != ']';) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ",]");
        ty_node* item = scalar_node(r, p, n);
        if (!item) return NULL;
        ty_node_append(list, NULL, item);
        p += n;
    }
    return list;
}

static void read_missing(ty_reader* r, const ty_group* group, const ty_key* key,
                         const ty_node* node, char* self)
{
    bool optional = key->has_at != 0;
    if (key->required && node) {
        char note[40];
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' needs the key '%s'%s",
                       group->name, key->name, ty_unit_note(key, note));
    } else if ((key->type == TY_KEY_GROUP && !optional) || key->type == TY_KEY_WALL) {
        if (key->type == TY_KEY_GROUP) ty_read_group(r, key->group, NULL, self + key->at - 1);
        else ty_read_value(r, key, NULL, self);
    } else if (key->fallback && key->at) {
        char text[256];
        ty_node* value = fallback_node(r, fallback_text(r, key, text));
        if (value) ty_read_value(r, key, value, self);
    }
}

static bool says_default(ty_reader* r, const ty_key* key, const ty_node* node)
{
    if (!key->fallback || node->kind != TY_NODE_SCALAR) return false;
    char text[256];
    const char* fallback = fallback_text(r, key, text);
    double a, b;
    if (ty_parse_number(node->text, &a) && ty_parse_number(fallback, &b)) return a == b;
    return strcmp(node->text, fallback) == 0;
}

// Whether the key does something here; says so when it does not.
static void check_use(ty_reader* r, const ty_key* key, const ty_node* node)
{
    const ty_sim_def* def = &r->draft->def;
    const char* not_yet = ty_key_not_yet(key);
    if (not_yet && !says_default(r, key, node)) {
        ty_mistake_add(r->mistakes, TY_NOT_YET, node->key ? node->key->spot : node->spot,
                       "'%s' is not available yet: %s", key->name, not_yet);
    } else if (def->solver_kind && !ty_words_hold(key->only_solver, def->solver_kind)) {
        if (key->essential && !says_default(r, key, node))
            ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->key->spot,
                           "solver '%s' has no '%s'; use kind: %s, or leave the key out",
                           def->solver_kind, key->name, key->only_solver);
        else
            ty_warning_add(r->mistakes, node->key->spot,
                           "'%s' is not used by solver '%s' (only by: %s)", key->name,
                           def->solver_kind, key->only_solver);
    } else if (def->tracker_kind && !ty_words_hold(key->only_tracker, def->tracker_kind)) {
        ty_warning_add(r->mistakes, node->key->spot,
                       "'%s' is not used by tracker '%s' (only by: %s)", key->name,
                       def->tracker_kind, key->only_tracker);
    }
}

typedef struct group_job {
    ty_reader* r;
    const ty_group* group;
    ty_node* node;
    char* self;
} group_job;

static bool read_key(void* ctx, const ty_key* key, size_t offset)
{
    group_job* job = ctx;
    ty_reader* r = job->r;
    char* self = job->self + offset;
    ty_node* value = job->node ? ty_node_find(job->node, key->name) : NULL;
    bool empty = value && ty_node_is_null(value) &&
                 (key->type == TY_KEY_GROUP || key->type == TY_KEY_LIST);
    if (!value || (empty && !key->variant)) {
        if (!key->variant) read_missing(r, job->group, key, job->node, self);
        return !r->mistakes->no_memory;
    }
    if (value->key) check_use(r, key, value);
    if (key->has_at) *(bool*)(self + key->has_at - 1) = true;
    ty_read_value(r, key, value, self);
    return !r->mistakes->no_memory;
}

typedef struct variant_search {
    const char* name;
    const ty_key* found;
} variant_search;

static bool find_variant(void* ctx, const ty_key* key, size_t offset)
{
    (void)offset;
    variant_search* search = ctx;
    if (key->variant && strcmp(key->name, search->name) == 0) search->found = key;
    return !search->found;
}

static void start_variant(const ty_group* group, const ty_key* key, char* self)
{
    if (group->start) group->start(self, key->value);
    else *(int*)(self + group->kind_at - 1) = key->value;
}

static bool collect_variant(void* ctx, const ty_key* key, size_t offset)
{
    if (key->variant) collect_name(ctx, key, offset);
    return true;
}

// Which of the group's variants it is; exactly one must be given.
static void read_variant(ty_reader* r, const ty_group* group, ty_node* node, void* self)
{
    const char* first = NULL;
    for (const ty_node* child = node->first; child; child = child->next) {
        variant_search search = {child->key->text, NULL};
        ty_visit_keys(group, 0, find_variant, &search);
        if (!search.found) continue;
        if (!first) start_variant(group, search.found, self);
        else if (strcmp(first, search.name) != 0)
            ty_mistake_add(r->mistakes, TY_BAD_INPUT, child->key->spot,
                           "'%s' beside '%s': only one %s in one item", search.name, first,
                           group->variants);
        if (!first) first = search.name;
    }
    if (first) return;
    name_list list = {.n = 0};
    ty_visit_keys(group, 0, collect_variant, &list);
    char allowed[300] = "";
    size_t n = 0;
    for (int i = 0; i < list.n; ++i)
        n += (size_t)snprintf(allowed + n, sizeof allowed - n, "%s%s", i ? ", " : "",
                              list.names[i]);
    ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "no %s here; give one of: %s",
                   group->variants, allowed);
}

static void read_inlined(ty_reader* r, const ty_group* group, ty_node* node, void* self)
{
    for (const ty_key* key = group->keys; !ty_key_is_end(key); ++key) {
        if (key->type != TY_KEY_INLINE) continue;
        char* inner = (char*)self + key->at - 1;
        if (node && key->group->kind_at) read_variant(r, key->group, node, inner);
    }
}

static void check_inlined(ty_reader* r, const ty_group* group, ty_node* node, void* self)
{
    for (const ty_key* key = group->keys; !ty_key_is_end(key); ++key)
        if (key->type == TY_KEY_INLINE && key->group->check)
            key->group->check(r, (char*)self + key->at - 1, node);
    if (group->check) group->check(r, self, node);
}

void ty_read_group(ty_reader* r, const ty_group* group, ty_node* node, void* self)
{
    if (node && node->kind != TY_NODE_MAPPING) {
        char sample[60] = "";
        if (node->kind == TY_NODE_SCALAR) snprintf(sample, sizeof sample, " '%.50s'", node->text);
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' must be a group of keys, not %s%s", group->name,
                       ty_node_kind_name(node), sample);
        return;
    }
    int before = r->mistakes->n_errors;
    if (node) check_names(r, group, node);
    if (node && group->kind_at) read_variant(r, group, node, self);
    read_inlined(r, group, node, self);
    group_job job = {r, group, node, self};
    ty_visit_keys(group, 0, read_key, &job);
    // Half-read values would only give mistakes about mistakes.
    bool whole = r->mistakes->n_errors == before || group->check_anyway;
    if (whole && !r->mistakes->no_memory) check_inlined(r, group, node, self);
}
