// SPDX-License-Identifier: Apache-2.0
// The table of every key a scene may hold. Data only; the reader (read.c), the filled-in scene
// (write.c), the reference page (reference.c) and the JSON Schema (schema.c) walk it, so a key is
// added in one place.
//
//   group   a mapping: its keys, and the C struct they are stored in (offsets are from its start)
//   key     one entry: name, type, unit, default, range, sentence, where it is stored, whether it
//   works yet choice  one allowed word of a key of type CHOICE
//
// To make something available: register the tracker or solver kind (nothing to do here), or drop
// the `not_yet`.
#ifndef TY_SCENE_KEYS_H
#define TY_SCENE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/sim_def.h"

typedef enum ty_key_type {
    TY_KEY_NUMBER,      // double
    TY_KEY_INTEGER,     // int
    TY_KEY_BOOL,        // bool
    TY_KEY_CHOICE,      // int, the choice's value
    TY_KEY_FLAG,        // bool, the choice's value
    TY_KEY_WORD,        // char*, the choice's name
    TY_KEY_TEXT,        // char*
    TY_KEY_FILE,        // char*, resolved; may hold #### when `sequence`
    TY_KEY_PAIR,        // double[2]
    TY_KEY_VEC3,        // double[3]
    TY_KEY_FLAT,        // double[3] from two numbers: a place on the ground
    TY_KEY_POINTS,      // double (*)[3] and its count
    TY_KEY_VARYING,     // ty_varying, width 1
    TY_KEY_VARYING3,    // ty_varying, width 3
    TY_KEY_FORMULA,     // ty_varying, width 1, an expression
    TY_KEY_GROUP,       // a mapping, stored in a struct inside this one
    TY_KEY_LIST,        // a sequence of mappings: pointer and count
    TY_KEY_INLINE,      // no key of its own: the group's keys stand beside the others
    TY_KEY_SIDES,       // a sequence of names of sides: ty_wall_def[TY_N_SIDES], .closed
    TY_KEY_WALL,        // a mapping for the side `value` of ty_wall_def[TY_N_SIDES]
    TY_N_KEY_TYPES
} ty_key_type;

// Which table of registered kinds decides whether a word is available.
typedef enum ty_kind_table { TY_NO_TABLE, TY_SOLVER_TABLE, TY_TRACKER_TABLE } ty_kind_table;

typedef struct ty_choice {
    const char* name;    // NULL ends a list
    int value;
    const char* sentence;
    const char* not_yet;    // reason when it does not work yet
} ty_choice;

// Offsets are stored plus one, so that 0 means: none.
#define TY_AT(type, field) (offsetof(type, field) + 1)

struct ty_group;

typedef struct ty_key {
    const char* name;    // NULL ends a list, except with TY_KEY_INLINE
    ty_key_type type;
    size_t at, count_at;          // TY_AT of the value, and of a list's count; at 0: only checked
    size_t has_at;                // TY_AT of a bool that says whether the key was given
    const char* unit;             // "" when it has none
    const char* fallback;         // the default as YAML; NULL: none
    const char* fallback_says;    // the default in words, where it depends on other keys
    double min, max;              // allowed values; both 0: any. min_open: above min
    bool min_open;
    bool required;
    bool variant;       // exactly one of the group's variants is given; stores `value` at kind_at
    bool time_only;     // varying: no x, y, z, no volumes
    bool sequence;      // file: #### is allowed
    bool no_result;     // does not influence the result: left out of the scene's hash
    bool input_only;    // another way to say another key: not in the filled-in scene
    int value;          // variant: the kind; wall: the side
    int min_items;      // list
    const ty_choice* choices;
    ty_kind_table table;        // choice: words of this table
    const char* only_solver;    // space-separated kinds that use it; NULL: any
    bool essential;             // with another kind it is a mistake, not only without use
    const char* only_tracker;
    const struct ty_group* group;
    const char* not_yet;    // reason when it does not work yet
    const char* sentence;
} ty_key;

struct ty_node;
struct ty_reader;

typedef struct ty_group {
    const char* name;    // for messages, the reference and the schema: "box", "solver", "key frame"
    const char* sentence;
    size_t size;             // of the struct
    size_t kind_at;          // TY_AT of the int that says which variant it is
    const char* variants;    // what the variants are: "shape", "force"
    const ty_key* keys;
    // Looks at the whole after its keys were read; reports mistakes itself.
    void (*check)(struct ty_reader*, void* self, struct ty_node* node);
    const char* example;                    // YAML
    bool check_anyway;                      // also when some of its keys are wrong
    void (*start)(void* self, int kind);    // what no key says, once the variant is known
} ty_group;

// What the root group's offsets are from: the def, and what is only needed while reading.
typedef struct ty_scene_draft {
    ty_sim_def def;
    int resolution;
    double domain_size[3];
    bool has_cell, has_resolution, has_domain_size, has_domain_max, has_tracker;
    double ratio;
} ty_scene_draft;

extern const ty_group ty_scene_group;           // the whole file
extern const ty_group ty_shape_group;           // any shape
extern const ty_group ty_value_key_group;       // {time, value} of a number
extern const ty_group ty_vector_key_group;      // {time, value} of a vector
extern const ty_group ty_varying_keys_group;    // {keys, ease}
extern const ty_group ty_varying_file_group;    // {file, grid, rate, start}
extern const ty_group ty_wall_group;
extern const ty_group ty_liquid_group, ty_obstacle_group, ty_source_group, ty_drain_group,
    ty_force_group, ty_steer_group, ty_camera_group, ty_probe_group;
extern const ty_choice ty_side_choices[];    // values are ty_side for up: y
extern const ty_choice ty_ease_choices[];

static inline bool ty_key_is_end(const ty_key* key)
{
    return !key->name && key->type != TY_KEY_INLINE;
}
// Calls `visit` for every key of the group, those of inlined groups among them, with the offset of
// their struct. Stops when it returns false.
void ty_visit_keys(const ty_group* group, size_t offset,
                   bool (*visit)(void* ctx, const ty_key*, size_t offset), void* ctx);
// Every group once, in the order in which a reader of the scene meets them; returns how many.
enum { TY_MAX_GROUPS = 64 };
int ty_all_groups(const ty_group* out[TY_MAX_GROUPS]);

// The side a name means: with `up: z` bottom and top are z, front and back are y (front is where y
// is least).
int ty_side_for_up(int side, int up);

// Why a word or a key does not work yet; NULL when it does.
const char* ty_choice_not_yet(const ty_key* key, const ty_choice* choice);
const char* ty_key_not_yet(const ty_key* key);
// Whether `word` is one of the space-separated `words`; NULL words hold everything.
bool ty_words_hold(const char* words, const char* word);
// Best available first.
const char* ty_best_solver(bool smoke);
const char* ty_best_tracker(const char* solver);

#endif
