// SPDX-License-Identifier: Apache-2.0
#include "scene/override.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_STEP = 60 };

typedef struct override {
    ty_pool* pool;
    const ty_origin* origin;
    ty_mistakes* mistakes;
} override;

static ty_node* new_key(const override* o, const char* name, ty_spot spot)
{
    ty_node* key = ty_node_new(o->pool, TY_NODE_SCALAR, spot);
    char* text = ty_pool_alloc(o->pool, strlen(name) + 1, 1);
    if (!key || !text) return NULL;
    key->text = strcpy(text, name);
    return key;
}

static ty_node* out_of_memory(const override* o)
{
    o->mistakes->no_memory = true;
    return NULL;
}

// The child that a step of the path names. A key that is missing is added, with an empty group.
static ty_node* mapping_step(const override* o, ty_node* node, const char* name, ty_spot spot)
{
    ty_node* child = ty_node_find(node, name);
    if (child) return child;
    ty_node* key = new_key(o, name, spot);
    child = ty_node_new(o->pool, TY_NODE_MAPPING, spot);
    if (!key || !child) return out_of_memory(o);
    ty_node_append(node, key, child);
    return child;
}

static ty_node* list_step(const override* o, ty_node* node, const char* name, ty_spot spot)
{
    char* end;
    long i = strtol(name, &end, 10);
    ty_node* child = *name && !*end && i >= 0 && i < node->n_children ? ty_node_item(node, (int)i)
                                                                      : NULL;
    if (!child)
        ty_mistake_add(o->mistakes, TY_BAD_INPUT, spot,
                       "'%s' is no item of this list; it has %d, counted from 0", name,
                       node->n_children);
    return child;
}

static ty_node* step(const override* o, ty_node* node, const char* name, ty_spot spot)
{
    if (ty_node_is_null(node)) {    // "solver:" with nothing behind it
        node->kind = TY_NODE_MAPPING;
        node->first = node->last = NULL;
        node->n_children = 0;
    }
    if (node->kind == TY_NODE_MAPPING) return mapping_step(o, node, name, spot);
    if (node->kind == TY_NODE_SEQUENCE) return list_step(o, node, name, spot);
    ty_mistake_add(o->mistakes, TY_BAD_INPUT, spot, "there is no '%s' in the value '%.60s'", name,
                   node->text);
    return NULL;
}

static ty_node* find_target(const override* o, ty_node* root, const char* path, size_t length)
{
    ty_node* node = root;
    for (size_t at = 0; node && at <= length;) {
        char name[LONGEST_STEP + 1];
        size_t n = strcspn(path + at, ".=");
        ty_spot spot = {o->origin, 1, (int)at + 1};
        if (n == 0 || n > LONGEST_STEP) {
            ty_mistake_add(o->mistakes, TY_BAD_INPUT, spot,
                           "not a path of keys such as solver.tolerance");
            return NULL;
        }
        memcpy(name, path + at, n);
        name[n] = 0;
        node = step(o, node, name, spot);
        at += n + 1;
    }
    return node;
}

static void remove_child(ty_node* parent, const ty_node* child)
{
    ty_node* before = NULL;
    for (ty_node* c = parent->first; c && c != child; c = c->next) before = c;
    if (before) before->next = child->next;
    else parent->first = child->next;
    if (parent->last == child) parent->last = before;
    --parent->n_children;
}

// Two ways to say one thing: an override of one takes the other out of the file.
static void remove_rival(ty_node* root, const char* set)
{
    static const char* const rivals[][3] = {{"resolution=", NULL, "cell"},
                                            {"cell=", NULL, "resolution"},
                                            {"domain.size=", "domain", "max"},
                                            {"domain.max=", "domain", "size"}};
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; ++i) {
        if (strncmp(set, rivals[i][0], strlen(rivals[i][0])) != 0) continue;
        ty_node* parent = rivals[i][1] ? ty_node_find(root, rivals[i][1]) : root;
        ty_node* rival = parent ? ty_node_find(parent, rivals[i][2]) : NULL;
        if (rival && rival->key->spot.origin->is_file) remove_child(parent, rival);
    }
}

void ty_override(ty_pool* pool, ty_node* root, const ty_origin* origin, ty_mistakes* mistakes)
{
    override o = {pool, origin, mistakes};
    const char* equals = strchr(origin->text, '=');
    if (!equals || equals == origin->text) {
        ty_mistake_add(mistakes, TY_BAD_INPUT, (ty_spot){origin, 1, 1},
                       "must be key=value, such as solver.tolerance=1e-8");
        return;
    }
    ty_node* value = ty_yaml_read(pool, origin, equals + 1 - origin->text, mistakes);
    if (!value) return;
    remove_rival(root, origin->text);
    ty_node* target = find_target(&o, root, origin->text, (size_t)(equals - origin->text) - 1);
    if (!target) return;
    ty_node *next = target->next, *key = target->key;
    if (key) {    // messages about the key are now about the override
        ty_node* renamed = new_key(&o, key->text, (ty_spot){origin, 1, 1});
        if (!renamed) {
            out_of_memory(&o);
            return;
        }
        key = renamed;
    }
    *target = *value;
    target->next = next;
    target->key = key;
}
