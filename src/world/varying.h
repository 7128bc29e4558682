// SPDX-License-Identifier: Apache-2.0
// A number or a vector of the scene that may vary in space and time: a constant, expressions of x,
// y, z, t, key frames, or a field from .vdb files, one per frame.
#ifndef TY_WORLD_VARYING_H
#define TY_WORLD_VARYING_H

#include <stdbool.h>

#include "core/expr.h"
#include "core/status.h"

typedef enum ty_vary_kind {
    TY_VARY_CONSTANT,
    TY_VARY_EXPRESSION,
    TY_VARY_KEYS,
    TY_VARY_VOLUME
} ty_vary_kind;

typedef struct ty_value_key {
    double time, value[3];
} ty_value_key;

// Where in the scene something was said, for messages. `file` is borrowed from the scene.
typedef struct ty_place {
    const char* file;
    int line, column;
} ty_place;

// Open. Owns expressions, keys and volumes; ty_varying_free.
typedef struct ty_varying {
    int width;    // 1 or 3
    ty_vary_kind kind;
    double constant[3];
    ty_expr* expr[3];    // NULL where that component is constant[i]
    int n_keys;
    ty_value_key* keys;    // by rising time; constant before the first and after the last
    bool linear;           // keys: straight lines instead of smooth ease in and out
    char* volume_file;     // with #### for the frame number; relative paths are resolved already
    char* volume_grid;     // name of the grid in the file
    double volume_rate;    // frames a second
    int volume_start;      // number of the frame at t = 0
    struct ty_volume_cache* volumes;
    ty_place place;
} ty_varying;

ty_varying ty_varying_number(double value);
ty_varying ty_varying_vector(double x, double y, double z);
void ty_varying_free(ty_varying* v);
// A plain copy of a varying shares everything but the volumes it loads; this frees those of the
// copy alone.
void ty_varying_unload(ty_varying* v);

bool ty_varying_is_constant(const ty_varying* v);
bool ty_varying_in_space(const ty_varying* v);
bool ty_varying_in_time(const ty_varying* v);

// Makes ready for the times of [t0, t1]: loads volumes. Not re-entrant. Fails with the scene's
// place.
ty_status ty_varying_prepare(ty_varying* v, double t0, double t1);
// out: n x width values at time t. Re-entrant. Values that are not finite fail with the scene's
// place and the point where it happened.
ty_status ty_varying_eval(const ty_varying* v, double t, int n, const double (*x)[3], double* out);

#endif
