// SPDX-License-Identifier: Apache-2.0
// Reading single values: each type of key, with what can be wrong about it.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "scene/read.h"

// A value as it stands in the scene, shortened for a message.
static const char* shown(const ty_node* node, char out[80])
{
    if (node->kind != TY_NODE_SCALAR || ty_node_is_null(node))
        snprintf(out, 80, "%s", ty_node_kind_name(node));
    else snprintf(out, 80, "'%.60s'", node->text);
    return out;
}

static void wrong(ty_reader* r, const ty_key* key, const ty_node* node, const char* wanted)
{
    char text[80];
    ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' must be %s, not %s", key->name,
                   wanted, shown(node, text));
}

const char* ty_unit_note(const ty_key* key, char out[40])
{
    out[0] = 0;
    if (key->unit && *key->unit) snprintf(out, 40, " (%s)", key->unit);
    return out;
}

bool ty_parse_number(const char* text, double* value)
{
    const char* end = text + strlen(text);
    if (*text == '+' && text[1] != '-') ++text;
    const char* stop = ty_read_double(text, end, value);
    return stop && stop == end;
}

// Squares and cubes of anything smaller are still finite.
static const double LARGEST = 1e15;

bool ty_check_range(ty_reader* r, const ty_key* key, const ty_node* node, double value)
{
    if (fabs(value) > LARGEST) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' must not be as large as %g",
                       key->name, value);
        return false;
    }
    if (key->min == 0.0 && key->max == 0.0) return true;
    bool low = key->min_open ? value <= key->min : value < key->min;
    if (!low && value <= key->max) return true;
    char wanted[120], note[40];
    ty_unit_note(key, note);
    if (isinf(key->max))
        snprintf(wanted, sizeof wanted, "%s %g%s", key->min_open ? "above" : "at least", key->min,
                 note);
    else snprintf(wanted, sizeof wanted, "between %g and %g%s", key->min, key->max, note);
    ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' must be %s, not %g", key->name,
                   wanted, value);
    return false;
}

static bool is_infinity(const char* text, double* value)
{
    const char* p = *text == '-' || *text == '+' ? text + 1 : text;
    *value = *text == '-' ? -INFINITY : INFINITY;
    return strcmp(p, ".inf") == 0 || strcmp(p, ".Inf") == 0 || strcmp(p, ".INF") == 0;
}

bool ty_read_number(ty_reader* r, const ty_key* key, ty_node* node, double* out)
{
    double value;
    if (node->kind == TY_NODE_SCALAR && ty_parse_number(node->text, &value)) {
        if (!ty_check_range(r, key, node, value)) return false;
        *out = value;
        return true;
    }
    char wanted[200], note[40];
    ty_unit_note(key, note);
    bool garbage = node->kind == TY_NODE_SCALAR && *node->text &&
                   ty_read_double(node->text, node->text + strlen(node->text), &value);
    snprintf(wanted, sizeof wanted, "a number%s%s", note, garbage ? " with nothing behind it" : "");
    wrong(r, key, node, wanted);
    return false;
}

static bool read_integer(ty_reader* r, const ty_key* key, ty_node* node, int* out)
{
    double value;
    if (node->kind != TY_NODE_SCALAR || !ty_parse_number(node->text, &value) ||
        value != floor(value)) {
        wrong(r, key, node, "a whole number");
        return false;
    }
    if (!ty_check_range(r, key, node, value) || fabs(value) > INT_MAX) return false;
    *out = (int)value;
    return true;
}

static void read_bool(ty_reader* r, const ty_key* key, ty_node* node, bool* out)
{
    if (node->kind == TY_NODE_SCALAR && strcmp(node->text, "true") == 0) *out = true;
    else if (node->kind == TY_NODE_SCALAR && strcmp(node->text, "false") == 0) *out = false;
    else wrong(r, key, node, "true or false");
}

static void report_choice(ty_reader* r, const ty_key* key, const ty_node* node)
{
    enum { MOST = 16 };
    const char* names[MOST];
    char allowed[300] = "", text[80];
    int n = 0;
    size_t length = 0;
    for (const ty_choice* c = key->choices; c->name && n < MOST; ++c) {
        names[n++] = c->name;
        length += (size_t)snprintf(allowed + length, sizeof allowed - length, "%s%s%s",
                                   n > 1 ? ", " : "", c->name,
                                   ty_choice_not_yet(key, c) ? " (not available yet)" : "");
    }
    const char* meant = node->kind == TY_NODE_SCALAR ? ty_nearest_name(node->text, n, names) : NULL;
    if (meant)
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' must be one of %s, not %s; did you mean '%s'?", key->name, allowed,
                       shown(node, text), meant);
    else
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' must be one of %s, not %s",
                       key->name, allowed, shown(node, text));
}

static const ty_choice* read_choice(ty_reader* r, const ty_key* key, ty_node* node)
{
    for (const ty_choice* c = key->choices; c->name; ++c) {
        if (node->kind != TY_NODE_SCALAR || strcmp(c->name, node->text) != 0) continue;
        const char* not_yet = ty_choice_not_yet(key, c);
        if (not_yet && node->spot.origin)
            ty_mistake_add(r->mistakes, TY_NOT_YET, node->spot, "'%s: %s' is not available yet: %s",
                           key->name, c->name, not_yet);
        return c;
    }
    report_choice(r, key, node);
    return NULL;
}

static void read_word(ty_reader* r, const ty_key* key, ty_node* node, void* out)
{
    const ty_choice* choice = read_choice(r, key, node);
    if (!choice) return;
    if (key->type == TY_KEY_WORD) {
        ty_free(*(char**)out);
        *(char**)out = ty_reader_strdup(r, choice->name);
    } else if (key->type == TY_KEY_FLAG) {
        *(bool*)out = choice->value != 0;
    } else {
        *(int*)out = choice->value;
    }
}

static void read_text(ty_reader* r, const ty_key* key, ty_node* node, char** out)
{
    enum { LONGEST = 200 };
    if (node->kind != TY_NODE_SCALAR || !*node->text || strlen(node->text) > LONGEST ||
        strpbrk(node->text, "\n\r\t"))
        wrong(r, key, node, "one line of text, at most 200 characters");
    else {
        ty_free(*out);
        *out = ty_reader_strdup(r, node->text);
    }
}

static bool read_numbers(ty_reader* r, const ty_key* key, ty_node* node, int n, bool infinite,
                         double* out)
{
    if (node->kind != TY_NODE_SEQUENCE || node->n_children != n) {
        char wanted[80], note[40];
        snprintf(wanted, sizeof wanted, "%s%s",
                 n == 2 ? "two numbers [a, b]" : "three numbers [x, y, z]",
                 ty_unit_note(key, note));
        if (node->kind == TY_NODE_SEQUENCE)
            ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' must be %s, not %d",
                           key->name, wanted, node->n_children);
        else wrong(r, key, node, wanted);
        return false;
    }
    double values[3];
    bool ok = true;
    int i = 0;
    for (ty_node* item = node->first; item; item = item->next, ++i) {
        if (infinite && item->kind == TY_NODE_SCALAR && is_infinity(item->text, &values[i]))
            continue;
        ok = ty_read_number(r, key, item, &values[i]) && ok;
    }
    if (ok) memcpy(out, values, (size_t)n * sizeof *out);
    return ok;
}

static void read_pair(ty_reader* r, const ty_key* key, ty_node* node, double out[2])
{
    double values[2];
    if (!read_numbers(r, key, node, 2, true, values)) return;
    if (values[0] > values[1])
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' ends (%g) before it starts (%g)", key->name, values[1], values[0]);
    memcpy(out, values, sizeof values);
}

// Two numbers on the ground: x and the other axis that is not up.
static void read_flat(ty_reader* r, const ty_key* key, ty_node* node, double out[3])
{
    double values[2];
    if (!read_numbers(r, key, node, 2, false, values)) return;
    out[0] = values[0];
    out[r->draft->def.world.up == 2 ? 1 : 2] = values[1];
}

static void read_points(ty_reader* r, const ty_key* key, ty_node* node, char* self)
{
    if (node->kind != TY_NODE_SEQUENCE || node->n_children < key->min_items) {
        wrong(r, key, node, "a list of at least two points [[x, y, z], ...]");
        return;
    }
    double(*points)[3] = ty_reader_alloc(r, node->n_children, sizeof *points);
    if (!points) return;
    *(void**)(self + key->at - 1) = points;
    *(int*)(self + key->count_at - 1) = node->n_children;
    int i = 0;
    for (ty_node* item = node->first; item; item = item->next)
        read_numbers(r, key, item, 3, false, points[i++]);
}

int ty_side_for_up(int side, int up)
{
    static const int z_up[TY_N_SIDES] = {
        [TY_LEFT] = TY_LEFT, [TY_RIGHT] = TY_RIGHT, [TY_BOTTOM] = TY_BACK,
        [TY_TOP] = TY_FRONT, [TY_BACK] = TY_TOP,    [TY_FRONT] = TY_BOTTOM};
    return up == 2 ? z_up[side] : side;
}

static void read_sides(ty_reader* r, const ty_key* key, ty_node* node, ty_wall_def* walls)
{
    if (node->kind != TY_NODE_SEQUENCE) {
        wrong(r, key, node, "a list of sides [left, right, bottom, top, back, front]");
        return;
    }
    for (int side = 0; side < TY_N_SIDES; ++side) walls[side].closed = false;
    for (ty_node* item = node->first; item; item = item->next) {
        const ty_choice* choice = read_choice(r, key, item);
        if (choice) walls[ty_side_for_up(choice->value, r->draft->def.world.up)].closed = true;
    }
}

void ty_read_list(ty_reader* r, const ty_key* key, ty_node* node, void* self)
{
    if (node->kind != TY_NODE_SEQUENCE) {
        wrong(r, key, node, "a list (items that start with '-')");
        return;
    }
    if (node->n_children < key->min_items) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s' is empty", key->name);
        return;
    }
    void** array = (void**)((char*)self + key->at - 1);
    if (node->n_children == 0 || *array)
        return;    // there already: two shapes in one item, which was reported
    char* items = ty_reader_alloc(r, node->n_children, key->group->size);
    if (!items) return;
    *array = items;
    *(int*)((char*)self + key->count_at - 1) = node->n_children;
    for (ty_node* item = node->first; item; item = item->next, items += key->group->size)
        ty_read_group(r, key->group, item, items);
}

void ty_read_value(ty_reader* r, const ty_key* key, ty_node* node, void* self)
{
    union {    // where a value goes that nothing uses yet
        double vec[3];
        char* word;
    } unused = {{0}};
    char* at = key->at ? (char*)self + key->at - 1 : (char*)&unused;
    ty_wall_def* walls = (ty_wall_def*)at;
    switch (key->type) {
    case TY_KEY_NUMBER: ty_read_number(r, key, node, (double*)at); break;
    case TY_KEY_INTEGER: read_integer(r, key, node, (int*)at); break;
    case TY_KEY_BOOL: read_bool(r, key, node, (bool*)at); break;
    case TY_KEY_CHOICE:
    case TY_KEY_FLAG:
    case TY_KEY_WORD: read_word(r, key, node, at); break;
    case TY_KEY_TEXT: read_text(r, key, node, (char**)at); break;
    case TY_KEY_FILE: ty_read_file(r, key, node, (char**)at); break;
    case TY_KEY_PAIR: read_pair(r, key, node, (double*)at); break;
    case TY_KEY_VEC3: read_numbers(r, key, node, 3, false, (double*)at); break;
    case TY_KEY_FLAT: read_flat(r, key, node, (double*)at); break;
    case TY_KEY_POINTS: read_points(r, key, node, self); break;
    case TY_KEY_VARYING:
    case TY_KEY_VARYING3:
    case TY_KEY_FORMULA: ty_read_varying(r, key, node, (ty_varying*)at); break;
    case TY_KEY_GROUP: ty_read_group(r, key->group, node, at); break;
    case TY_KEY_LIST: ty_read_list(r, key, node, self); break;
    case TY_KEY_SIDES: read_sides(r, key, node, walls); break;
    case TY_KEY_WALL:
        ty_read_group(r, key->group, node,
                      &walls[ty_side_for_up(key->value, r->draft->def.world.up)]);
        break;
    case TY_KEY_INLINE:
    case TY_N_KEY_TYPES: break;
    }
    if (!key->at && key->type == TY_KEY_WORD) ty_free(unused.word);
}
