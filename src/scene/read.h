// SPDX-License-Identifier: Apache-2.0
// From the tree to the structs, by the table.
#ifndef TY_SCENE_READ_H
#define TY_SCENE_READ_H

#include "scene/keys.h"
#include "scene/mistakes.h"
#include "scene/yaml.h"

// Open; one scene being read.
typedef struct ty_reader {
    ty_scene_draft* draft;
    ty_mistakes* mistakes;
    ty_pool* pool;
    const char* folder;    // of the scene file, absolute where possible
    TY_ARRAY(ty_input_file) inputs;
} ty_reader;

// Fills `self` (zeroed) from a mapping; NULL: defaults only. Mistakes are collected, reading goes
// on.
void ty_read_group(ty_reader* r, const ty_group* group, ty_node* node, void* self);
// One value that is there. What is wrong is reported and not stored.
void ty_read_value(ty_reader* r, const ty_key* key, ty_node* node, void* self);

void ty_read_list(ty_reader* r, const ty_key* key, ty_node* node, void* self);
void ty_read_varying(ty_reader* r, const ty_key* key, ty_node* node, ty_varying* out);
void ty_read_file(ty_reader* r, const ty_key* key, ty_node* node, char** out);
// A finite number within the key's range; false after reporting what is wrong with it.
bool ty_read_number(ty_reader* r, const ty_key* key, ty_node* node, double* out);
bool ty_check_range(ty_reader* r, const ty_key* key, const ty_node* node, double value);
bool ty_parse_number(const char* text, double* value);

void ty_set_no_memory(ty_reader* r);
// An array of n zeroed elements from ty_alloc, NULL (and noted) when there is no memory.
void* ty_reader_alloc(ty_reader* r, int n, size_t size);
char* ty_reader_strdup(ty_reader* r, const char* text);
ty_place ty_reader_place(const ty_reader* r, ty_spot spot);
// " (m)" for a key with a unit, else "".
const char* ty_unit_note(const ty_key* key, char out[40]);

#endif
