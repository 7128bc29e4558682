// SPDX-License-Identifier: Apache-2.0
// YAML text to a small tree with the place of every node. Parsing is libfyaml's; limits, aliases
// and duplicate keys are ours, so that no file, however hostile, costs more than a bounded amount
// of memory and time.
#ifndef TY_SCENE_YAML_H
#define TY_SCENE_YAML_H

#include "scene/mistakes.h"
#include "scene/pool.h"

enum {
    TY_YAML_MAX_BYTES = 8 << 20,
    TY_YAML_MAX_DEPTH =
        32,    // mappings and sequences inside each other; libfyaml itself stops at 64
    TY_YAML_MAX_NODES = 400000    // aliases are copied, so this also bounds what they unfold to
};

typedef enum ty_node_kind { TY_NODE_SCALAR, TY_NODE_SEQUENCE, TY_NODE_MAPPING } ty_node_kind;

// Open; lives in the pool it was read into.
typedef struct ty_node {
    ty_node_kind kind;
    bool plain;                             // scalar without quotes
    bool used;                              // set by the reader: a key it knows
    char* text;                             // scalar
    ty_spot spot;                           // of a quoted scalar: of the quote
    ty_spot text_spot;                      // of the first character of the text
    struct ty_node* key;                    // of a mapping's child
    struct ty_node *first, *last, *next;    // children
    int n_children;
} ty_node;

// Reads `origin`, from its byte `skip` on; NULL when there were mistakes. The root of an empty text
// is an empty scalar.
ty_node* ty_yaml_read(ty_pool* pool, const ty_origin* origin, int64_t skip, ty_mistakes* mistakes);

// A child of a mapping by key (of the last one, were there several), or of a sequence by number; or
// NULL.
ty_node* ty_node_find(const ty_node* mapping, const char* key);
ty_node* ty_node_item(const ty_node* sequence, int i);
// Plain null, ~ or nothing at all.
bool ty_node_is_null(const ty_node* node);
const char* ty_node_kind_name(const ty_node* node);    // "a list", "a number", ...

ty_node* ty_node_new(ty_pool* pool, ty_node_kind kind, ty_spot spot);
void ty_node_append(ty_node* parent, ty_node* key, ty_node* child);

#endif
