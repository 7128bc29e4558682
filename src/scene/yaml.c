// SPDX-License-Identifier: Apache-2.0
#include "scene/yaml.h"

#include <ctype.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

typedef struct anchor {
    const char* name;
    ty_node* node;
    bool open;    // its end was not seen yet
} anchor;

typedef struct builder {
    ty_pool* pool;
    const ty_origin* origin;
    ty_mistakes* mistakes;
    int first_column;    // characters before the text on its first line
    ty_node* root;
    ty_node* open[TY_YAML_MAX_DEPTH];
    ty_node* key[TY_YAML_MAX_DEPTH];    // of the mapping open[i]: the key whose value comes next
    int depth, n_nodes, n_documents;
    TY_ARRAY(anchor) anchors;
    bool stop;
} builder;

static void fail(builder* b, ty_code code, ty_spot spot, const char* message)
{
    if (!b->stop) ty_mistake_add(b->mistakes, code, spot, "%s", message);
    b->stop = true;
}

ty_node* ty_node_new(ty_pool* pool, ty_node_kind kind, ty_spot spot)
{
    ty_node* node = ty_pool_alloc(pool, 1, sizeof *node);
    if (!node) return NULL;
    *node = (ty_node){.kind = kind, .spot = spot, .text_spot = spot};
    return node;
}

void ty_node_append(ty_node* parent, ty_node* key, ty_node* child)
{
    child->key = key;
    child->next = NULL;
    if (parent->last) parent->last->next = child;
    else parent->first = child;
    parent->last = child;
    ++parent->n_children;
}

ty_node* ty_node_find(const ty_node* mapping, const char* key)
{
    ty_node* found = NULL;
    for (ty_node* child = mapping->first; child; child = child->next)
        if (child->key && strcmp(child->key->text, key) == 0) found = child;
    return found;
}

ty_node* ty_node_item(const ty_node* sequence, int i)
{
    ty_node* child = sequence->first;
    while (child && i-- > 0) child = child->next;
    return child;
}

bool ty_node_is_null(const ty_node* node)
{
    return node->kind == TY_NODE_SCALAR && node->plain &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

const char* ty_node_kind_name(const ty_node* node)
{
    if (node->kind == TY_NODE_SEQUENCE) return "a list";
    if (node->kind == TY_NODE_MAPPING) return "a group of keys";
    if (ty_node_is_null(node)) return "nothing";
    char* end;
    strtod(node->text, &end);
    return end != node->text && !*end ? "a number" : "text";
}

static ty_spot spot_of(const builder* b, const struct fy_mark* mark)
{
    ty_spot spot = {b->origin, 0, 0};
    if (!mark) return spot;
    spot.line = mark->line + 1;
    spot.column = mark->column + 1 + (mark->line == 0 ? b->first_column : 0);
    return spot;
}

static ty_node* new_node(builder* b, ty_node_kind kind, ty_spot spot)
{
    if (++b->n_nodes > TY_YAML_MAX_NODES) {
        fail(b, TY_BAD_INPUT, spot, "too many values (more than 400000, with aliases written out)");
        return NULL;
    }
    ty_node* node = ty_node_new(b->pool, kind, spot);
    if (!node) fail(b, TY_NO_MEMORY, spot, "out of memory while reading the scene");
    return node;
}

static char* copy_text(builder* b, const char* text, size_t n)
{
    char* copy = ty_pool_alloc(b->pool, n + 1, 1);
    if (!copy) {
        fail(b, TY_NO_MEMORY, (ty_spot){b->origin, 0, 0}, "out of memory while reading the scene");
        return NULL;
    }
    if (n) memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

static bool spots_equal(ty_spot a, ty_spot b) { return a.line == b.line && a.column == b.column; }

static void check_duplicate(builder* b, const ty_node* mapping, const ty_node* key)
{
    // Quadratic, so only as far as mappings are small: no group has this many keys.
    enum { LARGEST_GROUP = 200 };
    if (mapping->n_children > LARGEST_GROUP) {
        fail(b, TY_BAD_INPUT, mapping->spot, "too many keys in one group");
        return;
    }
    const ty_node* old = ty_node_find(mapping, key->text);
    if (old && !spots_equal(old->key->spot, key->spot))
        ty_mistake_add(b->mistakes, TY_BAD_INPUT, key->spot,
                       "key '%.60s' is given twice; the first is in line %d", key->text,
                       old->key->spot.line);
}

// Hangs a finished or just opened node into the innermost open one.
static void place(builder* b, ty_node* node)
{
    if (b->stop || !node) return;
    if (b->depth == 0) {
        if (!b->root) b->root = node;
        return;
    }
    ty_node* parent = b->open[b->depth - 1];
    ty_node** key = &b->key[b->depth - 1];
    if (parent->kind == TY_NODE_SEQUENCE) {
        ty_node_append(parent, NULL, node);
    } else if (!*key) {
        if (node->kind != TY_NODE_SCALAR) {
            fail(b, TY_BAD_INPUT, node->spot, "a key must be a word, not a list or a group");
            return;
        }
        check_duplicate(b, parent, node);
        *key = node;
    } else {
        if (node->spot.line == 0) node->spot = node->text_spot = (*key)->spot;
        ty_node_append(parent, *key, node);
        *key = NULL;
    }
}

static void remember_anchor(builder* b, struct fy_token* token, ty_node* node, bool open)
{
    if (!token || !node) return;
    size_t n = 0;
    const char* text = fy_token_get_text(token, &n);
    char* name = copy_text(b, text ? text : "", text ? n : 0);
    if (name && !ty_array_push(&b->anchors, ((anchor){name, node, open})))
        fail(b, TY_NO_MEMORY, node->spot, "out of memory while reading the scene");
}

static void open_node(builder* b, ty_node_kind kind, const struct fy_mark* mark,
                      struct fy_token* anchor_token)
{
    ty_spot spot = spot_of(b, mark);
    if (b->depth == TY_YAML_MAX_DEPTH) {
        fail(b, TY_BAD_INPUT, spot, "nested too deeply (more than 32 levels)");
        return;
    }
    ty_node* node = new_node(b, kind, spot);
    place(b, node);
    remember_anchor(b, anchor_token, node, true);
    if (b->stop) return;
    b->open[b->depth] = node;
    b->key[b->depth] = NULL;
    ++b->depth;
}

static void close_node(builder* b)
{
    ty_node* node = b->open[--b->depth];
    for (int64_t i = 0; i < b->anchors.n; ++i)
        if (b->anchors.at[i].node == node) b->anchors.at[i].open = false;
}

static void add_scalar(builder* b, struct fy_event* event)
{
    struct fy_token* token = event->scalar.value;
    ty_node* node = new_node(b, TY_NODE_SCALAR, spot_of(b, fy_event_start_mark(event)));
    if (!node) return;
    size_t n = 0;
    const char* text = token ? fy_token_get_text(token, &n) : NULL;
    if (text && memchr(text, 0, n)) {
        fail(b, TY_BAD_INPUT, node->spot, "a zero character in a text");
        return;
    }
    enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    node->plain = style == FYSS_PLAIN;
    node->text = copy_text(b, text, text ? n : 0);
    bool quoted = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    if (quoted && node->spot.column > 1) --node->spot.column;
    if (!node->text) return;
    remember_anchor(b, event->scalar.anchor, node, false);
    place(b, node);
}

// Aliases are copied: an override then changes one place only, and the node limit bounds the whole.
static ty_node* copy_node(builder* b, const ty_node* node)
{
    ty_node* copy = new_node(b, node->kind, node->spot);
    if (!copy) return NULL;
    copy->plain = node->plain;
    copy->text = node->text;
    copy->text_spot = node->text_spot;
    for (const ty_node* child = node->first; child; child = child->next) {
        ty_node* child_copy = copy_node(b, child);
        if (!child_copy) return NULL;
        ty_node_append(copy, child->key, child_copy);
    }
    return copy;
}

static int node_depth(const ty_node* node)
{
    int deepest = 0;
    for (const ty_node* child = node->first; child; child = child->next) {
        int depth = node_depth(child);
        if (depth > deepest) deepest = depth;
    }
    return node->kind == TY_NODE_SCALAR ? 0 : deepest + 1;
}

static void add_alias(builder* b, struct fy_event* event)
{
    ty_spot spot = spot_of(b, fy_event_start_mark(event));
    if (spot.column > 1) --spot.column;    // of the star, not of the name behind it
    size_t n = 0;
    const char* name = fy_token_get_text(event->alias.anchor, &n);
    for (int64_t i = b->anchors.n - 1; name && i >= 0; --i) {
        anchor* a = &b->anchors.at[i];
        if (strlen(a->name) != n || memcmp(a->name, name, n) != 0) continue;
        if (a->open) fail(b, TY_BAD_INPUT, spot, "this alias stands inside what it repeats");
        else if (b->depth + node_depth(a->node) > TY_YAML_MAX_DEPTH)
            fail(b, TY_BAD_INPUT, spot, "nested too deeply (more than 32 levels)");
        else place(b, copy_node(b, a->node));
        return;
    }
    fail(b, TY_BAD_INPUT, spot, "this alias has no anchor (&name) before it");
}

static void take_event(builder* b, struct fy_event* event)
{
    const struct fy_mark* mark = fy_event_start_mark(event);
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (b->n_documents++ > 0)
            fail(b, TY_BAD_INPUT, spot_of(b, mark),
                 "a second document ('---'); a file holds one scene");
        break;
    case FYET_MAPPING_START:
        open_node(b, TY_NODE_MAPPING, mark, event->mapping_start.anchor);
        break;
    case FYET_SEQUENCE_START:
        open_node(b, TY_NODE_SEQUENCE, mark, event->sequence_start.anchor);
        break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: close_node(b); break;
    case FYET_SCALAR: add_scalar(b, event); break;
    case FYET_ALIAS: add_alias(b, event); break;
    default: break;
    }
}

// libfyaml prints where its diag says; this one says nowhere and keeps the errors.
static void drop_output(struct fy_diag* diag, void* user, const char* text, size_t n)
{
    (void)diag, (void)user, (void)text, (void)n;
}

static struct fy_diag* silent_diag(void)
{
    struct fy_diag_cfg cfg;
    fy_diag_cfg_default(&cfg);
    cfg.fp = NULL;
    cfg.output_fn = drop_output;
    cfg.level = FYET_ERROR;
    cfg.colorize = false;
    struct fy_diag* diag = fy_diag_create(&cfg);
    if (diag) fy_diag_set_collect_errors(diag, true);
    return diag;
}

static void take_parser_errors(builder* b, struct fy_diag* diag)
{
    void* at = NULL;
    struct fy_diag_error* error;
    while (!b->stop && (error = fy_diag_errors_iterate(diag, &at))) {
        if (error->type != FYET_ERROR) continue;
        ty_spot spot = {b->origin, error->line, error->column};
        if (spot.line <= 1) spot.column += b->first_column;
        // Where a bracket was opened helps more than the end of the file, where it is missed.
        if (strstr(error->msg, "without a closing") && b->depth > 0)
            spot = b->open[b->depth - 1]->spot;
        fail(b, TY_BAD_INPUT, spot, error->msg);
    }
    if (!b->stop) fail(b, TY_BAD_INPUT, (ty_spot){b->origin, 0, 0}, "this is not YAML");
}

static void parse(builder* b, const char* text, int64_t n)
{
    struct fy_diag* diag = silent_diag();
    struct fy_parse_cfg cfg = {
        .flags = FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE | FYPCF_ALLOW_DUPLICATE_KEYS, .diag = diag};
    struct fy_parser* parser = diag ? fy_parser_create(&cfg) : NULL;
    if (!parser || fy_parser_set_string(parser, text, (size_t)n) != 0) {
        fail(b, TY_NO_MEMORY, (ty_spot){b->origin, 0, 0}, "out of memory while reading the scene");
    } else {
        struct fy_event* event;
        while (!b->stop && (event = fy_parser_parse(parser))) {
            take_event(b, event);
            fy_parser_event_free(parser, event);
        }
        if (!b->stop && fy_parser_get_stream_error(parser)) take_parser_errors(b, diag);
    }
    if (parser) fy_parser_destroy(parser);
    if (diag) fy_diag_destroy(diag);
}

// Length of the UTF-8 sequence at p, 0 when it is none (overlong forms and surrogates are none).
static int utf8_length(const unsigned char* p, int64_t left)
{
    int n = p[0] < 0x80   ? 1
            : p[0] < 0xc2 ? 0
            : p[0] < 0xe0 ? 2
            : p[0] < 0xf0 ? 3
            : p[0] < 0xf5 ? 4
                          : 0;
    if (n == 0 || n > left) return 0;
    for (int i = 1; i < n; ++i)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (p[0] == 0xe0 && p[1] < 0xa0) return 0;
    if (p[0] == 0xed && p[1] >= 0xa0) return 0;
    if (p[0] == 0xf0 && p[1] < 0x90) return 0;
    if (p[0] == 0xf4 && p[1] >= 0x90) return 0;
    return n;
}

// What would give misleading messages further on, or what the YAML reader should not have to see.
static void check_characters(builder* b)
{
    const unsigned char* p = (const unsigned char*)b->origin->text;
    ty_spot spot = {b->origin, 1, 1};
    bool indentation = true;
    for (int64_t i = 0; i < b->origin->n && !b->stop;) {
        int n = utf8_length(p + i, b->origin->n - i);
        if (n == 0)
            fail(b, TY_BAD_INPUT, (ty_spot){b->origin, spot.line, 0}, "this is not UTF-8 text");
        else if ((p[i] < 0x20 && !strchr("\t\n\r", p[i])) || p[i] == 0x7f || p[i] == 0)
            fail(b, TY_BAD_INPUT, spot, "a control character; a scene is plain text");
        else if (p[i] == '\t' && indentation && b->origin->is_file)
            fail(b, TY_BAD_INPUT, spot, "a tab in the indentation; YAML wants spaces");
        else if (p[i] == '%' && spot.column == 1 && b->origin->is_file)
            fail(b, TY_BAD_INPUT, spot, "YAML directives ('%') are not used in scenes");
        if (p[i] == '\n') {
            ++spot.line;
            spot.column = 1;
            indentation = true;
        } else {
            ++spot.column;
            if (p[i] != ' ' && p[i] != '\t') indentation = false;
        }
        i += n ? n : 1;
    }
}

ty_node* ty_yaml_read(ty_pool* pool, const ty_origin* origin, int64_t skip, ty_mistakes* mistakes)
{
    builder b = {.pool = pool, .origin = origin, .mistakes = mistakes, .first_column = (int)skip};
    if (origin->n > TY_YAML_MAX_BYTES)
        fail(&b, TY_BAD_INPUT, (ty_spot){origin, 0, 0},
             "larger than 8 MiB; put meshes and volumes into files of their own");
    if (!b.stop) check_characters(&b);
    if (!b.stop) parse(&b, origin->text + skip, origin->n - skip);
    if (!b.stop && !b.root) {
        b.root = new_node(&b, TY_NODE_SCALAR, (ty_spot){origin, 1, 1 + (int)skip});
        if (b.root) b.root->plain = true, b.root->text = copy_text(&b, "", 0);
    }
    ty_array_free(&b.anchors);
    return b.stop ? NULL : b.root;
}
