// SPDX-License-Identifier: Apache-2.0
// Numbers and vectors that may vary: constants, expressions, key frames, fields from files.
#include <stdio.h>
#include <string.h>

#include "scene/read.h"

// The place of character `column` of the scalar's text in the file, where the text stands there as
// it is.
static ty_spot spot_in_text(const ty_node* node, int column)
{
    const ty_origin* origin = node->text_spot.origin;
    if (!origin || node->text_spot.line < 1) return node->spot;
    const char *p = origin->text, *end = origin->text + origin->n;
    for (int line = 1; line < node->text_spot.line && p < end; ++p) line += *p == '\n';
    for (int i = 1; i < node->text_spot.column && p < end; ++i) do
            ++p;
        while (p < end && (*p & 0xc0) == 0x80);
    size_t n = strlen(node->text);
    if ((size_t)(end - p) < n || memcmp(p, node->text, n) != 0 || strchr(node->text, '\n'))
        return node->spot;
    ty_spot spot = node->text_spot;
    spot.column += column > 0 ? column - 1 : 0;
    return spot;
}

// The message counts in the expression, the scene's place in the file: the former would only
// confuse.
static void drop_column(char* message)
{
    char* at = strstr(message, " at column ");
    if (!at) return;
    char* rest = at + strlen(" at column ");
    rest += strspn(rest, "0123456789");
    memmove(at, rest, strlen(rest) + 1);
}

static bool check_time_only(ty_reader* r, const ty_key* key, const ty_node* node,
                            const ty_expr* expr)
{
    if (!key->time_only || !ty_expr_uses_space(expr)) return true;
    ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                   "'%s' may vary in time (t) only, not in space", key->name);
    return false;
}

// One component: a number or an expression.
static bool read_component(ty_reader* r, const ty_key* key, ty_node* node, double* constant,
                           ty_expr** expr)
{
    double value;
    if (node->kind != TY_NODE_SCALAR || !*node->text) {
        char note[40];
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' must be a number%s or an expression of x, y, z, t, not %s", key->name,
                       ty_unit_note(key, note), ty_node_kind_name(node));
        return false;
    }
    if (key->type != TY_KEY_FORMULA && ty_parse_number(node->text, &value)) {
        if (!ty_check_range(r, key, node, value)) return false;
        *constant = value;
        return true;
    }
    ty_status status = ty_expr_create(expr, node->text);
    if (status.code == TY_OK) return check_time_only(r, key, node, *expr);
    if (status.code == TY_NO_MEMORY) {
        ty_set_no_memory(r);
        return false;
    }
    drop_column(status.message);
    ty_mistake_add(r->mistakes, TY_BAD_INPUT, spot_in_text(node, status.column), "'%s': %s",
                   key->name, status.message);
    return false;
}

static void read_number_or_expression(ty_reader* r, const ty_key* key, ty_node* node,
                                      ty_varying* out)
{
    if (!read_component(r, key, node, &out->constant[0], &out->expr[0])) return;
    out->kind = out->expr[0] ? TY_VARY_EXPRESSION : TY_VARY_CONSTANT;
}

static void read_vector(ty_reader* r, const ty_key* key, ty_node* node, ty_varying* out)
{
    int i = 0;
    bool ok = true;
    for (ty_node* item = node->first; item; item = item->next, ++i)
        ok = read_component(r, key, item, &out->constant[i], &out->expr[i]) && ok;
    bool varies = out->expr[0] || out->expr[1] || out->expr[2];
    if (ok) out->kind = varies ? TY_VARY_EXPRESSION : TY_VARY_CONSTANT;
}

static void check_keys(ty_reader* r, const ty_key* key, const ty_node* list, const ty_varying* v)
{
    const ty_node* item = list->first;
    for (int i = 0; i < v->n_keys && item; ++i, item = item->next) {
        if (i > 0 && v->keys[i].time <= v->keys[i - 1].time)
            ty_mistake_add(r->mistakes, TY_BAD_INPUT, item->spot,
                           "'%s': times of key frames must rise (%g after %g)", key->name,
                           v->keys[i].time, v->keys[i - 1].time);
        for (int k = 0; k < v->width; ++k) ty_check_range(r, key, item, v->keys[i].value[k]);
    }
}

static void read_keys(ty_reader* r, const ty_key* key, ty_node* list, ty_varying* out)
{
    ty_key keys = ty_varying_keys_group.keys[0];
    keys.name = key->name;
    keys.group = out->width == 3 ? &ty_vector_key_group : &ty_value_key_group;
    int before = r->mistakes->n_errors;
    out->kind = TY_VARY_KEYS;
    ty_read_list(r, &keys, list, out);
    if (r->mistakes->n_errors == before && !r->mistakes->no_memory) check_keys(r, key, list, out);
}

static void read_keys_with_ease(ty_reader* r, const ty_key* key, ty_node* node, ty_varying* out)
{
    ty_node* list = ty_node_find(node, "keys");
    ty_node* ease = ty_node_find(node, "ease");
    for (ty_node* child = node->first; child; child = child->next)
        if (child != list && child != ease)
            ty_mistake_add(r->mistakes, TY_BAD_INPUT, child->key->spot,
                           "unknown key '%.60s' in '%s' (known: keys, ease)", child->key->text,
                           key->name);
    if (ease) ty_read_value(r, &ty_varying_keys_group.keys[1], ease, out);
    read_keys(r, key, list, out);
}

static void read_volume(ty_reader* r, const ty_key* key, ty_node* node, ty_varying* out)
{
    if (key->time_only)
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' may vary in time (t) only, not in space", key->name);
    out->kind = TY_VARY_VOLUME;
    ty_read_group(r, &ty_varying_file_group, node, out);
}

void ty_read_varying(ty_reader* r, const ty_key* key, ty_node* node, ty_varying* out)
{
    ty_varying_free(out);
    bool is_vector = key->type == TY_KEY_VARYING3;
    *out = is_vector ? ty_varying_vector(0, 0, 0) : ty_varying_number(0);
    out->place = ty_reader_place(r, node->text_spot);
    bool is_list = node->kind == TY_NODE_SEQUENCE, formula = key->type == TY_KEY_FORMULA;
    if (formula || (!is_vector && node->kind == TY_NODE_SCALAR))
        read_number_or_expression(r, key, node, out);
    else if (is_list && node->first && node->first->kind == TY_NODE_MAPPING)
        read_keys(r, key, node, out);
    else if (is_list && is_vector && node->n_children == 3) read_vector(r, key, node, out);
    else if (node->kind == TY_NODE_MAPPING && ty_node_find(node, "keys"))
        read_keys_with_ease(r, key, node, out);
    else if (node->kind == TY_NODE_MAPPING) read_volume(r, key, node, out);
    else
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' must be %s, key frames [{time, value}, ...] or a field {file}, not %s",
                       key->name,
                       is_vector ? "[x, y, z] (numbers or expressions)" : "a number, an expression",
                       is_list ? "a list of another length" : ty_node_kind_name(node));
}
